"""The named container runtime and the kind of Python environment."""

from typing import Annotated, Literal

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind
from aorta.plugin import collector
from aorta_collectors.providers.isolation_evidence import IsolationEvidence
from aorta_collectors.providers.python_facts import NAME_VARIABLE, PythonFacts

_TYPES: dict[str, Literal["docker", "podman", "singularity"]] = {
    "docker": "docker",
    "podman": "podman",
    "singularity": "singularity",
    "apptainer": "singularity",
}


@frozen
class RuntimeContext:
    """What kind of place the interpreter runs in."""

    type: Annotated[
        Literal["docker", "podman", "singularity", "baremetal"] | None,
        Fact(
            "docker, podman, singularity (Apptainer too), or baremetal where none of these was seen.",
            caveat="Any other container is baremetal here: see isolation.runtime.",
            provenance=(Provenance.PROCESS, Provenance.FILESYSTEM),
        ),
    ] = None
    python_env: Annotated[
        Literal["conda", "venv", "system"] | None,
        Fact("The interpreter's own environment, whatever the variables of the shell say."),
    ] = None
    venv_path: Annotated[str | None, Fact("Prefix of the venv.")] = None
    conda_env_name: Annotated[
        str | None, Fact("Name of the conda environment; its path where it has no other name.")
    ] = None
    conda_prefix: Annotated[
        str | None, Fact("Conda environment that the interpreter comes from; a venv can be made from one.")
    ] = None


@collector(
    section="runtime_context",
    model=RuntimeContext,
    provenance=Provenance.PROCESS,
    needs=(IsolationEvidence, PythonFacts),
    timeout_s=5,
)
def collect(ctx: Context) -> RuntimeContext:
    """Named container runtime and Python environment."""
    python = ctx.need(PythonFacts)
    if python.gap is not None:
        python.gap.note(ctx, "python_env")
    if python.stale_conda is not None:
        ctx.note(
            ReasonKind.ABSENT,
            "conda_env_name",
            f"{NAME_VARIABLE} is {python.stale_conda!r}, which is not the environment of the interpreter",
            subject=NAME_VARIABLE,
        )
    return RuntimeContext(
        type=_type(ctx),
        python_env=python.env,  # type: ignore[arg-type]
        venv_path=python.venv_path,
        conda_env_name=python.conda_env_name,
        conda_prefix=python.conda_prefix,
    )


def _type(ctx: Context) -> Literal["docker", "podman", "singularity", "baremetal"] | None:
    evidence = ctx.need(IsolationEvidence)
    if evidence.container_gap is not None:
        evidence.container_gap.note(ctx, "type")
        return None
    return _TYPES.get(evidence.runtime, "baremetal")
