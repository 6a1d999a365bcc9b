"""Whether a device can be used by this process, and what stands against it."""

from aorta.collect import Context
from aorta.model.frozen import evolve
from aorta_collectors.nic.model import NicDevice, NicVerbs, Problem
from aorta_collectors.nic.userspace import UserSpace, describe

_DOWN = ("down", "lowerlayerdown", "notpresent")


def judge(ctx: Context, device: NicDevice, space: UserSpace | None) -> NicDevice:
    """Return the device with ``verbs``, ``problems`` and ``usable``. Without RDMA only the link counts."""
    problems = [Problem.NO_DRIVER] if device.driver_bound is False else []
    unknown = device.driver_bound is None and device.bdf is not None
    if device.rdma_device is None or space is None:
        state = next((each.operstate for each in device.interfaces or ()), None)
        problems += [Problem.PORT_DOWN] if state in _DOWN else []
        return _judged(device, problems, unknown=unknown or state not in ("up", *_DOWN))
    states = [port.state for port in device.ports or ()]
    if states and None not in states and "ACTIVE" not in states:
        problems.append(Problem.PORT_DOWN)
    unknown = unknown or ("ACTIVE" not in states and (None in states or not states))
    verbs = describe(ctx, device, space)
    found, unsure = _user_space(ctx, device, verbs, space)
    return _judged(evolve(device, verbs=verbs), [*problems, *found], unknown=unknown or unsure)


def _judged(device: NicDevice, problems: list[Problem], *, unknown: bool) -> NicDevice:
    usable = False if problems else None if unknown else True
    return evolve(device, problems=tuple(problems), usable=usable)


def _user_space(
    ctx: Context, device: NicDevice, verbs: NicVerbs, space: UserSpace
) -> tuple[list[Problem], bool]:
    """Return what is wrong in user space, and whether something that decides was not seen."""
    problems, unknown = [], False
    if verbs.uverbs is None:
        # Where libibverbs lists the device, uverbs is there and only hidden from us.
        missing = not verbs.listed and (space.listing.ok or space.listing.absent)
        problems += [Problem.NO_UVERBS] if missing else []
        unknown = not missing
    elif verbs.openable is False:
        gone = ctx.stat(f"/dev/infiniband/{verbs.uverbs}").absent
        problems.append(Problem.NO_DEVICE_NODE if gone else Problem.NOT_OPENABLE)
    unknown = unknown or (verbs.uverbs is not None and verbs.openable is None)
    if verbs.listed:
        return problems, unknown
    heard = space.verbs.value
    if heard is None:
        return problems, unknown or verbs.provider_library is None
    names = {device.rdma_device, verbs.uverbs}
    if verbs.provider_abi is not None:
        problems.append(Problem.ABI_MISMATCH)
    elif names & heard.unserved:
        problems.append(Problem.NO_PROVIDER)
    else:
        problems.append(Problem.NOT_LISTED)
    return problems, unknown
