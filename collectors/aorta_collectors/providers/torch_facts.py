"""What torch says of itself, asked once for all sections, and what its files say where it cannot be asked.

Only torch is ever imported, and how is the caller's: in a process of its own, in this one, or not at
all. Whatever becomes of the import, the text of ``torch/version.py`` and the metadata are read.
"""

import posixpath
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from aorta.collect import Answer, Context, Distribution, Module
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Coverage, ReasonKind, Scope, Word
from aorta.plugin import provider
from aorta_collectors.observations import mapping
from aorta_collectors.providers.gap import Gap
from aorta_collectors.pytorch.version_module import parse_version_module

#: Seconds that an import gets; on a cold network file system it takes tens of them.
TIMEOUT_S = 45.0

CHILD, IN_PROCESS, STATIC = "child", "in_process", "static"

WOULD_START = (
    "torch counts devices to tell its configuration, which would start the GPU runtime in this process;"
    " a capture after the first use of a GPU tells it, and so does the command line"
)

#: What Python says of a module that no finder knows.
NOT_FOUND = "ModuleNotFoundError: No module named 'torch'"

#: What the files of a torch tell too.
STATIC_NAMES = ("version", "git_version", "hip", "cuda", "rocm", "debug")

#: Libraries by which torch's own directory is known where it is not beside the package, best first.
KNOWN_BY = ("libtorch_hip.so", "libtorch.so", "libtorch_cpu.so", "libc10_hip.so", "libc10.so")

NOTHING: Mapping[str, Any] = MappingProxyType({})


class VersionSource(Word):
    """Who told a version: torch, its version.py, or the metadata of its package."""

    TORCH = "torch"
    VERSION_PY = "version.py"
    METADATA = "metadata"


@frozen
class TorchFacts:
    """What is known of the torch that this process, or the interpreter asked about, would use.

    ``strategy`` is how it was asked: child, in_process, or static for not at all. ``module`` is where
    it is imported from, ``package`` that directory (of a single file that file), ``lib_dir`` where its
    libraries are. ``importable`` is null where no import came to an end; ``error`` is the last line of a
    failed one. ``facts`` holds what was told, by name: version, git_version, hip, cuda, rocm, debug, file,
    config (the text of ``torch.__config__.show()``) or only cxx_flags of it, arch_flags, the four switches
    of attention kernels, nccl, mapped (lines of ``/proc/self/maps``). ``sources`` says of each fact who
    told it: torch or its version.py. ``ended`` says how the process of a child ended that did not end well,
    ``noise`` what it printed.
    """

    strategy: str = STATIC
    module: Module | None = None
    distribution: Distribution | None = None
    package: str | None = None
    lib_dir: str | None = None
    importable: bool | None = None
    error: str | None = None
    facts: Mapping[str, Any] = NOTHING
    sources: Mapping[str, VersionSource] = NOTHING
    errors: Mapping[str, str] = NOTHING
    gap: Gap | None = None
    ended: str = ""
    noise: str = ""

    @property
    def installed(self) -> bool:
        """Tell whether there is a torch that could be imported."""
        return self.package is not None

    def told(self, name: str) -> Answer[Any]:
        """Return one fact; a value of None is torch's own (a build without HIP has no HIP version)."""
        if name in self.facts:
            return Answer(value=self.facts[name], subject="torch")
        if name in self.errors:
            detail = f"torch could not tell its {name}: {self.errors[name]}"
            return Answer(kind=ReasonKind.FAILED, subject="torch", detail=detail)
        gap = self.gap
        if gap is None and name == "config" and self.strategy == IN_PROCESS:
            return Answer(kind=ReasonKind.NOT_REQUESTED, subject="torch.__config__", detail=WOULD_START)
        if gap is None:
            detail = f"this torch does not tell its {name}"
            return Answer(kind=ReasonKind.UNSUPPORTED, subject="torch", detail=detail)
        return Answer(kind=gap.kind, subject=gap.subject, detail=gap.detail)

    @property
    def maps(self) -> str | None:
        """Return what was told of ``/proc/self/maps`` of the process that imported torch."""
        return _maps(self.facts)

    def text(self, name: str) -> str | None:
        """Return a fact that is a text, None for anything else."""
        value = self.facts.get(name)
        return value if isinstance(value, str) else None


@provider(model=TorchFacts, scope=Scope.NAMESPACE, timeout_s=TIMEOUT_S)
def provide(ctx: Context) -> TorchFacts:
    """What torch says of itself, and what its files say."""
    module, metadata = ctx.module("torch"), ctx.distribution("torch")
    distribution = metadata.value
    package = _package(module.value)
    if package is None:
        return TorchFacts(distribution=distribution, gap=_missing(ctx, module, metadata))
    ctx.cover("torch", Coverage.SEEN)
    static = _static(ctx, package)
    answer = ctx.torch(TIMEOUT_S)
    said = answer.value if isinstance(answer.value, dict) else {}
    facts, errors = _mapping(said.get("parts")), _mapping(said.get("errors"))
    told = {name: value for name, value in facts.items() if name not in STATIC_NAMES or _is_version(value)}
    sources = {
        **dict.fromkeys(static, VersionSource.VERSION_PY),
        **dict.fromkeys(told, VersionSource.TORCH),
    }
    everything = {**static, **told}
    imported = None if _was_not_found(said) else said.get("imported")
    return TorchFacts(
        strategy=_word(said.get("how")),
        module=module.value,
        distribution=distribution,
        package=package,
        lib_dir=_lib_dir(ctx, package, _maps(everything)),
        importable=imported if isinstance(imported, bool) else None,
        error=_text(said.get("error")) or None,
        facts=everything,
        sources=sources,
        errors={str(name): _text(text) for name, text in errors.items() if name not in everything},
        gap=_untold(answer, said),
        ended=_text(said.get("ended")),
        noise=_text(said.get("noise")),
    )


def _package(module: Module | None) -> str | None:
    """Return the directory of a real package; a directory that is just called torch is none.

    A module that is a single file has nothing beside it that would be its own: that file it is.
    """
    if module is None or module.origin is None:
        return None
    if module.locations:
        return module.locations[0]
    place, name = posixpath.split(module.origin)
    return place if name.startswith("__init__.") else module.origin


def _missing(ctx: Context, module: Answer[Module | None], metadata: Answer[Distribution | None]) -> Gap:
    """Return why there is no torch, and say whether that part was seen."""
    unseen = next((answer for answer in (module, metadata) if not answer.ok), None)
    if unseen is not None:
        ctx.cover("torch", Coverage.UNKNOWN)
        return Gap.of(unseen, "torch")
    if module.value is not None:
        # Only where there is such a directory.
        from aorta_collectors.packages.target import unseen_package

        hidden = unseen_package(ctx, module.value)
        if hidden is not None:
            ctx.cover("torch", Coverage.UNKNOWN)
            return Gap.of(hidden, "torch")
    ctx.cover("torch", Coverage.ABSENT)
    text = f"torch is not installed for this interpreter{_unsearched(ctx)}"
    if module.value is not None:
        places = ", ".join(module.value.locations)
        text = f"no torch, only a directory of that name without a package: {places}"
    elif metadata.value is not None:
        text = f"metadata of torch {metadata.value.version} without the package: {metadata.value.path}"
    return Gap(kind=ReasonKind.ABSENT, subject="torch", detail=text)


def _unsearched(ctx: Context) -> str:
    """Return in words which directories of the search path this user may not look into."""
    path = (mapping(ctx, "interpreter").value or {}).get("path")
    entries = [entry for entry in path if isinstance(entry, str)] if isinstance(path, list) else []
    denied = [
        entry for entry in entries if ctx.stat(posixpath.join(entry, "torch")).kind is ReasonKind.DENIED
    ]
    return f", which may not look into {', '.join(denied)}" if denied else ""


def _static(ctx: Context, package: str) -> dict[str, Any]:
    """Return what ``torch/version.py`` says."""
    text = ctx.resource(posixpath.join(package, "version.py"))
    return dict(parse_version_module(text.value)) if text.value is not None else {}


def _maps(facts: Mapping[str, Any]) -> str | None:
    lines = facts.get("mapped")
    return "\n".join(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else None


def _lib_dir(ctx: Context, package: str, maps: str | None) -> str | None:
    """Return the directory of torch's libraries; a link tree keeps them elsewhere than in the package."""
    place = posixpath.join(package, "lib")
    if ctx.stat(place).ok:
        return place
    # That module needs this one.
    from aorta_collectors.providers.mapped_libraries import parse_maps

    files = [file for file in parse_maps(maps or "") if not file.deleted]
    for name in KNOWN_BY:
        for file in files:
            if (file.name == name or file.name.startswith(f"{name}.")) and ctx.stat(file.path).ok:
                return posixpath.dirname(file.path)
    return None


def _untold(answer: Answer[Any], said: Mapping[str, Any]) -> Gap | None:
    """Return why torch did not tell all, None where it did."""
    if not answer.ok:
        return Gap.of(answer, "torch")
    if not said:
        return Gap(kind=ReasonKind.UNPARSED, subject="torch", detail="what torch told is no report")
    if said.get("imported") is True and said.get("done") is True:
        return None
    if said.get("how") == STATIC:
        text = "torch was not to be imported, and it is not loaded"
        return Gap(kind=ReasonKind.NOT_REQUESTED, subject="torch", detail=text)
    if _was_not_found(said):
        text = "the process that was to import torch does not find it where this one does"
        return Gap(kind=ReasonKind.FAILED, subject="torch", detail=text)
    if said.get("imported") is False:
        text = f"torch cannot be imported: {_text(said.get('error')) or 'no error was told'}"
        return Gap(kind=ReasonKind.FAILED, subject="torch", detail=text)
    ended = _text(said.get("ended")) or "it told nothing more"
    if said.get("hung") is True:
        text = f"importing torch timed out: {ended} (more time: --timeout TorchFacts=SECONDS)"
        return Gap(kind=ReasonKind.TIMED_OUT, subject="torch", detail=text)
    return Gap(kind=ReasonKind.FAILED, subject="torch", detail=f"torch was being asked when {ended}")


def _was_not_found(said: Mapping[str, Any]) -> bool:
    """Tell whether a child had not the means to find the torch that is there: that is no broken torch."""
    return said.get("how") == CHILD and said.get("error") == NOT_FOUND


def _is_version(value: Any) -> bool:
    return value is None or isinstance(value, (str, bool))


def _word(how: Any) -> str:
    return how if how in (CHILD, IN_PROCESS) else STATIC


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
