import json
import subprocess
import sys

import pytest

from aorta.cli.errors import Misuse
from aorta.cli.target import check_apart, expand
from aorta.cli.tasks import Tasks, tasks_of

QUICK = ("--section", "python_version")


def torch(rank, local_rank, size=16, local_size=8, **more):
    names = {"RANK": rank, "LOCAL_RANK": local_rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": local_size}
    return {name: str(value) for name, value in {**names, **more}.items() if value is not None}


def slurm(rank, local_rank, tasks=16, nodes=2, node=0, step="0", **more):
    names = {
        "SLURM_JOB_ID": "77",
        "SLURM_PROCID": rank,
        "SLURM_LOCALID": local_rank,
        "SLURM_NTASKS": tasks,
        "SLURM_NNODES": nodes,
        "SLURM_NODEID": node,
        "SLURM_STEP_ID": step,
        **more,
    }
    return {name: str(value) for name, value in names.items() if value is not None}


def open_mpi(rank, local_rank, size=4, local_size=2):
    names = {"SIZE": size, "RANK": rank, "LOCAL_RANK": local_rank, "LOCAL_SIZE": local_size}
    return {f"OMPI_COMM_WORLD_{name}": str(value) for name, value in names.items()}


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, Tasks()),
        (torch(0, 0, 1, 1), Tasks()),
        (torch(9, 1, GROUP_RANK=1, GROUP_WORLD_SIZE=2), Tasks(16, 9, 1, 2, 1)),
        (torch(9, 1, GROUP_RANK=5, GROUP_WORLD_SIZE=6), Tasks(16, 9, 1, 6, 5)),
        (torch(3, 3, 8, 8), Tasks(8, 3, 3, 1, 0)),
        (torch(3, None, 8, None), Tasks(8, 3)),
        # set by hand: how many nodes there are can be told, which of them this is cannot
        (torch(9, 1), Tasks(16, 9, 1, 2, None)),
        (torch(9, 1, local_size=None), Tasks(16, 9, 1)),
        (slurm(9, 1, node=1), Tasks(16, 9, 1, 2, 1, True)),
        (slurm(9, 1, node=1, SLURM_STEP_NUM_NODES=1), Tasks(16, 9, 1, 1, 1, True)),
        # the job's number is left where a step has another
        (slurm(0, 0, SLURM_STEP_NUM_TASKS=1), Tasks()),
        # torchrun under one srun task a node: torchrun's numbers count
        (
            {**slurm(1, 0, tasks=2, node=1), **torch(9, 1, GROUP_RANK=0, GROUP_WORLD_SIZE=2)},
            Tasks(16, 9, 1, 2, 0, True),
        ),
        # only RANK and WORLD_SIZE set by hand inside a step: Slurm knows the place on the node
        ({**slurm(9, 1, node=1), **torch(9, None, 16, None)}, Tasks(16, 9, 1, 2, 1, True)),
        # a batch script looks like task 0 of many, and is alone
        (slurm(0, 0, step=None), Tasks()),
        (slurm(0, 0, step="4294967291"), Tasks()),
        (slurm(0, 0, step="batch"), Tasks()),
        (slurm(None, None, step=None), Tasks()),
        # no step told, and not task 0: it is one of many all the same
        (slurm(3, 3, step=None), Tasks(16, 3, 3, 2, 0, True)),
        # a size without a rank is nobody's place: srun reads this variable
        ({"SLURM_NTASKS": "2", "SLURM_NNODES": "2"}, Tasks()),
        ({"WORLD_SIZE": "8"}, Tasks()),
        (open_mpi(2, 0), Tasks(4, 2, 0, 2, None, True)),
        # started by a daemon that is task 1 of a step of two
        ({**slurm(1, 0, tasks=2, node=1), **open_mpi(3, 1)}, Tasks(4, 3, 1, 2, None, True)),
        (
            {"PMI_SIZE": "2", "PMI_RANK": "1", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"},
            Tasks(2, 1, 1, 1, 0, True),
        ),
        # srun speaks PMI too
        ({**slurm(9, 1, node=1), "PMI_SIZE": "16", "PMI_RANK": "9"}, Tasks(16, 9, 1, 2, 1, True)),
        ({"WORLD_SIZE": " ", "RANK": ""}, Tasks()),
    ],
)
def test_place(environ, wanted):
    assert tasks_of(environ) == wanted


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        (torch("x", 0), "RANK"),
        (torch("-1", 0), "RANK"),
        (torch("1.5", 0), "RANK"),
        (torch(0, "zero"), "LOCAL_RANK"),
        (torch(0, 0, "many"), "WORLD_SIZE"),
        (torch("9" * 5000, 0), "RANK"),
        (torch("٣", 0), "RANK"),
        (torch(16, 0), "RANK"),
        (torch(8, 8), "LOCAL_RANK"),
        (slurm(0, "x"), "SLURM_LOCALID"),
        (slurm("x", 0), "SLURM_PROCID"),
    ],
)
def test_junk_is_one_clear_line_and_status_2(cli, environ, name):
    with pytest.raises(Misuse, match=name):
        tasks_of(environ)
    ran = cli.probe(env=environ)
    assert (ran.code, len(ran.lines)) == (2, 1)
    assert name in ran.err
    assert not (cli.folder / "env.json").exists()


def test_only_the_first_of_a_node_captures(cli):
    ran = cli.probe(*QUICK, "-o", "x-{node}.json", env=torch(9, 1, GROUP_RANK=1))
    assert (ran.code, ran.out, len(ran.lines)) == (0, "", 1)
    assert "rank 9 of 16" in ran.err and "--every-rank" in ran.err
    assert list(cli.folder.iterdir()) == []
    ran = cli.probe(*QUICK, "-o", "x-{node}.json", env=torch(8, 0, GROUP_RANK=1))
    assert ran.code == 0
    assert (cli.folder / "x-1.json").exists()


@pytest.mark.parametrize("words", [["-o", "-"], ["--json"], ["--summary"], ["--field", "host"]])
def test_the_others_print_nothing_on_standard_output(cli, words):
    ran = cli.probe(*words, env=torch(1, 1, 8, 8))
    assert (ran.code, ran.out, len(ran.lines)) == (0, "", 1)


def test_slurm_tasks(cli):
    assert cli.probe(*QUICK, env=slurm(1, 1, tasks=2, nodes=1)).out == ""
    assert list(cli.folder.iterdir()) == []
    assert cli.probe(*QUICK, "-o", "x-{job}-{node}.json", env=slurm(8, 0, node=1)).code == 0
    assert [path.name for path in cli.folder.iterdir()] == ["x-77-1.json"]


def test_a_batch_script_captures(cli):
    assert cli.probe(*QUICK, env=slurm(0, 0, step=None)).code == 0
    assert (cli.folder / "env.json").exists()


@pytest.mark.parametrize(
    ("environ", "word"),
    [
        (torch(0, 0, GROUP_RANK=0), "{node}"),
        (torch(9, 1, GROUP_RANK=1), "{node}"),
        (slurm(0, 0), "{node}"),
        (slurm(9, 1), "{node}"),
        (torch(0, 0, 2, None, GROUP_WORLD_SIZE=2), "{host}"),
        (torch(0, 0, 16, None), "{host}"),
        (open_mpi(2, 0), "{host}"),
    ],
)
def test_one_file_for_several_nodes_is_status_2(cli, environ, word):
    ran = cli.probe(env=environ)
    assert (ran.code, len(ran.lines)) == (2, 1)
    assert f"-o env-{word}.json" in ran.err
    assert list(cli.folder.iterdir()) == []


def test_a_local_looking_directory_is_no_excuse(cli):
    """Containers of one machine are nodes that share its /tmp."""
    ran = cli.probe("-o", "/dev/shm/a.b/env.json", env=slurm(0, 0))
    assert (ran.code, len(ran.lines)) == (2, 1)
    assert "-o /dev/shm/a.b/env-{node}.json" in ran.err


@pytest.mark.parametrize("words", [["-o", "-"], ["--json"]])
def test_documents_do_not_mix_on_one_output(cli, words):
    """Measured: of eight runs on two nodes, srun mixed the lines of one."""
    ran = cli.probe(*words, env=slurm(9, 1, node=1))
    assert (ran.code, ran.out, len(ran.lines)) == (2, "", 1)
    assert "-o env-{rank}.json" in ran.err
    # each agent of torchrun has an output of its own, and so has a task with a file for it
    assert cli.probe(*QUICK, *words, env=torch(8, 0, GROUP_RANK=1, GROUP_WORLD_SIZE=2)).json
    with open(cli.folder / "out", "w") as out:
        assert cli.probe(*QUICK, *words, env=slurm(8, 0, node=1), stdout=out).code == 0
    assert json.loads((cli.folder / "out").read_text())["schema_version"]


def test_a_closed_output_is_no_file():
    check = "import os; from aorta.cli.target import _is_file; os.close(1); os._exit(_is_file(1))"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0


@pytest.mark.parametrize("name", ["x-{host}.json", "x-{node}.json", "x-{rank}.json", "-"])
def test_files_apart_are_well(name):
    check_apart(name, tasks_of(torch(0, 0)), every_rank=False)


def test_every_rank_needs_the_rank_in_the_name(cli):
    ran = cli.probe(*QUICK, "--every-rank", "-o", "x-{node}.json", env=torch(9, 1))
    assert (ran.code, len(ran.lines)) == (2, 1)
    assert "{rank}" in ran.err
    ran = cli.probe(*QUICK, "--every-rank", "-o", "x-{rank}.json", env=torch(9, 1))
    assert ran.code == 0
    assert json.loads((cli.folder / "x-9.json").read_text())["partial"] is False
    ran = cli.probe(*QUICK, "--every-rank", "-o", "-", env=torch(9, 1))
    assert (ran.code, ran.out, len(ran.lines)) == (2, "", 1)


def test_every_rank_alone_needs_nothing(cli):
    assert cli.probe(*QUICK, "--every-rank").code == 0


def test_an_unknown_node_number_is_said():
    tasks = Tasks(size=4, rank=0, local_rank=0, nodes=2, node=None)
    with pytest.raises(Misuse, match="host"):
        expand("x-{node}.json", tasks, {})


def test_recording_follows_the_same_rules(cli):
    ran = cli("env", "record", "x.jsonl", env=torch(9, 1))
    assert ran.code == 2
    ran = cli("env", "record", "x-{rank}.jsonl", env=torch(9, 1))
    assert (ran.code, len(ran.lines)) == (0, 1)
    assert list(cli.folder.iterdir()) == []
