"""The isolation sections in real sandboxes of this machine, each against what it is known to be."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SECTIONS = (
    "isolation",
    "container_detected",
    "runtime_context",
    "docker",
    "probe_namespace",
    "python_version",
)
PROGRAM = (
    "import json\n"
    "from aorta.instrumentation.environment import capture\n"
    "from aorta.model.codec import dump\n"
    f"print(json.dumps(dump(capture(sections={SECTIONS!r}))))\n"
)
PYTHON = [sys.executable, "-c", PROGRAM]
TREES = sorted({str(REPOSITORY), sys.prefix, sys.base_prefix} - {"/usr"})
PARENTS = sorted({str(parent) for tree in TREES for parent in Path(tree).parents} - {"/", *TREES})
BINDS = [
    *[word for parent in PARENTS for word in ("--perms", "0755", "--dir", parent)],
    *[word for tree in TREES for word in ("--ro-bind", tree, tree)],
]
USR = "--ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin".split()
#: Looks like a bare machine to all that does not read the mount table: no marker, a PID 1 that can be read.
CLEAN_HOST = [
    *["bwrap", "--unshare-pid", *USR, "--ro-bind", "/etc", "/etc", "--dev-bind", "/dev", "/dev"],
    *["--proc", "/proc", "--ro-bind", "/sys", "/sys", "--bind", "/tmp", "/tmp", "--tmpfs", "/run", *BINDS],
]


def needs(part, reason):
    text = (REPOSITORY / "tests" / "parts" / "needs.py").read_text()
    names = {}
    exec(compile(text, "needs.py", "exec"), names)
    names["need"](part, reason)


def run(argv, **variables):
    environment = {
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
        "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'collectors'}",
        **variables,
    }
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@functools.cache
def outside():
    return run(PYTHON)


@pytest.fixture(autouse=True)
def _root_and_tools():
    needs(os.geteuid() == 0, "mount namespaces need root here")
    needs("bwrap", "bubblewrap")
    needs("unshare", "unshare of util-linux")


def partial(document):
    return [text for text in document["partial_reasons"] if not text.startswith("probe_namespace")]


def test_clean_host_is_a_sandbox_by_its_root_alone():
    document = run([*CLEAN_HOST, *PYTHON])
    assert document["runtime_context"]["type"] == "baremetal"
    assert document["container_detected"] is True
    isolation = document["isolation"]
    assert (isolation["container"], isolation["runtime"]) == (True, "bwrap")
    assert (isolation["private_mounts"], isolation["container_id"]) == (True, None)
    fired = {signal["name"] for signal in isolation["signals"] if signal["outcome"] == "fired"}
    assert fired == {"root-mount", "pid1-command"}
    assert document["probe_namespace"].startswith("mnt:")
    assert document["probe_namespace"] != outside()["probe_namespace"]
    assert partial(document) == []


def test_nested_different_has_mounts_of_its_own_on_the_machines_root():
    inner = 'unshare -m "$0" "$@"; true'
    document = run(["unshare", "--pid", "--fork", "--mount-proc", "bash", "-c", inner, *PYTHON])
    isolation = document["isolation"]
    assert isolation["private_mounts"] is True
    assert document["container_detected"] is True
    signals = {signal["name"]: signal["outcome"] for signal in isolation["signals"]}
    assert signals["private-mount-namespace"] == "fired"
    assert isolation["container"] == outside()["isolation"]["container"]
    assert document["runtime_context"]["type"] == outside()["runtime_context"]["type"]


def test_a_namespace_that_is_the_same_as_pid1s_proves_nothing_more():
    document = run(["unshare", "--pid", "--fork", "--mount-proc", *PYTHON])
    signals = {signal["name"]: signal["outcome"] for signal in document["isolation"]["signals"]}
    assert signals["private-mount-namespace"] == "not_fired"
    # What tells is the /proc that was mounted on the machine's.
    assert signals["stacked-proc"] == "fired"
    assert document["isolation"]["private_mounts"] is True
    assert document["isolation"]["container"] == outside()["isolation"]["container"]


def test_a_chroot_has_a_root_that_no_mount_shows(tmp_path):
    made = ["set -e", f"cd {tmp_path}", "mkdir -p dev proc"]
    for tree in ("/usr", *TREES):
        made += [f"mkdir -p .{tree}", f"mount --bind {tree} .{tree}"]
    made += ["ln -s usr/lib lib", "ln -s usr/lib64 lib64", "ln -s usr/bin bin", "mount -t proc proc proc"]
    made += ['exec chroot . "$0" "$@"']
    document = run(["unshare", "-m", "sh", "-c", "\n".join(made), *PYTHON])
    isolation = document["isolation"]
    assert (isolation["container"], isolation["runtime"]) == (True, "sandbox")
    assert document["runtime_context"]["type"] == "baremetal"


def test_without_proc_it_is_a_sandbox_all_the_same():
    document = run(["bwrap", *USR, "--dev", "/dev", *BINDS, *PYTHON])
    assert document["container_detected"] is True
    assert document["isolation"]["runtime"] == "sandbox"
    assert document["probe_namespace"] is None
    assert document["runtime_context"]["type"] == "baremetal"


def test_a_known_word_in_the_environment_names_a_bound_tree(tmp_path):
    tree = tmp_path / "tree"
    for name in ("usr", "proc", "dev", *(path.lstrip("/") for path in TREES)):
        (tree / name).mkdir(parents=True, exist_ok=True)
    bound = ["bwrap", "--bind", str(tree), "/", *USR, "--proc", "/proc", "--dev", "/dev", *BINDS]
    isolation = run([*bound, *PYTHON], container="systemd-nspawn")["isolation"]
    assert (isolation["container"], isolation["runtime"]) == (True, "systemd-nspawn")


def test_a_user_without_rights_is_not_partial():
    needs("setpriv", "setpriv of util-linux")
    readable = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    document = run([*CLEAN_HOST, *readable, *PYTHON])
    assert document["container_detected"] is True
    assert partial(document) == []
    assert document["python_version"] == outside()["python_version"]


def test_image_variables_are_kept_in_an_unnamed_sandbox():
    document = run([*CLEAN_HOST, *PYTHON], AORTA_DOCKER_IMAGE="registry/image:7")
    assert document["docker"] == {"image": "registry/image:7", "digest": None, "container_id": None}
