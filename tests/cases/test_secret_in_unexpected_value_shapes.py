"""Credentials inside values whose names look harmless."""

from aorta.model.redact import redact_value
from aorta.testing import FakeHost, collect

CASE = "secret-in-unexpected-value-shapes"


ENV = {
    "HTTPS_PROXY": "http://alice:s3cret-not-real@proxy.example:3128",
    "PIP_INDEX_URL": "https://__token__:pypi-notreal@pypi.example/simple",
    "NCCL_DEBUG_FILE": "/home/alice/logs/nccl.%h.log",
    "WANDB_API_KEY": "0123456789abcdef0123456789abcdef01234567",
    "AWS_SECRET_ACCESS_KEY": "notreal/notreal",
    "RCCL_EXTRA": '{"auth":"Bearer eyJnot.areal.jwt"}',
    "NUM_MEMORY_TOKENS": "4",
    "USE_CLS_TOKEN": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
SECRETS = ("s3cret", "pypi-notreal", "01234567", "notreal", "eyJnot", "areal")


def test_nothing_leaks_from_the_snapshot():
    result = collect(FakeHost(env=ENV), "env_vars")
    text = repr((result.value, result.reasons))
    assert not [secret for secret in SECRETS if secret in text]
    assert result.value["RCCL_EXTRA"] == '{"auth":"Bearer [redacted]"}'
    assert result.value["NCCL_DEBUG_FILE"] == ENV["NCCL_DEBUG_FILE"]
    assert result.redacted == {"RCCL_EXTRA"}


def test_nothing_leaks_where_all_values_are_written():
    shown = {name: redact_value(name, value) for name, value in ENV.items()}
    assert not [secret for secret in SECRETS if secret in repr(shown)]
    for name in ("NUM_MEMORY_TOKENS", "USE_CLS_TOKEN", "TOKENIZERS_PARALLELISM"):
        assert shown[name] == ENV[name]
