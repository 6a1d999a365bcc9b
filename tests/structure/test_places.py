"""Where tests stand, for reasons that their text does not show."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_the_contract_is_held_in_its_folder_alone():
    """It adds an audit hook to the process, so the folder runs last: see conftest."""
    users = {
        path for path in TESTS.rglob("test_*.py") if "assert_contract(" in path.read_text(encoding="utf-8")
    }
    assert {path.parent.name for path in users - {Path(__file__).resolve()}} == {"contract"}
