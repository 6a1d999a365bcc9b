"""Header, installed file and other copies are told apart.

The version that torch was compiled with comes with pytorch_build, the copy that a process maps with
loaded_libraries.
"""

from aorta.testing import FakeHost, collect

CASE = "rccl-three-versions-on-one-host"
SITE = "/usr/local/lib/python3.12/dist-packages"
FILES = {
    f"{SITE}/nvidia/nccl/lib/libnccl.so.2": b"\x7fELF",
    "/usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3": b"\x7fELF",
}


def test_nccl_files_and_metadata_are_not_rccl():
    host = FakeHost(
        files=FILES,
        distributions={"nvidia-nccl-cu13": "2.30.4"},
        modules={"torch": f"{SITE}/torch/__init__.py"},
    )
    value = collect(host, "rccl").value
    assert (value["version"], value["lib_hash"], value["other_libraries"]) == (None, None, [])


def test_the_headers_number_is_the_headers_and_copies_are_listed():
    files = {
        **FILES,
        "/opt/rocm/include/rccl/rccl.h": "#define NCCL_VERSION_CODE 22809\n",
        "/opt/rocm/lib/librccl.so.1.0.70200": b"\x7fELF",
        f"{SITE}/torch/lib/librccl.so": b"\x7fELF",
        "/usr/lib/x86_64-linux-gnu/librccl.so.1": b"\x7fELF",
    }
    value = collect(FakeHost(files=files, modules={"torch": f"{SITE}/torch/__init__.py"}), "rccl").value
    assert (value["version"], value["header_path"]) == ("2.28.9", "/opt/rocm/include/rccl/rccl.h")
    assert value["lib_path"] == "/opt/rocm/lib/librccl.so.1.0.70200"
    assert [(copy["path"], copy["origin"]) for copy in value["other_libraries"]] == [
        (f"{SITE}/torch/lib/librccl.so", "torch"),
        ("/usr/lib/x86_64-linux-gnu/librccl.so.1", "ld.so.conf"),
    ]
