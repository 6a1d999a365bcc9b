"""Commands as they are: started as given, followed, and ended with all that they started."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from aorta.instrumentation.process import enders
from aorta.sweep.command import ending, running
from aorta.sweep.command.processes import children_of
from aorta.sweep.files import TrialFiles

ROOT = Path(__file__).resolve().parents[2]


def text(path):
    return Path(path).read_bytes()


@pytest.fixture
def quick(monkeypatch):
    """Let those who do not listen be killed soon."""
    monkeypatch.setattr(ending, "LEFT_GRACE_S", 0.2)
    monkeypatch.setitem(running.run.__kwdefaults__, "grace_s", 0.3)


def test_a_command_gets_its_words_and_variables_and_nothing_else(trials, tmp_path, monkeypatch):
    monkeypatch.setenv("AORTA_NOT_FOR_TRIALS", "1")
    monkeypatch.chdir(tmp_path)
    script = (
        "import os,sys; os.write(1, b'|'.join(os.fsencode(a) for a in sys.argv[1:])); "
        "os.write(2, repr([os.getcwd(), os.getsid(0) == os.getpid(), os.read(0, 9), sorted(os.environ)]).encode())"
    )
    words = ["a b", "", "'$HOME'", "*", "--x", os.fsdecode(b"\xff\xfe"), "é\n"]
    runner = trials.runner(sys.executable, "-I", "-S", "-c", script, *words)
    outcome = trials.execute(runner, {"ODD": os.fsdecode(b"\xff")})
    assert (outcome.verdict, outcome.exit_code, outcome.notes) == ("pass", 0, ())
    assert text(trials.files.stdout) == b"|".join(map(os.fsencode, words))
    names = sorted({*trials.environ(), "ODD", "LC_CTYPE"} - {"LC_CTYPE"})
    seen = eval(text(trials.files.stderr))
    assert seen[:3] == [str(tmp_path), True, b""]
    assert [name for name in seen[3] if name != "LC_CTYPE"] == names


def test_the_time_is_the_command_s_alone(trials):
    runner = trials.runner("true")
    outcomes = [trials.execute(runner) for _ in range(20)]
    assert min(one.elapsed_s for one in outcomes) <= 0.005
    assert outcomes[0].step_time_source == "wall_clock"
    assert outcomes[0].step_times_ms == (outcomes[0].elapsed_s * 1000,)


def test_a_program_gets_the_usual_signals(trials):
    outcome = trials.python(
        "import signal; print([n for n in (13, 15, 17, 25) if signal.getsignal(n) is None], signal.pthread_sigmask(0, []))"
    )
    assert outcome.verdict == "pass"
    assert text(trials.files.stdout) == b"[] set()\n"
    assert trials.sh("yes | head -n 1").verdict == "pass"


@pytest.mark.parametrize(
    ("word", "code", "why"),
    [
        ("aorta-no-such-command", 127, "No such file or directory"),
        ("./nowhere/x", 127, "No such file or directory"),
        ("{tmp}/plain", 126, "Permission denied"),
        ("{tmp}", 126, "Permission denied"),
        ("{tmp}/nonsense", 126, "Exec format error, it is no program and its first line names none (#!)"),
    ],
)
def test_what_cannot_be_executed(trials, tmp_path, word, code, why):
    (tmp_path / "plain").write_text("x")
    (tmp_path / "nonsense").write_text("echo hi\n")
    (tmp_path / "nonsense").chmod(0o755)
    word = word.format(tmp=tmp_path)
    outcome = trials.execute(trials.runner(word))
    assert (outcome.verdict, outcome.exit_code) == ("error", code)
    assert outcome.reason == f"{word!r} could not be executed: {why}"
    assert [one.id for one in outcome.findings] == ["tier1:exec_failed"]


@pytest.mark.parametrize(
    ("argv", "environ"),
    [(["a\0b"], {}), (["true", "a\0b"], {}), (["true"], {"A": "x\0y"}), (["true", "\ud800"], {})],
)
def test_what_no_program_can_get_is_an_error_of_the_trial(trials, argv, environ):
    outcome = trials.execute(trials.runner(*argv), environ)
    assert outcome.verdict == "error"
    assert "could not be executed" in outcome.reason


def test_a_log_that_cannot_be_written_is_an_error_of_the_trial(trials, tmp_path):
    files = TrialFiles(stem=str(tmp_path / "file" / "t"))
    (tmp_path / "file").write_text("")
    outcome = trials.runner("true").execute(files, {})
    assert outcome.verdict == "error"
    assert "a log cannot be written" in outcome.reason


def test_there_has_to_be_a_command(trials):
    with pytest.raises(ValueError, match="no command"):
        trials.runner()


@pytest.mark.parametrize(
    ("script", "verdict", "ids", "sign"),
    [
        ("kill -SEGV $$", "fail", ["tier1:sigsegv"], "SIGSEGV"),
        ("kill -ABRT $$", "fail", ["tier1:sigabrt"], "SIGABRT"),
        ("kill -BUS $$", "fail", ["tier1:sigbus"], "SIGBUS"),
        ("kill -ILL $$", "fail", ["tier1:sigill"], "SIGILL"),
        ("kill -FPE $$", "fail", ["tier1:sigfpe"], "SIGFPE"),
        ("kill -KILL $$", "error", ["tier1:sigkill"], "SIGKILL"),
        ("kill -TERM $$", "error", ["tier1:sigterm"], "SIGTERM"),
        ("kill -USR1 $$", "fail", ["tier1:exit_nonzero"], "SIGUSR1"),
        ("kill -40 $$", "fail", ["tier1:exit_nonzero"], "SIGRTMIN+6"),
        ("sh -c 'kill -SEGV $$'; exit $?", "fail", ["tier1:sigsegv"], None),
    ],
)
def test_signals(trials, script, verdict, ids, sign):
    outcome = trials.sh(f"ulimit -c 0; {script}")
    assert (outcome.verdict, outcome.signal) == (verdict, sign)
    assert [one.id for one in outcome.findings if one.id != "tier1:coredump"] == ids
    assert (outcome.exit_code is None) == (sign is not None)


def test_a_core_dump_is_told_once(trials, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "core").write_bytes(b"\x7fELF old")
    os.utime(tmp_path / "core", (1, 1))
    (tmp_path / "core.py").write_text("x")
    runner = trials.runner("sh", "-c", r"[ -e core.77 ] || printf '\177ELF' > core.77; : > core.txt")
    outcome = trials.execute(runner)
    (found,) = outcome.findings
    assert (found.id, found.effect, found.where) == ("tier1:coredump", "warn", str(tmp_path / "core.77"))
    assert outcome.verdict == "pass"
    assert trials.execute(runner).findings == ()


LEAVERS = {
    "child": "sleep 100 & exit 0",
    "other session": "setsid sleep 100 & exit 0",
    "daemon": "(setsid sh -c 'sleep 100 & exit 0' &) ; sleep 0.1; exit 0",
    "no variables": "env -i setsid /bin/sleep 100 & exit 0",
    "deaf": "(trap '' TERM; exec sleep 100) & exit 0",
    "stopped": "sh -c 'kill -STOP $$; sleep 100' & sleep 0.05; exit 0",
}


@pytest.mark.parametrize("script", LEAVERS.values(), ids=LEAVERS)
def test_what_a_command_leaves_is_ended_and_told(trials, quick, script):
    before = children_of(os.getpid())
    outcome = trials.sh(script)
    assert (outcome.verdict, outcome.exit_code) == ("pass", 0)
    assert outcome.notes in (
        ("1 process of the trial was left and ended",),
        ("2 processes of the trial were left and ended",),
    )
    assert trials.living() == []
    assert children_of(os.getpid()) == before


def test_the_last_of_a_pipe_is_not_told(trials, monkeypatch):
    monkeypatch.setattr(ending, "NATURAL_S", 5.0)
    outcome = trials.sh("(sleep 0.05; echo late) & exit 0")
    assert (outcome.verdict, outcome.notes) == ("pass", ())
    assert text(trials.files.stdout) == b"late\n"


RUNNERS = {
    "plain": "sleep 100",
    "deaf": "trap '' TERM; sleep 100 & wait; sleep 100",
    "family": "trap '' TERM; (trap '' TERM; setsid sleep 100) & setsid sleep 100 & sleep 100",
    "daemon": "(setsid sh -c 'trap \"\" TERM; sleep 100; sleep 100' &); sleep 100",
    "stopped": "kill -STOP $$",
    "silent": "exec >&- 2>&-; sleep 100",
    "forking": "while :; do sleep 0.01 & done",
}


@pytest.mark.parametrize("script", RUNNERS.values(), ids=RUNNERS)
def test_the_end_of_the_time_ends_all(trials, quick, script):
    before = children_of(os.getpid())
    outcome = trials.sh(script, timeout_per_trial=0.3)
    assert (outcome.verdict, outcome.reason, outcome.timed_out) == ("error", "timed out after 0.3 s", True)
    assert [one.id for one in outcome.findings] == ["tier1:timeout"]
    assert trials.living() == []
    assert children_of(os.getpid()) == before


def test_what_became_ours_and_ended_is_not_left_in_the_table(trials):
    before = children_of(os.getpid())
    assert trials.sh("(sh -c : & exit 0); (setsid sh -c : & exit 0); sleep 0.1").notes == ()
    assert children_of(os.getpid()) == before


def test_who_listens_may_clean_up(trials):
    outcome = trials.sh("trap 'echo bye; exit 0' TERM; while :; do sleep 0.02; done", timeout_per_trial=0.2)
    assert (outcome.verdict, outcome.timed_out, outcome.exit_code) == ("error", True, 0)
    assert text(trials.files.stdout) == b"bye\n"


def test_others_are_left_alone(trials, quick):
    other = subprocess.Popen(["sleep", "100"], start_new_session=True)
    try:
        trials.sh("sleep 100", timeout_per_trial=0.1)
        trials.sh("sleep 100 & exit 0")
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize(
    "script", ["sleep 100", "trap '' TERM; (trap '' TERM; exec setsid sleep 100) & sleep 100; sleep 100"]
)
def test_an_interrupt_ends_the_trial_and_goes_on(trials, script):
    def interrupt():
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        trials.sh(script)
    thread.join()
    assert trials.living() == []
    assert not [one for one in enders if "kill_at_once" in repr(one)]


def test_exit_statuses_are_known_where_the_caller_ignores_children(trials):
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert trials.sh("exit 3").exit_code == 3
        assert trials.sh("sleep 100 & exit 0").exit_code == 0
        assert signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_another_thread_may_run_trials(trials):
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(trials.sh("echo x; exit 4")))
    thread.start()
    thread.join()
    assert [(one.verdict, one.exit_code) for one in outcomes] == [("fail", 4)]


@pytest.mark.parametrize("missing", ["pidfd_open", "prctl", "children"])
def test_kernels_that_lack_something(trials, quick, monkeypatch, missing):
    from aorta.sweep.command import processes

    if missing == "pidfd_open":
        monkeypatch.delattr(os, "pidfd_open")
    elif missing == "prctl":
        monkeypatch.setattr(processes, "_be_subreaper", lambda on: True)
    else:
        monkeypatch.setattr(processes, "children_of", lambda pid: None)
    assert trials.sh("exit 3").exit_code == 3
    assert trials.sh("sleep 100 & exit 0").notes == ("1 process of the trial was left and ended",)
    outcome = trials.sh("setsid sleep 100 & sleep 100", timeout_per_trial=0.2)
    assert outcome.timed_out
    assert trials.living() == []


def test_large_and_odd_output_goes_to_the_files_as_it_is(trials):
    outcome = trials.python(
        "import os\nblock = bytes(range(256)) * 4096\nfor _ in range(200): os.write(1, block)\nos.write(2, b'\\xff\\0end')"
    )
    assert outcome.verdict == "pass"
    assert os.path.getsize(trials.files.stdout) == 200 << 20
    assert text(trials.files.stderr) == b"\xff\0end"
    os.unlink(trials.files.stdout)


def test_files_of_the_trial(trials):
    trials.sh("echo 1 > $AORTA_ARTIFACT_DIR/x")
    assert Path(trials.files.folder, "x").read_text() == "1\n"
    trials.sh("test -d $AORTA_ARTIFACT_DIR")
    assert not Path(trials.files.folder).exists()


def test_the_log_survives(trials, tmp_path):
    """aorta is killed; what its trial wrote until then and after is there."""
    script = (
        "import sys; sys.path[:0] = sys.argv[1:3]\n"
        "from aorta.sweep.command.execute import CommandRunner\n"
        "from aorta.sweep.files import TrialFiles\n"
        "from aorta.sweep.recipe.model import Recipe\n"
        "CommandRunner(Recipe(mode='probe'), ['sh', '-c', 'echo $$; sleep 0.5; echo after']).execute(\n"
        "    TrialFiles(stem=sys.argv[3]), {'PATH': '/usr/bin:/bin'})\n"
    )
    argv = [sys.executable, "-c", script, str(ROOT), str(ROOT / "collectors"), str(tmp_path / "t")]
    process = subprocess.Popen(argv)
    log = tmp_path / "t.stdout.log"
    while not log.exists() or not log.read_text():
        time.sleep(0.01)
    process.kill()
    process.wait()
    until = time.monotonic() + 5
    while "after" not in log.read_text() and time.monotonic() < until:
        time.sleep(0.02)
    assert log.read_text().endswith("after\n")


def test_what_another_started_for_the_trial_is_found_after_a_while(trials, quick, monkeypatch):
    """As a daemon of a scheduler does: not below the command, with the trial's variables."""
    monkeypatch.setattr(running, "SEARCH_S", 0.0)
    trials.files = TrialFiles(stem=str(trials.folder / "t"))
    environ = {**trials.environ(), "AORTA_TRIAL": "1"}
    launcher = "import subprocess; subprocess.Popen(['sleep', '100'], start_new_session=True)"
    subprocess.run([sys.executable, "-c", launcher], env=environ, check=True)
    outcome = trials.sh("exit 0")
    assert outcome.notes == ("1 process of the trial was left and ended",)


STOPPED = """
import sys; sys.path[:0] = sys.argv[1:3]
from aorta.instrumentation.process import be_program
from aorta.sweep.command.execute import CommandRunner
from aorta.sweep.files import TrialFiles
from aorta.sweep.recipe.model import Recipe
def run(_arguments):
    script = "trap '' TERM; (trap '' TERM; exec setsid sleep 100) & echo ready; while :; do sleep 1; done"
    environ = {"PATH": "/usr/bin:/bin", "AORTA_SWEEP_RUN": sys.argv[4]}
    CommandRunner(Recipe(mode="probe"), ["sh", "-c", script]).execute(TrialFiles(stem=sys.argv[3]), environ)
be_program(run, None)
"""


@pytest.mark.parametrize("signals", [1, 2])
def test_a_signal_to_aorta_ends_the_trial(trials, tmp_path, signals):
    """A second one does not wait for the trial to listen."""
    arguments = [str(ROOT), str(ROOT / "collectors"), str(tmp_path / "t"), f"run-{tmp_path}"]
    process = subprocess.Popen([sys.executable, "-c", STOPPED, *arguments], stderr=subprocess.DEVNULL)
    log = tmp_path / "t.stdout.log"
    while not log.exists() or not log.read_text():
        time.sleep(0.01)
    assert len(trials.living()) >= 2
    for _ in range(signals):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
    assert process.wait(10) == 143


@pytest.mark.parametrize(
    "change",
    [
        "rm LOG",
        "mv LOG LOG.old",
        "rm LOG && mkfifo LOG",
        "rm LOG && ln -s /dev/zero LOG",
        "rm LOG && mkdir LOG",
    ],
)
def test_a_command_does_not_take_its_log_out_of_sight(trials, quick, change):
    script = f"log=$AORTA_ARTIFACT_DIR; log=${{log%.files}}.stdout.log; {change.replace('LOG', '$log')}"
    outcome = trials.sh(f"{script}; echo 'hipErrorIllegalAddress'")
    assert outcome.verdict == "fail"
    assert outcome.notes == ("the log of stdout was taken away or replaced: it was judged, and is not kept",)


def test_what_was_never_written_of_a_log_is_not_read(trials, quick):
    script = (
        "import os; os.write(1, b'a\\n'); os.ftruncate(1, 1 << 40); os.write(1, b'\\nhipErrorUnknown\\n')"
    )
    outcome = trials.python(f"{script}; os.ftruncate(1, 1 << 41)")
    assert [(each.id, each.where) for each in outcome.findings] == [("tier4:hip_error", "stdout:3")]
