"""The pages of the documentation, taken apart: fenced blocks, headings, links."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}

_BLOCK = re.compile(r"^```(\w*)(?: title=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block; ``title`` is the name of the file that it is."""

    language: str
    title: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Return what stands behind the prompts."""
        return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]


def text_of(page: str) -> str:
    """Return a page's text."""
    return PAGES[page].read_text(encoding="utf-8")


def blocks(page: str, language: str | None = None) -> list[Block]:
    """Return a page's fenced blocks, only those of one language if it is given."""
    found = [Block(*match.groups(default="")) for match in _BLOCK.finditer(text_of(page))]
    return [block for block in found if language in (None, block.language)]


def sections(page: str) -> dict[str, list[Block]]:
    """Return a page's fenced blocks by the heading of the second level that they stand under."""
    found = {}
    for part in text_of(page).split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        found[heading] = [Block(*match.groups(default="")) for match in _BLOCK.finditer(text)]
    return found


def prose(page: str) -> str:
    """Return a page without its fenced blocks."""
    return _BLOCK.sub("", text_of(page))


def links(page: str) -> list[str]:
    """Return where a page's links lead."""
    return _LINK.findall(prose(page))


def anchors(page: str) -> set[str]:
    """Return the anchors that a page's headings make."""
    words = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in _HEADING.findall(prose(page)))
    return {text.strip().replace(" ", "-") for text in words}


def inline(page: str) -> list[str]:
    """Return what stands in a page as inline code."""
    return _INLINE.findall(prose(page).replace("\\|", "|"))
