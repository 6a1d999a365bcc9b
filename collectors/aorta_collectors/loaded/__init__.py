"""What a process has loaded: which libraries count, where they come from, and what would be loaded."""
