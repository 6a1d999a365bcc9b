"""The values after secret-looking options are masked in what is written; the command itself is not touched."""

from aorta.host.protocol import shown
from aorta.model.redact import redact, redact_argv

CASE = "secret-in-argv-of-wrapped-command"

ARGV = [
    *("aorta", "sweep", "run", "--recipe", "r.yaml", "--dry-run", "--", "python", "train.py"),
    *("--hub_token", "hf_notreal", "--password=notreal", "--api-key", "notreal"),
]


def test_both_forms_are_masked():
    before = list(ARGV)
    masked = redact_argv(ARGV)
    assert "notreal" not in " ".join(masked)
    assert masked[:9] == tuple(ARGV[:9])
    assert masked[9:] == ("--hub_token", "[redacted]", "--password=[redacted]", "--api-key", "[redacted]")
    assert before == ARGV


def test_the_line_as_one_text():
    assert "notreal" not in redact(" ".join(ARGV))
    assert "notreal" not in redact(" ".join(shown(ARGV)))


def test_harmless_options_are_kept():
    argv = (
        "python",
        "train.py",
        "--num-tokens",
        "4",
        "--tokenizer",
        "x",
        "--key-cache",
        "y",
        "--use-cls-token",
        "1",
    )
    assert redact_argv(argv) == argv
