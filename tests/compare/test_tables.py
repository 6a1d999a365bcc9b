"""The tables name fields that exist, and no list of objects is forgotten."""

import pytest

from aorta.cli.declared import fields
from aorta.compare import tables
from aorta.compare.knowledge import Knowledge, group_of
from aorta.model.sections import ORDER
from aorta.plugin.discovery import discover
from tests.parts.compared import known

#: Lists of objects without a key: they are compared by content.
BY_CONTENT = {"loaded_libraries.banners"}


def shapes():
    for section, spec in discover(outside=False).collectors.items():
        for path, shape, _ in fields(section, spec.shape, spec.provenance):
            yield path, shape


#: The first of one path is the list itself, not its members.
SHAPES = dict(reversed([*shapes()]))


@pytest.mark.parametrize(
    "table",
    [
        "IDENTITY",
        "TELLING",
        "PLACE",
        "MEASURED",
        "SAID",
        "ORDERED",
        "KEYS",
        "BY_PLACE",
        "CHANGED",
        "REPEATING",
        "GROUPED",
        "REVISIONS",
    ],
)
def test_every_path_of_a_table_is_a_field(table):
    lost = {path for path in getattr(tables, table) if path not in SHAPES}
    assert lost == set()


def test_every_list_of_objects_has_a_key_or_is_compared_by_content():
    lists = {
        path
        for path, shape in SHAPES.items()
        if shape.kind == "list" and shape.item is not None and shape.item.kind == "object"
    }
    assert lists - set(tables.KEYS) == BY_CONTENT
    for path in lists - BY_CONTENT:
        assert {f"{path}.{name}" for name in tables.KEYS[path]} <= set(SHAPES)


def test_every_section_has_one_group():
    grouped = [section for _, sections in tables.GROUPS for section in sections]
    assert len(grouped) == len(set(grouped))
    assert set(grouped) <= set(ORDER)
    assert group_of("vendor.name") == group_of("host") == tables.OTHER


def test_the_triage_is_of_fields():
    assert set(tables.TRIAGE) <= set(SHAPES)


def test_what_the_declarations_say_is_taken_over():
    knowledge = known()
    assert {
        path for path, shape in SHAPES.items() if shape.fact is not None and shape.fact.volatile
    } == knowledge.volatile
    assert "gpus.ras" in knowledge.quiet and "host.boot_id" in knowledge.volatile
    assert {"env_vars", "amdgpu_driver.parameters", "pytorch_build.flags.cxx_defines"} <= knowledge.maps
    assert knowledge.evidence("rocm.kmd_version") == ("host_kernel",)
    assert knowledge.evidence("rocm.version") == knowledge.evidence("rocm") == ("filesystem",)
    assert knowledge.evidence("vendor.name.field") == ()


def test_rows_stand_by_weight():
    knowledge = Knowledge(order=("host", "rccl", "rocm"))
    assert sorted(("vendor", "host", "rccl", "env_vars", "rocm"), key=knowledge.rank) == [
        "rocm",
        "rccl",
        "env_vars",
        "host",
        "vendor",
    ]


def test_copies_and_their_originals_are_fields():
    named = {path.replace(".build_settings.COMMIT_SHA", ".build_settings") for path in tables.COPIES}
    assert (named | set(tables.COPIES.values())) - set(SHAPES) == set()
    assert not set(tables.COPIES) & set(tables.COPIES.values())


def test_the_platform_stands_with_buck():
    assert group_of("execution_context", "execution_context.likely_execution_platform") == "buck"
    assert group_of("execution_context", "execution_context.probe_invocation") == tables.OTHER
    assert set(tables.GROUPED.values()) <= {name for name, _ in tables.GROUPS}
