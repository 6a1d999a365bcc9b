"""A workload that starts the container of its cell's environment by itself: the host needs no torch."""

import os
import subprocess
import time

import attrs

from aorta.workloads import Workload, WorkloadResult


@attrs.frozen(kw_only=True)
class ContainerConfig:
    """The keys of workload_config."""

    command: tuple[str, ...] = attrs.field(metadata={"doc": "what is run in the container"})
    options: tuple[str, ...] = attrs.field(default=(), metadata={"doc": "more options of docker run"})
    program: str = attrs.field(default="docker", metadata={"doc": "docker, or one that takes the same words"})


class Container(Workload):
    """Run a command in the image of the environment, with the cell's variables, and judge it by its exit."""

    config_type = ContainerConfig
    launches_container = True
    # In a process of its own: a trial whose time is over is ended, and with it `docker run`.
    trial_isolation_default = "process"
    trial_isolation_supported = frozenset({"process"})

    def setup(self) -> None:
        """Look whether there is an image; what fails here is an error and says nothing of the image."""
        if self.trial.image is None:
            raise ValueError("this workload needs an environment with an image (docker: IMAGE)")
        self.name = f"aorta-{self.trial.cell}-{self.trial.trial}-{os.getpid()}"

    def run(self) -> WorkloadResult:
        """Run the container to its end; what it writes stands in the trial's log."""
        given = {name: value for name, value in self.trial.variables.items() if value is not None}
        # Names alone: everybody on the machine can read a command line, and values may be secret.
        named = [word for name in sorted(given) for word in ("-e", name)]
        argv = [
            *(self.config.program, "run", "--rm", "--init", "--name", self.name),
            *("--label", f"aorta.run={os.environ.get('AORTA_SWEEP_RUN', '')}"),
            *named,
            *("-v", f"{self.trial.artifact_dir}:/artifacts"),
            *self.config.options,
            self.trial.image,
            *self.config.command,
        ]
        begun = time.perf_counter()
        done = subprocess.run(argv, env={**os.environ, **given}, check=False)
        # Docker itself ends with 125 where it could not start the container.
        if done.returncode == 125:
            raise RuntimeError(f"{self.config.program} could not start {self.trial.image}: see the log")
        return WorkloadResult(
            passed=done.returncode == 0,
            failure_count=int(done.returncode != 0),
            failure_details=({"hint": f"exit status {done.returncode}"},) if done.returncode else (),
            elapsed_sec=time.perf_counter() - begun,
            executed_iterations=1,
            metrics={"exit_code": done.returncode},
        )

    def cleanup(self) -> None:
        """Remove the container, whatever became of it."""
        if hasattr(self, "name"):
            subprocess.run([self.config.program, "rm", "-f", self.name], capture_output=True, check=False)
