"""The build of torch: what it says of itself, what its files show."""

import errno

import pytest

from aorta.testing import Distribution, FakeHost, collect, torch_report
from aorta_collectors.providers.torch_symbols import MARKERS
from aorta_collectors.pytorch.model import BUILD_FLAGS
from tests.parts import cxx_library
from tests.parts.torch_builds import (
    COMMIT,
    CONFIG,
    CPU,
    FLAGS,
    HIP,
    LIB,
    PACKAGE,
    ROCM,
    SITE,
    VERSION,
    host,
    version_file,
)

LIBRARY = f"{LIB}/libtorch_hip.so"
#: What 1.x has, and where.
OLD = {
    "": {
        "git_commit",
        "hip_version",
        "cuda_version",
        "debug",
        "install_kind",
        "source_path",
        "submodule_commits",
    }
    | {"flags", "build_flags", "binary_introspection", "cmake_cache", "ninja_hipcc"},
    "submodule_commits": {"composable_kernel", "aiter", "fbgemm", "_source"},
    "flags": {"build_settings", "cxx_defines", "cxx_flags_raw", "cuda_flags_raw", "gpu_arch_list"},
    "build_flags": set(BUILD_FLAGS),
    "binary_introspection": {"libtorch_hip_symbol_counts", "torch_lib_bundled", "cxx_flags_use_defines"},
    "cmake_cache": {"_source_file", "entries"},
    "ninja_hipcc": {"_source_file", "_parser", "_legacy_scripts_scanned", "targets"},
}


def run(parts=None, **world):
    return collect(host(parts, **world), "pytorch_build")


def rocm(files=None, **world):
    """Return the section for a build for ROCm with its library."""
    return run(files={LIBRARY: cxx_library.built().read_bytes(), **(files or {})}, **world)


def fields(result, kind):
    return {reason.field for reason in result.reasons if reason.kind == kind}


@pytest.mark.parametrize(
    "made", [lambda: rocm(), lambda: run(CPU), lambda: collect(FakeHost(), "pytorch_build")]
)
def test_every_key_of_1x_is_there(made):
    value = made().value
    for path, keys in OLD.items():
        assert keys <= set(value[path] if path else value)
    introspection = value["binary_introspection"]
    assert set(introspection["libtorch_hip_symbol_counts"]) == set(MARKERS)
    assert set(introspection["torch_lib_bundled"]) == {"libaotriton_v2.so"}
    assert set(introspection["cxx_flags_use_defines"]) == {"USE_ROCM_CK_SDPA", "USE_ROCM_CK_GEMM"}


def test_a_wheel_for_rocm():
    result = rocm({f"{LIB}/libaotriton_v2.so.0.11.1": ""})
    value = result.value
    told = {
        name: value[name] for name in ("version", "version_source", "rocm_local", "git_local", "git_commit")
    }
    assert told == {
        "version": VERSION,
        "version_source": "torch",
        "rocm_local": "7.2.0",
        "git_local": "7e1940d4",
        "git_commit": COMMIT,
    }
    assert (value["hip_version"], value["cuda_version"], value["rocm_version"]) == (HIP, None, "7.2.0")
    assert (value["hip_runtime"], value["miopen_runtime"], value["debug"]) == ("7.2.26015", "3.5.1", False)
    assert (value["file"], value["lib_dir"]) == (f"{PACKAGE}/__init__.py", LIB)
    assert (value["importable"], value["import_error"], value["import_stderr"]) == (True, None, None)
    assert (value["install_kind"], value["source_path"]) == ("wheel", None)
    assert value["flags"]["gpu_arch_list"] == ["gfx942", "gfx950"]
    assert value["flags"]["cxx_flags_raw"] == FLAGS
    assert value["flags"]["cxx_defines"]["LIBKINETO_NOXPUPTI"] == "ON"
    assert value["build_flags"]["USE_ROCM"] is True
    assert value["build_flags"]["USE_AOTRITON"] is None
    assert min(value["binary_introspection"]["libtorch_hip_symbol_counts"].values()) > 0
    assert value["binary_introspection"]["torch_lib_bundled"] == {"libaotriton_v2.so": True}
    assert value["binary_introspection"]["cxx_flags_use_defines"] == {
        "USE_ROCM_CK_SDPA": False,
        "USE_ROCM_CK_GEMM": False,
    }
    assert result.record.status == "ok"
    assert {reason.kind for reason in result.reasons} == {"absent"}


def test_a_wheel_for_cpus_is_not_partial():
    result = run(CPU, metadata="2.9.1+cpu")
    value = result.value
    assert result.record.status == "ok"
    assert value["flags"]["gpu_arch_list"] is None
    assert result.kinds("flags.gpu_arch_list") == ["absent"]
    assert result.kinds("hip_runtime") == result.kinds("miopen_runtime") == ["absent"]
    assert set(value["binary_introspection"]["libtorch_hip_symbol_counts"].values()) == {None}
    assert result.kinds("binary_introspection.libtorch_hip_symbol_counts") == ["absent"]
    assert value["binary_introspection"]["torch_lib_bundled"] == {"libaotriton_v2.so": False}
    assert value["build_flags"]["USE_ROCM"] is False
    assert (value["hip_version"], value["rocm_local"]) == (None, None)


def test_w8_architectures_are_the_builds_and_no_devices():
    result = run({**ROCM, "arch_flags": ""})
    assert result.value["flags"]["gpu_arch_list"] is None
    assert "names no architecture" in next(
        reason.detail for reason in result.reasons if reason.field == "flags.gpu_arch_list"
    )
    parts = {name: value for name, value in ROCM.items() if name != "arch_flags"}
    assert run(parts).kinds("flags.gpu_arch_list") == ["unsupported"]


def test_no_library_though_built_for_hip():
    result = run()
    assert result.kinds("binary_introspection.libtorch_hip_symbol_counts") == ["expected"]
    assert result.record.status == "partial"


def test_w2_denied():
    result = run(files={LIBRARY: errno.EACCES})
    assert result.kinds("binary_introspection.libtorch_hip_symbol_counts") == ["denied"]
    assert result.value["version"] == VERSION


def test_what_was_printed_is_kept_and_no_reason():
    noise = "(null): No such file or directory\n" * 8
    result = rocm(end={"noise": noise})
    assert result.value["import_stderr"] == noise
    assert result.record.status == "ok"


def test_a_process_that_died_after_its_answer():
    parts = {name: value for name, value in ROCM.items() if name != "flash_sdp_enabled"}
    result = rocm(parts=parts, end={"done": False, "ended": "it was ended by SIGABRT"})
    assert (result.value["importable"], result.value["import_ended"]) == (True, "it was ended by SIGABRT")
    assert result.value["flags"]["cxx_flags_raw"] == FLAGS


def test_metadata_of_another_version():
    result = rocm(metadata="2.8.0")
    assert (result.value["version"], result.value["distribution_version"]) == (VERSION, "2.8.0")
    assert rocm().value["distribution_version"] is None


@pytest.mark.parametrize(("text", "kind"), [("Name: torch\n", "absent"), (errno.EACCES, "denied")])
def test_metadata_that_tell_no_version(text, kind):
    unread = Distribution(name="torch", version=None, path=f"{SITE}/torch-{VERSION}.dist-info")
    files = {f"{unread.path}/METADATA": text}
    result = rocm(distributions={"torch": unread}, files=files)
    assert (result.value["version"], result.value["distribution_version"]) == (VERSION, None)
    assert result.kinds("distribution_version") == [kind]


def test_further_metadata():
    stale = f"{SITE}/torch-1.12.1+cu116.dist-info"
    own = Distribution(
        name="torch", version=VERSION, path=f"{SITE}/torch-{VERSION}.dist-info", others=(stale,)
    )
    assert rocm(distributions={"torch": own}).value["other_metadata"] == [stale]
    assert rocm().value["other_metadata"] is None


@pytest.mark.parametrize("commit", ["Unknown", "", "2.9.1"])
def test_no_commit(commit):
    result = rocm(parts={**ROCM, "git_version": commit})
    assert (result.value["git_commit"], result.kinds("git_commit")) == (None, ["absent"])


def test_a_configuration_that_raises():
    parts = {name: value for name, value in ROCM.items() if name != "config"}
    result = rocm(parts=parts, end={"errors": {"config": "RuntimeError: no"}})
    assert fields(result, "failed") == {
        *("hip_runtime", "miopen_runtime", "build_flags", "binary_introspection.cxx_flags_use_defines"),
        *(f"flags.{name}" for name in ("build_settings", "cxx_defines", "cxx_flags_raw", "cuda_flags_raw")),
        "flags.config_lines",
    }
    assert result.value["flags"]["gpu_arch_list"] == ["gfx942", "gfx950"]
    assert set(result.value["build_flags"].values()) == {None}


def test_a_configuration_without_flags():
    result = rocm(parts={**ROCM, "config": "PyTorch built with:\n  - GCC 9.3\n"})
    assert fields(result, "absent") >= {
        *(
            "hip_runtime",
            "binary_introspection.cxx_flags_use_defines",
            "flags.build_settings",
            "flags.cxx_defines",
        ),
    }
    assert set(result.value["binary_introspection"]["cxx_flags_use_defines"].values()) == {None}


def test_a_configuration_that_is_no_text():
    result = rocm(parts={**ROCM, "config": None, "debug": "no", "hip": True})
    assert result.value["flags"]["build_settings"] is None
    assert (result.value["debug"], result.value["hip_version"]) == (None, None)


def test_torch_was_not_to_be_imported():
    files = {f"{PACKAGE}/version.py": version_file(VERSION, hip=HIP, cuda=None)}
    result = run({}, end={"imported": None, "how": "static", "done": False}, files=files)
    assert result.value["version_source"] == "version.py"
    assert (result.value["hip_version"], result.value["importable"]) == (HIP, None)
    assert result.kinds("importable") == ["not_requested"]


def test_no_directory_of_libraries():
    result = run(CPU, dirs=())
    assert result.value["lib_dir"] is None
    assert fields(result, "unsupported") == {
        *(
            "lib_dir",
            "binary_introspection.libtorch_hip_symbol_counts",
            "binary_introspection.torch_lib_bundled",
        )
    }


def test_a_version_by_metadata_alone():
    result = run({}, end={"imported": False, "error": "OSError: x"}, metadata="2.9.1")
    assert (result.value["version"], result.value["version_source"]) == ("2.9.1", "metadata")
    result = run({}, end={"imported": False, "error": "OSError: x"}, metadata=None)
    assert (result.value["version"], result.value["version_source"]) == (None, None)
    assert result.kinds("version") == ["failed"]


def test_no_torch():
    result = collect(FakeHost(), "pytorch_build")
    assert [(reason.kind, reason.field) for reason in result.reasons] == [("absent", "")]
    assert result.record.status == "ok"
    assert result.value["importable"] is None


def test_a_source_tree_is_told_without_torch():
    fake = FakeHost(env={"AORTA_PYTORCH_SRC": "/src/pytorch"}, dirs=["/src/pytorch/third_party"])
    result = collect(fake, "pytorch_build")
    assert (result.value["install_kind"], result.value["source_path"]) == ("source", "/src/pytorch")
    assert result.kinds("") == ["absent"]


def test_the_text_is_not_cut():
    assert run({**ROCM, "config": CONFIG}).value["flags"]["build_settings"]["CXX_FLAGS"] == FLAGS


def test_flags_without_the_text_that_counts_devices():
    report = torch_report(
        how="in_process", version="2.9.1", hip="7.1", cxx_flags="-DUSE_FBGEMM -DUSE_ROCM_CK_SDPA=1"
    )
    host = FakeHost(
        modules={"torch": "/sp/torch/__init__.py"},
        files={"/sp/torch/version.py": ""},
        observed={"torch": report},
    )
    result = collect(host, "pytorch_build", import_strategy="in_process")
    assert result.value["flags"]["cxx_defines"] == {"USE_FBGEMM": None, "USE_ROCM_CK_SDPA": "1"}
    assert result.value["build_flags"]["USE_ROCM_CK_SDPA"] is True
    assert result.value["build_flags"]["USE_ROCM"] is None
    assert result.value["binary_introspection"]["cxx_flags_use_defines"]["USE_ROCM_CK_SDPA"] is True
    for field in ("flags.build_settings", "build_flags", "hip_runtime", "miopen_runtime"):
        assert result.kinds(field) == ["not_requested"], field
    assert collect(host, "fbgemm", import_strategy="in_process").value["pytorch_use_fbgemm"] is True
    kernels = collect(host, "composable_kernel", import_strategy="in_process").value
    assert (kernels["pytorch_use_ck_sdpa"], kernels["pytorch_use_ck_gemm"]) == (True, False)
