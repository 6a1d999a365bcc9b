"""Labels of Buck targets, taken apart: ``cell//package:name (configuration) (execution configuration)``."""

import re

from aorta.buck.options import BuckError
from aorta.buck.words import Role
from aorta.model.frozen import frozen

#: A target name may hold these, and a query does not take them unquoted.
UNQUOTED = re.compile(r"[=~!+,;&()\[\]{}'\"<>|^`\\$]")

_CONFIGURED = re.compile(r"(?P<label>.+?) \((?P<cfg>[^()]*)\)(?: \((?P<exec>[^()]*)\))?")
_UNBOUND = "<unbound>"


@frozen
class Label:
    """A label without configuration. ``cell`` and ``package`` are None where they were not written."""

    cell: str | None
    package: str | None
    name: str

    def __str__(self) -> str:
        """Return the label as it is written."""
        cell = self.cell or ""
        return f":{self.name}" if self.package is None else f"{cell}//{self.package}:{self.name}"

    def may_mean(self, full: "Label") -> bool:
        """Tell whether a full label may be what this one, as a user typed it, stands for."""
        if self.package is None:
            return self.name == full.name
        # A cell may be an alias of another: then only the rest can be compared.
        return (self.package, self.name) == (full.package, full.name)


@frozen
class Configured:
    """A row of a query's answer: the label, its configuration, and of a toolchain the second one.

    ``text`` is the row as it came. A configuration is ``PLATFORM#HASH`` or a word in angle brackets.
    """

    text: str
    label: Label
    configuration: str | None = None
    execution: str | None = None

    def role(self, roots: frozenset[str]) -> Role:
        """Return the row's part in the graph of a root with these configurations."""
        if self.configuration == _UNBOUND:
            return Role.OTHER
        if self.execution is not None:
            return Role.TOOLCHAIN
        if self.configuration in roots:
            return Role.TARGET
        return Role.EXEC if roots else Role.OTHER


def parse_label(text: str) -> Label:
    """Return the parts of a label; ``//a`` means ``//a:a``. Raises ValueError."""
    cell, slashes, rest = text.removeprefix("@").partition("//")
    if not slashes:
        if not text.startswith(":") or len(text) == 1:
            raise ValueError(f"{text[:80]!r} is no label")
        return Label(cell=None, package=None, name=text[1:])
    package, colon, name = rest.partition(":")
    name = name if colon else package.rpartition("/")[2]
    if not name:
        raise ValueError(f"{text[:80]!r} names no target")
    return Label(cell=cell or None, package=package, name=name)


def parse_configured(text: str) -> Configured:
    """Return the parts of one row. Raises ValueError."""
    match = _CONFIGURED.fullmatch(text)
    if match is None:
        return Configured(text=text, label=parse_label(text))
    return Configured(
        text=text, label=parse_label(match["label"]), configuration=match["cfg"], execution=match["exec"]
    )


def is_pattern(target: str) -> bool:
    """Tell whether a target names several: ``//a:`` or ``//a/...``."""
    return target.endswith((":", "/..."))


def check_target(target: str) -> str:
    """Return the target as it goes to buck2. Raises BuckError with what to write in its place."""
    if not isinstance(target, str):
        raise BuckError(f"a target is a text such as '//app:trainer', and no {type(target).__name__}")
    text = target.strip()
    if not text:
        raise BuckError("an empty target: write the label of one, such as //app:trainer")
    if text != "".join(text.split()) or text.startswith("-"):
        raise BuckError(
            "the target looks like a part of a command: write the label alone, and each option as"
            " mode=PATH, config=KEY=VALUE or modifier=M"
        )
    if not text.isprintable():
        raise BuckError("the target has unprintable characters in it")
    label, question, modifiers = text.partition("?")
    if question:
        wanted = " and ".join(f"modifier={part}" for part in modifiers.split("+") if part) or "modifier=M"
        raise BuckError(f"{text}: a query takes no ?modifier: write {label} and the option {wanted}")
    bare = re.split(r"[\[#]", text, maxsplit=1)[0]
    if bare != text:
        raise BuckError(f"{text}: a query takes no sub-target and no flavor: write {bare}")
    if "%" in text:
        raise BuckError(f"{text}: a query does not take a target with % in its name; {_alias(text)}")
    strange = UNQUOTED.search(text)
    if strange:
        raise BuckError(f"{text}: deps(%s) does not take a name with {strange[0]!r} in it; {_alias(text)}")
    if "//" not in text and not text.startswith(":"):
        raise BuckError(f"{text}: no label: write one such as //app:trainer or :trainer")
    if not is_pattern(text):
        try:
            parse_label(text)
        except ValueError as error:
            raise BuckError(f"{error}: write one such as //app:trainer") from None
    # Before a label @ means nothing, but as a word of the command line it would name a file of options.
    return text.removeprefix("@")


def _alias(text: str) -> str:
    return f'give it another one by alias(name = "probed", actual = "{text}") and name that'
