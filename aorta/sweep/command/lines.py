"""Lines as the regular expressions of a recipe see them."""

from collections.abc import Iterator

from aorta.sweep.command.blocks import Block

#: A longer line is cut off here.
LINE_CHARACTERS = 8192


def lines_of(block: Block) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line; one that was overwritten (CR) counts as several."""
    text = block.data.decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n"), block.line):
        if "\r" in line:
            for part in line.split("\r"):
                if part:
                    yield number, part[:LINE_CHARACTERS]
        elif line:
            yield number, line[:LINE_CHARACTERS]
