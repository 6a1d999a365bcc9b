"""A project of Buck with the stand-in for buck2, and what of aorta is run in it."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.parts.checkouts import OWN_SETTINGS

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = ROOT / "tests" / "fake_buck2" / "buck2"

TARGET, LITERAL = "root//app:trainer", "//app:trainer"
PLATFORM, EXECUTION, REMOTE = (
    "root//platforms:mi350-opt",
    "root//platforms:linux-exec",
    "root//platforms:mi350-re",
)
SECTIONS = (
    "build_system",
    "buck_invocation",
    "library_introspection",
    "library_introspection_alternates",
    "execution_context",
)
#: A trainer with libraries, one of them for a build tool too, a toolchain and a constraint.
TARGETS: dict[str, dict[str, Any]] = {
    TARGET: {
        "type": "python_binary",
        "deps": ["root//third_party/rccl:rccl", "root//third_party/torch:torch"],
        "exec_deps": ["prelude//python/tools:make_py_package_modules"],
        "toolchain_deps": ["toolchains//:python"],
        "configuration_deps": ["prelude//os/constraints:linux"],
    },
    "root//third_party/torch:torch": {
        "deps": ["root//third_party/hipblaslt:hipblaslt"],
        "exec_deps": ["root//tools:gen"],
    },
    "root//tools:gen": {"deps": ["root//third_party/hipblaslt:hipblaslt"]},
    "root//third_party/rccl:rccl": {},
    "root//third_party/hipblaslt:hipblaslt": {},
    "toolchains//:python": {},
    "prelude//python/tools:make_py_package_modules": {},
    "prelude//os/constraints:linux": {},
}
BUCKCONFIG = """[cells]
  root = .
  toolchains = toolchains
  prelude = prelude
  other = other
[cell_aliases]
  app = root
"""


class Project:
    """A project directory, the stand-in on a PATH, and the log of its calls."""

    def __init__(self, folder: Path, **description: Any) -> None:
        self.folder = folder
        self.root = folder / "project"
        self.bin = folder / "bin"
        self.home = folder / "home"
        self.log = folder / "calls.jsonl"
        self.description: dict[str, Any] = {
            "log": str(self.log),
            "platform": PLATFORM,
            "execution_platform": EXECUTION,
            "execution_platforms": {TARGET: REMOTE},
            "targets": TARGETS,
        }
        for place in (self.root, self.bin, self.home, self.root / "toolchains", self.root / "other"):
            place.mkdir(parents=True, exist_ok=True)
        (self.root / ".buckconfig").write_text(BUCKCONFIG)
        self.install()
        self.describe(**description)

    def install(self) -> None:
        """Put the stand-in on the PATH; it reads this project's description, wherever it runs."""
        script = (
            f'#!/bin/sh\nFAKE_BUCK2={self.folder}/buck2.json exec {sys.executable} -I -S {STAND_IN} "$@"\n'
        )
        (self.bin / "buck2").write_text(script)
        (self.bin / "buck2").chmod(0o755)

    def script(self, text: str) -> None:
        """Put another program in the place of the stand-in."""
        (self.bin / "buck2").write_text(f"#!/bin/sh\n{text}\n")

    def describe(self, **changes: Any) -> None:
        """Change what the stand-in answers."""
        self.description |= changes
        (self.folder / "buck2.json").write_text(json.dumps(self.description))

    def behave(self, command: str, **wanted: Any) -> None:
        """Say how one command of the stand-in behaves."""
        self.describe(behaviour={**self.description.get("behaviour", {}), command: wanted})

    def mode(self, name: str, *lines: str, cell: str = "") -> Path:
        """Write a file of arguments."""
        path = self.root / cell / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def calls(self, command: str = "") -> list[dict[str, Any]]:
        """Return the calls of the stand-in, of one command where it is named."""
        if not self.log.exists():
            return []
        calls = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [call for call in calls if not command or command in call["argv"][:1]]

    def queries(self) -> list[list[str]]:
        """Return the argv of each query."""
        return [call["argv"] for call in self.calls("cquery")]

    def context(self) -> list[str]:
        """Return the words of the first query between those that are always there."""
        words = self.queries()[0]
        assert words[:3] == ["cquery", "--console", "none"]
        return words[3 : words.index("deps(%s)")]

    def environ(self, **more: str) -> dict[str, str]:
        """Return the environment of a run: no variable of the caller's, but for coverage's."""
        return {
            "PATH": f"{self.bin}:{os.path.dirname(sys.executable)}:/usr/bin:/bin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": f"{ROOT}:{ROOT / 'collectors'}",
            "XDG_RUNTIME_DIR": os.environ.get("XDG_RUNTIME_DIR", ""),
            "TEST_MARKER": str(self.folder),
            **OWN_SETTINGS,
            **{name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")},
            **more,
        }

    def path_without(self, *programs: str) -> str:
        """Return a PATH with all programs of the system but these."""
        place = self.folder / "some"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for folder in ("/bin", "/usr/bin", str(self.bin)):
            for name in os.listdir(folder):
                if name not in programs and not (place / name).is_symlink():
                    (place / name).symlink_to(f"{folder}/{name}")
        return str(place)

    def aorta(
        self, *words: Any, cwd: Path | None = None, env: dict[str, str] | None = None, limit_s: float = 50.0
    ) -> "Ran":
        """Run ``python -m aorta`` in the project and return how it ended."""
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "aorta", *map(str, words)],
            cwd=cwd or self.root,
            env=self.environ(**(env or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit_s,
        )
        elapsed = time.monotonic() - started
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode(), elapsed)

    def probe(self, *words: Any, sections: tuple[str, ...] = SECTIONS, **options: Any) -> "Ran":
        """Take a snapshot of the Buck sections; the document goes to standard output."""
        return self.aorta("env", "probe", "--section", ",".join(sections), "-o", "-", *words, **options)

    def asked(self, *words: Any, target: str = LITERAL, **options: Any) -> "Ran":
        """Take a snapshot with a target."""
        return self.probe("--buck-target", target, *words, **options)


@dataclass
class Ran:
    """How a run ended."""

    code: int
    out: str
    err: str
    elapsed_s: float
    _document: dict[str, Any] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        """Return the document on standard output."""
        if not self._document:
            self._document = json.loads(self.out)
        return self._document

    def __getitem__(self, section: str) -> Any:
        return self.document[section]

    @property
    def invocation(self) -> dict[str, Any]:
        """Return ``buck_invocation``."""
        found = self.document["buck_invocation"]
        assert isinstance(found, dict)
        return found

    @property
    def libraries(self) -> Any:
        """Return ``library_introspection``."""
        return self.document["library_introspection"]

    @property
    def lines(self) -> list[str]:
        """Return the lines of standard error."""
        return self.err.splitlines()

    def reasons(self, section: str | None = None, kind: str | None = None) -> list[dict[str, Any]]:
        """Return the reasons, of one section and kind where they are named."""
        return [
            reason
            for reason in self.document["collection"]["reasons"]
            if section in (None, reason["section"]) and kind in (None, reason["kind"])
        ]
