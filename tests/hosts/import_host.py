"""Turn the folder of a recorded host into one closed recording.

    python tests/hosts/import_host.py SRC DST [--commands FILE]

SRC holds host.yaml, commands.yaml, fs/ and, as the host has them, links.txt, dirs.txt, devnodes.txt,
unreadable.txt, python/ and rdhc_quick.json. DST is a ``.jsonl`` (or ``.jsonl.gz``) file. With
``--commands`` the commands of another file of the folder replace those of the same line.
Exit status 2 and one line on stderr when the folder can not be used.
"""

import argparse
import base64
import errno
import gzip
import json
import os
import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from aorta.host.recording import header
from aorta.host.redaction import Redaction, secrets_of

CREATED = "2026-01-01T00:00:00Z"
NOBODY = 65534
NODE_KINDS = {"c": "char", "b": "block", "p": "fifo", "s": "socket"}
DEVICE = re.compile(r"(/\S+) ([cbps]) (\S+) (0?[0-7]{3,4}) (\S+?):(\S+)$")
SITE = re.compile(r"/(?:site|dist)-packages$")
PYTHON = re.compile(r"/python(\d+\.\d+)(?=/|$)")
MAX_LINKS = 40


class BadFolderError(Exception):
    """A folder that is no recorded host; the text says where and why."""


def text_of(path):
    """Return a file's text; None when there is no such file."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadFolderError(f"{path}: {error}") from error


def yaml_of(path, wanted):
    """Return a YAML file's content, which is a mapping or list as wanted."""
    text = text_of(path)
    if text is None:
        raise BadFolderError(f"{path}: not there")
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadFolderError(f"{path}: {' '.join(str(error).split())}") from error
    value = wanted() if value is None else value
    if not isinstance(value, wanted):
        raise BadFolderError(f"{path}: not a {'mapping' if wanted is dict else 'list'}")
    return value


def entries_of(path):
    """Yield (place, line) for the lines of a list file that say something."""
    for number, line in enumerate((text_of(path) or "").split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            yield f"{path}, line {number}", line.rstrip("\r")


def absolute(path, place):
    """Return a path checked to be absolute."""
    if not path.startswith("/") or "\0" in path:
        raise BadFolderError(f"{place}: {path!r} is not an absolute path")
    return posixpath.normpath(path)


class Folder:
    """One recorded host. ``lines`` yields its accesses."""

    def __init__(self, root, commands=None):
        self.root = Path(root)
        if not self.root.is_dir():
            raise BadFolderError(f"{root}: not a folder")
        self.host = yaml_of(self.root / "host.yaml", dict)
        self.commands = self._commands(commands)
        self.links = self._links()
        self.files = {}
        self.dirs = set()
        self._walk()
        for place, line in entries_of(self.root / "dirs.txt"):
            self._directory(absolute(line.strip(), place))
        self.nodes = self._nodes()
        self.refused = self._refused()
        self.env = self._env()

    def lines(self):
        """Yield the accesses of the whole machine."""
        for directory in sorted(self.dirs):
            yield {"op": "stat", "path": directory, "kind": "dir", "mode": 0o755}
        yield from self._file_lines()
        for path, target in sorted(self.links.items()):
            yield {
                "op": "link",
                "path": path,
                **({"errno": self.refused[path]} if path in self.refused else {"target": target}),
            }
        yield from self.nodes
        yield from self._refusals()
        yield from self._programs()
        for name, value in sorted(self.env.items()):
            yield {"op": "env", "name": name, "value": value}
        for argv, told in self.commands.items():
            yield {"op": "run", "argv": list(argv), **told}
        yield from self._python_lines()
        yield {"op": "clock", "now": CREATED}

    # Files

    def _links(self):
        links = {}
        for place, line in entries_of(self.root / "links.txt"):
            path, arrow, target = line.partition(" -> ")
            if not arrow or not target:
                raise BadFolderError(f"{place}: not LINK -> TARGET")
            links[absolute(path, place)] = target
        return links

    def _walk(self):
        top = self.root / "fs"
        if not top.is_dir():
            raise BadFolderError(f"{top}: not a folder")
        found = []
        for place, directories, files in os.walk(top, onerror=_raise):
            for name in [*directories, *files]:
                real = os.path.join(place, name)
                found.append(("/" + os.path.relpath(real, top), real))
        for path, real in found:
            if os.path.islink(real):
                self.links.setdefault(path, os.readlink(real))
        for path, real in found:
            if os.path.islink(real):
                continue
            if path in self.links and not os.path.isdir(real):
                raise BadFolderError(f"{top}: {path} is laid out and is a link to {self.links[path]} as well")
            if os.path.isdir(real):
                self._directory(path)
            elif os.path.isfile(real):
                self.files[self._through_links(path)] = real
            else:
                raise BadFolderError(f"{top}: {path} is neither file, folder nor link")

    def _directory(self, path):
        if path not in self.links:
            self.dirs.add(self._through_links(path))

    def _through_links(self, path):
        """Return where a path that lies below a link really is."""
        for _ in range(MAX_LINKS):
            parts = path.split("/")
            heads = ("/".join(parts[:end]) for end in range(2, len(parts)))
            head = next((head for head in heads if head in self.links), None)
            if head is None:
                return path
            path = posixpath.normpath(
                posixpath.join(posixpath.dirname(head), self.links[head]) + path[len(head) :]
            )
        raise BadFolderError(f"{self.root / 'links.txt'}: the links that lead to {path} go round in circles")

    def _file_lines(self):
        for path, real in sorted(self.files.items()):
            if path in self.refused:
                continue
            data = Path(real).read_bytes()
            try:
                yield {"op": "read", "path": path, "text": data.decode("utf-8")}
            except UnicodeDecodeError:
                yield {"op": "bytes", "path": path, "b64": data}
            if os.stat(real).st_mode & 0o111:
                yield {"op": "stat", "path": path, "kind": "file", "mode": 0o755}

    def _nodes(self):
        nodes = []
        users, groups = self._ids("/etc/passwd"), self._ids("/etc/group")
        for place, line in entries_of(self.root / "devnodes.txt"):
            match = DEVICE.match(line.strip())
            if not match:
                raise BadFolderError(f"{place}: not PATH TYPE MAJOR:MINOR MODE OWNER:GROUP")
            path, kind, number, mode, owner, group = match.groups()
            node = {
                "op": "stat",
                "path": absolute(path, place),
                "kind": NODE_KINDS[kind],
                "mode": int(mode, 8),
            }
            named = {"device": number, "owner": owner, "group": group}
            nodes.append({**node, "uid": users.get(owner, NOBODY), "gid": groups.get(group, NOBODY), **named})
            # A stand-in may lie in fs/ as an empty file.
            self.files.pop(path, None)
        return nodes

    def _ids(self, path):
        rows = [line.split(":") for line in (text_of(self.root / "fs" / path[1:]) or "").splitlines()]
        return {"root": 0} | {row[0]: int(row[2]) for row in rows if len(row) > 2 and row[2].isdecimal()}

    def _refused(self):
        refused = {}
        for place, line in entries_of(self.root / "unreadable.txt"):
            word, _, path = line.strip().partition(" ")
            if not isinstance(getattr(errno, word, None), int):
                raise BadFolderError(f"{place}: {word!r} is no error of errno.h")
            refused[absolute(path.strip(), place)] = word
        return refused

    def _refusals(self):
        for path, word in sorted(self.refused.items()):
            if path in self.links:
                continue
            link = re.match(r"/proc/[^/]+/(ns/[^/]+|exe|cwd|root)$", path)
            op = "scan" if path in self.dirs else "link" if link and path not in self.files else "read"
            yield {"op": op, "path": path, "errno": word}

    def _programs(self):
        """Yield the programs that are known by their path: what was run was there."""
        known = {*self.dirs, *self.files, *self.links, *self.refused}
        for word in sorted({word for argv in self.commands for word in argv[:4] if word.startswith("/")}):
            path = self._through_links(word)
            if path not in known and re.search(r"/s?bin/[^/]+$", path):
                yield {"op": "stat", "path": path, "kind": "file", "mode": 0o755}

    # Process

    def _env(self):
        env = self.host.get("env") or {}
        if not isinstance(env, dict) or not all(
            isinstance(value, (str, int, float)) for value in env.values()
        ):
            raise BadFolderError(f"{self.root / 'host.yaml'}: env is not a mapping of texts")
        return {
            str(name): value if isinstance(value, str) else json.dumps(value) for name, value in env.items()
        }

    def _commands(self, others):
        every = {}
        for path in filter(None, (self.root / "commands.yaml", others)):
            found = {}
            for number, entry in enumerate(yaml_of(Path(path), list), 1):
                argv, told = _command(entry, f"{path}, entry {number}")
                found.setdefault(argv, told)
            every |= found
        report = text_of(self.root / "rdhc_quick.json")
        for argv, told in list(every.items()):
            if report is not None and "<TMPFILE>" in argv:
                every |= _reports(argv, told, report)
        return every

    def _python_lines(self):
        place = self.root / "host.yaml"
        uname, glibc, python = (self.host.get(key) for key in ("uname", "glibc", "python"))
        if uname is not None:
            if not isinstance(uname, dict):
                raise BadFolderError(f"{place}: uname is not a mapping")
            yield {"op": "observe", "name": "uname", "value": uname}
        if glibc is not None:
            yield {"op": "observe", "name": "glibc", "value": f"glibc {glibc}"}
        root = _is_root(self.host.get("user"))
        if root is not None:
            yield {
                "op": "observe",
                "name": "user",
                "value": {"uid": 0 if root else None, "root": root, "groups": None},
            }
        if python is None:
            return
        if not isinstance(python, dict):
            raise BadFolderError(f"{place}: python is not a mapping")
        torch = python.get("torch")
        if torch is not None and not isinstance(torch, dict):
            raise BadFolderError(f"{place}: python.torch is not a mapping")
        yield from self._interpreter_lines(python, torch or {})

    def _interpreter_lines(self, python, torch):
        sites = self._sites(python, torch)
        yield {
            "op": "observe",
            "name": "interpreter",
            "value": {
                "version": self._version(python, sites),
                "implementation": python.get("implementation", "CPython"),
                "executable": python.get("executable"),
                "prefix": python.get("prefix"),
                "base_prefix": python.get("base_prefix"),
                "path": sites,
            },
        }
        if torch:
            show = text_of(self.root / torch["config_show"]) if torch.get("config_show") else None
            yield {"op": "observe", "name": "torch", "value": _torch_report(torch, show)}
        yield from self._distributions(sites)
        yield from self._modules(sites, torch)

    def _sites(self, python, torch):
        """Return the package directories that the interpreter would search, its own prefix first."""
        known = sorted(path for path in self.dirs if SITE.search(path))
        own = [path for path in known if _below(path, python.get("prefix"))]
        sites = own or [path for path in known if _below(path, python.get("base_prefix"))]
        place = posixpath.dirname(posixpath.dirname(torch.get("file") or ""))
        return sites if not place or place in sites else [*sites, place]

    def _version(self, python, sites):
        if python.get("version"):
            return str(python["version"])
        settings = self.files.get(posixpath.join(str(python.get("prefix")), "pyvenv.cfg"))
        stated = (
            re.search(
                r"^version(?:_info)? *= *(\d+\.\d+(?:\.\d+)?)", text_of(Path(settings)) or "", re.MULTILINE
            )
            if settings
            else None
        )
        named = PYTHON.search(" ".join([*sites, str(python.get("executable"))]))
        return stated[1] if stated else named[1] if named else None

    def _distributions(self, sites):
        found = {}
        for site in sites:
            for path in sorted(
                path for path in self.dirs if posixpath.dirname(path) == site and path.endswith(".dist-info")
            ):
                name, version = self._metadata(path)
                found.setdefault(re.sub(r"[-_.]+", "-", name).lower(), []).append((name, version, path))
        for name, copies in found.items():
            url = self.files.get(f"{copies[0][2]}/direct_url.json")
            told = {"name": copies[0][0], "version": copies[0][1], "path": copies[0][2]}
            told |= {"direct_url": text_of(Path(url))} if url else {}
            told |= {"others": [path for _, _, path in copies[1:]]} if copies[1:] else {}
            yield {"op": "dist", "name": name, "found": told}

    def _metadata(self, path):
        name, _, version = posixpath.basename(path).removesuffix(".dist-info").partition("-")
        real = self.files.get(f"{path}/METADATA")
        head = (text_of(Path(real)) or "").partition("\n\n")[0] if real else ""
        fields = dict(re.findall(r"^(Name|Version): *(\S+)", head, re.MULTILINE))
        return fields.get("Name", name), fields.get("Version", version or None)

    def _modules(self, sites, torch):
        modules = {}
        for site in sites:
            for path in sorted([*self.dirs, *self.files]):
                name = posixpath.basename(path)
                if (
                    posixpath.dirname(path) == site
                    and name.removesuffix(".py").isidentifier()
                    and name != "__pycache__"
                ):
                    _add_module(modules, path, self.files)
        if torch.get("file"):
            modules["torch"] = {"origin": torch["file"], "locations": [posixpath.dirname(torch["file"])]}
        for name, told in sorted(modules.items()):
            yield {"op": "module", "name": name, "found": {"name": name, **told}}


def _add_module(modules, path, files):
    """Note a module or package; a namespace package has a location in every directory."""
    name = posixpath.basename(path).removesuffix(".py")
    known = modules.get(name)
    if known and known.get("origin"):
        return
    if path in files:
        if path.endswith(".py") and not known:
            modules[name] = {"origin": path}
        return
    init = f"{path}/__init__.py"
    locations = [path] if init in files else [*(known or {}).get("locations", []), path]
    modules[name] = {"origin": init, "locations": locations} if init in files else {"locations": locations}


def _torch_report(torch, show):
    """Return what a process that imported torch would have told, of what host.yaml says of it."""
    named = {
        "version": "__version__",
        "git_version": "git_version",
        "hip": "version_hip",
        "cuda": "version_cuda",
    }
    parts = {name: torch[key] for name, key in named.items() if key in torch}
    parts |= {"file": torch["file"]} if torch.get("file") else {}
    parts |= {"config": show} if show is not None else {}
    if "arch_list" in torch:
        parts["arch_flags"] = " ".join(torch["arch_list"] or ()) or None
    ended = {"error": None, "done": True, "ended": "", "hung": False, "noise": ""}
    return {"how": "child", "imported": True, **ended, "parts": parts, "errors": {}}


def _command(entry, place):
    """Return the line of one command and how it ended."""
    argv = entry.get("argv") if isinstance(entry, dict) else None
    if not isinstance(argv, list) or not argv or not all(isinstance(word, str) for word in argv):
        raise BadFolderError(f"{place}: argv is not a list of texts")
    code = entry.get("exit_code", 0)
    if not isinstance(code, int) or isinstance(code, bool):
        raise BadFolderError(f"{place}: exit_code is not a number")
    told = {"exit": code}
    for name, key in (("out", "stdout"), ("err", "stderr")):
        text = entry.get(key) or ""
        if not isinstance(text, (str, bytes)):
            raise BadFolderError(f"{place}: {key} is not a text")
        told[name] = text if isinstance(text, str) else text.decode("utf-8", "replace")
    return tuple(argv), told


def _reports(argv, told, report):
    """Return the same command with its report written to its output, under each name of the program."""
    start = next((index for index, word in enumerate(argv) if word not in ("sudo", "-n", "-E")), 0)
    words = tuple("/dev/stdout" if word == "<TMPFILE>" else word for word in argv[start:])
    named = {words, (posixpath.basename(words[0]), *words[1:])}
    both = {**told, "out": f"{told['out'].rstrip(chr(10))}\n{report}".lstrip("\n")}
    return {(*argv[:start], *line): both for line in sorted(named)}


def _is_root(user):
    """Tell whether the recorded process was root; None when host.yaml does not say."""
    words = str(user or "").lower()
    if re.match(r"root\b(?!-)", words):
        return True
    return False if re.match(r"(normal|root-?less|unprivileged) ", words) else None


def _below(path, prefix):
    return isinstance(prefix, str) and path.startswith(prefix.rstrip("/") + "/")


def _raise(error):
    raise BadFolderError(f"{error.filename}: {error.strerror}") from error


def recording(folder) -> Iterator[str]:
    """Yield the lines of the recording, secrets taken out."""
    redaction = Redaction(secrets_of(folder.env))
    yield json.dumps(header("closed", CREATED))
    for line in folder.lines():
        name = line.get("name", "") if line["op"] == "env" else ""
        kept = {
            key: redaction.value(value, name if key == "value" else "")
            for key, value in line.items()
            if key != "b64"
        }
        if line["op"] == "run":
            kept["argv"] = list(redaction.words(line["argv"]))
        if "b64" in line:
            kept["b64"] = base64.b64encode(redaction.data(line["b64"])).decode("ascii")
        yield json.dumps(kept)


def write(path, lines):
    """Write the recording, gzipped when its name says so; the same input gives the same bytes."""
    data = "".join(f"{line}\n" for line in lines).encode("utf-8")
    Path(path).write_bytes(gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data)


def main(argv=None):
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("src", help="folder of the recorded host")
    parser.add_argument("dst", help="recording to write (.jsonl or .jsonl.gz)")
    parser.add_argument("--commands", help="a second file of commands, e.g. commands_variant_x.yaml")
    options = parser.parse_args(argv)
    try:
        write(options.dst, recording(Folder(options.src, options.commands)))
    except (BadFolderError, OSError) as error:
        print(f"import_host: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
