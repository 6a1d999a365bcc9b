"""What is shown on a terminal, on a real one."""

import json
import os
import pty
import subprocess
import sys

from aorta.model.sections import ORDER


def on_terminal(cli, environ, *words, env=None, both=True):
    """Run with standard output (and error) on a terminal; return the status and all that was shown."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "aorta", *words],
        cwd=cli.folder,
        env=environ(TERM="xterm", COLUMNS="200", **(env or {})),
        stdout=slave,
        stderr=slave if both else subprocess.DEVNULL,
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(master)
    return process.wait(timeout=30), shown.decode()


def test_a_terminal_gets_the_summary(cli, environ, recording):
    path = recording({"op": "env", "name": "HSA_OVERRIDE_GFX_VERSION", "value": "[bold]9.4.2"})
    code, shown = on_terminal(cli, environ, "env", "probe", "--replay", str(path))
    assert code == 0
    assert "wrote env.json" in shown
    assert "HSA_OVERRIDE_GFX_VERSION=[bold]9.4.2" in shown
    assert "replay of a recording" in shown
    assert "kernel" in shown


def test_quiet_shows_nothing(cli, environ, recording):
    code, shown = on_terminal(cli, environ, "env", "probe", "--replay", str(recording()), "--quiet")
    assert (code, shown) == (0, "")
    assert (cli.folder / "env.json").exists()


def test_progress_is_shown_on_a_terminal_and_taken_away(cli, environ, tools):
    path = tools("hipconfig", "sleep 1.5; exit 1")
    code, shown = on_terminal(cli, environ, "env", "probe", "--section", "hip", env={"PATH": path})
    assert code == 0
    assert "at work: hip" in shown
    assert "\r\x1b[K" in shown


def test_no_progress_elsewhere_unless_asked_for(cli, tools):
    path = tools("hipconfig", "sleep 1; exit 1")
    words = ("--section", "hip", "-o", "x.json")
    assert "at work" not in cli.probe(*words, env={"PATH": path}).err
    ran = cli.probe(*words, "--progress", env={"PATH": path})
    assert "at work: hip" in ran.err
    assert "\x1b" not in ran.err


def test_progress_says_nothing_of_no_work(cli):
    ran = cli.probe("--section", "python_version", "-o", "x.json", "--progress")
    assert ran.code == 0
    assert "nothing" not in ran.err
    assert ran.lines[-1] == "wrote x.json"


def test_nothing_unusual(cli, environ):
    whole = {**dict.fromkeys(ORDER), "schema_version": "2.0", "collection": {"collectors": {}}}
    (cli.folder / "x.json").write_text(json.dumps(whole))
    code, shown = on_terminal(cli, environ, "env", "show", "x.json")
    assert code == 0
    assert "nothing unusual was seen" in shown
