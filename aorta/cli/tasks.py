"""Which of a job's tasks this process is, told as the command line tells what is wrong."""

from collections.abc import Mapping

from aorta.cli.errors import Misuse
from aorta.launch import tasks
from aorta.launch.tasks import JOB_VARIABLES as JOB_VARIABLES
from aorta.launch.tasks import LaunchError
from aorta.launch.tasks import Tasks as Tasks


def tasks_of(environ: Mapping[str, str]) -> Tasks:
    """Return this process's place. Raises Misuse for variables that make no sense."""
    try:
        return tasks.tasks_of(environ)
    except LaunchError as error:
        raise Misuse(str(error)) from None
