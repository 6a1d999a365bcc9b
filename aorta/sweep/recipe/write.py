"""``to_yaml``: a recipe as the file that replays it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from aorta import __version__
from aorta.model.frozen import evolve, is_model
from aorta.sweep.definitions.registry import Registries
from aorta.sweep.recipe.cells import all_cells
from aorta.sweep.recipe.fingerprint import fingerprint
from aorta.sweep.recipe.keys import required
from aorta.sweep.recipe.model import CellRecipe, Change, EnvironmentRecipe, Recipe, Resolved
from aorta.sweep.recipe.structure import fields_of

#: Not keys of a file: where a recipe is from.
_OF_THE_FILE: Final = ("source", "sha256")
_LEFT_OUT: Final = object()


def to_yaml(recipe: Recipe, *, definitions: Registries) -> str:
    """Return a recipe that ``load_recipe`` reads as ``with_definitions`` of it, however it came about.

    What has its default is left out, and keys are in the order of the model. Arguments of the command that
    are no UTF-8 are written as ``!!binary``, so that they are the same bytes when they are read.
    """
    whole = with_definitions(recipe, definitions)
    needed = ("schema_version", "mode", *required(whole.mode, whole.workload))
    return _dumped(_plain(whole, needed))


def _dumped(value: Any) -> str:
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    # Without aliases: a recipe is read by people, and they are not all at home in YAML.
    dumper: Any = type("_Dumper", (base,), {"ignore_aliases": lambda *_: True})
    dumper.add_representer(str, _text)
    text: str = yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=True, width=110)
    return text


def _text(dumper: Any, text: str) -> Any:
    """Return the node of a text; the emitter in Python loses a NEL that is not escaped."""
    style = None if text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def with_definitions(recipe: Recipe, definitions: Registries) -> Recipe:
    """Return a recipe that has all that its cells name, and says what it was made from.

    ``definitions`` may lack names: they are left to whoever reads the recipe.
    """
    cells = all_cells(recipe)
    mitigations = {
        name: definitions.mitigations[name].change
        for name in dict.fromkeys(name for cell in cells for name in cell.mitigations)
        if name in definitions.mitigations
    }
    environments = {
        name: _definition(definitions.environments[name])
        for name in dict.fromkeys(_environments(cells))
        if name in definitions.environments
    }
    resolved = Resolved(
        aorta=__version__,
        fingerprint=fingerprint(recipe, definitions),
        source=recipe.source,
        source_sha256=recipe.sha256,
    )
    return evolve(
        recipe,
        mitigations={**recipe.mitigations, **mitigations},
        environments={**recipe.environments, **environments},
        resolved=resolved,
    )


def _environments(cells: tuple[CellRecipe, ...]) -> Iterator[str]:
    for cell in cells:
        if isinstance(cell.environment, str):
            yield cell.environment


def _definition(environment: Any) -> EnvironmentRecipe:
    names = [name for name, *_ in fields_of(EnvironmentRecipe)]
    return EnvironmentRecipe(**{name: getattr(environment, name) for name in names})


def _plain(value: Any, needed: tuple[str, ...] = ()) -> Any:
    if isinstance(value, Change):
        return _change(value)
    if is_model(type(value)):
        members = {}
        for name, _, default in fields_of(type(value)):
            own = getattr(value, name)
            if name in needed or (
                not (name in _OF_THE_FILE and isinstance(value, Recipe)) and own != _made(default)
            ):
                members[name] = _command(own) if name == "command" else _plain(own)
        return members
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value


def _made(default: Any) -> Any:
    if default is attrs.NOTHING:
        return _LEFT_OUT
    factory = getattr(default, "factory", None)
    return default if factory is None else factory()


def _change(change: Change) -> dict[str, Any]:
    """Return a change in the short form where that says all and is not taken for the long one."""
    parts = {"set": dict(change.set), "unset": list(change.unset), "prepend": dict(change.prepend)}
    given = {name: part for name, part in parts.items() if part}
    return parts["set"] if set(given) <= {"set"} else given  # type: ignore[return-value]


def _command(words: tuple[str, ...]) -> list[str | bytes]:
    return [word if _is_unicode(word) else word.encode("utf-8", "surrogateescape") for word in words]


def _is_unicode(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True
