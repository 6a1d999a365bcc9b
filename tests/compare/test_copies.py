"""Facts that stand twice are one row; nothing else is put together."""

from aorta.compare import folded
from tests.parts.compared import Found, document


def rows(one, other):
    return {
        row.path: also
        for row, also in folded(Found(document(**one), document(**other)).comparison.differences)
    }


def catalog(revision, lib_hash="sha256:" + "a" * 64):
    return {
        "hipblaslt": {"kernel_db_revision": revision},
        "tensile_catalog": {"hipblaslt": {"kernel_db_revision": revision, "lib_hash": lib_hash}},
    }


def test_a_declared_copy_is_named_beside_its_original():
    assert rows(catalog("x"), catalog("y")) == {
        "hipblaslt.kernel_db_revision": ["tensile_catalog.hipblaslt.kernel_db_revision"]
    }


def test_a_copy_that_says_something_else_has_its_own_row():
    other = catalog("y")
    other["tensile_catalog"]["hipblaslt"]["kernel_db_revision"] = "z"
    assert rows(catalog("x"), other) == {
        "hipblaslt.kernel_db_revision": [],
        "tensile_catalog.hipblaslt.kernel_db_revision": [],
    }


def test_the_original_is_shown_wherever_it_stands():
    one, other = (
        {"pytorch_build": {"git_commit": sha, "flags": {"build_settings": {"COMMIT_SHA": sha}}}}
        for sha in ("0123456789ab", "ba9876543210")
    )
    assert rows(one, other) == {"pytorch_build.git_commit": ["pytorch_build.flags.build_settings.COMMIT_SHA"]}


def test_telling_pairs_are_one_row_and_everyday_ones_are_not():
    one = {
        "amdgpu_driver": {"kmd_version": "6.8.5", "loaded_version": "6.8.5", "status": "a", "x": 1, "y": 1}
    }
    other = {
        "amdgpu_driver": {"kmd_version": "6.10", "loaded_version": "6.10", "status": "b", "x": 2, "y": 2}
    }
    for value, folds in (("6.10.5", 1), ("6.10", 0)):
        other["amdgpu_driver"].update(kmd_version=value, loaded_version=value)
        assert len(rows(one, other)) == 5 - folds


def test_variables_and_what_one_side_lacks_stand_by_themselves():
    one, other = ({"env_vars": {"A_X": value, "B_X": value}} for value in ("version-1", "version-2"))
    assert len(rows(one, other)) == 2
    one, other = ({"rccl": {"version": v, "lib_hash": v, "x": 1}} for v in ("version-1", None))
    assert len(rows(one, other)) == 2


def test_the_execution_platform_stands_with_buck():
    one, other = (
        {
            "execution_context": {"likely_execution_platform": p},
            "build_system": {"kind": k},
            "host": {"machine": k},
        }
        for p, k in (("x", "buck2"), ("y", "none"))
    )
    found = Found(document(**one), document(**other)).comparison.differences
    assert [(row.path, row.weight) for row in found] == [
        ("build_system.kind", "buck"),
        ("execution_context.likely_execution_platform", "buck"),
        ("host.machine", "other"),
    ]
