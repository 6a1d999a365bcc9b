"""A cell that sets, unsets or extends what says which rank a process is: an error that names it, for a dry run too."""

from tests.launch.conftest import Job

CASE = "launch-env-overlay-cannot-override-launcher"

REJECTED = (
    "RANK",
    "LOCAL_RANK",
    "MASTER_PORT",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "TORCHELASTIC_RUN_ID",
    "SLURM_PROCID",
    "PMI_RANK",
    "PMIX_RANK",
    "OMPI_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_RANK",
    "PALS_RANKID",
    "MPI_LOCALRANKID",
    "AORTA_TRIAL_MASTER_PORT_BASE",
)
RECIPE = """
schema_version: 1
ticket: T
workload: ranks
trials: 1
steps: 1
cells:
  - name: base
    mitigations: [none]
    environment: local
    extra_env: {{{env}}}
"""


def test_each_name_is_told_and_nothing_runs(tmp_path):
    job = Job(tmp_path)
    names = {**dict.fromkeys(REJECTED, "0"), "NCCL_DEBUG": "INFO"}
    text = ", ".join(f"{name}: '{value}'" for name, value in names.items())
    (tmp_path / "r.yaml").write_text(RECIPE.format(env=text))
    try:
        for words in (("--dry-run",), ()):
            job.start(0, *words, RANK=None, WORLD_SIZE=None, LOCAL_RANK=None, LOCAL_WORLD_SIZE=None)
            [code], [out], [errors] = job.ended()
            assert code == 2
            for name in REJECTED:
                assert f"sets {name}, which the launcher alone may; take it out" in out + errors
            assert "sets NCCL_DEBUG" not in out + errors
        assert job.runs == []
    finally:
        job.end()


def test_values_that_are_no_texts_and_names_that_are_none(tmp_path):
    job = Job(tmp_path)
    try:
        for name, value in (("bad key", "x"), ("EMPTY", "null")):
            (tmp_path / "r.yaml").write_text(RECIPE.format(env=f"{name!r}: {value}"))
            job.start(0, "--dry-run", RANK=None, WORLD_SIZE=None, LOCAL_RANK=None, LOCAL_WORLD_SIZE=None)
            [code], _, [errors] = job.ended()
            assert code == 2, name
            assert name in errors
    finally:
        job.end()
