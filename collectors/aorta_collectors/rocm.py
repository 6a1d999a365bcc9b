"""Which ROCm is installed under the resolved root, and which others there are."""

import posixpath
from collections.abc import Iterator
from typing import Annotated, TypeVar

from aorta.collect import Answer, Context, parsed
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.gpu.kernel_module import module_version
from aorta_collectors.kernel_files import believed
from aorta_collectors.providers.rocm_roots import NONE, RocmRoots, RocmStack
from aorta_collectors.tree.headers import first_header
from aorta_collectors.tree.headers import version as header_version
from aorta_collectors.tree.layout import version_of
from aorta_collectors.tree.manifest import read_manifest
from aorta_collectors.tree.versions import (
    parse_assignments,
    parse_rocm_version,
    parse_torch_version,
    split_build,
)

T = TypeVar("T")

HEADERS = ("rocm-core/rocm_version.h", "rocm/rocm_version.h", "rocm_version.h")
PIP_NAMES = ("rocm", "rocm-sdk-core")
DRIVER = "/sys/module/amdgpu"


@frozen
class RocmCandidate:
    """One ROCm on this machine."""

    root: Annotated[str | None, Fact("Real path of the tree; null where only pip metadata speaks of it.")] = (
        None
    )
    version: Annotated[str | None, Fact("What its own version marker says, as it stands.")] = None
    via: Annotated[
        str | None,
        Fact("What led to it: a variable, opt_rocm, scan:DIR, a module, pip metadata, a tool's name, torch."),
    ] = None


@frozen
class Rocm:
    """The ROCm stack that this process would find, and where that was read."""

    version: Annotated[
        str | None,
        Fact(
            "ROCm release as its source writes it, e.g. 6.2.0-66, 7.2.0 or 10.1.0a20260811.",
            caveat="Installed, not loaded. HIP and the libraries have numbers of their own.",
        ),
    ] = None
    version_source: Annotated[
        str | None,
        Fact(
            "version_file, therock_manifest, header, pip:rocm, pip:rocm-sdk-core or torch.",
            caveat="torch is what torch was built for, said only when nothing of the root speaks.",
        ),
    ] = None
    version_path: Annotated[str | None, Fact("The file or distribution that said it.")] = None
    version_release: Annotated[
        str | None, Fact("The version without a build number, for comparing: 6.2.0 of 6.2.0-66.")
    ] = None
    version_build: Annotated[str | None, Fact("The build number, 66 of 6.2.0-66, also from version_dev.")] = (
        None
    )
    version_dev: Annotated[
        str | None,
        Fact("Text of .info/version-dev, else the manifest's rocm_package_version; often not there."),
    ] = None
    kmd_version: Annotated[
        str | None,
        Fact(
            "Version of the loaded amdgpu module; one built into a kernel tree declares none.",
            caveat="The host's, whatever the container holds.",
            provenance=(Provenance.HOST_KERNEL,),
        ),
    ] = None
    root: Annotated[
        str | None,
        Fact("ROCm root, links not resolved; /opt/rocm where there is none, null where none could be seen."),
    ] = None
    root_resolved: Annotated[str | None, Fact("Real path of the root.")] = None
    lib_root: Annotated[str | None, Fact("Root of the math libraries.")] = None
    include_root: Annotated[str | None, Fact("Root of the headers.")] = None
    lib_roots: Annotated[
        tuple[str, ...] | None,
        Fact("All packages that may hold math libraries, one a GPU family for wheels."),
    ] = None
    root_source: Annotated[
        str | None,
        Fact(
            "ROCM_PATH, ROCM_HOME, opt_rocm, import:_rocm_sdk_core, pip:rocm-sdk-core, tool:NAME (the tree"
            " behind a tool on PATH), distribution, opt_rocm_versioned (the only /opt/rocm-*), none or"
            " unknown (none was found, and not all could be seen).",
            always=True,
        ),
    ] = None
    layout: Annotated[
        str | None,
        Fact("classic, native (TheRock packages), wheel, distribution, none or unknown.", always=True),
    ] = None
    opt_rocm_target: Annotated[
        str | None, Fact("Where a link at /opt/rocm leads, though nothing be there.")
    ] = None
    other_roots: Annotated[
        tuple[str, ...] | None, Fact("Real paths of the ROCm trees that are not the root.")
    ] = None
    candidates: Annotated[
        tuple[RocmCandidate, ...] | None,
        Fact("Every ROCm stack that was found, the chosen one first; empty: positively none."),
    ] = None
    version_metadata: Annotated[
        tuple[str, ...] | None,
        Fact(
            "dist-info directories of the distribution that gave the version; more than one is a stale copy."
        ),
    ] = None


@frozen
class Version:
    """One statement of the version."""

    text: str
    source: str
    path: str | None = None
    metadata: tuple[str, ...] | None = None


@collector(
    section="rocm",
    model=Rocm,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots,),
    timeout_s=15,
)
def collect(ctx: Context) -> Rocm:
    """ROCm release, roots and other ROCm stacks on the machine."""
    roots = ctx.need(RocmRoots)
    for trouble in roots.troubles:
        ctx.note(trouble.kind, "root", trouble.text, subject=trouble.path)
    if roots.unseen is not None:
        ctx.take(roots.unseen, "lib_root")
        ctx.take(roots.unseen, "include_root")
    version = _version(ctx, roots)
    dev = _version_dev(ctx, roots)
    release, build = split_build(version.text) if version else (None, None)
    dev_release, dev_build = split_build(dev) if dev else (None, None)
    return Rocm(
        version=version.text if version else None,
        version_source=version.source if version else None,
        version_path=version.path if version else None,
        version_release=release,
        version_build=build or (dev_build if release == dev_release else None),
        version_dev=dev,
        kmd_version=_kmd_version(ctx),
        root=None if roots.unseen else roots.root,
        root_resolved=roots.resolved,
        lib_root=None if roots.unseen else roots.lib_root,
        include_root=None if roots.unseen else roots.include_root,
        lib_roots=roots.lib_roots if roots.found else None,
        root_source=roots.root_source,
        layout=roots.layout,
        opt_rocm_target=roots.opt_rocm_target,
        other_roots=_all(ctx, roots, "other_roots", _other_roots(roots)),
        candidates=_all(ctx, roots, "candidates", tuple(map(_candidate, roots.candidates))),
        version_metadata=version.metadata if version else None,
    )


def _candidate(stack: RocmStack) -> RocmCandidate:
    return RocmCandidate(root=stack.root, version=stack.version, via=stack.via)


def _other_roots(roots: RocmRoots) -> tuple[str, ...]:
    chosen = (None, roots.root, roots.resolved)
    others = [stack.root for stack in roots.candidates if stack.root not in chosen and stack.via != "torch"]
    return tuple(sorted(root for root in others if root))


def _all(ctx: Context, roots: RocmRoots, field: str, found: tuple[T, ...]) -> tuple[T, ...] | None:
    """Return what was found, None where that is nothing because not all could be seen."""
    if roots.hidden is not None:
        ctx.take(roots.hidden, field)
    return None if roots.hidden is not None and not found else found


def _version(ctx: Context, roots: RocmRoots) -> Version | None:
    """Ask the root's own files first, then what pip and torch say of a root that is silent."""
    blind = False
    for source, answer in _own(ctx, roots):
        if answer.value is not None:
            return Version(text=answer.value, source=source, path=answer.subject)
        if not answer.absent:
            ctx.take(answer, "version")
            blind = blind or answer.kind is not ReasonKind.UNPARSED
            if answer.kind is ReasonKind.TIMED_OUT:
                break
    unseen = roots.unseen
    borrowed = None if blind or unseen or roots.layout == "distribution" else _borrowed(ctx)
    if borrowed is None and not blind:
        plain = ReasonKind.UNSUPPORTED if roots.layout == "distribution" else ReasonKind.ABSENT
        kinds = [trouble.kind for trouble in roots.troubles if not roots.found]
        kind = unseen.kind if unseen else kinds[0] if kinds else plain
        ctx.note(kind or plain, "version", _silence(roots), subject=unseen.subject if unseen else roots.root)
    elif borrowed is not None and roots.layout not in ("wheel", NONE):
        told = f"{_silence(roots)}; the version is what {borrowed.source} says"
        ctx.note(ReasonKind.ABSENT, "version", told, subject=roots.root)
    return borrowed


def _silence(roots: RocmRoots) -> str:
    if roots.layout == "distribution":
        return "ROCm comes in the distribution's own packages, which carry no ROCm release"
    if roots.unseen is not None:
        return f"no ROCm was found, and not all could be seen: {roots.unseen.detail}"
    return f"{roots.root} carries no version" if roots.found else "no ROCm was found"


def _own(ctx: Context, roots: RocmRoots) -> Iterator[tuple[str, Answer[str]]]:
    """Yield what the root itself says of its version, best source first."""
    yield "version_file", version_of(ctx, roots.prefixes)
    manifest = read_manifest(ctx, roots.prefixes)
    if not manifest.ok or (manifest.value and manifest.value.rocm_version):
        yield "therock_manifest", parsed(manifest, lambda seen: parse_rocm_version(seen.rocm_version))
    if roots.found:
        header = first_header(ctx, roots.include_root, HEADERS)
        yield "header", parsed(header, _of_header)


def _of_header(defines: dict[str, str]) -> str:
    found = header_version(defines, "ROCM_VERSION_")
    if found is None:
        raise ValueError("no ROCM_VERSION_MAJOR, _MINOR and _PATCH")
    return found


def _borrowed(ctx: Context) -> Version | None:
    """Return what pip's metadata or torch's version text says."""
    for name in PIP_NAMES:
        found = ctx.take(ctx.distribution(name), "version")
        text = (found.version or "").strip() if found else ""
        if found is None or not text:
            continue
        places = tuple(place for place in (found.path, *found.others) if place)
        return Version(text=text, source=f"pip:{name}", path=found.path or None, metadata=places or None)
    torch = ctx.take(ctx.module("torch"), "version")
    for place in torch.locations[:1] if torch else ():
        path = posixpath.join(place, "version.py")
        seen = ctx.text(path)
        if not seen.absent:
            told = parse_assignments(ctx.take(seen, "version") or "")
            text = told.get("rocm") or parse_torch_version(told.get("__version__", "")).rocm or ""
            if text.strip():
                return Version(text=text.strip(), source="torch", path=path)
    return None


def _version_dev(ctx: Context, roots: RocmRoots) -> str | None:
    """Return the text of version-dev; that packaging leaves it out is no failure."""
    if roots.unseen is not None:
        return ctx.take(roots.unseen, "version_dev")
    marker = version_of(ctx, roots.prefixes, "version-dev")
    if marker.absent:
        manifest = read_manifest(ctx, roots.prefixes).value
        if manifest is not None and manifest.rocm_package_version:
            return manifest.rocm_package_version
    return ctx.take(marker, "version_dev")


def _kmd_version(ctx: Context) -> str | None:
    seen = ctx.text(posixpath.join(DRIVER, "version"))
    if seen.absent and ctx.stat(DRIVER).ok:
        told = "the loaded amdgpu declares no version, as a module of the kernel's own tree"
        ctx.note(ReasonKind.UNSUPPORTED, "kmd_version", told, subject=DRIVER)
        return None
    return ctx.take(parsed(believed(ctx, seen), module_version), "kmd_version")
