"""The variables by which a trial knows which it is; nobody but aorta sets them."""

#: The number of the run, random and so of no other one; the cell; the trial's number in it.
RUN, CELL, TRIAL = MARKS = ("AORTA_SWEEP_RUN", "AORTA_CELL", "AORTA_TRIAL")
#: Of several ranks the number of each: those of one host have all else in common.
RANK = "AORTA_RANK"
#: The directory for files of the trial's own, and the file of variables that a recipe may ask for.
ARTIFACTS, ENV_FILE = ("AORTA_ARTIFACT_DIR", "AORTA_ENV_FILE")

OWN = frozenset((*MARKS, RANK, ARTIFACTS, ENV_FILE))
