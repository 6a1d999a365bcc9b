"""Sweeps: which knob changes a failure.

A recipe becomes a plan of cells and trials (``recipe``, ``registry``, ``plan``), a runner executes the trials
(``runner``, ``command``), each leaves one record (``record``, ``store``), and the records become the matrix
(``matrix``).
"""
