"""What Buck2, its workers and its packages leave in a process, and what each of it proves: a table."""

LOCAL, REMOTE, ACTION, RUN, PACKAGE, DECLARED, HINT, CLIENT = (
    "local",
    "remote",
    "action",
    "run",
    "package",
    "declared",
    "hint",
    "client",
)

BEACON = "/run/re_worker/beacon"

#: What the variables below hold may be stored: keys that join a snapshot to Buck's log, images, a nonce.
VALUES = (
    "AORTA_RE_IMAGE",
    "AORTA_DOCKER_IMAGE",
    "BUCK_RUN_BUILD_ID",
    "BUCK_BUILD_ID",
    "ACTION_DIGEST",
    "AORTA_PROBE_NONCE",
)

#: Variables that mark something only with one value.
ONLY_AS = {"GEN_DIR": "GEN_DIR_DEPRECATED"}

#: Variables that mark something also when they are set to nothing.
MAY_BE_BLANK = ("__BUCK2_LOCAL_ONLY_CACHE_BUSTER",)

#: The directory that a process works in, by what its path holds: a pattern of ``re`` each.
DIRECTORIES = {
    "cwd:/re_cwd": r"^/re_cwd(/|$)",
    "cwd:/buildbuddy-execroot": r"^/buildbuddy-execroot(/|$)",
    "cwd:nativelink/work": r"/nativelink/work(/|$)",
    "cwd:buck-out": r"/buck-out/",
}

_PACKAGE = "A Buck2 Python package (par) started this process or one above it."
_PACKAGE_LIMITS = "Says nothing of the machine; variables are inherited."
_PLACED = "A worker, an image or a user may set it as well."
_SWITCH = "The client that started Buck2 was told where to run actions."
_SWITCH_LIMITS = "A wish of one command line; no proof of where anything ran."
_FOLDER = "The process works in a directory such as {} makes."
_FOLDER_LIMITS = "A hint: anybody may make such a directory."

#: By name: what kind of evidence it is, what it proves, and what it does not.
MARKERS = {
    "AORTA_RE_IMAGE": (
        DECLARED,
        "The rule, or who started the process, names an image for remote execution.",
        "Declared, not seen: no proof that a worker used the image.",
    ),
    "AORTA_DOCKER_IMAGE": (
        DECLARED,
        "Who started the process names a container image.",
        "Declared, not seen: no proof that the process runs in it.",
    ),
    "INSIDE_RE_WORKER": (
        REMOTE,
        "A worker for remote execution of Meta's kind set it.",
        f"{_PLACED} Most backends set nothing: its absence proves nothing.",
    ),
    BEACON: (
        REMOTE,
        "A worker for remote execution of Meta's kind made this file.",
        "An image may hold it as well. Most backends have none: its absence proves nothing.",
    ),
    "BUCK2_DAEMON_UUID": (
        LOCAL,
        "The process descends from an action that a Buck2 daemon ran on its own machine.",
        "Inherited by all children, also by a daemon that an action starts; a rule may unset it.",
    ),
    "__BUCK2_LOCAL_ONLY_CACHE_BUSTER": (
        LOCAL,
        "The rule of a genrule is declared to run on the client's machine only.",
        "Declared by the rule's labels; inherited by all children.",
    ),
    "BUCK_RUN_BUILD_ID": (
        RUN,
        "`buck2 run` started this process or one above it; the value names that run in Buck's log.",
        "Inherited by all children. A package started by its path has none.",
    ),
    "BUCK_BUILD_ID": (
        ACTION,
        "The process descends from an action of Buck; the value names that build in Buck's log.",
        "Set for local actions and by some remote workers: says nothing of the place.",
    ),
    "BUCK_SCRATCH_PATH": (
        ACTION,
        "The process descends from an action of Buck2.",
        "Set for local and remote actions alike: says nothing of the place.",
    ),
    "GEN_DIR": (
        ACTION,
        "It is GEN_DIR_DEPRECATED: the process descends from a genrule of Buck2.",
        "Set for local and remote actions alike: says nothing of the place.",
    ),
    "ACTION_DIGEST": (
        HINT,
        "Workers of some backends name the action so; the value joins it to Buck's log.",
        f"{_PLACED} The name is a common one.",
    ),
    "AORTA_PROBE_NONCE": (
        DECLARED,
        "The value was in the environment of this very capture: compare it with the one that was given out.",
        "Declared. Without it a result of an action may come from a cache of another day and machine.",
    ),
    "PAR_LAUNCH_TIMESTAMP": (PACKAGE, _PACKAGE, _PACKAGE_LIMITS),
    "PAR_INVOKED_NAME_TAG": (PACKAGE, _PACKAGE, _PACKAGE_LIMITS),
    "PAR_MAIN_ORIGINAL": (
        PACKAGE,
        "PAR_MAIN_OVERRIDE made a package run another main module than its own.",
        _PACKAGE_LIMITS,
    ),
    "FB_SAVED_PYTHONPATH": (PACKAGE, _PACKAGE, _PACKAGE_LIMITS),
    "FB_SAVED_LD_LIBRARY_PATH": (PACKAGE, _PACKAGE, _PACKAGE_LIMITS),
    "FB_SAVED_LD_PRELOAD": (PACKAGE, _PACKAGE, _PACKAGE_LIMITS),
    "FB_PAR_MAIN_MODULE": (PACKAGE, _PACKAGE, _PACKAGE_LIMITS),
    "FB_PAR_RUNTIME_FILES": (PACKAGE, _PACKAGE, _PACKAGE_LIMITS),
    "FB_PAR_FILENAME": (PACKAGE, _PACKAGE, _PACKAGE_LIMITS),
    "FB_PAR_UNZIP_LOCATION": (PACKAGE, _PACKAGE, _PACKAGE_LIMITS),
    "FB_LPAR_INVOKED_NAME": (PACKAGE, _PACKAGE, _PACKAGE_LIMITS),
    "FB_XAR_INVOKED_NAME": (PACKAGE, _PACKAGE, _PACKAGE_LIMITS),
    "BUCK_OFFLINE_BUILD": (CLIENT, _SWITCH, _SWITCH_LIMITS),
    "BUCK_PREFER_REMOTE": (CLIENT, _SWITCH, _SWITCH_LIMITS),
    "BUCK_PARANOID": (CLIENT, _SWITCH, _SWITCH_LIMITS),
    "cwd:/re_cwd": (HINT, _FOLDER.format("a remote worker of Meta's kind"), _FOLDER_LIMITS),
    "cwd:/buildbuddy-execroot": (HINT, _FOLDER.format("BuildBuddy"), _FOLDER_LIMITS),
    "cwd:nativelink/work": (HINT, _FOLDER.format("NativeLink"), _FOLDER_LIMITS),
    "cwd:buck-out": (HINT, _FOLDER.format("Buck2 below a project's root"), _FOLDER_LIMITS),
}

#: What a package takes out of its environment when it starts: only the process's first one still has it.
TAKEN_OUT = ("PAR_INVOKED_NAME_TAG", "FB_SAVED_PYTHONPATH", "FB_SAVED_LD_LIBRARY_PATH", "FB_SAVED_LD_PRELOAD")


def of_kind(*kinds: str) -> list[str]:
    """Return the names of the markers that are evidence of a kind."""
    return [name for name, (kind, _, _) in MARKERS.items() if kind in kinds]
