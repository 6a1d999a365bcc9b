"""The rules between the client and its workloads: what both sides know, as far as it is comparable.

What the client's host has installed never stands in for what the process has.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aorta.model.identity import method_of, same_revision
from aorta.validate.document import Document
from aorta.validate.finding import WARNING, Said, rule
from aorta.validate.options import Options
from aorta.validate.relation import DIFFERENT, SAME, UNKNOWN, standing
from aorta.validate.value import known, plain, shown

#: Fields of an alternate (what is installed beside the client), and where a workload says the same.
BESIDE = {
    "hipblaslt": {
        "package_version": "package_version",
        "lib_hash": "lib_hash",
        "revision": "rocm_release_tweak",
    },
    "rocblas": {
        "package_version": "package_version",
        "lib_hash": "lib_hash",
        "revision": "rocm_release_tweak",
    },
    "miopen": {
        "package_version": "package_version",
        "lib_hash": "lib_hash",
        "revision": "rocm_release_tweak",
    },
    "rccl": {"revision": "version", "lib_hash": "lib_hash"},
}


@dataclass(frozen=True)
class Compared:
    """One value of a library on both sides; ``basis`` says what the relation proves."""

    file: str
    library: str
    field: str
    client: str
    workload: str
    relation: str
    basis: str

    def as_json(self) -> dict[str, str]:
        """Return the comparison as plain JSON values."""
        return {
            name: plain(getattr(self, name))
            for name in ("file", "library", "field", "client", "workload", "relation", "basis")
        }


def libraries(client: Document, workload: Document) -> Iterator[Compared]:
    """Yield what both sides know of a library.

    An alternate is a package installed beside the client: other content there and here is positively two
    things. The graph's revision is the repository's: equal to torch's commit it names the same source, and
    otherwise nothing follows, since the library may have a repository of its own.
    """
    elsewhere = standing(client, workload).host.word == DIFFERENT
    done = set()
    for row in client.listed("library_introspection_alternates"):
        name = _text(row.get("name")) if isinstance(row, dict) else ""
        for field, there in BESIDE.get(name, {}).items():
            if field == "revision" and row.get(field) == row.get("package_version"):
                # Where no release is told, the version stands there too.
                continue
            one, other = _text(row.get(field)), _text(workload.at(name, there))
            if (name, field) not in done and one and other and method_of(one) == method_of(other):
                done.add((name, field))
                word = SAME if one == other else DIFFERENT
                basis = f"the package beside the client is {'' if one == other else 'not '}the process's"
                if elsewhere and one != other:
                    basis += ": it is another host's, so nothing follows"
                yield Compared(workload.file, name, f"{name}.{there}", one, other, word, basis)
    yield from _torch(client, workload)


def _torch(client: Document, workload: Document) -> Iterator[Compared]:
    commit = _text(workload.at("pytorch_build", "git_commit"))
    for row in client.listed("library_introspection"):
        revision = (
            _text(row.get("revision")) if isinstance(row, dict) and row.get("name") == "pytorch" else ""
        )
        if revision and commit:
            same = same_revision(revision, commit) is True
            basis = "torch is of the graph's revision" if same else "they may be of two repositories"
            word = SAME if same else UNKNOWN
            yield Compared(
                workload.file, "pytorch", "pytorch_build.git_commit", revision, commit, word, basis
            )
            return


def _text(value: Any) -> str:
    """Return a text that says something, without blanks around; an empty one for anything else."""
    return value.strip() if isinstance(value, str) and known(value) else ""


@rule(
    "pair.tool", WARNING, "client and workload were made by one aorta: `collection.tool` version and revision"
)
def tool(client: Document, workloads: Sequence[Document], _: Options) -> Iterator[Said]:
    """Two versions may look at one thing in two ways. Documents of 1.x do not say who made them."""
    for workload in workloads:
        for name in ("version", "revision"):
            one, other = (_text(document.at("collection", "tool", name)) for document in (client, workload))
            differ = same_revision(one, other) is False if name == "revision" else one != other
            if one and other and differ:
                text = f"made by another aorta ({name} {shown(other)}) than the client's ({shown(one)})"
                yield Said(text, "capture both with one", (workload.file,))
                break


@rule("pair.revision", WARNING, "client and workload tell one revision of the repository, where both do")
def revision(client: Document, workloads: Sequence[Document], _: Options) -> Iterator[Said]:
    """Only revisions of one system, git's or Mercurial's, are compared."""
    for workload in workloads:
        one, other = (_text(document.at("build_system", "revision")) for document in (client, workload))
        sources = [document.at("build_system", "revision_source") for document in (client, workload)]
        comparable = not all(isinstance(source, str) for source in sources) or sources[0] == sources[1]
        if comparable and same_revision(one, other) is False:
            text = f"build_system.revision is {shown(other)}, the client's {shown(one)}"
            yield Said(f"{text}: captured in another state of the repository", files=(workload.file,))


@rule(
    "pair.library",
    WARNING,
    "a library that both sides identify in the same way is the same, unless they are on two hosts",
)
def library(client: Document, workloads: Sequence[Document], _: Options) -> Iterator[Said]:
    """See ``libraries``: the client's alternates against the workload's sections.

    What another host has installed says nothing: it is told as a relation alone.
    """
    for workload in workloads:
        if standing(client, workload).host.word == DIFFERENT:
            continue
        found: dict[str, list[str]] = {}
        for one in libraries(client, workload):
            if one.relation == DIFFERENT:
                text = f"{one.field} is {shown(one.workload)}, beside the client {shown(one.client)}"
                found.setdefault(one.library, []).append(text)
        for texts in found.values():
            yield Said(
                "; ".join(texts), "what is installed beside the client is not what ran", (workload.file,)
            )


RULES = (tool, revision, library)
