"""Comparing snapshots: plain documents in, differences out. Of the standard library alone."""
