"""The rules for the client's snapshot: what it selected, and whether that can be told from it."""

from collections.abc import Iterator
from typing import Any

from aorta.model.text import listed
from aorta.validate.document import Document
from aorta.validate.finding import ERROR, WARNING, Said, rule
from aorta.validate.options import Options
from aorta.validate.value import State, known, plain, shown, state, told

OLDEST = (1, 13)
MAJORS = (1, 2)

TARGET = "capture on the client with: aorta env probe --buck-target LABEL and the options of the build"
#: Roles of rows that are tools of the build.
TOOLS = ("exec", "toolchain")


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
    if kind != "buck2":
        yield Said(
            f'build_system.kind {told(kind)}, not "buck2"',
            "capture inside of the checkout, with buck2 on PATH",
        )


@rule("client.status", ERROR, "`buck_invocation.status` is `success`")
def status(client: Document, _: Options) -> Iterator[Said]:
    """The graph was asked, and answered."""
    value = client.at("buck_invocation", "status")
    if value == "success":
        return
    ways = {
        "failure": "partial_reasons says why the query failed",
        "buck_not_detected": "capture inside of the checkout, with buck2 on PATH",
    }
    yield Said(
        f'buck_invocation.status {told(value)}, not "success"',
        ways.get(value, TARGET) if isinstance(value, str) else TARGET,
    )


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
            yield Said(f"required library {plain(name)} is not in library_introspection: {there}")


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
    introspection,
    pytorch,
    library,
    role,
)
