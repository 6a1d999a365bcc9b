"""Comparing snapshots: plain documents in, differences out. Of the standard library alone.

``side.py`` says of one document what a null means, ``walk.py`` goes through two side by side, ``lists.py``
pairs the members of lists, ``values.py`` says when two values are the same, ``copies.py`` which rows are of
one fact. ``tables.py`` holds what is
known of single fields and ``Knowledge`` what the declarations say.
"""

from aorta.compare.comparison import Comparison as Comparison
from aorta.compare.comparison import compare as compare
from aorta.compare.copies import folded as folded
from aorta.compare.knowledge import Knowledge as Knowledge
from aorta.compare.row import Row as Row
