"""What a running interpreter says of itself and its kernel. One function a key, each gives a JSON value."""

import hashlib
import os
import resource
from collections.abc import Callable
from typing import Any

from aorta.host.search_path import whole_path
from aorta.host.torch_report import identity


def uname() -> dict[str, str]:
    """Return the kernel's own identity."""
    names = os.uname()
    return {"release": names.release, "version": names.version, "machine": names.machine}


def glibc() -> str | None:
    """Return the C library's version text, e.g. ``glibc 2.36``; None where it is not glibc."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, OSError, ValueError):
        return None


def interpreter() -> dict[str, Any]:
    """Return the running interpreter's version, paths and search path."""
    return {**identity(), "path": whole_path()}


def ulimits() -> dict[str, list[int | None]]:
    """Return soft and hard limits by name; None is unlimited."""
    names = {
        "memlock": resource.RLIMIT_MEMLOCK,
        "nofile": resource.RLIMIT_NOFILE,
        "nproc": resource.RLIMIT_NPROC,
        "stack": resource.RLIMIT_STACK,
        "core": resource.RLIMIT_CORE,
        "as": resource.RLIMIT_AS,
    }
    pairs = {name: resource.getrlimit(number) for name, number in names.items()}
    return {
        name: [None if value == resource.RLIM_INFINITY else value for value in pair]
        for name, pair in pairs.items()
    }


def user() -> dict[str, Any]:
    """Return the numeric identity of the process's owner; no names."""
    return {"uid": os.getuid(), "root": os.geteuid() == 0, "groups": sorted(os.getgroups())}


def process() -> dict[str, int]:
    """Return the number of this process, by which other programs name its files."""
    return {"pid": os.getpid()}


def cwd() -> str:
    """Return the working directory of this process. Raises OSError where it is gone."""
    return os.getcwd()


def start_variables() -> list[str]:
    """Return the names, never the values, of the variables of a Buck package that this process started with.

    A package takes them out of ``os.environ`` before its main module runs. Raises OSError.
    """
    return sorted(name for name in _start_environ() if name.startswith(("PAR_", "FB_")))


def package_libraries() -> str | None:
    """Return the LD_LIBRARY_PATH that the loader of this process uses where a Buck package has set it.

    The package gives the caller's own back in ``os.environ``. None where no package did.
    """
    try:
        started = _start_environ()
    except OSError:
        return None
    return started.get("LD_LIBRARY_PATH") if "PAR_LAUNCH_TIMESTAMP" in started else None


def _start_environ() -> dict[str, str]:
    with open("/proc/self/environ", "rb") as stream:
        entries = (os.fsdecode(entry).partition("=") for entry in stream.read().split(b"\0"))
        return {name: value for name, _, value in entries}


def machine_digest() -> str | None:
    """Return 16 hexadecimal digits of a SHA-256 over the machine's id; None where it has none.

    machine-id is to be kept confidential: only a digest with an application's own prefix may leave.
    """
    try:
        with open("/etc/machine-id", encoding="ascii") as stream:
            number = stream.read(64).strip()
    except FileNotFoundError:
        return None
    return hashlib.sha256(f"aorta\0{number}".encode()).hexdigest()[:16] if number else None


OBSERVATIONS: dict[str, Callable[[], Any]] = {
    "uname": uname,
    "glibc": glibc,
    "interpreter": interpreter,
    "ulimits": ulimits,
    "user": user,
    "process": process,
    "cwd": cwd,
    "start_variables": start_variables,
    "machine_digest": machine_digest,
}
