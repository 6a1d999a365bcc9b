"""``torch.__config__.show()`` as text: the settings and compiler flags that a torch was built with.

A few lines name what it was compiled against, one of them (``Build settings:``) holds ``NAME=value``
pairs. A value may hold blanks, commas and equals signs: it ends only where ``, NAME=`` follows.
"""

import functools
import re
from collections.abc import Mapping

from aorta.collect import Answer, parsed
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.providers.torch_facts import TorchFacts
from aorta_collectors.pytorch.model import BUILD_FLAGS

SETTINGS = "Build settings:"
LINES_LIMIT = 100_000

_TRUE, _FALSE = ("ON", "TRUE", "1"), ("OFF", "FALSE", "0")


@frozen
class BuildConfig:
    """What the text says. All is null where the text has no line of that kind.

    ``defines`` are those of the C++ compiler's flags; a bare one has the value None.
    """

    settings: dict[str, str] | None = None
    defines: dict[str, str | None] | None = None
    cxx_flags: str | None = None
    cuda_flags: str | None = None
    hip_runtime: str | None = None
    miopen: str | None = None
    lines: tuple[str, ...] | None = None


@functools.cache
def _line() -> "re.Pattern[str]":
    return re.compile(
        r"^[ \t]{0,8}-[ \t]{1,4}(?:(HIP Runtime|MIOpen)[ \t]+([0-9][0-9A-Za-z.+~_-]{0,80})[ \t\r]*$"
        r"|Build settings:[ \t]+([^\n]*?)[ \t\r]*$)",
        re.MULTILINE,
    )


@functools.cache
def _other() -> "re.Pattern[str]":
    return re.compile(r"^[ \t]{0,8}-[ \t]{1,4}(\S[^\n]{0,300}?)[ \t\r]*$", re.MULTILINE)


@functools.cache
def _pair() -> "re.Pattern[str]":
    return re.compile(r"(?:^|,[ \t]+)([A-Za-z_]\w{0,80})=")


@functools.cache
def _define() -> "re.Pattern[str]":
    return re.compile(r"(?:^|(?<=\s))-D[ \t]?([A-Za-z_]\w*)(?:=(\"[^\"]*\"|'[^']*'|\S*))?(?=\s|$)")


def parse_config(text: str) -> BuildConfig:
    """Return what the text of ``torch.__config__.show()`` says; a line that is not there is None."""
    lines: dict[str, str] = {}
    for name, version, rest in _line().findall(text):
        lines.setdefault(name, version or rest)
    said = lines.get("")
    settings = parse_settings(said) if said is not None else None
    flags = settings.get("CXX_FLAGS") if settings is not None else None
    return BuildConfig(
        settings=settings,
        defines=parse_defines(flags) if flags is not None else None,
        cxx_flags=flags,
        cuda_flags=settings.get("CUDA_FLAGS") if settings is not None else None,
        hip_runtime=lines.get("HIP Runtime"),
        miopen=lines.get("MIOpen"),
        lines=_other_lines(text),
    )


def build_config(torch: TorchFacts) -> Answer[BuildConfig]:
    """Return what torch says of its build; its compiler flags alone where it was asked for no more."""
    told, flags = torch.told("config"), torch.text("cxx_flags")
    if told.ok and not isinstance(told.value, str):
        text = "torch told no text of its configuration"
        return Answer(kind=ReasonKind.UNPARSED, subject="torch", detail=text)
    if told.ok or flags is None:
        return parsed(told, parse_config)
    return Answer(value=BuildConfig(defines=parse_defines(flags), cxx_flags=flags), subject=told.subject)


def _other_lines(text: str) -> tuple[str, ...] | None:
    found = _other().findall(text[:LINES_LIMIT])
    return tuple(line for line in found if not line.startswith(SETTINGS)) or None


def parse_settings(text: str) -> dict[str, str]:
    """Return the pairs of the line of build settings, values without the blanks and comma around them."""
    starts = list(_pair().finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return {
        start[1]: text[start.end() : end].strip().removesuffix(",").rstrip()
        for start, end in zip(starts, ends, strict=False)
    }


def parse_defines(flags: str) -> dict[str, str | None]:
    """Return what compiler flags define: ``-DNAME`` is None, ``-DNAME=`` an empty text."""
    return {found[1]: found[2] for found in _define().finditer(flags)}


def flag_value(text: str) -> bool | str:
    """Return a setting as a truth value where it is a usual word for one, else as it stands."""
    word = text.upper()
    return True if word in _TRUE else False if word in _FALSE else text


def build_flags(config: BuildConfig) -> dict[str, bool | str | None]:
    """Return the fixed list of build options. What the text does not name is None, not off."""
    found: dict[str, bool | str | None] = dict.fromkeys(BUILD_FLAGS)
    settings, defines = config.settings or {}, config.defines or {}
    for flag, names in BUILD_FLAGS.items():
        texts = [settings[name] for name in names if name in settings]
        texts += [defines[name] or "ON" for name in names if name in defines]
        if texts:
            found[flag] = flag_value(texts[0])
    return found


def defines_option(config: BuildConfig, name: str) -> bool | None:
    """Tell whether the C++ compiler's flags turn an option on; None where there are no flags to ask.

    Here an option that is not defined is off: these are passed whenever they are on.
    """
    return _turns_on(config.defines, name)


def built_with(config: BuildConfig, name: str) -> bool | None:
    """Tell whether settings or any compiler flags turn an option on; None where there are none to ask."""
    cuda = parse_defines(config.cuda_flags) if config.cuda_flags is not None else None
    asked = (config.settings if name in (config.settings or {}) else None, config.defines, cuda)
    answers = {_turns_on(each, name) for each in asked} - {None}
    return True in answers if answers else None


def _turns_on(options: Mapping[str, str | None] | None, name: str) -> bool | None:
    if options is None:
        return None
    return name in options and flag_value(options[name] or "ON") is not False
