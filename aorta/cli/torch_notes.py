"""torch and the packages around it: its row of the overview, and what is unusual of it."""

from collections.abc import Iterator

from aorta.cli.plain import Document, listed

SHOWN = 4


def torch_row(known: Document) -> str:
    """Return version and back end; an empty text where nothing is known."""
    version = known.text("pytorch_version")
    if version:
        built = [
            f"{name} {text}"
            for name, text in (
                ("HIP", known.text("pytorch_build.hip_version")),
                ("CUDA", known.text("pytorch_build.cuda_version")),
            )
            if text
        ]
        kind = known.text("pytorch_build.install_kind")
        return ", ".join([version, *built, *([kind] if kind and kind != "unknown" else []), *_state(known)])
    coverage = known.text("collection.coverage.torch")
    if coverage == "absent":
        return "none"
    unbuilt = any("no collector" in str(reason.get("detail")) for reason in known.reasons("pytorch_version"))
    told = "not collected in this version" if unbuilt else ""
    return ", ".join(text for text in ("installed" if coverage == "seen" else "", told) if text)


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
    version = known.text("pytorch_version") or "torch"
    if known.get("pytorch_build.importable") is False:
        error = known.text("pytorch_build.import_error")
        yield f"torch {version} is installed and cannot be imported{f': {error}' if error else ''}"
    installed, built = known.text("hip.version"), known.text("pytorch_build.hip_version")
    if installed and built and installed.split(".")[:2] != built.split(".")[:2]:
        yield f"HIP {installed} is installed, torch was built with HIP {built}"
    if known.get("triton.conflict") is True:
        owners = [
            f"{one.get('name')} {one.get('version') or '(no version)'}"
            for one in known.members("triton.providers")
        ]
        yield f"several distributions claim the package triton: {listed(owners, SHOWN)}"
