"""Importing plugins takes of the time of the capture, and no more than a third of it."""

import time

from aorta.instrumentation import capture
from aorta.model.codec import dump
from aorta.testing import FakeHost


def test_an_import_that_does_not_end_leaves_two_thirds_of_a_capture(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "stuck_site.py").write_text("import time\ntime.sleep(600)\n")
    begun = time.monotonic()
    made = dump(capture(host=FakeHost(), plugins=["stuck_site"], deadline_s=6))
    assert time.monotonic() - begun < 6
    (told,) = [one for one in made["collection"]["plugins"] if one["name"] == "stuck_site"]
    assert told["status"] == "failed"
    assert told["detail"] == f"its import does not end, it was at {tmp_path}/stuck_site.py:2"
    assert made["collection"]["collectors"]["env_vars"]["status"] == "ok"
