"""A GPU host of our own on this machine: ``prepare(folder)`` makes its parts, ``within(...)`` runs a command in it.

A mount namespace in which /etc, /opt, /sys and /usr have a writable layer: a ROCm tree and its tools lie
in /opt, GPUs and a network card in /sys, nothing of ROCm in /usr. What is planted (a pair of a state of
``STATES`` and a path) is there and nowhere else. As a program this file sets it up and becomes the
command; it imports only the standard library, quickly.
"""

import glob
import json
import os
import shutil
import socket
import stat
import subprocess
import sys

LAYERED = ("/etc", "/opt", "/sys", "/usr")
#: The file systems that this process has laid over them; nothing is planted or written elsewhere.
OURS = set()
HUGE = 5 << 30
KFD = "/sys/class/kfd/kfd/topology/nodes"
GPU = {
    "simd_count": 1216,
    "simd_per_cu": 4,
    "gfx_target_version": 90402,
    "vendor_id": 4098,
    "device_id": 29857,
    "domain": 0,
    "num_xcc": 8,
}


def clear(path):
    """Take away whatever is at a path."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def text(data):
    """Return a state: a file of these bytes; a function makes them of the ones that are there."""

    def plant(path):
        was = b""
        if callable(data):
            with open(path, "rb") as file:
                was = file.read()
        clear(path)
        with open(path, "wb") as file:
            file.write(data(was) if callable(data) else data)

    return plant


def link(target):
    """Return a state: a link that leads there."""
    return lambda path: os.symlink(target, path)


def huge(path):
    """Put a file of 5 GB without content."""
    with open(path, "wb") as file:
        file.truncate(HUGE)


def unix_socket(path):
    """Put a socket; the name of one is short, so it is made from near by."""
    before = os.getcwd()
    os.chdir(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.basename(path))
    # The directory that a probe works in is evidence too.
    os.chdir(before)


def device(minor):
    """Return a state: a memory device."""
    return lambda path: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))


def odd_neighbours(path):
    """Put names beside it that are no text, hidden, long, or hold line breaks and blanks."""
    head, _, tail = os.fsencode(path).rpartition(b"/")
    for name in (b"\xff" + tail, tail + b".\xed\xa0\x80", b"\n" + tail, b" ", b"." + tail, b"x" * 255):
        with open(head + b"/" + name, "wb") as file:
            file.write(b"\0")


#: What a path can be; those of ``KEPT`` begin with what is there, all others with nothing.
STATES = {
    "missing": lambda _path: None,
    "denied": lambda path: os.chmod(path, 0),
    "dangling": link("nowhere/at/all"),
    "loop": lambda path: os.symlink(os.path.basename(path), path),
    "endless_name": link("n" * 300),
    "directory": lambda path: os.mkdir(path),
    "file": text(b"a file\n"),
    "fifo": lambda path: os.mkfifo(path),
    "socket": unix_socket,
    "zero": device(5),
    "full": device(7),
    "link_to_zero": link("/dev/zero"),
    "link_to_full": link("/dev/full"),
    "link_to_tty": link("/dev/tty"),
    "huge": huge,
    "binary": text(bytes(range(256)) * 64),
    "latin1": text(lambda was: was + b"/* \xe9 */\n"),
    "utf16": text(lambda was: was.decode("utf-8", "replace").encode("utf-16")),
    "surrogate": text(lambda was: b"\xed\xa0\x80" + was),
    "empty": text(b""),
    "blank": text(b" \n\t\r\n" * 10),
    "nul": text(lambda was: was[:2] + b"\0\0" + was[2:]),
    "nuls": text(b"\0" * 5000),
    "long_line": text(b"7" * (10 << 20)),
    "many_lines": text(b"x=1\n" * (2 << 20)),
    "odd_neighbours": odd_neighbours,
}

KEPT = ("denied", "latin1", "utf16", "surrogate", "nul", "odd_neighbours")

#: What a tool does in place of answering; ``{real}`` is the tool that answers.
TOOLS = {
    "no_execution": None,
    "no_interpreter": "#!/nowhere/sh\n",
    "no_shebang": 'echo "not by this way"\n',
    "no_content": "",
    "another_machine": b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x02\0\xb7\0\x01\0\0\0" + b"\0" * 40,
    "half_a_program": b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x02\0\x3e\0",
    "noise_before": "echo 'WARNING: noise 1.2.3'; echo; {real}",
    "noise_after": "{real}; echo; echo 'note: noise 4.5.6'",
    "noise_on_stderr": "echo noise >&2; {real}; r=$?; echo noise >&2; exit $r",
    "no_text": r"printf '\377\376\0\200 \355\240\200\n'; printf '\377' >&2",
    "a_gigabyte": "head -c 1000000000 /dev/zero",
    "endless": "exec yes",
    "endless_on_stderr": "exec yes >&2",
    "hangs": "exec sleep 600",
    "answers_and_hangs": "{real}; sleep 600",
    "ignores_signals": "trap '' TERM HUP INT QUIT PIPE\nwhile :; do sleep 600; done",
    "keeps_the_pipe": "{real}; r=$?; sleep 600 & exit $r",
    "keeps_the_pipe_elsewhere": "{real}; r=$?; setsid sleep 600 & exit $r",
    "closes_its_output": "exec >&- 2>&-\nexec sleep 600",
    "wants_a_password": "exec 2>&1; printf 'Password: '; read -r word </dev/tty || exit 1; {real}",
    "asks_on_stdin": "printf 'Really? '; read -r word || exit 1; {real}",
    "reads_all_of_stdin": "cat >/dev/null; {real}",
    "exits_1": "exit 1",
    "exits_2_with_words": "{real}; echo 'usage: no' >&2; exit 2",
    "exits_127": "exit 127",
    "exits_255": "exit 255",
    "dies_of_segv": "kill -SEGV $$",
    "dies_of_kill": "kill -KILL $$",
    "kills_its_group": "kill -KILL 0",
    "stops_its_group": "kill -STOP 0",
    "answers_and_dies": "{real}; kill -SEGV $$",
    "writes_to_stderr": "{real} >&2",
    "colours": r"printf '\033[1;31m'; {real}; r=$?; printf '\033[0m\n'; exit $r",
    "another_line_end": r"{real} | sed 's/$/\r/'",
    "says_nothing": "exit 0",
    "says_blanks": r"printf ' \n\t\n'",
    "changes_the_terminal": "stty -echo raw </dev/tty; tput reset >/dev/tty; {real}",
    "one_long_line": r"head -c 9000000 /dev/zero | tr '\0' 7",
    "many_numbers": "echo 99999999999999999999999999999999999999999999999999999999999999999999999",
    "half_a_json": """printf '{{"a": [1, 2'""",
    "deep_json": r"head -c 200000 /dev/zero | tr '\0' '['",
    "writes_elsewhere": "echo $$ >./left-behind; {real}",
}

LOADER = """#!/bin/sh
exec {folder}/.answering/{name} "$@"
"""


def break_tool(state, path):
    """Make a tool of /opt behave as ``TOOLS`` say."""
    check_layered(path)
    if state == "no_execution":
        return os.chmod(path, 0o644)
    if state in STATES:
        return plant(state, path)
    folder, name = os.path.split(path)
    os.makedirs(f"{folder}/.answering", exist_ok=True)
    os.rename(path, f"{folder}/.answering/{name}")
    body = TOOLS[state]
    if isinstance(body, str):
        plain = state in ("no_interpreter", "no_shebang", "no_content")
        real = f'{folder}/.answering/{name} "$@"'
        body = (body if plain else f"#!/bin/sh\n{body.format(real=real)}\n").encode()
    with open(path, "wb") as file:
        file.write(body)
    os.chmod(path, 0o755)
    return None


def plant(state, path):
    """Put a path into a state of ``STATES``, or make it a link to the absolute path that ``state`` is."""
    if path.startswith(("/proc/", "/dev/")):
        # The process that mounts is another.
        return cover(state, path.replace("/proc/self/", f"/proc/{os.getpid()}/"))
    check_layered(path)
    if state not in KEPT:
        clear(path)
    STATES.get(state, link(state))(path)
    return None


def check_layered(path):
    """Refuse a path that lies on no layer of ours: what is planted there would be on the real machine."""
    # What a state follows a link to counts as well.
    for seen in (os.path.dirname(path), os.path.realpath(path)):
        # A file below a layer keeps the number of its own file system, a directory has the layer's.
        while not os.path.isdir(seen):
            seen = os.path.dirname(seen)
        if not f"{os.path.realpath(seen)}/".startswith(tuple(f"{place}/" for place in LAYERED)):
            sys.exit(f"{path} is not planted in: it lies on no layer of this world")
        if os.stat(seen).st_dev not in OURS:
            sys.exit(f"{path} is not planted in: it lies on another file system")


def cover(state, path):
    """Mount what a state is over a path of /proc or /dev."""
    made = f"/opt/.cover-{os.getpid()}"
    if state in KEPT:
        with open(path, "rb") as file, open(made, "wb") as copy:
            copy.write(file.read())
    if state in STATES:
        STATES[state](made)
    mount("--bind", made if state in STATES else state, path)


def mount(*words):
    subprocess.run(["/usr/bin/mount", *words], check=True)


def put(path, content, mode=0o644):
    """Write a file and the directories above it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    os.chmod(path, mode)


def prepare(folder):
    """Write what lies in /opt into a folder; the loader itself stands for all libraries."""
    from tests.parts.fake_tools import basic_path, make

    make(folder / "made")
    shutil.copytree(folder / "made" / "tools", folder / "opt" / "tools")
    basic_path(folder / "opt" / "basic")
    for name in ("head", "yes", "tr", "sed", "setsid", "stty", "tput", "kill"):
        found = shutil.which(name, path="/usr/bin:/bin")
        if found and not (folder / "opt" / "basic" / name).exists():
            os.symlink(found, folder / "opt" / "basic" / name)
    rocm = f"{folder}/opt/rocm"
    for name, content in TREE.items():
        put(f"{rocm}/{name}", content)
    with open(os.path.realpath(sys.executable), "rb") as file:
        content = file.read()[: 1 << 20]
    for name in LIBRARIES:
        put(f"{rocm}/lib/{name}.so.1.0", content + name.encode())
        os.symlink(f"{name}.so.1.0", f"{rocm}/lib/{name}.so.1")
        os.symlink(f"{name}.so.1", f"{rocm}/lib/{name}.so")
    put(f"{folder}/opt/site/lib/librccl.so.1", content)


LIBRARIES = (
    "librccl",
    "libamdhip64",
    "libhipblaslt",
    "librocblas",
    "libMIOpen",
    "librocfft",
    "libhsa-runtime64",
    "libhipblas",
    "librccl-net",
)

_COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _numbers(prefix, *numbers):
    words = ("MAJOR", "MINOR", "PATCH")
    return "".join(f"#define {prefix}{word} {number}\n" for word, number in zip(words, numbers, strict=True))


TREE = {
    ".info/version": "7.2.0-43\n",
    ".info/version-dev": "7.2.0-43\n",
    "include/rocm-core/rocm_version.h": _numbers("ROCM_VERSION_", 7, 2, 0),
    "include/hip/hip_version.h": _numbers("HIP_VERSION_", 7, 2, 26015)
    + '#define HIP_VERSION_GITHASH "fc0010c"\n',
    "include/rccl/rccl.h": "#define NCCL_MAJOR 2\n#define NCCL_MINOR 27\n#define NCCL_PATCH 7\n"
    "#define NCCL_VERSION_CODE 22707\n",
    "include/hipblaslt/hipblaslt-version.h": _numbers("HIPBLASLT_VERSION_", 1, 2, 1)
    + "#define HIPBLASLT_VERSION_TWEAK 1c6b1b9f\n",
    "include/rocblas/internal/rocblas-version.h": _numbers("ROCBLAS_VERSION_", 5, 2, 0)
    + "#define ROCBLAS_VERSION_TWEAK 1c6b1b9f\n",
    "include/miopen/version.h": _numbers("MIOPEN_VERSION_", 3, 5, 1)
    + "#define MIOPEN_VERSION_TWEAK 1c6b1b9f\n",
    "include/ck/version.h": _numbers("CK_VERSION_", 1, 2, 0).replace(
        "CK_VERSION_PATCH 0", "CK_COMMIT_ID 1c6b1b9f"
    ),
    "include/ck/config.h": "#define CK_TILE 1\n",
    "share/therock/therock_manifest.json": json.dumps(
        {
            "the_rock_commit": _COMMIT,
            "rocm_version": "7.2.0",
            "submodules": [{"submodule_name": "rocm-libraries", "pin_sha": _COMMIT, "patches": []}],
        }
    ),
    "lib/hipblaslt/library/TensileLibrary_gfx942.dat": "kernels of gfx942 " * 50,
    "lib/hipblaslt/library/Kernels.so-000-gfx942.hsaco": "code " * 50,
    "lib/hipblaslt/library/gfx942/TensileLibrary_lazy_gfx942.dat": "lazy " * 50,
    "lib/rocblas/library/TensileLibrary_gfx942.dat": "kernels of rocblas " * 50,
    "lib/rocblas/library/TensileLibrary_Type_HH_gfx942.co": "code " * 50,
    "share/miopen/db/gfx942.db.txt": "1-2-3=4\n",
    "share/miopen/db/gfx942130.HIP.fdb.txt": "1-2-3=4\n",
    "share/miopen/db/gfx942.kdb": "SQLite format 3\0" + "kernels " * 50,
    "lib/rocfft/rocfft_kernel_cache.db": "SQLite format 3\0" + "kernels " * 50,
}


def furnish():
    """Put GPUs, a driver and a network card into /sys, and a place of the loader into /etc."""
    put(f"{KFD}/0/properties", "cpu_cores_count 2\nsimd_count 0\ngfx_target_version 0\nvendor_id 0\n")
    put(f"{KFD}/0/gpu_id", "0\n")
    put(f"{KFD}/0/name", "\n")
    for number, location in ((1, 6912), (2, 15616)):
        own = {**GPU, "location_id": location, "drm_render_minor": 127 + number, "unique_id": 10**18 + number}
        put(f"{KFD}/{number}/properties", "".join(f"{key} {value}\n" for key, value in own.items()))
        put(f"{KFD}/{number}/gpu_id", f"{28000 + number}\n")
        put(f"{KFD}/{number}/name", "ip discovery\n")
        for name, content in DEVICE.items():
            put(f"/sys/bus/pci/devices/0000:{location >> 8:02x}:00.0/{name}", content)
    for name, content in MODULE.items():
        put(f"/sys/module/amdgpu/{name}", content)
    for name, content in CARD.items():
        put(f"/sys/class/infiniband/mlx5_0/{name}", content)
    put("/etc/ld.so.conf.d/world.conf", "/opt/site/lib\n")


MODULE = {"version": "6.16.13\n", "srcversion": "ABCDEF0123456789ABCDEF0\n", "initstate": "live\n"}
DEVICE = {
    "vendor": "0x1002\n",
    "device": "0x74a1\n",
    "class": "0x120000\n",
    "subsystem_vendor": "0x1002\n",
    "subsystem_device": "0x74a1\n",
    "revision": "0x00\n",
    "numa_node": "0\n",
    "vbios_version": "113-M3000100-102\n",
    "mem_info_vram_total": "206141652992\n",
    "current_compute_partition": "SPX\n",
    "current_memory_partition": "NPS1\n",
}
CARD = {
    "fw_ver": "28.39.1002\n",
    "hca_type": "MT4129\n",
    "node_type": "1: CA\n",
    "node_guid": "0000:0000:0000:0001\n",
    "board_id": "MT_0000000838\n",
    "ports/1/state": "4: ACTIVE\n",
    "ports/1/phys_state": "5: LinkUp\n",
    "ports/1/rate": "400 Gb/sec (4X NDR)\n",
    "ports/1/link_layer": "Ethernet\n",
    "ports/1/gids/0": "fe80:0000:0000:0000:0000:0000:0000:0001\n",
    "ports/1/gid_attrs/types/0": "RoCE v2\n",
}


def set_up(scratch, opt, removed):
    """Lay writable layers over the directories, with an /opt of our own; remove what is not to be there."""
    mount("-t", "tmpfs", "none", scratch)
    for place in LAYERED:
        upper, work = f"{scratch}/upper{place}", f"{scratch}/work{place}"
        os.makedirs(upper)
        os.makedirs(work)
        lower = opt if place == "/opt" else place
        mount("-t", "overlay", "none", "-o", f"lowerdir={lower},upperdir={upper},workdir={work}", place)
        OURS.add(os.stat(place).st_dev)
    for pattern in removed:
        for path in glob.glob(pattern):
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    furnish()


def main(spec):
    """Set the world up as told by JSON, and become the command."""
    set_up(spec["scratch"], spec["opt"], spec["removed"])
    for state, path in spec["planted"]:
        if path.startswith("/opt/tools/"):
            break_tool(state, path)
        else:
            plant(state, path)
    os.makedirs("/opt/home")
    mount("--bind", spec["home"], "/opt/home")
    for words in spec["then"]:
        subprocess.run(words, check=True)
    os.execvp(spec["command"][0], spec["command"])


def within(scratch, opt, command, *, home, planted=(), then=()):
    """Return the whole command line that runs a command in the world; ``then`` runs before it, as root."""
    from tests.parts.fake_tools import ANSWERS
    from tests.parts.laptop import REMOVED

    real = [
        f"/usr/{place}/{name}" for place in ("bin", "sbin", "local/bin", "local/sbin") for name in ANSWERS
    ]
    spec = {
        "scratch": str(scratch),
        "opt": str(opt),
        "home": str(home),
        "removed": [*REMOVED, *real],
        "planted": [list(pair) for pair in planted],
        "then": [list(words) for words in then],
        "command": [str(word) for word in command],
    }
    return [
        "/usr/bin/unshare",
        "--mount",
        "--propagation",
        "private",
        sys.executable,
        "-E",
        "-S",
        __file__,
        json.dumps(spec),
    ]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
