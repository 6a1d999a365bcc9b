"""A checkout of Buck for the lines of the documentation: files that they name, buck2, aorta, and launchers."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.parts import buck_rules, doc_programs
from tests.parts.buck import Project, Ran
from tests.parts.pages import ROOT, blocks

EXAMPLES = ROOT / "docs" / "examples" / "buck"
WORKFLOW, ACTION, CONTEXT = (
    f"docs/{name}.md"
    for name in ("buck2-env-probe-workflow", "buck2-probe-action", "env-probe-container-execution-context")
)
TRAINER = 'python_binary(name = "trainer", main = "main.py", deps = ["aorta//:aorta_lib"])\n'


class Place:
    """The project's directory and the environment for lines of a page."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder / "buck", log_environ=["BUCK_ISOLATION_DIR"])
        self.root = self.project.root
        self.env = doc_programs.environment(folder)
        self._buck2()
        self._checkout()

    def _buck2(self) -> None:
        """Put the rules of BUCK files before the stand-in."""
        stand_in = self.project.bin / "stand_in"
        (self.project.bin / "buck2").rename(stand_in)
        line = f'PYTHONPATH={ROOT} STAND_IN={stand_in} exec {sys.executable} -m {buck_rules.__name__} "$@"'
        doc_programs.script(self.project.bin / "buck2", "/bin/sh", line)
        self.env["PATH"] = f"{self.project.bin}:{self.env['PATH']}"

    def _checkout(self) -> None:
        """Make the files: those of the page, the examples, and what both name."""
        self.project.mode("mode/opt", "--config", "build.mode=opt")
        self.project.mode("ci/site.bcfg", "[site]", "name = a")
        for block in blocks(WORKFLOW):
            if block.title:
                target = self.root / ("app" if block.title.endswith(".py") else "") / block.title
                target.parent.mkdir(exist_ok=True)
                target.write_text(block.text, encoding="utf-8")
        (self.root / "app" / "BUCK").write_text(TRAINER, encoding="utf-8")
        if EXAMPLES.exists():
            shutil.copytree(EXAMPLES, self.root / "docs" / "examples" / "buck", dirs_exist_ok=True)
        (self.root / "third-party").mkdir()
        (self.root / "third-party" / "aorta").symlink_to(ROOT)
        self.par("trainer.par")

    def par(self, name: str, *, bare: bool = False) -> Path:
        """Write the trainer's program where a page has it; a ``bare`` one has no aorta on its path."""
        rules = buck_rules.rules_of(self.root, "//app:trainer", {})
        made = buck_rules.par(self.root, "//app:trainer", rules, bare=bare)
        (self.root / name).unlink(missing_ok=True)
        (self.root / name).symlink_to(made)
        return self.root / name

    def run(self, line: str, **env: str) -> Ran:
        """Run a line of a page in the project."""
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=self.root,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr, 0.0)
