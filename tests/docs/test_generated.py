"""The page of collectors is written from the declarations, and holds all of them."""

import importlib.util
from pathlib import Path

from aorta.model.shape import fields_of
from aorta.model.vocabulary import ReasonKind
from aorta.plugin.discovery import discover

ROOT = Path(__file__).resolve().parents[2]


def made():
    spec = importlib.util.spec_from_file_location("make_docs", ROOT / "scripts" / "make_docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_fresh():
    module = made()
    assert module.TARGET.read_text(encoding="utf-8") == module.text(), (
        "stale; run: python scripts/make_docs.py"
    )


def test_everything_declared_is_on_the_page():
    page = made().text()
    registry = discover(outside=False)
    for name, spec in registry.collectors.items():
        assert f"\n### {name}\n" in page
        section = page.split(f"\n### {name}\n")[1].split("\n### ")[0]
        for path, _ in fields_of(spec.model):
            assert f"| `{path}` |" in section
    for name in registry.providers:
        assert f"| `{name}` |" in page
    for kind in ReasonKind:
        assert f"| `{kind.value}` |" in page
