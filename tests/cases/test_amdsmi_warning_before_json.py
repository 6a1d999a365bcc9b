"""A warning on stdout before the JSON: the JSON is read, the warning kept apart."""

import pytest

from aorta.testing import FakeHost, collect
from aorta_collectors.tools.tool_json import decode

CASE = "amdsmi-warning-before-json"

WARNING = (
    "WARNING: User is missing the following required groups: render, video. Please add user to these groups."
)
DOCUMENT = '[{"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X"}}]'


@pytest.mark.parametrize(
    "before", [WARNING, f"{WARNING} {{see}} [docs]", "{braces} in a warning\n[and] brackets"]
)
def test_the_prefix_is_kept(before):
    documents, prefix = decode(f"{before}\n{DOCUMENT}\n")
    assert documents == [[{"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X"}}]]
    assert prefix == before


def test_clean_json_has_no_prefix():
    assert decode(f"\n{DOCUMENT}\n")[1] == ""


def test_the_health_report_after_a_warning():
    tool = "/usr/local/bin/rdhc"
    line = ("sudo", "-n", tool, "--quick", "--json", "/dev/stdout")
    text = f'{WARNING}\n{{"gpu_info": {{"GPU_0": {{}}}}}}\n'
    result = collect(FakeHost(files={tool: "#!"}, commands={line: text}), "system_health", sudo=True)
    assert (result.value, result.reasons) == ({"gpu_info": {"GPU_0": {}}}, ())
