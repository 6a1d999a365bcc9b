"""The real probe, as one file, in real isolation: each kind says what the kernel shows there, and nothing else."""

import concurrent.futures
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import yaml

from tests.parts import fake_tools
from tests.parts.probing import gone, side_by_side
from tests.parts.sandboxes import OUT, PROGRAM, sandboxes
from tests.parts.slurm import two_nodes

ROOT = Path(__file__).resolve().parents[2]
ROWS = {row["name"]: row for row in yaml.safe_load(Path(__file__).with_name("real.yaml").read_text())}
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
IMAGE, DIGEST = "registry/image:7", f"sha256:{'d' * 64}"
LAUNCHER = {"AORTA_DOCKER_IMAGE": IMAGE, "AORTA_DOCKER_DIGEST": DIGEST}
#: Charliecloud wants to know who it is for; there is no HOME.
VARIABLES = {"PATH": PATH, "LANG": "C.UTF-8", "USER": "root", **LAUNCHER}
#: What cannot be looked at where PID 1 is another's, and where there is no /proc.
OF_PID1 = {"private-mount-namespace", "pid1-environment"}
OF_PROC = {"root-mount", "cgroup", "pid1-cgroup", "pid1-command", "kernel", "user-namespace", *OF_PID1}
AT_ONCE = 4
#: The limit of a capture, and of that with the start and end of what it runs in.
DEADLINE_S, LIMIT_S = 6, 30
#: The first test waits for all sandboxes.
pytestmark = pytest.mark.timeout(400)


def readable(path, read):
    try:
        read(path)
    except PermissionError:
        return False
    return True


PID1_TELLS = readable("/proc/1/ns/mnt", os.readlink)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    program = tmp_path_factory.mktemp("program") / "aorta.pyz"
    command = [sys.executable, "-m", "aorta", "standalone", program]
    env = {"PATH": PATH, "PYTHONPATH": f"{ROOT}:{ROOT}/collectors"}
    made = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    with sandboxes(program) as place:
        yield place
    mounts = Path("/proc/self/mountinfo").read_text()
    for folder in (place.folder, place.engine.folder):
        assert gone(str(folder)) == {}
        assert not folder.exists()
        assert str(folder) not in mounts


@pytest.fixture(scope="module")
def ended(place):
    """Return how the probe ended in every row, several at a time."""

    def run(row):
        options = [option.replace("ROOT", str(place.root)) for option in row["options"]]
        return place.run(row["in"], options, ["env", "probe", "-o", "-"], VARIABLES)

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {name: pool.submit(run, row) for name, row in ROWS.items()}
    return {name: future.result() for name, future in futures.items()}


@pytest.fixture(params=ROWS)
def case(request, ended):
    row = ROWS[request.param]
    done = ended[request.param]
    assert (done.code, done.stderr) == (0, ""), (done.stdout[:500], done.stderr[-2000:])
    return row, done, json.loads(done.stdout)


def test_it_says_what_the_kernel_shows(case):
    row, done, document = case
    isolation = document["isolation"]
    mounts = row["mounts"]
    if mounts == "by pid1":
        mounts = row["truth"] if PID1_TELLS else None
    identity = done.identity if row.get("id") == "own" else row.get("id")
    assert {key: value for key, value in isolation.items() if key != "signals"} == {
        "container": row["container"],
        "runtime": row["runtime"],
        "orchestrator": row.get("orchestrator"),
        "container_id": identity,
        "private_mounts": mounts,
    }
    assert document["container_detected"] is (row["container"] or bool(mounts))
    assert document["runtime_context"]["type"] == row["type"]
    inside = {"image": IMAGE, "digest": DIGEST, "container_id": identity}
    assert document["docker"] == (inside if row["container"] else None)
    seen = "seen" if row["container"] or mounts else "absent"
    assert document["collection"]["coverage"]["isolation"] == seen


def test_every_signal_fires_where_it_should(case, ended):
    row, _, document = case
    signals = {name: set() for name in ("fired", "not_fired", "unreadable")}
    for signal in document["isolation"]["signals"]:
        signals[signal["outcome"]].add(signal["name"])
        assert signal["value"] or signal["outcome"] != "unreadable", signal
    fired = set(row["fired"]) | set(row.get("fired_by_pid1", ()) if PID1_TELLS else ())
    if row["in"] == "machine" and row.get("own_root", True):
        bare = json.loads(ended["the machine"].stdout)["isolation"]["signals"]
        fired |= {signal["name"] for signal in bare if signal["outcome"] == "fired"}
    assert signals["fired"] == fired
    unreadable = {"inside": set(), "none": OF_PROC, "denied": OF_PID1}.get(row["pid1"])
    if unreadable is None:
        environment = readable("/proc/1/environ", lambda path: Path(path).read_bytes())
        unreadable = OF_PID1 - ({"private-mount-namespace"} if PID1_TELLS else set())
        unreadable -= {"pid1-environment"} if environment else set()
    assert signals["unreadable"] == unreadable


def test_it_is_partial_only_where_something_is_hidden(case):
    row, _, document = case
    reasons = document["collection"]["reasons"]
    sections = {text.split(":")[0].split(".")[0] for text in document["partial_reasons"]}
    assert sections == set(row.get("partial", ())), document["partial_reasons"]
    assert document["partial"] is bool(sections)
    if row["pid1"] == "none":
        assert all("no proc file system" in text for text in document["partial_reasons"])
    fields = {reason["field"] for reason in reasons if reason["section"] == "isolation"}
    nulls = {key for key in ("container", "private_mounts") if document["isolation"][key] is None}
    if row["container"] and document["isolation"]["container_id"] is None:
        nulls.add("container_id")
    assert fields == nulls


def test_nothing_of_the_probe_itself_fails(case):
    row, _, document = case
    records = document["collection"]["collectors"]
    assert {record["status"] for record in records.values()} <= {"ok", "partial", "not_requested"}, records
    assert document["collection"]["user"] == {"uid": row.get("user", 0), "root": not row.get("user")}


def test_the_fingerprint_is_the_machines_where_the_mounts_are(case, ended):
    row, _, document = case
    own, machines = document["probe_namespace"], json.loads(ended["the machine"].stdout)["probe_namespace"]
    if row["pid1"] == "none":
        assert own is None
    else:
        assert own.startswith("mnt:")
        assert (own != machines) is row.get("truth", row["mounts"])


#: Kinds that let the probe be first in its process namespace, or leave it among the machine's processes.
HANGING = {
    "machine": ["unshare", "--mount"],
    "bwrap": ["--unshare-all", "--as-pid-1", "--proc", "/proc", "--dev", "/dev"],
    "docker": [],
    "podman": ["--pid", "host"],
}


@pytest.fixture(scope="module")
def hung(place, tmp_path_factory):
    """Return how long the probe took where tools hang, how it ended and what marks it; all at one time."""

    def run(kind, options):
        folder = tmp_path_factory.mktemp(kind)
        fake_tools.make(folder)
        tools = folder / "tools" if kind == "machine" else f"{OUT}/tools"
        env = {**VARIABLES, "PATH": f"{tools}:{PATH}", "TOOLS_HANG": "fork", "TEST_MARKER": str(folder)}
        words = ["env", "probe", "--deadline", DEADLINE_S, "-o", "-"]
        started = time.monotonic()
        done = place.run(kind, options, words, env, out=folder)
        return time.monotonic() - started, done, str(folder)

    return side_by_side({kind: partial(run, kind, options) for kind, options in HANGING.items()})


@pytest.mark.parametrize("kind", HANGING)
def test_tools_that_hang_end_with_their_deadline_and_leave_nothing(hung, kind):
    elapsed, done, marker = hung[kind]
    assert (done.code, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    records = document["collection"]["collectors"].values()
    assert "timed_out" in {command["outcome"] for record in records for command in record["commands"]}
    assert {reason["kind"] for reason in document["collection"]["reasons"]} & {"timed_out", "budget"}
    assert document["partial"] is True
    assert document["isolation"]["signals"], "what needs no tool stands"
    assert elapsed < LIMIT_S
    assert gone(marker) == {}


SHARING = {
    "bwrap": (["--proc", "/proc", "--dev", "/dev"], 0),
    "runc": (['process.user={"uid": 1234, "gid": 1234}', "root.readonly=true"], 1234),
    "nspawn": ([], 0),
    "lxc": (["lxc.mount.auto = proc:mixed sys:mixed"], 0),
    "charliecloud": ([], 0),
    "podman": (["--user", "1234:1234", "--read-only"], 1234),
    "docker": (["--user", "1234:1234", "--read-only"], 1234),
}


@pytest.mark.parametrize("kind", SHARING)
def test_a_shared_folder_gets_the_file_whole_and_as_the_users_own(place, tmp_path, kind):
    options, user = SHARING[kind]
    os.chown(tmp_path, user, user)
    done = place.run(kind, options, ["env", "probe", "-o", f"{OUT}/env.json"], VARIABLES, out=tmp_path)
    assert (done.code, done.stdout, done.stderr) == (0, "", f"wrote {OUT}/env.json\n")
    assert os.listdir(tmp_path) == ["env.json"]
    status = (tmp_path / "env.json").stat()
    assert (status.st_uid, status.st_gid) == (user, user)
    document = json.loads((tmp_path / "env.json").read_text())
    assert document["collection"]["user"]["uid"] == user
    assert document["isolation"]["container"] is True


def test_where_nothing_can_be_written_it_says_so_and_leaves_nothing(place, tmp_path):
    user = ["--user", "1234:1234"]
    for options, target, why in (
        (user, f"{OUT}/env.json", "Permission denied"),
        ([*user, "--read-only"], "env.json", "Read-only file system"),
        (["--read-only"], "env.json", "Read-only file system"),
    ):
        done = place.run("docker", options, ["env", "probe", "-o", target], VARIABLES, out=tmp_path)
        assert (done.code, done.stdout) == (1, "")
        assert done.stderr == f"aorta: cannot write {target}: {why}\n"
        assert os.listdir(tmp_path) == []


def test_a_task_of_slurm_has_mounts_of_its_own_and_is_no_container(place):
    probe = ["/usr/bin/python3", f"{place.root}{PROGRAM}", "env", "probe", "-o", "-"]
    with two_nodes() as cluster:
        done = cluster.run("srun", "-N1", *probe, cwd=cluster.folder, env=LAUNCHER)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    isolation = document["isolation"]
    signals = isolation.pop("signals")
    assert isolation == {
        "container": False,
        "runtime": "none",
        "orchestrator": None,
        "container_id": None,
        "private_mounts": True,
    }
    fired = {signal["name"] for signal in signals if signal["outcome"] == "fired"}
    assert {"private-mount-namespace", "stacked-proc"} <= fired
    assert document["container_detected"] is True
    assert document["runtime_context"]["type"] == "baremetal"
    assert document["docker"] is None
    assert document["partial"] is False, document["partial_reasons"]


def test_the_page_shows_what_is_checked_here():
    page = (ROOT / "docs" / "isolation.md").read_text()
    assert "\n".join(table()) in page, "\n".join(table())


def table():
    """Return the lines of the page's table."""
    yield "| how it was started | `container` | `runtime` | `container_id` | `private_mounts` |"
    yield "|---|---|---|---|---|"
    for row in ROWS.values():
        if "page" in row:
            mounts = {True: "true", False: "false", None: "null", "by pid1": "PID 1 tells"}[row["mounts"]]
            container, identity = str(row["container"]).lower(), "the id" if row.get("id") else "null"
            yield f"| {row['page']} | {container} | {row['runtime']} | {identity} | {mounts} |"
