"""What is refused before anything is written, each beside what is not."""

import os
import subprocess
import sys

import pytest

from aorta.sweep.planning.checking import output as output_check
from aorta.sweep.planning.checks import problems
from aorta.sweep.recipe.model import Change, EnvironmentRecipe, InlineEnvironment, Recipe
from tests.parts.sweeps import wait_for
from tests.sweep_plan.conftest import cell, command, plan_of

PLAIN = {"PATH": "/usr/bin:/bin"}


@pytest.fixture(autouse=True)
def workloads(monkeypatch):
    module = "tests.sweep_plan.workloads_for_plans"
    names = ("Plain", "Either", "Apart", "Containers", "Pair", "Loose", "Needy")
    monkeypatch.setenv("AORTA_WORKLOADS", ",".join(f"{name.lower()}={module}:{name}" for name in names))


@pytest.fixture
def told(tmp_path):
    """Return a function that returns severity and line of all problems of a recipe."""

    def of(recipe, environ=PLAIN, output=None, sidecars=()):
        found = problems(plan_of(recipe, *sidecars), environ, str(output or tmp_path / "results"))
        assert not (tmp_path / "results").exists()
        return [(one.severity, one.line()) for one in found]

    return of


def errors(found, severity="error"):
    assert {each for each, _ in found} <= {severity}, found
    return [line for _, line in found]


def program(path, text="#!/bin/sh\n", mode=0o755):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_nothing_is_wrong(told):
    assert told(command(cell("a"), cell("b", "xnack"))) == []
    assert told(Recipe(workload="plain", cells=(cell("a"),), workload_config={"degrees": 30})) == []


# The command


def test_there_is_no_command(told):
    assert errors(told(command(argv=(), source="r.yaml"))) == [
        "there is no command: put it behind --, as in aorta sweep run --recipe r.yaml -- ./repro.sh"
    ]
    assert errors(told(command(argv=("--flag", "x")))) == [
        "the command begins with '--flag', an option; it must begin with a program"
    ]


def test_the_command_is_looked_for_on_the_path_of_the_trial(told, tmp_path):
    program(tmp_path / "bin" / "repro")
    place = str(tmp_path / "bin")
    absent = "the command repro is not on the PATH that the trial has"
    assert errors(told(command(argv=("repro",)))) == [absent]
    assert told(command(argv=("repro",)), {"PATH": f"/bin:{place}"}) == []
    assert told(command(argv=("repro",), extra_env={"PATH": place})) == []
    recipe = command(
        cell("a"),
        cell("b", "there"),
        cell("c", "gone"),
        argv=("repro",),
        mitigations={"there": Change(prepend={"PATH": place}), "gone": Change(unset=("PATH",))},
    )
    assert errors(told(recipe)) == [f"cells a, c: {absent}"]
    assert told(command(argv=("true",)), {}) == [], "without a PATH the system's own places are searched"


def test_the_command_is_a_path(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program(tmp_path / "bin" / "repro")
    program(tmp_path / "repro.sh")
    plain = program(tmp_path / "plain", mode=0o644)
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "pipe").touch()
    assert told(command(argv=("bin/repro",))) == []
    assert told(command(argv=(f"{tmp_path}/bin/repro",))) == []
    for argv, line in {
        "bin/other": f"the command bin/other does not exist (looked for in {tmp_path})",
        "./bin": f"the command ./bin is a directory (looked for in {tmp_path})",
        plain: f"the command {plain} is not executable: chmod +x makes it so",
        "./link": f"the command ./link leads to a file that does not exist (looked for in {tmp_path})",
        "/dev/null": "the command /dev/null is no ordinary file",
        "repro.sh": "the command repro.sh is not on the PATH that the trial has; for the one in this directory "
        "say ./repro.sh",
    }.items():
        assert errors(told(command(argv=(argv,)))) == [line]
    place = {"PATH": str(tmp_path)}
    assert errors(told(command(argv=("plain",)), place)) == [
        f"the command {plain} is not executable: chmod +x makes it so"
    ]
    assert errors(told(command(argv=("bin",)), place)) == [f"the command {tmp_path}/bin is a directory"]
    assert (
        told(
            command(argv=("plain",)),
            {"PATH": f"{tmp_path}:{os.path.dirname(program(tmp_path / 'x' / 'plain'))}"},
        )
        == []
    )


def test_what_the_first_line_names(told, tmp_path):
    script = program(tmp_path / "odd", "#!/no/such/python3 -u\n")
    assert errors(told(command(argv=(script,)))) == [
        f"the command {script} names /no/such/python3 in its first line, which does not exist"
    ]
    bare = program(tmp_path / "bare", "echo hi\n")
    assert told(command(argv=(bare,))) == [
        (
            "warning",
            (
                f"the command {bare} is no program, and has no first line that names one (#!/bin/sh): the "
                "system may not start it"
            ),
        )
    ]
    assert told(command(argv=(program(tmp_path / "fine", "#! /bin/sh -e\n"),))) == []


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (("python train.py",), "; it is one word: without the quotes it is -- python train.py"),
        (("./train.sh --steps 3",), "; it is one word: without the quotes it is -- ./train.sh --steps 3"),
        (("A=1", "true"), "; a variable is set by env, as in -- env A=1 …, or in the recipe"),
        (("A=/x", "true"), "; a variable is set by env, as in -- env A=/x …, or in the recipe"),
    ],
)
def test_what_may_be_meant_by_a_program_that_is_not_there(told, argv, hint):
    (line,) = errors(told(command(argv=argv)))
    assert line.endswith(hint)


@pytest.mark.parametrize(
    ("argv", "warned"),
    [
        (("sh", "trian.sh"), "sh is to run trian.sh, which does not exist (looked for in {}): did you mean train.sh?"),
        (("sh", "-e", "--", "x"), "sh is to run x, which does not exist (looked for in {})"),
        (("bash", "-o", "pipefail", "-e", "x"), "bash is to run x, which does not exist (looked for in {})"),
        (("python3", "-u", "-W", "error", "/x/y.py"), "python3 is to run /x/y.py, which does not exist"),
        (("perl", "-w", "x.pl"), "perl is to run x.pl, which does not exist (looked for in {})"),
        (("true", "&&", "true"), "the word && goes to true as it is, without a shell: for one say -- sh -c '…'"),
        (("true", ">", "x"), "the word > goes to true as it is, without a shell: for one say -- sh -c '…'"),
        (("sh", "train.sh"), None),
        (("sh", "-ec", "exit 0"), None),
        (("python3", "-um", "train", "x"), None),
        (("python3", "-V"), None),
        (("perl", "-we", "1"), None),
        (("sh",), None),
        (("test", "2", ">", "1"), None),
        (("find", ".", "-exec", "true", ";"), None),
    ],
)  # fmt: skip
def test_words_that_are_likely_not_meant(told, tmp_path, monkeypatch, argv, warned):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.sh").touch()
    path = {"PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin"}
    wanted = [] if warned is None else [("warning", warned.format(tmp_path))]
    assert told(command(argv=argv), path) == wanted


# The workload


def test_a_config_that_the_workload_does_not_take(told):
    def recipe(workload="plain", **config):
        return Recipe(workload=workload, cells=(cell("a"), cell("b", "xnack")), workload_config=config)

    assert told(recipe(degrees=1)) == []
    assert errors(told(recipe(degreees=1))) == ["workload_config: no key 'degreees': did you mean degrees?"]
    (line,) = errors(told(recipe(degrees="hot")))
    assert line.startswith("workload_config.degrees: ")
    (line,) = errors(told(recipe(degrees=101)))
    assert "degrees: no more than 100" in line
    assert told(recipe("loose", anything=[1, {"x": None}])) == []
    assert errors(told(recipe("loose", x=[1.0, float("nan")], y={"z": {1}}))) == [
        "workload_config.x[1]: nan is no number that JSON has",
        "workload_config.y.z: set is no value that JSON has; write it as a text",
    ]
    assert errors(told(command(workload_config={"x": 1}))) == [
        "workload_config: a command takes none; give it options in its own words"
    ]


def test_an_unknown_workload(tmp_path):
    from aorta.model.frozen import evolve

    plan = evolve(plan_of(Recipe(workload="plain", cells=(cell("a"),))), workload="plane")
    (one,) = problems(plan, PLAIN, str(tmp_path))
    assert "no workload is called 'plane': did you mean plain? There are" in one.line()


SIZES = {
    ("plain", "1"): None,
    (
        "plain",
        "2",
    ): "this is one of 2 tasks, but workload plain is for a single process: start aorta without a launcher",
    ("plain", "x"): "WORLD_SIZE is 'x': a whole number is needed to tell which task this is",
    ("pair", "2"): None,
    ("pair", "0"): "WORLD_SIZE is 0: it is at least 1",
    ("command", "1"): None,
    ("command", "2"): "this is one of 2 tasks, but a command is started by one aorta: run aorta once, and put"
    " the launcher behind --, as in -- torchrun --nproc-per-node=8 train.py",
}


@pytest.mark.parametrize("case", SIZES, ids="-".join)
def test_the_size_of_the_job(told, case):
    workload, size = case
    launched = {"WORLD_SIZE": size, "RANK": "0", "MASTER_ADDR": "n1", "MASTER_PORT": "29500"}
    found = told(Recipe(workload=workload, cells=(cell("a"),), command=("true",)), {**PLAIN, **launched})
    assert errors(found) == ([SIZES[case]] if SIZES[case] else [])


def test_too_few_ranks_are_so_here(told):
    ((severity, line),) = told(Recipe(workload="pair", cells=(cell("a"),)), PLAIN)
    assert severity == "error here"
    assert line.startswith("workload pair needs 2 ranks or more, and there is 1: start aorta on each")
    assert "torchrun --standalone --nproc-per-node=2 -m aorta sweep run" in line


def test_ranks_that_nobody_told_where_to_meet(told):
    launched = {"PMI_SIZE": "2", "PMI_RANK": "0", "MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "2"}
    (line,) = errors(told(Recipe(workload="pair", cells=(cell("a"),)), {**PLAIN, **launched}))
    assert line.startswith("nobody told where the ranks meet: set MASTER_PORT, or ")


def test_more_trials_than_ports(told):
    launched = {"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "n1", "MASTER_PORT": "29500"}
    recipe = Recipe(workload="pair", cells=(cell("a"),), trials=985)
    assert errors(told(recipe, {**PLAIN, **launched})) == []
    (line,) = errors(told(recipe, {**PLAIN, **launched, "AORTA_TRIAL_MASTER_PORT_BASE": "20000"}))
    assert line.startswith(
        "985 trials of several ranks are planned, and AORTA_TRIAL_MASTER_PORT_BASE=20000 has 984"
    )


@pytest.mark.parametrize("base", ["1024", "30000", "64536"])
def test_ports_that_there_are(told, base):
    assert told(command(), {**PLAIN, "AORTA_TRIAL_MASTER_PORT_BASE": base}) == []


@pytest.mark.parametrize("base", ["", "x", "-1", "80", "64537", "30000.0", "99999999999999999999", "٣٠٠٠٠"])
def test_ports_that_there_are_not(told, base):
    (line,) = errors(told(command(), {**PLAIN, "AORTA_TRIAL_MASTER_PORT_BASE": base}))
    assert line.startswith("AORTA_TRIAL_MASTER_PORT_BASE is ")
    assert line.endswith("not a number from 1024 to 64536: the 1000 ports from it on are the trials'")


# The identity of the process


@pytest.mark.parametrize(
    "name",
    [
        *("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK"),
        *("GROUP_WORLD_SIZE", "ROLE_NAME", "ROLE_RANK", "ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"),
        *("AORTA_TRIAL_MASTER_PORT_BASE", "TORCHELASTIC_RUN_ID", "SLURM_PROCID", "PMI_RANK", "PMIX_RANK"),
        "OMPI_COMM_WORLD_RANK",
    ],
)
def test_what_the_launcher_says(told, name):
    recipe = command(cell("a"), cell("b", "xnack", extra_env={name: "7"}))
    assert errors(told(recipe)) == [
        f"cell b: cell extra_env sets {name}, which the launcher alone may; take it out"
    ]


@pytest.mark.parametrize(
    "name", ["AORTA_CELL", "AORTA_TRIAL", "AORTA_ARTIFACT_DIR", "AORTA_ENV_FILE", "AORTA_SWEEP_RUN"]
)
def test_what_aorta_says(told, name):
    assert errors(told(command(extra_env={name: "7"}))) == [
        f"cell a: recipe extra_env sets {name}, which aorta alone may; take it out"
    ]


def test_identity_in_every_layer_and_every_way(told):
    recipe = Recipe(
        workload="plain",
        cells=(cell("a", "off", "front", environment="there"),),
        mitigations={"off": Change(unset=("RANK",)), "front": Change(prepend={"MASTER_ADDR": "x"})},
        environments={"there": EnvironmentRecipe(env=Change(set={"WORLD_SIZE": "1"}))},
    )
    assert errors(told(recipe)) == [
        f"cell a: {deed}, which the launcher alone may; take it out"
        for deed in (
            "environment there sets WORLD_SIZE",
            "mitigation off unsets RANK",
            "mitigation front prepends to MASTER_ADDR",
        )
    ]


def test_names_that_are_only_similar(told):
    names = ("RANKS", "MY_RANK", "AORTA_PLUGINS", "SLURMD", "TORCHELASTIC", "rank")
    assert told(command(extra_env=dict.fromkeys(names, "1"))) == []


# Where trials run


def inline(*cells):
    return InlineEnvironment(docker="foo/bar:1")


def test_a_container_that_nobody_starts(told):
    place = inline()
    (line,) = errors(told(command(cell("a", environment=place), cell("b", "xnack", environment=place))))
    assert line == (
        "cells a, b: environment _inline_a71878b3: nothing here starts the container foo/bar:1: give the cell "
        "the environment local, and put docker run … foo/bar:1 in front of your own command, behind --"
    )
    (line,) = errors(told(Recipe(workload="either", cells=(cell("a", environment=place),))))
    assert "workload either does not start the container foo/bar:1: start aorta inside the container" in line
    assert told(Recipe(workload="containers", cells=(cell("a", environment=place),))) == []


def test_what_nothing_acts_on(told):
    assert errors(told(command(cell("a", environment="emulated-rocjitsu")))) == [
        (
            "cell a: environment emulated-rocjitsu: nothing here acts on emulator rocjitsu: start the emulator in "
            "your own command, behind --"
        ),
        (
            "cell a: environment emulated-rocjitsu: nothing here acts on mirage_profile mi350x: start the emulator "
            "with this profile in your own command, behind --"
        ),
    ]
    recipe = Recipe(
        workload="containers",
        cells=(cell("a", environment="b"),),
        environments={"b": EnvironmentRecipe(buck_target="//x:y")},
    )
    assert errors(told(recipe)) == [
        (
            "cell a: environment b: nothing here acts on buck_target //x:y: put buck2 run //x:y into your own "
            "command, behind --"
        )
    ]
    assert told(command(cell("a", environment="default"))) == []


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    folder = tmp_path_factory.mktemp("venvs") / "sound"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder


def of_venv(folder, workload="command", **change):
    places = {"v": EnvironmentRecipe(venv=str(folder), env=Change(**change))}
    return Recipe(
        workload=workload, cells=(cell("a", environment="v"),), command=("true",), environments=places
    )


def test_a_virtual_environment_that_works(told, venv, monkeypatch):
    assert told(of_venv(venv)) == []
    assert told(of_venv(venv, "either")) == []
    monkeypatch.chdir(venv.parent)
    assert told(of_venv("sound")) == []


def test_modules_that_a_workload_needs(told, venv, tmp_path):
    lacks = "workload needy needs the module nowhere_module, which {} does not have"
    needy = Recipe(workload="needy", cells=(cell("a"), cell("b", "xnack")))
    assert errors(told(needy), "error here") == [
        lacks.format(f"the interpreter that runs aorta ({sys.executable})")
    ]
    (tmp_path / "nowhere_module.py").write_text("raise RuntimeError('imported')\n")
    there = {"PYTHONPATH": str(tmp_path)}
    # Only a fresh interpreter reads the variable.
    apart = Recipe(workload="needy", trial_isolation="process", cells=(cell("a", extra_env=there),))
    assert errors(told(apart), "error here") == []
    own = Recipe(workload="needy", cells=(cell("a", extra_env=there),))
    assert errors(told(own), "error here") == [
        lacks.format(f"the interpreter that runs aorta ({sys.executable})")
    ]
    assert errors(told(of_venv(venv, "needy")), "error here") == [
        f"cell a: {lacks.format('environment v')}"[8:]
    ]
    assert errors(told(of_venv(venv, "needy", set=there)), "error here") == []


def test_a_command_of_a_virtual_environment(told, venv):
    recipe = of_venv(venv)
    only_there = Recipe(cells=recipe.cells, environments=recipe.environments, command=("python3",))
    assert told(only_there, {"PATH": "/nowhere"}) == []


def test_a_virtual_environment_that_does_not_work(told, venv, tmp_path, monkeypatch):
    about = "cell a: environment v: "
    assert errors(told(of_venv(tmp_path))) == [
        f"{about}{tmp_path} is no virtual environment: it has no bin/python"
    ]
    (line,) = errors(told(of_venv(program(tmp_path / "bin" / "python", mode=0o644) and tmp_path)))
    assert line == f"{about}{tmp_path}/bin/python cannot be started: Permission denied"
    program(tmp_path / "bin" / "python", "#!/bin/sh\necho no library >&2\nexit 127\n")
    assert errors(told(of_venv(tmp_path))) == [f"{about}{tmp_path}/bin/python does not work: no library"]
    program(tmp_path / "bin" / "python", "#!/bin/sh\nkill -11 $$\n")
    assert errors(told(of_venv(tmp_path))) == [
        f"{about}{tmp_path}/bin/python does not work: it ended with signal 11"
    ]
    (line,) = errors(told(of_venv(venv, set={"PYTHONHOME": "/nowhere"})))
    assert "does not work: " in line, "it is tried with the variables of the cell"
    monkeypatch.setattr("aorta.sweep.planning.checking.environments.LIMIT_S", 0.2)
    program(tmp_path / "bin" / "python", "#!/bin/sh\nsleep 30 & echo $! > ${0%/*}/pid; wait\n")
    assert errors(told(of_venv(tmp_path))) == [f"{about}{tmp_path}/bin/python did not start within 0.2 s"]
    left = (tmp_path / "bin" / "pid").read_text().strip()
    wait_for(lambda: not os.path.exists(f"/proc/{left}/exe"))


def test_collectors(told):
    (line,) = errors(
        told(command(cell("a"), cell("b", "xnack", collect={"proton": None}), collect={"rocprof": None}))
    )
    assert line.startswith("collect: rocprof, proton: nothing is attached to trials yet: leave the key out")
    assert told(command(cell("a", collect={}), collect={})) == []
    left_out = command(cell("a"), cell("b", "xnack", collect={"proton": None}), skip=("b",))
    assert told(left_out) == []


# Where results go


def test_where_results_go(told, tmp_path):
    assert told(command(), output=tmp_path / "a" / "b" / "c") == []
    assert told(command(), output=tmp_path) == []
    assert not (tmp_path / "a").exists()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    for output, nearest in (("file", "file"), ("file/below", "file"), ("link/x", "link")):
        assert errors(told(command(), output=tmp_path / output)) == [
            f"results cannot be written to {tmp_path}/{output}: {tmp_path}/{nearest} is no directory"
        ]
    assert errors(told(command(), output="/proc/self/results")) == [
        "results cannot be written to /proc/self/results: /proc/self is not writable; choose another with --output"
    ]


def test_little_room(told, monkeypatch, tmp_path):
    monkeypatch.setattr(output_check, "LEAST_FREE", 2**80)
    ((severity, line),) = told(command())
    assert severity == "warning"
    assert line.endswith(f" MB are free in {tmp_path}, where the results go")


# Cells that are the same


def test_cells_that_run_the_same(told):
    cells = (cell("a"), cell("b", "xnack"), cell("c", environment="default"), cell("d", "tf32_off"))
    same = "run the same: all of their variables end alike, and nothing else differs"
    assert told(command(*cells)) == [("warning", f"cells a, c: {same}")]
    outside = {**PLAIN, "HSA_XNACK": "1"}
    assert told(command(cell("a"), cell("b", "xnack")), outside) == [("warning", f"cells a, b: {same}")]
    undone = command(
        cell("a"), cell("b", "xnack", extra_env={"HSA_XNACK": "0"}), extra_env={"HSA_XNACK": "0"}
    )
    assert told(undone) == [("warning", f"cells a, b: {same}")]


def test_cells_that_differ(told):
    pairs = [
        (cell("a"), cell("b", steps=2)),
        (cell("a"), cell("b", workload_config={"x": [1, {"y": 2}]})),
        (cell("a", workload_config={"x": 1}), cell("b", workload_config={"x": True})),
        (cell("a"), cell("b", extra_env={"EMPTY": ""})),
    ]
    for pair in pairs:
        assert told(Recipe(workload="loose", cells=pair)) == []
    alike = (cell("a", workload_config={"x": 1, "y": 2}), cell("b", workload_config={"y": 2, "x": 1}))
    assert len(told(Recipe(workload="loose", cells=alike))) == 1


def test_errors_come_first_and_all_at_once(told):
    recipe = command(
        cell("a"),
        cell("b", extra_env={"RANK": "1"}),
        cell("c", environment="emulated-rocjitsu"),
        cell("d"),
        argv=("no-such-program",),
        collect={"rocprof": None},
    )
    found = told(recipe, {**PLAIN, "WORLD_SIZE": "x", "AORTA_TRIAL_MASTER_PORT_BASE": "x"})
    severities = [severity for severity, _ in found]
    assert severities == ["error"] * 7 + ["warning"]
