"""Plugins that misbehave, written into a folder, and probes that run several of them at once.

Each has processes of its own, so one probe tells of all: every section of aorta says what it says in
a probe without them, and every plugin what it says alone.
"""

import os
import signal
from pathlib import Path

from tests.parts.fake_tools import make
from tests.parts.probing import differing, environment, gone, probe

HEAD = """
import ctypes, itertools, os, re, resource, signal, subprocess, sys, threading, time, warnings
from typing import Annotated, Any
import attrs
from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Coverage, Provenance, ReasonKind, Scope
from aorta.plugin import buck_libraries, collector, env_names, provider
"""

COLLECTOR = """
@attrs.frozen(kw_only=True)
class Site:
    \"\"\"A section of a site.\"\"\"

    word: Annotated[str | None, Fact("A word.")] = None

ANY = Annotated[Any, Fact("Anything.")]

class Odd:
    pass

@collector(section="site.{name}", model={model}, provenance=Provenance.PROCESS, timeout_s={timeout_s})
def collect(ctx: Context):
    \"\"\"A section that misbehaves.\"\"\"
"""

#: A process that no session holds, and that keeps all that it was given.
DAEMON = """
def daemon():
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        return
    os.setsid()
    if not os.fork():
        open(os.environ["TEST_DAEMONS"] + "/" + str(os.getpid()), "w").close()
        time.sleep(600)
    os._exit(0)
"""


def indented(text):
    return "".join(f"    {line}\n" for line in text.strip("\n").split("\n"))


def collecting(name, body, *, model="ANY", timeout_s=2, before=""):
    """Return the text of a module with one collector."""
    return HEAD + before + COLLECTOR.format(name=name, model=model, timeout_s=timeout_s) + indented(body)


class Machine:
    """A folder with tools and plugins, and what probes of it said."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = folder / "daemons"
        self.daemons.mkdir()
        self.env = environment(folder, make(folder / "parts"), covered=False, TEST_DAEMONS=self.daemons)
        self.env["PYTHONPATH"] += f":{folder}"

    def write(self, name, text):
        (self.folder / f"{name}.py").write_text(text)

    def marker(self, run):
        return f"{self.folder}/of-{run}"

    def probe(self, run, names, *options, deadline_s=25, **more):
        plugins = {"AORTA_PLUGINS": ",".join(names)} if names else {}
        env = {**self.env, "TEST_MARKER": self.marker(run), **plugins, **more}
        return probe(self.folder / f"{run}.json", env, "--deadline", deadline_s, *options, limit_s=100)

    def end_daemons(self):
        for file in self.daemons.iterdir():
            try:
                os.kill(int(file.name), signal.SIGKILL)
            except ProcessLookupError:
                continue

    def left_by(self, run):
        """Return the processes that a probe left, without the daemons that plugins made on purpose."""
        known = {int(file.name) for file in self.daemons.iterdir()}
        return {pid: state for pid, state in gone(self.marker(run)).items() if pid not in known}


def assert_the_others_say_the_same(done, whole, deadline_s=25):
    """Hold a probe with plugins against one without."""
    assert done.code == 0, done.stderr
    assert done.elapsed_s < deadline_s + 0.5
    assert differing(done.document, whole.document, ignored={"extensions"}) == set()
    assert _variables(done) == _variables(whole)
    assert _told(done) == _told(whole)
    assert _statuses(done) == _statuses(whole)


def _variables(done):
    own = ("AORTA_PLUGINS", "TEST_MARKER")
    return {name: value for name, value in done.document["env_vars"].items() if name not in own}


def _told(done):
    told = [one for one in done.reasons() if one["section"] in BUILTIN]
    return {(one["section"], one["kind"], one["field"], one["detail"]) for one in told}


def _statuses(done):
    return {name: record["status"] for name, record in done.records().items() if name in BUILTIN}


def _builtin():
    from aorta.plugin.discovery import discover

    known = discover(outside=False)
    return {*known.collectors, *known.providers}


BUILTIN = _builtin()


def plugin_record(done, name):
    """Return the record of one plugin."""
    (record,) = [one for one in done.document["collection"]["plugins"] if one["name"] == name]
    return record


def own_lines(folder, name):
    """Return what a place in a plugin's own file begins with."""
    return f"{Path(folder) / name}.py:"
