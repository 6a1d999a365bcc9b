"""The environment that children get: without places on file systems that do not answer.

The loader of every dynamic program searches LD_LIBRARY_PATH, and every tool its own directories;
one dead directory there would hang all of them.
"""

import re
import threading
from collections.abc import Mapping
from typing import Protocol

from aorta.host.protocol import Stat

#: How the names of variables end whose places are looked at before the first child starts.
_PLACES = ("PATH", "HOME", "ROOT", "DIR", "LIB", "ENV", "LD_PRELOAD", "LD_AUDIT")
#: LANGUAGE overrides LC_ALL for messages; the others are wrong for a child that starts in "/".
_DROPPED = ("LANGUAGE", "PWD", "OLDPWD")
_SEPARATORS = re.compile(r"[: ]")

#: What names another checkout than the one that a command asks about, e.g. within a hook of git.
_OTHER_CHECKOUT = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"),
    *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_CONFIG"),
)
#: Keeps version control from running what a checkout configures: fetches, extensions, hooks, aliases.
_OF_TOOLS = {
    "git": {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"},
    "hg": {"HGPLAIN": "1", "HGRCSKIPREPO": "1"},
    "sl": {"HGPLAIN": "1", "HGRCSKIPREPO": "1"},
}


class Places(Protocol):
    """What of a host tells whether a place answers."""

    def stat(self, path: str) -> Stat:
        """Return what a path is."""

    def slow_points(self) -> list[str]:
        """Return the mount points that may hang."""

    def slow_mount(self, path: str) -> str | None:
        """Return the mount point, if it may hang, that a path lies on."""

    def dead_mounts(self) -> list[str]:
        """Return the mount points that did not answer."""


class ChildEnviron:
    """Makes the environment of children from that of the host."""

    def __init__(self, places: Places, environ: Mapping[str, str]) -> None:
        self._places = places
        self._environ = {**environ, "LC_ALL": "C.UTF-8"}
        for name in _DROPPED:
            self._environ.pop(name, None)
        self._lock = threading.Lock()
        self._asked = False

    def of(self, tool: str) -> dict[str, str]:
        """Return the environment for a tool; version control runs nothing that its checkout configures."""
        environ, more = self.get(), _OF_TOOLS.get(tool)
        if more is None:
            return environ
        return {name: value for name, value in environ.items() if name not in _OTHER_CHECKOUT} | more

    def get(self) -> dict[str, str]:
        """Return the environment for a child that is started now; the first call asks all places."""
        if not self._places.slow_points():
            return self._environ
        with self._lock:
            if not self._asked:
                self._ask_places()
                self._asked = True
        dead = set(self._places.dead_mounts())
        if not dead:
            return self._environ
        kept = ((name, self._without(value, dead)) for name, value in self._environ.items())
        return {name: value for name, value in kept if value is not None}

    def _without(self, value: str, dead: set[str]) -> str | None:
        """Return a value without the entries on dead mounts; None when nothing is left."""
        if "/" not in value:
            return value
        entries = value.split(":")
        alive = [entry for entry in entries if not self._lies_on(entry, dead)]
        return value if len(alive) == len(entries) else ":".join(alive) or None

    def _lies_on(self, entry: str, dead: set[str]) -> bool:
        # LD_PRELOAD may separate its entries by blanks; one dead entry takes its neighbours along.
        words = _SEPARATORS.split(entry) if " " in entry else [entry]
        return any(word.startswith("/") and self._places.slow_mount(word) in dead for word in {entry, *words})

    def _ask_places(self) -> None:
        """Look at every place once, side by side for each mount that may hang."""
        by_mount: dict[str, list[str]] = {}
        for name, value in self._environ.items():
            if not name.endswith(_PLACES):
                continue
            for entry in dict.fromkeys(_SEPARATORS.split(value)):
                mount = self._places.slow_mount(entry) if entry.startswith("/") else None
                if mount is not None:
                    by_mount.setdefault(mount, []).append(entry)
        threads = [
            threading.Thread(target=self._ask, args=(entries,), daemon=True) for entries in by_mount.values()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _ask(self, entries: list[str]) -> None:
        # One silence is enough: the others lie on the same mount.
        all(self._answers(entry) for entry in entries)

    def _answers(self, entry: str) -> bool:
        try:
            self._places.stat(entry)
        except TimeoutError:
            return False
        except OSError:
            return True
        return True
