"""The options that name a Buck target and how it is built."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import click

from aorta.cli.errors import Command, Misuse
from aorta.cli.words import Seconds
from aorta.model.vocabulary import BUCK_TIMEOUT_S, INVOCATION_VARIABLE, claimed_workload

GROUPED = {
    "buck_modes": "--buck-mode-file",
    "buck_configs": "--buck-config",
    "buck_modifiers": "--buck-modifier",
}


BUCK_OPTIONS: tuple[Any, ...] = (
    click.option(
        "--buck-target",
        "buck_targets",
        multiple=True,
        metavar="LABEL",
        help="Ask Buck2 about this target, e.g. //app:trainer.",
    ),
    click.option(
        "--buck-option",
        "buck_options",
        multiple=True,
        metavar="TYPE=X",
        help="One option that the target is built with, in its order: mode=PATH for @PATH,"
        " config=KEY=VALUE for -c KEY=VALUE, modifier=M for -m M; may be repeated.",
    ),
    click.option(
        "--buck-mode-file",
        "buck_modes",
        multiple=True,
        metavar="PATH",
        help="Short for --buck-option mode=PATH.",
    ),
    click.option(
        "--buck-config",
        "buck_configs",
        multiple=True,
        metavar="KEY=VALUE",
        help="Short for --buck-option config=…; goes after all modes. VALUE is stored nowhere.",
    ),
    click.option(
        "--buck-modifier",
        "buck_modifiers",
        multiple=True,
        metavar="M",
        help="Short for --buck-option modifier=M; goes after all configs.",
    ),
    click.option(
        "--buck-default-context",
        is_flag=True,
        help="Say that the target is built without any such option.",
    ),
    click.option(
        "--buck-timeout",
        type=Seconds(),
        metavar="S",
        default=BUCK_TIMEOUT_S,
        show_default=True,
        help="The limit of the query in seconds; a cold daemon takes long. The deadline grows by it.",
    ),
    click.option(
        "--buck-library",
        "buck_libraries",
        multiple=True,
        metavar="NAME=REGEX",
        help="A further library: targets whose label cell//package:name matches; may be repeated.",
    ),
)


_CONFIG = "buck2's option for a config is here --buck-option config=KEY=VALUE"
_MODIFIER = "buck2's option for a modifier is here --buck-option modifier=M"
_MODE = "buck2's @PATH is here --buck-option mode=PATH"
_FILE = "buck2's option goes into a file, one word a line, which is named by --buck-option mode=FILE"

#: What is typed by those who know buck2, and what is meant by it.
HABITS = {
    "-c": _CONFIG,
    "--config": _CONFIG,
    "-m": _MODIFIER,
    "--modifier": _MODIFIER,
    "--target-platforms": _FILE,
    "--config-file": _FILE,
    "--flagfile": _MODE,
}


def _stray(words: list[str]) -> str | None:
    """Return what is meant where a word stands alone that belongs to an option of Buck."""
    for kind in ("mode", "config", "modifier"):
        if any(word.startswith(f"{kind}=") for word in words):
            return f"a word that begins with {kind}= stands alone: write --buck-option before each of them"
    if any(word.startswith("@") for word in words):
        return f"a word that begins with @: {_MODE}"
    if any("=" in word and not word.startswith("-") for word in words):
        return "a word with = in it belongs to no option: write --buck-option before each option of Buck"
    return None


class BuckCommand(Command):
    """A command with these options, which tells those who type buck2's own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse. Raises Misuse for an option of buck2, without its value."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name not in HABITS:
                raise
            raise Misuse(f"{error.option_name}: {HABITS[error.option_name]}") from None
        except click.UsageError as error:
            # click would print the words, and one may hold a value.
            stray = _stray(given) if "unexpected extra" in str(error) else None
            if stray is None:
                raise
            raise Misuse(stray) from None


def buck_wishes_of(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of a capture that concern Buck.

    Raises Misuse, whose line never holds the value of a config.
    """
    targets, given = asked["buck_targets"], _given(asked)
    target = targets[0] if targets else None
    if len(targets) > 1:
        raise Misuse(f"--buck-target is given {len(targets)} times: one target a snapshot")
    if target is None:
        libraries = ["--buck-library"] if asked["buck_libraries"] else []
        for option in (*given, *libraries):
            raise Misuse(
                f"{option} without --buck-target: name the target, such as --buck-target //app:trainer"
            )
        return {}
    _check_claim(claimed_workload(asked.get("execution_context"), os.environ.get(INVOCATION_VARIABLE)))
    if asked["buck_default_context"] and len(given) > 1:
        raise Misuse(
            f"--buck-default-context and {given[0]}: the first says that there are no options; drop one"
        )
    ordered = [option for option in given if option == "--buck-option"]
    if ordered and len(given) > 1:
        others = " and ".join(option for option in given if option != "--buck-option")
        raise Misuse(
            f"--buck-option and {others}: only --buck-option keeps the order of different kinds; use it alone"
        )
    return {
        "buck_target": _checked("--buck-target", _target, target),
        "buck_context": _context(asked),
        "buck_timeout": asked["buck_timeout"],
        "buck_libraries": _libraries(asked["buck_libraries"]),
    }


def _libraries(given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        name, pattern = _checked("--buck-library", _library, text)
        if found.setdefault(name, pattern) != pattern:
            raise Misuse(f"--buck-library: {name} has two patterns: join them to one with |")
    return found


def _given(asked: Mapping[str, Any]) -> list[str]:
    """Return the options of the context that were given."""
    names = {"buck_options": "--buck-option", **GROUPED, "buck_default_context": "--buck-default-context"}
    return [option for name, option in names.items() if asked[name]]


def _check_claim(claim: str) -> None:
    if claim:
        raise Misuse(
            f"--buck-target in a snapshot declared {claim}: a workload's snapshot asks Buck nothing;"
            " take the client's on the client, without that declaration"
        )


def _context(asked: Mapping[str, Any]) -> Any:
    from aorta.buck.options import BuckContext, option_of, parse_option

    if asked["buck_default_context"]:
        return BuckContext(default_confirmed=True)
    ordered = [_checked("--buck-option", parse_option, text) for text in asked["buck_options"]]
    grouped = [
        _checked(option, lambda text, kind=kind: option_of(kind, text), text)
        for (name, option), kind in zip(GROUPED.items(), ("mode", "config", "modifier"), strict=True)
        for text in asked[name]
    ]
    return BuckContext(options=(*ordered, *grouped))


def _target(text: str) -> str:
    from aorta.buck.labels import check_target

    return check_target(text)


def _library(text: str) -> tuple[str, str]:
    from aorta.buck.libraries import parse_library

    return parse_library(text)


def _checked(option: str, parse: Any, text: str) -> Any:
    from aorta.buck.options import BuckError

    try:
        return parse(text)
    except BuckError as error:
        raise Misuse(f"{option}: {error}") from None


def longer(deadline_s: float, asked: Mapping[str, Any]) -> float:
    """Return the deadline of a capture, longer by a query that is to be asked."""
    return deadline_s + (asked["buck_timeout"] if asked["buck_targets"] else 0.0)
