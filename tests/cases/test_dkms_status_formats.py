"""dkms status in its old and new form; only the running kernel's row describes the running driver."""

from aorta.testing import FakeHost, collect

CASE = "dkms-status-formats"

LINES = (
    "amdgpu, 18.50-756341.el7: added\n"
    "amdgpu, 2.3-14.el7, 5.0.8-1.el7.elrepo.x86_64, x86_64: installed (original_module exists)\n"
    "amdgpu/6.16.6-2255209.24.04, 6.17.0-5-generic, x86_64: installed (Original modules exist)\n"
    "amdgpu/6.16.6-2255209.24.04, 6.17.0-8-generic, x86_64: installed"
    " (WARNING! Diff between built and installed module!)\n"
)


def test_all_rows():
    host = FakeHost(commands={"dkms status": LINES}, observed={"uname": {"release": "6.17.0-8-generic"}})
    rows = collect(host, "amdgpu_driver").value["dkms"]
    assert [(row["version"], row["state"], row["kernel"], row["running_kernel"]) for row in rows] == [
        ("18.50-756341.el7", "added", None, None),
        ("2.3-14.el7", "installed", "5.0.8-1.el7.elrepo.x86_64", False),
        ("6.16.6-2255209.24.04", "installed", "6.17.0-5-generic", False),
        ("6.16.6-2255209.24.04", "installed", "6.17.0-8-generic", True),
    ]
    assert [row["warning"] for row in rows] == [
        None,
        None,
        None,
        "WARNING! Diff between built and installed module!",
    ]
