"""The rocfft_catalog section: the optional cache of kernels compiled ahead of time."""

import errno
import hashlib

import pytest

from aorta.testing import collect
from tests.parts.kernel_trees import ROOT, host

NAME = "rocfft_kernel_cache.db"
BESIDE, BELOW = f"{ROOT}/lib/{NAME}", f"{ROOT}/lib/rocfft/{NAME}"
SYSTEM, USER = "ROCFFT_RTC_SYS_CACHE_PATH", "ROCFFT_RTC_CACHE_PATH"


def run(files=None, *, digests=None, **world):
    return collect(host(files, **world), "rocfft_catalog", digests=digests)


def sha(text):
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_no_cache_is_normal():
    for world in ({}, {"root": False}):
        result = run(**world)
        assert [(reason.field, reason.kind) for reason in result.reasons] == [("kernel_cache", "absent")]
        assert (result.value["status"], result.value["kernel_cache"]["present"]) == ("absent", False)
        assert result.value["arch_caches"] == []
        assert result.value["env_overrides"] == {SYSTEM: None, USER: None}


@pytest.mark.parametrize("path", [BESIDE, BELOW])
def test_the_installed_cache(path):
    result = run({path: "kernels"})
    assert result.value["status"] == "ok"
    assert result.value["kernel_cache"] == {
        "present": True,
        "path": path,
        "source": "rocm_lib",
        "size": 7,
        "sha256": sha("kernels"),
        "reason": None,
    }


def test_caches_of_single_architectures():
    base = f"{ROOT}/lib/rocfft/rocfft_kernel_cache"
    files = {
        f"{base}_gfx942.db": "a",
        f"{base}_gfx90a.db": "b",
        f"{base}_old.db": "c",
        f"{base}_gfx942.txt": "d",
    }
    value = run(files).value
    assert value["status"] == "ok"
    assert [(each["arch"], each["sha256"]) for each in value["arch_caches"]] == [
        ("gfx90a", sha("b")),
        ("gfx942", sha("a")),
    ]
    assert value["kernel_cache"]["present"] is False
    denied = run({f"{base}_gfx942.db": errno.EACCES})
    assert (denied.value["status"], denied.kinds("arch_caches[].sha256")) == ("partial", ["denied"])
    assert denied.value["arch_caches"][0]["sha256"] is None


@pytest.mark.parametrize("named", ["/sys/cache.db", "/sys"])
def test_the_cache_of_the_variable(named):
    place = "/sys/cache.db" if named.endswith(".db") else f"/sys/{NAME}"
    value = run({place: "mine", BESIDE: "installed"}, env={SYSTEM: named, USER: "/home/u/x.db"}).value
    assert (value["kernel_cache"]["path"], value["kernel_cache"]["source"]) == (place, SYSTEM)
    assert value["kernel_cache"]["sha256"] == sha("mine")
    assert value["env_overrides"] == {SYSTEM: named, USER: "/home/u/x.db"}


def test_a_variable_that_leads_nowhere_is_followed_all_the_same():
    result = run({BESIDE: "installed"}, env={SYSTEM: "/none"})
    cache = result.value["kernel_cache"]
    assert (cache["present"], cache["path"], cache["source"]) == (False, "/none", SYSTEM)
    assert "/none" in cache["reason"]
    assert (result.value["status"], result.kinds("kernel_cache")) == ("partial", ["expected"])


def test_switched_off():
    result = run({BESIDE: "installed"}, env={SYSTEM: ":memory:"})
    assert (result.value["status"], result.value["kernel_cache"]["present"]) == ("absent", False)
    assert result.reasons == ()


def test_an_empty_variable_is_none():
    assert run({BESIDE: "x"}, env={SYSTEM: ""}).value["kernel_cache"]["source"] == "rocm_lib"


def test_a_relative_variable():
    links = {"/proc/self/cwd": "/job"}
    value = run({"/job/c.db": "x"}, env={SYSTEM: "c.db"}, links=links).value
    assert value["kernel_cache"]["path"] == "/job/c.db"
    assert run(env={SYSTEM: "c.db"}).value["kernel_cache"]["present"] is None


def test_the_cache_of_a_user_is_never_read():
    result = run({"/home/u/x.db": errno.EIO}, env={USER: "/home/u/x.db"})
    assert result.kinds() == ["absent"]
    assert result.value["status"] == "absent"


def test_denied():
    result = run({BESIDE: errno.EACCES})
    cache = result.value["kernel_cache"]
    assert (cache["present"], cache["sha256"], result.value["status"]) == (True, None, "partial")
    assert result.kinds("kernel_cache.sha256") == ["denied"]
    locked = run(locked=["/l"], env={SYSTEM: "/l/c.db"})
    assert (locked.value["kernel_cache"]["present"], locked.kinds("kernel_cache")) == (None, ["denied"])
    hidden = run(locked=[f"{ROOT}/lib/rocfft"])
    assert hidden.value["kernel_cache"]["present"] is None
    assert hidden.value["arch_caches"] is None
    assert hidden.value["status"] == "partial"


def test_an_unseen_root_is_not_absent():
    result = run(locked=["/opt"], root=False)
    assert (result.value["status"], result.value["kernel_cache"]["present"]) == ("partial", None)
    assert result.value["arch_caches"] is None


def test_no_digests_wanted():
    base = f"{ROOT}/lib/rocfft_kernel_cache"
    result = run({BESIDE: "x", f"{base}_gfx942.db": "y"}, digests="none")
    assert (result.value["status"], result.value["kernel_cache"]["sha256"]) == ("ok", None)
    assert result.kinds("kernel_cache.sha256") == ["not_requested"]


SQLITE = "SQLite format 3\0"


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (SQLITE + "more", []),
        (SQLITE, []),
        (SQLITE[:-1], ["unparsed"]),
        ("", ["unparsed"]),
        ("{}", ["unparsed"]),
    ],
)
def test_a_cache_that_is_no_sqlite_file_is_said_and_hashed(content, kinds):
    for files, env in (({BESIDE: content}, {}), ({"/mine.db": content}, {SYSTEM: "/mine.db"})):
        result = run(files, env=env)
        assert result.kinds("kernel_cache") == kinds
        assert (result.value["kernel_cache"]["present"], result.value["kernel_cache"]["sha256"]) == (
            True,
            sha(content),
        )
