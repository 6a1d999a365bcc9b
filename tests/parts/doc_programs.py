"""Programs for the lines of the documentation: aorta itself, and stand-ins for two engines.

The stand-ins take the very words of the line, as the shell hands them on, and run what the engine would
run, under the variables that it would set. They know no option that the documentation does not use, and
say nothing of whether a real engine takes the line.
"""

import sys
from pathlib import Path

from tests.parts.pages import ROOT

DOCKER = """
import os, sys
words = sys.argv[1:]
assert words.pop(0) == "run", words
while words[0].startswith("-"):
    option = words.pop(0)
    if option == "-e":
        name, equals, value = words.pop(0).partition("=")
        os.environ[name] = value if equals else os.environ[name]
    else:
        assert option == "--rm", option
image, *command = words
os.execvp(command[0], command)
"""

SRUN = """
import os, subprocess, sys
words = sys.argv[1:]
nodes = tasks = 1
while words[0].startswith("-"):
    option = words.pop(0)
    if option.startswith("-N"):
        nodes = int(option[2:])
    else:
        name, equals, value = option.partition("=")
        assert name == "--ntasks-per-node", option
        tasks = int(value)
job = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NTASKS": nodes * tasks, "SLURM_NNODES": nodes}
running = []
for rank in range(nodes * tasks):
    place = {"SLURM_PROCID": rank, "SLURM_LOCALID": rank % tasks, "SLURM_NODEID": rank // tasks}
    env = {**os.environ, **{name: str(value) for name, value in {**job, **place}.items()}}
    running.append(subprocess.Popen(words, env=env))
sys.exit(max(task.wait() for task in running))
"""


def environment(folder: Path) -> dict[str, str]:
    """Write the programs into a folder; return the whole environment for lines of the documentation."""
    programs = folder / "programs"
    programs.mkdir()
    script(programs / "aorta", "/bin/sh", f'exec {sys.executable} -m aorta "$@"')
    script(programs / "python", "/bin/sh", f'exec {sys.executable} "$@"')
    script(programs / "docker", sys.executable, DOCKER)
    script(programs / "srun", sys.executable, SRUN)
    return {
        "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYTHONPATH": f"{folder}:{ROOT}:{ROOT}/collectors",
    }


def script(path: Path, interpreter: str, body: str) -> None:
    """Write a program."""
    path.write_text(f"#!{interpreter}\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
