"""Links between the pages lead somewhere."""

import pytest

from tests.parts.pages import PAGES, ROOT, anchors, links


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings(page):
    for link in links(page):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (PAGES[page].parent / name).resolve() if name else PAGES[page]
        assert target.exists(), f"{page}: {link}"
        if anchor:
            assert anchor in anchors(str(target.relative_to(ROOT))), f"{page}: {link}"


def test_every_page_can_be_reached_from_the_readme():
    reached, todo = set(), ["README.md"]
    while todo:
        page = todo.pop()
        reached.add(page)
        for link in links(page):
            name = link.partition("#")[0]
            if "://" not in link and name.endswith(".md"):
                other = str((PAGES[page].parent / name).resolve().relative_to(ROOT))
                todo += [other] if other in PAGES and other not in reached else []
    assert reached == set(PAGES)
