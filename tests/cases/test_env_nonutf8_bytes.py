"""Bytes that are not UTF-8 are written as escapes: valid JSON, and different bytes stay different."""

import json
import os

from aorta.testing import FakeHost, collect

CASE = "env-nonutf8-bytes"


def shown(raw: bytes) -> str:
    result = collect(FakeHost(env={"NCCL_SOCKET_IFNAME": os.fsdecode(raw)}), "env_vars")
    text = json.dumps(result.value, ensure_ascii=False, allow_nan=False).encode("utf-8").decode("utf-8")
    assert result.kinds("NCCL_SOCKET_IFNAME") == ["unparsed"]
    for reason in result.reasons:
        reason.text.encode("utf-8")
    return json.loads(text)["NCCL_SOCKET_IFNAME"]


def test_values_stay_distinguishable():
    samples = ["65746880ff", "657468ff80", "2f6f70742fe9742f6c6962", "ff", "fe"]
    assert len({shown(bytes.fromhex(sample)) for sample in samples}) == len(samples)


def test_the_bytes_can_be_read():
    assert shown(bytes.fromhex("65746880ff")) == "eth\\x80\\xff"
    assert shown(bytes.fromhex("2f6f70742fe9742f6c6962")) == "/opt/\\xe9t/lib"


def test_valid_utf8_is_no_problem():
    result = collect(FakeHost(env={"LD_LIBRARY_PATH": "/opt/ét"}), "env_vars")
    assert result.value["LD_LIBRARY_PATH"] == "/opt/ét"
    assert result.reasons == ()
