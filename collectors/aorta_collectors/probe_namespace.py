"""A fingerprint of the mount namespace that the capture ran in."""

import hashlib
from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector

BOOT_ID = "/proc/sys/kernel/random/boot_id"
_DIGITS = 16


def fingerprint(kind: str, boot: str | None, token: str) -> str:
    """Return ``KIND:HEX`` (``KIND-local:HEX`` without a boot id) of a namespace link's text."""
    material = "\0".join((kind, boot, token) if boot else (kind, token))
    digest = hashlib.sha256(material.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
    return f"{kind if boot else f'{kind}-local'}:{digest}"


@collector(
    section="probe_namespace",
    model=Annotated[
        str | None,
        Fact(
            "mnt:HEX of the boot and the mount namespace; cgroup-ns: of the cgroup namespace where that "
            "cannot be read; -local without a boot id, which then compares on one machine only.",
            caveat="Unequal values of one prefix prove another boot or namespace; equal values are a hint, "
            "since numbers of namespaces are used again. LXC and nspawn make up a boot id of their own.",
        ),
    ],
    provenance=Provenance.PROCESS,
    scope=Scope.NAMESPACE,
    timeout_s=5,
)
def collect(ctx: Context) -> str | None:
    """Fingerprint of the boot and mount namespace."""
    boot = ctx.read(BOOT_ID, "boot_id")
    for kind, path, field in (
        ("mnt", "/proc/self/ns/mnt", "mount_namespace"),
        ("cgroup-ns", "/proc/self/ns/cgroup", "cgroup_namespace"),
    ):
        token = ctx.take(ctx.link(path), field)
        if token:
            return fingerprint(kind, boot, token)
    return None
