"""The bad-input matrix: which faults there are, what each may cost, and which reasons may tell of it.

A row is one state of one thing that the probe looks at (a file, a directory, a tool). The things come
from a run without a fault, so a new section brings its rows along; whose they are is said here. ``rows``
pairs things and states so that each thing and each state is there; with ``every`` all pairs are.
"""

import itertools
import re
from dataclasses import dataclass

#: Sections and providers that may tell something else when a path is broken, by the longest prefix; a
#: provider stands for all that need it.
OWNERS = {
    "/etc/ld.so.conf": {"rccl", "library_linkage", "hipblaslt", "rocblas", "miopen"},
    "/etc/os-release": {"host"},
    "/opt": {"RocmRoots"},
    "/opt/site": {"rccl", "library_linkage", "hipblaslt", "rocblas", "miopen"},
    "/opt/rocm": {"RocmRoots"},
    "/opt/rocm/.info/version": {"RocmRoots"},
    "/opt/rocm/include/ck": {"composable_kernel"},
    "/opt/rocm/include/hip": {"hip"},
    "/opt/rocm/include/hipblaslt": {"hipblaslt", "tensile", "tensile_catalog"},
    "/opt/rocm/include/miopen": {"miopen", "miopen_catalog"},
    "/opt/rocm/include/rccl": {"rccl"},
    "/opt/rocm/include/rocblas": {"rocblas", "tensile", "tensile_catalog"},
    "/opt/rocm/include/rocm-core": {"rocm"},
    "/opt/rocm/lib/libMIOpen": {"miopen", "miopen_catalog", "library_linkage", "composable_kernel"},
    "/opt/rocm/lib/libhipblaslt": {"hipblaslt", "tensile", "tensile_catalog", "library_linkage"},
    "/opt/rocm/lib/hipblaslt": {"hipblaslt", "tensile", "tensile_catalog"},
    "/opt/rocm/lib/librccl": {"rccl", "library_linkage"},
    "/opt/rocm/lib/librocblas": {"rocblas", "tensile", "tensile_catalog", "library_linkage"},
    "/opt/rocm/lib/rocblas": {"rocblas", "tensile", "tensile_catalog"},
    "/opt/rocm/lib/librocfft": {"rocfft_catalog", "library_linkage"},
    "/opt/rocm/lib/rocfft": {"rocfft_catalog"},
    "/opt/rocm/share/miopen": {"miopen", "miopen_catalog"},
    "/opt/rocm/share/therock": {"RocmRoots", "therock"},
    "/proc/cmdline": {"host"},
    "/proc/cpuinfo": {"host"},
    "/proc/meminfo": {"host"},
    "/proc/version": {"IsolationEvidence"},
    "/proc/1/": {"IsolationEvidence"},
    "/proc/self/": {"IsolationEvidence"},
    "/proc/self/mountinfo": {"Mounts"},
    "/proc/self/status": {"host"},
    "/proc/sys/kernel": {"host", "probe_namespace"},
    "/sys/bus/pci": {"KfdTopology", "RdmaDevices", "gpus", "amdgpu_driver", "nic_devices", "nics"},
    "/sys/class/drm": {"KfdTopology", "gpus", "amdgpu_driver"},
    "/sys/class/infiniband": {"RdmaDevices", "nics", "nic_devices"},
    "/sys/class/net": {"RdmaDevices", "nics", "nic_devices"},
    "/sys/class/kfd": {"KfdTopology", "gpus", "amdgpu_driver"},
    "/sys/devices/system": {"host"},
    "/sys/kernel/iommu_groups": {"host"},
    "/sys/kernel/mm": {"host"},
    "/sys/module/amdgpu": {"amdgpu_driver", "rocm", "gpus", "gpu_arch"},
    "/sys/module/": {"nics", "nic_devices"},
}

#: What is planted in: only what ``tests.parts.world`` has made its own.
PLANTED = re.compile(r"/(etc|opt|sys|proc)/")

#: What of it is not: the machine's own libraries, and copies of what is there once already.
LEFT_ALONE = re.compile(
    r"/usr(/|$)|/lib|/\.|/dev|/opt$|/opt/(tools|basic)|/proc/(self|1)/(ns|environ)|/sys(/class)?$"
    r"|/sys/bus/pci/devices/0000:(?!1b)|.*/nodes/[02](/|$)|/etc/ld.so.conf.d/(?!world)|/sys/devices/(?!system/)"
    r"|/sys/class/net/(?!world)|/sys/module/(?!amdgpu)"
)

GONE = {"absent", "expected", "unsupported"}
NO_FILE = {"failed", *GONE}
UNPARSED = {"unparsed"}

#: Which kinds of reasons may tell of a state; none where the thing is still what it was.
FILES = {
    "missing": GONE,
    "dangling": GONE,
    "denied": {"denied"},
    "loop": {"failed"},
    "endless_name": {"failed"},
    "directory": NO_FILE,
    "fifo": NO_FILE,
    "socket": NO_FILE,
    "zero": NO_FILE,
    "full": NO_FILE,
    "link_to_zero": NO_FILE,
    "link_to_full": NO_FILE,
    "link_to_tty": NO_FILE,
    "huge": UNPARSED,
    "binary": UNPARSED,
    "latin1": UNPARSED,
    "utf16": UNPARSED,
    "surrogate": UNPARSED,
    "empty": {"unparsed", "unsupported"},
    "blank": {"unparsed", "unsupported"},
    "nul": UNPARSED,
    "nuls": UNPARSED,
    "long_line": UNPARSED,
    "many_lines": UNPARSED,
    "odd_neighbours": set(),
}
#: Kinds of states of which /proc is not capable: what is mounted over a file of it is no link.
NOT_IN_PROC = {"missing", "dangling", "loop", "endless_name", "directory", "surrogate", "odd_neighbours"}
DIRECTORIES = {
    **{state: FILES[state] for state in ("missing", "dangling", "denied", "loop", "endless_name")},
    **dict.fromkeys(("file", "fifo", "link_to_zero"), NO_FILE),
    "odd_neighbours": set(),
}

#: A state of a tool: how its command's record may end, and which kinds of reasons may tell of it.
TOOLS = {
    "missing": ({"not_found"}, {"no_tool", "absent"}),
    "directory": ({"denied"}, {"denied", "absent"}),
    "dangling": ({"not_found"}, {"no_tool", "absent"}),
    "loop": ({"not_found"}, {"no_tool", "absent", "failed"}),
    "fifo": ({"denied"}, {"denied", "absent"}),
    "denied": ({"denied"}, {"denied"}),
    "no_execution": ({"denied"}, {"denied"}),
    "no_interpreter": ({"not_found"}, {"no_tool"}),
    "no_shebang": ({"denied"}, {"denied"}),
    "no_content": ({"denied"}, {"denied"}),
    "another_machine": ({"denied"}, {"denied"}),
    "half_a_program": ({"denied"}, {"denied"}),
    "exits_1": ({"exit"}, {"failed", "absent", "unsupported"}),
    "exits_2_with_words": ({"exit"}, {"failed", "absent", "unsupported"}),
    "exits_127": ({"exit"}, {"failed", "no_tool", "absent"}),
    "exits_255": ({"exit"}, {"failed", "absent"}),
    "dies_of_segv": ({"signal"}, {"failed"}),
    "dies_of_kill": ({"signal"}, {"failed"}),
    "kills_its_group": ({"signal"}, {"failed"}),
    "answers_and_dies": ({"signal"}, {"failed"}),
    "hangs": ({"timed_out", "abandoned"}, {"timed_out", "budget"}),
    "answers_and_hangs": ({"timed_out", "abandoned"}, {"timed_out", "budget"}),
    "ignores_signals": ({"timed_out", "abandoned"}, {"timed_out", "budget"}),
    "closes_its_output": ({"timed_out", "abandoned"}, {"timed_out", "budget"}),
    "stops_its_group": ({"timed_out", "abandoned"}, {"timed_out", "budget"}),
    "noise_before": ({"ok", "exit"}, {"unparsed", "failed", "expected", "absent"}),
    "noise_after": ({"ok", "exit"}, {"unparsed", "failed", "expected", "absent"}),
    "noise_on_stderr": ({"ok", "exit"}, set()),
    "no_text": ({"ok"}, {"unparsed", "absent", "unsupported", "expected"}),
    "a_gigabyte": ({"ok", "timed_out", "abandoned"}, {"unparsed", "absent", "unsupported", "expected"}),
    "endless": ({"timed_out", "abandoned", "ok"}, {"timed_out", "budget", "unparsed"}),
    "endless_on_stderr": ({"timed_out", "abandoned", "ok"}, {"timed_out", "budget", "unparsed"}),
    "keeps_the_pipe": ({"ok", "exit"}, set()),
    "wants_a_password": ({"exit"}, {"failed", "absent", "unsupported"}),
    "asks_on_stdin": ({"exit"}, {"failed", "absent", "unsupported"}),
    "reads_all_of_stdin": ({"ok", "exit"}, set()),
    "writes_to_stderr": ({"ok", "exit"}, {"unparsed", "absent", "unsupported", "expected", "failed"}),
    "colours": ({"ok", "exit"}, {"unparsed", "absent", "expected"}),
    "another_line_end": ({"ok", "exit"}, set()),
    "says_nothing": ({"ok"}, {"unparsed", "absent", "unsupported", "expected"}),
    "says_blanks": ({"ok"}, {"unparsed", "absent", "unsupported", "expected"}),
    "changes_the_terminal": ({"ok", "exit"}, set()),
    "one_long_line": ({"ok"}, {"unparsed", "failed", "absent", "unsupported", "expected"}),
    "many_numbers": ({"ok"}, {"unparsed", "absent", "unsupported", "expected"}),
    "half_a_json": ({"ok"}, {"unparsed", "absent", "unsupported", "expected"}),
    "deep_json": ({"ok"}, {"unparsed", "absent", "unsupported", "expected"}),
}


#: Where a state shows in a value and needs no reason: another content is another digest, another place is
#: looked in, one of many signs is told to be unreadable.
SHOWN = re.compile(
    r"/etc/ld.so.conf|/opt/site|/opt/rocm/(lib|share/miopen|\.info|share/therock)|/proc/(1|self|version)"
    r"|/sys/bus/pci/devices/[^/]*/current_compute_partition|/sys/class/infiniband/.*/gid"
    r"|/sys/devices/system/node/.*/cpulist|/sys/class/kfd/.*/gpu_id"
    r"|/opt/tools/(dkms|rpm|dpkg-query|rocminfo)"
)


@dataclass(frozen=True)
class Row:
    """One fault: what is planted where, who may tell something else then, and by which kinds of reasons."""

    state: str
    path: str
    owners: frozenset
    kinds: frozenset
    ends: frozenset = frozenset()

    @property
    def name(self):
        """Return the row's name in the report."""
        return f"{self.state}:{self.path}"

    @property
    def is_slow(self):
        """Tell whether the fault keeps the probe until its deadline."""
        return bool(self.ends) and any(word in self.state for word in SLOW)


SLOW = ("hangs", "ignores_signals", "closes_its_output", "stops_its_group", "endless")


def owners(path):
    """Return whose a path is; nobody's is an error, told by the test."""
    fitting = [prefix for prefix in OWNERS if path.startswith(prefix)]
    return frozenset(OWNERS[max(fitting, key=len)]) if fitting else frozenset()


def paths_of(accesses):
    """Return the paths that a recording saw, and whether each is a directory."""
    found = {}
    for access in accesses:
        path = access.get("path")
        if path and PLANTED.match(path) and not access.get("errno") and not LEFT_ALONE.match(path):
            listed = access["op"] == "scan" or access.get("kind") == "dir"
            found[path] = found.get(path, False) or listed
    return dict(sorted(found.items()))


def rows(paths, tools, *, every=False):
    """Return the rows: of all pairs, or of as many that each thing and each state comes at least once."""
    return [*_file_rows(paths, every), *_tool_rows(tools, every)]


def _file_rows(paths, every):
    groups = {"files": [], "directories": [], "proc": []}
    for path, is_directory in paths.items():
        groups["proc" if path.startswith("/proc/") else "directories" if is_directory else "files"].append(
            path
        )
    states = {
        "files": FILES,
        "directories": DIRECTORIES,
        "proc": {state: kinds for state, kinds in FILES.items() if state not in NOT_IN_PROC},
    }
    for group, members in groups.items():
        for state, path in _pairs(list(states[group]), members, every):
            yield Row(state, path, owners(path), frozenset(states[group][state]))


def _tool_rows(tools, every):
    for state, tool in _pairs(list(TOOLS), list(tools), every):
        ends, kinds = TOOLS[state]
        yield Row(state, f"/opt/tools/{tool}", frozenset(tools[tool]), frozenset(kinds), frozenset(ends))


def _pairs(states, things, every):
    """Yield all pairs, or go once around both at the same time."""
    if every:
        yield from itertools.product(states, things)
        return
    # A step that shares no factor with the number of states meets other pairs in each round.
    count = max(len(states), len(things)) if things else 0
    for number in range(count):
        yield states[number % len(states)], things[(number + number // len(states)) % len(things)]
