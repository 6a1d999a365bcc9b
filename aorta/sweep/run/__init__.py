"""One run: its directory, its snapshots, the trials one after another, and going on with it."""
