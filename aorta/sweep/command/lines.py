"""Lines as the regular expressions of a recipe see them."""

from aorta.sweep.command.blocks import Block

#: A longer line is cut off here.
LINE_CHARACTERS = 8192


def lines_of(block: Block) -> list[tuple[int, str]]:
    """Return the number and the text of each line; one that was overwritten (CR) counts as several.

    What continues a line that was cut off is left out.
    """
    text = block.data.decode("utf-8", "replace")
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), block.line):
        if "\r" in line:
            found += [(number, part[:LINE_CHARACTERS]) for part in line.split("\r")]
        else:
            found.append((number, line[:LINE_CHARACTERS]))
    if block.overlap:
        del found[0]
    return found
