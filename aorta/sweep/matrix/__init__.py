"""The matrix: what the trials of a run add up to, cell by cell.

``Matrix`` counts trials as they come (``tally``) and compares cells (``statistics``, ``compare``). Its
document (``cells``, ``schema``) is all that a reader needs: ``markdown`` and ``junit`` are made from it.
"""
