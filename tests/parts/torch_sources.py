"""Source trees of torch: a section made of what is read of one, and real trees with real git and CMake."""

import os
import subprocess
from pathlib import Path
from typing import Annotated
from unittest.mock import patch

from aorta.collect import Context
from aorta.host.live import LiveHost
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta.testing import collect
from aorta_collectors.providers import TorchFacts
from aorta_collectors.pytorch.cmake_cache import describe as describe_cache
from aorta_collectors.pytorch.model import CmakeCache, InstallKind, NinjaHipcc, SubmoduleCommits
from aorta_collectors.pytorch.ninja import describe as describe_ninja
from aorta_collectors.pytorch.source_tree import source_tree
from aorta_collectors.pytorch.submodules import submodule_commits
from tests.parts.needs import need

#: What is told of submodules where nothing is.
NULL = {
    "composable_kernel": None,
    "aiter": None,
    "fbgemm": None,
    "_source": None,
    "superproject": None,
    "recorded": {"composable_kernel": None, "aiter": None, "fbgemm": None},
}


@frozen
class Sources:
    """All that is read of a source tree."""

    install_kind: Annotated[InstallKind | None, Fact("How it was installed.")] = None
    source_path: Annotated[str | None, Fact("The tree.")] = None
    submodule_commits: Annotated[SubmoduleCommits, Fact("Commits.")] = SubmoduleCommits()
    cmake_cache: Annotated[CmakeCache, Fact("The cache.")] = CmakeCache()
    ninja_hipcc: Annotated[NinjaHipcc, Fact("The compile lines.")] = NinjaHipcc()


@collector(
    section="example.sources",
    model=Sources,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(TorchFacts,),
    timeout_s=30,
)
def sources(ctx: Context) -> Sources:
    """What is read of a source tree."""
    tree = source_tree(ctx, ctx.need(TorchFacts))
    return Sources(
        install_kind=tree.install_kind,
        source_path=tree.path,
        submodule_commits=submodule_commits(ctx, tree),
        cmake_cache=describe_cache(ctx, tree),
        ninja_hipcc=describe_ninja(ctx, tree),
    )


def look(host, **request):
    """Run that section on a host."""
    return collect(host, sources, **request)


def look_live(tree, env=None, **request):
    """Run it on this machine, with ``tree`` as the source tree that the caller names."""
    with patch.dict(os.environ, {"AORTA_PYTORCH_SRC": str(tree), **(env or {})}):
        host = LiveHost()
        try:
            return look(host, import_torch=False, **request)
        finally:
            host.close()


def git(place, *words):
    """Run git in a directory, as nobody in particular, and return what it prints."""
    need("git", "repositories are made by git (Debian: apt install git)")
    settings = ("user.name=a", "user.email=a@example.org", "protocol.file.allow=always")
    line = ["git", "-C", str(place), *(word for each in settings for word in ("-c", each)), *words]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_CONFIG_NOSYSTEM": "1", "HOME": str(place)}
    done = subprocess.run(line, check=True, capture_output=True, text=True, env=environ)
    return done.stdout.strip()


def repository(place: Path, text="x"):
    """Make a repository with one commit."""
    place.mkdir(parents=True)
    git(place, "init", "-q")
    (place / "file").write_text(text)
    git(place, "add", "file")
    git(place, "commit", "-q", "-m", text)
    return place


def superproject(place: Path, *names):
    """Make a repository whose ``third_party`` holds submodules of these names, checked out."""
    top = repository(place / "pytorch")
    for name in names:
        origin = repository(place / "origins" / name, name)
        git(top, "submodule", "add", "-q", str(origin), f"third_party/{name}")
    (top / "third_party").mkdir(exist_ok=True)
    git(top, "commit", "-q", "--allow-empty", "-m", "submodules")
    return top


#: A compiler that CMake takes for one of HIP's, without asking it anything.
HIP_COMPILER = (
    "-DCMAKE_HIP_COMPILER_ID_RUN=1",
    "-DCMAKE_HIP_COMPILER_ID=Clang",
    "-DCMAKE_HIP_COMPILER_VERSION=19.0",
    "-DCMAKE_HIP_COMPILER_FORCED=1",
)


def script(path: Path, text="exit 0"):
    """Write a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def configure(tree: Path, text, *words):
    """Configure a project with the real CMake for ninja, into ``build``."""
    need("cmake", "builds are configured by CMake (Debian: apt install cmake)")
    need("ninja", "CMake wants ninja to be there (Debian: apt install ninja-build)")
    (tree / "third_party").mkdir(parents=True, exist_ok=True)
    (tree / "CMakeLists.txt").write_text(text)
    line = ["cmake", "-G", "Ninja", "-S", str(tree), "-B", str(tree / "build"), *words]
    subprocess.run(line, check=True, capture_output=True, text=True)
    return tree


def configure_hip(tree: Path, text, *words):
    """Configure a project in the language HIP; its compiler does nothing."""
    rocm = tree / "rocm"
    compiler = script(rocm / "bin/clang++")
    language = rocm / "lib/cmake/hip-lang"
    language.mkdir(parents=True)
    (language / "hip-lang-config.cmake").write_text("")
    return configure(
        tree,
        text,
        f"-DCMAKE_HIP_COMPILER={compiler}",
        f"-DCMAKE_HIP_COMPILER_ROCM_ROOT={rocm}",
        *HIP_COMPILER,
        *words,
    )


class Refusing:
    """A host whose ``stat`` of some paths fails."""

    def __init__(self, host, refused):
        self._host, self._refused = host, refused

    def __getattr__(self, name):
        return getattr(self._host, name)

    def stat(self, path, *, timeout=None, follow=True):
        if path in self._refused:
            number = self._refused[path]
            raise OSError(number, os.strerror(number), path)
        return self._host.stat(path, timeout=timeout, follow=follow)
