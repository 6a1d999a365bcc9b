"""One snapshot of each node, whatever the shape of the job."""

import pytest

from tests.slurm.conftest import AORTA, QUICK


def place(document):
    """Return what a snapshot says of the place of its process."""
    told = document["launcher"]
    return {name: told[name] for name in ("node", "node_rank", "rank", "local_rank", "local_world_size")}


def check_two_nodes(steps, names, world, here):
    """Check that there are these two files and nothing else, and that each is of its own node."""
    assert steps.files == sorted(names)
    documents = [steps.document(name) for name in names]
    for number, document in enumerate(documents):
        told = document["launcher"]
        assert (told["kind"], told["node"], told["node_rank"]) == ("slurm", f"node{number + 1}", number)
        assert (told["world_size"], told["nnodes"], told["local_rank"]) == (world, 2, 0)
        assert told["local_world_size"] == here[number]
        assert told["rank"] == sum(here[:number])
    digests = {document["host"]["machine_digest"] for document in documents}
    assert len(digests) == 2


def test_a_job_of_its_own(cluster, steps):
    """As a user types it: srun makes the job, and the whole document is written."""
    steps.folder /= "new"
    output = f"{steps.folder}/env-{{node}}.json"
    done = cluster.run("srun", "-N2", "-n4", *AORTA, "env", "probe", "-o", output, cwd=cluster.folder)
    assert done.returncode == 0, done.stderr
    sizes = [steps.document(f"env-{node}.json")["launcher"]["local_world_size"] for node in (0, 1)]
    assert sum(sizes) == 4
    check_two_nodes(steps, ["env-0.json", "env-1.json"], 4, sizes)
    for name in steps.files:
        document = steps.document(name)
        assert document["partial"] is False
        assert int(document["launcher"]["job_id"]) > int(steps.job)
        assert document["launcher"]["step_id"] == "0"
    assert done.stderr.count("does not capture") == 2
    assert done.stderr.count("wrote ") == 2
    assert done.stdout == ""


def test_a_step_of_a_job(steps):
    done = steps.probe("-N2 --ntasks-per-node=3", "-o", "env-{node}.json")
    assert done.returncode == 0, done.stderr
    check_two_nodes(steps, ["env-0.json", "env-1.json"], 6, [3, 3])
    assert [steps.document(name)["launcher"]["job_id"] for name in steps.files] == [steps.job] * 2


def test_as_many_tasks_as_a_node_likes(steps):
    done = steps.probe(
        "-N2 -n4 --distribution=arbitrary", "-o", "{job}-{node}.json", SLURM_HOSTFILE=hosts(steps)
    )
    assert done.returncode == 0, done.stderr
    check_two_nodes(steps, [f"{steps.job}-0.json", f"{steps.job}-1.json"], 4, [1, 3])


def hosts(steps):
    file = steps.cluster.folder / "hostfile"
    file.write_text("node1\nnode2\nnode2\nnode2\n")
    return str(file)


def test_ranks_that_go_round_the_nodes(steps):
    """Rank 1 is the first of the second node."""
    done = steps.probe("-N2 --ntasks-per-node=2 --distribution=cyclic", "-o", "env-{node}-{rank}.json")
    assert done.returncode == 0, done.stderr
    assert steps.files == ["env-0-0.json", "env-1-1.json"]


def test_two_components_of_one_step(cluster, steps):
    """A heterogeneous job: one srun, two commands."""
    words = (*AORTA, "env", "probe", *QUICK, "-o", "env-{node}.json")
    done = cluster.run("srun", "-N1", "-n1", *words, ":", "-N1", "-n2", *words, cwd=steps.folder)
    assert done.returncode == 0, done.stderr
    check_two_nodes(steps, ["env-0.json", "env-1.json"], 3, [1, 2])


def test_names_of_hosts(steps):
    assert steps.probe("-N2 --ntasks-per-node=2", "-o", "env-{host}.json").returncode == 0
    assert steps.files == ["env-node1.json", "env-node2.json"]
    assert [steps.document(name)["launcher"]["node"] for name in steps.files] == ["node1", "node2"]


def test_every_rank(steps):
    done = steps.probe("-N2 --ntasks-per-node=2", "--every-rank", "-o", "env-{rank}.json")
    assert done.returncode == 0, done.stderr
    assert steps.files == [f"env-{rank}.json" for rank in range(4)]
    places = [place(steps.document(name)) for name in steps.files]
    assert [(told["rank"], told["node"], told["local_rank"]) for told in places] == [
        (0, "node1", 0),
        (1, "node1", 1),
        (2, "node2", 0),
        (3, "node2", 1),
    ]


@pytest.mark.parametrize(
    "words", [(), ("-o", "env.json"), ("-o", "deep/env-{job}.json"), ("-o", "/tmp/env.json")]
)
def test_one_file_for_two_nodes_is_refused_by_all(steps, words):
    done = steps.probe("-N2 --ntasks-per-node=2 --label", *words)
    assert done.returncode == 2
    told = [line for line in done.stderr.splitlines() if ": aorta:" in line]
    assert sorted(line.partition(":")[0] for line in told) == ["0", "1", "2", "3"]
    assert len({line.partition(":")[2] for line in told}) == 1
    stem = words[1].removesuffix(".json") if words else "env"
    assert f"-o {stem}-{{node}}.json" in told[0]
    assert steps.files == []


def test_every_rank_of_two_nodes_needs_the_rank(steps):
    done = steps.probe("-N2 --ntasks-per-node=2", "--every-rank", "-o", "env-{node}.json")
    assert (done.returncode, steps.files) == (2, [])
    assert done.stderr.count("-o env-{node}-{rank}.json") == 4


@pytest.mark.parametrize("words", [("-o", "-"), ("--json",)])
def test_two_documents_on_one_output_are_refused(steps, words):
    done = steps.probe("-N2 --ntasks-per-node=2", *words)
    assert (done.returncode, done.stdout, steps.files) == (2, "", [])
    assert done.stderr.count("-o env-{rank}.json") == 4


def test_an_output_for_each_task_is_well(steps):
    done = steps.probe("-N2 --ntasks-per-node=2 --output=env-%N.json --error=none", "-o", "-")
    assert done.returncode == 0, done.stderr
    assert [name for name in steps.files if name != "none"] == ["env-node1.json", "env-node2.json"]
    for node in ("node1", "node2"):
        assert steps.document(f"env-{node}.json")["launcher"]["node"] == node


def test_one_value_of_each_node(steps):
    done = steps.run("-N2 --ntasks-per-node=2 --label", *AORTA, "env", "probe", "--field", "launcher.node")
    assert sorted(done.stdout.splitlines()) == ['0: "node1"', '2: "node2"']


def test_one_task(steps):
    assert steps.probe("-N1 -n1").returncode == 0
    assert steps.files == ["env.json"]
    told = steps.document("env.json")["launcher"]
    assert (told["rank"], told["world_size"], told["nnodes"], told["local_world_size"]) == (0, 1, 1, 1)


def test_one_node_of_several_tasks_needs_no_placeholder(steps):
    """A number of the job counts more nodes than the step has."""
    done = steps.probe("-N1 -n3 -w node2", "-o", "env.json")
    assert done.returncode == 0, done.stderr
    assert steps.files == ["env.json"]
    assert place(steps.document("env.json")) == {
        "node": "node2",
        "node_rank": 0,
        "rank": 0,
        "local_rank": 0,
        "local_world_size": 3,
    }
    document = steps.probe("-N1 -n3", "-o", "-").stdout
    assert document.count('"schema_version"') == 1


def test_a_batch_script_is_alone(cluster, steps):
    """It has a rank 0 of four and is one process: it neither waits nor asks for a placeholder."""
    script = steps.script(f"exec {' '.join(AORTA)} env probe {' '.join(QUICK)}")
    words = ("sbatch", "--wait", "-N2", "-n4", "--output=out.txt", script)
    done = cluster.run(*words, cwd=steps.folder)
    assert done.returncode == 0, (steps.folder / "out.txt").read_text()
    assert steps.files == ["env.json", "out.txt"]
    told = steps.document("env.json")["launcher"]
    assert (told["kind"], told["rank"], told["world_size"], told["node"]) == ("slurm", None, None, "node1")
    assert int(told["job_id"]) > int(steps.job)


def test_a_shell_of_an_allocation_is_alone(cluster, steps):
    words = ("salloc", "-N2", "--ntasks-per-node=2", *AORTA, "env", "probe", *QUICK)
    done = cluster.run(*words, cwd=steps.folder)
    assert done.returncode == 0, done.stderr
    assert steps.files == ["env.json"]
    told = steps.document("env.json")["launcher"]
    assert (told["rank"], told["node"], told["nnodes"]) == (None, None, 2)


def test_recordings_too(steps):
    done = steps.run("-N2 --ntasks-per-node=2", *AORTA, "env", "record", "host.jsonl")
    assert (done.returncode, steps.files) == (2, [])
    done = steps.run("-N2 --ntasks-per-node=2", *AORTA, "env", "record", "host-{node}.jsonl")
    assert done.returncode == 0, done.stderr
    assert steps.files == ["host-0.jsonl", "host-1.jsonl"]
