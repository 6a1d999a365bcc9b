"""Where a command runs: the project's root, its cells, and the files of arguments in them."""

import os
import subprocess
import sys

from tests.fake_buck2.errors import ENVIRONMENT, BuckFailure


def project_root(directory):
    """Return the outermost ancestor with a .buckconfig. Raises BuckFailure."""
    found, current, home = None, os.path.realpath(directory), os.environ.get("HOME")
    while True:
        if os.path.exists(os.path.join(current, ".buckconfig")):
            if home and current == os.path.realpath(home):
                break
            found = current
        if os.path.exists(os.path.join(current, ".buckroot")) or current == "/":
            break
        current = os.path.dirname(current)
    if found is None:
        text = (
            f"Couldn't find a buck project root for directory `{directory}`. "
            "Expected to find a .buckconfig file."
        )
        raise BuckFailure(text, ENVIRONMENT)
    return found


class Cells:
    """The cells of a project by name and alias."""

    def __init__(self, root):
        self.root = root
        sections = _sections(os.path.join(root, ".buckconfig"))
        named = sections.get("cells") or sections.get("repositories") or {"root": "."}
        self.paths = {name: os.path.normpath(os.path.join(root, path)) for name, path in named.items()}
        self.aliases = sections.get("cell_aliases", {})

    def name(self, alias):
        """Return the cell that a name or an alias means. Raises BuckFailure."""
        name = self.aliases.get(alias, alias)
        if name not in self.paths:
            raise BuckFailure(f"unknown cell alias: `{alias}`. known aliases: `{', '.join(self.paths)}`")
        return name

    def path(self, alias):
        """Return the directory of a cell."""
        return self.paths[self.name(alias)]

    def of(self, directory):
        """Return the name of the cell that a directory is in: the deepest."""
        inside = [
            (len(path), name)
            for name, path in self.paths.items()
            if f"{os.path.realpath(directory)}/".startswith(f"{os.path.realpath(path)}/")
        ]
        return max(inside)[1] if inside else next(iter(self.paths))


def _sections(path):
    """Return the sections of a .buckconfig: no includes."""
    sections, current = {}, {}
    with open(path, encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line.startswith("["):
                current = sections.setdefault(line.strip("[]"), {})
            elif "=" in line and not line.startswith(("#", ";")):
                name, _, value = line.partition("=")
                current[name.strip()] = value.strip()
    return sections


def expanded(words):
    """Return the words with each ``@file`` replaced by its lines, before options are looked at."""
    done = []
    words = iter(words)
    for word in words:
        if word == "--":
            return [*done, word, *words]
        if word == "--flagfile":
            done += _from_file(next(words, ""))
        elif word.startswith("@"):
            done += _from_file(word[1:])
        else:
            done.append(word)
    return done


def _from_file(name):
    if name == "-":
        return expanded(_elements(sys.stdin.read()))
    path, _, flavor = name.partition("#") if ".py#" in name else (name, "", "")
    try:
        found = _place(path)
        if found.endswith(".py"):
            return expanded(_elements(_executed(found, flavor)))
        with open(found, encoding="utf-8") as file:
            return expanded(_elements(file.read()))
    except OSError as error:
        text = (
            f"Error expanding argsfiles\nError resolving flagfile `{name}`\n"
            f"Unable to read flag file at `{path}`: {error.strerror}"
        )
        raise BuckFailure(text) from None


def _place(path):
    """Return where a file of arguments lies: in a cell, from here, or in this cell's root."""
    if "//" in path:
        cell, _, rest = path.partition("//")
        try:
            cells = Cells(project_root(os.getcwd()))
        except BuckFailure as failure:
            raise BuckFailure(f"Error creating cell resolver\n{failure.text}", failure.code) from None
        return os.path.join(cells.path(cell or cells.of(os.getcwd())), rest)
    if os.path.exists(path) or os.path.isabs(path):
        return path
    cells = Cells(project_root(os.getcwd()))
    second = os.path.join(cells.path(cells.of(os.getcwd())), path)
    if not os.path.exists(second):
        return path
    print(
        f"WARNING: `@{path}` was specified, but not found. Using file at `//{path}`.",
        "This behavior is being deprecated. Please use",
        f'`"@//{path}"` instead',
        file=sys.stderr,
    )
    return second


def _executed(path, flavor):
    command = [sys.executable, path, *(("--flavors", flavor) if flavor else ())]
    done = subprocess.run(
        command, env={**os.environ, "BUCK2_ARG_FILE": "1"}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BuckFailure(f"Error expanding argsfiles\nPython argument file `{path}` failed: {done.stderr}")
    return done.stdout


def _elements(text):
    """Return one argument a line: no quoting, no splitting at blanks."""
    return [line for line in text.splitlines() if line and not line.startswith("--#")]
