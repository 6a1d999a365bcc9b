"""buck2 for the lines of the documentation: ``run``, ``build`` and ``log what-ran`` by the rules of BUCK files.

All other commands go to the stand-in of tests/fake_buck2. There are no configurations; a daemon keeps the variables
that it was started with, a local action gets these and the marks of buck2's executor, a remote one the rule's alone. An
action whose key is known does not run again and has no line in the log. Whether the real buck2 takes these lines was
never tried.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from tests.parts.buck_file import Targets, evaluate, files_of
from tests.parts.par import inplace, members

ROOT = Path(__file__).resolve().parents[2]
STATE = ".buck_rules"

#: Options with a value, and those without one. An unknown option is an error, as buck2's would be.
VALUES = ("-c", "-m", "--out", "--write-build-id", "--trace-id", "--format", "--filter-category", "--console")
FLAGS = ("--local-only", "--remote-only", "--no-remote-cache", "--show-std-err")


def main(words: list[str]) -> int:
    """Run one command."""
    command = next((word for word in words if word in ("run", "build", "log")), "")
    if not command:
        os.execv(os.environ["STAND_IN"], ["buck2", *words])
    words.remove(command)
    options, arguments, rest = parse(words)
    project = project_of(Path.cwd())
    if command == "log":
        return log(project, options, arguments)
    [label] = arguments
    build = str(uuid.uuid4())
    configs = dict(text.split("=", 1) for name, text in options if name == "-c")
    rules = rules_of(project, label, configs)
    if command == "run":
        program = par(project, label, rules)
        os.environ["BUCK_RUN_BUILD_ID"] = build
        os.execv(program, [str(program), *rest])
    return act(project, label, rules, dict(options), build)


def parse(words: list[str]) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """Return the options, the arguments, and what stands behind ``--``."""
    own, rest = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    options, arguments = [], []
    while own:
        word = own.pop(0)
        if word in VALUES:
            options.append((word, own.pop(0)))
        elif word in FLAGS:
            options.append((word, ""))
        elif word.startswith("@"):
            assert (Path.cwd() / word[1:]).exists(), word
        else:
            assert not word.startswith("-"), word
            arguments.append(word)
    return options, arguments, rest


def project_of(place: Path) -> Path:
    """Return the project's root."""
    return next(folder for folder in (place, *place.parents) if (folder / ".buckconfig").exists())


def rules_of(project: Path, label: str, configs: dict[str, str]) -> Targets:
    """Return the rules of a label's BUCK file by name."""
    folder = project / package_of(label)
    return evaluate((folder / "BUCK").read_text(encoding="utf-8"), files_of(folder), config=configs)


def package_of(label: str) -> str:
    """Return the path of a label's package."""
    return label.partition("//")[2].partition(":")[0]


def par(project: Path, label: str, rules: Targets, *, bare: bool = False) -> Path:
    """Make the program of a ``python_binary``, a ``bare`` one without aorta; return its launcher."""
    name, package = label.rpartition(":")[2], package_of(label)
    rule = rules[name]
    assert rule["kind"] == "python_binary", label
    held = _sources(project, label, rules)
    # Without aorta, and with an interpreter that has none installed.
    python = os.path.realpath(sys.executable) if bare else sys.executable
    held = held if bare else members(more=held)
    module, function = _main(rule, package.replace("/", "."))
    place = project / "buck-out" / "v2" / "gen" / f"{name}{'.bare' if bare else ''}"
    shutil.rmtree(place, ignore_errors=True)
    return inplace(place, name, held, module=module, function=function, python=python)


def _main(rule: dict[str, Any], package: str) -> tuple[str, str | None]:
    """Return the main module of a ``python_binary``, and the function to call."""
    if "main_function" in rule:
        module, _, function = rule["main_function"].rpartition(".")
        return (f"{package}{module}" if module.startswith(".") else module), function
    if "main_module" in rule:
        return rule["main_module"], None
    return ".".join((package, rule["main"].removesuffix(".py").replace("/", "."))), None


def _sources(project: Path, label: str, rules: Targets) -> dict[str, str | Path]:
    """Return the sources of a target and of what it needs in this project, by where they lie in the tree."""
    package, rule = package_of(label), rules[label.rpartition(":")[2]]
    base = rule.get("base_module", package)
    given = rule.get("srcs") or {}
    pairs = dict(given) if isinstance(given, dict) else {path: path for path in given}
    if "main" in rule:
        pairs[rule["main"]] = rule["main"]
    found: dict[str, str | Path] = {
        os.path.join(base, place): project / package / path for place, path in pairs.items()
    }
    for needed in rule.get("deps", []):
        if needed.startswith("aorta//"):
            continue
        other = _absolute(needed, label)
        found |= _sources(project, other, rules_of(project, other, {}))
    return found


def act(project: Path, label: str, rules: Targets, options: dict[str, str], build: str) -> int:
    """Run the action of a genrule, unless its result is known, and copy its output."""
    rule = rules[label.rpartition(":")[2]]
    assert rule["kind"] == "genrule", label
    if "--write-build-id" in options:
        Path(options["--write-build-id"]).write_text(f"{build}\n", encoding="utf-8")
    remote = "--remote-only" in options
    key = hashlib.sha256(json.dumps([label, rule["cmd"], rule.get("env"), remote]).encode()).hexdigest()[:16]
    place = project / "buck-out" / "v2" / "gen" / key
    if not (place / "out").exists():
        code = executed(project, label, rule, place, build, remote=remote)
        if code:
            return code
        _note(project, build, label, remote=remote)
    if "--out" in options:
        shutil.copyfile(place / "out" / rule["out"], options["--out"])
    return 0


def executed(
    project: Path, label: str, rule: dict[str, Any], place: Path, build: str, *, remote: bool
) -> int:
    """Run a genrule's command as its script does: in the directory of its sources, with relative names."""
    for name in ("srcs", "out.new", "tmp"):
        (place / name).mkdir(parents=True, exist_ok=True)

    def program(match: re.Match) -> str:
        other = _absolute(match[1], label)
        return str(par(project, other, rules_of(project, other, {})))

    command = re.sub(r"\$\(exe(?:_target)? ([^)]+)\)", program, rule["cmd"])
    assert not re.search(r"(?<!\\)\$\((?!\()(?:location|exe|pwd)", command), command
    env = {"PATH": "/usr/bin:/bin"} if remote else _daemon(project)
    env |= {
        **rule.get("env", {}),
        "OUT": f"../out.new/{rule['out']}",
        "SRCS": "",
        "SRCDIR": ".",
        "TMP": "../tmp",
    }
    env |= {"GEN_DIR": "GEN_DIR_DEPRECATED", "BUCK_SCRATCH_PATH": "../tmp"}
    if not remote:
        env |= {"BUCK2_DAEMON_UUID": str(uuid.uuid4()), "BUCK_BUILD_ID": build}
    done = subprocess.run(
        ["bash", "-e", "-c", command], cwd=place / "srcs", env=env, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        return 3
    assert (place / "out.new" / rule["out"]).exists(), "the action did not write its output"
    (place / "out.new").rename(place / "out")
    return 0


def _absolute(label: str, beside: str) -> str:
    return f"{beside.rpartition(':')[0]}{label}" if label.startswith(":") else label


def log(project: Path, options: list[tuple[str, str]], arguments: list[str]) -> int:
    """Print the lines of one build; without its id it would be the last command's, which none here means."""
    asked = dict(options)
    assert arguments == ["what-ran"] and asked["--format"] == "json", arguments
    sys.stderr.write(f"Showing commands from: buck2 build {asked['--trace-id']}\n")
    lines = (project / STATE / "log").read_text(encoding="utf-8").splitlines()
    for line in lines:
        entry = json.loads(line)
        if entry.pop("build") == asked["--trace-id"]:
            print(json.dumps(entry))
    return 0


def _note(project: Path, build: str, label: str, *, remote: bool) -> None:
    executor = {"executor": "Re", "details": {"platform_properties": {}}} if remote else {"executor": "Local"}
    entry = {
        "build": build,
        "reason": "build",
        "identity": f"root{label} (cfg) (genrule)",
        "reproducer": executor,
    }
    (project / STATE).mkdir(exist_ok=True)
    with (project / STATE / "log").open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def _daemon(project: Path) -> dict[str, str]:
    """Return the variables of the daemon, which are those of the first command that needed it."""
    place = project / STATE / os.environ.get("BUCK_ISOLATION_DIR", "v2")
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps(dict(os.environ)), encoding="utf-8")
    kept = json.loads(place.read_text(encoding="utf-8"))
    return {
        name: value
        for name, value in kept.items()
        if name not in ("PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD")
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
