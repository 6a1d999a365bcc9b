"""Slurm's lists of hosts, as ``scontrol show hostnames`` reads them."""

import subprocess

import pytest

from aorta.launch.hostlist import MOST, first_host, hosts_in
from tests.parts.needs import need

FORMS = {
    "gpu-a": ["gpu-a"],
    "a,b,c": ["a", "b", "c"],
    "n[01-03,7],gpu-a": ["n01", "n02", "n03", "n7", "gpu-a"],
    "n[9-11]": ["n9", "n10", "n11"],
    "n[009-011]": ["n009", "n010", "n011"],
    "n[1-2]m[3-4]": ["n1m3", "n1m4", "n2m3", "n2m4"],
    "n[7]": ["n7"],
    "n1.site.example,n[2-3]": ["n1.site.example", "n2", "n3"],
}


@pytest.mark.parametrize("text", FORMS)
def test_forms(text):
    assert list(hosts_in(text)) == FORMS[text]
    assert first_host(f" {text} ") == FORMS[text][0]


def test_forms_are_read_as_slurm_does(tmp_path):
    need("scontrol", "needs Slurm: there is no scontrol")
    configuration = tmp_path / "slurm.conf"
    configuration.write_text("ClusterName=x\nSlurmctldHost=localhost\nNodeName=localhost\n")
    for text, hosts in FORMS.items():
        done = subprocess.run(
            ["scontrol", "show", "hostnames", text],
            env={"PATH": "/usr/bin:/bin", "SLURM_CONF": str(configuration)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == hosts, text


def test_what_stands_behind_brackets_is_part_of_the_name():
    assert list(hosts_in("r[1-2]-ib")) == ["r1-ib", "r2-ib"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "n[1-3",
        "n1-3]",
        "n[[1]]",
        "n[]",
        "n[3-1]",
        "n[a-b]",
        "n[1-]",
        ",",
        "a b",
        "n[1-999999999]",
    ],
)
def test_what_is_no_list_has_no_first_host(text):
    assert first_host(text) is None


def test_a_list_without_end_is_none():
    with pytest.raises(ValueError, match="without end"):
        list(hosts_in(f"n[1-{MOST}],m[1-2]"))
