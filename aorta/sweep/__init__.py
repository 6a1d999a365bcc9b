"""Sweeps: which knob changes a failure.

A recipe (``recipe``) and what it names (``definitions``) become a plan of cells and trials (``planning``),
which is checked whole. A run (``run``) executes the trials of commands (``command``) and workloads
(``workload``); each leaves one record, and the records become the matrix (``matrix``).
"""
