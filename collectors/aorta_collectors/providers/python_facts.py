"""The running interpreter: which one, in what kind of environment, and where its torch lies.

``conda-meta`` under the prefix makes a conda environment, a prefix unlike the base prefix a venv.
Variables never decide: schedulers and shells hand on those of another environment.
"""

import posixpath

from aorta.collect import Context
from aorta.model.frozen import evolve, frozen
from aorta.model.vocabulary import ReasonKind, Scope
from aorta.plugin import provider
from aorta_collectors.observations import mapping, text
from aorta_collectors.providers.gap import Gap

CONDA, VENV, SYSTEM = "conda", "venv", "system"
#: What directories are called that packages are installed into.
SITES = ("site-packages", "dist-packages")
NAME_VARIABLE = "CONDA_DEFAULT_ENV"
PREFIX_VARIABLE = "CONDA_PREFIX"


@frozen
class PythonFacts:
    """What the interpreter says of itself, and what lies around it; nothing is imported.

    ``env`` is conda, venv or system, null with ``gap`` when it could not be told. ``conda_prefix`` is
    the conda environment that the interpreter comes from (a venv's base may be one). ``stale_conda``
    is the value of CONDA_DEFAULT_ENV where it names another environment than the interpreter's.
    """

    version: str | None = None
    implementation: str | None = None
    executable: str | None = None
    prefix: str | None = None
    base_prefix: str | None = None
    path: tuple[str, ...] = ()
    env: str | None = None
    venv_path: str | None = None
    conda_env_name: str | None = None
    conda_prefix: str | None = None
    stale_conda: str | None = None
    gap: Gap | None = None

    @property
    def sites(self) -> tuple[str, ...]:
        """Return the directories of the search path that packages are installed into."""
        return tuple(entry for entry in self.path if entry.endswith(SITES))


@provider(model=PythonFacts, scope=Scope.NAMESPACE, timeout_s=10)
def provide(ctx: Context) -> PythonFacts:
    """Interpreter and its environment."""
    said = mapping(ctx, "interpreter")
    if said.value is None:
        gap = Gap.of(said, "interpreter")
        # A running interpreter always tells.
        gap = evolve(gap, kind=ReasonKind.FAILED) if gap.kind is ReasonKind.UNSUPPORTED else gap
        return PythonFacts(gap=gap)
    path = said.value.get("path")
    facts = PythonFacts(
        version=text(said, "version"),
        implementation=text(said, "implementation"),
        executable=text(said, "executable"),
        prefix=text(said, "prefix"),
        base_prefix=text(said, "base_prefix"),
        path=tuple(entry for entry in path if isinstance(entry, str)) if isinstance(path, list) else (),
    )
    return _placed(ctx, facts)


def _placed(ctx: Context, facts: PythonFacts) -> PythonFacts:
    """Return the facts with the kind of environment and its names."""
    if facts.prefix is None or facts.base_prefix is None:
        gap = Gap(kind=ReasonKind.FAILED, subject="interpreter", detail="the interpreter told no prefix")
        return evolve(facts, gap=gap)
    meta = ctx.stat(posixpath.join(facts.base_prefix, "conda-meta"))
    conda_prefix = facts.base_prefix if meta.ok else None
    named, named_prefix = ctx.env(NAME_VARIABLE) or None, ctx.env(PREFIX_VARIABLE) or None
    if facts.prefix != facts.base_prefix:
        stale = named if conda_prefix is None or named_prefix not in (None, conda_prefix) else None
        return evolve(facts, env=VENV, venv_path=facts.prefix, conda_prefix=conda_prefix, stale_conda=stale)
    if conda_prefix is not None:
        name = _conda_name(ctx, conda_prefix, named, named_prefix)
        stale = named if named not in (name, conda_prefix) else None
        return evolve(facts, env=CONDA, conda_env_name=name, conda_prefix=conda_prefix, stale_conda=stale)
    if not meta.absent:
        return evolve(facts, gap=Gap.of(meta, "conda-meta"), stale_conda=named)
    return evolve(facts, env=SYSTEM, stale_conda=named)


def _conda_name(ctx: Context, prefix: str, named: str | None, named_prefix: str | None) -> str:
    """Return conda's own name of the environment: its path where it has no other."""
    parent, name = posixpath.split(prefix.rstrip("/"))
    if posixpath.basename(parent) == "envs":
        return name
    if named is not None and named_prefix == prefix:
        return named
    return "base" if ctx.stat(posixpath.join(prefix, "condabin")).ok else prefix
