"""A ROCm tree with kernels, as the tests of the libraries and of their catalogs see it."""

import errno

from aorta.host.tree import Node, refused
from aorta.testing import FakeHost

ELF = b"\x7fELF"
ROOT = "/opt/rocm"
LT = f"{ROOT}/include/hipblaslt/hipblaslt-version.h"
RB = f"{ROOT}/include/rocblas/internal/rocblas-version.h"


def header(prefix, version="1.2.1", tweak="dabb6df2b9"):
    major, minor, patch = version.split(".")
    lines = [("MAJOR", major), ("MINOR", minor), ("PATCH", patch), ("TWEAK", tweak)]
    return "".join(f"#define {prefix}_VERSION_{name}       {value}\n" for name, value in lines)


FILES = {
    f"{ROOT}/.info/version": "7.2.0\n",
    LT: header("HIPBLASLT"),
    RB: header("ROCBLAS", "5.2.0"),
    f"{ROOT}/lib/libhipblaslt.so.1.2.70200": ELF + b"lt",
    f"{ROOT}/lib/librocblas.so.5": ELF + b"rb",
    f"{ROOT}/lib/hipblaslt/library/TensileLibrary_lazy_gfx942.dat": "1",
    f"{ROOT}/lib/hipblaslt/library/Kernels.so-000-gfx942.hsaco": "2",
    f"{ROOT}/lib/hipblaslt/library/extop_gfx942.co": "3",
    f"{ROOT}/lib/rocblas/library/TensileLibrary_lazy_gfx90a.dat": "4",
}
LINKS = {
    f"{ROOT}/lib/libhipblaslt.so": "libhipblaslt.so.1",
    f"{ROOT}/lib/libhipblaslt.so.1": "libhipblaslt.so.1.2.70200",
}


def host(files=None, *, root=True, links=None, locked=(), dirs=(), **world):
    """Return a host with the tree; a file of None is left out, the directories ``locked`` do not list."""
    made = {**(FILES if root else {}), **(files or {})}
    made = {path: content for path, content in made.items() if content is not None}
    linked = {**(LINKS if root else {}), **(links or {})}
    fake = FakeHost(files=made, links=linked, dirs=[*dirs, *locked], **world)
    for path in locked:
        fake.tree.nodes[path] = Node(kind="dir", refusal=refused(errno.EACCES, path))
    return fake
