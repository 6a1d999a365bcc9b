"""Where a rank's files are when rank 0's directory is not seen: what is left there ends with its run."""

import tempfile

from aorta.sweep.ranks.local import files_at, forget


def test_what_a_killed_rank_left_is_removed_and_no_other_run_s(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with (
        files_at("/not/here/cells/base/trial_000", "a1") as (files, seen),
        files_at("/not/here/cells/base/trial_000", "a") as (others, _),
    ):
        assert not seen
        for one in (files, others):
            with open(f"{one.stem}.request.json", "w", encoding="utf-8") as file:
                file.write("{}")
        forget("a")
        [left] = tmp_path.iterdir()
        assert files.stem.startswith(f"{left}/")
    assert list(tmp_path.iterdir()) == []
