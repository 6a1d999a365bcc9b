"""The fbgemm section: fbgemm_gpu as installed, and torch's own FBGEMM."""

import errno
import json

import pytest

from aorta.host.live import LiveHost
from aorta.testing import Distribution, FakeHost, collect, torch_report
from tests.parts import torches

SITE = "/sp"
PACKAGE = f"{SITE}/fbgemm_gpu"
TARGET = f"{PACKAGE}/docs/target.default.json.py"

#: What the package's own text says where no build record was found.
INTERNAL = """
try:
    __version__ = __info__["version"]
except Exception:
    __variant__: str = "INTERNAL"
    __version__: str = "INTERNAL"
"""

CONFIG = """PyTorch built with:
  - GCC 13.3
  - Build settings: BLAS_INFO=mkl, BUILD_TYPE=Release, CXX_FLAGS= -DNDEBUG {flags} -O2, LAPACK_INFO=mkl, USE_ROCM=ON
"""


def target(version="1.8.0", variant="cpu", **more):
    return json.dumps({"version": version, "target": "default", "variant": variant, **more})


def fbgemm(files=None, *, config=None, distributions=None, torch=True):
    observed = {"torch": torch_report(version="2.9.1", config=config)} if torch else {}
    modules = {
        "fbgemm_gpu": f"{PACKAGE}/__init__.py",
        **({"torch": "/sp/torch/__init__.py"} if torch else {}),
    }
    if files is None:
        del modules["fbgemm_gpu"]
    host = FakeHost(files=files, modules=modules, distributions=distributions, observed=observed)
    return collect(host, "fbgemm", import_strategy="child")


def claimed(*names, version="1.8.0"):
    files, distributions = {}, {}
    for name in names:
        path = f"{SITE}/{name}-{version}.dist-info"
        files[f"{path}/RECORD"] = "fbgemm_gpu/__init__.py,,\n"
        distributions[name] = Distribution(name=name, version=version, path=path)
    return files, distributions


@pytest.mark.parametrize("variant", ["cpu", "rocm", "cuda"])
def test_the_build_record(variant):
    files, distributions = claimed("fbgemm_gpu-rocm")
    files |= {TARGET: target(variant=variant), f"{PACKAGE}/__init__.py": INTERNAL}
    result = fbgemm(files, distributions=distributions, config=CONFIG.format(flags="-DUSE_FBGEMM"))
    assert result.value == {
        "package_version": "1.8.0",
        "package_version_source": TARGET,
        "package_dist_name": "fbgemm_gpu-rocm",
        "package_variant": variant,
        "commit": None,
        "providers": [
            {
                "name": "fbgemm_gpu-rocm",
                "version": "1.8.0",
                "path": f"{SITE}/fbgemm_gpu-rocm-1.8.0.dist-info",
                "claim": "record",
            }
        ],
        "conflict": False,
        "pytorch_use_fbgemm": True,
        "pytorch_use_fbgemm_genai": False,
    }
    assert result.kinds() == result.kinds("commit") == ["absent"]


def test_the_targets_come_in_the_order_of_the_package():
    genai, hstu = f"{PACKAGE}/docs/target.genai.json.py", f"{PACKAGE}/docs/target.hstu.json.py"
    value = fbgemm({genai: target("1.3.0", "cuda"), hstu: target("1.2.0")}).value
    assert (value["package_version"], value["package_version_source"], value["package_variant"]) == (
        "1.3.0",
        genai,
        "cuda",
    )
    value = fbgemm({genai: target("1.3.0", "cuda"), TARGET: target()}).value
    assert (value["package_version"], value["package_variant"]) == ("1.8.0", "cpu")


@pytest.mark.parametrize("name", ["docs/version.py", "_fbgemm_gpu_version.py", "__init__.py"])
def test_older_releases(name):
    text = '__version__: str = "1.1.0+git1234567"\n__target__: str = "default"\n__variant__: str = "cuda"\n'
    value = fbgemm({f"{PACKAGE}/{name}": text}).value
    assert (value["package_version"], value["package_variant"], value["commit"]) == (
        "1.1.0+git1234567",
        "cuda",
        "1234567",
    )
    assert value["package_version_source"] == f"{PACKAGE}/{name}"


def test_the_internal_build_has_no_version():
    text = '__version__ = "INTERNAL"\n__variant__ = "INTERNAL"\n'
    result = fbgemm({f"{PACKAGE}/__init__.py": text})
    assert (result.value["package_version"], result.value["package_variant"]) == (None, None)
    assert result.kinds("package_version") == ["unparsed"]
    assert "'INTERNAL'" in next(each.detail for each in result.reasons if each.field == "package_version")
    assert result.kinds("package_variant") == ["absent"]


@pytest.mark.parametrize(
    "text", ["", "[]", "not json", "[" * 100_000, '{"version": 1, "variant": null}', b"\xff"]
)
def test_a_build_record_that_is_none(text):
    result = fbgemm({TARGET: text})
    assert (result.value["package_version"], result.value["package_variant"]) == (None, None)
    assert result.kinds("package_version") == ["unparsed"]
    files, distributions = claimed("fbgemm-gpu-nightly", version="2026.6.11")
    value = fbgemm({TARGET: text, **files}, distributions=distributions).value
    assert (value["package_version"], value["package_dist_name"]) == ("2026.6.11", "fbgemm-gpu-nightly")


def test_a_build_record_that_is_denied():
    assert fbgemm({TARGET: errno.EACCES}).kinds("package_version") == ["denied"]


def test_two_distributions():
    files, distributions = claimed("fbgemm-gpu", "fbgemm-gpu-genai")
    result = fbgemm({TARGET: target(), **files}, distributions=distributions)
    assert (result.value["package_dist_name"], result.value["conflict"]) == (None, True)
    assert result.kinds("package_dist_name") == ["absent"]


def test_who_claims_it_is_hidden():
    files, distributions = claimed("fbgemm-gpu")
    result = fbgemm({TARGET: target(), **dict.fromkeys(files, errno.EACCES)}, distributions=distributions)
    assert (result.value["package_dist_name"], result.value["conflict"]) == (None, None)
    assert result.kinds("package_dist_name") == result.kinds("conflict") == ["denied"]


def test_only_torch():
    result = fbgemm(config=CONFIG.format(flags="-DUSE_FBGEMM -DUSE_FBGEMM_GENAI"))
    value = result.value
    assert (value["pytorch_use_fbgemm"], value["pytorch_use_fbgemm_genai"]) == (True, True)
    assert {name for name, each in value.items() if each is not None} == {
        "pytorch_use_fbgemm",
        "pytorch_use_fbgemm_genai",
    }
    assert set(result.kinds()) == {"absent"}
    assert len(result.reasons) == 7


@pytest.mark.parametrize(
    "flags, use, genai",
    [
        ("-DUSE_FBGEMM", True, False),
        ("-DUSE_FBGEMM_GENAI", False, True),
        ("-DUSE_FBGEMM_GENAI -DUSE_FBGEMM", True, True),
        ("", False, False),
        ("-DUSE_FBGEMM=1", True, False),
        ("-DUSE_FBGEMM=OFF", False, False),
        ("-DNO_USE_FBGEMM", False, False),
    ],
)
def test_a_define_is_a_whole_word(flags, use, genai):
    value = fbgemm(config=CONFIG.format(flags=flags)).value
    assert (value["pytorch_use_fbgemm"], value["pytorch_use_fbgemm_genai"]) == (use, genai)


@pytest.mark.parametrize("config", ["PyTorch built with:\n  - GCC 9.3\n", "", None, 5])
def test_a_configuration_without_flags_says_nothing(config):
    result = fbgemm(config=config)
    assert (result.value["pytorch_use_fbgemm"], result.value["pytorch_use_fbgemm_genai"]) == (None, None)
    assert result.kinds("pytorch_use_fbgemm") == result.kinds("pytorch_use_fbgemm_genai") == ["unparsed"]


def test_torch_is_not_there():
    result = fbgemm({TARGET: target()}, torch=False)
    assert (result.value["package_version"], result.value["pytorch_use_fbgemm"]) == ("1.8.0", None)
    assert result.kinds("pytorch_use_fbgemm") == result.kinds("pytorch_use_fbgemm_genai") == ["absent"]


def test_w6_nothing_but_torch_is_imported():
    """A real fbgemm_gpu loads libraries when it is imported; its version is a text in it."""
    host = LiveHost(python=torches.python())
    try:
        result = collect(host, "fbgemm", import_strategy="child")
    finally:
        host.close()
    value = result.value
    assert (value["package_version"], value["package_variant"], value["package_dist_name"]) == (
        "1.8.0",
        "cpu",
        "fbgemm_gpu-cpu",
    )
    assert (value["pytorch_use_fbgemm"], value["pytorch_use_fbgemm_genai"]) == (True, False)
    assert (value["commit"], value["conflict"]) == (None, False)
