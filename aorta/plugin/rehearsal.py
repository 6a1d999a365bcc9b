"""Importing outside plugins in processes first: one that hangs or dies costs itself, not this process."""

import json
import sys
import threading
from collections.abc import Sequence

from aorta.host.double import Ended, NoDoubleError, run_double
from aorta.host.runner import Runner

#: How many imports are tried at once.
AT_ONCE = 8

#: Imports a module and tells what it leaves running. What it prints goes elsewhere. Processes that were
#: cut off from this one come back to it, so that they are seen.
_CODE = """
import faulthandler, importlib, threading, time
out, stacks = os.dup(1), os.dup(told["stacks"])
os.dup2(2, 1)
faulthandler.enable(file=stacks, all_threads=False)
faulthandler.dump_traceback_later(max(0.05, told["until"] - time.monotonic()), exit=True, file=stacks)
try:
    import ctypes
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
except Exception:
    pass
def say(word, *more):
    os.write(out, (json.dumps([word, *more]) + "\\n").encode())
own = os.getpid()
say("begun")
try:
    importlib.import_module(told["module"])
except BaseException:
    pass
if os.getpid() == own:
    left = []
    try:
        for task in os.listdir("/proc/self/task"):
            with open("/proc/self/task/" + task + "/children") as file:
                left += map(int, file.read().split())
    except OSError:
        pass
    for pid in left:
        try:
            os.kill(pid, 9)
        except OSError:
            pass
    say("done", threading.active_count() - 1, len(left))
os._exit(0)
"""


def rehearse(names: Sequence[str], limit_s: float) -> dict[str, str]:
    """Return what is wrong with those modules whose import does not end, or ends or burdens the process.

    What an import merely raises is told by the import itself. Where no process can be started nothing
    is found out.
    """
    from aorta.host.live import LiveHost

    todo = [name for name in dict.fromkeys(names) if name not in sys.modules]
    failures: dict[str, str] = {}
    if not todo:
        return failures
    host = LiveHost()
    slots = threading.BoundedSemaphore(AT_ONCE)

    def try_one(name: str) -> None:
        with slots:
            wrong = _wrong_with(name, host.workers(), limit_s)
        if wrong:
            failures[name] = wrong

    try:
        threads = [threading.Thread(target=try_one, args=(name,), daemon=True) for name in todo[1:]]
        for thread in threads:
            thread.start()
        try_one(todo[0])
        for thread in threads:
            thread.join()
    finally:
        host.close()
    return failures


def _wrong_with(name: str, runner: Runner, limit_s: float) -> str | None:
    try:
        ended = run_double(runner, _CODE, {"module": name}, limit_s)
    except NoDoubleError:
        return None
    said = dict(_heard(ended))
    if "done" in said:
        return _left(*said["done"])
    if "begun" not in said:
        # Our own code did not come so far: it tells nothing of the plugin.
        return "its import cannot be tried in time" if ended.hung else None
    place = ended.place()
    where = f", it was at {place}" if place else ""
    if ended.hung:
        return f"its import does not end{where}"
    return f"its import ends the process: {ended.how}{where}"


def _heard(ended: Ended) -> list[tuple[str, list[int]]]:
    found = []
    for line in ended.done.stdout.splitlines():
        try:
            word, *more = json.loads(line)
        except ValueError:
            continue
        found.append((str(word), more))
    return found


def _left(threads: int, processes: int) -> str | None:
    """Return what is wrong with an import that leaves threads or processes, which nothing here would end."""
    if processes:
        return "its import starts a process and leaves it running; a collector is where to start one"
    if threads:
        return "its import starts a thread and leaves it running; a collector is where to start one"
    return None
