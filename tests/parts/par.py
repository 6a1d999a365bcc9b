"""Packages of Python programs as Buck2 makes them: a tree of links with a launcher, and one zip file.

Own work after what the launchers of Buck2's prelude were seen to do: the launcher sets PYTHONPATH and
LD_LIBRARY_PATH to the tree and keeps the user's in FB_SAVED_*, the startup code in the tree gives them back
in ``os.environ``, and PAR_MAIN_OVERRIDE names another main module. There is no dist-info but what is asked for.
"""

import os
import sys
import zipfile
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from tests.parts.buck_file import ROOT, outside, own_targets, placed

#: Where the labels of aorta's dependencies lead here: distributions and what they need themselves.
NEEDED_TOO = {"cattrs": ("typing_extensions", *(("exceptiongroup",) if sys.version_info < (3, 11) else ()))}

LAUNCHER = """#!{python}
import os, sys, time
tree = os.path.realpath(__file__).removesuffix(".pex") + "#link-tree"
env = os.environ
env["PAR_LAUNCH_TIMESTAMP"] = str(time.time())
env["PAR_INVOKED_NAME_TAG"] = os.path.basename(sys.argv[0])
more = env.pop("PAR_APPEND_PYTHONPATH", "")
for name, value in (("PYTHONPATH", tree + (":" + more if more else "")), ("LD_LIBRARY_PATH", tree)):
    if name in env:
        env["FB_SAVED_" + name] = env[name]
    env[name] = value
program = os.path.realpath(__file__)
start = "import sys; sys.path.pop(0); sys.argv[0] = {{!r}}; from __par__ import bootstrap; bootstrap.run()"
os.execv(sys.executable, [sys.executable, "-B", "-c", start.format(program), *sys.argv[1:]])
"""

BOOTSTRAP = """
import importlib, os, runpy, sys

MAIN, FUNCTION = {module!r}, {function!r}

def run():
    env = os.environ
    # A zip has no launcher that could have set anything.
    for name in ("PYTHONPATH", "LD_LIBRARY_PATH") if "PAR_LAUNCH_TIMESTAMP" in env else ():
        saved = env.pop("FB_SAVED_" + name, None)
        env.pop(name, None)
        if saved is not None:
            env[name] = saved
    env.pop("PAR_INVOKED_NAME_TAG", None)
    module, function = MAIN, FUNCTION
    override = env.pop("PAR_MAIN_OVERRIDE", None)
    other = env.pop("PAR_MAIN_FUNCTION_OVERRIDE", None)
    if override:
        env["PAR_MAIN_ORIGINAL"] = MAIN
        module, function = override, other
    if function:
        getattr(importlib.import_module(module), function)()
    else:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
"""

ZIP_MAIN = """
from __par__ import bootstrap
bootstrap.run()
"""


def members(
    target: str = "aorta_lib",
    *,
    more: Mapping[str, str | Path] | None = None,
    of: Mapping[str, dict] | None = None,
) -> dict[str, str | Path]:
    """Return what lies in a package of a target: destination to a file, or to a text that becomes one."""
    targets = dict(of or own_targets())
    found: dict[str, str | Path] = {place: ROOT / source for place, source in placed(targets, target).items()}
    for label in outside(targets, target):
        found |= distribution(label.rpartition(":")[2])
    return {**found, **(more or {})}


def distribution(name: str) -> dict[str, str | Path]:
    """Return the modules of an installed distribution and of those that it needs; no metadata, nothing compiled."""
    found: dict[str, str | Path] = {}
    for one in (name, *NEEDED_TOO.get(name, ())):
        for file in metadata.distribution(one).files or ():
            if ".." in file.parts or file.parts[0].endswith(".dist-info") or "__pycache__" in file.parts:
                continue
            if file.suffix not in (".so", ".pyc"):
                found[file.as_posix()] = Path(str(file.locate()))
    return found


def link_tree(folder: Path, held: Mapping[str, str | Path]) -> Path:
    """Make a tree of links; a text becomes a file beside it, as a generated source would."""
    sources = folder.parent / f"{folder.name}.sources"
    for place, source in held.items():
        link = folder / place
        link.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, str):
            target = sources / place
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(source)
        else:
            target = source
        link.symlink_to(target)
    for directory in {
        parent for place in held for parent in (folder / place).parents if folder in parent.parents
    }:
        # Buck2 makes packages of all folders with sources.
        has_sources = any(file.suffix == ".py" for file in directory.iterdir())
        if has_sources and not (directory / "__init__.py").exists():
            (directory / "__init__.py").write_text("")
    return folder


def inplace(
    folder: Path,
    name: str,
    held: Mapping[str, str | Path],
    *,
    module: str,
    function: str | None = None,
    python: str = sys.executable,
) -> Path:
    """Make ``NAME.pex`` and ``NAME#link-tree``; return the launcher."""
    folder.mkdir(parents=True, exist_ok=True)
    bootstrap = BOOTSTRAP.format(module=module, function=function)
    link_tree(
        folder / f"{name}#link-tree", {**held, "__par__/__init__.py": "", "__par__/bootstrap.py": bootstrap}
    )
    launcher = folder / f"{name}.pex"
    launcher.write_text(LAUNCHER.format(python=python))
    launcher.chmod(0o755)
    return launcher


def zipped(
    folder: Path, name: str, held: Mapping[str, str | Path], *, module: str, function: str | None = None
) -> Path:
    """Make ``NAME.par``, a zip file that ``python NAME.par`` runs; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    bootstrap = BOOTSTRAP.format(module=module, function=function)
    whole = {**held, "__par__/__init__.py": "", "__par__/bootstrap.py": bootstrap, "__main__.py": ZIP_MAIN}
    program = folder / f"{name}.par"
    with zipfile.ZipFile(program, "w") as file:
        for place, source in whole.items():
            file.writestr(place, source if isinstance(source, str) else source.read_bytes())
    return program


def clean_environ(**more: str) -> dict[str, str]:
    """Return an environment without this process's ways to aorta and to Python packages."""
    kept = ("PATH", "HOME", "LANG")
    return {name: os.environ[name] for name in kept if name in os.environ} | more


def modules_of(held: Iterable[str], *, tops: Iterable[str] = ("aorta", "aorta_collectors")) -> list[str]:
    """Return the names of the modules among destinations, only those below some packages."""
    wanted = set(tops)
    paths = (place for place in held if place.endswith(".py") and place.split("/")[0] in wanted)
    return sorted(place.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for place in paths)
