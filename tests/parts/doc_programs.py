"""Programs for the lines of the documentation: aorta itself, and stand-ins for what starts containers.

The stand-ins take the very words of the line, as the shell hands them on, and run what the engine would
run, under the variables that it would set. They know no option that the documentation does not use, and
say nothing of whether a real engine takes the line.
"""

import os
import sys
from pathlib import Path

from tests.parts.pages import ROOT

#: What every stand-in begins with: a mount is done by naming the file outside.
MOUNTS = """
import os, subprocess, sys
words = sys.argv[1:]
mounts = {}


def mount(text):
    outside, inside, *mode = text.split(":")
    assert os.path.exists(outside) and inside.startswith("/") and mode in ([], ["ro"]), text
    mounts[inside] = outside


def within(command):
    for inside, outside in mounts.items():
        command = [outside + word[len(inside):] if (word + "/").startswith(inside + "/") else word for word in command]
    return command
"""

#: Docker and podman: the options that both have.
DOCKER = """
if words[:3] == ["image", "inspect", "-f"]:
    assert words[3] in ("{{.Id}}", "{{.Digest}}"), words
    print("sha256:" + "d" * 64)
    sys.exit()
assert words.pop(0) == "run", words
while words[0].startswith("-"):
    option = words.pop(0)
    if option == "-e":
        name, equals, value = words.pop(0).partition("=")
        os.environ[name] = value if equals else os.environ[name]
    elif option == "-v":
        mount(words.pop(0))
    else:
        assert option == "--rm", option
image, *command = words
os.execvp(command[0], within(command))
"""

APPTAINER = """
assert words.pop(0) == "exec", words
while words[0].startswith("-"):
    option, value = words.pop(0), words.pop(0)
    if option == "--bind":
        mount(value)
    else:
        assert option == "--env", option
        os.environ.update(pair.split("=", 1) for pair in value.split(","))
image, *command = words
assert os.path.exists(image), image
os.execvp(command[0], within(command))
"""

#: A pod whose files under /tmp are this machine's in a folder of their own.
KUBECTL = """
mounts["/tmp"] = os.path.join(os.environ["HOME"], "pod")
verb = words.pop(0)
if verb == "cp":
    source, target = words
    pod, _, path = target.partition(":")
    [place] = within([path])
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(source, "rb") as file, open(place, "wb") as copy:
        copy.write(file.read())
elif verb == "get":
    kind, pod, option, path = words
    name = path.rpartition(".")[2].rstrip("}")
    assert (kind, option) == ("pod", "-o") and path.startswith("jsonpath={.status.containerStatuses[0]."), words
    print({"image": "IMAGE", "imageID": "registry/IMAGE@sha256:" + "d" * 64}[name], end="")
else:
    pod, dashes, *command = words
    assert (verb, dashes) == ("exec", "--"), words
    os.execvp(command[0], within(command))
"""

SRUN = """
nodes = tasks = 1
while words[0].startswith("-"):
    option = words.pop(0)
    name, equals, value = option.partition("=")
    if option.startswith("-N"):
        nodes = int(option[2:])
    elif name == "--container-mounts":
        mount(value)
    elif name != "--container-image":
        assert name == "--ntasks-per-node", option
        tasks = int(value)
job = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NTASKS": nodes * tasks, "SLURM_NNODES": nodes}
running = []
for rank in range(nodes * tasks):
    place = {"SLURM_PROCID": rank, "SLURM_LOCALID": rank % tasks, "SLURM_NODEID": rank // tasks}
    env = {**os.environ, **{name: str(value) for name, value in {**job, **place}.items()}}
    running.append(subprocess.Popen(within(words), env=env))
sys.exit(max(task.wait() for task in running))
"""

#: torchrun on one node.
TORCHRUN = """
name, equals, tasks = words.pop(0).partition("=")
how = words.pop(0)
assert name == "--nproc-per-node" and how in ("-m", "--no-python"), words
command = ["python", "-m", *words] if how == "-m" else words
run = {"WORLD_SIZE": tasks, "LOCAL_WORLD_SIZE": tasks, "GROUP_WORLD_SIZE": 1, "GROUP_RANK": 0, "TORCHELASTIC_RUN_ID": "none"}
running = []
for rank in range(int(tasks)):
    env = {**os.environ, **{name: str(value) for name, value in {**run, "RANK": rank, "LOCAL_RANK": rank}.items()}}
    running.append(subprocess.Popen(command, env=env))
sys.exit(max(task.wait() for task in running))
"""

#: conda's environments as venvs of the running Python, whatever version is asked for.
CONDA = """
verb = words.pop(0)
if verb == "create":
    options, packages = words[:3], words[3:]
    assert options[:2] == ["-y", "-n"] and packages[-1] == "pip", words
    place = os.path.join(os.environ["HOME"], "conda", options[2])
    sys.exit(subprocess.call([sys.executable, "-m", "venv", place]))
assert (verb, words.pop(0)) == ("run", "-n"), words
place = os.path.join(os.environ["HOME"], "conda", words.pop(0), "bin")
os.environ["PATH"] = place + ":" + os.environ["PATH"]
os.execvp(words[0], words)
"""


ENGINES = {
    "docker": DOCKER,
    "podman": DOCKER,
    "apptainer": APPTAINER,
    "kubectl": KUBECTL,
    "srun": SRUN,
    "torchrun": TORCHRUN,
}


def installing(folder: Path) -> dict[str, str]:
    """Write the programs that install into a folder; return an environment in which aorta is nowhere."""
    programs = folder / "programs"
    programs.mkdir()
    for name, module in (("python3", ""), ("pip", "-m pip"), ("pipx", "-m pipx")):
        script(programs / name, "/bin/sh", f'exec {sys.executable} {module} "$@"')
    script(programs / "conda", sys.executable, MOUNTS + CONDA)
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    # Byte code of all packages takes longer than what runs here once saves by it.
    kept["PIP_NO_COMPILE"] = "1"
    path = f"{programs}:{folder}/.local/bin:/usr/bin:/bin"
    return {**kept, "PATH": path, "HOME": str(folder), "LANG": "C.UTF-8", "SHARED": str(folder / "shared")}


def environment(folder: Path) -> dict[str, str]:
    """Write the programs into a folder; return the whole environment for lines of the documentation."""
    programs = folder / "programs"
    programs.mkdir()
    script(programs / "aorta", "/bin/sh", f'exec {sys.executable} -m aorta "$@"')
    script(programs / "python", "/bin/sh", f'exec {sys.executable} "$@"')
    script(programs / "python3", "/bin/sh", f'exec {sys.executable} "$@"')
    script(programs / "pip", "/bin/sh", f'exec {sys.executable} -m pip "$@"')
    for name, body in ENGINES.items():
        script(programs / name, sys.executable, MOUNTS + body)
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
