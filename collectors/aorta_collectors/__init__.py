"""The built-in collectors, one file a section."""
