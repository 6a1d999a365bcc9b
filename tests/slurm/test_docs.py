"""What the page says of srun, in a real one."""

import pytest

from tests.parts.doc_programs import environment
from tests.parts.pages import blocks
from tests.parts.slurm import PATH

PAGE = "docs/env-probe.md"
LINES = [line for block in blocks(PAGE, "console") for line in block.commands if line.startswith("srun ")]


@pytest.fixture
def env(steps):
    """Return the environment of the page's lines, with the real srun in place of a stand-in."""
    env = environment(steps.beside)
    programs = steps.beside / "programs"
    (programs / "srun").unlink()
    return {**env, "PATH": f"{programs}:{PATH}"}


def test_the_lines(steps, env):
    assert [line.split()[0] for line in LINES] == ["srun"] * 2
    for line in LINES:
        done = steps.cluster.run("sh", "-c", line, cwd=steps.folder, env=env)
        assert done.returncode == 0, done.stderr
    assert steps.files == ["env-0.json", "env-1.json", *(f"rank-{rank}.json" for rank in range(4))]
    assert [steps.document(f"rank-{rank}.json")["launcher"]["rank"] for rank in range(4)] == [0, 1, 2, 3]
    assert [steps.document(f"env-{node}.json")["launcher"]["node_rank"] for node in (0, 1)] == [0, 1]


def test_the_program_that_captures_itself(steps, env):
    program = steps.beside / "train.py"
    program.write_text(blocks(PAGE, "python")[-1].text)
    words = ("-N2 --ntasks-per-node=2", "python", str(program))
    for output, files in ((None, []), ("env-{rank}.json", ["env-0.json", "env-2.json"])):
        done = steps.run(*words, **env, **({"AORTA_ENV_OUTPUT": output} if output else {}))
        assert (done.returncode, done.stderr) == (0, "")
        assert steps.files == files
    for name, node in (("env-0.json", "node1"), ("env-2.json", "node2")):
        assert steps.document(name)["launcher"]["node"] == node
