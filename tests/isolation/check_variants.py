"""Check what the isolation sections say of small sets of evidence with a known truth.

    python tests/isolation/check_variants.py VARIANTS.yaml [NAME...]

The file is a list of sets: ``name``, ``truth`` (container, runtime, orchestrator, container_id,
private_mounts, container_detected) and the evidence: ``files`` (path to text), ``links`` (path to
target), ``env``, ``dirs``, ``nodes`` (path to c, b, p or s), ``observed``, and ``unreadable`` (a list of
``ERRNO PATH``). A file or link may also be ``{errno: EACCES}``. All else is not there.

Each set is captured as a whole machine. Prints what differs from the truth, then ``N of M sets hold``.
Exit status: 0 all hold and there is one at least, 1 not so, 2 the file can not be used.
"""

import argparse
import errno
import json
import re
import sys

import yaml

from aorta.instrumentation.environment import capture
from aorta.model.codec import dump
from aorta.testing import FakeHost

SECTIONS = ("isolation", "container_detected")
ELSEWHERE = {"container_detected": ("container_detected",)}
TRUTHS = ("container", "runtime", "orchestrator", "container_id", "private_mounts", "container_detected")
REMARKS = ("name", "truth", "note", "why", "provenance", "source")
EVIDENCE = ("files", "links", "env", "dirs", "nodes", "observed", "unreadable", "commands")
NAMESPACE_LINK = re.compile(r"/proc/[^/]+/(?:ns/[^/]+|exe|cwd|root)$")


class UnusableError(Exception):
    """A file or set that can not be used; the text says which and why."""


def number_of(word, name):
    """Return the error number of a name of errno.h."""
    number = getattr(errno, str(word), None)
    if not isinstance(number, int):
        raise UnusableError(f"{name}: {word!r} is no error of errno.h")
    return number


def contents(evidence, name):
    """Return a mapping of paths in which ``{errno: NAME}`` became the number."""
    if not isinstance(evidence, dict):
        raise UnusableError(f"{name}: files and links must be mappings")
    made = {}
    for path, what in evidence.items():
        if not isinstance(what, (str, bytes, dict)):
            raise UnusableError(f"{name}: {path}: not a text")
        made[path] = number_of(what.get("errno"), name) if isinstance(what, dict) else what
    return made


def host_of(case):
    """Return the made-up machine of one set."""
    name = case.get("name")
    unknown = [key for key in case if key not in (*REMARKS, *EVIDENCE)]
    if unknown:
        raise UnusableError(f"{name}: unknown keys {', '.join(map(str, unknown))}")
    files, links = (contents(case.get(key) or {}, name) for key in ("files", "links"))
    for line in case.get("unreadable") or ():
        word, _, path = str(line).partition(" ")
        kind = links if path in links or (path not in files and NAMESPACE_LINK.match(path)) else files
        kind[path] = number_of(word, name)
    return FakeHost(
        files,
        links=links,
        dirs=case.get("dirs") or (),
        nodes=case.get("nodes") or {},
        env={key: str(value) for key, value in (case.get("env") or {}).items()},
        commands=case.get("commands") or {},
        observed=case.get("observed") or {},
    )


def differences(case):
    """Return a sentence for each member of the truth that the snapshot does not say."""
    truth = case.get("truth")
    if not isinstance(truth, dict) or not truth or not set(truth) <= set(TRUTHS):
        raise UnusableError(f"{case.get('name')}: truth has not the keys {', '.join(TRUTHS)}")
    document = dump(capture(host=host_of(case), sections=SECTIONS, detail="full"))
    said = []
    for key, wanted in truth.items():
        got = seen(document, ELSEWHERE.get(key, ("isolation", key)))
        spellings = (wanted, "sandbox (unnamed)") if wanted == "sandbox" else (wanted,)
        if not any(got is one if isinstance(one, bool) or one is None else got == one for one in spellings):
            said.append(f"{case['name']}: {key} is {json.dumps(wanted)}, the snapshot says {json.dumps(got)}")
    return said


def seen(document, path):
    """Return what a path leads to, ``nothing`` where a key is missing."""
    for key in path:
        if document is None:
            return None
        if not isinstance(document, dict) or key not in document:
            return "nothing"
        document = document[key]
    return document


def cases_of(path):
    """Return the sets of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            cases = yaml.safe_load(file)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UnusableError(f"{path}: {' '.join(str(error).split())}") from error
    if not isinstance(cases, list) or not all(isinstance(case, dict) and "name" in case for case in cases):
        raise UnusableError(f"{path}: not a list of sets with names")
    return cases


def main(argv=None):
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variants", help="file of the sets (YAML)")
    parser.add_argument("names", nargs="*", help="only these sets")
    options = parser.parse_args(argv)
    held = 0
    try:
        cases = [
            case for case in cases_of(options.variants) if not options.names or case["name"] in options.names
        ]
        for case in cases:
            missed = differences(case)
            held += not missed
            for sentence in missed:
                print(sentence)
    except UnusableError as error:
        print(f"check_variants: {error}", file=sys.stderr)
        return 2
    print(f"{held} of {len(cases)} sets hold")
    return 0 if cases and held == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
