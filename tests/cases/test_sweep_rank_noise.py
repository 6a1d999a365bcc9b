"""Of many ranks one speaks: one summary, one run directory; what is wrong on one rank alone is told with its number."""

from tests.launch.conftest import Job

CASE = "sweep-rank-noise"


def test_eight_ranks_say_what_one_would(tmp_path):
    job = Job(tmp_path)
    try:
        for rank in range(8):
            job.start(rank, "-v", size=8, join=60)
        codes, outs, errors = job.ended(120)
        assert codes == [0] * 8, errors
        assert "".join(outs).count("Sweep summary") == 1
        assert "".join(outs).count("Wrote matrix") == 1
        assert [bool(error) for error in errors] == [True] + [False] * 7
        assert len(job.runs) == 1
        assert all(out == "" for out in outs[1:])
    finally:
        job.end()


def test_an_error_of_one_rank_is_told_with_its_number(tmp_path):
    job = Job(tmp_path)
    try:
        for rank in range(4):
            job.start(rank, recipe="elsewhere.yaml" if rank == 3 else "r.yaml", size=4, join=60)
        [line] = job.refused(120)
        assert line.startswith("aorta: rank 3 on ")
    finally:
        job.end()


def test_a_dry_run_is_printed_once(tmp_path):
    job = Job(tmp_path)
    try:
        for rank in range(3):
            job.start(rank, "--dry-run", size=3)
        codes, outs, errors = job.ended()
        assert codes == [0] * 3, errors
        assert [out.count("Nothing was run or written.") for out in outs] == [1, 0, 0]
    finally:
        job.end()
