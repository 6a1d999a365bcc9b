import pytest

from aorta.testing import FakeHost
from aorta_collectors.loaded.origin import Homes, find_homes, origin_of
from aorta_collectors.providers import RocmRoots
from tests.parts.loaded_files import asked

HOMES = Homes(torch=("/v/lib/python3.12/site-packages/torch/lib",), rocm=("/opt/rocm", "/opt/rocm-7.2.0"))


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("/v/lib/python3.12/site-packages/torch/lib/librccl.so", "torch_bundled"),
        ("/opt/rocm-7.2.0/lib/librccl.so.1.0.70200", "rocm_root"),
        ("/opt/rocm/lib/librccl.so.1", "rocm_root"),
        ("/opt/rocm-7.2.01/lib/librccl.so.1", "other"),
        ("/v/lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.7", "wheel"),
        ("/v/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2", "wheel"),
        ("/usr/lib/python3/dist-packages/x/libmpi.so", "wheel"),
        ("/v/lib/python3.12/site-packages/torch.libs/libgloo.so", "wheel"),
        ("/repo/buck-out/v2/gen/x/__job__/job#link-tree/torch/lib/librccl.so", "buck_link_tree"),
        ("/tmp/x#link-tree/runtime/lib/librccl.so", "buck_link_tree"),
        ("/data/job.par/lib/librccl.so", "buck_link_tree"),
        ("/usr/lib/x86_64-linux-gnu/libibverbs.so.1", "other"),
        ("/home/me/my-buck-out-notes/librccl.so", "other"),
    ],
)
def test_by_the_path(path, origin):
    assert origin_of(HOMES, path) == origin


def test_torch_in_a_link_tree_is_a_link_tree_s():
    homes = Homes(torch=("/o/buck-out/x#link-tree/runtime/lib",))
    assert origin_of(homes, "/o/buck-out/x#link-tree/runtime/lib/libtorch.so") == "buck_link_tree"


def homes_of(host):
    return asked(host, lambda ctx: find_homes(ctx, ctx.need(RocmRoots), (None, "/v/torch/lib")), (RocmRoots,))


def test_links_are_followed():
    host = FakeHost(
        files={"/opt/rocm-7.2.0/.info/version": "7.2.0\n", "/opt/rocm-7.2.0/lib/librccl.so": b"\x7fELF"},
        links={"/opt/rocm": "rocm-7.2.0", "/v": "/data/v"},
        dirs=["/data/v/torch/lib"],
    )
    homes = homes_of(host)
    assert homes.torch == ("/v/torch/lib", "/data/v/torch/lib")
    assert origin_of(homes, "/opt/rocm-7.2.0/lib/librccl.so") == "rocm_root"
    assert origin_of(homes, "/data/v/torch/lib/librccl.so") == "torch_bundled"


def test_a_distribution_s_rocm_lies_among_others():
    place = "/usr/lib/x86_64-linux-gnu"
    host = FakeHost(
        files={f"{place}/libamdhip64.so.5.7": b"\x7fELF", "/usr/share/hip/version": ""},
        env={"PATH": "/usr/bin"},
    )
    homes = homes_of(host)
    assert origin_of(homes, f"{place}/libamdhip64.so.5.7") == "rocm_root"
    assert origin_of(homes, f"{place}/libibverbs.so.1") == "other"


def test_no_rocm():
    assert homes_of(FakeHost(dirs=["/v/torch/lib"])) == Homes(torch=("/v/torch/lib",))
