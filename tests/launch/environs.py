"""The variables of launchers, as they give them to their processes."""


def torch(rank, local_rank=None, size=16, local_size=8, **more):
    """Return what is told by RANK and its like; None leaves a variable out."""
    names = {"RANK": rank, "LOCAL_RANK": local_rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": local_size}
    return _texts({**names, **more})


def torchrun(rank, local_rank, size=4, local_size=2, **more):
    """Return what torchrun tells a worker: two agents, joined by c10d."""
    names = {
        "GROUP_RANK": rank // local_size,
        "GROUP_WORLD_SIZE": size // local_size,
        "MASTER_ADDR": "n1",
        "MASTER_PORT": "29400",
        "TORCHELASTIC_RUN_ID": "none",
        "TORCHELASTIC_RESTART_COUNT": "0",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }
    return {**torch(rank, local_rank, size, local_size), **_texts({**names, **more})}


def slurm(rank, local_rank, tasks=4, nodes=2, step="0", **more):
    """Return what srun tells a task of a step on nodes n[07-08]."""
    names = {
        "SLURM_JOB_ID": "77",
        "SLURM_PROCID": rank,
        "SLURM_LOCALID": local_rank,
        "SLURM_NTASKS": tasks,
        "SLURM_STEP_NUM_TASKS": tasks,
        "SLURM_NNODES": nodes,
        "SLURM_STEP_NUM_NODES": nodes,
        "SLURM_NODEID": rank // (tasks // nodes),
        "SLURM_STEP_ID": step,
        "SLURM_JOB_NODELIST": "n[07-08]",
        "SLURM_STEP_NODELIST": "n[07-08]",
    }
    return _texts({**names, **more})


def batch_script(tasks=4, nodes=2, **more):
    """Return what the script of a Slurm job sees: it looks like task 0."""
    names = {
        "SLURM_JOB_ID": "77",
        "SLURM_PROCID": 0,
        "SLURM_LOCALID": 0,
        "SLURM_NTASKS": tasks,
        "SLURM_NPROCS": tasks,
        "SLURM_NNODES": nodes,
        "SLURM_JOB_NUM_NODES": nodes,
        "SLURM_NODEID": 0,
        "SLURM_JOB_NODELIST": "n[07-08]",
    }
    return _texts({**names, **more})


def interactive_shell(tasks=4, nodes=2):
    """Return what the shell of an allocation sees: it is no task."""
    kept = batch_script(tasks, nodes)
    return {name: value for name, value in kept.items() if name not in ("SLURM_PROCID", "SLURM_LOCALID")}


def open_mpi(rank, local_rank, size=4, local_size=2, **more):
    """Return what Open MPI 4.1 tells a process."""
    names = {
        "OMPI_COMM_WORLD_SIZE": size,
        "OMPI_COMM_WORLD_RANK": rank,
        "OMPI_COMM_WORLD_LOCAL_RANK": local_rank,
        "OMPI_COMM_WORLD_LOCAL_SIZE": local_size,
        "OMPI_MCA_ess_base_jobid": "1932722177",
        "PMIX_NAMESPACE": "1932722177",
        "PMIX_RANK": rank,
    }
    return _texts({**names, **more})


def mvapich(rank, local_rank, size=4, local_size=2, **more):
    """Return what MVAPICH 2 tells a process."""
    names = {"SIZE": size, "RANK": rank, "LOCAL_RANK": local_rank, "LOCAL_SIZE": local_size}
    return _texts({**{f"MV2_COMM_WORLD_{name}": value for name, value in names.items()}, **more})


def hydra(rank, local_rank, size=2, local_size=2, **more):
    """Return what the launcher of MPICH 4 tells a process."""
    names = {
        "PMI_SIZE": size,
        "PMI_RANK": rank,
        "MPI_LOCALRANKID": local_rank,
        "MPI_LOCALNRANKS": local_size,
    }
    return _texts({**names, **more})


def pals(rank, local_rank, size=4, local_size=2, **more):
    """Return what HPE's PALS tells a process."""
    names = {
        "PALS_APID": "4f0e",
        "PALS_RANKID": rank,
        "PALS_LOCAL_RANKID": local_rank,
        "PALS_LOCAL_SIZE": local_size,
        "PMI_SIZE": size,
    }
    return _texts({**names, **more})


def _texts(names):
    return {name: str(value) for name, value in names.items() if value is not None}
