"""The rules for the client's snapshot: what it selected, and whether that can be told from it."""

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

from aorta.model.text import listed
from aorta.validate.document import Document
from aorta.validate.finding import ERROR, WARNING, Said, rule
from aorta.validate.libraries import LIBRARIES
from aorta.validate.options import Options
from aorta.validate.reasons import quoted, why
from aorta.validate.value import MISSING, State, known, plain, shown, state, told

OLDEST = (1, 13)
MAJORS = (1, 2)

TARGET = "capture on the client with: aorta env probe --buck-target LABEL and the options of the build"
#: Roles of rows that are tools of the build.
TOOLS = ("exec", "toolchain")
#: What Buck was not asked about, or did not answer; all rest on one cause.
ANSWERS = (
    "buck_invocation",
    "buck_invocation.status",
    "library_introspection",
    "library_introspection_alternates",
    "execution_context.likely_execution_platform",
)
#: Names by which libraries are called elsewhere.
ALIASES = {
    "torch": "pytorch",
    "libtorch": "pytorch",
    "hip": "rocm",
    "ck": "composable_kernel",
    "fbgemm_gpu": "fbgemm",
    "rccl_anp": "ainic",
    "rccl_net": "ainic",
}


def version_told(document: Document) -> str:
    """Return what is wrong with a schema version that is no known one."""
    if document.version is None:
        return f"schema_version {told(document.at('schema_version'))}: no version of a snapshot"
    return f"schema version {document.version[0]}.{document.version[1]} is not known here (1.x and 2.x are)"


@rule("client.schema", ERROR, "`schema_version` is 1.13 or later of 1.x, or any 2.x")
def schema(client: Document, _: Options) -> Iterator[Said]:
    """Older ones do not say under which options the graph was asked."""
    version = client.version
    if version is None or version[0] not in MAJORS:
        yield Said(version_told(client))
    elif version < OLDEST:
        text = f"schema version {version[0]}.{version[1]} is older than 1.13, which first tells the context"
        yield Said(text, "capture with a newer aorta")


@rule("client.build_system", ERROR, "`build_system.kind` is `buck2`")
def build_system(client: Document, _: Options) -> Iterator[Said]:
    """Else the capture was not made in a checkout that Buck2 builds."""
    kind = client.at("build_system", "kind")
    if kind == "buck2":
        return
    reason = why(client, "build_system", "kind") or why(client, "build_system", "repo_root")
    if kind == "none":
        text = quoted('no Buck project was found here (build_system.kind is "none")', reason)
    else:
        text = quoted(f'build_system.kind {told(kind)}, not "buck2"', reason)
    quotes = ("build_system", "build_system.kind", "build_system.repo_root")
    unasked = client.at("buck_invocation", "status") == "buck_not_detected"
    yield Said(
        text,
        "capture inside of the checkout, with buck2 on PATH",
        quotes=(*quotes, *ANSWERS) if unasked else quotes,
    )


@rule("client.status", ERROR, "`buck_invocation.status` is `success`")
def status(client: Document, _: Options) -> Iterator[Said]:
    """The graph was asked, and answered."""
    value = client.at("buck_invocation", "status")
    if value == "success":
        return
    reason = why(client, "buck_invocation", "status")
    text = quoted(f'buck_invocation.status {told(value)}, not "success"', reason)
    ways = {
        "failure": "" if reason else "partial_reasons says why the query failed",
        "buck_not_detected": "capture inside of the checkout, with buck2 on PATH",
    }
    way_out = ways.get(value, TARGET) if isinstance(value, str) else TARGET
    yield Said(text, way_out, quotes=ANSWERS if reason else ())


@rule("client.context_source", ERROR, "`buck_invocation.context_source` is `default_confirmed` or `explicit`")
def context_source(client: Document, _: Options) -> Iterator[Said]:
    """Somebody said under which options the target is built."""
    value = client.at("buck_invocation", "context_source")
    if not (isinstance(value, str) and value in ("default_confirmed", "explicit")):
        yield Said(
            f"buck_invocation.context_source {told(value)}: nobody said under which options this is built",
            "capture with --buck-option for each of them, or --buck-default-context if there are none",
        )


@rule("client.context_fingerprint", ERROR, "`buck_invocation.context_fingerprint` is known")
def context_fingerprint(client: Document, _: Options) -> Iterator[Said]:
    """Without it no two captures of one context can be told from those of two."""
    value = client.at("buck_invocation", "context_fingerprint")
    if not known(value) or not isinstance(value, str):
        yield Said(f"buck_invocation.context_fingerprint {told(value)}", TARGET)


@rule("client.root", WARNING, "`buck_invocation.configured_root_target` names the one target of a query")
def root(client: Document, _: Options) -> Iterator[Said]:
    """Of a pattern and of a target that the answer lacks it is null.

    Of a target behind a transition too, which has several configurations: then those are told.
    """
    value = client.at("buck_invocation", "configured_root_target")
    told_otherwise = len(client.listed("buck_invocation", "root_configurations")) > 1
    asked = client.at("buck_invocation", "status") == "success" and not told_otherwise
    # An extract may be without; of a whole capture it is a key of every version that is judged.
    if asked and not (isinstance(value, str) and known(value)) and (value is not MISSING or client.captured):
        reason = why(client, "buck_invocation", "configured_root_target")
        text = quoted(f"buck_invocation.configured_root_target {told(value)}", reason)
        yield Said(
            f"{text}: which configured target was built is not known",
            "ask for the one target that the job runs",
            quotes=("buck_invocation.configured_root_target",) if reason else (),
        )


@rule("client.dirty", WARNING, "`build_system.dirty` is not true: the revision says what was built")
def dirty(client: Document, _: Options) -> Iterator[Said]:
    """Documents of 1.x do not tell it, but for the ``+`` that hg adds to a revision."""
    revision, value = (client.at("build_system", name) for name in ("revision", "dirty"))
    marked = value is not False and isinstance(revision, str) and revision.strip().endswith("+")
    if value is True or marked:
        seen = "build_system.dirty is true" if value is True else "the checkout was changed"
        text = f"{seen}: build_system.revision {told(revision)}, which does not say what was built"
        yield Said(text, "commit the changes and capture once more")


def moot(client: Document) -> frozenset[str]:
    """Return the rules that are not asked since what they would find has one cause, which another tells."""
    status, source = (client.at("buck_invocation", name) for name in ("status", "context_source"))
    found = set[str]()
    if status == "buck_not_detected" and client.at("build_system", "kind") != "buck2":
        found |= {"client.status"}
    if status != "success":
        found |= {"client.root"}
        if client.at("library_introspection") in (None, MISSING):
            found |= {"client.introspection", "client.pytorch", "client.library", "client.role"}
    if status == "not_requested" and source in ("none", None, MISSING):
        found |= {"client.context_source", "client.context_fingerprint"}
    if source == "unspecified" and client.at("buck_invocation", "context_fingerprint") is None:
        found |= {"client.context_fingerprint"}
    return frozenset(found)


def names_of(client: Document) -> dict[str, list[Any]]:
    """Return the names of the graph's libraries, each with the roles of its rows."""
    found: dict[str, list[Any]] = {}
    for row in client.listed("library_introspection"):
        if isinstance(row, dict) and isinstance(row.get("name"), str):
            found.setdefault(row["name"], []).append(row.get("role"))
    return found


@rule("client.introspection", WARNING, "`library_introspection` holds an entry")
def introspection(client: Document, _: Options) -> Iterator[Said]:
    """A graph without any known library is rarely that of a GPU job."""
    value = client.at("library_introspection")
    if not names_of(client):
        text = f"library_introspection {told(value)}"
        if isinstance(value, list) and value:
            text = f"library_introspection is {shown(value)}, none of which has a name"
        yield Said(f"{text}: no library of the target is known", "--buck-library NAME=REGEX finds more")


@rule("client.pytorch", WARNING, "`library_introspection` names `pytorch` (if it is not required)")
def pytorch(client: Document, options: Options) -> Iterator[Said]:
    """Few targets of GPU jobs do without."""
    if "pytorch" not in options.libraries and "pytorch" not in names_of(client):
        yield Said("library_introspection has no entry pytorch", "is it the target that the job runs?")


@rule("client.library", ERROR, "each `--require-library NAME` is named by `library_introspection`")
def library(client: Document, options: Options) -> Iterator[Said]:
    """Exact names: what the caller asks for has to stand there."""
    names = names_of(client)
    value = client.at("library_introspection")
    for name in options.libraries:
        if name not in names:
            if names:
                there = f"it has {listed([plain(one, 40) for one in sorted(names)], 12)}"
            else:
                there = f"it {told(value)}" if state(value) is not State.KNOWN else f"it is {shown(value)}"
            text = f"required library {plain(name)} is not in library_introspection: {there}"
            near = meant(name, names)
            yield Said(text, f"did you mean {plain(near, 40)}?" if near else "")


def meant(name: str, names: Iterable[str]) -> str:
    """Return the library that may have been meant by a name that is none; an empty text if none is near."""
    known_as = {one.casefold(): one for one in (*LIBRARIES, *sorted(names))}
    word = name.strip().casefold().replace("-", "_")
    word = ALIASES.get(word, word)
    if word in known_as or word in ALIASES.values():
        found = known_as.get(word, word)
    else:
        close = difflib.get_close_matches(word[:64], list(known_as), n=1)
        found = known_as[close[0]] if close else ""
    return found if found != name else ""


@rule(
    "client.role",
    WARNING,
    "a required library, and `pytorch`, is part of the target, not a tool of the build alone",
)
def role(client: Document, options: Options) -> Iterator[Said]:
    """Rows of 1.x have no role; then nothing is said."""
    for name, roles in names_of(client).items():
        told_roles = {one for one in roles if isinstance(one, str)}
        if name in (*options.libraries, "pytorch") and told_roles and told_roles <= set(TOOLS):
            kind = " and ".join(sorted(told_roles))
            text = f"{plain(name)} is in the graph as {kind} dependency alone"
            yield Said(f"{text}: a tool of the build, not a part of the process")


RULES = (
    schema,
    build_system,
    status,
    context_source,
    context_fingerprint,
    root,
    dirty,
    introspection,
    pytorch,
    library,
    role,
)
