"""Real checkouts of git and mercurial, as nobody in particular."""

import os
import subprocess
from pathlib import Path

from tests.parts.needs import need

GIT_SETTINGS = ("user.name=a", "user.email=a@example.org", "init.defaultBranch=main")
#: What keeps git and mercurial from the settings of who runs the tests.
OWN_SETTINGS = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "HGRCPATH": "/dev/null"}


def git(place, *words):
    """Run git in a directory and return what it prints."""
    need("git", "checkouts are made by git (Debian: apt install git)")
    line = ["git", "-C", str(place), *(word for each in GIT_SETTINGS for word in ("-c", each)), *words]
    return _run(line)


def hg(place, *words):
    """Run mercurial in a directory and return what it prints."""
    need("hg", "checkouts are made by mercurial (Debian: apt install mercurial)")
    return _run(["hg", "--cwd", str(place), "--config", "ui.username=a", *words])


def _run(line):
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "HG"))}
    done = subprocess.run(line, check=True, capture_output=True, text=True, env={**environ, **OWN_SETTINGS})
    return done.stdout.strip()


def git_checkout(place):
    """Make a git repository of a directory that may hold files; return the commit of all of them."""
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "commit", "-q", "--allow-empty", "-m", "all")
    return git(place, "rev-parse", "HEAD")


def hg_checkout(place):
    """Make a mercurial repository of a directory that holds files; return the changeset."""
    hg(place, "init")
    hg(place, "addremove", "-q")
    hg(place, "commit", "-m", "all")
    return hg(place, "id", "-i")


def worktree(repository, place):
    """Make a second working tree of a repository; its ``.git`` is a file."""
    git(repository, "worktree", "add", "-q", "--detach", str(place))
    assert Path(place, ".git").is_file()
    return git(place, "rev-parse", "HEAD")


def belongs_to_another(place):
    """Give a directory and all below it to another user: git calls that dubious."""
    need(os.geteuid() == 0, "gives files to another user: needs root")
    for folder, _, names in os.walk(place):
        for path in (folder, *(os.path.join(folder, name) for name in names)):
            os.chown(path, 12345, 12345, follow_symlinks=False)
