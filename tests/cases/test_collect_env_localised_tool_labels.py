"""Tools that speak the user's language: they are asked in none, and the user's own setting is still told."""

import pytest

from aorta.host.live import LiveHost
from aorta.testing import collect

CASE = "collect-env-localised-tool-labels"

#: In Czech unless the locale is C: no English word to find, and rows that no format asked for.
TOOLS = {
    "dpkg-query": """
case "$LC_ALL,$LANGUAGE" in C.UTF-8,) ;; *) printf 'Balík: amdgpu-dkms\\nVerze: 9.9\\n' >&2; exit 1;; esac
case "$*" in
  *db:Status-Abbrev*amdgpu-dkms*) printf 'ii \\tamdgpu-dkms\\t1:6.12.12.60400-2147987.22.04\\tall\\n';;
  *) echo "dpkg-query: no packages found matching $4" >&2; exit 1;;
esac""",
    "modinfo": """
case "$LC_ALL,$LANGUAGE" in
  C.UTF-8,) echo "modinfo: ERROR: Module $1 not found." >&2;;
  *) echo "modinfo: CHYBA: Modul $1 nebyl nalezen." >&2;;
esac
exit 1""",
}
LOCALES = [
    {"LANG": "cs_CZ.UTF-8"},
    {"LANG": "cs_CZ.UTF-8", "LC_ALL": "cs_CZ.UTF-8"},
    {"LANG": "cs_CZ.UTF-8", "LANGUAGE": "cs:de"},
    {"LANG": "cs_CZ.UTF-8", "LC_MESSAGES": "cs_CZ"},
]


@pytest.fixture(params=LOCALES)
def host(request, tmp_path):
    for name, body in TOOLS.items():
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
    live = LiveHost(env={"PATH": f"{tmp_path}:/usr/bin:/bin", **request.param})
    live.asked_for = request.param
    yield live
    live.close()


def test_the_package_is_found(host):
    value = collect(host, "amdgpu_driver").value
    assert (value["package_name"], value["package_state"]) == ("amdgpu-dkms", "ii")
    assert value["package_version"] == "1:6.12.12.60400-2147987.22.04"


def test_a_module_that_is_not_there_is_absent_in_every_language(host):
    assert collect(host, "amdgpu_driver").kinds("module_version") == ["absent"]


def test_the_users_language_is_told(host):
    value = collect(host, "env_vars").value
    assert {name: value[name] for name in host.asked_for} == host.asked_for
