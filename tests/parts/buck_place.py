"""A checkout of Buck for the lines of the documentation: the examples, files that pages name, buck2, aorta, launchers."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.parts import buck_rules, doc_programs, torches
from tests.parts.buck import TARGETS, Project, Ran
from tests.parts.pages import ROOT, blocks

EXAMPLES = ROOT / "docs" / "examples" / "buck"
WORKFLOW, ACTION, CONTEXT = (
    f"docs/{name}.md"
    for name in ("buck2-env-probe-workflow", "buck2-probe-action", "env-probe-container-execution-context")
)

#: What the trainer of the examples asks of torch, beside what aorta does.
TORCH = """
class _Value:
    grad = property(lambda self: self)
    def __mul__(self, other): return self
    def __bool__(self): return True
    def backward(self): pass
    sum = isfinite = all = lambda self: self


def ones(*size, requires_grad): return _Value()
"""
TORCH_BUCK = """
python_library(name = "torch", base_module = "", srcs = glob(["torch/**/*.py"]), visibility = ["PUBLIC"])
"""
#: The program that only captures has what the trainer has.
GRAPH = {**TARGETS, "root//app:capture": TARGETS["root//app:trainer"]}


class Place:
    """The project's directory and the environment for lines of a page."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder / "buck", log_environ=["BUCK_ISOLATION_DIR"], targets=GRAPH)
        self.root = self.project.root
        self.env = doc_programs.environment(folder)
        self._buck2()
        self._checkout()
        self.par("trainer.par")

    def _buck2(self) -> None:
        """Put the rules of BUCK files before the stand-in."""
        stand_in = self.project.bin / "stand_in"
        (self.project.bin / "buck2").rename(stand_in)
        line = f'PYTHONPATH={ROOT} STAND_IN={stand_in} exec {sys.executable} -m {buck_rules.__name__} "$@"'
        doc_programs.script(self.project.bin / "buck2", "/bin/sh", line)
        self.env["PATH"] = f"{self.project.bin}:{self.env['PATH']}"

    def _checkout(self) -> None:
        """Make the files: the examples as they are to be copied, torch, and what the pages name."""
        for name in ("app", "action", "markers"):
            shutil.copytree(EXAMPLES / name, self.root / name)
            (self.root / name / "BUCK.example").rename(self.root / name / "BUCK")
        third_party = self.root / "third-party"
        torches.stand_in(third_party / "torch", TORCH + torches.ANSWERS, metadata=False)
        (third_party / "torch" / "BUCK").write_text(TORCH_BUCK, encoding="utf-8")
        self.project.mode("mode/opt", "--config", "build.mode=opt")
        self.project.mode("ci/site.bcfg", "[site]", "name = a")
        for block in blocks(WORKFLOW):
            if block.title:
                (self.root / block.title).write_text(block.text, encoding="utf-8")

    def par(self, name: str, *, bare: bool = False) -> None:
        """Put the trainer's program where a page has it; a ``bare`` one has no aorta."""
        rules = buck_rules.rules_of(self.root, "//app:trainer", {})
        made = buck_rules.par(self.root, "//app:trainer", rules, bare=bare)
        (self.root / name).unlink(missing_ok=True)
        (self.root / name).symlink_to(made)

    def run(self, line: str, **env: str) -> Ran:
        """Run a line of a page in the project; a variable that it sets is there for those after it."""
        named = re.fullmatch(r'(\w+)="\$\(.*\)"', line)
        line = f'{line}; printf %s "${named[1]}"' if named else line
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=self.root,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        if named:
            self.env[named[1]] = done.stdout
        return Ran(done.returncode, done.stdout, done.stderr, 0.0)
