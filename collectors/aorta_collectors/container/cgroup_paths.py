"""What a process's control group says of the container that it is in. Pure: text in, answers out.

A word alone proves nothing: ``docker.service`` is the daemon on the host, ``crio-conmon-ID.scope`` the
monitor beside a container. A runtime's word counts with the id of a container, or where only the
payload of a container can be.
"""

import re

from aorta.model.frozen import evolve, frozen

KUBERNETES = "kubernetes"

_ID = r"(?P<id>[0-9a-f]{64})"
#: A scope of any other name may be called after a digest. Low-level runtimes do not tell whose they are.
_NAMED_SEGMENTS: tuple[tuple[str | None, re.Pattern[str]], ...] = (
    ("docker", re.compile(rf"docker-{_ID}(?:\.scope)?")),
    ("containerd", re.compile(rf"(?:.{{0,200}}:)?cri-containerd[-:]{_ID}(?:\.scope)?")),
    ("containerd", re.compile(rf"nerdctl-{_ID}(?:\.scope)?")),
    ("cri-o", re.compile(rf"(?:.{{0,200}}:)?crio[-:]{_ID}(?:\.scope)?")),
    ("podman", re.compile(rf"libpod-(?:payload-)?{_ID}(?:\.scope)?")),
    (None, re.compile(rf"(?:runc|crun|youki)-{_ID}(?:\.scope)?")),
    ("lxc", re.compile(r"lxc\.payload(?:\..{1,200})?|\.lxc")),
)
_BARE_ID = re.compile(_ID)
_PARENTS = {"docker": "docker", "k8s.io": "containerd", "podman": "podman", "buildkit": "buildkit"}
_MONITOR = re.compile(rf"(?:[a-z]{{1,20}}-)?conmon-{_ID}(?:\.scope)?")
_KUBEPODS = re.compile(r"(?:^|-)kubepods")
_MACHINES = frozenset(("init.scope", "system.slice", "user.slice"))
_NSPAWN = re.compile(r"machine-.{1,200}\.scope|systemd-nspawn@.{1,200}\.service")


@frozen
class CgroupPlace:
    """The innermost container that a cgroup path shows; ``runtime`` is None where nothing names it."""

    path: str
    runtime: str | None = None
    container_id: str | None = None
    orchestrator: str | None = None

    @property
    def weight(self) -> tuple[bool, bool, bool]:
        """Return how much it says, for choosing among the lines of one file."""
        return self.container_id is not None, self.runtime is not None, self.orchestrator is not None


def parse_cgroup(text: str) -> list[str]:
    """Return the paths of a ``/proc/PID/cgroup``, in the order of its lines."""
    fields = (line.rstrip("\r").split(":", 2) for line in text.split("\n"))
    return [parts[2] for parts in fields if len(parts) == 3 and parts[2].startswith("/")]


def container_of(text: str) -> CgroupPlace | None:
    """Return the container that the lines of a ``/proc/PID/cgroup`` show, or None."""
    places = [place for path in parse_cgroup(text) if (place := _place(path)) is not None]
    return max(places, key=lambda place: place.weight, default=None)


def in_a_machines_unit(text: str) -> bool:
    """Tell whether a ``/proc/PID/cgroup`` shows a service or session of a whole system."""
    return any(path.split("/", 2)[1] in _MACHINES for path in parse_cgroup(text))


def _place(path: str) -> CgroupPlace | None:
    """Go down the levels: a container inside a container replaces it."""
    segments = ["", *(segment for segment in path.split("/") if segment and segment != ".."), ""]
    if any(_MONITOR.fullmatch(segment) for segment in segments):
        return None
    found = CgroupPlace(path=path)
    for before, segment, after in zip(segments, segments[1:], segments[2:], strict=False):
        if _KUBEPODS.search(segment):
            found = evolve(found, orchestrator=KUBERNETES)
        container = _container(before, segment, after)
        if container is not None:
            found = evolve(found, runtime=container[0], container_id=container[1])
    return found if any(found.weight) else None


def _container(before: str, segment: str, after: str) -> tuple[str | None, str | None] | None:
    """Return the runtime and id that one level of a path shows, None where it shows no container."""
    named = _named(segment)
    if named is not None:
        return named
    bare = _BARE_ID.fullmatch(segment)
    if bare is not None:
        return _PARENTS.get(before), bare["id"]
    if before == "buildkit":
        return "buildkit", None
    if segment == "payload" and _NSPAWN.fullmatch(before):
        return "systemd-nspawn", None
    return ("lxc", None) if segment == "lxc" and after else None


def _named(segment: str) -> tuple[str | None, str | None] | None:
    for runtime, pattern in _NAMED_SEGMENTS:
        match = pattern.fullmatch(segment)
        if match is not None:
            return runtime, match.groupdict().get("id")
    return None
