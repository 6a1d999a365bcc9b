"""A document in the form and meaning of schema 1.17, for readers of the 1.x line.

Exactly the keys of 1.17, in its order, down to the members of lists. A null stays null, also where 1.x
never had one: any word would be a claim. What cannot be said in 1.x is null or the nearest old word, and a
line of ``partial_reasons`` says so.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aorta.model.upgrade.keys import ANY, KEYS, NULLABLE
from aorta.model.vocabulary import PARTIAL_KINDS, ReasonKind

VERSION = "1.17"

#: What is not installed is partial in 1.x.
_CATALOG = {"ok": "", "partial": "", "absent": "partial"}

#: The words of 1.x by place, where 2.0 has others, and the old word for a new one.
WORDS: dict[str, dict[str, str]] = {
    "runtime_context.type": dict.fromkeys(("docker", "podman", "singularity", "baremetal"), ""),
    "runtime_context.python_env": dict.fromkeys(("conda", "venv", "system"), ""),
    "execution_context.probe_invocation": dict.fromkeys(("direct", "buck2_run", "buck2_action"), ""),
    "rocm.layout": {
        **dict.fromkeys(("classic", "wheel"), ""),
        **dict.fromkeys(("native", "distribution", "none"), "classic"),
    },
    "rocm.root_source": dict.fromkeys(
        ("ROCM_PATH", "ROCM_HOME", "opt_rocm", "import:_rocm_sdk_core", "none"), ""
    ),
    "rocm.version_source": dict.fromkeys(
        ("version_file", "therock_manifest", "pip:rocm", "pip:rocm-sdk-core", "torch"), ""
    ),
    "therock.status": dict.fromkeys(("present", "absent", "invalid", "unknown"), ""),
    "library_linkage.status": dict.fromkeys(("ok", "unreadable", "absent", "unknown"), ""),
    "amdgpu_driver.status": dict.fromkeys(("present", "absent"), ""),
    "tensile_catalog.status": _CATALOG,
    "tensile_catalog.hipblaslt.menu.status": _CATALOG,
    "tensile_catalog.rocblas.menu.status": _CATALOG,
    "miopen_catalog.status": _CATALOG,
    "miopen_catalog.menu.status": _CATALOG,
    "rocfft_catalog.status": dict.fromkeys(("ok", "absent", "partial"), ""),
    "rccl.net_plugin_mode": dict.fromkeys(("internal", "external", "unknown"), ""),
    "pytorch_build.install_kind": dict.fromkeys(("wheel", "editable", "source", "unknown"), ""),
    "build_system.kind": dict.fromkeys(("none", "buck2"), ""),
    "buck_invocation.status": dict.fromkeys(("not_requested", "buck_not_detected", "success", "failure"), ""),
    "buck_invocation.context_source": dict.fromkeys(
        ("none", "unspecified", "default_confirmed", "explicit"), ""
    ),
}

#: Where a null makes a 1.x document partial, whatever the cause; elsewhere absence is silent in 1.x.
_COUNTED = """
host.kernel_release host.glibc_version runtime_context.type runtime_context.python_env
container_detected execution_context.probe_invocation probe_namespace docker.image docker.digest
rocm.version rocm.version_dev rocm.kmd_version rocm.root rocm.lib_root rocm.root_source rocm.layout
therock.status library_linkage.status amdgpu_driver.status amdgpu_driver.kfd_device_present
amdgpu_driver.kfd_sysfs_present hip.version hip.platform hip.compiler hip.runtime hip.cpp_config
gpu_arch
nics.ainic.present nics.broadcom.present nics.cx7.present
hipblaslt.rocm_release_tweak hipblaslt.package_version hipblaslt.lib_hash hipblaslt.kernel_db_revision
rocblas.rocm_release_tweak rocblas.package_version rocblas.lib_hash rocblas.kernel_db_revision
composable_kernel.system.version composable_kernel.system.commit composable_kernel.system.ck_tile_present
composable_kernel.pytorch_bundled.present tensile.kernel_db_combined_hash
tensile_catalog.hipblaslt.menu.combined_content_hash tensile_catalog.rocblas.menu.combined_content_hash
miopen.rocm_release_tweak miopen.package_version miopen.lib_hash miopen.kernel_db_revision
miopen_catalog.menu.combined_content_hash rocfft_catalog.status
rccl.version_code rccl.lib_hash rccl.net_plugin_mode triton.package_version
aotriton.bundled_present aotriton.bundled_images_dir_present build_system.kind buck_invocation.status
python_version pytorch_version
pytorch_build.install_kind pytorch_build.submodule_commits system_health
"""
COUNTED = _COUNTED.split()

#: A name, or what stands in brackets: nothing, a number, a quoted name.
_STEP = re.compile(r'\[("(?:[^"\\]|\\.)*"|[^\]"]*)\]|([^.\[]+)')


def as_1_17(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a 2.x document as schema 1.17 has it; never raises for what it finds there."""
    told: list[str] = []
    result = {name: _shaped(document.get(name), keys, name, told) for name, keys in KEYS.items()}
    result["schema_version"] = VERSION
    for path, words in WORDS.items():
        _translate(result, path, words, told)
    _old_meanings(result, told)
    lines = [*_lines(document, result), *told]
    lines = list(dict.fromkeys([*lines, *_unexplained(result, lines)]))
    return {**result, "partial": bool(lines), "partial_reasons": lines}


def _shaped(value: Any, keys: Any, path: str, told: list[str]) -> Any:
    """Return a value with exactly the keys of 1.17; what has another form is null and told."""
    if isinstance(keys, dict):
        return _object(value, keys, path, told)
    fits = value is None or keys is ANY
    if isinstance(keys, list) and isinstance(value, list):
        if keys:
            return [_object(member, keys[0], f"{path}[{n}]", told) for n, member in enumerate(value)]
        fits = not any(isinstance(member, (dict, list)) for member in value)
    elif keys is None:
        fits = not isinstance(value, (dict, list))
    if not fits:
        told.append(f"{path}: its value has a form that schema {VERSION} does not have")
    return value if fits else None


def _object(value: Any, keys: Mapping[str, Any], path: str, told: list[str]) -> Any:
    if value is not None and not isinstance(value, dict):
        told.append(f"{path}: its value has a form that schema {VERSION} does not have")
    held = value if isinstance(value, dict) else {}
    if path == "env_vars":
        # Null there says that a variable is unset.
        told += [f"{path}.{name}: the document does not hold it" for name in keys if name not in held]
    result = {
        name: _shaped(held.get(name), below, f"{path}.{name}", told)
        for name, below in keys.items()
        if name != NULLABLE
    }
    return None if NULLABLE in keys and _blank(result) else result


def _translate(result: dict[str, Any], path: str, words: Mapping[str, str], told: list[str]) -> None:
    *above, name = path.split(".")
    holder = result
    for step in above:
        holder = holder[step]
    value = holder[name]
    if value is None or (isinstance(value, str) and words.get(value) == ""):
        return
    old = words.get(value) if isinstance(value, str) else None
    holder[name] = old
    if value != "none":
        became = f"written as {old}" if old else "left out"
        told.append(f"{path}: {str(value)[:80]!r} is no word of schema {VERSION}, {became}")


def _old_meanings(result: dict[str, Any], told: list[str]) -> None:
    """Apply what 1.x made of values of these shapes."""
    for vendor, nic in result["nics"].items():
        if nic["present"] is not True:
            result["nics"][vendor] = {"present": nic["present"]}
    if result["build_system"]["kind"] != "buck2":
        result["build_system"] = {"kind": result["build_system"]["kind"]}
    for library in result["library_linkage"]["libraries"] or ():
        if library["dt_tags"] is None and library["effective_tag"] == "unknown":
            library["dt_tags"] = []
    _libraries(result)
    docker = result["docker"]
    if docker is not None and result["runtime_context"]["type"] == "baremetal":
        held = ", ".join(f"{name} {value}" for name, value in docker.items() if value is not None)
        result["docker"] = None
        told.append(f"docker: schema {VERSION} tells nothing of a container of unnamed runtime: {held}")
    if result["gpu_arch"]["agent_count"] == 0:
        result["gpu_arch"] = dict.fromkeys(result["gpu_arch"])
        told.append("gpu_arch: no GPU targets")


def _libraries(result: dict[str, Any]) -> None:
    """Leave one row a library; those of the target's own configuration come first.

    Where it is known that the query gave no answer, 1.x has an empty list.
    """
    names = ("library_introspection", "library_introspection_alternates")
    for name in names if result["buck_invocation"]["status"] not in (None, "success") else ():
        result[name] = result[name] or []
    libraries = result[names[0]]
    if libraries:
        first = {str(entry["name"]): entry for entry in reversed(libraries)}
        result[names[0]] = [entry for entry in libraries if first[str(entry["name"])] is entry]


def _lines(document: Mapping[str, Any], result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the reasons of which 1.x makes a line."""
    collection = document.get("collection")
    reasons = collection.get("reasons") if isinstance(collection, Mapping) else None
    complete = {kind.value for kind in ReasonKind} - {kind.value for kind in PARTIAL_KINDS}
    for reason in reasons if isinstance(reasons, list) else ():
        if not isinstance(reason, Mapping) or not isinstance(reason.get("section"), str):
            continue
        section, field, kind = reason["section"], str(reason.get("field") or ""), str(reason.get("kind"))
        path = f"{section}.{field}" if field else section
        if section == "collection":
            tells = kind not in {*complete, ReasonKind.NOT_RECORDED.value}
        else:
            tells = _known(path) and (kind not in complete or _counts(path, kind, result))
        if tells:
            detail, subject = str(reason.get("detail") or kind), reason.get("subject")
            yield f"{path}: {detail}" + (f" ({subject})" if subject and str(subject) not in detail else "")


def _counts(path: str, kind: str, result: Mapping[str, Any]) -> bool:
    """Tell whether the absence of a value is one that 1.x has a line for."""
    whole = "." not in path and kind == ReasonKind.NOT_REQUESTED.value
    named = any(f"{place}.".startswith(f"{path}.") or path.startswith(f"{place}.") for place in COUNTED)
    return _blank(_at(result, path)) and (whole or (named and path != "docker"))


def _unexplained(result: Mapping[str, Any], lines: list[str]) -> Iterator[str]:
    """Yield a line for each null that 1.x has a line for and that no line speaks of."""
    places = {line.partition(": ")[0] for line in lines}
    for path in COUNTED:
        names = path.split(".")
        above = {".".join(names[:length]) for length in range(1, len(names) + 1)}
        below = any(place.startswith(f"{path}.") for place in places)
        if _at(result, path) is None and not above & places and not below:
            # A menu says it itself.
            beside = _at(result, ".".join([*names[:-1], "reason"]))
            why = beside if isinstance(beside, str) else "null, and the document does not say why"
            yield f"{path}: {why}"


def _known(path: str) -> bool:
    """Tell whether 1.17 has a place, also in the members of lists; what is in a map counts as its place."""
    keys: Any = KEYS
    for bracketed, plain in _STEP.findall(path):
        name = plain or bracketed.strip('"')
        if isinstance(keys, list):
            keys = keys[0] if keys else None
            if not plain:
                continue
        if not isinstance(keys, dict):
            return True
        if name not in keys or name == NULLABLE:
            return False
        keys = keys[name]
    return True


def _at(result: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path; True (some value) where the path leads nowhere."""
    value: Any = result
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return True
        value = value[name]
    return None if isinstance(value, dict) and _blank(value) else value


def _blank(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_blank, value.values()))
    return value is None
