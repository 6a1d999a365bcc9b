"""Sweeps: which knob changes a failure.

A recipe (``recipe``) and what it names (``registry``) become a plan of cells and trials (``plan``), which is
checked whole (``checks``). A run (``run``) executes the trials, commands (``command``) and workloads
(``workload_trial``); each leaves one record, and the records become the matrix (``matrix``).
"""
