"""The rules for each workload's snapshot: whether it identifies what the process ran on."""

import re
from collections.abc import Iterator

from aorta.model.text import listed
from aorta.model.vocabulary import WORKLOADS
from aorta.validate.client import MAJORS, OLDEST, version_told
from aorta.validate.document import Document
from aorta.validate.finding import ERROR, WARNING, Said, rule
from aorta.validate.libraries import LIBRARIES, SECTIONS, identified, lacking, meaningless, values
from aorta.validate.options import Options
from aorta.validate.reasons import kind_of, quoted, why
from aorta.validate.value import MISSING, known, plain, shown, told

INSIDE = "capture inside of the workload's process"
DECLARE = (
    "declare buck2_run or buck2_action when it is captured: --execution-context, AORTA_PROBE_INVOCATION or"
    " probe_invocation= of the call"
)


@rule("workload.schema", ERROR, "`schema_version` is one of 1.x or 2.x")
def schema(workload: Document, _: Options) -> Iterator[Said]:
    """Of another major version no value can be read with certainty."""
    if workload.version is None or workload.version[0] not in MAJORS:
        yield Said(version_told(workload))


@rule("workload.schema_old", WARNING, "`schema_version` is 1.13 or later")
def schema_old(workload: Document, _: Options) -> Iterator[Said]:
    """No rule of the workload needs more than 1.11 says, so an older one is judged by what it holds."""
    version = workload.version
    if version is not None and version[0] == 1 and version < OLDEST:
        yield Said(f"schema version 1.{version[1]} is older than 1.13: what it lacks was not looked for")


@rule("workload.structure", ERROR, "a capture (it says `captured_at`) has the sections of all libraries")
def structure(workload: Document, _: Options) -> Iterator[Said]:
    """Every version has them, so a document without was cut. An extract is judged by what it holds."""
    gone = [section for section in SECTIONS if workload.at(section) is MISSING]
    whole = workload.captured and workload.version is not None and workload.version > (1, 0)
    if whole and gone:
        yield Said(
            f"structure: missing {listed(gone, 12)}, which every snapshot has",
            "give the file as it was captured",
        )


@rule("workload.python_version", ERROR, "`python_version` is known")
def python_version(workload: Document, _: Options) -> Iterator[Said]:
    """No capture in a Python process is without it."""
    value = workload.at("python_version")
    if not (isinstance(value, str) and known(value)):
        yield Said(f"python_version {told(value)}")


@rule("workload.pytorch_version", WARNING, "`pytorch_version` is known")
def pytorch_version(workload: Document, _: Options) -> Iterator[Said]:
    """The process's torch."""
    value = workload.at("pytorch_version")
    if not (isinstance(value, str) and known(value)):
        yield Said(f"pytorch_version {told(value)}", INSIDE)


@rule("workload.git_commit", WARNING, "`pytorch_build.git_commit` is known")
def git_commit(workload: Document, _: Options) -> Iterator[Said]:
    """A version names a release, a commit what was built."""
    value = workload.at("pytorch_build", "git_commit")
    if not (isinstance(value, str) and known(value)):
        yield Said(f"pytorch_build.git_commit {told(value)}")


@rule(
    "workload.rocm",
    WARNING,
    "`rocm.version`, `hip.version` or `pytorch_build.hip_version` is known, and torch is built for ROCm",
)
def rocm(workload: Document, _: Options) -> Iterator[Said]:
    """One of them tells ROCm. What is installed says nothing of a torch that is built without it."""
    if not identified(workload, LIBRARIES["rocm"]):
        yield Said(f"ROCm is not identified: {lacking(workload, LIBRARIES['rocm'])}")
    elif word := _without_rocm(workload):
        yield Said(f"torch is no ROCm build ({word}): a ROCm is installed, but the process's torch uses none")


def _without_rocm(workload: Document) -> str:
    """Return the word by which torch says that it is built for CPUs or CUDA; an empty text if it does not."""
    version, hip, cuda = (
        workload.at(*path.split("."))
        for path in ("pytorch_version", "pytorch_build.hip_version", "pytorch_build.cuda_version")
    )
    if hip is not None or not (isinstance(version, str) and known(version)):
        return ""
    if re.search(r"\+(?:cpu|cu[0-9]{2,4})\b", version[:200]):
        return f"pytorch_version {told(version)}"
    if isinstance(cuda, str) and known(cuda):
        return f"pytorch_build.cuda_version {told(cuda)}"
    if kind_of(workload, "pytorch_build", "hip_version") == "absent":
        return f"pytorch_build.hip_version is null: {why(workload, 'pytorch_build', 'hip_version')}"
    return ""


@rule("workload.gfx_targets", WARNING, "`gpu_arch.gfx_targets` is known")
def gfx_targets(workload: Document, _: Options) -> Iterator[Said]:
    """The process had a GPU."""
    value = workload.at("gpu_arch", "gfx_targets")
    if not (isinstance(value, list) and known(value)):
        wrong = f"is {shown(value)}: a wrong type" if isinstance(value, str) and known(value) else told(value)
        yield Said(f"gpu_arch.gfx_targets {wrong}: no GPU was seen")


@rule("workload.invocation", ERROR, "`execution_context.probe_invocation` is `buck2_run` or `buck2_action`")
def invocation(workload: Document, _: Options) -> Iterator[Said]:
    """Who captured said that it was a workload of Buck2."""
    value = workload.at("execution_context", "probe_invocation")
    if not (isinstance(value, str) and value in WORKLOADS):
        old = workload.version is not None and workload.version < (1, 11)
        reason = why(workload, "execution_context", "probe_invocation")
        text = f"execution_context.probe_invocation {told(value)}: not declared as a workload of Buck2"
        yield Said(
            quoted(text, reason),
            "it came with schema 1.11: capture with a newer aorta" if old else DECLARE,
            quotes=("execution_context.probe_invocation",) if reason else (),
        )


@rule(
    "workload.isolation",
    ERROR,
    "with `buck2_action`, `container_detected` is true, the boolean (unless `--allow-unisolated-action`)",
)
def isolation(workload: Document, options: Options) -> Iterator[Said]:
    """An action of a remote worker runs isolated; a file that shows none may be of the client's host."""
    value = workload.at("container_detected")
    declared = workload.at("execution_context", "probe_invocation") == "buck2_action"
    if declared and value is not True and not options.unisolated:
        wrong = "" if value is None or value is MISSING or value is False else ": a wrong type"
        yield Said(
            f"declared buck2_action, but no isolation was seen: container_detected is {shown(value)}{wrong}",
            "if the worker is known to isolate nothing: --allow-unisolated-action",
        )


@rule(
    "workload.private_mounts",
    WARNING,
    "with `buck2_action`, more than a private mount namespace was seen: `isolation.container` is not false",
)
def private_mounts(workload: Document, options: Options) -> Iterator[Said]:
    """A private /tmp of a service or of Slurm on the client's host makes such a namespace too."""
    declared = workload.at("execution_context", "probe_invocation") == "buck2_action"
    seen = workload.at("isolation", "private_mounts") is True and workload.at("container_detected") is True
    if declared and seen and workload.at("isolation", "container") is False and not options.unisolated:
        text = "declared buck2_action, but all isolation seen is private mounts: isolation.container is false"
        yield Said(text, "a service's private /tmp on the client's host looks the same")


@rule(
    "workload.library",
    ERROR,
    "each `--require-library NAME` of which documents have a section is identified by the workload",
)
def library(workload: Document, options: Options) -> Iterator[Said]:
    """An explicit requirement is met by an identity, not by a field that is there and says nothing."""
    for name in options.libraries:
        known_as = LIBRARIES.get(name)
        if known_as is not None and not identified(workload, known_as):
            yield Said(f"required library {plain(name)} has no identity: {lacking(workload, known_as)}")


@rule(
    "workload.libraries",
    WARNING,
    "hipBLASLt, rocBLAS, MIOpen and RCCL are identified (if they are not required)",
)
def libraries(workload: Document, options: Options) -> Iterator[Said]:
    """One line for all of them, each with its own words; a section that is missing is another rule's."""
    said, null = [], []
    for one in LIBRARIES.values():
        section = one.sections[0]
        asked = one.expected and one.name not in options.libraries and workload.at(section) is not MISSING
        if asked and not identified(workload, one):
            whole = isinstance(workload.at(section), dict)
            if whole and all(value is None for value in values(workload, one).values()):
                null.append(one.name)
            else:
                said.append(f"{one.name}: {lacking(workload, one)}")
    if null:
        said.insert(0, f"{listed(null)}: all that identifies {'it' if len(null) == 1 else 'them'} is null")
    if said:
        yield Said(f"no identity of {'; '.join(said)}")


@rule("workload.placeholder", WARNING, "no field that identifies a library holds a text that says nothing")
def placeholder(workload: Document, options: Options) -> Iterator[Said]:
    """No capture of aorta writes such a text. Where a library has no identity at all, other rules say so."""
    said: list[str] = []
    for one in LIBRARIES.values():
        judged = one.expected or one.name in (*options.libraries, "pytorch", "rocm")
        if not judged or identified(workload, one):
            said.extend(meaningless(workload, one))
    if said:
        yield Said(f"says nothing: {listed(said)}")


RULES = (
    schema,
    schema_old,
    structure,
    python_version,
    pytorch_version,
    git_commit,
    rocm,
    gfx_targets,
    invocation,
    isolation,
    private_mounts,
    library,
    libraries,
    placeholder,
)
