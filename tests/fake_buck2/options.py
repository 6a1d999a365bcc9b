"""The command line: options and arguments in any order, each option's value in every spelling."""

from tests.fake_buck2.errors import BuckFailure, UsageFailure

#: Options with a value: name -> short name. The first ones may stand before the subcommand as well.
GLOBAL = {"isolation-dir": "", "verbose": "v", "oncall": "", "client-metadata": ""}
COMMON = {
    "config": "c",
    "config-file": "",
    "modifier": "m",
    "target-platforms": "",
    "console": "",
    "exit-when": "",
    "preemptible": "",
    "fake-host": "",
    "fake-arch": "",
    "event-log": "",
    "write-build-id": "",
    "command-report-path": "",
    "ui": "",
}
VALUES = {
    "cquery": {**COMMON, "output-attribute": "a", "output-format": "", "target-universe": "u"},
    "targets": COMMON,
    "audit": COMMON,
    "root": {"kind": "k", "dir": ""},
    "": {},
}
COMMON_FLAGS = {"reuse-current-config": "", "skip-missing-targets": ""}
FLAGS = {
    "cquery": {
        **COMMON_FLAGS,
        "json": "",
        "dot": "",
        "dot-compact": "",
        "show-providers": "",
        "stack": "",
        "output-all-attributes": "A",
        "output-basic-attributes": "B",
    },
    "targets": {**COMMON_FLAGS, "json": ""},
    "audit": {**COMMON_FLAGS, "json": "", "aliases": "", "paths-only": ""},
    "root": {},
    "": {"version": "V"},
}
#: Words that an option takes.
CHOICES = {
    "console": ("auto", "none", "simple", "simplenotty", "simpletty", "super"),
    "kind": ("cell", "project", "daemon"),
    "output-format": ("dot", "dot_compact", "json", "starlark", "html"),
}
SUBCOMMANDS = ("cquery", "root", "audit", "targets")


class Parsed:
    """What a command line says: the subcommand, its options in order, its arguments."""

    def __init__(self):
        self.subcommand = ""
        self.options = []
        self.arguments = []

    def all(self, name):
        """Return the values of a repeatable option in order."""
        return [value for option, value in self.options if option == name]

    def last(self, name, default=None):
        """Return the last value of an option."""
        return (self.all(name) or [default])[-1]


def parse(words):
    """Read a command line whose files of arguments are expanded. Raises BuckFailure."""
    found = Parsed()
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--":
            found.arguments += words
            break
        if word.startswith("--"):
            _long(found, word[2:], words)
        elif word.startswith("-") and len(word) > 1:
            _short(found, word[1:], words)
        elif found.subcommand:
            found.arguments.append(word)
        else:
            if word not in SUBCOMMANDS:
                raise UsageFailure(f"unrecognized subcommand '{word}'")
            found.subcommand = word
    _check_configs(found)
    return found


def _long(found, text, words):
    name, equals, value = text.partition("=")
    if name == "output-attributes" and found.subcommand == "cquery":
        raise BuckFailure("`--output-attributes` is deprecated, use `--output-attribute` (or `-a`) instead")
    if name in _values(found):
        _add(found, name, value if equals else _next(name, words))
    elif name in _flags(found) and not equals:
        found.options.append((name, True))
    else:
        raise UsageFailure(f"unexpected argument '--{text}' found")


def _short(found, text, words):
    """Read ``-cV``, ``-c=V``, ``-c V`` and flags that share a dash."""
    while text:
        letter, text = text[0], text[1:]
        for name, short in _values(found).items():
            if short == letter:
                _add(found, name, text.removeprefix("=") if text else _next(name, words))
                return
        flags = [name for name, short in _flags(found).items() if short == letter]
        if not flags:
            raise UsageFailure(f"unexpected argument '-{letter}' found")
        found.options.append((flags[0], True))


def _values(found):
    return {**GLOBAL, **VALUES[found.subcommand]}


def _flags(found):
    return {"no-buckd": "", **FLAGS[found.subcommand]}


def _next(name, words):
    """Return an option's value; what looks like an option is none."""
    if not words or (words[0].startswith("-") and words[0] != "-"):
        raise UsageFailure(f"a value is required for '--{name} <VALUE>' but none was supplied")
    return words.pop(0)


def _add(found, name, value):
    if value not in CHOICES.get(name, (value,)):
        raise UsageFailure(f"invalid value '{value}' for '--{name} <VALUE>'")
    found.options.append((name, value))


def _check_configs(found):
    for pair in found.all("config"):
        head, double, rest = pair.partition("//")
        text = rest if double and "=" not in head else pair
        if "=" not in text:
            raise BuckFailure(f"Could not find equals sign (`=`) in pair `{pair}`")
        left = text.partition("=")[0].lstrip()
        if "." not in left:
            raise BuckFailure(f"Could not find section separator (`.`) in pair `{pair}`")
        section, _, key = left.partition(".")
        if not section or not key or any(map(str.isspace, left)):
            raise BuckFailure(f"Expected a section and a key in pair `{pair}`")
        if section in ("cells", "repositories"):
            raise BuckFailure("Specifying cells via cli config overrides is banned")
