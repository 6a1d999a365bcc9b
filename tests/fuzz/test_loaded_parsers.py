"""Whatever a process maps, RCCL logs or a file is called: no exception, nothing made up."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from aorta_collectors.loaded.banner import parse_banner
from aorta_collectors.loaded.families import FAMILIES, base_of, family_of
from aorta_collectors.loaded.versions import parse_suffix
from aorta_collectors.providers.mapped_libraries import parse_maps
from aorta_collectors.pytorch.version_module import parse_version_module

MANY = settings(max_examples=1500, deadline=None, derandomize=True)


def lines(*known):
    """Return texts of known lines, pieces of them and anything else."""
    pieces = st.sampled_from([word for line in known for word in re.split(r"(\W)", line)])
    line = st.one_of(st.sampled_from(known), st.text(max_size=60), st.lists(pieces, max_size=12).map("".join))
    return st.lists(line, max_size=12).flatmap(
        lambda chosen: st.sampled_from(["\n", "\r\n", "\r", "\x85"]).map(lambda end: end.join(chosen))
    )


MAPPED = lines(
    "7f1000000000-7f1000001000 r--p 00000000 08:01 42    /opt/rocm/lib/librccl.so.1.0.70200",
    "7f1000000000-7f1000001000 r--p 00000000 08:01 42    /my env/lib/libamdhip64.so (deleted)",
    "7f1000000000-7f1000001000 rw-p 00000000 00:00 0    [heap]",
    "7f1000000000-7f1000001000 r--p 0 0:0 99999999999999999999999 /x/liba\\012b.so",
)
LOGGED = lines(
    "RCCL version : 2.21.5-main:a29a210+",
    "HIP version  : 6.2.41134-",
    "ROCm version : 6.2.4.0-139",
    "Hostname     : node-b",
    "Librccl path : /opt/rocm/lib/librccl.so.1",
    "RCCL version 2.18.3+hip6.0 HEAD:2f6d59e+",
)
MODULE = lines(
    "__version__ = '2.13.0+rocm7.2'",
    "hip: Optional[str] = None",
    "debug = False",
    "cuda = '12.8' # x",
    "from x import y",
)
NAMES = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            [
                "lib",
                "rccl",
                "torch_",
                "device_",
                "_operations",
                "-net",
                "-1a2b3c4d",
                ".so",
                ".1",
                ".0",
                "*",
                "/",
            ]
        ),
        max_size=8,
    ).map("".join),
)


@MANY
@given(MAPPED)
def test_maps(text):
    found = list(parse_maps(text))
    assert len(found) == len(set(found))
    for each in found:
        assert each.path.startswith("/")
        assert ".so" in each.name
        assert 0 <= each.inode < 10**20


@MANY
@given(LOGGED)
def test_banners(text):
    for each in parse_banner(text):
        assert re.fullmatch(r"\d+(\.\d+){1,3}", each.version)
        assert each.commit is None or re.fullmatch("[0-9a-fA-F]{6,40}", each.commit)
        assert (each.dirty is None) == (each.commit is None)
        assert each.lib_path is None or each.lib_path.startswith("/")
        assert not any("\n" in (value or "") for value in (each.branch, each.hip_version, each.rocm_version))


@MANY
@given(MODULE)
def test_version_module(text):
    for value in dict(parse_version_module(text)).values():
        assert value is None or isinstance(value, (str, bool))


@MANY
@given(NAMES)
def test_names(name):
    family = family_of(name)
    assert family is None or family in FAMILIES
    assert family is None or base_of(name) is not None
    version = parse_suffix(name)
    assert version is None or name.endswith(f".so.{version}")
