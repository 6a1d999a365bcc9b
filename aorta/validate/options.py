"""What the caller of the gate asks for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """``libraries`` are required by name; ``unisolated`` lets an action be that shows no isolation.

    ``strict`` makes warnings fail.
    """

    libraries: tuple[str, ...] = ()
    unisolated: bool = False
    strict: bool = False
