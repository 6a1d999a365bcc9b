"""What a workload declares of itself, looked at before it is believed."""

from collections.abc import Collection
from typing import Any

import attrs

from aorta.workloads.protocol import GLOBAL, ISOLATIONS, LAUNCH_MODES, RESULT_SCOPES, Workload


def faults(found: Any) -> list[str]:
    """Return what keeps an object from being a workload; nothing for a sound one."""
    if not isinstance(found, type) or not issubclass(found, Workload):
        what = f"class {found.__qualname__}" if isinstance(found, type) else type(found).__name__
        return [f"it is no subclass of aorta.workloads.Workload but {what}"]
    return [
        *(["it has no run()"] if found.run is Workload.run else []),
        *_words(found),
        *_isolation(found),
        *_requires(found),
        *_config(found),
    ]


def _words(found: type[Workload]) -> list[str]:
    told = []
    for name, words in (("launch_mode", LAUNCH_MODES), ("distributed_result_scope", RESULT_SCOPES)):
        if getattr(found, name) not in words:
            told.append(f"{name} is {getattr(found, name)!r}, not {' or '.join(words)}")
    least = found.min_world_size
    if type(least) is not int or least < 1:
        told.append(f"min_world_size is {least!r}, not a whole number from 1")
    told += [
        f"{name} is {getattr(found, name)!r}, not true or false"
        for name in ("trial_isolation_required", "launches_container")
        if not isinstance(getattr(found, name), bool)
    ]
    if found.distributed_result_scope != GLOBAL and found.launch_mode == LAUNCH_MODES[0]:
        told.append("distributed_result_scope is for distributed workloads")
    return told


def _isolation(found: type[Workload]) -> list[str]:
    supported, default = found.trial_isolation_supported, found.trial_isolation_default
    if not _is_of_texts(supported) or not supported or not set(supported) <= set(ISOLATIONS):
        return [f"trial_isolation_supported is {supported!r}, not a set of {' and '.join(ISOLATIONS)}"]
    if default not in supported:
        return [f"trial_isolation_default is {default!r}, which trial_isolation_supported does not hold"]
    return []


def _requires(found: type[Workload]) -> list[str]:
    needed = found.requires
    if _is_of_texts(needed) and all(one.replace(".", "_").isidentifier() for one in needed):
        return []
    return [f"requires is {needed!r}, not a list of names of modules"]


def _is_of_texts(value: Any) -> bool:
    is_many = isinstance(value, Collection) and not isinstance(value, (str, bytes, dict))
    return is_many and all(isinstance(one, str) for one in value)


def _config(found: type[Workload]) -> list[str]:
    kind = found.config_type
    if kind is None or (isinstance(kind, type) and attrs.has(kind)):
        return []
    return [f"config_type is {kind!r}, not an attrs class"]
