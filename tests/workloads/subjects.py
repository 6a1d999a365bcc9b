"""Workloads that do, in one phase of a trial, what a test wants."""

import ctypes
import faulthandler
import os
import signal
import subprocess
import sys
import threading
import time

import attrs

from aorta.workloads import Workload, WorkloadResult

#: Read when this module is imported, as libraries read their switches.
AT_IMPORT = os.environ.get("SUBJECT_SWITCH")


class Subject(Workload):
    """Does what its config names: the phase, and a function of this module."""

    trial_isolation_supported = frozenset({"in_process", "process"})

    def __init__(self, config):
        super().__init__(config)
        self.do("constructor")

    def setup(self):
        self.do("setup")

    def run(self):
        made = self.do("run")
        return WorkloadResult(passed=True) if made is None else made

    def cleanup(self):
        if marker := self.config.get("marker"):
            with open(marker, "a") as file:
                file.write("cleaned\n")
        self.do("cleanup")

    def do(self, phase):
        if name := self.config.get(phase):
            return globals()[name](self)
        return None


class Strict(Subject):
    """With a typed config."""

    @attrs.frozen(kw_only=True)
    class config_type:
        degrees: int = 20
        steps: int = 1
        marker: str | None = None

        def get(self, name):
            return getattr(self, name, None)

    def do(self, phase):
        return (
            WorkloadResult(passed=self.config.degrees < 90, metrics={"steps": self.config.steps})
            if phase == "run"
            else None
        )


def raises(_):
    raise ValueError("no such thing")


def asserts(_):
    assert 1 == 2, "one is not two"


def gpu_fault(_):
    raise RuntimeError("HIP error: an illegal memory access was encountered")


def no_memory(_):
    raise RuntimeError("HIP error: out of memory")


def long_text(_):
    raise ValueError("x" * 200_000)


def unspeakable(_):
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    raise Mute


def system_exit(_):
    sys.exit(3)


def interrupts(_):
    raise KeyboardInterrupt


def not_passed(_):
    details = ({"hint": "wrong at 7", "place": 7},)
    return WorkloadResult(passed=False, failure_count=2, first_failure_iteration=7, failure_details=details)


def wrong_result(_):
    return "fine"


def unclear(_):
    return WorkloadResult(passed="yes")


def did_not_run(_):
    return WorkloadResult(passed=True, executed_iterations=0, configured_iterations=5)


def never_started(_):
    return WorkloadResult(passed=False, main_work_started=False)


def timed(_):
    return WorkloadResult(passed=True, step_times_ms=[1, 2.5], total_iterations=2, elapsed_sec=9.0)


def counted(_):
    return WorkloadResult(passed=True, total_iterations=4, elapsed_sec=2.0)


def counted_for_ever(_):
    return WorkloadResult(passed=True, total_iterations=3, elapsed_sec=1e308)


def timed_often(_):
    return WorkloadResult(passed=True, step_times_ms=[float(one) for one in range(200_005)])


def huge_numbers(_):
    huge = 10**5000
    return WorkloadResult(
        passed=False,
        failure_count=huge,
        first_failure_iteration=2**64,
        failure_details=({"hint": "far too many", "value": huge},),
        executed_iterations=2**64 - 1,
        metrics={"a": huge, "b": [-huge], "c": 2**64 - 1, huge: 1},
    )


class Number:
    """As numpy has them."""

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


def odd_metrics(_):
    metrics = {
        "nan": float("nan"),
        "inf": [1, float("inf")],
        "object": object(),
        "scalar": Number(1.5),
        "deep": {"a": [(1, 2), {"b": True}]},
        3: "key",
        "bytes": b"x",
        "text": "\ud800 é",
    }
    return WorkloadResult(passed=Number(True), metrics=metrics, step_times_ms=[1.0, -2.0])


def tells(self):
    return WorkloadResult(
        passed=True,
        metrics={
            "names": sorted(os.environ),
            "at_import": AT_IMPORT,
            "pid": os.getpid(),
            "session": os.getsid(0),
            "python": sys.executable,
            "prefix": sys.prefix,
            "trial": attrs.asdict(self.trial),
            "cwd": os.getcwd(),
            "masked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
            "handler": str(signal.getsignal(signal.SIGTERM)),
            "timer": signal.getitimer(signal.ITIMER_VIRTUAL)[0],
            "stdin": sys.stdin.read() if sys.stdin is not None and not os.isatty(0) else None,
            "path": sys.path,
        },
    )


def prints(_):
    print("to standard output")
    print("to standard error", file=sys.stderr)
    print("\ud800")
    os.write(1, b"{}\n\xff\x00 raw\n")


def speaks(_):
    print("to standard output")
    print("to standard error", file=sys.stderr)


def tells_variables(_):
    return WorkloadResult(
        passed=True,
        metrics={name: value for name, value in os.environ.items() if name.startswith("SUBJECT_")},
    )


def closes(_):
    os.closerange(0, 256)


def closes_and_opens(self):
    os.closerange(3, 256)
    for number in range(8):
        os.open(os.path.join(self.trial.artifact_dir, f"{number}.bin"), os.O_WRONLY | os.O_CREAT)


def disturbs(_):
    os.environ["SUBJECT_NEW"] = "1"
    os.environ.pop("HOME", None)
    os.environ["PATH"] = "/nowhere"
    os.chdir("/")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    signal.setitimer(signal.ITIMER_VIRTUAL, 600)


def prints_in_c(self):
    ctypes.CDLL(None).printf(f"{self.config['text']} from C\n".encode())
    print(self.config["text"], "from Python")
    subprocess.run(["sh", "-c", f"echo {self.config['text']} from a child >&2"], check=True)


def prints_late(_):
    threading.Thread(
        target=lambda: (time.sleep(0.5), print("too late"), os.write(1, b"much too late"))
    ).start()


def closes_its_output(_):
    sys.stdout.close()
    sys.stderr.close()


def takes_its_output_away(_):
    sys.stdout = sys.stderr = open(os.devnull, "w")


def leaves_a_file(self):
    with open(os.path.join(self.trial.artifact_dir, "trace.bin"), "w") as file:
        file.write("x")


def signals_itself(self):
    os.kill(os.getpid(), self.config["signal"])
    time.sleep(5)


def segfaults(_):
    ctypes.string_at(0)


def exits_at_once(self):
    print("last words", file=sys.stderr, flush=True)
    os._exit(self.config.get("status", 0))


def dies_of_the_gpu(_):
    print("Memory access fault by GPU node-1 on address 0x7f", file=sys.stderr, flush=True)
    os._exit(1)


def hangs(self):
    time.sleep(self.config.get("seconds", 60))


def hangs_for_ever(_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(
        [sys.executable, "-c", "import signal,time; signal.signal(15, 1); time.sleep(60)"]
    )
    child.wait()


def blocks(_):
    # Calls of this kind keep the interpreter's lock; the second waits for the first, whatever signals come.
    library, lock = ctypes.PyDLL(None), ctypes.create_string_buffer(64)
    library.pthread_mutex_lock(lock)
    library.pthread_mutex_lock(lock)


def stops(_):
    os.kill(os.getpid(), signal.SIGSTOP)


def catches_everything(self):
    until = time.monotonic() + 3
    while time.monotonic() < until:
        try:
            time.sleep(10)
        except BaseException:
            return


def leaves_a_child(self):
    child = subprocess.Popen(["sleep", "60"], start_new_session=bool(self.config.get("session")))
    return WorkloadResult(passed=True, metrics={"child": child.pid})


def uses_multiprocessing(_):
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    lock = context.Lock()
    with context.Manager() as manager:
        manager.list([lock.acquire(timeout=1)])
    from multiprocessing import resource_tracker

    return WorkloadResult(passed=True, metrics={"tracker": resource_tracker._resource_tracker._pid})


def leaves_a_thread(_):
    threading.Thread(target=time.sleep, args=(60,)).start()


def dies_after_the_end(_):
    import atexit

    atexit.register(ctypes.string_at, 0)


def is_killed_after_the_end(self):
    import atexit

    atexit.register(os.kill, os.getpid(), signal.SIGKILL)
    return WorkloadResult(passed=bool(self.config.get("passed")))


def exits_oddly_after_the_end(_):
    import atexit

    atexit.register(os._exit, 5)


def forks_back(_):
    if os.fork() == 0:
        return WorkloadResult(passed=False)
    os.wait()
    return None


def stray_stacks(_):
    faulthandler.dump_traceback(all_threads=True)
    print("@phase cleanup", file=sys.stderr)
