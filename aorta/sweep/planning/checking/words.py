"""Words of a command that are likely not what was meant: a script that is not there, syntax of shells."""

import os
import re
import shlex
from collections.abc import Iterator, Sequence

from aorta.model.text import printable

_SHELL = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "<", "2>", "2>>", "&>", "2>&1", ">&2"})
#: Programs that take some of these words as their own.
_TAKES = frozenset({"test", "[", "expr", "find"})

#: Of each interpreter: letters after which there is no script, and options that take the next word.
_NO_SCRIPT = {"python": "cm", "perl": "eE", "sh": "cs"}
_TAKING = {"python": ("-X", "-W"), "perl": ("-I",), "sh": ("-o", "+o", "-O", "+O", "--rcfile", "--init-file")}


def hint(program: str) -> str:
    """Return what may be meant by a program that is not there; an empty text where nothing is known."""
    shown = printable(program)
    if re.match(r"[A-Za-z_]\w*=", program):
        return f"; a variable is set by env, as in -- env {shown} …, or in the recipe"
    if len(words := _words(program)) > 1:
        return f"; it is one word: without the quotes it is -- {printable(shlex.join(words))}"
    if "/" not in program and os.path.isfile(program):
        return f"; for the one in this directory say ./{shown}"
    return ""


def _words(program: str) -> list[str]:
    try:
        return shlex.split(program)
    except ValueError:
        return program.split()


def odd_words(argv: Sequence[str]) -> Iterator[str]:
    """Yield what is to be told of the words of a command."""
    program = printable(argv[0])
    found = next((word for word in argv[1:] if word in _SHELL), None)
    if found is not None and os.path.basename(argv[0]) not in _TAKES and "-exec" not in argv:
        yield f"the word {found} goes to {program} as it is, without a shell: for one say -- sh -c '…'"
    script = _script(argv)
    if script is not None and not os.path.lexists(script):
        yield f"{program} is to run {printable(script)}, which does not exist{_near(script)}"


def _script(argv: Sequence[str]) -> str | None:
    """Return the script that an interpreter is given; None where none is known."""
    kind = _kind(os.path.basename(argv[0]))
    if kind is None:
        return None
    words = iter(argv[1:])
    for word in words:
        if word == "--":
            return next(words, None)
        if word in _TAKING[kind]:
            next(words, None)
        elif word == "-" or (word[0:1] == "-" and word[1:2] != "-" and set(word[1:]) & set(_NO_SCRIPT[kind])):
            return None
        elif not word.startswith(("-", "+")):
            return word or None
    return None


def _kind(name: str) -> str | None:
    if re.fullmatch(r"python[\d.]*", name):
        return "python"
    return {"sh": "sh", "bash": "sh", "dash": "sh", "ksh": "sh", "zsh": "sh", "perl": "perl"}.get(name)


def _near(script: str) -> str:
    import difflib

    try:
        names = os.listdir(os.path.dirname(script) or ".")
    except OSError:
        names = []
    near = difflib.get_close_matches(os.path.basename(script), names, n=1)
    where = "" if os.path.isabs(script) else f" (looked for in {printable(os.getcwd())})"
    return (
        f"{where}: did you mean {printable(os.path.join(os.path.dirname(script), near[0]))}?"
        if near
        else where
    )
