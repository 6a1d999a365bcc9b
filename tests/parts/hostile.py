"""Texts that parsers must survive: seeds with harmless noise, seeds damaged at random, lines that never end."""

import functools
import random
import re
import time
from collections.abc import Callable, Iterable
from typing import Any

import attrs

COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: What stands in no tool's output on purpose.
GARBAGE = (
    *(
        "",
        " ",
        "\0",
        "\n",
        "\r",
        "\r\n",
        "\t",
        "\x1b[31m",
        "\x1b[",
        "\ufeff",
        "\u2028",
        "\x85",
        "\x0c",
        "\ud800",
    ),
    *(
        "é",
        "٣",
        "²",
        "İ",
        "-",
        "--",
        ":",
        "=",
        "/",
        "\\",
        '"',
        "'",
        "[",
        "]",
        "{",
        "}",
        "(",
        "N/A",
        "none",
        "null",
    ),
    *("0", "-1", "1e999", "NaN", "Infinity", "-Infinity", "0x", "0xffffffffffffffff", "18446744073709551616"),
    *("true", "\\u12", "nan", "#", "//", "/*", "*/", "\udcff", "9" * 40),
)
#: Longer ones, drawn seldom: numbers beyond what int() takes, nesting beyond what json takes.
HUGE = (
    "9" * 5000,
    "[" * 20_000,
    '{"a":' * 5000,
    "-" + "1" * 5000,
    "1." * 3000,
    " " * 5000,
    "[" * 300 + "]" * 300,
)
UNKNOWN = ("WARNING: something else was printed", "~~~~~~~~", "# a remark?", "%%", "(nothing to see)")
#: The longest text that a collector reads of a file, and nearly what it keeps of a command.
LONG = 1 << 20
LIMIT_S = 2.0


def nothing(value: Any) -> bool:
    """Tell whether a value claims that there is nothing."""
    return value is None or value is False or value == 0 or value in ((), [], {}, "", frozenset())


def leaves(value: Any) -> Iterable[Any]:
    """Yield the texts and numbers in a value; keys and fields' names are a parser's own words."""
    if attrs.has(type(value)):
        value = attrs.asdict(value, recurse=False)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        for member in value:
            yield from leaves(member)
    elif value is not None and not isinstance(value, bool):
        yield value


@attrs.frozen(eq=False)
class Row:
    """One parser. ``noise`` are the kinds of harmless noise under which a seed reads the same.

    ``telling`` is a pattern (several lines): where it is found, "nothing" would be wrong. ``words`` are
    what of a value must stand in the text, all of it by default, nothing where it is None.
    """

    name: str
    read: Callable[[str], Any]
    seeds: tuple[str, ...]
    noise: str = "crlf trailing ended blank"
    telling: str | None = None
    words: Callable[[Any], Iterable[Any]] | None = leaves
    raises: tuple[type[Exception], ...] = (ValueError,)
    none: Callable[[Any], bool] = nothing
    #: Whether it may be given a megabyte: arguments, names of files and variables are short.
    long: bool = True

    def __str__(self) -> str:
        return self.name

    def expected(self, seed: str) -> Any:
        """Return what a seed reads as."""
        return _expected(self, seed)


@functools.cache
def _expected(row: Row, seed: str) -> Any:
    return row.read(seed)


def noisy(rng: random.Random, text: str, kinds: list[str]) -> str:
    """Return a text that says the same, with noise of some of these kinds."""
    ended = text.endswith("\n")
    lines = text.removesuffix("\n").split("\n")
    for kind in rng.sample(kinds, rng.randint(1, len(kinds))) if kinds else ():
        if kind == "trailing":
            lines = [line + rng.choice(("", " ", "\t", "   ")) for line in lines]
        elif kind == "blank":
            at = rng.randint(0, len(lines))
            lines[at:at] = [""] * rng.randint(1, 3)
        elif kind == "before":
            lines[:0] = rng.choices(UNKNOWN, k=rng.randint(1, 3))
        elif kind == "after":
            lines += rng.choices(UNKNOWN, k=rng.randint(1, 3))
        elif kind == "between":
            at = rng.randint(0, len(lines))
            lines[at:at] = rng.choices(UNKNOWN, k=rng.randint(1, 3))
        elif kind == "colour":
            at = rng.randrange(len(lines))
            lines[at] = f"\x1b[{rng.choice(('31', '1;37', '', '0'))}m{lines[at]}\x1b[0m"
        elif kind == "twice":
            at = rng.randrange(len(lines))
            lines[at:at] = [lines[at]]
        elif kind == "ended":
            ended = rng.random() < 0.5
    end = "\r\n" if "crlf" in kinds and rng.random() < 0.4 else "\n"
    return end.join(lines) + (end if ended else "")


def _place(rng: random.Random, text: str) -> int:
    return rng.randint(0, len(text))


def _swapped(lines: list[str], rng: random.Random) -> list[str]:
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return lines


def damaged(rng: random.Random, text: str) -> str:
    """Return a text with one to four damages."""
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        what, at = rng.randrange(9), _place(rng, text)
        to = min(len(text), at + rng.choice((1, 1, 2, 5, 40)))
        if what == 0:
            text = text[:at] + rng.choice(GARBAGE) + text[at:]
        elif what == 1:
            text = text[:at] + text[to:]
        elif what == 2:
            text = text[:at] + rng.choice(GARBAGE) + text[to:]
        elif what == 3:
            text = text[:at] + text[at:to] * 2 + text[to:]
        elif what == 4:
            text = text[:at] if rng.random() < 0.7 else text[at:]
        elif what == 5:
            text = "\n".join(_swapped(text.split("\n"), rng))
        elif what == 6:
            lines = text.split("\n")
            lines[rng.randrange(len(lines))] = rng.choice(GARBAGE)
            text = "\n".join(lines)
        elif what == 7:
            flipped = "".join(chr(ord(each) ^ (1 << rng.randrange(7))) for each in text[at:to])
            text = text[:at] + flipped + text[to:]
        else:
            text = text[:at] + rng.choice(HUGE if rng.random() < 0.1 else GARBAGE) + text[at:]
    return text


def check_noise(row: Row, number: int) -> None:
    """Hold a parser to reading the same out of a seed with noise."""
    rng = random.Random(number)
    seed = rng.choice(row.seeds)
    text = noisy(rng, seed, row.noise.split())
    assert row.read(text) == row.expected(seed), (row.name, text)


def check_damage(row: Row, number: int, text: str) -> None:
    """Hold a parser to an answer that stands in the text, or to its refusal; never to a wrong "nothing"."""
    rng = random.Random(number)
    pick = rng.random()
    if pick < 0.08:
        text = "".join(rng.choices(GARBAGE, k=rng.randint(0, 30)))
    elif pick < 0.95 or not text:
        text = damaged(rng, rng.choice(row.seeds))
    try:
        value = row.read(text)
    except row.raises:
        return
    except Exception as error:
        raise AssertionError((row.name, text)) from error
    if row.telling is not None and row.none(value):
        assert re.search(row.telling, text) is None, (row.name, text)
    shown = f"{COLOUR.sub('', text)}\n{text}"
    words = [*row.words(value)] if row.words is not None else []
    numbers = numbers_of(shown) if any(isinstance(word, int) for word in words) else set()
    for word in words:
        there = abs(word) in numbers if isinstance(word, int) else str(word).casefold() in shown.casefold()
        assert there, (row.name, word, text)


def numbers_of(text: str) -> set[int]:
    """Return the whole numbers that stand in a text; a part of one is none."""
    decimal = {int(found) for found in re.findall(r"\d+", text) if len(found) < 60}
    return decimal | {int(found, 16) for found in re.findall(r"0x([0-9a-fA-F]{1,16})(?![0-9a-fA-F])", text)}


def long_texts(row: Row) -> Iterable[str]:
    """Yield texts of a megabyte that make careless patterns try for hours."""
    for unit in (" ", "0", '"\\', "/", "(", "[", "a:", "=", "\n", " \t"):
        yield unit * (LONG // len(unit))
    for seed in row.seeds[:2]:
        lines = [line for line in dict.fromkeys(seed.split("\n")) if line.strip()]
        for line in lines[:3]:
            heads = [line, *(line[: match.end()] for match in re.finditer(r"[:=/, \t]+", line[:200]))]
            for head in dict.fromkeys((heads[0], *heads[1:2], heads[-1])):
                yield head * (LONG // len(head))
                yield f"{head}{' ' * (LONG - 2000)}x"
                yield f"{head}{'9' * (LONG - 2000)}x"
        yield (seed + "\n") * (LONG // (len(seed) + 1))


def check_long(row: Row) -> None:
    """Hold a parser to two seconds for each long text."""
    for text in long_texts(row):
        begun = time.process_time()
        try:
            row.read(text)
        except row.raises:
            pass
        assert time.process_time() - begun < LIMIT_S, text[:200]
