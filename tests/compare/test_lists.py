"""Lists: members by their key or by content, and what is said of many."""

from aorta.compare.lists import by_number
from tests.parts.compared import Found, document


def gpus(*bdfs, **changes):
    return [{"bdf": bdf, "gfx_target": "gfx942", "unique_id": bdf * 2, **changes} for bdf in bdfs]


def test_order_and_serial_numbers_are_no_difference():
    one, other = gpus("0000:1b:00.0", "0000:3d:00.0"), gpus("0000:3d:00.0", "0000:1b:00.0")
    for gpu in other:
        gpu["unique_id"] = "another"
    assert Found(document(gpus=one), document(gpus=other)).kinds == ([], [], [])


def test_addresses_of_as_many_devices_are_informational():
    found = Found(document(gpus=gpus("1", "2", "3")), document(gpus=gpus("4", "5", "6")))
    assert found.kinds == ([], ["gpus[*].bdf"], [])
    row = found.rows["gpus[*].bdf"]
    assert (row.a, row.b, row.note) == (["1", "2", "3"], ["4", "5", "6"], "3 of 3 differ")


def test_what_differs_alike_is_one_row():
    found = Found(
        document(gpus=gpus("1", "2", vbios_version="a")), document(gpus=gpus("1", "2", vbios_version="b"))
    )
    assert found.differences == ["gpus[*].vbios_version"]
    row = found.rows["gpus[*].vbios_version"]
    assert (row.a, row.b, row.members) == ("a", "b", ("bdf=1", "bdf=2"))


def test_one_member_has_its_key():
    other = gpus("1", "2")
    other[1]["gfx_target"] = "gfx950"
    assert Found(document(gpus=gpus("1", "2")), document(gpus=other)).differences == [
        "gpus[bdf=2].gfx_target"
    ]


def test_a_member_that_is_not_there():
    found = Found(document(gpus=gpus("1", "2")), document(gpus=gpus("1")))
    assert found.differences == ["gpus[bdf=2]"]
    assert found.rows["gpus[bdf=2]"].why_b == "not there"
    assert found.rows["gpus[bdf=2]"].a == {"bdf": "2", "gfx_target": "gfx942"}


def test_a_member_that_may_not_have_been_seen_is_unknown():
    for kind, expected in (("denied", "unknown"), ("unsupported", "differences"), ("absent", "differences")):
        found = Found(document(gpus=gpus("1", "2")), document(("gpus", "", kind), gpus=gpus("1")))
        assert getattr(found, expected) == ["gpus[bdf=2]"]
        assert sum(map(len, found.kinds)) == 1


def test_texts_without_a_key_are_compared_whatever_their_order():
    one, other = (
        document(gpu_arch={"gfx_targets": targets}) for targets in (["a", "b", "b"], ["b", "a", "c"])
    )
    row = Found(one, other).rows["gpu_arch.gfx_targets"]
    assert (row.a, row.b) == (["b"], ["c"])
    short = document(("gpu_arch", "gfx_targets", "denied"), gpu_arch={"gfx_targets": ["a"]})
    assert Found(one, short).unknown == ["gpu_arch.gfx_targets"]


def test_the_order_of_options_counts():
    one, other = (document(buck_invocation={"mode_files": files}) for files in (["a", "b"], ["b", "a"]))
    found = Found(one, other)
    assert found.differences == ["buck_invocation.mode_files"]
    assert found.rows["buck_invocation.mode_files"].note == "in another order"


def library(path, **more):
    return {"library": "rccl", "path": path, "basis": "observed", "digest": None, **more}


def test_loaded_libraries_are_known_by_file_without_version():
    one, other = ([library(f"/opt/rocm-{number}/lib/librccl.so.1.{number}")] for number in (6, 7))
    assert Found(document(loaded_libraries=one), document(loaded_libraries=other)).differences == [
        "loaded_libraries[rccl librccl.so].path"
    ]


def test_what_a_prediction_does_not_list_is_unknown():
    one = [library("/a/librccl.so"), library("/a/librccl-net.so")]
    other = [library("/a/librccl.so", basis="predicted")]
    assert Found(document(loaded_libraries=one), document(loaded_libraries=other)).kinds == (
        [],
        [],
        ["loaded_libraries[rccl librccl-net.so]"],
    )


def test_members_of_one_name_are_all_compared():
    one, other = ([library("/a/librccl.so", version=v) for v in versions] for versions in ("12", "13"))
    assert Found(document(loaded_libraries=one), document(loaded_libraries=other)).differences == [
        "loaded_libraries[rccl librccl.so 2].version"
    ]


def test_a_name_that_looks_numbered():
    names = ("x", "x", "x 2")
    one, other = ([{"name": name, "v": v} for name in names] for v in (1, 1))
    assert Found(document(p={"l": one}), document(p={"l": other})).kinds == ([], [], [])


def test_a_sign_of_isolation_that_is_there_several_times_is_one():
    def signs(*values):
        return [{"name": "file", "source": "/proc/x", "outcome": "fired", "value": value} for value in values]

    one, other = (document(isolation={"signals": signs(*values)}) for values in (("a", "b"), ("c",)))
    assert Found(one, other).kinds == ([], [], [])


def files(count, changed=()):
    return [{"name": f"f{n}", "size": 1, "sha256": f"{n}{'x' if n in changed else ''}"} for n in range(count)]


def test_many_files_are_counted():
    one, other = (
        document(miopen_catalog={"menu": {"files": f}}) for f in (files(5786), files(5786, range(12, 36, 2)))
    )
    assert len(Found(one, other).differences) == 1
    other["miopen_catalog"]["menu"]["files"] += files(5787)[-1:]
    [row] = Found(one, other).comparison.differences
    assert row.path == "miopen_catalog.menu.files"
    assert row.note == "13 of 5,787 differ: f12, f14, f16, f18, f20 and 8 more"
    assert len(row.members) == 12


def test_numbers_in_names_sort_as_numbers():
    assert sorted(["x10", "x2", "2", "x"], key=by_number) == ["2", "x", "x2", "x10"]
    sorted(["9" * 5000, "٣", "²", ""], key=by_number)
