"""What an import of torch would map, in the linker's own order."""

import errno

import pytest

from aorta.testing import FakeHost
from aorta_collectors.loaded import prediction
from aorta_collectors.loaded.prediction import predict
from tests.parts.loaded_files import asked, elf

SITE = "/v/lib/python3.12/site-packages"
TORCH = f"{SITE}/torch"
LIB = f"{TORCH}/lib"
#: A torch whose extension needs torch_python, that torch_hip, and that two libraries of ROCm.
FILES = {
    f"{TORCH}/_C.cpython-312-x86_64-linux-gnu.so": elf(
        needed=["libtorch_python.so", "libc.so.6"], rpath="$ORIGIN/lib"
    ),
    f"{LIB}/libtorch_python.so": elf("libtorch_python.so", ["libtorch_hip.so"], runpath="$ORIGIN"),
    f"{LIB}/libtorch_hip.so": elf("libtorch_hip.so", ["librccl.so.1", "libamdhip64.so.7"], runpath="$ORIGIN"),
}
OWN = [f"{LIB}/libtorch_python.so", f"{LIB}/libtorch_hip.so"]
ROCM = "/opt/rocm-7.2.0/lib"
SYSTEM = {
    f"{ROCM}/librccl.so.1.0.70200": elf("librccl.so.1", ["libamdhip64.so.7"]),
    f"{ROCM}/libamdhip64.so.7.2.70200": elf("libamdhip64.so.7"),
}
LINKS = {
    f"{ROCM}/librccl.so.1": "librccl.so.1.0.70200",
    f"{ROCM}/libamdhip64.so.7": "libamdhip64.so.7.2.70200",
}
CONFIGURED = {"/etc/ld.so.conf.d/rocm.conf": f"{ROCM}\n"}


def predicted(files, **host):
    return asked(FakeHost(files=files, **host), lambda ctx: predict(ctx, TORCH))


def libraries(files, **host):
    """Return the files without the extension, and what was not found."""
    told = predicted(files, **host)
    paths = [path for path in told.paths if "/_C." not in path]
    return paths, [(trouble.kind, trouble.subject) for trouble in told.troubles]


def test_what_the_configuration_leads_to():
    assert libraries({**FILES, **SYSTEM, **CONFIGURED}, links=LINKS) == (
        [*OWN, f"{ROCM}/librccl.so.1.0.70200", f"{ROCM}/libamdhip64.so.7.2.70200"],
        [],
    )


def test_what_is_not_found_is_named():
    paths, troubles = libraries(FILES)
    assert paths == OWN
    assert troubles == [("absent", "librccl.so.1"), ("absent", "libamdhip64.so.7")]
    told = predicted(FILES).troubles[0].detail
    assert told == f"librccl.so.1, which {LIB}/libtorch_hip.so needs, is nowhere where the loader looks"


def test_bundled_ones_come_by_runpath():
    bundled = {f"{LIB}/librccl.so.1": elf("librccl.so.1"), f"{LIB}/libamdhip64.so.7": elf("libamdhip64.so.7")}
    paths, troubles = libraries({**FILES, **bundled, **SYSTEM, **CONFIGURED}, links=LINKS)
    assert paths == [*OWN, f"{LIB}/librccl.so.1", f"{LIB}/libamdhip64.so.7"]
    assert troubles == []


def test_the_variable_comes_before_a_runpath_and_after_an_rpath():
    both = {f"{LIB}/librccl.so.1": elf("librccl.so.1"), "/mine/librccl.so.1": elf("librccl.so.1")}
    env = {"LD_LIBRARY_PATH": "/mine"}
    assert "/mine/librccl.so.1" in libraries({**FILES, **both}, env=env)[0]
    old = {f"{LIB}/libtorch_hip.so": elf("libtorch_hip.so", ["librccl.so.1"], rpath="$ORIGIN")}
    assert f"{LIB}/librccl.so.1" in libraries({**FILES, **both, **old}, env=env)[0]


def test_an_rpath_counts_for_what_is_loaded_below_it_unless_that_has_a_runpath():
    extension = f"{TORCH}/_C.cpython-312-x86_64-linux-gnu.so"
    files = {
        extension: elf(needed=["libtorch_python.so"], rpath="$ORIGIN/lib:$ORIGIN/more"),
        f"{LIB}/libtorch_python.so": elf("libtorch_python.so", ["librccl.so.1"]),
        f"{TORCH}/more/librccl.so.1": elf("librccl.so.1"),
    }
    assert libraries(files)[0] == [f"{LIB}/libtorch_python.so", f"{TORCH}/more/librccl.so.1"]
    files[f"{LIB}/libtorch_python.so"] = elf("libtorch_python.so", ["librccl.so.1"], runpath="/nowhere")
    assert libraries(files) == ([f"{LIB}/libtorch_python.so"], [("absent", "librccl.so.1")])


def test_the_interpreter_s_rpath_counts_too():
    python = {
        "interpreter": {"executable": "/v/bin/python", "prefix": "/v", "base_prefix": "/conda", "path": []}
    }
    files = {
        **FILES,
        "/conda/bin/python3.12": elf(rpath="$ORIGIN/../lib"),
        f"{LIB}/libtorch_hip.so": elf("libtorch_hip.so", ["libmpi.so.40"]),
        "/conda/lib/libmpi.so.40": elf("libmpi.so.40"),
    }
    links = {"/v/bin/python": "/conda/bin/python3.12"}
    assert "/conda/lib/libmpi.so.40" in libraries(files, observed=python, links=links)[0]


def test_what_has_been_loaded_under_a_name_is_not_looked_for_again():
    files = {
        **FILES,
        f"{LIB}/libtorch_hip.so": elf("libtorch_hip.so", ["librccl.so", "librocm.so"], runpath="$ORIGIN"),
        f"{LIB}/librccl.so": elf("librccl.so.1"),
        f"{LIB}/librocm.so": elf("librocm.so", ["librccl.so.1"]),
        **SYSTEM,
        **CONFIGURED,
    }
    assert libraries(files, links=LINKS) == ([*OWN, f"{LIB}/librccl.so", f"{LIB}/librocm.so"], [])


def test_libraries_of_another_machine_are_passed_over():
    files = {
        **FILES,
        "/a/librccl.so.1": elf("librccl.so.1", bits=32, machine=3),
        "/b/librccl.so.1": elf("librccl.so.1", machine=183),
        "/c/librccl.so.1": elf("librccl.so.1"),
        f"{LIB}/libamdhip64.so.7": elf("libamdhip64.so.7"),
    }
    paths, troubles = libraries(files, env={"LD_LIBRARY_PATH": "/a:/b:/c"})
    assert paths == [*OWN, "/c/librccl.so.1", f"{LIB}/libamdhip64.so.7"]
    assert troubles == []


def test_a_denied_directory_is_passed_over_like_the_linker_does():
    files = {**FILES, **SYSTEM, **CONFIGURED, "/a/librccl.so.1": errno.EACCES}
    paths, troubles = libraries(files, links=LINKS, env={"LD_LIBRARY_PATH": "/a"})
    assert (f"{ROCM}/librccl.so.1.0.70200" in paths, troubles) == (True, [])


def test_a_file_that_is_no_library_ends_the_search_for_its_name():
    files = {**FILES, **SYSTEM, **CONFIGURED, f"{LIB}/librccl.so.1": "junk"}
    paths, troubles = libraries(files, links=LINKS)
    assert f"{ROCM}/librccl.so.1.0.70200" not in paths
    assert troubles == [("unparsed", f"{LIB}/librccl.so.1")]


def test_a_hidden_place_keeps_from_saying_that_there_is_none():
    paths, troubles = libraries({**FILES, "/etc/ld.so.conf": errno.EIO})
    assert {kind for kind, _ in troubles} == {"failed"}
    files = {**FILES, f"{LIB}/libamdhip64.so.7": elf(), "/slow/librccl.so.1": errno.EIO}
    assert libraries(files, env={"LD_LIBRARY_PATH": "/slow"})[1] == [("failed", "/slow/librccl.so.1")]


def test_wheels_of_rocm_are_loaded_before_anything_else():
    files = {
        **FILES,
        f"{TORCH}/_rocm_init.py": "",
        f"{SITE}/_rocm_sdk_core/lib/libamdhip64.so.7": elf("libamdhip64.so.7"),
        f"{SITE}/_rocm_sdk_libraries_gfx94X_dcgpu/lib/librccl.so.1": elf("librccl.so.1"),
        "/mine/libamdhip64.so.7": elf("libamdhip64.so.7"),
    }
    paths, troubles = libraries(files, env={"LD_LIBRARY_PATH": "/mine"})
    assert paths[2:] == [
        f"{SITE}/_rocm_sdk_libraries_gfx94X_dcgpu/lib/librccl.so.1",
        f"{SITE}/_rocm_sdk_core/lib/libamdhip64.so.7",
    ]
    assert troubles == []


def test_wheels_of_nvidia_are_the_last_place():
    nccl = elf("libnccl.so.2")
    files = {
        **FILES,
        f"{LIB}/libtorch_python.so": elf("libtorch_python.so", ["libnccl.so.2"]),
        f"{SITE}/nvidia/nccl/lib/libnccl.so.2": nccl,
    }
    assert libraries(files)[0][-1] == f"{SITE}/nvidia/nccl/lib/libnccl.so.2"
    assert libraries({**files, "/usr/lib/libnccl.so.2": nccl})[0][-1] == "/usr/lib/libnccl.so.2"


def test_an_extension_that_cannot_be_read_or_is_missing():
    files = {path: content for path, content in FILES.items() if "/_C." not in path}
    assert libraries(files)[0] == OWN
    assert libraries({**files, f"{TORCH}/_C.so": "junk"})[0] == OWN


def test_the_first_library_goes_first():
    files = {**FILES, f"{LIB}/libtorch_global_deps.so": elf("libtorch_global_deps.so", ["libmpi.so.40"])}
    paths, troubles = libraries(files)
    assert paths[0] == f"{LIB}/libtorch_global_deps.so"
    assert troubles[0] == ("absent", "libmpi.so.40")


def test_a_directory_of_libraries_that_will_not_list():
    told = predicted({f"{TORCH}/__init__.py": "", LIB: errno.EACCES})
    assert told.paths == ()


def test_no_torch_at_all():
    assert predicted({}) == prediction.Prediction()


def test_the_work_is_bounded(monkeypatch):
    monkeypatch.setattr(prediction, "OBJECT_LIMIT", 2)
    paths, troubles = libraries(FILES)
    assert paths == OWN[:1]
    assert [kind for kind, _ in troubles] == ["failed"]


def test_circles_end():
    files = {
        **FILES,
        f"{LIB}/libtorch_hip.so": elf("libtorch_hip.so", ["libtorch_python.so", "libtorch_hip.so"]),
    }
    assert libraries(files) == (OWN, [])


@pytest.mark.parametrize("path", ["$LIB/x", "relative", "", "$ORIGIN/../$PLATFORM", ":::"])
def test_directories_that_only_the_linker_knows(path):
    files = {**FILES, f"{LIB}/libtorch_hip.so": elf("libtorch_hip.so", ["librccl.so.1"], runpath=path)}
    assert libraries(files)[1] == [("absent", "librccl.so.1")]
