"""Tier 5: patterns that the recipe brings along."""

import re
from collections.abc import Callable, Mapping, Sequence

from aorta.model.frozen import evolve
from aorta.sweep.command.catalogue import INFO, TEXT_CHARACTERS, Enabled, fired
from aorta.sweep.command.limited import Budget
from aorta.sweep.outcome import ERROR, Finding
from aorta.sweep.recipe.model import CustomPattern

#: Numbers and texts, see ``lines``.
Lines = Sequence[tuple[int, str]]
#: Tells whether the condition of a match holds, by what its groups caught.
Condition = Callable[[Mapping[str, "str | None"]], bool]


class CustomScan:
    """One pattern of the recipe, and what it has found."""

    def __init__(self, pattern: CustomPattern, condition: Condition | None) -> None:
        self.pattern = pattern
        self._id = f"custom:{pattern.id}"
        self.found: Finding | None = None
        self._regex = re.compile(pattern.match.regex)
        self._condition = condition
        self._budget = Budget()

    @property
    def open(self) -> bool:
        """Tell whether it is still to be looked for."""
        return self.found is None and not self._budget.spent

    def scan(self, stream: str, lines: Lines) -> None:
        """Look through the lines of a block, for a limited time."""
        self._budget.do(lambda: self._search(stream, lines))

    def _search(self, stream: str, lines: Lines) -> None:
        search, condition = self._regex.search, self._condition
        for number, line in lines:
            match = search(line)
            if match is None:
                continue
            if condition is not None and not condition(match.groupdict()):
                continue
            captured = {
                name: text[:TEXT_CHARACTERS] for name, text in match.groupdict().items() if text is not None
            }
            found = fired(self._id, line.strip(), f"{stream}:{number}", effect=self.pattern.effect)
            self.found = evolve(found, captured=captured)
            return

    def finding(self) -> Finding | None:
        """Return what was found, or that it could not be looked for, or that it had to be and was not."""
        if self.found is not None:
            return self.found
        if self._budget.spent:
            text = f"the regular expression of {self.pattern.id} took too long and was given up"
            return fired(self._id, text, effect=ERROR)
        if self.pattern.required_for_pass:
            text = f"{self.pattern.id} was not seen, which a passing trial shows"
            return fired("meta:missing_pass_signal", text)
        return None

    @property
    def confirmed(self) -> bool:
        """Tell whether it is a signal that a trial passed, and was seen."""
        return self.pattern.required_for_pass and self.found is not None and self.found.effect == INFO


def custom_scans(
    given: tuple[CustomPattern, ...],
    enabled: Enabled,
    *,
    exit_code: int | None,
    walltime_s: float,
    peak_vram_mib: float | None,
) -> list[CustomScan]:
    """Return the patterns that are on. Conditions speak of ``exit_code``, negative for a signal's number."""
    scans = []
    for pattern in given:
        if not enabled(f"custom:{pattern.id}"):
            continue
        condition: Condition | None = None
        if pattern.match.condition is not None:
            from aorta.sweep.recipe.condition import compile_condition

            holds = compile_condition(pattern.match.condition).holds

            def condition(captured: Mapping[str, str | None], holds: "Callable[..., bool]" = holds) -> bool:
                return holds(captured, exit_code, walltime_s, peak_vram_mib)

        scans.append(CustomScan(pattern, condition))
    return scans
