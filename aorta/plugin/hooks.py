"""The hooks of aorta, as pluggy specifications.

The orchestrator calls implementations one by one, never through pluggy's own call: that one loses
every result when a single implementation raises.
"""

from typing import TYPE_CHECKING, Any

import pluggy

from aorta.plugin.declare import PROJECT

if TYPE_CHECKING:
    from aorta.collect.context import Context

hookspec = pluggy.HookspecMarker(PROJECT)


@hookspec
def aorta_collect(ctx: "Context") -> Any:
    """Make one section of the document. Written as a function under ``@collector``.

    :param ctx: what the machine can be asked through, and what the caller asked for.
    """


@hookspec
def aorta_provide(ctx: "Context") -> Any:
    """Make a value that several collectors need. Written as a function under ``@provider``.

    :param ctx: what the machine can be asked through, and what the caller asked for.
    """


@hookspec
def aorta_buck_libraries() -> Any:
    """Return further libraries of Buck graphs. Written as a function under ``@buck_libraries``.

    A mapping of names to regular expressions, each looked for in a label ``cell//package:name``.
    """


@hookspec
def aorta_env_names() -> Any:
    """Return further environment variables to show. Written as a function under ``@env_names``.

    A list of names; one that ends in ``*`` stands for all set variables that begin so.
    """
