"""How the caller says a Buck target is built: modes, configs and modifiers, in their order.

A config's value is secret: it goes to buck2 and into the fingerprint, and is told nowhere else.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from aorta.buck.words import ContextSource
from aorta.host.protocol import Masked
from aorta.model.frozen import frozen
from aorta.model.redact import REDACTED, is_secret_name

MODE, CONFIG, MODIFIER = KINDS = ("mode", "config", "modifier")

#: The word that stands for "built with no options", as a caller confirms it.
DEFAULT = "default"

#: Tells fingerprints of one recipe from those of another; only equal prefixes compare.
PREFIX = "sha256-v2:"

#: Rounds of the digest. Values are short and the digest has no secret salt: guessing is made slow.
ROUNDS = 300_000

_PASTED = (
    r"\s(?:-c\s*\S+\.\S+=|--config[\s=]|-m\s+[^\s-]|--modifier[\s=]|@\S*//|cquery\b|--target-platforms\b)"
)


class BuckError(ValueError):
    """An option or a target that cannot be meant; the text says what to write, and holds no value."""


@frozen
class BuckOption:
    """One option. ``name`` is a mode's path, a config's key or a modifier; ``value`` a config's value."""

    kind: str
    name: str
    value: str = ""

    def __repr__(self) -> str:
        """Return the option without its value."""
        return f"BuckOption({self.kind}={self.name})"

    @property
    def argv(self) -> tuple[str | Masked, ...]:
        """Return the words for buck2."""
        if self.kind == MODE:
            return (f"@{self.name}",)
        if self.kind == MODIFIER:
            return ("-m", self.name)
        word = Masked(
            value=f"{self.name}={self.value}",
            shown=f"{self.name}={REDACTED}",
            secret=self.value,
            ordinary=_is_ordinary(self.name, self.value),
        )
        return ("-c", word if self.value else f"{self.name}=")


@frozen
class BuckContext:
    """The options in the order in which buck2 gets them, or the caller's word that there are none."""

    options: tuple[BuckOption, ...] = ()
    default_confirmed: bool = False

    @classmethod
    def of(cls, options: Iterable[str]) -> "BuckContext":
        """Return the context of options such as ``mode=@//mode/opt`` or ``config=a.b=c``, in their order."""
        return cls(options=tuple(parse_option(text) for text in options))

    @classmethod
    def grouped(
        cls, modes: Iterable[str] = (), configs: Iterable[str] = (), modifiers: Iterable[str] = ()
    ) -> "BuckContext":
        """Return the context of modes, then configs, then modifiers."""
        grouped = ((MODE, modes), (CONFIG, configs), (MODIFIER, modifiers))
        return cls(options=tuple(option_of(kind, text) for kind, texts in grouped for text in texts))

    @property
    def source(self) -> ContextSource:
        """Return who said how the target is built."""
        if self.default_confirmed:
            return ContextSource.DEFAULT_CONFIRMED
        return ContextSource.EXPLICIT if self.options else ContextSource.UNSPECIFIED

    @property
    def argv(self) -> tuple[str | Masked, ...]:
        """Return the words for buck2, exactly in the given order."""
        return tuple(word for option in self.options for word in option.argv)

    def names(self, kind: str) -> tuple[str, ...]:
        """Return the modes, the config keys or the modifiers, in their order."""
        return tuple(option.name for option in self.options if option.kind == kind)

    def fingerprint(self) -> str | None:
        """Return the digest of what buck2 gets, values included; None where nobody said how it is built.

        Equal argument lists have equal fingerprints, however they were written.
        """
        if self.source is ContextSource.UNSPECIFIED:
            return None
        words = [word.value if isinstance(word, Masked) else word for word in self.argv]
        said = {"arguments": words, "default_confirmed": self.default_confirmed}
        text = json.dumps(said, sort_keys=True, separators=(",", ":"))
        digest = hashlib.pbkdf2_hmac("sha256", text.encode("ascii"), b"aorta buck context", ROUNDS)
        return f"{PREFIX}{digest.hex()}"

    def masked(self, words: Iterable[str]) -> tuple[str, ...]:
        """Return words of any command line without the values of configs, however they are quoted there.

        A value such as labels are made of goes where it stands after its key, or as a word of its own.
        """
        told = [str(word).replace("\0", "\ufffd") for word in words]
        configs = [word for word in self.argv if isinstance(word, Masked)]
        if not configs or not told:
            return tuple(told)
        # Only with a Buck target: it reads what quotes texts.
        from aorta.host.scrub import SHORT, Scrub

        text = Scrub([word for word in configs if not word.ordinary]).diagnostics("\0".join(told))
        ordinary = {word.secret for word in configs if word.ordinary and len(word.secret) >= SHORT}
        for word in sorted((word for word in configs if word.ordinary), key=lambda word: -len(word.value)):
            text = text.replace(word.value, word.shown)
        return tuple(_without(word, ordinary) for word in text.split("\0"))


def _without(word: str, values: set[str]) -> str:
    name, equals, value = word.rpartition("=")
    return f"{name}{equals}{REDACTED}" if value in values else word


def context_of(given: Any) -> BuckContext:
    """Return the context that a program gave: a BuckContext, ``"default"``, texts, or nothing.

    Raises BuckError.
    """
    if given is None:
        return BuckContext()
    if isinstance(given, BuckContext):
        return given
    if given == DEFAULT:
        return BuckContext(default_confirmed=True)
    # What has no order, or two texts a member, is no list of options.
    if isinstance(given, (str, bytes, Mapping, set, frozenset)) or not isinstance(given, Iterable):
        raise BuckError(
            f"buck_context is a {type(given).__name__}: a list of texts such as 'mode=@//mode/opt', a"
            f" BuckContext, or {DEFAULT!r}"
        )
    texts = list(given)
    if not all(isinstance(text, str) for text in texts):
        raise BuckError("buck_context holds something that is no text")
    return BuckContext.of(texts)


def parse_option(text: str) -> BuckOption:
    """Return the option ``mode=X``, ``config=KEY=VALUE`` or ``modifier=M``. Raises BuckError."""
    kind, equals, rest = text.partition("=")
    if kind in KINDS and equals:
        return option_of(kind, rest)
    if re.search(_PASTED, text) or text.startswith(("-", "@", "buck")):
        raise BuckError(
            "looks like a part of a buck2 command: write each of its options as one,"
            " mode=PATH for @PATH, config=KEY=VALUE for -c KEY=VALUE, modifier=M for -m M"
        )
    named = f"the type {kind!r}" if equals and re.fullmatch(r"[a-z][a-z-]{0,11}", kind) else "no type"
    raise BuckError(f"has {named}: write mode=PATH, config=KEY=VALUE or modifier=M")


def option_of(kind: str, text: str) -> BuckOption:
    """Return one option of a kind. Raises BuckError, whose text never holds a value."""
    if "\0" in text:
        raise BuckError(f"a {kind} with a NUL byte in it")
    if kind == CONFIG:
        return _config(text)
    name = text.strip().removeprefix("@") if kind == MODE else text.strip()
    if not name:
        raise BuckError(f"an empty {kind}: write {kind}={'PATH' if kind == MODE else 'M'}")
    if name != "".join(name.split()):
        raise BuckError(
            f"a {kind} with blanks in it, which looks like several options: write one option for each"
        )
    if kind == MODE and (name == "-" or name.startswith("-")):
        raise BuckError("a mode is the path of a file")
    if kind == MODIFIER and name.startswith(("-", "?", "@")):
        raise BuckError("a modifier is a label or an alias, without what stands before it on a command line")
    return BuckOption(kind=kind, name=name)


def _config(text: str) -> BuckOption:
    key, equals, value = text.partition("=")
    if not equals:
        raise BuckError("a config without a value: write config=SECTION.KEY=VALUE (an empty VALUE unsets it)")
    if not key.strip():
        raise BuckError("a config without a key: write config=SECTION.KEY=VALUE")
    if len(key.split()) == 1 and key != key.strip():
        raise BuckError("a config with blanks around its key: write config=SECTION.KEY=VALUE")
    if key != "".join(key.split()) or key.startswith("-"):
        raise BuckError("a config whose key has blanks in it: write one option for each -c KEY=VALUE")
    section, dot, name = key.rpartition("//")[2].partition(".")
    if not (section and dot and name):
        raise BuckError("a config whose key has no section: write config=SECTION.KEY=VALUE")
    if re.search(_PASTED, value):
        raise BuckError(
            "the value of a config looks like further options of a pasted command: write one option for each"
        )
    return BuckOption(kind=CONFIG, name=key, value=value)


def _is_ordinary(key: str, value: str) -> bool:
    """Tell whether a value is a word as names of targets are made of, and its key is of nothing secret."""
    from aorta.host.scrub import ORDINARY

    return not is_secret_name(key.rpartition(".")[2]) and ORDINARY.fullmatch(value) is not None
