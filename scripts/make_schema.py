"""Write schema/snapshot-VERSION.schema.json from the declarations of the built-in collectors."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "collectors")]

from aorta.model.schema import document_schema  # noqa: E402
from aorta.model.snapshot import SCHEMA_VERSION  # noqa: E402
from aorta.plugin.discovery import discover  # noqa: E402

TARGET = ROOT / "schema" / f"snapshot-{SCHEMA_VERSION}.schema.json"


def text() -> str:
    """Return the schema as it is written."""
    return json.dumps(document_schema(discover(outside=False)), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    print(TARGET.relative_to(ROOT))
