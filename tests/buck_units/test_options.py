"""How a target is built: one option after the other, and nothing of a value where it does not belong."""

import pytest

from aorta.buck.options import (
    PREFIX,
    BuckContext,
    BuckError,
    context_of,
    option_of,
    parse_option,
)
from aorta.buck.words import ContextSource
from aorta.host.protocol import Masked
from aorta.model.redact import REDACTED

SECRET = "hunter2-not-real"


def words(context):
    return [word.value if isinstance(word, Masked) else word for word in context.argv]


def test_the_words_keep_the_order():
    context = BuckContext.of(["modifier=//c:x", "mode=@//mode/a", "config=s.k=v=w", "mode=b", "config=s.k="])
    assert words(context) == ["-m", "//c:x", "@//mode/a", "-c", "s.k=v=w", "@b", "-c", "s.k="]
    assert context.names("mode") == ("//mode/a", "b")
    assert context.names("config") == ("s.k", "s.k")
    assert context.names("modifier") == ("//c:x",)


def test_a_value_is_shown_nowhere():
    option = parse_option(f"config=s.k={SECRET}")
    context = BuckContext(options=(option,))
    (_, word) = option.argv
    assert isinstance(word, Masked)
    assert word.shown == f"s.k={REDACTED}"
    for text in (repr(option), str(option), repr(context), str(context), repr(word), str(word)):
        assert SECRET not in text
    assert context.masked(["aorta", f"config=s.k={SECRET}", SECRET, "other"]) == (
        "aorta",
        f"config=s.k={REDACTED}",
        REDACTED,
        "other",
    )


def test_an_empty_value_has_nothing_to_hide():
    assert parse_option("config=s.k=").argv == ("-c", "s.k=")


@pytest.mark.parametrize(
    ("given", "source"),
    [
        (None, ContextSource.UNSPECIFIED),
        ([], ContextSource.UNSPECIFIED),
        ("default", ContextSource.DEFAULT_CONFIRMED),
        (["mode=a"], ContextSource.EXPLICIT),
        (iter(("mode=a",)), ContextSource.EXPLICIT),
        (BuckContext.grouped(modes=["a"]), ContextSource.EXPLICIT),
    ],
)
def test_what_a_program_gives(given, source):
    assert context_of(given).source is source


@pytest.mark.parametrize("given", ["mode=a", b"default", 3, [3], ["mode=a", None], {"mode": "a"}, ["mode"]])
def test_what_a_program_may_not_give(given):
    with pytest.raises(BuckError):
        context_of(given)


def test_equal_command_lines_have_equal_fingerprints():
    grouped = BuckContext.grouped(modes=["@a"], configs=["s.k=v"], modifiers=["m"])
    ordered = BuckContext.of(["mode=a", "config=s.k=v", "modifier=m"])
    assert str(grouped.fingerprint()).startswith(PREFIX)
    assert grouped.fingerprint() == ordered.fingerprint()


def test_what_differs_has_another_fingerprint():
    contexts = [
        BuckContext(default_confirmed=True),
        BuckContext.of(["mode=a"]),
        BuckContext.of(["modifier=a"]),
        BuckContext.of(["config=s.k=v"]),
        BuckContext.of(["config=s.k=w"]),
        BuckContext.of(["mode=a", "config=s.k=v"]),
        BuckContext.of(["config=s.k=v", "mode=a"]),
    ]
    assert len({context.fingerprint() for context in contexts}) == len(contexts)
    assert BuckContext().fingerprint() is None, "nobody said anything"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("mode", ""),
        ("mode", "@"),
        ("mode", "a b"),
        ("mode", "-"),
        ("mode", "-x"),
        ("modifier", " "),
        ("modifier", "?x"),
        ("modifier", "-m"),
        ("config", f"{SECRET}"),
        ("config", f"={SECRET}"),
        ("config", f" s.k={SECRET}"),
        ("config", f"k={SECRET}"),
        ("config", f"s.={SECRET}"),
        ("config", f".k={SECRET}"),
        ("config", f"s. k={SECRET}"),
        ("config", f"s.k={SECRET}\0"),
        ("config", f"s.k={SECRET} -c x.y=z"),
        ("config", f"s.k={SECRET} --config x.y=z"),
    ],
)
def test_what_is_no_option(kind, text):
    with pytest.raises(BuckError) as caught:
        option_of(kind, text)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"), [("cell//s.k", "x"), ("s.k.l", "x"), ("s.k", "a //b"), ("s.k", "a=b")]
)
def test_keys_and_values(key, value):
    option = option_of("config", f"{key}={value}")
    assert (option.name, option.value) == (key, value)
