"""The command line. ``main`` is the entry point; all else is imported when it is called."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(arguments: "Sequence[str] | None" = None) -> "NoReturn":
    """Run the command line and end the process with its exit status (by SystemExit, given arguments)."""
    try:
        from aorta.early import end_on_interrupt

        end_on_interrupt()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    from aorta.cli.entry import main

    main(arguments)
