"""Check a snapshot against statements about it.

    python tests/hosts/check_expect.py SNAPSHOT.json EXPECT.yaml [--sections a,b,c]

A statement is ``{path: P, COMPARISON: VALUE, why: text, trap: true}``; ``why`` and ``trap`` are for the
reader. Comparisons: ``equals`` (the same JSON value, true is not 1), ``in`` (equal to one of a list),
``contains`` and ``startswith`` (of a text), ``length`` (of a list or object), ``set_equals`` (the same
members in any order), ``is_null`` (true or false), ``absent`` (the last step is not in what is before it).

A path is made of keys, ``[0]``, ``[-1]``, ``[field=text]`` (the first member whose field, as text, is that)
and ``["a key with. dots"]``. A step below null gives null; a key that is not there is not null.

Prints what does not hold and ``N of M statements hold``. Exit status: 0 all hold and there is one at
least, 1 not so, 2 a file, statement or path can not be used. ``--sections`` checks only the statements
whose first step is one of these keys.
"""

import argparse
import json
import re
import sys

import yaml

STEP = re.compile(r"""\.?([^.\[\]"=]+)|\[(-?\d+)\]|\["([^"]+)"\]|\[([^\]="]+)=([^\]]*)\]""")
ABSENT = type("Absent", (), {"__repr__": lambda _: "nothing"})()
LONGEST = 200


class UnusableError(Exception):
    """An input that can not be used; the text says which and why."""


def steps_of(path):
    """Return the steps of a path: a text for a key, a number, or (field, text)."""
    steps, at = [], 0
    while at < len(path):
        match = STEP.match(path, at)
        named = match is not None and match[1] is not None
        if match is None or (named and (at == 0) == match[0].startswith(".")):
            raise UnusableError(f"malformed path {path!r} at {path[at:]!r}")
        key, index, quoted, field, text = match.groups()
        steps.append(int(index) if index else (field, text) if field else key or quoted)
        at = match.end()
    if not steps:
        raise UnusableError("empty path")
    return steps


def down(value, step):
    """Return what a step leads to: null below null, ABSENT where there is no such member."""
    if value is None or value is ABSENT:
        return value
    if isinstance(step, str):
        return value.get(step, ABSENT) if isinstance(value, dict) else ABSENT
    if not isinstance(value, list):
        return ABSENT
    if isinstance(step, int):
        return value[step] if -len(value) <= step < len(value) else ABSENT
    field, text = step
    for member in value:
        if isinstance(member, dict) and field in member:
            said = member[field] if isinstance(member[field], str) else json.dumps(member[field])
            if said == text:
                return member
    return ABSENT


def seen(document, steps):
    """Return what a path leads to."""
    for step in steps:
        document = down(document, step)
    return document


def same(one, other):
    """Tell whether two JSON values are equal; true is not 1, 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(*pair) for pair in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def same_members(one, other):
    """Tell whether two lists hold the same members, each equally often."""
    left = list(other)
    for member in one:
        place = next((index for index, wanted in enumerate(left) if same(member, wanted)), None)
        if place is None:
            return False
        left.pop(place)
    return not left


COMPARISONS = {
    "equals": (object, same),
    "in": (list, lambda got, wanted: any(same(got, value) for value in wanted)),
    "contains": (str, lambda got, wanted: isinstance(got, str) and wanted in got),
    "startswith": (str, lambda got, wanted: isinstance(got, str) and got.startswith(wanted)),
    "length": (int, lambda got, wanted: isinstance(got, (list, dict)) and len(got) == wanted),
    "set_equals": (list, lambda got, wanted: isinstance(got, list) and same_members(got, wanted)),
    "is_null": (bool, lambda got, wanted: (got is None) is wanted),
    "absent": (bool, None),
}


def prepared(statement):
    """Return the path, the steps, the comparison and its value. Raises UnusableError."""
    if not isinstance(statement, dict) or not isinstance(statement.get("path"), str):
        raise UnusableError(f"not a statement with a path: {statement!r}")
    path, names = statement["path"], [name for name in statement if name not in ("path", "why", "trap")]
    if len(names) != 1 or names[0] not in COMPARISONS:
        raise UnusableError(f"{path}: needs exactly one known comparison, has {names}")
    name, value = names[0], statement[names[0]]
    wanted = COMPARISONS[name][0]
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise UnusableError(f"{path}: {name} takes a {wanted.__name__}, not {value!r}")
    try:
        json.dumps(value)
    except TypeError as error:
        raise UnusableError(f"{path}: {value!r} is not a JSON value") from error
    return path, steps_of(path), name, value


def judged(document, steps, name, value):
    """Return whether a statement holds and what the document has there."""
    got = seen(document, steps)
    if name != "absent":
        return got is not ABSENT and COMPARISONS[name][1](got, value), got
    if not value:
        return got is not ABSENT, got
    return got is ABSENT and isinstance(seen(document, steps[:-1]), (dict, list)), got


def shown(value):
    """Return a value as a message quotes it."""
    text = repr(value) if value is ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def failures(document, statements):
    """Return a sentence for each statement that does not hold. Raises UnusableError."""
    said = []
    for path, steps, name, value in [prepared(statement) for statement in statements]:
        holds, got = judged(document, steps, name, value)
        if not holds:
            said.append(f"{path}: expected {name} {shown(value)}, got {shown(got)}")
    return said


def sections_of(statements):
    """Return the top-level keys that statements speak of."""
    return {str(prepared(statement)[1][0]) for statement in statements}


def chosen(statements, sections):
    """Return the statements about these top-level keys."""
    return [statement for statement in statements if prepared(statement)[1][0] in sections]


def load(path, parse):
    """Return a parsed file. Raises UnusableError naming it."""
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read())
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise UnusableError(f"{path}: {' '.join(str(error).split())}") from error


def strict(text):
    """Return a JSON text's value; NaN and Infinity are no JSON."""
    return json.loads(text, parse_constant=_refuse)


def _refuse(name):
    raise ValueError(f"not strict JSON: {name}")


def main(argv=None):
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("snapshot", help="snapshot (JSON)")
    parser.add_argument("expectations", help="list of statements (YAML)")
    parser.add_argument("--sections", help="comma-separated top-level keys to check, no others")
    options = parser.parse_args(argv)
    try:
        document = load(options.snapshot, strict)
        statements = load(options.expectations, yaml.safe_load) or []
        if not isinstance(statements, list):
            raise UnusableError(f"{options.expectations}: not a list of statements")
        if options.sections is not None:
            statements = chosen(statements, options.sections.split(","))
        missed = failures(document, statements)
    except UnusableError as error:
        print(f"check_expect: {error}", file=sys.stderr)
        return 2
    for sentence in missed:
        print(sentence)
    print(f"{len(statements) - len(missed)} of {len(statements)} statements hold")
    return 0 if statements and not missed else 1


if __name__ == "__main__":
    sys.exit(main())
