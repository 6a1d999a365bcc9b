"""Every detector of the output: lines that it is there for, and lines that only look like them."""

import pytest

from aorta.sweep.command.catalogue import DETECTORS, EFFECT, MEANING, Enabled
from aorta.sweep.command.logs import read_logs, to_read
from aorta.sweep.files import TrialFiles

FIRE = {
    "hip_error": [
        "RuntimeError: HIP error: an illegal memory access was encountered",
        "hipErrorIllegalAddress",
        "failed with hipErrorLaunchFailure (719)",
        "HIP error at main.cpp:42: 'invalid device function'(98)",
        "HIP Error (719): unspecified launch failure",
        "HIP runtime error: 700",
        'error: "hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"',
    ],
    "cuda_error": [
        "RuntimeError: CUDA error: device-side assert triggered",
        "cudaErrorIllegalAddress: an illegal memory access was encountered",
    ],
    "hsa_error": [
        "Memory access fault by GPU node-1 (Agent handle: 0x55d) on address 0x7f. Reason: Unknown.",
        ":0:rocdevice.cpp:2726: Callback: Queue 0x7f aborting with error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception. code: 0x1016",
        "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate",
        "hsa_init failed: HSA_STATUS_ERROR",
    ],
    "rocm_error": [
        "Error code: 719",
        "rocprof: Error code: -1",
        "Error code: 0x1016",
        "rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat",
    ],
    "nccl_rccl_error": [
        "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled system error",
        "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.",
        "ncclRemoteError: A call failed possibly due to a network error",
        "RCCL error x.cpp:10 'unhandled cuda error'",
        "host: Test NCCL failure common.cu:1285 'invalid usage (run with NCCL_DEBUG=WARN for details)'",
        "host: Test NCCL failure common.cu.cpp:1291 'unhandled cuda error (run with NCCL_DEBUG=INFO for details) / '",
    ],
    "collective_timeout": [
        "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE) ran for 600014 milliseconds",
        "[rank1]:[E ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL",
        "RuntimeError: Timed out waiting 1800000ms for recv operation to complete",
    ],
    "nan_signature": [
        "step 10 loss=nan",
        "loss: nan",
        '{"step": 3, "loss": NaN, "lr": 0.1}',
        "{'loss': nan, 'grad_norm': 1.0}",
        "grad_norm: inf",
        "grad_norm = nan",
        "iteration 3 | lm loss: NAN | loss scale: 1.0 | grad norm: 1.1",
        "| grad norm:   nan | number of nan iterations: 1",
        "train/loss nan, lr 0.1",
        "loss=tensor(nan, device='cuda:0')",
        "val_loss: -inf",
        '"grad_norm": Infinity',
        "epoch 1 best_loss: 3.0 loss: nan",
    ],
    "out_of_memory": [
        "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.",
        "RuntimeError: CUDA out of memory.",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "RuntimeError: HIP error: out of memory",
        "hipErrorOutOfMemory",
        "MemoryError",
        "OSError: [Errno 12] Cannot allocate memory",
    ],
    "oom_kill": [
        "Killed process 123 (python) total-vm:1kB, anon-rss:2kB",
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.0.",
        "oom_reaper: reaped process 123 (python)",
        "oom-kill:constraint=CONSTRAINT_MEMCG,task=python",
        "Some of the step tasks have been OOM Killed.",
    ],
}
MISS = {
    "hip_error": [
        "hipSuccess",
        "HIP error: no error",
        "hipErrorString = hipGetErrorString",
        "hipErrorStringTable: 3",
        "const char* hipErrorName(int)",
        "static hipError_t check",
        "HIP error handling: enabled",
        "hipErrorChecksEnabled=1",
        ":3:hip_event.cpp:300: hipEventQuery: Returned hipErrorNotReady :",
        ":3:hip_memory.cpp:9: hipPointerGetAttributes: Returned hipErrorInvalidValue :",
        "HIP error: out of memory",
        "myhipErrorX",
        "hipErrorPeerAccessAlreadyEnabled",
    ],
    "cuda_error": ["cudaSuccess", "CUDA error: no error", "cudaErrorString(e)", "CUDA errors are checked"],
    "hsa_error": [
        "HSA_STATUS_SUCCESS",
        "HSA_STATUS_INFO_BREAK",
        "xHSA_STATUS_ERROR_A",
        "memory access faults: 0",
    ],
    "rocm_error": ["Error code: 0", "error code: 0x0", "exit with Error code: none", "MIOpen Errors: 0"],
    "nccl_rccl_error": [
        "TORCH_NCCL_ASYNC_ERROR_HANDLING=1",
        "ncclSuccess",
        "ncclGetErrorString",
        "NCCL errors will be raised",
        "host:1:2 [0] NCCL INFO comm 0x1 - last error: ncclSystemErrors none",
    ],
    "collective_timeout": [
        "collective operation timeout set to 600 s",
        "Watchdog is enabled",
        "waiting 10ms for recv",
    ],
    "nan_signature": [
        "loss=nan_to_num(loss)",
        "nanoseconds: 3 loss: 2.0",
        "detect_anomaly is off: loss: nan is not looked for",
        "finance loss: 3",
        "check_nan_loss=False",
        "fail_on_nan_loss: true",
        "loss: information follows",
        "loss: nanmean",
        "best_loss: inf",
        "best loss: inf",
        "lm loss: 1.0 | grad norm: 1.0 | number of nan iterations:   0 |",
        "loss scale: inf",
        "lossless: nan",
        "skip loss nan batches",
        "value: nan",
    ],
    "out_of_memory": [
        "the out of memory handler is installed",
        "oom_score_adj=0",
        "expandable_segments avoids GPU memory fragments",
        "catch (MemoryErrors)",
    ],
    "oom_kill": ["killed process group", "oom_score: 3", "memory.events: oom_kill 0", "boom-kills: 3"],
}


def ids(tmp_path, text, disabled=()):
    files = TrialFiles(stem=str(tmp_path / "t"))
    data = text.encode() if isinstance(text, str) else text
    (tmp_path / "t.stdout.log").write_bytes(data)
    (tmp_path / "t.stderr.log").write_bytes(b"")
    with to_read(files) as logs:
        found, notes = read_logs(logs, Enabled(tuple(disabled), ()), [], None)
    assert notes == []
    return {one.id.partition(":")[2]: one for one in found}


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, lines in FIRE.items() for line in lines])
def test_it_fires(tmp_path, name, line):
    found = ids(tmp_path, f"before\n{line}\nafter\n")
    assert name in found, found
    assert (found[name].where, found[name].text) == ("stdout:2", line[:300])
    assert found[name].effect == EFFECT[f"tier4:{name}"]
    assert name not in ids(tmp_path, f"{line}\n", disabled=[f"tier4:{name}"])


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, lines in MISS.items() for line in lines])
def test_it_does_not_fire(tmp_path, name, line):
    assert name not in ids(tmp_path, f"before\n{line}\nafter\n")


def test_all_detectors_of_the_output_have_lines_here():
    assert (
        set(FIRE)
        == set(MISS)
        == {one.partition(":")[2] for one in DETECTORS if one.startswith("tier4:")}
        - {"python_traceback", "import_error"}
    )
    assert set(MEANING) == set(EFFECT)


def test_a_warning_of_rccl_only_warns_and_its_error_is_stronger(tmp_path):
    warning = "host:1:2 [0] NCCL WARN Call to ibv_modify_qp failed with 22 Invalid argument errno 22\n"
    found = ids(tmp_path, warning)
    assert (found["nccl_rccl_error"].effect, found["nccl_rccl_error"].where) == ("warn", "stdout:1")
    found = ids(tmp_path, warning + "ncclInternalError: Internal check failed.\n")
    assert (found["nccl_rccl_error"].effect, found["nccl_rccl_error"].where) == ("fail", "stdout:2")


TRACE = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    import nothing\n'


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"{TRACE}ModuleNotFoundError: No module named 'nothing'\n", {"import_error": 1}),
        (f"a\n{TRACE}ImportError: libamdhip64.so.6: cannot open shared object file", {"import_error": 2}),
        (f"a\nb\n{TRACE}ValueError: 3\n", {"python_traceback": 3}),
        (f"{TRACE}ValueError: 3\nmore\n{TRACE}ImportError: x\n", {"python_traceback": 1, "import_error": 6}),
        (
            f"{TRACE}ImportError: x\n\nDuring handling of the above exception, another exception occurred:\n\n{TRACE}RuntimeError: 3\n",
            {"python_traceback": 8},
        ),
        (
            f"{TRACE}KeyError: x\n\nThe above exception was the direct cause of the following exception:\n\n{TRACE}ImportError: 3\n",
            {"import_error": 8},
        ),
        (
            "".join(f"[rank0]: {line}\n" for line in f"{TRACE}ImportError: x".splitlines()),
            {"import_error": 1},
        ),
        (
            "".join(
                f"[rank0]: {line}\n[rank1]: step\n"
                for line in f"{TRACE}pkg.errors.ImportError: x".splitlines()
            ),
            {"import_error": 1},
        ),
        (f"12:00:01 ERROR {TRACE}ImportError: x\n", {"import_error": 1}),
        (TRACE, {"python_traceback": 1}),
        ("a traceback (most recent call last) is printed\n", {}),
    ],
)
def test_tracebacks(tmp_path, text, names):
    found = ids(tmp_path, text)
    assert {name: int(one.where.partition(":")[2]) for name, one in found.items()} == names
    assert ids(tmp_path, text, disabled=["tier4:python_traceback", "tier4:import_error"]) == {}


@pytest.mark.parametrize("gap", range(0, 70, 7))
def test_what_lies_across_blocks_is_found(tmp_path, monkeypatch, gap):
    from aorta.sweep.command import blocks

    monkeypatch.setattr(blocks, "BLOCK_BYTES", 128)
    monkeypatch.setattr(blocks, "OVERLAP_BYTES", 64)
    filler = "x" * gap + "\n" + "y" * 50 + "\n"
    found = ids(tmp_path, f"{filler * 7}hipErrorIllegalAddress\n{filler}{TRACE}ImportError: x\nend\n")
    assert {name: one.where for name, one in found.items()} == {
        "hip_error": "stdout:15",
        "import_error": "stdout:18",
    }
    # One line that is longer than many blocks.
    found = ids(tmp_path, f"first\n{'x' * (1000 + gap)} hipErrorIllegalAddress {'z' * 500}\n")
    assert found["hip_error"].where == "stdout:2"


def test_the_whole_of_a_large_log_is_read(tmp_path):
    line = b"[rank0] step 1234 loss: 2.3456 lr 1.0e-4 tokens/s 123456.7 \xff\xfe\n"
    count = (12 << 20) // len(line)
    found = ids(tmp_path, line * count + TRACE.encode() + b"ValueError: late\n")
    assert found["python_traceback"].where == f"stdout:{count + 1}"


def test_of_a_long_line_the_part_that_tells_is_shown(tmp_path):
    found = ids(tmp_path, f"{'x' * 5000} hipErrorIllegalAddress {'y' * 5000}\n")
    assert "x hipErrorIllegalAddress y" in found["hip_error"].text
    assert len(found["hip_error"].text) <= 300
