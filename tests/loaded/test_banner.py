import pytest

from aorta_collectors.loaded.banner import Banner, parse_banner

LINES = (
    "RCCL version : 2.21.5-HEAD:9a0e6a1",
    "HIP version  : 6.3.42134-a9a80e791",
    "ROCm version : 6.3.3.0-74-cbc70b5",
    "Hostname     : node-a",
    "Librccl path : /opt/rocm-6.3.3/lib/librccl.so.1",
)
BANNER = Banner(
    version="2.21.5",
    branch="HEAD",
    commit="9a0e6a1",
    dirty=False,
    hip_version="6.3.42134-a9a80e791",
    rocm_version="6.3.3.0-74-cbc70b5",
    lib_path="/opt/rocm-6.3.3/lib/librccl.so.1",
)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_one(end):
    assert parse_banner(end.join(LINES)) == (BANNER,)


def test_each_line_may_have_a_prefix():
    assert parse_banner("\n".join(f"node-a:58192:58192 [0] NCCL INFO {line}" for line in LINES)) == (BANNER,)


def test_the_host_is_not_kept():
    assert "node-a" not in repr(parse_banner("\n".join(LINES)))


@pytest.mark.parametrize(
    ("line", "version", "branch", "commit", "dirty", "hip"),
    [
        ("RCCL version : 2.21.5-main:a29a210+", "2.21.5", "main", "a29a210", True, None),
        (
            "RCCL version : 2.22.3-release/rocm-rel-6.4:ab12cd3",
            "2.22.3",
            "release/rocm-rel-6.4",
            "ab12cd3",
            False,
            None,
        ),
        ("RCCL version : 2.27.7", "2.27.7", None, None, None, None),
        ("RCCL version : 2.27.7-HEAD:", "2.27.7", "HEAD", None, None, None),
        ("RCCL version 2.18.3+hip6.0 HEAD:2f6d59e+", "2.18.3", "HEAD", "2f6d59e", True, "6.0"),
        ("n:1:2 [0] NCCL INFO RCCL version 2.17.1+hip5.7", "2.17.1", None, None, None, "5.7"),
    ],
)
def test_forms(line, version, branch, commit, dirty, hip):
    assert parse_banner(line) == (
        Banner(version=version, branch=branch, commit=commit, dirty=dirty, hip_version=hip),
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NCCL version 2.19.3+cuda12.3",
        "RCCL version : unknown",
        "RCCL version :",
        "my RCCL version : 2.21.5 and more",
        "HIP version  : 6.3.42134-\nLibrccl path : /x",
    ],
)
def test_none(text):
    assert parse_banner(text) == ()


def test_odd_values_are_left_out():
    (found,) = parse_banner(f"{LINES[0]}\nHIP version : what\nLibrccl path : relative/x\nROCm version : \n")
    assert (found.hip_version, found.lib_path, found.rocm_version) == (None, None, None)


def test_the_first_value_of_one_start_counts():
    (found,) = parse_banner("\n".join([*LINES, "Librccl path : /other.so"]))
    assert found.lib_path == BANNER.lib_path
