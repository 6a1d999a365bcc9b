"""Options that ``probe`` and ``record`` share, and running a capture under them."""

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aorta.cli.buck_options import BUCK_OPTIONS, longer
from aorta.cli.errors import Failure, Misuse
from aorta.cli.words import Seconds, SectionSeconds
from aorta.instrumentation.process import say
from aorta.instrumentation.switch import sudo_from_environment
from aorta.model.vocabulary import METHODS

if TYPE_CHECKING:
    from aorta.host.protocol import Host, Stat
    from aorta.model.snapshot import PluginRecord, Snapshot
    from aorta.plugin.registry import Registry

Command = TypeVar("Command", bound=Callable[..., Any])

#: Seconds that a capture from the command line may take.
DEADLINE_S = 120.0

ANY_EXECUTE = 0o111


class Program(click.ParamType):  # type: ignore[type-arg]
    """A program, by its path or by its name on PATH."""

    name = "program"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        """Return the absolute path; links stay, since a virtual environment is known by its own."""
        from aorta.instrumentation.environment import live_host

        # It may lie on a file system that hangs, which the host knows how to ask.
        host = live_host()
        try:
            return _program(value, host.stat)
        finally:
            host.close()


def _program(name: str, stat: Callable[[str], "Stat"]) -> str:
    """Return the absolute path of a program. Raises Misuse for what is not there, or is none."""
    why = "there is no such program"
    folders = os.environ.get("PATH", os.defpath).split(":") if name else []
    for place in [name] if "/" in name else [f"{folder}/{name}" for folder in folders if folder]:
        path = place if place.startswith("/") else f"{os.getcwd()}/{place.removeprefix('./')}"
        try:
            found = stat(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            why = error.strerror or str(error)
            continue
        if found.kind == "file" and found.mode & ANY_EXECUTE:
            return path
        why = f"a directory{_inside(path, stat)}" if found.kind == "dir" else "it may not be executed"
    raise Misuse(f"--python {name}: {why}")


def _inside(folder: str, stat: Callable[[str], "Stat"]) -> str:
    """Return the hint for the directory of an environment."""
    path = f"{folder.rstrip('/')}/bin/python"
    with contextlib.suppress(OSError):
        if stat(path).kind == "file":
            return f"; try --python {path}"
    return ""


_SHARED = (
    click.option("--extended", is_flag=True, help="All detail: also what is large, such as per-file lists."),
    click.option(
        "--timeout",
        "timeouts",
        multiple=True,
        type=SectionSeconds(),
        metavar="SECTION=S",
        help="The deadline of one section or provider in seconds; may be repeated.",
    ),
    click.option(
        "--deadline",
        type=Seconds(),
        metavar="S",
        envvar="AORTA_DEADLINE_S",
        show_envvar=True,
        help=f"The limit of the whole capture in seconds.  [default: {DEADLINE_S:g}; more for Buck]",
    ),
    click.option(
        "--digests",
        type=click.Choice(METHODS),
        help="How kernel catalogs are hashed: their whole content, name, size and both ends, or not at all."
        "  [default: full; identity on network file systems]",
    ),
    click.option(
        "--python",
        type=Program(),
        metavar="EXE",
        help="Another Python (3.8 or later), e.g. the workload's: its torch and packages are looked at.",
    ),
    click.option(
        "--no-import-torch",
        is_flag=True,
        help="Do not import torch, not even in a process of its own; what its files say is told.",
    ),
    click.option("--sudo", is_flag=True, help="Allow privileged commands, by sudo -n. [env: AORTA_SUDO=1]"),
    click.option(
        "--plugin",
        "plugins",
        multiple=True,
        metavar="MODULE",
        help="A module with further collectors; may be repeated.",
    ),
    *BUCK_OPTIONS,
    click.option(
        "--no-plugins",
        is_flag=True,
        help="Leave out all plugins: those of AORTA_PLUGINS and those that are installed.",
    ),
    click.option(
        "--progress/--quiet",
        default=None,
        help="Say on standard error what is going on; by default on a terminal only.",
    ),
)


def capture_options(command: Command) -> Command:
    """Add the options that every capturing command has."""
    for option in reversed(_SHARED):
        command = option(command)
    return command


def discovered(asked: Mapping[str, Any]) -> "Registry":
    """Return the registry; a line on standard error for each plugin that was found and cannot be used.

    Raises Failure for one that was named here, Misuse for one beside ``--no-plugins``.
    """
    from aorta.plugin.discovery import discover

    plugins, quiet = asked["plugins"], asked["progress"] is False
    if asked["no_plugins"] and plugins:
        raise Misuse(f"--plugin {plugins[0]} and --no-plugins: only one of them")
    registry = discover(plugins, outside=not asked["no_plugins"], limit_s=deadline_of(asked) / 3)
    for name in registry.idle if not quiet else ():
        say(f"aorta: no:{name} leaves nothing out: no plugin and no section is called so")
    for record in registry.plugins:
        if record.status != "failed":
            continue
        if record.source == "argument":
            raise Failure(f"--plugin {record.name}: {_for_a_file(record.name) or record.detail}")
        if not quiet:
            say(f"aorta: {_left_out(record)}")
    return registry


def _for_a_file(name: str) -> str:
    """Return what to say when a file was named in place of a module, an empty text otherwise."""
    folder, file = os.path.split(name)
    if not folder and not file.endswith(".py"):
        return ""
    module = file.removesuffix(".py")
    return f"a file, not the name of a module; try: PYTHONPATH={folder or '.'} aorta … --plugin {module}"


def _left_out(record: "PluginRecord") -> str:
    return f"the plugin {record.name} is left out: {record.detail}"


def deadline_of(asked: Mapping[str, Any]) -> float:
    """Return the limit of the whole capture in seconds."""
    limit: float | None = asked["deadline"]
    return longer(DEADLINE_S, asked) if limit is None else limit


def live(asked: Mapping[str, Any]) -> "Host":
    """Return this machine as the options want it looked at. Raises Misuse for a Python that is none."""
    from aorta.instrumentation.environment import live_host

    program = asked["python"]
    host = live_host(deadline_of(asked), program)
    if program is not None:
        try:
            host.observe("interpreter", lambda: None)
        except OSError as error:
            host.close()
            raise Misuse(f"--python {program}: {error.strerror}") from None
    return host


def torch_wishes(asked: Mapping[str, Any], host: "Host") -> dict[str, Any]:
    """Return the keywords of a capture that concern torch."""
    program = asked["python"] if host.kind == "live" else None
    return {"import_strategy": "child", "import_torch": not asked["no_import_torch"], "python": program}


def captured(registry: "Registry", host: "Host", *, progress: bool | None, **wishes: Any) -> "Snapshot":
    """Run a capture on a host, which is closed whatever happens."""
    from aorta.cli.progress import Progress
    from aorta.instrumentation.environment import UnknownSectionError, capture
    from aorta.instrumentation.process import age

    watch = Progress.of(progress)
    # A process that is old by now spent its time on finding plugins.
    spent = max(age(), registry.took_s)
    try:
        return capture(registry=registry, host=host, started=watch.start, spent_s=spent, **wishes)
    except UnknownSectionError as error:
        failed = [
            _left_out(record)
            for record in registry.plugins
            if record.status == "failed" or (record.status == "blocked" and record.source != "builtin")
        ]
        raise Misuse("; ".join([str(error), *failed])) from None
    finally:
        watch.stop()
        # Once more: a signal may have come while the capture closed it.
        host.close()


def allows_sudo(*, sudo: bool) -> bool:
    """Tell whether privileged commands may run. Raises Misuse for an ``AORTA_SUDO`` that is no yes or no."""
    try:
        return sudo_from_environment() or sudo
    except ValueError as error:
        raise Misuse(str(error)) from None
