"""Variables that a trial's process had too late, as a warning of its cell."""

from collections.abc import Sequence

from aorta.workloads.import_time import told


def late_text(cell: str, names: Sequence[str]) -> str:
    """Return what is to be said of a cell whose trials got variables after their readers had read them."""
    differ = "is not what it was" if len(names) == 1 else "are not what they were"
    return (
        f"cell {cell}: in the process of its trials {', '.join(names)} {differ} when {told(tuple(names))},"
        " so this may have had no effect; with trial_isolation: process each trial has its variables from the"
        " start"
    )
