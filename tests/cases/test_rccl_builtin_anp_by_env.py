"""AI NIC support inside RCCL, switched by RCCL_AINIC_ROCE (that env_vars shows the variable is tested there)."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "rccl-builtin-anp-by-env"


def rccl(release, anp=False, **env):
    files = {"/opt/rocm/.info/version": f"{release}\n", "/opt/rocm/lib/librccl.so.1": b"\x7fELF"}
    if anp:
        files["/opt/rocm/lib/librccl-anp.so"] = b"\x7fELF"
    return collect(FakeHost(files=files, env=env), "rccl")


@pytest.mark.parametrize("release", ["7.2.1", "7.2.3-90", "10.1.0a20260811"])
def test_requested(release):
    result = rccl(release, RCCL_AINIC_ROCE="1")
    assert (result.value["net_plugin_mode"], result.value["builtin_anp"], result.value["anp_lib_hash"]) == (
        "internal",
        "requested",
        None,
    )
    assert result.kinds("builtin_anp") == []


@pytest.mark.parametrize("value", ["0", "", "off"])
def test_off(value):
    assert rccl("7.2.1", RCCL_AINIC_ROCE=value).value["builtin_anp"] == "off"


def test_an_explicit_plugin_wins():
    value = rccl("7.2.1", anp=True, RCCL_AINIC_ROCE="1", NCCL_NET_PLUGIN="librccl-anp.so").value
    assert (value["net_plugin_mode"], value["builtin_anp"]) == ("external", "overridden")


@pytest.mark.parametrize("release", ["7.0.2", "7.2.0-43"])
def test_no_effect_on_an_older_release_is_noted(release):
    result = rccl(release, RCCL_AINIC_ROCE="1")
    assert (result.value["net_plugin_mode"], result.value["builtin_anp"]) == ("internal", "no_effect")
    assert [release in reason.detail for reason in result.reasons if reason.field == "builtin_anp"] == [True]


def test_unset_says_nothing():
    assert rccl("7.2.1").value["builtin_anp"] is None
