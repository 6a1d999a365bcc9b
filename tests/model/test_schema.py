"""The JSON Schema: it accepts what is captured, refuses what is not, and agrees with another generator."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import attrs
import jsonschema
import msgspec
import pytest

from aorta.instrumentation import capture
from aorta.model.codec import dump
from aorta.model.schema import document_schema, section_schema
from aorta.model.shape import empty
from aorta.model.snapshot import SCHEMA_VERSION
from aorta.plugin import collector
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost
from scripts.evidence import facts_of

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = discover(outside=False)
SCHEMA = document_schema(REGISTRY)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
MODELS = [spec.model for spec in REGISTRY.collectors.values() if attrs.has(spec.model)]


def script(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_schema_file_is_fresh():
    made = script("make_schema")
    assert made.TARGET.name == f"snapshot-{SCHEMA_VERSION}.schema.json"
    assert made.TARGET.exists(), "run: python scripts/make_schema.py"
    assert made.TARGET.read_text(encoding="utf-8") == made.text(), "stale; run: python scripts/make_schema.py"


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("detail", ["compact", "full"])
@pytest.mark.parametrize("host", [FakeHost, None])
def test_captured_documents_are_valid(detail, host):
    document = dump(capture(registry=REGISTRY, host=host() if host else None, detail=detail))
    VALIDATOR.validate(document)


@pytest.mark.parametrize("name", list(REGISTRY.collectors))
def test_failure_shapes_are_valid(name):
    spec = REGISTRY.collectors[name]
    jsonschema.Draft202012Validator(section_schema(spec)).validate(empty(spec.shape))


def test_what_is_wrong_is_refused():
    document = dump(capture(registry=REGISTRY, host=FakeHost()))
    without = {name: value for name, value in document.items() if name != "rocm"}
    assert "'rocm' is a required property" in next(VALIDATOR.iter_errors(without)).message
    wrong = json.loads(json.dumps(document))
    wrong["rocm"]["version"] = 7
    wrong["collection"]["reasons"].append({"section": "x", "kind": "mood"})
    places = {error.json_path.split("[")[0] for error in VALIDATOR.iter_errors(wrong)}
    assert places == {"$.rocm.version", "$.collection.reasons"}
    wrong["schema_version"] = "3.0"
    assert any(error.json_path == "$.schema_version" for error in VALIDATOR.iter_errors(wrong))


def test_newer_minors_are_accepted():
    document = json.loads(json.dumps(dump(capture(registry=REGISTRY, host=FakeHost()))))
    document |= {"schema_version": "2.7", "brand_new": 1}
    document["rocm"]["brand_new"] = 1
    VALIDATOR.validate(document)


def test_every_key_of_a_document_is_described():
    document = dump(capture(registry=REGISTRY, host=FakeHost()))
    assert list(SCHEMA["properties"]) == list(document)
    assert SCHEMA["required"] == list(document)
    assert all("description" in node for node in SCHEMA["properties"].values())


def test_declarations_are_carried():
    for name, spec in REGISTRY.collectors.items():
        node = SCHEMA["properties"][name]
        assert node["x-provenance"] == [kind.value for kind in spec.provenance]
        assert node["x-scope"] == spec.scope.value
        assert node["x-detail"] == spec.detail.value
        assert node["description"] == spec.summary
        for field, shape in spec.shape.fields:
            said = node["properties"][field]
            assert said["description"] == shape.fact.doc
            assert said.get("x-caveat", "") == shape.fact.caveat
            assert said.get("x-volatile", False) == shape.fact.volatile


def described(path, node):
    """Yield every described node below one with its path, as ``facts_of`` names it."""
    for name, member in node.get("properties", {}).items():
        yield f"{path}.{name}", member
        yield from described(f"{path}.{name}", member)
    for below in (node.get("items"), node.get("additionalProperties")):
        if isinstance(below, dict):
            yield f"{path}[]", below
            yield from described(f"{path}[]", below)


def test_what_a_field_rests_on_is_what_the_pages_say():
    """Its own evidence, else that of what it is a part of: a reader of the schema has to look nowhere else."""
    checked = 0
    for name, spec in REGISTRY.collectors.items():
        nodes = dict(described(name, SCHEMA["properties"][name]))
        for path, shape, kinds in facts_of(spec):
            if shape.fact is not None and path in nodes:
                assert nodes[path]["x-provenance"] == [kind.value for kind in kinds], path
                checked += 1
    assert checked > 400
    ulimits = SCHEMA["properties"]["host"]["properties"]["ulimits"]
    assert ulimits["x-provenance"] == ["process"] != SCHEMA["properties"]["host"]["x-provenance"]
    assert "x-provenance" not in SCHEMA["properties"]["collection"]["properties"]["tool"]


def test_an_outside_section_is_described():
    from typing import Annotated

    from aorta.collect import Context
    from aorta.model.fact import Fact
    from aorta.model.vocabulary import Provenance

    @collector(
        section="acme.nic",
        model=Annotated[dict[str, int] | None, Fact("Ports.")],
        provenance=Provenance.PROCESS,
    )
    def collect(ctx: Context):
        """Ports of the card."""
        return {"a": 1}

    registry = discover([collect], outside=False)
    schema = document_schema(registry)
    document = dump(capture(registry=registry, host=FakeHost()))
    jsonschema.Draft202012Validator(schema).validate(document)
    document["extensions"]["acme.nic"]["data"] = {"a": "x"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate(document)


# Another generator as the oracle


def ours(node: dict[str, Any]) -> Any:
    """Return what a node of ours says of the types, in the form of the oracle's."""
    if "enum" in node:
        return {"enum": sorted(word for word in node["enum"] if word is not None)}
    kinds = [node["type"]] if isinstance(node.get("type"), str) else node.get("type", [])
    kind = next((word for word in kinds if word != "null"), "any")
    if kind == "array":
        return {"array": ours(node["items"])}
    if kind == "object" and "properties" in node and node.get("additionalProperties") is True:
        return {"object": {name: ours(member) for name, member in node["properties"].items()}}
    if kind == "object":
        return {"map": ours(node["additionalProperties"])}
    return kind


def theirs(node: dict[str, Any], defs: dict[str, Any]) -> Any:
    if "$ref" in node:
        return theirs(defs[node["$ref"].rpartition("/")[2]], defs)
    if "anyOf" in node:
        members = [member for member in node["anyOf"] if member != {"type": "null"}]
        return theirs(members[0], defs) if len(members) == 1 else "any"
    if "enum" in node:
        return {"enum": sorted(word for word in node["enum"] if word is not None)}
    if isinstance(node.get("type"), list):
        return "any"
    kind = node.get("type", "any")
    if kind == "array":
        return {"array": theirs(node["items"], defs)}
    if kind == "object" and "properties" in node:
        return {"object": {name: theirs(member, defs) for name, member in node["properties"].items()}}
    if kind == "object":
        return {"map": theirs(node.get("additionalProperties", {}), defs)}
    return kind


def nullable(node: dict[str, Any]) -> bool:
    kinds = node.get("type", [])
    return (
        "null" in kinds
        or None in node.get("enum", [])
        or {"type": "null"} in node.get("anyOf", [])
        or (not kinds and "enum" not in node and "anyOf" not in node and "$ref" not in node)
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_it_agrees_with_msgspec(model):
    spec = next(one for one in REGISTRY.collectors.values() if one.model is model)
    (root,), defs = msgspec.json.schema_components([model])
    mine, other = section_schema(spec), defs[root["$ref"].rpartition("/")[2]]
    assert ours(mine) == theirs(other, defs)
    for name, member in mine["properties"].items():
        leaf = "properties" not in member or isinstance(member["type"], list)
        assert nullable(member) == (nullable(other["properties"][name]) or leaf)
