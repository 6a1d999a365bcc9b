"""The commands of the stand-in."""

import json
import os

from tests.fake_buck2.behaviour import Answer, after, before
from tests.fake_buck2.errors import BuckFailure, UsageFailure
from tests.fake_buck2.graph import Graph
from tests.fake_buck2.options import SUBCOMMANDS, parse
from tests.fake_buck2.places import Cells, expanded, project_root

VERSION = "2026-08-15-13baa8a1d181428b17e1873fcb129793fa36d463"
NAME = ".fake_buck2.json"


def main(words):
    """Run one command and end the process."""
    path, description = _description()
    _log(description, words)
    name = next((word for word in words if word in SUBCOMMANDS), "".join(words[:1]))
    wanted = {}
    for each in (name, *(["cquery -a"] if "-a" in words else [])):
        wanted |= description.get("behaviour", {}).get(each, {})
    parsed = _Unparsed(words)
    try:
        parsed = parse(expanded(words))
        before(wanted, path, parsed)
        answer = _answer(parsed, description)
    except BuckFailure as failure:
        answer = Answer("", failure.printed(), failure.code)
    after(wanted, answer, parsed)


class _Unparsed:
    """A command line whose options could not be read."""

    subcommand, options, arguments = "?", (), ()

    def __init__(self, words):
        self.words = words

    def last(self, name, default=None):
        """Look for an option's value where the words are not understood."""
        return next(
            (b for a, b in zip(self.words, self.words[1:], strict=False) if a == f"--{name}"), default
        )


def _description():
    path = os.environ.get("FAKE_BUCK2", "")
    if not path:
        current = os.getcwd()
        while current != "/" and not os.path.exists(os.path.join(current, NAME)):
            current = os.path.dirname(current)
        path = os.path.join(current, NAME)
    try:
        with open(path, encoding="utf-8") as file:
            return path, json.load(file)
    except OSError:
        return path, {}


def _log(description, words):
    if "log" in description:
        line = {
            "argv": words,
            "cwd": os.getcwd(),
            "pid": os.getpid(),
            "stdin": os.readlink("/proc/self/fd/0"),
        }
        line["environ"] = {
            name: os.environ[name] for name in description.get("log_environ", ()) if name in os.environ
        }
        with open(description["log"], "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _answer(parsed, description):
    if dict(parsed.options).get("version"):
        return Answer(f"buck2 {description.get('version', VERSION)}\n")
    if not parsed.subcommand:
        raise UsageFailure("'buck2' requires a subcommand but one was not provided")
    return _COMMANDS[parsed.subcommand](parsed, description)


def _root(parsed, description):
    root = project_root(parsed.last("dir") or os.getcwd())
    kind = parsed.last("kind", "cell")
    if kind == "cell":
        cells = Cells(root)
        return Answer(f"{cells.path(cells.of(parsed.last('dir') or os.getcwd()))}\n")
    if kind == "daemon":
        return Answer(f"{os.path.expanduser('~')}/.buck/buckd{root}/v2\n")
    return Answer(f"{root}\n")


def _graph(parsed, description):
    cells = Cells(project_root(os.getcwd()))
    cell = cells.of(os.getcwd())
    package = os.path.relpath(os.getcwd(), os.path.realpath(cells.path(cell)))
    here = f"{cell}//{'' if package == '.' else package}"
    return Graph(description, cells, here, parsed)


def _cquery(parsed, description):
    graph = _graph(parsed, description)
    if not parsed.arguments:
        raise UsageFailure("the following required arguments were not provided:\n  <QUERY>")
    query, *literals = parsed.arguments
    is_many = "%s" in query
    if literals and not is_many:
        text = (
            f"Query args supplied without any `%s` placeholder in the query, got args `{', '.join(literals)}`"
        )
        raise BuckFailure(text, server=True)
    if is_many and any("%s" in literal for literal in literals):
        raise BuckFailure("`%s` in a query argument is not allowed", server=True)
    rows, failures = [], []
    for literal in literals if is_many else [None]:
        try:
            rows.append((literal, graph.query(query if literal is None else query.replace("%s", literal))))
        except BuckFailure as failure:
            if literal is None:
                raise
            rows.append((literal, failure))
            failures.append(failure)
    stderr, code = (failures[0].printed(), failures[0].code) if failures else ("", 0)
    return Answer(_printed(parsed, graph, rows, is_many), stderr, code)


def _printed(parsed, graph, rows, is_many):
    """Return the rows of a query as the options ask for them."""
    patterns = _patterns(parsed)
    nodes = [node for _, found in rows if not isinstance(found, BuckFailure) for node in found]
    if patterns is not None:
        merged = {str(node): graph.attributes(node, patterns) for node in nodes}
        return json.dumps(merged, indent=2, ensure_ascii=False) + "\n"
    if not (dict(parsed.options).get("json") or parsed.last("output-format") == "json"):
        return "".join(f"{node}\n" for node in nodes)
    if not is_many:
        return json.dumps([str(node) for node in nodes], indent=2, ensure_ascii=False) + "\n"
    # Not a dict: a literal that is given twice stands there twice.
    members = [f"  {json.dumps(literal, ensure_ascii=False)}: {_row(found)}" for literal, found in rows]
    return "{\n" + ",\n".join(members) + "\n}\n" if members else "{}\n"


def _row(found):
    is_failure = isinstance(found, BuckFailure)
    value = {"$error": found.text} if is_failure else [str(node) for node in found]
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n  ")


def _patterns(parsed):
    """Return the patterns of the attributes that are wanted; None where there are none."""
    options = dict(parsed.options)
    if options.get("output-all-attributes"):
        return [""]
    if options.get("output-basic-attributes"):
        return [r"^buck\."]
    return parsed.all("output-attribute") or None


def _audit(parsed, description):
    what, *names = parsed.arguments or [""]
    if what != "cell":
        raise UsageFailure(f"unrecognized subcommand '{what}'")
    cells = Cells(project_root(os.getcwd()))
    options = dict(parsed.options)
    aliases = cells.aliases if options.get("aliases") else {}
    shown = {name: cells.path(name) for name in names or [*cells.paths, *aliases]}
    if options.get("json"):
        return Answer(json.dumps(shown, indent=2) + "\n")
    if options.get("paths-only"):
        return Answer("".join(f"{path}\n" for path in shown.values()))
    return Answer("".join(f"{name}: {path}\n" for name, path in shown.items()))


def _targets(parsed, description):
    graph = _graph(parsed, description)
    labels = [label for pattern in parsed.arguments for label in graph.labels(pattern)]
    if not dict(parsed.options).get("json"):
        return Answer("".join(f"{label}\n" for label in labels))
    rows = [
        {"buck.package": f"{label.rpartition(':')[0]}:BUCK", "name": label.rpartition(":")[2]}
        for label in labels
    ]
    return Answer(json.dumps(rows, indent=2) + "\n")


_COMMANDS = {"root": _root, "cquery": _cquery, "audit": _audit, "targets": _targets}
