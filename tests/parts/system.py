"""The system parts that tests use: which there are, which are missing, how to add them.

Run as a program before the tests. It never touches the system's packages unless CI=true or
AORTA_TEST_INSTALL=1; otherwise it prints what is left out and the one command that adds it.
"""

import os
import shutil
import subprocess
import sys

#: Debian package -> (a program of it, what the tests do with it).
PARTS = {
    "rocminfo": ("rocminfo", "the honest answer of a host without a GPU"),
    "hipcc": ("hipconfig", "a real hipconfig"),
    "rocm-smi": ("rocm-smi", "a real ROCm library in /usr/lib"),
    "kmod": ("modinfo", "a real modinfo"),
    "pciutils": ("lspci", "a real lspci"),
    "ethtool": ("ethtool", "a real ethtool"),
    "ibverbs-utils": ("ibv_devices", "real verbs tools without a device"),
    "iproute2": ("ip", "network namespaces, rdma"),
    "bubblewrap": ("bwrap", "a bare machine and an unnamed sandbox"),
    "squashfs-tools": ("mksquashfs", "an image, whose files bear made-up times"),
    "fuse3": ("fusermount3", "a file system that never answers"),
    "sudo": ("sudo", "a refusing and a granting sudo"),
    "docker.io": ("dockerd", "a real engine, and the real options of docker"),
    "podman": ("podman", "real containers, and the real options of podman"),
    "runc": ("runc", "real containers of chosen control groups"),
    "systemd-container": ("systemd-nspawn", "real containers of systemd"),
    "lxc": ("lxc-execute", "real containers of LXC"),
    "charliecloud": ("ch-run", "real containers of Charliecloud"),
    "mmdebstrap": ("mmdebstrap", "the root file system in all of them"),
    "gcc": ("gcc", "real ELF files"),
    "g++": ("g++", "a library with C++ symbols"),
    "binutils": ("readelf", "what else reads ELF files"),
    "git": ("git", "real repositories with submodules"),
    "mercurial": ("hg", "real checkouts of the other kind"),
    "cmake": ("cmake", "real configured builds"),
    "ninja-build": ("ninja", "the build files of them"),
    "util-linux": ("unshare", "mount and process namespaces"),
    "slurmctld": ("slurmctld", "a real Slurm of two nodes"),
    "slurmd": ("slurmd", "its nodes"),
    "slurm-client": ("srun", "its jobs and steps"),
    "munge": ("munged", "its authentication"),
    "openmpi-bin": ("mpirun.openmpi", "ranks that Open MPI starts"),
    "mpich": ("mpiexec.hydra", "ranks that MPICH's launcher starts"),
    "procps": ("ps", "processes that must not stay behind"),
}
#: Packages without a program of their own; the library is looked for.
LIBRARIES = {"libfuse2": ("/lib/x86_64-linux-gnu/libfuse.so.2", "the FUSE binding of the tests")}


def missing() -> dict[str, str]:
    """Return the missing packages and what each is for."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    absent = {name: why for name, (tool, why) in PARTS.items() if shutil.which(tool, path=path) is None}
    absent |= {name: why for name, (library, why) in LIBRARIES.items() if not os.path.exists(library)}
    return absent


def may_install() -> bool:
    """Tell whether the caller allowed changes to the system."""
    return os.environ.get("CI") == "true" or os.environ.get("AORTA_TEST_INSTALL") == "1"


def install(packages: list[str]) -> None:
    """Install Debian packages. Raises CalledProcessError."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=environment)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def main() -> int:
    """Install or tell what is missing; the exit status is 1 only where they were to be installed."""
    absent = missing()
    if absent and may_install():
        print(f"installing {' '.join(sorted(absent))}", flush=True)
        try:
            install(sorted(absent))
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"not installed: {error}")
        absent = missing()
    for name, why in sorted(absent.items()):
        print(f"left out for want of the package {name}: {why}")
    if absent:
        print(f"add them with: sudo apt-get install -y {' '.join(sorted(absent))}")
    return 1 if absent and may_install() else 0


if __name__ == "__main__":
    sys.exit(main())
