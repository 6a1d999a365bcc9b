"""All of a process that a snapshot must leave as it was, as values that can be compared and written.

Meant for the process that is looked at: it imports nothing outside the standard library by itself.
"""

import atexit
import decimal
import faulthandler
import gc
import locale
import logging
import os
import random
import resource
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings


def state() -> dict:
    """Return the state by names; all values are equal exactly when nothing changed."""
    return {**_process(), **_python(), **_libraries()}


def _process() -> dict:
    umask = os.umask(0)
    os.umask(umask)
    files = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            files[name] = [os.readlink(f"/proc/self/fd/{name}"), os.get_inheritable(int(name))]
        except OSError:
            # The one that lists.
            continue
    return {
        "environ": dict(os.environ),
        "cwd": os.getcwd(),
        "umask": umask,
        "files": files,
        "positions": [_position(number) for number in range(3)],
        "mask": sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ()))),
        "handlers": {int(number): repr(signal.getsignal(number)) for number in signal.valid_signals()},
        "wakeup": _wakeup(),
        "alarm": signal.getitimer(signal.ITIMER_REAL),
        "limits": {number: resource.getrlimit(number) for number in range(16)},
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "affinity": sorted(os.sched_getaffinity(0)),
        "oom": _text("/proc/self/oom_score_adj"),
        "session": [os.getsid(0), os.getpgrp()],
        "tasks": len(os.listdir("/proc/self/task")),
        "children": [_text(f"/proc/self/task/{task}/children") for task in os.listdir("/proc/self/task")],
        "user": [os.getresuid(), os.getresgid()],
    }


def _position(number: int) -> int | None:
    try:
        return os.lseek(number, 0, os.SEEK_CUR)
    except OSError:
        return None


def _wakeup() -> int:
    descriptor = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(descriptor)
    return descriptor


def _text(path: str) -> str:
    with open(path) as file:
        return file.read()


def _python() -> dict:
    return {
        "path": list(sys.path),
        "finders": [repr(finder) for finder in sys.meta_path],
        "hooks": [repr(hook) for hook in sys.path_hooks],
        "modules": sorted(sys.modules),
        "streams": [id(getattr(sys, name)) for name in ("stdin", "stdout", "stderr")],
        "stream_settings": [repr(sys.stdout), repr(sys.stderr), sys.stdout.errors, sys.stderr.errors],
        "sys_hooks": [
            repr(getattr(sys, name))
            for name in ("excepthook", "displayhook", "unraisablehook", "breakpointhook")
        ],
        "trace": [
            repr(sys.gettrace()),
            repr(sys.getprofile()),
            repr(threading.gettrace()),
            repr(threading.getprofile()),
        ],
        "thread_hook": repr(threading.excepthook),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "stack": threading.stack_size(),
        "recursion": sys.getrecursionlimit(),
        "switch": sys.getswitchinterval(),
        "bytecode": sys.dont_write_bytecode,
        "digits": sys.get_int_max_str_digits(),
        "argv": list(sys.argv),
        "prefix": [sys.prefix, sys.exec_prefix, sys.executable],
        "gc": [gc.isenabled(), gc.get_threshold(), gc.get_debug(), len(gc.callbacks), gc.get_freeze_count()],
        "at_exit": atexit._ncallbacks(),
        "fault": faulthandler.is_enabled(),
    }


def _libraries() -> dict:
    loggers = logging.Logger.manager.loggerDict
    return {
        "locale": [
            locale.setlocale(number) for number in (locale.LC_ALL, locale.LC_CTYPE, locale.LC_NUMERIC)
        ],
        "logging": {
            name: _logger(logging.getLogger(name)) for name in ("", *sorted(loggers)) if _is(loggers, name)
        },
        "logging_off": [logging.root.manager.disable, logging.raiseExceptions, repr(logging.lastResort)],
        "logger_class": repr(logging.getLoggerClass()),
        "warnings": [repr(item) for item in warnings.filters],
        "show_warning": repr(warnings.showwarning),
        "random": hash(random.getstate()),
        "decimal": repr(decimal.getcontext()),
        "socket": socket.getdefaulttimeout(),
        "temporary": tempfile.tempdir,
        "time": [time.tzname, time.timezone],
        **_numpy(sys.modules.get("numpy")),
        **_torch(sys.modules.get("torch")),
    }


def _is(loggers: dict, name: str) -> bool:
    return not name or isinstance(loggers[name], logging.Logger)


def _logger(logger: logging.Logger) -> list:
    return [
        logger.level,
        [repr(one) for one in logger.handlers],
        len(logger.filters),
        logger.propagate,
        logger.disabled,
    ]


def _numpy(numpy) -> dict:
    if numpy is None:
        return {}
    return {
        "numpy_random": [repr(part) for part in numpy.random.get_state()[1:]][:4],
        "numpy_errors": repr(numpy.geterr()),
        "numpy_print": repr(numpy.get_printoptions()),
    }


def _torch(torch) -> dict:
    if torch is None or not hasattr(torch, "get_rng_state"):
        return {}
    return {
        "torch_random": hash(torch.get_rng_state().numpy().tobytes()),
        "torch_cuda": torch.cuda.is_initialized(),
        "torch_threads": [torch.get_num_threads(), torch.get_num_interop_threads()],
        "torch_default": [repr(torch.get_default_dtype()), repr(torch.get_default_device())],
        "torch_grad": [torch.is_grad_enabled(), torch.is_inference_mode_enabled()],
        "torch_deterministic": torch.are_deterministic_algorithms_enabled(),
        "torch_switches": [
            torch.backends.cuda.flash_sdp_enabled(),
            torch.backends.cuda.math_sdp_enabled(),
            torch.backends.cudnn.benchmark,
        ],
        "torch_precision": torch.get_float32_matmul_precision(),
    }
