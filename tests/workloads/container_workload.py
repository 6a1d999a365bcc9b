"""A workload that starts the container of its cell's environment by itself; nothing of it needs torch here."""

import os
import subprocess

import attrs

from aorta.workloads import Workload, WorkloadResult


@attrs.frozen(kw_only=True)
class ServeConfig:
    """What is run in the container."""

    command: tuple[str, ...] = ("true",)
    docker: str = "docker"


class InContainer(Workload):
    """Run a command in the image of the environment, with the cell's variables and no others."""

    launches_container = True
    trial_isolation_supported = frozenset({"in_process", "process"})
    config_type = ServeConfig

    def setup(self):
        if self.trial.image is None:
            raise ValueError("this workload needs an environment with an image (docker:)")
        self.name = f"aorta-{self.trial.cell}-{self.trial.trial}-{os.getpid()}"

    def run(self):
        given = {name: value for name, value in self.trial.variables.items() if value is not None}
        # Only names are on the command line: anybody on the machine can read that.
        flags = [word for name in sorted(given) for word in ("-e", name)]
        folder = ["-v", f"{self.trial.artifact_dir}:/artifacts"]
        argv = [self.config.docker, "run", "--rm", "--name", self.name, *flags, *folder, self.trial.image]
        done = subprocess.run([*argv, *self.config.command], env={**os.environ, **given}, check=False)
        return WorkloadResult(passed=done.returncode == 0, metrics={"exit_code": done.returncode})

    def cleanup(self):
        if hasattr(self, "name"):
            subprocess.run([self.config.docker, "rm", "-f", self.name], capture_output=True, check=False)
