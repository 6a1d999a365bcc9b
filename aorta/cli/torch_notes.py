"""torch and the packages around it: its row of the overview, and what is unusual of it."""

from collections.abc import Iterator

from aorta.cli.plain import Document
from aorta.model.text import listed

SHOWN = 4


def torch_row(known: Document) -> str:
    """Return version and back end; an empty text where nothing is known."""
    version = _version(known)
    if version:
        built = [
            f"{name} {text}"
            for name, text in (
                ("HIP", known.text("pytorch_build.hip_version")),
                ("CUDA", known.text("pytorch_build.cuda_version")),
            )
            if text
        ]
        without = [known.kinds("pytorch_build", f"{name}_version") for name in ("hip", "cuda")]
        if without == [{"absent"}, {"absent"}]:
            built = ["for CPUs"]
        kind = known.text("pytorch_build.install_kind")
        return ", ".join([version, *built, *([kind] if kind and kind != "unknown" else []), *_state(known)])
    coverage = known.text("collection.coverage.torch")
    if coverage == "absent":
        return "none"
    unbuilt = any("no collector" in str(reason.get("detail")) for reason in known.reasons("pytorch_version"))
    told = "not collected in this version" if unbuilt else ""
    return ", ".join(text for text in ("installed" if coverage == "seen" else "", told) if text)


def _version(known: Document) -> str:
    return known.text("pytorch_version") or known.text("pytorch_build.version")


def _state(known: Document) -> Iterator[str]:
    """Yield a word where torch did not speak for itself."""
    if known.get("pytorch_build.importable") is False:
        yield "not importable"
    elif known.text("collection.import_strategy") == "static":
        yield "not imported"


def torch_notes(known: Document) -> Iterator[str]:
    """Yield what is unusual of torch."""
    foreign = known.text("collection.python")
    if foreign:
        yield f"Python and torch are those of {foreign}"
    yield from _import(known)
    metadata = known.text("pytorch_build.distribution_version")
    if metadata:
        yield f"torch is {_version(known) or 'of unknown version'}, and the metadata beside it say {metadata}"
    installed, built = known.text("hip.version"), known.text("pytorch_build.hip_version")
    if installed and built and installed.split(".")[:2] != built.split(".")[:2]:
        yield f"HIP {installed} is installed, torch was built with HIP {built}"
    if known.get("triton.conflict") is True:
        owners = [
            f"{one.get('name')} {one.get('version') or '(no version)'}"
            for one in known.members("triton.providers")
        ]
        yield f"several distributions claim the package triton: {listed(owners, SHOWN)}"


def _import(known: Document) -> Iterator[str]:
    """Yield that torch could not be imported, with which file and why."""
    file, error = known.text("pytorch_build.file"), known.text("pytorch_build.import_error")
    named = " ".join(text for text in ("torch", _version(known)) if text) + (f" ({file})" if file else "")
    if known.get("pytorch_build.importable") is False:
        yield f"{named} cannot be imported{f': {error}' if error else ''}"
        return
    text = no_import(known)
    if text:
        said = [line for line in known.text("pytorch_build.import_stderr").splitlines() if line.strip()]
        last = f"; it printed: {said[-1].strip()}" if said and not said[0].startswith("Timeout") else ""
        yield f"{named}: {text}{last}"


def no_import(known: Document) -> str:
    """Return why it is not known whether torch can be imported, where that should be known."""
    if known.get("pytorch_build.importable") is not None:
        return ""
    told = known.reasons("pytorch_build", "importable")
    lost = [str(one.get("detail")) for one in told if one.get("kind") in ("failed", "timed_out", "unparsed")]
    return lost[0] if lost else ""
