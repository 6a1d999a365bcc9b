"""What ``hipconfig`` says of the HIP that is installed."""

import posixpath
import re
from collections.abc import Callable
from typing import Annotated

from aorta.collect import Answer, CommandAnswer, Context, parsed
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.tree.headers import first_header, number, word
from aorta_collectors.tree.links import resolve

QUESTIONS = ("version", "platform", "compiler", "runtime", "cpp_config")
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_VERSION = re.compile(
    r"(?:HIP version[ \t]{0,8}:[ \t]{0,8})?(\d{1,4}\.\d{1,4}\.\d{1,12}(?:-[0-9A-Za-z.+_-]{0,64})?)"
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_FLAGS = re.compile(r"-[DI]\S.{0,4000}")
_SETTING = re.compile(r"(HIP_VERSION_(?:MAJOR|MINOR|PATCH|GITHASH))[ \t]*=[ \t]*(\S{0,64})")


@frozen
class Hip:
    """The installed HIP. Each value is what one call of hipconfig printed."""

    version: Annotated[
        str | None,
        Fact(
            "HIP version with the build's hash, e.g. 7.2.26015-fc0010cf6a.",
            caveat="Not ROCm's number: ROCm 10.1 has HIP 7.15. Installed, not what torch was built against.",
        ),
    ] = None
    platform: Annotated[
        str | None,
        Fact("amd or nvidia; hcc in old releases.", caveat="HIP_PLATFORM overrides what is there."),
    ] = None
    compiler: Annotated[str | None, Fact("clang; hcc or nvcc elsewhere.")] = None
    runtime: Annotated[str | None, Fact("rocclr; spelled ROCclr, HCC or cuda elsewhere.")] = None
    cpp_config: Annotated[str | None, Fact("Preprocessor flags; they show the real root.")] = None
    version_source: Annotated[
        str | None,
        Fact("hipconfig, else share/hip/version or hip_version.h of the root, where it cannot run."),
    ] = None
    tool: Annotated[
        str | None,
        Fact(
            "Real path of the hipconfig that PATH, then the root, leads to.",
            caveat="May be of another stack.",
        ),
    ] = None
    diagnostics: Annotated[
        str | None, Fact("First line that hipconfig --version printed on stderr though it answered.")
    ] = None


def parse_version(text: str) -> str:
    """Return the one version among the lines. Raises ValueError where none or several stand there."""
    found = {match[1] for line in _lines(text) if (match := _VERSION.fullmatch(line))}
    if len(found) != 1:
        raise ValueError(f"{len(found)} versions in {text.strip()[:80]!r}")
    return found.pop()


def parse_word(text: str) -> str:
    """Return the one line that is a single word, e.g. ``amd``. Raises ValueError otherwise."""
    found = {line for line in _lines(text) if _WORD.fullmatch(line)}
    if len(found) != 1:
        raise ValueError(f"no single word in {text.strip()[:80]!r}")
    return found.pop()


def parse_flags(text: str) -> str:
    """Return the line of -D and -I flags without the blank it begins with. Raises ValueError."""
    for line in _lines(text):
        if _FLAGS.fullmatch(line):
            return line
    raise ValueError(f"no -D or -I flag in {text.strip()[:80]!r}")


def parse_version_file(text: str) -> str:
    """Return the version in ``share/hip/version``. Raises ValueError where a number is missing."""
    settings = [_SETTING.fullmatch(line.strip()) for line in text.splitlines()]
    told = {match[1]: match[2] for match in settings if match}
    numbers = [told.get(f"HIP_VERSION_{part}", "") for part in ("MAJOR", "MINOR", "PATCH")]
    return _joined(numbers, told.get("HIP_VERSION_GITHASH", ""))


def parse_header(defines: dict[str, str]) -> str:
    """Return the version in the macros of ``hip_version.h``. Raises ValueError where a number is missing."""
    numbers = [number(defines, f"HIP_VERSION_{part}") for part in ("MAJOR", "MINOR", "PATCH")]
    return _joined(
        ["" if part is None else str(part) for part in numbers], word(defines, "HIP_VERSION_GITHASH")
    )


def _joined(numbers: list[str], commit: str | None) -> str:
    version = ".".join(numbers)
    if not _VERSION.fullmatch(version):
        raise ValueError("no HIP_VERSION_MAJOR, _MINOR and _PATCH")
    return f"{version}-{commit}" if commit else version


def _lines(text: str) -> list[str]:
    return [line.strip() for line in _ANSI.sub("", text[:100_000]).splitlines()]


@collector(
    section="hip",
    model=Hip,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots,),
    timeout_s=20,
)
def collect(ctx: Context) -> Hip:
    """HIP version, platform, compiler and flags, from hipconfig."""
    roots = ctx.need(RocmRoots)
    # One call a question: several flags in one call are printed without anything between them.
    lines = [("hipconfig", f"--{question}") for question in QUESTIONS]
    answers = dict(zip(QUESTIONS, ctx.commands(*lines, timeout=10, path=roots.bin_dirs), strict=True))
    version, source = _version(ctx, answers["version"], roots)
    return Hip(
        version=version,
        platform=_told(ctx, answers, "platform", parse_word),
        compiler=_told(ctx, answers, "compiler", parse_word),
        runtime=_told(ctx, answers, "runtime", parse_word),
        cpp_config=_told(ctx, answers, "cpp_config", parse_flags),
        version_source=source,
        tool=_tool(ctx, roots),
        diagnostics=_diagnostics(answers["version"]),
    )


def _said(answer: CommandAnswer, parse: Callable[[str], str]) -> Answer[str]:
    return parsed(answer, lambda done: parse(done.stdout))


def _told(
    ctx: Context, answers: dict[str, CommandAnswer], question: str, parse: Callable[[str], str]
) -> str | None:
    return ctx.take(_said(answers[question], parse), question)


def _version(ctx: Context, answer: CommandAnswer, roots: RocmRoots) -> tuple[str | None, str | None]:
    """Return the version and its source; the root's own files answer where hipconfig does not."""
    said = _said(answer, parse_version)
    if said.value is not None:
        return said.value, "hipconfig"
    for prefix in roots.prefixes:
        filed = parsed(ctx.text(posixpath.join(prefix, "share/hip/version")), parse_version_file)
        if filed.value is not None:
            return filed.value, "share/hip/version"
        if not filed.absent:
            ctx.take(filed, "version")
    header = parsed(first_header(ctx, roots.include_root, ("hip/hip_version.h",)), parse_header)
    if roots.found and header.value is not None:
        return header.value, "hip_version.h"
    if roots.found and not header.absent:
        ctx.take(header, "version")
    return ctx.take(said, "version"), None


def _tool(ctx: Context, roots: RocmRoots) -> str | None:
    # What cannot be seen is passed over, as when the tool was run.
    hidden = []
    for place in ctx.search_path(roots.bin_dirs):
        path = posixpath.join(place, "hipconfig")
        seen = ctx.stat(path)
        if seen.ok:
            return ctx.take(resolve(ctx, path), "tool")
        if not seen.absent and seen.kind is not ReasonKind.DENIED:
            hidden.append(seen)
    if hidden:
        ctx.take(hidden[0], "tool")
        return None
    ctx.note(ReasonKind.NO_TOOL, "tool", "no hipconfig on PATH or under the root")
    return None


def _diagnostics(answer: CommandAnswer) -> str | None:
    lines = _lines(answer.value.stderr) if answer.value is not None else []
    return next((line[:200] for line in lines if line), None)
