"""MIOpen's databases: the system's is hashed where the variable says, the user's is named and left alone."""

import errno

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.kernel_trees import ELF, ROOT

CASE = "miopen-db-locations"
DB = f"{ROOT}/share/miopen/db"
FILES = {
    f"{ROOT}/.info/version": "6.2.0\n",
    f"{ROOT}/lib/libMIOpen.so.1": ELF,
    f"{DB}/gfx942130.HIP.fdb.txt": "a",
}


class Watched(FakeHost):
    """A host that remembers which files were opened, and on which one directory never answers."""

    dead = ""

    def __init__(self, **world):
        super().__init__(**world)
        self.opened = set()

    def _check(self, path):
        if self.dead and path.startswith(self.dead):
            raise TimeoutError(errno.ETIMEDOUT, "no answer", path)

    def read_bytes(self, path, *args, **options):
        self.opened.add(path)
        return super().read_bytes(path, *args, **options)

    def sha256(self, path, **options):
        self.opened.add(path)
        return super().sha256(path, **options)

    def scan(self, path, **options):
        self._check(path)
        return super().scan(path, **options)


def run(files=None, *, dead="", **world):
    fake = Watched(files={**FILES, **(files or {})}, **world)
    fake.dead = dead
    return collect(fake, "miopen_catalog"), fake


def test_a_dead_home_is_a_note():
    result, _ = run(env={"HOME": "/nfs/home/user"}, dead="/nfs")
    assert result.value["status"] == "ok"
    assert (result.value["user_db_dir"], result.value["user_db_file_count"]) == (
        "/nfs/home/user/.config/miopen",
        None,
    )
    assert result.kinds("user_db_file_count") == ["timed_out"]


def test_a_relative_path_is_kept_raw_and_resolved():
    result, _ = run(env={"MIOPEN_USER_DB_PATH": "."}, links={"/proc/self/cwd": "/job"}, dirs=["/job"])
    assert result.value["env_overrides"]["MIOPEN_USER_DB_PATH"] == "."
    assert (result.value["user_db_dir"], result.value["user_db_file_count"]) == ("/job", 0)


def test_a_directory_of_another_user_is_a_note():
    result, _ = run({"/tmp/miopen-config": errno.EACCES}, env={"MIOPEN_USER_DB_PATH": "/tmp/miopen-config"})
    assert result.value["status"] == "ok"
    assert result.kinds("user_db_file_count") == ["denied"]


def test_a_misspelt_variable_counts_for_nothing_and_is_seen():
    env = {"MIOPEN_USER_DB": "/tmp/x", "HOME": "/home/u", "MIOPEN_CUSTOM_CACHE_DIR": "/tmp/$USER/cache"}
    result, fake = run(env=env)
    assert result.value["user_db_dir"] == "/home/u/.config/miopen"
    assert result.value["env_overrides"]["MIOPEN_USER_DB_PATH"] is None
    seen = collect(fake, "env_vars").value
    assert (seen["MIOPEN_USER_DB"], seen["MIOPEN_CUSTOM_CACHE_DIR"]) == ("/tmp/x", "/tmp/$USER/cache")


def test_the_system_database_of_the_variable():
    files = {"/opt/custom/db/gfx90a6e.HIP.fdb.txt": "x", "/opt/custom/db/gfx90a6e.db.txt": "y"}
    result, fake = run(files, env={"MIOPEN_SYSTEM_DB_PATH": "/opt/custom/db"})
    value = result.value
    assert (value["db_dir"], value["db_dir_source"]) == ("/opt/custom/db", "MIOPEN_SYSTEM_DB_PATH")
    assert (value["menu"]["gfx_arch_coverage"], value["menu"]["compute_units"]) == (
        ["gfx90a"],
        {"gfx90a": [110]},
    )
    assert not any(path.startswith(DB) for path in fake.opened)


@pytest.mark.parametrize("name", ["gfx942130.ukdb", "miopen_1.0.0.udb", "gfx942130.HIP.ufdb.txt"])
def test_no_file_of_the_user_is_opened(name):
    result, fake = run({f"/u/{name}": "x"}, env={"MIOPEN_USER_DB_PATH": "/u"})
    assert result.value["user_db_file_count"] == 1
    assert not any(path.startswith("/u/") for path in fake.opened)
