"""What a description asks of a command beside its answer: delays, hangs, daemons, noise, echoes, odd ends."""

import base64
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import textwrap
import time
import urllib.parse

BUILD_ID = "63069516-038e-484b-8d52-0360ac9ac1b1"


class Answer:
    """What a command is about to print, and its exit status."""

    def __init__(self, stdout="", stderr="", code=0):
        self.stdout, self.stderr, self.code = stdout.encode(), stderr.encode(), code


def before(wanted, description_path, parsed):
    """Do what comes before any answer: a cold daemon, a delay, a hang."""
    if wanted.get("ignore_sigterm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "cold_s" in wanted and parsed.subcommand != "root" and _is_cold(description_path):
        print("Starting new buck2 daemon...", file=sys.stderr, flush=True)
        time.sleep(wanted["cold_s"])
        print("Connected to new buck2 daemon.", file=sys.stderr, flush=True)
    for _ in range(wanted.get("children", 0)):
        subprocess.Popen(["sleep", "600"])
    if wanted.get("hang"):
        _say(wanted, parsed)
        time.sleep(600)
    time.sleep(wanted.get("sleep", 0))


def after(wanted, answer, parsed):
    """Print the answer as the description changes it, and end."""
    if "exit" in wanted:
        answer.code = wanted["exit"]
    answer.stdout = _output(wanted, "stdout", answer.stdout)
    answer.stderr = _output(wanted, "stderr", answer.stderr)
    if parsed.last("console", os.environ.get("BUCK_CONSOLE", "auto")) != "none" and parsed.subcommand not in (
        "root",
        "",
    ):
        answer.stderr = _noise() + answer.stderr
    for echo in wanted.get("echo", ()):
        text = _said(echo, parsed)
        if echo["to"] == "error":
            row = {
                name: {"$error": text.decode("utf-8", "surrogateescape")}
                for name in parsed.arguments[1:] or [""]
            }
            answer.stdout = json.dumps(row, indent=2, ensure_ascii=echo.get("ascii", True)).encode()
        elif echo["to"] == "stdout":
            answer.stdout = text + answer.stdout
        else:
            answer.stderr += text
    _write(1, answer.stdout)
    _write(2, answer.stderr)
    if "daemon" in wanted:
        _daemon(wanted["daemon"])
    if "signal" in wanted:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(wanted["signal"], signal.SIG_DFL) if wanted["signal"] not in (9, 19) else None
        os.kill(os.getpid(), wanted["signal"])
    os._exit(answer.code)


def _is_cold(description_path):
    """Tell whether this is the first command that wants the daemon."""
    try:
        os.close(os.open(f"{description_path}.daemon", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def _say(wanted, parsed):
    for echo in wanted.get("echo", ()):
        _write(1 if echo["to"] == "stdout" else 2, _said(echo, parsed))
    for number, name in ((1, "stdout"), (2, "stderr")):
        _write(number, _output(wanted, name, b""))


def _output(wanted, name, given):
    """Return what is printed: as it is given, or as the description has it; then as much more as it wants."""
    if name in wanted:
        given = wanted[name].encode("utf-8", "surrogateescape")
    if f"{name}_base64" in wanted:
        given = base64.b64decode(wanted[f"{name}_base64"])
    if f"{name}_bytes" in wanted:
        line = b"[2026-08-22T14:10:00.123-07:00] Waiting on root//app:trainer -- loading\n"
        given += line * (wanted[f"{name}_bytes"] // len(line) + 1)
    return given


def _noise():
    return (
        f"[2026-08-22T14:10:00.123-07:00] Build ID: {BUILD_ID}\n"
        "[2026-08-22T14:10:03.456-07:00] File changed: root//app/BUCK\n"
        "[2026-08-22T14:10:03.789-07:00] Network: up 0B  down 0B\n"
    ).encode()


def _write(descriptor, data):
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BrokenPipeError:
            os._exit(130)


def _daemon(wanted):
    """Leave a process behind that keeps standard output and error open; its number goes to a file."""
    seconds = str(wanted.get("seconds", 600))
    with subprocess.Popen(["sleep", seconds], start_new_session=wanted.get("own_session", True)) as process:
        with open(wanted["pid_file"], "w", encoding="ascii") as file:
            file.write(str(process.pid))
        process.returncode = 0


def _said(echo, parsed):
    """Return an echo as often as it is wanted, moved by some characters."""
    text = "." * echo.get("shift", 0) + echoed(echo["form"], parsed) * echo.get("repeat", 1)
    return text.encode("utf-8", "surrogateescape")


def echoed(form, parsed):
    """Return a text that says the options again, in one of the ways of programs."""
    pairs = [value for name, value in parsed.options if name in ("config", "modifier")]
    values = [pair.partition("=")[2] or pair for pair in pairs]
    if form == "plain":
        return "".join(f"Error: invalid config `{pair}`\n" for pair in pairs)
    if form == "values":
        return "".join(f"the value {value} is odd\n" for value in values)
    if form == "json":
        return json.dumps({"command_line_args": pairs, "values": values}) + "\n"
    if form == "json_unicode":
        return json.dumps(pairs, ensure_ascii=False) + "\n"
    if form == "json_twice":
        return json.dumps(json.dumps(pairs)) + "\n"
    if form == "rust":
        return f"argv: [{', '.join(map(rust_debug, pairs))}]\n"
    if form == "shell":
        return f"buck2 cquery {shlex.join(pairs)}\n"
    if form == "python":
        return f"{pairs!r}\n"
    if form == "url":
        return "".join(f"https://x.invalid/?v={urllib.parse.quote(value, safe='')}\n" for value in values)
    if form == "indented":
        return "".join(textwrap.indent(f"{pair}\n", "    ", lambda _: True) for pair in pairs)
    if form == "upper_key":
        return "".join(
            f"{pair.partition('=')[0].upper()} is set to {value!r}\n"
            for pair, value in zip(pairs, values, strict=True)
        )
    raise ValueError(form)


_RUST = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def rust_debug(text):
    """Return a text as Rust's ``{:?}`` prints it."""
    return '"' + "".join(_RUST.get(c, c if c.isprintable() else f"\\u{{{ord(c):x}}}") for c in text) + '"'
