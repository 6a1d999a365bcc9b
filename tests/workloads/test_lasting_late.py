"""Which variables come too late for what reads them once, in a process that does several trials."""

import sys
import types

import pytest

from aorta.workloads.import_time import READERS, Seen, told


@pytest.fixture
def torch(monkeypatch):
    """Put a torch in place that has not been imported yet; return a function that imports it."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    state = {"used": False}
    module = types.ModuleType("torch")
    module.cuda = types.SimpleNamespace(is_initialized=lambda: state["used"])

    def load(*, used=False):
        state["used"] = used
        monkeypatch.setitem(sys.modules, "torch", module)

    return load


def test_nothing_is_late_before_the_import(torch):
    seen = Seen()
    seen.note({})
    assert seen.late({"GPU_MAX_HW_QUEUES": "2", "HSA_XNACK": "1"}) == ()


def test_what_was_there_at_the_import_is_in_time_and_its_absence_late(torch):
    """The trial that imports torch has its variables in time; one without them afterwards has not."""
    seen = Seen()
    seen.note({})
    torch()
    seen.note({"GPU_MAX_HW_QUEUES": "2"})
    assert seen.late({"GPU_MAX_HW_QUEUES": "2"}) == ()
    assert seen.late({"GPU_MAX_HW_QUEUES": "4", "HIP_LAUNCH_BLOCKING": "1"}) == (
        "GPU_MAX_HW_QUEUES",
        "HIP_LAUNCH_BLOCKING",
    )
    assert seen.late({}) == ("GPU_MAX_HW_QUEUES",)


def test_what_is_read_at_the_first_communicator_is_late_after_a_gpu_was_used(torch):
    seen = Seen()
    torch()
    seen.note({})
    assert seen.late({"NCCL_DEBUG": "INFO"}) == ()
    torch(used=True)
    seen.note({"NCCL_DEBUG": "INFO"})
    assert seen.late({"NCCL_DEBUG": "INFO"}) == ()
    assert seen.late({"NCCL_DEBUG": "WARN", "NCCL_ALGO": "Ring"}) == ("NCCL_ALGO", "NCCL_DEBUG")


def test_what_torch_cannot_tell_is_not_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    seen = Seen()
    seen.note({})
    assert seen.late({"NCCL_DEBUG": "INFO"}) == ()


def test_what_starts_an_interpreter_is_always_late_in_one():
    seen = Seen()
    seen.note({"PYTHONHASHSEED": "0"})
    late = seen.late({"PYTHONHASHSEED": "1", "LD_PRELOAD": "x.so", "RANK": "1", "MASTER_PORT": "9"})
    assert late == ("LD_PRELOAD", "PYTHONHASHSEED")


def test_texts_say_after_what_they_came():
    assert told(("HSA_XNACK", "GPU_MAX_HW_QUEUES")) == "torch was imported"
    assert told(("LD_PRELOAD", "NCCL_ALGO")) == "the interpreter was started and torch had used a GPU"
    assert all(reader.told and reader.names for reader in READERS)
