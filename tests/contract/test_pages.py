"""The collectors that the documentation shows hold the contract."""

import importlib
import sys

import pytest

from aorta.plugin.manager import specs_of
from aorta.testing import assert_contract
from tests.parts.pages import PAGES, blocks

FILES = {
    block.title: block.text
    for page in PAGES
    for block in blocks(page, "python")
    if "\n@collector" in block.text
}


def test_there_are_some():
    assert set(FILES) == {
        "site_burnin.py",
        "site_drives.py",
        "site_racks.py",
        "site_fabric.py",
        "site_asset.py",
    }


@pytest.mark.parametrize("file", FILES)
def test_the_contract(file, tmp_path, monkeypatch):
    name = file.removesuffix(".py")
    (tmp_path / file).write_text(FILES[file])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    module = importlib.import_module(name)
    specs = specs_of(module)
    assert specs
    for spec in specs:
        assert_contract(spec.function, plugins=[module])
    del sys.modules[name]
