"""No plugin file and none asked for: the internal mode, and nothing to complain about."""

from aorta.testing import FakeHost, collect

CASE = "rccl-no-net-plugin-is-normal"


def test_internal_without_a_reason():
    files = {
        "/opt/rocm/.info/version": "7.2.0\n",
        "/opt/rocm/include/rccl/rccl.h": "#define NCCL_VERSION_CODE 22707\n",
        "/opt/rocm/lib/librccl.so.1": b"\x7fELF",
    }
    result = collect(FakeHost(files=files), "rccl")
    assert (
        result.value["net_plugin_mode"],
        result.value["anp_lib_hash"],
        result.value["net_lib_hash"],
        result.value["plugin_path"],
    ) == ("internal", None, None, None)
    assert result.reasons == ()


def test_a_plugin_that_was_asked_for_and_is_missing_is_another_matter():
    result = collect(FakeHost(env={"NCCL_NET_PLUGIN": "librccl-net.so"}), "rccl")
    assert result.value["net_plugin_mode"] == "unknown"
    assert any(reason.partial for reason in result.reasons)
