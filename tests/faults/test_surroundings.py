"""Odd environments, limits and outputs: a probe of the same machine says the same, or fails in one line."""

import concurrent.futures
import json
import os
import subprocess
import sys

import pytest

from tests.parts.fake_tools import make
from tests.parts.needs import need
from tests.parts.probing import differing, environment, gone

PROBE = (sys.executable, "-m", "aorta", "env", "probe", "--extended")
LIMIT_S = 40

#: Variables (None: unset), and the sections that may say something else.
VARIABLES = {
    "no_home": ({"HOME": None}, {"miopen_catalog"}),
    "home_is_no_directory": ({"HOME": "/dev/null"}, {"miopen_catalog"}),
    "home_is_not_text": ({"HOME": "/\udcff\udcfe"}, {"miopen_catalog"}),
    "no_path": ({"PATH": None}, "tools"),
    "empty_path": ({"PATH": ""}, "tools"),
    "relative_path": ({"PATH": ".:bin:../x"}, "tools"),
    "dead_path_entries": ({"PATH": "/nowhere:{folder}/loop:/dev/null:/\udcff:{path}"}, {"rocm"}),
    "long_path": ({"PATH": "/nowhere/" + "/nowhere:" * 5000 + "{path}"}, set()),
    "tmpdir_is_missing": ({"TMPDIR": "/nowhere"}, set()),
    "cache_is_no_directory": ({"XDG_CACHE_HOME": "/dev/full", "AORTA_CACHE_DIR": "/dev/full"}, set()),
    "odd_language": ({"LANG": "\udcff", "LC_ALL": "tlh_KX.EBCDIC", "LANGUAGE": "xx"}, set()),
    "no_language": ({"LANG": None}, set()),
    "not_text": ({"NCCL_DEBUG": "\udcff\udcfe", "SITE_\udcff": "\udcc3"}, set()),
    "long_variable": ({"NCCL_DEBUG": "x" * 120_000}, set()),
    "many_variables": ({f"SITE_{number}": "x" * 100 for number in range(5000)}, set()),
    "odd_loader": (
        {"LD_LIBRARY_PATH": "::/nowhere:\udcff:/dev/null", "LD_PRELOAD": ""},
        {"rccl", "library_linkage"},
    ),
    "odd_python": ({"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONWARNINGS": "error"}, set()),
    "odd_terminal": ({"TERM": "\udcff", "COLUMNS": "-1", "LINES": "x", "NO_COLOR": "1"}, set()),
}

#: What a shell does before it becomes the probe; ``$1`` is the folder.
BEFORE = {
    "its_directory_is_deleted": '/bin/mkdir "$1/gone"; cd "$1/gone"; /bin/rmdir "$1/gone"',
    "no_standard_input": "exec <&-",
    "no_standard_output": "exec >&-",
    "no_standard_error": "exec 2>&-",
    "no_standard_stream": "exec <&- >&- 2>&-",
    "umask_of_777": "umask 777",
    "ignores_sigpipe": "trap '' PIPE",
    "ignores_all": "trap '' HUP INT TERM QUIT",
    "few_files_64": "ulimit -n 64",
    "no_core": "ulimit -c 0",
    "small_stack": "ulimit -s 512",
}
#: A limit may cost values, each with a reason; the probe ends well all the same.
LIMITS = {
    "few_files_32": "ulimit -n 32",
    "few_files_16": "ulimit -n 16",
    "few_files_10": "ulimit -n 10",
    "little_memory": "ulimit -v 400000",
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("surroundings")
    (folder / "loop").symlink_to("loop")
    return folder, make(folder / "parts")


def start(folder, name, variables, path, before=":"):
    place = folder / name
    place.mkdir()
    env = environment(folder, path, covered=False, TEST_MARKER=place)
    for key, value in variables.items():
        env.pop(key, None)
        if value is not None:
            env[key] = value.replace("{folder}", str(folder)).replace("{path}", path)
    script = f'{before}\nshift\nexec "$@"'
    line = ["/bin/sh", "-c", script, "before", str(place), *PROBE, "-o", str(place / "env.json")]
    with open(folder / f"{name}.err", "wb") as errors:
        done = subprocess.run(
            line, env=env, stdout=errors, stderr=errors, stdin=subprocess.DEVNULL, timeout=LIMIT_S, cwd=place
        )
    errors = (folder / f"{name}.err").read_text(encoding="utf-8", errors="replace")
    os.chmod(place / "env.json", 0o600) if (place / "env.json").exists() else None
    left = {file.name for file in place.iterdir()} - {"env.json"}
    document = json.loads((place / "env.json").read_text()) if (place / "env.json").exists() else None
    return done.returncode, errors, document, left or gone(f"TEST_MARKER={place}", within_s=2)


@pytest.fixture(scope="module")
def outcomes(machine):
    folder, path = machine
    calls = {"none": ({}, ":")}
    calls |= {name: (variables, ":") for name, (variables, _) in VARIABLES.items()}
    calls |= {name: ({}, before) for name, before in {**BEFORE, **LIMITS}.items()}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        futures = {
            name: pool.submit(start, folder, name, variables, path, before)
            for name, (variables, before) in calls.items()
        }
        return {name: future.result() for name, future in futures.items()}


@pytest.mark.parametrize("name", [*VARIABLES, *BEFORE])
def test_the_probe_says_the_same(outcomes, name):
    code, errors, document, left = outcomes[name]
    whole = outcomes["none"][2]
    assert code == 0, errors
    assert errors.count("\n") <= 1
    assert "Traceback" not in errors
    assert not left
    allowed = VARIABLES[name][1] if name in VARIABLES else set()
    if allowed == "tools":
        allowed = {key for key, record in whole["collection"]["collectors"].items() if record["commands"]}
        allowed |= {"rocm", "rccl", "gpus", "therock", "library_linkage"}
    if name == "its_directory_is_deleted":
        # Nobody knows then whether it was in a project of Buck, or in the directory of a worker.
        allowed = {"build_system", "execution_context"}
    ignored = {"host"} if name in ("few_files_64", "no_core", "small_stack") else set()
    assert differing(document, whole, ignored) <= allowed


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_costs_values_and_says_so(outcomes, name):
    code, errors, document, left = outcomes[name]
    whole = outcomes["none"][2]
    if code != 0:
        assert (document, len(errors.splitlines())) == (None, 1), errors
        return
    assert not left
    for section in differing(document, whole, {"host"}):
        record = document["collection"]["collectors"][section]
        told = {reason["section"] for reason in document["collection"]["reasons"]}
        assert section in told or record["status"] != "ok", section


# Outputs

#: In a mount namespace of its own, before the probe: ``$1`` is an empty folder, the file ``$1/x/env.json``.
FULL = 'mount -t tmpfs -o {options} none "$1"; mkdir "$1/x"; {more}'
OUTPUTS = {
    "full_disk": FULL.format(options="size=64k", more='head -c 60000 /dev/zero >"$1/fill" || :'),
    "disk_full_after_a_page": FULL.format(options="size=12k", more=":"),
    "no_inode": FULL.format(options="nr_inodes=3", more='touch "$1/fill" 2>&- || :'),
    "read_only": FULL.format(options="size=1m", more='mount -o remount,ro "$1"'),
    "a_directory": FULL.format(options="size=1m", more='mkdir "$1/x/env.json"'),
    "a_fifo_without_reader": FULL.format(options="size=1m", more='mkfifo "$1/x/env.json"'),
    "a_full_device": FULL.format(options="size=1m", more='ln -s /dev/full "$1/x/env.json"'),
    "a_loop": FULL.format(options="size=1m", more='ln -s env.json "$1/x/env.json"'),
    "below_a_file": FULL.format(options="size=1m", more='rmdir "$1/x"; : >"$1/x"'),
    "a_socket": FULL.format(
        options="size=1m",
        more=f'cd "$1/x"; {sys.executable} -c "import socket; socket.socket(socket.AF_UNIX).bind(\'env.json\')"',
    ),
    "another_host": FULL.format(
        options="size=1m",
        more="""printf '{"schema_version": "2.0", "host": {"machine_digest": "0"},"""
        """ "collection": {"host_kind": "replay"}}' >"$1/x/env.json\"""",
    ),
    "a_size_limit": FULL.format(options="size=1m", more="ulimit -f 4"),
}
OLD = "the old file"


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("name", OUTPUTS)
def test_what_cannot_be_written_is_one_line_and_no_file(machine, tmp_path, name, old):
    need(os.geteuid() == 0, "needs root")
    if old and not OUTPUTS[name].endswith(("|| :", ":", '"$1/fill"', 'ro "$1"', "-f 4")):
        old = False
    folder, path = machine
    before = OUTPUTS[name]
    if old:
        before = before.replace('mkdir "$1/x";', f'mkdir "$1/x"; printf "{OLD}" >"$1/x/env.json";')
    env = environment(folder, f"{path}:/usr/bin:/bin", covered=False, TEST_MARKER=tmp_path)
    after = 'cd /; find "$1" | sort; [ ! -f "$1/x/env.json" ] || cat "$1/x/env.json"; exit $code'
    script = f'set -e; {before}; set +e; place=$1; ( shift; "$@" ); code=$?; set -- "$place"; {after}'
    line = ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script, "before", tmp_path]
    done = subprocess.run(
        [*map(str, line), *PROBE, "-o", str(tmp_path / "x" / "env.json")],
        env={**env, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "cannot write" in done.stderr
    assert ".tmp" not in done.stdout
    assert "schema_compat" not in done.stdout
    assert (OLD in done.stdout) == old
    assert gone(f"TEST_MARKER={tmp_path}", within_s=2) == {}


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ('"$@" -o - | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}', {0, 1}),
        ('"$@" -o - >&-', {1}),
        ('"$@" -o - >/dev/full', {1}),
        ('"$@" -o - | true; exit ${PIPESTATUS[0]}', {0, 1}),
    ],
)
def test_a_closed_output_is_no_traceback(machine, line, codes):
    folder, path = machine
    env = environment(folder, path, covered=False)
    done = subprocess.run(
        ["/bin/bash", "-c", line, "sh", *PROBE],
        env={**env, "PATH": f"{path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode in codes, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1
