"""``RecipeError``: everything that is wrong with a recipe, each fault with its place."""

from typing import Final

from aorta.model.frozen import frozen

#: Keys from the top of a document to a value: names, and numbers of members of lists.
Path = tuple[str | int, ...]

#: Under these, and in what a recipe defines as mitigations, stand values that may be secrets.
_SECRETS: Final = ("extra_env", "env", "set", "prepend")


@frozen
class Problem:
    """One fault: where it stands, and what is wrong. Lines and columns begin with 1."""

    path: str
    text: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        """Return the fault without the name of the file."""
        return f"{self.path}: {self.text}" if self.path else self.text


class RecipeError(ValueError):
    """A recipe that cannot be run; its text has a line for each fault."""

    def __init__(self, problems: tuple[Problem, ...], source: str | None = None) -> None:
        super().__init__(problems, source)
        self.problems = problems
        self.source = source

    def __str__(self) -> str:
        return "\n".join(self._line(problem) for problem in self.problems)

    def _line(self, problem: Problem) -> str:
        if self.source is None:
            return str(problem)
        places = (place for place in (problem.line, problem.column) if place is not None)
        return ":".join([self.source, *map(str, places)]) + f": {problem}"


def written(path: Path) -> str:
    """Return a path as it is shown: ``cells[2].mitigations``."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += f".{shown(key)}" if text else shown(key)
    return text


def shown(key: str) -> str:
    """Return a text of the recipe in one line, not too long and with odd characters escaped."""
    text = key if key.isprintable() and key else repr(key)
    return text if len(text) <= 60 else text[:57] + "..."


def is_secret(path: Path) -> bool:
    """Tell whether a value may be a secret, which is never shown."""
    return any(key in _SECRETS for key in path) or (len(path) > 1 and path[0] == "mitigations")
