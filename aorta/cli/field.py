"""One value of a document, named by a path, and why it is null."""

from collections.abc import Iterable, Mapping
from typing import Any

from aorta.cli.errors import Failure, Misuse
from aorta.cli.plain import Document, clean
from aorta.model.fieldpath import (
    MissingFieldError,
    PathSyntaxError,
    Step,
    look_up,
    parse_path,
    shown_step,
)

NO_REASON = "no reason is recorded: nothing was there to tell"


def steps_of(path: str) -> list[Step]:
    """Return the steps of a path. Raises Misuse for a text that is none."""
    try:
        return parse_path(path)
    except PathSyntaxError as error:
        raise Misuse(f"--field: {error}") from None


def value_at(document: Mapping[str, Any], path: str, extensions: Iterable[str] = ()) -> Any:
    """Return the value at a path. Raises Misuse for no path, Failure for one that leads nowhere.

    ``extensions`` are sections of plugins beside those in the document: a path that begins with one
    is told where to find it.
    """
    steps = steps_of(path)
    try:
        return look_up(document, path)
    except MissingFieldError as error:
        place = _in_extensions(steps, {*extensions, *(document.get("extensions") or ())})
        raise Failure(f"{path}: {place or error}") from None


def _in_extensions(steps: list[Step], extensions: set[str]) -> str:
    names = [step.what if step.kind == "name" else "" for step in steps]
    for number in range(1, len(names) + 1):
        section = ".".join(names[:number])
        if "." in section and section in extensions:
            rest = "".join(shown_step(step) for step in steps[number:])
            return f'the section of a plugin, at extensions["{section}"].data{rest}'
    return ""


def why_null(document: Mapping[str, Any], path: str) -> str:
    """Return one line with the reasons of a null: the field's, else its parents', else its section's.

    Where the document gives none the line says so; it is empty for what is in no section,
    and for a document that keeps no reasons, as those of 1.x.
    """
    steps = parse_path(path)
    if steps[0].what == "extensions":
        # extensions["vendor.name"].data.field is the field of that section.
        steps = [*steps[1:2], *steps[3:]]
    names = [step.what for step in steps if step.kind == "name"]
    if not names or names[0] == "collection" or not Document(document).has("collection.reasons"):
        return ""
    member = "".join(
        f"[{step.what}]" if step.kind == "index" else f".{step.what}" for step in steps[1:]
    ).removeprefix(".")
    noted = Document(document).members("collection.reasons")
    # A reason may be of one member of a list; else it is of all of them.
    reasons = [
        reason for reason in noted if (reason.get("section"), reason.get("field")) == (names[0], member)
    ]
    reasons = reasons or Document(document).reasons(names[0], ".".join(names[1:]))
    told = dict.fromkeys(_told(reason) for reason in reasons)
    return clean(f"null: {'; '.join(told) or _not_present(document, names) or NO_REASON}")


def _not_present(document: Mapping[str, Any], names: list[str]) -> str:
    """Return that what the field is of is said to be not there, an empty text where that is not said."""
    places = (".".join(names[:number]) for number in range(len(names) - 1, 0, -1))
    return next(
        (f"{each}.present is false" for each in places if Document(document).get(f"{each}.present") is False),
        "",
    )


def _told(reason: Mapping[str, Any]) -> str:
    kind, detail, subject = reason.get("kind"), str(reason.get("detail") or ""), reason.get("subject")
    about = f" ({subject})" if subject and str(subject) not in detail else ""
    return f"{kind}: {detail}{about}" if detail or about else str(kind)
