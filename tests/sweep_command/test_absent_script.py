"""Interpreters that find no script: the launch is wrong, whatever status they end with."""

import sys

import pytest

PYTHON = sys.executable


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((PYTHON, "trian.py"), "python"),
        ((PYTHON, "-m", "trian"), "No module named trian"),
        (("sh", "trian.sh"), "trian.sh"),
        (("bash", "trian.sh"), "127"),
        (("perl", "trian.pl"), "Can't open perl script"),
        (("sh", "-c", f"{PYTHON} trian.py; status=$?; echo over >&2; exit $status"), "can't open file"),
    ],
)
def test_a_script_that_is_not_there_is_an_error(trials, argv, said):
    done = trials.execute(trials.runner(*argv))
    assert (done.verdict, [one.id for one in done.findings]) == ("error", ["tier1:exec_failed"])
    assert said in done.reason


@pytest.mark.parametrize(
    "script",
    [
        "echo 'the file trian.py: No such file or directory' >&2; exit 2",
        "echo 'sh: 7: cannot open input.txt: No such file' >&2; exit 2",
        "echo \"python: can't open file 'trian.py': [Errno 2] No such file or directory\"; exit 2",
        f"{PYTHON} -c 'open(\"data.bin\")'",
    ],
)
def test_another_file_that_is_not_there_is_the_subjects(trials, script):
    assert trials.sh(script).verdict == "fail"


def test_a_command_that_went_on_and_passed_passes(trials):
    assert trials.sh(f"{PYTHON} trian.py; exit 0").verdict == "pass"


def test_it_can_be_turned_off(trials):
    runner = trials.runner(PYTHON, "trian.py", disable_detectors=("tier1:exec_failed",))
    assert trials.execute(runner).verdict == "fail"
