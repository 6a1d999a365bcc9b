import errno

import pytest

from aorta.testing import Completed, FakeHost, Outcome, collect
from aorta_collectors.gpu.driver_packages import choose, family_of, parse_dkms, parse_dpkg, parse_rpm
from aorta_collectors.gpu.kernel_module import module_version, parse_modinfo, srcversion
from tests.parts.gpu_hosts import agent, rocminfo

STATES = ("dpkg-query", "-W", "-f=${db:Status-Abbrev}\t${Package}\t${Version}\t${Architecture}\n")
PLAIN = ("dpkg-query", "-W", "-f=${Package}\t${Version}\n")
RPM = ("rpm", "-qa", "--qf", "%{NAME}\t%{VERSION}-%{RELEASE}\t%{ARCH}\n")
DKMS, KMOD = "amdgpu-dkms*", "amdgpu-kmod*"
NONE = {"exit": 1, "stderr": "dpkg-query: no packages found matching amdgpu-kmod*\n"}
RELEASE = "6.8.0-90-generic"
UNAME = {"uname": {"release": RELEASE, "version": "#1 SMP", "machine": "x86_64"}}
MODINFO = (
    f"filename:       /lib/modules/{RELEASE}/updates/dkms/amdgpu.ko.zst\nversion:        6.16.13\n"
    "license:        GPL and additional rights\nfirmware:       amdgpu/a.bin\nfirmware:       amdgpu/b.bin\n"
    "srcversion:     A6F143BEC60C0AFC3263226\nalias:          pci:v00001002d*sv*\n"
    f"vermagic:       {RELEASE} SMP preempt mod_unload modversions \nsignature:      0A:1B:\n\t\t4E:5F\n"
    "parm:           version:a parameter that is called like a field (int)\n"
)
INTREE = (
    f"filename:       /lib/modules/{RELEASE}/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst\n"
    "srcversion:     F0B1C2D3E4F5061728394A5\nintree:         Y\n"
)
LOADED = {
    "/sys/module/amdgpu/version": "6.16.13\n",
    "/sys/module/amdgpu/srcversion": "A6F143BEC60C0AFC3263226\n",
    "/sys/module/amdgpu/initstate": "live\n",
    "/sys/module/amdgpu/parameters/noretry": "-1\n",
    "/sys/module/amdgpu/parameters/cwsr_enable": "1\n",
    "/sys/class/kfd/kfd/topology/generation_id": "2\n",
}


def driver(**host):
    return collect(FakeHost(**{"observed": UNAME, **host}), "amdgpu_driver")


def installed(**changes):
    host = {
        "files": LOADED,
        "nodes": {"/dev/kfd": "c"},
        "commands": {
            "modinfo amdgpu": MODINFO,
            "dkms status": f"amdgpu/6.16.13-2303411.24.04, {RELEASE}, x86_64: installed (Original modules exist)\n",
            (*STATES, DKMS): "ii \tamdgpu-dkms\t1:6.16.13.30300100-2303411.24.04\tall\n",
            (*STATES, KMOD): NONE,
            "rocminfo": rocminfo(agent(1)),
        },
    }
    return {**host, **changes}


def with_commands(**changes):
    host = installed()
    return {**host, "commands": {**host["commands"], **changes}}


def test_a_dkms_host():
    result = driver(**installed())
    assert result.value == {
        "scope": "host_kernel",
        "status": "present",
        "package_name": "amdgpu-dkms",
        "package_version": "1:6.16.13.30300100-2303411.24.04",
        "package_full_name": "amdgpu-dkms=1:6.16.13.30300100-2303411.24.04",
        "package_manager": "dpkg",
        "package_state": "ii",
        "module_version": "6.16.13",
        "module_srcversion": "A6F143BEC60C0AFC3263226",
        "module_filename": f"/lib/modules/{RELEASE}/updates/dkms/amdgpu.ko.zst",
        "module_vermagic": f"{RELEASE} SMP preempt mod_unload modversions",
        "module_intree": False,
        "module_builtin": False,
        "module_loaded": True,
        "kmd_version": "6.16.13",
        "loaded_version": "6.16.13",
        "loaded_srcversion": "A6F143BEC60C0AFC3263226",
        "loaded_matches_disk": True,
        "parameters": {"cwsr_enable": "1", "noretry": "-1"},
        "dkms": [
            {
                "version": "6.16.13-2303411.24.04",
                "kernel": RELEASE,
                "arch": "x86_64",
                "state": "installed",
                "running_kernel": True,
                "warning": None,
            }
        ],
        "kfd_device_present": True,
        "kfd_device_accessible": True,
        "kfd_open_error": None,
        "kfd_sysfs_present": True,
        "dxg_device_present": False,
    }
    assert result.reasons == ()


def test_w11_modinfo_runs_once():
    record = driver(**installed()).record
    assert sum(command.argv[0] == "modinfo" for command in record.commands) == 1


def test_empty_host_claims_neither_presence_nor_absence():
    result = driver()
    value = result.value
    assert (value["status"], value["module_loaded"]) == (None, None)
    assert value["scope"] == "host_kernel"
    assert (value["kfd_device_present"], value["kfd_sysfs_present"]) == (False, None)
    for field in ("kfd_sysfs_present", "module_loaded", "loaded_version", "parameters"):
        assert result.kinds(field) == ["unsupported"]
    assert value["package_name"] is None
    assert result.kinds("status") == ["unsupported"]
    assert result.kinds("package_name") == ["no_tool"]
    assert result.kinds("module_version") == ["no_tool"]
    assert not any(reason.partial for reason in result.reasons)


def test_packages_that_could_not_be_asked_are_not_absent():
    broken = {"exit": 2, "stderr": "error: cannot open Packages database\n"}
    commands = {(*RPM, glob): broken for glob in (DKMS, KMOD)}
    result = driver(dirs=["/sys/class"], commands=commands)
    assert (result.value["status"], result.kinds("status")) == (None, ["blocked"])
    assert driver(dirs=["/sys/class"]).value["status"] == "absent"


def test_parameters_that_break_are_not_refused():
    files = {"/sys/module/amdgpu/parameters/a": errno.EIO, "/sys/module/amdgpu/parameters/b": "1\n"}
    result = driver(files=files)
    assert result.value["parameters"] == {"a": None, "b": "1"}
    assert result.kinds("parameters") == ["failed"]


def test_a_file_on_disk_is_no_driver():
    result = driver(
        dirs=["/sys/devices"], commands={"modinfo amdgpu": INTREE, (*RPM, DKMS): "", (*RPM, KMOD): ""}
    )
    value = result.value
    assert (value["status"], value["module_loaded"], value["kmd_version"]) == ("absent", False, None)
    assert (value["module_version"], value["module_intree"]) == (None, True)
    assert value["loaded_matches_disk"] is None
    assert result.kinds("package_name") == ["absent"]
    assert not any(reason.partial for reason in result.reasons)


def test_denied_everywhere():
    files = dict.fromkeys(LOADED, errno.EACCES)
    result = driver(
        files={**files, "/sys/module/amdgpu/parameters": errno.EACCES},
        commands={"modinfo amdgpu": {"outcome": "denied"}},
    )
    assert result.value["module_loaded"] is True
    for field in ("loaded_version", "loaded_srcversion", "parameters", "module_version"):
        assert result.kinds(field) == ["denied"], field


def test_sysfs_that_refuses():
    result = driver(files={"/sys/module": errno.EACCES, "/sys/class": errno.EACCES, "/dev": errno.EACCES})
    assert result.value["status"] is None
    assert result.value["kfd_device_present"] is None
    assert result.value["kfd_sysfs_present"] is None
    assert result.kinds("kfd_device_present") == ["denied"]
    assert result.kinds("kfd_device_accessible") == []


def test_a_parameter_that_cannot_be_read():
    result = driver(**installed(files={**LOADED, "/sys/module/amdgpu/parameters/noretry": errno.EACCES}))
    assert result.value["parameters"] == {"cwsr_enable": "1", "noretry": None}
    assert result.kinds("parameters") == ["denied"]


def test_a_kernel_banner_is_no_version():
    banner = "Linuxversion6.8.0-79-generic(buildd@builder)\n"
    result = driver(**installed(files={**LOADED, "/sys/module/amdgpu/version": banner}))
    assert result.value["kmd_version"] is None
    assert result.kinds("loaded_version") == ["unparsed"]


def test_same_version_rebuilt():
    result = driver(
        **installed(files={**LOADED, "/sys/module/amdgpu/srcversion": "0123456789ABCDEF0123456\n"})
    )
    assert result.value["loaded_matches_disk"] is False
    assert result.value["loaded_version"] == result.value["module_version"]


def test_versions_alone_decide_only_a_difference():
    files = {key: text for key, text in LOADED.items() if "srcversion" not in key}
    assert driver(**installed(files=files)).value["loaded_matches_disk"] is None
    other = {**files, "/sys/module/amdgpu/version": "6.14.14\n"}
    assert driver(**installed(files=other)).value["loaded_matches_disk"] is False


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("nothing of use\n", "unparsed"),
        ({"exit": 1, "stderr": "segmentation fault\n"}, "failed"),
        ({"outcome": "timed_out"}, "timed_out"),
    ],
)
def test_modinfo_that_gives_nothing(answer, kind):
    result = driver(**with_commands(**{"modinfo amdgpu": answer}))
    assert result.kinds("module_version") == [kind]
    assert result.value["loaded_version"] == "6.16.13"


def test_rpm_host_with_the_kernel_in_the_name():
    kernel = "6.9.0-0_fbk10_g9b20"
    rows = (
        "amdgpu-kmod-6.9.0_0_fbk9_aaaa\t6.12.12-1\tx86_64\n"
        "amdgpu-kmod-6.9.0_0_fbk10_g9b20\t6.14.14-2193512\tx86_64\namdgpu-kmod-firmware\t6.14.14-2193512\tnoarch\n"
    )
    commands = {(*RPM, DKMS): "", (*RPM, KMOD): rows, "modinfo amdgpu": MODINFO}
    observed = {"uname": {"release": kernel}}
    value = driver(files=LOADED, commands=commands, observed=observed).value
    assert value["package_name"] == "amdgpu-kmod"
    assert value["package_version"] == "6.14.14-2193512"
    assert value["package_full_name"] == "amdgpu-kmod-6.9.0_0_fbk10_g9b20-6.14.14-2193512.x86_64"
    assert (value["package_manager"], value["package_state"]) == ("rpm", None)


def test_w20_a_removed_package_is_not_installed():
    rows = "rc \tamdgpu-dkms\t1:6.8.5.60200-2009582.22.04\tall\nun \tamdgpu-dkms-headers\t\t\n"
    result = driver(dirs=["/sys/module"], commands={(*STATES, DKMS): rows, (*STATES, KMOD): NONE})
    assert result.value["package_name"] is None
    assert result.value["status"] == "absent"
    assert result.kinds("package_name") == ["absent"]


def test_a_half_installed_package_is_flagged():
    rows = "iU \tamdgpu-dkms\t1:6.12.12.60401-2164967.22.04\tall\n"
    result = driver(commands={(*STATES, DKMS): rows, (*STATES, KMOD): NONE})
    assert result.value["package_version"] is None
    assert result.kinds("package_version") == ["unparsed"]
    assert "amdgpu-dkms iU" in next(r.detail for r in result.reasons if r.field == "package_version")


def test_a_dpkg_query_that_knows_no_states():
    commands = {
        (*STATES, DKMS): {"exit": 2, "stderr": "dpkg-query: error: bad format\n"},
        (*STATES, KMOD): {"exit": 2, "stderr": "dpkg-query: error: bad format\n"},
        (
            *PLAIN,
            DKMS,
        ): "amdgpu-dkms\t1:6.14.14.30100100-2212064.24.04\namdgpu-dkms-firmware\t30.10.1.0\namdgpu-dkms-headers\t\n",
        (*PLAIN, KMOD): NONE,
    }
    result = driver(files=LOADED, commands=commands)
    assert result.value["package_version"] == "1:6.14.14.30100100-2212064.24.04"
    assert result.value["package_state"] is None
    assert result.kinds("package_state") == ["unsupported"]


def test_dpkg_that_fails_is_not_no_package():
    broken = {"exit": 2, "stderr": "dpkg-query: error: failed to open package info file\n"}
    result = driver(files=LOADED, commands={(*STATES, DKMS): broken, (*STATES, KMOD): broken})
    assert result.value["package_name"] is None
    assert result.kinds("package_name") == ["failed"]


def test_dxg_only():
    value = driver(
        nodes={"/dev/dxg": "c"},
        dirs=["/sys/devices"],
        commands={"modinfo amdgpu": {"exit": 1, "stderr": "modinfo: ERROR: Module amdgpu not found.\n"}},
    ).value
    assert (value["status"], value["dxg_device_present"], value["kfd_device_present"]) == (
        "absent",
        True,
        False,
    )


def test_dkms_fails():
    assert driver(**with_commands(**{"dkms status": {"exit": 3}})).kinds("dkms") == ["failed"]
    assert driver(**with_commands(**{"dkms status": ""})).value["dkms"] == []


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("amdgpu-dkms", "amdgpu-dkms"),
        ("amdgpu-kmod-6.9.0_x", "amdgpu-kmod"),
        ("kmod-6.12-amdgpu", "amdgpu-kmod"),
        ("amdgpu-dkms-firmware", None),
        ("amdgpu-kmod-firmware", None),
        ("amdgpu-dkms-headers", None),
        ("amdgpu-core", None),
        ("rocm-core", None),
        ("amdgpu-dkmsx", None),
    ],
)
def test_families(name, family):
    assert family_of(name) == family


@pytest.mark.parametrize("version", ["1:6.8.5.60200-2009582.24.04", "5.16.9.22.20.50200-1438747~20.04"])
def test_dpkg_versions(version):
    ((package,), unfinished) = parse_dpkg(f"hi \tamdgpu-dkms\t{version}\tall")
    assert (package.version, package.state, unfinished) == (version, "hi", [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ii\n",
        "ii \tamdgpu-dkms\n",
        "ii \tamdgpu-dkms\ta b c\tall\n",
        "x\ty\n",
        "? \tamdgpu-dkms\t1\tall\n",
    ],
)
def test_damaged_dpkg_rows(text):
    assert parse_dpkg(text)[0] == []
    assert parse_rpm(text.replace("ii \t", "")) == [] or "1" in text


def test_choice_without_a_known_kernel():
    packages = parse_rpm("amdgpu-kmod-a\t1-1\tx86_64\namdgpu-dkms\t2-1\tnoarch\n")
    assert choose(packages, None).name == "amdgpu-dkms"
    assert choose([], RELEASE) is None
    assert parse_rpm("amdgpu-dkms\t2-1\n")[0].full_name == "amdgpu-dkms-2-1"


@pytest.mark.parametrize(
    "text",
    ["no colons here\n", "amdgpu: broken\n", "nvidia/570, 5.15, x86_64: installed\n", "amdgpu/1, 2: x, y\n"],
)
def test_other_dkms_lines(text):
    assert parse_dkms(text) == []


def test_modinfo_takes_the_first_of_each_field():
    file = parse_modinfo(MODINFO.replace("\n", "\r\n"))
    assert (file.version, file.srcversion, file.intree, file.builtin) == (
        "6.16.13",
        "A6F143BEC60C0AFC3263226",
        False,
        False,
    )
    odd = parse_modinfo("filename: /x.ko\nversion: Linuxversion(x)\nsrcversion: zz\n")
    assert (odd.version, odd.srcversion, odd.vermagic) == (None, None, None)


@pytest.mark.parametrize("text", ["", "Linux version 6", "6.8.5\n6.8.6", "v1", "6" * 200])
def test_no_module_versions(text):
    with pytest.raises(ValueError, match="no module version"):
        module_version(text)


@pytest.mark.parametrize("text", ["", "xyz", "A6F1"])
def test_no_srcversions(text):
    with pytest.raises(ValueError, match="no srcversion"):
        srcversion(text)


@pytest.mark.parametrize("tool", ["dpkg-query", "rpm"])
def test_garbage_of_a_package_tool_is_not_the_absence_of_a_package(tool):
    class Garbling(FakeHost):
        def run(self, argv, **options):
            if argv[0] == tool:
                return Completed(outcome=Outcome.OK, exit_code=0, stdout="\ufffd{not a table}\n")
            return super().run(argv, **options)

    result = collect(Garbling(dirs=["/sys/module", "/dev"]), "amdgpu_driver")
    assert "unparsed" in result.kinds("package_name")
    assert "absent" not in result.kinds("package_name")
