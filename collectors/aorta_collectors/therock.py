"""What TheRock's own manifest says of the ROCm build under the root."""

from typing import Annotated

from aorta.collect import Answer, Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope, Word
from aorta.plugin import collector
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.tree.manifest import Manifest, Submodule, read_manifest

GEMM_LIBRARIES = "rocm-libraries"


class ManifestStatus(Word):
    """Whether there is a manifest."""

    PRESENT = "present"
    ABSENT = "absent"
    INVALID = "invalid"
    UNKNOWN = "unknown"


@frozen
class TheRock:
    """The manifest of a TheRock build; all but the status is null for other kinds of ROCm."""

    status: Annotated[
        ManifestStatus | None,
        Fact(
            "present, absent, invalid (there, but a dangling link or no JSON object) or unknown (not seen).",
            always=True,
        ),
    ] = None
    manifest_path: Annotated[str | None, Fact("Path of the manifest, or of what stands in its place.")] = None
    rocm_version: Annotated[str | None, Fact("Base version, e.g. 10.1.0.")] = None
    rocm_package_version: Annotated[str | None, Fact("Version of the packages, e.g. 10.1.0a20260811.")] = None
    the_rock_commit: Annotated[str | None, Fact("Commit of TheRock; null in a build outside git.")] = None
    github_run_id: Annotated[str | None, Fact("Workflow run that built it, as text.")] = None
    github_job: Annotated[str | None, Fact("Job of that run.")] = None
    gemm_libraries_commit: Annotated[
        str | None, Fact("Pin of rocm-libraries, which holds hipBLASLt, rocBLAS and MIOpen.")
    ] = None
    submodules: Annotated[
        tuple[Submodule, ...] | None, Fact("Source trees of the build with their pins.")
    ] = None


@collector(
    section="therock",
    model=TheRock,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots,),
    timeout_s=10,
)
def collect(ctx: Context) -> TheRock:
    """TheRock build manifest: versions, commits and pins."""
    roots = ctx.need(RocmRoots)
    answer = roots.unseen or read_manifest(ctx, roots.prefixes)
    manifest = ctx.take(answer, "")
    if manifest is None:
        status = _status(answer)
        return TheRock(
            status=status, manifest_path=answer.subject if status is ManifestStatus.INVALID else None
        )
    _note_pins(ctx, manifest, answer.subject)
    pins = [submodule.pin_sha for submodule in manifest.submodules if submodule.name == GEMM_LIBRARIES]
    return TheRock(
        status=ManifestStatus.PRESENT,
        manifest_path=answer.subject,
        rocm_version=manifest.rocm_version,
        rocm_package_version=manifest.rocm_package_version,
        the_rock_commit=manifest.the_rock_commit,
        github_run_id=manifest.github_run_id,
        github_job=manifest.github_job,
        gemm_libraries_commit=pins[0] if pins else None,
        submodules=manifest.submodules,
    )


def _status(answer: Answer[Manifest]) -> ManifestStatus:
    if answer.absent:
        return ManifestStatus.ABSENT
    seen = answer.kind in (ReasonKind.UNPARSED, ReasonKind.EXPECTED)
    return ManifestStatus.INVALID if seen else ManifestStatus.UNKNOWN


def _note_pins(ctx: Context, manifest: Manifest, path: str | None) -> None:
    if manifest.odd:
        text = f"{manifest.odd} entries of the manifest's submodules have no name or no full commit"
        ctx.note(ReasonKind.UNPARSED, "submodules", text, subject=path)
    if manifest.unpinned:
        text = f"{manifest.unpinned} submodules have a null pin: built outside git"
        ctx.note(ReasonKind.ABSENT, "submodules", text, subject=path)
    for name in ("rocm_version", "rocm_package_version", "the_rock_commit", "github_run_id", "github_job"):
        if getattr(manifest, name) is None:
            ctx.note(ReasonKind.ABSENT, name, f"the manifest has no {name}", subject=path)
    if not any(submodule.name == GEMM_LIBRARIES for submodule in manifest.submodules):
        ctx.note(ReasonKind.ABSENT, "gemm_libraries_commit", f"no {GEMM_LIBRARIES} in it", subject=path)
