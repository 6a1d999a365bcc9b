"""The amdgpu kernel driver: loaded, on disk and packaged, which are three different facts."""

from typing import Annotated, Any

from aorta.collect import Answer, CommandAnswer, Context, parsed
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.gpu import driver_packages, rocminfo
from aorta_collectors.gpu.driver_packages import DPKG_FORMAT, DPKG_STATE_FORMAT, FAMILIES, Package
from aorta_collectors.gpu.kernel_module import Loaded, ModuleFile, read_file, read_loaded, same
from aorta_collectors.kernel_files import believed
from aorta_collectors.observations import mapping
from aorta_collectors.observations import text as text_of
from aorta_collectors.providers import IsolationEvidence, RocmRoots

KFD_DEVICE = "/dev/kfd"
MODULE_FIELDS = (
    "module_version",
    "module_srcversion",
    "module_filename",
    "module_vermagic",
    "module_intree",
)
KFD_CLASS = "/sys/class/kfd"
DXG_DEVICE = "/dev/dxg"

_ON_DISK = "Of the file on disk in this file system, not of the loaded module."
_HERE = "Of this file system; in a container that is the image, not the host."
_FILES = (Provenance.FILESYSTEM,)


@frozen
class DkmsBuild:
    """One row of ``dkms status``."""

    version: Annotated[str | None, Fact("Version of the source package.")] = None
    kernel: Annotated[str | None, Fact("Kernel release it was built for; null before a build.")] = None
    arch: Annotated[str | None, Fact("Architecture.")] = None
    state: Annotated[str | None, Fact("added, built, installed, …")] = None
    running_kernel: Annotated[bool | None, Fact("Whether that is the running kernel.")] = None
    warning: Annotated[str | None, Fact("dkms's warning, e.g. that built and installed module differ.")] = (
        None
    )


@frozen
class AmdgpuDriver:
    """The amdgpu kernel driver."""

    scope: Annotated[
        str | None, Fact("Always host_kernel: the loaded driver is the host's.", always=True)
    ] = None
    status: Annotated[
        str | None,
        Fact(
            "present: loaded, a KFD node or class is there, or a package is installed; absent: none of these."
        ),
    ] = None
    package_name: Annotated[
        str | None, Fact("Family: amdgpu-dkms or amdgpu-kmod.", caveat=_HERE, provenance=_FILES)
    ] = None
    package_version: Annotated[
        str | None, Fact("dpkg version or rpm version-release.", caveat=_HERE, provenance=_FILES)
    ] = None
    package_full_name: Annotated[
        str | None,
        Fact("name=version (dpkg) or name-version-release.arch (rpm).", caveat=_HERE, provenance=_FILES),
    ] = None
    package_manager: Annotated[
        str | None, Fact("dpkg or rpm, whichever knows the package.", caveat=_HERE, provenance=_FILES)
    ] = None
    package_state: Annotated[
        str | None,
        Fact("dpkg's state of the package (ii, hi); null with rpm.", caveat=_HERE, provenance=_FILES),
    ] = None
    module_version: Annotated[
        str | None, Fact("modinfo's version; in-tree modules have none.", caveat=_ON_DISK, provenance=_FILES)
    ] = None
    module_srcversion: Annotated[
        str | None, Fact("modinfo's srcversion.", caveat=_ON_DISK, provenance=_FILES)
    ] = None
    module_filename: Annotated[
        str | None, Fact("File that modinfo read, or (builtin).", caveat=_ON_DISK, provenance=_FILES)
    ] = None
    module_vermagic: Annotated[
        str | None, Fact("Kernel release and options of the file.", caveat=_ON_DISK, provenance=_FILES)
    ] = None
    module_intree: Annotated[
        bool | None, Fact("Whether the file is the kernel's own (inbox).", caveat=_ON_DISK, provenance=_FILES)
    ] = None
    module_builtin: Annotated[bool | None, Fact("Whether amdgpu is part of the kernel image.")] = None
    module_loaded: Annotated[
        bool | None, Fact("Whether /sys/module/amdgpu is there: loaded or built in.")
    ] = None
    kmd_version: Annotated[
        str | None,
        Fact("Version of the loaded module; in-tree drivers declare none.", caveat="Same as loaded_version."),
    ] = None
    loaded_version: Annotated[str | None, Fact("/sys/module/amdgpu/version.")] = None
    loaded_srcversion: Annotated[str | None, Fact("/sys/module/amdgpu/srcversion.")] = None
    loaded_matches_disk: Annotated[
        bool | None,
        Fact("Whether the loaded module is the file on disk; false after an upgrade without a reboot."),
    ] = None
    parameters: Annotated[
        dict[str, str | None] | None,
        Fact("Module parameters as they stand; null for one that cannot be read."),
    ] = None
    dkms: Annotated[
        tuple[DkmsBuild, ...] | None,
        Fact("Builds of amdgpu that dkms knows, in its order.", caveat=_HERE, provenance=_FILES),
    ] = None
    kfd_device_present: Annotated[
        bool | None, Fact("Whether /dev/kfd is there.", caveat="Presence, not access.")
    ] = None
    kfd_device_accessible: Annotated[
        bool | None, Fact("Whether rocminfo could open /dev/kfd; aorta itself never opens it.")
    ] = None
    kfd_open_error: Annotated[
        str | None, Fact("Errno of opening /dev/kfd as rocminfo words it, e.g. EACCES, EPERM, EINVAL.")
    ] = None
    kfd_sysfs_present: Annotated[bool | None, Fact("Whether /sys/class/kfd is there.")] = None
    dxg_device_present: Annotated[bool | None, Fact("Whether /dev/dxg (WSL2's GPU device) is there.")] = None


@collector(
    section="amdgpu_driver",
    model=AmdgpuDriver,
    provenance=Provenance.HOST_KERNEL,
    scope=Scope.NAMESPACE,
    needs=(IsolationEvidence, RocmRoots),
    timeout_s=25,
)
def collect(ctx: Context) -> AmdgpuDriver:
    """The amdgpu kernel driver: loaded, on disk, packaged, and whether /dev/kfd can be used."""
    release = _release(ctx)
    loaded = read_loaded(ctx, "amdgpu")
    modinfo, dkms, *managers = ctx.commands(
        ("modinfo", "amdgpu"), ("dkms", "status"), *_queries(DPKG_STATE_FORMAT)
    )
    file = read_file(modinfo)
    package, asked = _package(ctx, managers, release)
    _note_file(ctx, file, loaded, release)
    _note_package(ctx, package, loaded, file, asked=asked)
    device, sysfs = _there(ctx, KFD_DEVICE, "kfd_device_present"), _there(ctx, KFD_CLASS, "kfd_sysfs_present")
    access, error = _access(ctx, device)
    disk = file.value
    return AmdgpuDriver(
        scope="host_kernel",
        status=_status(ctx, loaded, device, sysfs, package, asked=bool(asked) or _no_manager(managers)),
        package_name=package.family if package else None,
        package_version=package.version if package else None,
        package_full_name=package.full_name if package else None,
        package_manager=package.manager if package else None,
        package_state=package.state if package else None,
        module_version=disk.version if disk else None,
        module_srcversion=disk.srcversion if disk else None,
        module_filename=disk.filename if disk else None,
        module_vermagic=disk.vermagic if disk else None,
        module_intree=disk.intree if disk and not disk.builtin else None,
        module_builtin=_builtin(loaded, disk),
        module_loaded=loaded.loaded,
        kmd_version=loaded.version.value,
        loaded_version=_of_loaded(ctx, loaded, loaded.version, "loaded_version"),
        loaded_srcversion=_of_loaded(ctx, loaded, loaded.srcversion, "loaded_srcversion"),
        loaded_matches_disk=same(loaded, file),
        parameters=_of_loaded(ctx, loaded, loaded.parameters, "parameters"),
        dkms=_dkms(ctx, dkms, release),
        kfd_device_present=device,
        kfd_device_accessible=access,
        kfd_open_error=error,
        kfd_sysfs_present=sysfs,
        dxg_device_present=_there(ctx, DXG_DEVICE, "dxg_device_present"),
    )


def _release(ctx: Context) -> str | None:
    return text_of(mapping(ctx, "uname"), "release")


def _there(ctx: Context, path: str, field: str) -> bool | None:
    seen = believed(ctx, ctx.stat(path))
    if seen.ok or seen.absent:
        return seen.ok
    ctx.take(seen, field)
    return None


def _status(
    ctx: Context,
    loaded: Loaded,
    device: bool | None,
    sysfs: bool | None,
    package: Package | None,
    *,
    asked: bool,
) -> str | None:
    if loaded.loaded is None:
        ctx.take(loaded.answer, "module_loaded")
    if loaded.loaded or device or sysfs or package:
        return "present"
    if None not in (loaded.loaded, device, sysfs) and asked:
        return "absent"
    if loaded.loaded is None:
        ctx.take(loaded.answer, "status")
    else:
        text = "not all that would show the driver could be seen"
        ctx.note(ReasonKind.BLOCKED, "status", text, subject=KFD_CLASS if asked else "dpkg-query, rpm")
    return None


def _builtin(loaded: Loaded, disk: ModuleFile | None) -> bool | None:
    if disk is not None and disk.builtin:
        return True
    return False if disk is not None or loaded.unloadable else None


def _of_loaded(ctx: Context, loaded: Loaded, answer: Answer[Any], field: str) -> Any:
    """Return a value of the loaded module; one that this driver does not declare is unsupported."""
    if loaded.loaded is None and answer.absent:
        answer = loaded.answer
    if answer.absent:
        kind = ReasonKind.UNSUPPORTED if loaded.loaded else ReasonKind.ABSENT
        text = f"{answer.subject} is not there" + (" (in-tree and built-in drivers)" if loaded.loaded else "")
        ctx.note(kind, field, text, subject=answer.subject)
        return None
    if field == "parameters" and loaded.unread is not None:
        text = f"some parameters cannot be read: {loaded.unread.detail}"
        ctx.note(loaded.unread.kind or ReasonKind.FAILED, field, text, subject=loaded.unread.subject)
    return ctx.take(answer, field)


def _no_manager(answers: list[CommandAnswer]) -> bool:
    return all(answer.kind is ReasonKind.NO_TOOL for answer in answers)


def _queries(dpkg_format: str) -> list[tuple[str, ...]]:
    globs = [f"{family}*" for family in FAMILIES]
    return [
        *(("dpkg-query", "-W", dpkg_format, glob) for glob in globs),
        *(
            ("rpm", "-qa", "--qf", driver_packages.RPM_FORMAT, glob)
            for glob in (*globs, driver_packages.KMOD_GLOB)
        ),
    ]


def _package(
    ctx: Context, answers: list[CommandAnswer], release: str | None
) -> tuple[Package | None, list[str]]:
    """Return the installed package and the managers that answered."""
    dpkg, rpm = answers[: len(FAMILIES)], answers[len(FAMILIES) :]
    found, unfinished, states = _dpkg(ctx, dpkg)
    found += [package for answer in rpm for package in driver_packages.parse_rpm(answer.stdout)]
    if unfinished:
        text = f"dpkg knows it, not as installed: {', '.join(unfinished)}"
        ctx.note(ReasonKind.UNPARSED, "package_version", text, subject="dpkg-query")
    asked = ["dpkg"] if states is not None else []
    asked += ["rpm"] if any(map(driver_packages.answered, rpm)) else []
    for answer in answers:
        noise = driver_packages.garbled(answer)
        if noise is not None:
            text = f"no list of packages but {noise!r}"
            ctx.note(ReasonKind.UNPARSED, "package_name", text, subject=answer.subject)
    if not asked:
        _note_silence(ctx, answers)
    return driver_packages.choose(found, release), asked


def _dpkg(ctx: Context, answers: list[CommandAnswer]) -> tuple[list[Package], list[str], bool | None]:
    """Return installed and unfinished packages and whether dpkg told states (None: it did not answer).

    A dpkg-query that does not answer the question for states is asked without.
    """
    found: list[Package] = []
    unfinished: list[str] = []
    if any(map(driver_packages.answered, answers)):
        for answer in answers:
            some, others = driver_packages.parse_dpkg(answer.stdout)
            found, unfinished = found + some, unfinished + others
        return found, unfinished, True
    plain = ctx.commands(*_queries(DPKG_FORMAT)[: len(FAMILIES)])
    if not any(map(driver_packages.answered, plain)):
        return [], [], None
    for answer in plain:
        found += driver_packages.parse_dpkg(answer.stdout, states=False)[0]
    if found:
        text = "this dpkg-query does not tell whether the package is installed or only known"
        ctx.note(ReasonKind.UNSUPPORTED, "package_state", text, subject="dpkg-query")
    return found, [], False


def _note_silence(ctx: Context, answers: list[CommandAnswer]) -> None:
    failed = [answer for answer in answers if answer.kind not in (None, ReasonKind.NO_TOOL)]
    for answer in failed[:1]:
        ctx.note(answer.kind or ReasonKind.FAILED, "package_name", answer.detail, subject=answer.subject)
    if not failed and not any(answer.ok for answer in answers):
        ctx.note(ReasonKind.NO_TOOL, "package_name", "neither dpkg-query nor rpm is installed")


def _note_package(
    ctx: Context, package: Package | None, loaded: Loaded, file: Answer[ModuleFile], *, asked: list[str]
) -> None:
    if package is not None or not asked:
        return
    disk = file.value
    out_of_tree = loaded.version.value or (disk.version if disk and not disk.intree else None)
    if not out_of_tree:
        text = f"no amdgpu driver package is known to {' or '.join(asked)}"
        ctx.note(ReasonKind.ABSENT, "package_name", text)
        return
    where = "loaded" if loaded.version.value else "on disk"
    text = f"amdgpu {out_of_tree} is {where}, no package of it is known to {' or '.join(asked)}"
    if ctx.need(IsolationEvidence).container and loaded.version.value:
        kind = ReasonKind.UNSUPPORTED
        text += ": the packages are the container's, the module is the host's"
    else:
        kind = ReasonKind.EXPECTED
        text += ": usual in a container; on a bare host it was installed by hand"
    ctx.note(kind, "package_name", text, subject="/sys/module/amdgpu/version")


def _note_file(ctx: Context, file: Answer[ModuleFile], loaded: Loaded, release: str | None) -> None:
    if file.kind is None:
        if file.value is not None and file.value.version is None:
            text = "the file on disk declares no version (in-tree driver)"
            ctx.note(ReasonKind.UNSUPPORTED, "module_version", text, subject=file.value.filename)
        return
    modules = f"/lib/modules/{release}"
    kind, text = file.kind, file.detail
    if file.absent and loaded.loaded:
        kind, text = ReasonKind.ABSENT, f"{text}; usual in a container, whose /lib/modules is not the host's"
        if ctx.need(IsolationEvidence).container is False or (release and ctx.stat(modules).ok):
            kind, text = ReasonKind.EXPECTED, f"amdgpu is loaded, yet its file is not found: {file.detail}"
    for field in MODULE_FIELDS:
        ctx.note(kind, field, text, subject="modinfo amdgpu")


def _dkms(ctx: Context, answer: CommandAnswer, release: str | None) -> tuple[DkmsBuild, ...] | None:
    done = ctx.take(parsed(answer, driver_packages.checked_dkms), "dkms")
    if done is None:
        return None
    return tuple(
        DkmsBuild(
            version=row.version,
            kernel=row.kernel,
            arch=row.arch,
            state=row.state,
            running_kernel=row.kernel == release if row.kernel and release else None,
            warning=row.warning,
        )
        for row in driver_packages.parse_dkms(done.stdout)
    )


def _access(ctx: Context, device: bool | None) -> tuple[bool | None, str | None]:
    """Return whether rocminfo opened /dev/kfd and the errno's name if not."""
    field = "kfd_device_accessible"
    if not device:
        if device is False:
            ctx.note(ReasonKind.ABSENT, field, f"{KFD_DEVICE} is not there", subject=KFD_DEVICE)
        return None, None
    answer = rocminfo.ask(ctx, ctx.need(RocmRoots).bin_dirs)
    if rocminfo.parse_agents(answer.stdout):
        return True, None
    refusal = rocminfo.parse_kfd_refusal(answer.value.stdout) if answer.value is not None else None
    kind, text = rocminfo.explain(answer)
    ctx.note(kind, field, text, subject="rocminfo")
    return (False, refusal[0]) if refusal else (None, None)
