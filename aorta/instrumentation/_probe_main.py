"""``python -m aorta.instrumentation._probe_main``: a capture where click is not installed.

    python -m aorta.instrumentation._probe_main [--extended] [--execution-context X] [OUT|-]

Writes what ``aorta env probe`` writes, to standard output by default. Exit status 0 written (also when
partial), 1 not written, 2 wrong arguments.
"""

if __name__ == "__main__":
    try:
        from aorta.early import end_on_interrupt

        end_on_interrupt()
    except KeyboardInterrupt:
        raise SystemExit(130) from None

import os
from collections.abc import Sequence
from typing import Any, NoReturn

from aorta.instrumentation.process import Stdout, Stopped, age, be_program, raise_if_stopped, say
from aorta.model.vocabulary import INVOCATIONS

USAGE = (
    "usage: python -m aorta.instrumentation._probe_main"
    f" [--extended] [--execution-context {'|'.join(INVOCATIONS)}] [OUT|-]"
)

#: As on the command line; AORTA_DEADLINE_S replaces it.
DEADLINE_S = 120.0


class UsageError(Exception):
    """Arguments that cannot be meant."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Capture, write, and end the process."""
    be_program(run, arguments)


def run(arguments: list[str]) -> int:
    """Capture and write as the arguments say; return the exit status."""
    if arguments in (["-h"], ["--help"]):
        return _help()
    try:
        wishes, target = parse(arguments)
    except UsageError as error:
        say(USAGE)
        _say(str(error))
        return 2
    return _probe(target, wishes)


def _help() -> int:
    from aorta.instrumentation.write import told

    with Stdout() as out:
        try:
            out.write(f"{USAGE}\n")
        except BrokenPipeError:
            return 1
        except OSError as error:
            _say(told(error, "standard output"))
            return 1
    return 0


def parse(arguments: list[str]) -> tuple[dict[str, Any], str]:
    """Return the keywords of a capture and where to write. Raises UsageError."""
    wishes: dict[str, Any] = {}
    targets: list[str] = []
    todo = list(arguments)
    while todo:
        word = todo.pop(0)
        name, equals, value = word.partition("=")
        if word == "--extended":
            wishes["detail"] = "full"
        elif name == "--execution-context":
            if not equals and not todo:
                raise UsageError("--execution-context needs a value")
            wishes["probe_invocation"] = value if equals else todo.pop(0)
        elif word == "--":
            targets += todo
            break
        elif word.startswith("-") and word != "-":
            raise UsageError(f"unknown option {word}")
        else:
            targets.append(word)
    if wishes.get("probe_invocation", INVOCATIONS[0]) not in INVOCATIONS:
        raise UsageError(
            f"--execution-context is {wishes['probe_invocation']!r}: one of {', '.join(INVOCATIONS)}"
        )
    if len(targets) > 1 or "" in targets:
        raise UsageError("one file at most, and not an empty name")
    return wishes, targets[0] if targets else "-"


def _probe(target: str, wishes: dict[str, Any]) -> int:
    from aorta.instrumentation.environment import capture, deadline_from_environment, live_host
    from aorta.instrumentation.notice import execution_notice
    from aorta.instrumentation.switch import sudo_from_environment
    from aorta.instrumentation.write import check_writable, told, write_atomically
    from aorta.model.codec import dump, to_json

    try:
        deadline_s = deadline_from_environment(DEADLINE_S)
        wishes["sudo"] = sudo_from_environment()
    except ValueError as error:
        _say(str(error))
        return 2
    to_stdout = target in ("-", "/dev/stdout")
    host = live_host(deadline_s)
    with Stdout() as out:
        try:
            if not to_stdout:
                check_writable(target)
            document = dump(
                capture(host=host, deadline_s=deadline_s, spent_s=age(), import_strategy="child", **wishes)
            )
            for line in execution_notice(document, host.env):
                _say(line)
            if to_stdout:
                out.write(to_json(document))
            else:
                write_atomically(target, to_json(document), force=True)
        except BrokenPipeError:
            return 1
        except OSError as error:
            _say(told(error, "standard output" if to_stdout else target))
            return 1
        except Stopped:
            host.close()
            raise
        except Exception as error:
            raise_if_stopped()
            if os.environ.get("AORTA_DEBUG"):
                raise
            _say(f"internal error: {type(error).__name__}: {error} (AORTA_DEBUG=1 shows where)")
            return 1
    return 0


def _say(text: str) -> None:
    say(f"aorta: {text}")


if __name__ == "__main__":
    main()
