"""A second job at a port that is taken: all its ranks say so in one line each, soon, and choose no other."""

import socket
import time

from tests.launch.conftest import Job

CASE = "launch-port-in-use-two-jobs"


def test_all_ranks_say_so(tmp_path):
    job = Job(tmp_path)
    try:
        with socket.create_server(("", 0)) as other:
            job.port = other.getsockname()[1]
            began = time.monotonic()
            for rank in (0, 1):
                job.start(rank, join=120, MASTER_ADDR="localhost")
            [line] = job.refused(60)
        assert time.monotonic() - began < 40
        assert f"port {job.port} of localhost is in use" in line
        assert "choose another MASTER_PORT" in line
        assert "--standalone" in line
    finally:
        job.end()
