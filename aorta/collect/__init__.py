"""Running the collectors and merging what they say."""

from aorta.collect.answer import Answer, CommandAnswer, parsed
from aorta.collect.context import Context
from aorta.collect.request import Request
from aorta.collect.tree_digest import TreeDigest, TreeFile, names_digest
from aorta.host.elf import Elf
from aorta.host.mountinfo import Mount, parse_mountinfo
from aorta.host.protocol import Completed, Distribution, Entry, Manner, Masked, Module, Stat

__all__ = [
    "Answer",
    "CommandAnswer",
    "Completed",
    "Context",
    "Distribution",
    "Elf",
    "Entry",
    "Manner",
    "Masked",
    "Module",
    "Mount",
    "Request",
    "Stat",
    "TreeDigest",
    "TreeFile",
    "names_digest",
    "parse_mountinfo",
    "parsed",
]
