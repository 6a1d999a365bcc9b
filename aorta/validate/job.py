"""The rules among the workloads of one job: what they all should have alike, and who is the odd one.

Unknown on one side is never a difference, and two digests are compared only if made in one way.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aorta.model.identity import method_of
from aorta.model.text import listed
from aorta.validate.document import Document
from aorta.validate.finding import WARNING, Rule, Said
from aorta.validate.options import Options
from aorta.validate.value import known, plain, shown

Workloads = Sequence[Document]
Groups = dict[Any, list[Document]]

FACTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "driver": (
        "one kernel and one amdgpu driver",
        (
            *("host.kernel_release", "amdgpu_driver.kmd_version", "amdgpu_driver.loaded_version"),
            *(
                "amdgpu_driver.loaded_srcversion",
                "amdgpu_driver.module_version",
                "amdgpu_driver.module_srcversion",
            ),
            *("amdgpu_driver.package_version", "amdgpu_driver.package_full_name"),
        ),
    ),
    "gpu": ("GPUs of one architecture", ("gpu_arch.gfx_targets",)),
    "rocm": ("one ROCm", ("rocm.version", "rocm.version_dev", "hip.version")),
    "python": ("one Python", ("python_version",)),
    "torch": (
        "one torch",
        (
            "pytorch_version",
            "pytorch_build.git_commit",
            "pytorch_build.hip_version",
            "pytorch_build.cuda_version",
        ),
    ),
    "libraries": (
        "the same libraries: versions, commits, digests of files and of kernels",
        (
            *(
                f"{name}.{field}"
                for name in ("hipblaslt", "rocblas", "miopen")
                for field in ("package_version", "rocm_release_tweak", "lib_hash", "kernel_db_revision")
            ),
            *(
                f"rccl.{field}"
                for field in ("version", "lib_hash", "plugin_lib_hash", "anp_lib_hash", "net_lib_hash")
            ),
            "tensile.kernel_db_combined_hash",
            *("composable_kernel.system.version", "composable_kernel.system.commit"),
            *(
                f"{name}.{field}"
                for name in ("triton", "fbgemm", "torchrec", "aiter")
                for field in ("package_version", "commit")
            ),
            *("aotriton.bundled_version", "aotriton.bundled_lib_hash"),
        ),
    ),
    "declared": ("one declared context", ("execution_context.probe_invocation",)),
    "job": ("one job: `launcher.job_id`", ("launcher.job_id",)),
}


def who(workload: Document) -> str:
    """Return a workload's rank or node as far as it is known, and its file."""
    rank, node = workload.at("launcher", "rank"), workload.at("launcher", "node")
    words = [f"rank {plain(repr(rank), 20)}"] if _is_rank(rank) else []
    if isinstance(node, str) and known(node):
        words.append(f"node {plain(node, 60)}")
    return f"{' on '.join(words)} ({workload.file})" if words else workload.file


def _is_rank(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def odd(groups: Groups) -> tuple[list[Any], Any | None]:
    """Return the values of the odd ones and that of the majority; without one, all values and null."""
    sizes = sorted(groups, key=lambda value: -len(groups[value]))
    if len(sizes) > 1 and len(groups[sizes[0]]) > len(groups[sizes[1]]):
        return sizes[1:], sizes[0]
    return sizes, None


def _said(name: str, groups: Groups, show: Callable[[Any], str]) -> Said:
    values, usual = odd(groups)
    parts = [f"{show(value)} in {listed([who(one) for one in groups[value]])}" for value in values[:4]]
    more = f" and {len(values) - 4} more values" if len(values) > 4 else ""
    files = tuple(one.file for value in values for one in groups[value])
    if usual is None:
        return Said(f"{name} is {', '.join(parts)}{more}: no majority", files=files)
    others = len(groups[usual])
    rest = "the other" if others == 1 else f"{others} others"
    return Said(f"{name} is {', '.join(parts)}{more}, and {show(usual)} in {rest}", files=files)


def _comparable(value: Any) -> Any:
    """Return what may be compared of a value; null of what is not known."""
    if not known(value):
        return None
    return (
        tuple(sorted(one for one in value if isinstance(one, str)))
        if isinstance(value, list)
        else value.strip()
    )


def _groups(values: Sequence[Any], workloads: Workloads) -> Iterator[Groups]:
    """Yield the workloads by their values, for each way in which digests were made."""
    kinds: dict[str, Groups] = defaultdict(dict)
    for value, workload in zip(values, workloads, strict=True):
        if value is not None:
            kind = method_of(value) if isinstance(value, str) else ""
            kinds[kind].setdefault(value, []).append(workload)
    yield from (groups for groups in kinds.values() if len(groups) > 1)


def _agreement(paths: tuple[str, ...]) -> Callable[[Workloads, Options], Iterator[Said]]:
    def check(workloads: Workloads, _: Options) -> Iterator[Said]:
        for path in paths:
            values = [_comparable(one.at(*path.split("."))) for one in workloads]
            for groups in _groups(values, workloads):
                yield _said(path, groups, _show)

    return check


def _show(value: Any) -> str:
    return shown(list(value)) if isinstance(value, tuple) else shown(value)


def _loaded(workload: Document) -> dict[tuple[str, str], str]:
    """Return the digests of the libraries that a process has, by soname and by how that was learned."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in workload.listed("loaded_libraries"):
        soname, basis, digest = (
            row.get(name) if isinstance(row, dict) else None for name in ("soname", "basis", "digest")
        )
        if isinstance(soname, str) and isinstance(basis, str) and isinstance(digest, str) and known(digest):
            found[soname, basis].add(digest)
    # Of a library that is there twice nobody can say which is to be like which.
    return {key: next(iter(digests)) for key, digests in found.items() if len(digests) == 1}


def loaded(workloads: Workloads, _: Options) -> Iterator[Said]:
    """Yield one line for all libraries that set the same ones apart; one not loaded yet is no difference."""
    of_each = [_loaded(one) for one in workloads]
    parts: dict[frozenset[frozenset[int]], tuple[Groups, list[str]]] = {}
    for key in sorted({key for digests in of_each for key in digests}):
        for groups in _groups([digests.get(key) for digests in of_each], workloads):
            partition = frozenset(frozenset(map(id, group)) for group in groups.values())
            parts.setdefault(partition, (groups, []))[1].append(f"{plain(key[0], 60)} ({plain(key[1], 20)})")
    for groups, names in parts.values():
        numbers = {value: f"content {number}" for number, value in enumerate(groups, 1)}
        yield _said(f"loaded_libraries: the digest of {listed(names)}", groups, numbers.__getitem__)


def rank(workloads: Workloads, _: Options) -> Iterator[Said]:
    """Yield each rank of one job that several files are of."""
    files: dict[tuple[Any, int], list[str]] = defaultdict(list)
    for workload in workloads:
        number, job = workload.at("launcher", "rank"), workload.at("launcher", "job_id")
        if _is_rank(number):
            files[job if isinstance(job, str) else None, number].append(workload.file)
    for (_job, number), named in files.items():
        if len(named) > 1:
            text = f"launcher.rank is {plain(repr(number), 20)} in {listed(named)}"
            yield Said(text, "give one file of each rank, all of one run", tuple(named))


RULES = (
    *(
        Rule(f"job.{name}", WARNING, f"the workloads have {asks}", _agreement(paths))
        for name, (asks, paths) in FACTS.items()
    ),
    Rule(
        "job.loaded",
        WARNING,
        "the libraries that the processes have loaded are the same: `loaded_libraries`",
        loaded,
    ),
    Rule("job.rank", WARNING, "each rank is given once: `launcher.rank`", rank),
)
