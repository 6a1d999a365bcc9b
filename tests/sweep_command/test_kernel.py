"""Messages of the kernel, and the ways to them."""

import pytest

from aorta.sweep.command import exits, kernel_log, surroundings, vram
from aorta.sweep.command.catalogue import DETECTORS, EFFECT
from aorta.sweep.command.kernel_patterns import kernel_findings
from aorta.sweep.recipe.model import CustomPattern, Match

CARD = "amdgpu 0000:c1:00.0: amdgpu:"
FIRE = {
    "amdgpu_reset": [
        f"{CARD} GPU reset begin!",
        f"{CARD} GPU reset(2) succeeded!",
        f"{CARD} MODE1 reset",
        "amdgpu 0000:28:00.0: GPU reset begin!. Source:  1",
        "amdgpu 0000:28:00.0: BACO reset",
        f"{CARD} GPU mode1 reset failed",
    ],
    "sdma_timeout": [
        "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma0 timeout, signaled seq=1, emitted seq=3",
        f"{CARD} ring sdma1.0 timeout, signaled seq=5",
    ],
    "vm_l2_fault": [
        f"{CARD} [gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:8 pasid:32769, for process x pid 1)",
        f"{CARD} VM_L2_PROTECTION_FAULT_STATUS:0x00801031",
    ],
    "xgmi_link_error": [
        f"{CARD} socket: 0 2 uncorrectable hardware errors detected in xgmi_wafl block",
        f"{CARD} XGMI link error on port 3",
    ],
    "pcie_aer_fatal": [
        "pcieport 0000:00:01.1: AER: Uncorrected (Fatal) error received: 0000:01:00.0",
        "pcieport 0000:00:01.1: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer",
    ],
    "gpu_hang": [
        "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=1",
        "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout, but soft recovered",
        "amdgpu: qcm fence wait loop timeout expired",
        f"{CARD} MES(1) failed to respond to msg=REMOVE_QUEUE",
        "[drm:mes_v11_0_submit_pkt_and_poll_completion.constprop.0 [amdgpu]] *ERROR* MES failed to response msg=2",
        f"{CARD} MES failed to respond to msg=REMOVE_QUEUE",
    ],
    "oom_kill": [
        "Out of memory: Killed process 77 (python) total-vm:1kB",
        "Memory cgroup out of memory: Killed process 7 (python) total-vm:1kB",
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=python,pid=7,uid=0",
    ],
    "thermal_throttle": [
        "CPU3: Core temperature above threshold, cpu clock throttled (total events = 1)",
        f"{CARD} WARN: GPU thermal throttling temperature reached, expect performance decrease.",
    ],
}
MISS = [
    f"{CARD} SMU is initialized successfully!",
    f"{CARD} GPU reset is enabled",
    f"{CARD} ring sdma0 uses VM inv eng 0 on hub 0",
    f"{CARD} ring gfx_0.0.0 uses VM inv eng 0 on hub 0",
    f"{CARD} VM_L2_PROTECTION_FAULT_STATUS:0x00000000",
    f"{CARD} XGMI: Add node 2, hive 0x1.",
    f"{CARD} 0 uncorrectable hardware errors detected in xgmi_wafl block",
    "pcieport 0000:00:01.1: AER: Corrected error received: 0000:01:00.0",
    "pcieport 0000:00:01.1: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer",
    "CPU3: Core temperature/speed normal",
    f"{CARD} ring kiq_2.1.0 test failed (-110)",
    "oom_reaper is started",
]


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, lines in FIRE.items() for line in lines])
def test_it_fires(name, line):
    assert [(one.id, one.effect, one.text) for one in kernel_findings(["x", line, line], clean=False)] == [
        (f"tier3:{name}", EFFECT[f"tier3:{name}"], line)
    ]


@pytest.mark.parametrize("line", MISS)
def test_it_does_not_fire(line):
    assert kernel_findings([line], clean=False) == []


def test_all_have_lines_here():
    assert {f"tier3:{name}" for name in FIRE} | {"tier3:vram_growth"} == {
        one for one in DETECTORS if one.startswith("tier3:")
    }


def test_after_a_good_end_it_was_another_that_was_killed():
    (found,) = kernel_findings([FIRE["oom_kill"][0]], clean=True)
    assert found.effect == "warn"


def command(folder, name, script):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def no_device(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_log, "_DEVICE", str(tmp_path / "kmsg"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_dmesg_of_either_kind(no_device):
    shown = no_device / "shown"
    shown.write_text("[    1.000000] old\n[   12.500000] last\n")
    refuses = '[ "$1" = --nopager ] && exit 1;'
    for first in ("", refuses):
        shown.write_text("[    1.000000] old\n[   12.500000] last\n")
        command(no_device, "dmesg", f"{first} cat {shown}")
        log = kernel_log.open_kernel_log(has_gpu=True)
        assert isinstance(log, kernel_log.Dmesg)
        log.begin()
        assert log.messages() == []
        with shown.open("a") as file:
            file.write("[   12.500001] new: one\n[   13.000000] two\n")
        assert log.messages() == ["new: one", "two"]


def test_the_journal_where_dmesg_is_refused(no_device):
    command(no_device, "dmesg", "echo 'read kernel buffer failed: Operation not permitted' >&2; exit 1")
    command(no_device, "journalctl", 'case "$*" in *--since=@*) echo later;; *) echo last;; esac')
    log = kernel_log.open_kernel_log(has_gpu=True)
    assert isinstance(log, kernel_log.Journal)
    assert log.messages() == ["later"]
    command(no_device, "journalctl", "exit 1")
    assert kernel_log.open_kernel_log(has_gpu=True) is None


def test_no_command_is_run_where_there_is_no_gpu(no_device):
    command(no_device, "dmesg", f"touch {no_device}/ran")
    assert kernel_log.open_kernel_log(has_gpu=False) is None
    assert not (no_device / "ran").exists()


def test_what_cannot_be_read_is_told_once(no_device, trials):
    runner = trials.runner("true")
    notes = [trials.execute(runner).notes for _ in range(2)]
    assert "kernel log" in notes[0][0]
    assert notes[1] == ()


def test_memory_of_gpus_that_is_not_given_back(tmp_path):
    for card, used in (("card0", 1 << 30), ("card1", 5 << 20), ("card1-DP-1", 9)):
        (tmp_path / card / "device").mkdir(parents=True)
        (tmp_path / card / "device" / "mem_info_vram_used").write_text(f"{used}\n")
    cards = vram.Vram(str(tmp_path))
    before = cards.used()
    assert before == {"card0": 1 << 30, "card1": 5 << 20}
    assert vram.grown(before, cards.used()) is None
    (tmp_path / "card1" / "device" / "mem_info_vram_used").write_text(f"{(5 + 256) << 20}\n")
    found = vram.grown(before, cards.used())
    assert (found.id, found.effect, found.where) == ("tier3:vram_growth", "warn", "card1")
    assert not vram.Vram(str(tmp_path / "none"))


def test_the_device(no_device, monkeypatch):
    device = no_device / "kmsg"
    device.write_text("6,1,10,-;old\n")
    log = kernel_log.open_kernel_log(has_gpu=False)
    assert isinstance(log, kernel_log.Device)
    log.begin()
    assert log.messages() == []
    with device.open("a") as file:
        file.write("3,2,20,-;amdgpu: GPU reset begin!\n SUBSYSTEM=pci\n")
    assert log.messages() == ["amdgpu: GPU reset begin!"]
    log.begin()
    assert log.messages() == []


def test_records_that_were_overwritten_are_passed_over(no_device, monkeypatch):
    (no_device / "kmsg").write_text("")
    log = kernel_log.Device()
    answers = iter([BrokenPipeError(), b"3,2,20,-;one\n", BlockingIOError()])

    def read(_handle, _size):
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(kernel_log.os, "read", read)
    assert log.messages() == ["one"]


def test_a_message_during_a_trial_is_its_finding(no_device, trials):
    device = no_device / "kmsg"
    device.write_text("3,1,10,-;amdgpu: GPU reset begin!\n")
    line = "3,2,20,-;amdgpu 0000:c1:00.0: amdgpu: ring sdma0 timeout, signaled seq=1"
    runner = trials.runner(
        "sh", "-c", f"[ -e {no_device}/once ] || echo '{line}' >> {device}; touch {no_device}/once"
    )
    first, second = (trials.execute(runner) for _ in range(2))
    assert (first.verdict, [one.id for one in first.findings]) == ("fail", ["tier3:sdma_timeout"])
    assert (second.verdict, second.findings) == ("pass", ())
    device.write_text("")
    (no_device / "once").unlink()
    for disabled in ({"disable_detectors": ("tier3:sdma_timeout",)}, {"disable_detector_tiers": ("tier3",)}):
        outcome = trials.execute(trials.runner(*runner._argv, **disabled))
        (no_device / "once").unlink()
        assert (outcome.verdict, outcome.findings) == ("pass", ())


COUNTERS = {
    "memory.events": "low 0\noom 1\noom_kill {}\n",
    "memory.oom_control": "under_oom 0\noom_kill {}\n",
}


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize(
    ("end", "verdict", "effect"),
    [("kill -9 $$", "error", "error"), ("exit 1", "error", "error"), ("exit 0", "pass", "warn")],
)
def test_the_counter_of_the_cgroup_tells_who_killed(
    trials, tmp_path, monkeypatch, name, end, verdict, effect
):
    counter = tmp_path / name
    counter.write_text(COUNTERS[name].format(2))
    monkeypatch.setattr(exits, "_counter_path", lambda: str(counter))
    outcome = trials.sh(f"printf '{COUNTERS[name].format(3)}' > {counter}; {end}".replace("\n", "\\n"))
    assert outcome.verdict == verdict
    assert [one.effect for one in outcome.findings if one.id == "tier3:oom_kill"] == [effect]
    if end.startswith("kill"):
        assert outcome.reason.startswith("ended by SIGKILL (killed by the kernel for want of memory)")


def test_the_memory_of_gpus_is_looked_at_while_a_trial_runs(trials, tmp_path, monkeypatch):
    used = tmp_path / "card0" / "device" / "mem_info_vram_used"
    used.parent.mkdir(parents=True)
    used.write_text("0\n")
    monkeypatch.setattr(vram.Vram.__init__, "__defaults__", (str(tmp_path),))
    monkeypatch.setattr(surroundings, "_LOOK_S", 0.05)
    pattern = CustomPattern(
        id="much", match=Match(regex="end", condition="peak_vram_mib > 299"), on_match="warn"
    )
    script = f"echo {300 << 20} > {used}; sleep 0.4; echo {257 << 20} > {used}; echo end"
    outcome = trials.sh(script, custom_patterns=(pattern,))
    assert [(one.id, one.effect) for one in outcome.findings] == [
        ("tier3:vram_growth", "warn"),
        ("custom:much", "warn"),
    ]
    assert outcome.verdict == "pass"
    used.write_text("0\n")
    assert trials.sh(script, tier3_vram_growth=False).findings == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [("0::/a/b\n", "a/b/memory.events"), ("5:cpu:/x\n4:memory,x:/a\n0::/\n", "memory/a/memory.oom_control")],
)
def test_the_counter_of_either_version_of_cgroups(tmp_path, monkeypatch, text, name):
    counter = tmp_path / name
    counter.parent.mkdir(parents=True)
    counter.write_text("oom_kill 7\n")
    (tmp_path / "cgroup").write_text(text)
    monkeypatch.setattr(exits, "_CGROUP", str(tmp_path / "cgroup"))
    monkeypatch.setattr(exits, "_CGROUPS", str(tmp_path))
    assert exits.OomKills().count() == 7
    counter.unlink()
    assert exits.OomKills().count() == 0
    monkeypatch.setattr(exits, "_CGROUP", str(tmp_path / "none"))
    assert exits.OomKills().count() == 0
