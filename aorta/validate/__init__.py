"""Gates for snapshots: plain documents in, findings out. Of the standard library alone.

``rules.py`` holds the table of all rules; ``judge.py`` asks them of a client's and its workloads' documents;
``program.py`` reads files and prints, for the command and for the script of the checkout.
"""
