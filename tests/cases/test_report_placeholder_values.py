"""A field that is there and says nothing is no identity, and each way of saying nothing has its words."""

import pytest

from aorta.validate.finding import ERROR, WARNING
from tests.parts.pairs import GONE, client, found, judged, texts, workload

CASE = "report-placeholder-values"

#: The section of the workload, and the words for it.
WAYS = {
    "empty": ({"version": ""}, 'rccl.version is empty ("")'),
    "null": ({"version": None}, "rccl.version is null"),
    "section null": (None, "the section rccl is null"),
    "section missing": (GONE, "the section rccl is missing"),
    "placeholder": ({"version": "unknown"}, 'rccl.version is a placeholder ("unknown")'),
}


def verdict(section, **options):
    return judged(client(), workload({"rccl": section}), **options)


@pytest.mark.parametrize("way", WAYS)
def test_an_explicit_requirement_fails_in_its_own_words(way):
    section, words = WAYS[way]
    asked = verdict(section, libraries=("rccl",))
    assert not asked.passed
    assert texts(asked, "workload.library") == [
        f"ERROR: w0.json: required library rccl has no identity: {words}"
    ]


def test_the_words_are_five():
    assert len({words for _, words in WAYS.values()}) == 5


@pytest.mark.parametrize("way", [way for way in WAYS if way != "section missing"])
def test_without_the_requirement_it_is_a_warning(way):
    section, words = WAYS[way]
    asked = verdict(section)
    assert asked.passed
    assert found(asked) == {"workload.libraries"}
    assert asked.findings[0].severity == WARNING
    assert words in asked.findings[0].text


@pytest.mark.parametrize("options", [{}, {"libraries": ("rccl",)}])
def test_a_missing_key_is_an_error_of_the_structure(options):
    asked = verdict(GONE, **options)
    assert not asked.passed
    [line] = texts(asked, "workload.structure")
    assert line.startswith("ERROR: w0.json: structure: missing rccl, ")
    assert {finding.severity for finding in asked.findings} == {ERROR}


@pytest.mark.parametrize("text", ["N/A", "none", "-", " Unknown ", "null", "?", "  ", "n/a"])
def test_more_words_that_say_nothing(text):
    assert not verdict({"version": text}, libraries=("rccl",)).passed


@pytest.mark.parametrize(
    "section", [{"version": "2.27.7"}, {"lib_hash": "sha256:" + "1" * 64, "version": None}]
)
def test_one_identity_is_enough(section):
    asked = verdict(section, libraries=("rccl",))
    assert (asked.passed, found(asked)) == (True, set())


def test_a_placeholder_beside_an_identity_is_told():
    asked = verdict({"lib_hash": "sha256:" + "1" * 64, "version": "unknown"}, libraries=("rccl",))
    assert (asked.passed, found(asked)) == (True, {"workload.placeholder"})


@pytest.mark.parametrize(("basis", "passes"), [("observed", True), ("predicted", False)])
def test_what_the_process_has_mapped_is_an_identity_and_a_prediction_is_none(basis, passes):
    row = {"library": "rccl", "soname": "librccl.so.1", "digest": "sha256:" + "1" * 64, "basis": basis}
    asked = judged(client(), workload({"rccl": None, "loaded_libraries": [row]}), libraries=("rccl",))
    assert asked.passed is passes


def test_the_clients_own_packages_never_stand_in():
    one = client({"library_introspection_alternates": [{"name": "rccl", "package_version": "2.27.7"}]})
    assert one["rccl"]["version"]
    assert not judged(one, workload({"rccl": None}), libraries=("rccl",)).passed


def test_a_library_of_no_section_is_asked_of_the_client_alone():
    rows = [{"name": "our_kernels", "role": "target"}, {"name": "pytorch", "role": "target"}]
    asked = judged(client({"library_introspection": rows}), workload(), libraries=("our_kernels",))
    assert (asked.passed, found(asked)) == (True, set())
