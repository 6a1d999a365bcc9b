"""Gates for snapshots: plain documents in, findings out. Of the standard library alone."""
