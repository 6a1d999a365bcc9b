"""Write the JSON Schemas of schema/ from what is declared in the code."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "collectors")]

from aorta.model.schema import document_schema  # noqa: E402
from aorta.model.snapshot import SCHEMA_VERSION  # noqa: E402
from aorta.plugin.discovery import discover  # noqa: E402
from aorta.sweep.matrix.schema import matrix_schema  # noqa: E402
from aorta.sweep.recipe.model import SCHEMA_VERSION as RECIPE_VERSION  # noqa: E402
from aorta.sweep.recipe.schema import recipe_schema  # noqa: E402
from aorta.sweep.run.schema import trial_schema  # noqa: E402

TARGET = ROOT / "schema" / f"snapshot-{SCHEMA_VERSION}.schema.json"
RECIPE_TARGET = ROOT / "schema" / f"recipe-{RECIPE_VERSION}.json"


def text() -> str:
    """Return the schema as it is written."""
    return json.dumps(document_schema(discover(outside=False)), indent=2, ensure_ascii=False) + "\n"


def recipe_text() -> str:
    """Return the schema of recipes as it is written."""
    return json.dumps(recipe_schema(), indent=2, ensure_ascii=False) + "\n"


def targets() -> dict[Path, str]:
    """Return the files and their texts."""
    others = {"matrix-1.json": matrix_schema(), "trial-1.json": trial_schema()}
    made = {ROOT / "schema" / name: json.dumps(schema, indent=2) + "\n" for name, schema in others.items()}
    return {TARGET: text(), RECIPE_TARGET: recipe_text(), **made}


if __name__ == "__main__":
    for path, written in targets().items():
        path.write_text(written, encoding="utf-8")
        print(path.relative_to(ROOT))
