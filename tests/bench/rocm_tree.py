"""A made-up ROCm installation of the size of a real one: ``python -m tests.bench.rocm_tree DIR [--scale large]``.

It has what a content fingerprint must read, in the shape and number of a real install: four libraries,
the Tensile databases of hipBLASLt and rocBLAS, MIOpen's databases, and three dozen further libraries.
``large`` is 4.7 GB in 5,700 files, ``small`` 5 MB in 200. The same options give the same bytes.
"""

import argparse
import random
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

MIB = 1 << 20
RELEASE = "7.2.4"

#: Mebibytes in all, per scale: libraries by name, then databases as (architectures, files for each, mebibytes).
SCALES = {
    "small": {
        "libraries": {"rocblas": 0.25, "hipblaslt": 0.1, "MIOpen": 0.4, "rccl": 0.3},
        "databases": {"hipblaslt": (2, 24, 1.5), "rocblas": (2, 24, 1.0), "miopen": (1, 10, 0.6)},
        "others": 14,
    },
    "large": {
        "libraries": {"rocblas": 220, "hipblaslt": 12, "MIOpen": 480, "rccl": 350, "amdhip64": 24},
        "databases": {"hipblaslt": (7, 418, 1800), "rocblas": (6, 439, 1000), "miopen": (6, 37, 650)},
        "others": 40,
    },
}
ARCHITECTURES = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1200", "gfx1201")
HEADERS = {
    "hipblaslt/hipblaslt-version.h": "HIPBLASLT",
    "rocblas/internal/rocblas-version.h": "ROCBLAS",
    "miopen/version.h": "MIOPEN",
}


class Content:
    """Bytes that differ from file to file, at the speed of the disk: a pool, begun at another place each."""

    def __init__(self) -> None:
        self._pool = random.Random(1).randbytes(4 * MIB)

    def write(self, path: Path, size: int, head: bytes = b"") -> None:
        """Write a file of ``size`` bytes, its head first."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            file.write((head + f"{path.name}\n".encode())[:size])
            at = random.Random(path.name).randrange(len(self._pool))
            while (left := size - file.tell()) > 0:
                file.write(self._pool[at : at + left])
                at = 0


def make(root: Path, scale: str) -> None:
    """Write the installation below ``root``, which must not be there."""
    sizes, content = SCALES[scale], Content()
    root.mkdir(parents=True)
    write(root / ".info/version", f"{RELEASE}\n")
    for name, prefix in HEADERS.items():
        numbers = zip(("MAJOR", "MINOR", "PATCH"), RELEASE.split("."), strict=True)
        lines = [f"#define {prefix}_VERSION_{part} {number}" for part, number in numbers]
        write(root / "include" / name, "\n".join([*lines, f"#define {prefix}_VERSION_TWEAK 70204abcd", ""]))
    write(root / "include/rccl/rccl.h", "#define NCCL_VERSION_CODE 22707\n")
    others = {f"other{number:02}": 0.5 for number in range(sizes["others"])}
    for name, mebibytes in {**sizes["libraries"], **others}.items():
        library(root / "lib", name, int(mebibytes * MIB), content)
    for name, (architectures, files, mebibytes) in sizes["databases"].items():
        for path, size in database(name, architectures, files, int(mebibytes * MIB)):
            content.write(root / path, size)


def write(path: Path, text: str) -> None:
    """Write a small text file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def library(folder: Path, name: str, size: int, content: Content) -> None:
    """Write a real shared object, padded to size, behind the usual chain of links."""
    folder.mkdir(parents=True, exist_ok=True)
    numbered, soname, bare = f"lib{name}.so.1.0.70204", f"lib{name}.so.1", f"lib{name}.so"
    tags = random.Random(name).choice(
        ["-Wl,--disable-new-dtags,-rpath,$ORIGIN", "-Wl,--enable-new-dtags,-rpath,$ORIGIN", "-Wl,-O1"]
    )
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch, "x.c")
        source.write_text(f"int {name}_version(void) {{ return 70204; }}\n")
        made = Path(scratch, numbered)
        command = ["cc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", tags, "-o", str(made), str(source)]
        subprocess.run(command, check=True)
        content.write(folder / numbered, max(size, made.stat().st_size), made.read_bytes())
    (folder / soname).symlink_to(numbered)
    (folder / bare).symlink_to(soname)


def database(name: str, architectures: int, files: int, size: int) -> Iterator[tuple[str, int]]:
    """Yield the paths of a kernel database and the bytes of each, a few large and many small."""
    endings = {"hipblaslt": ("co", "dat", "hsaco"), "rocblas": ("co", "dat", "hsaco"), "miopen": ("kdb",)}
    folder = "share/miopen/db" if name == "miopen" else f"lib/{name}/library"
    names = [
        f"{folder}/Kernels_{number:04}_{architecture}.{endings[name][number % len(endings[name])]}"
        for architecture in ARCHITECTURES[:architectures]
        for number in range(files)
    ]
    weights = [random.Random(one).lognormvariate(0, 1.5) for one in names]
    for path, weight in zip(names, weights, strict=True):
        yield path, max(64, int(size * weight / sum(weights)))


def main() -> None:
    """Make one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--scale", choices=sorted(SCALES), default="small")
    options = parser.parse_args()
    make(options.root, options.scale)


if __name__ == "__main__":
    main()
