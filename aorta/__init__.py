"""Trustworthy evidence about what a GPU job really ran on."""

__version__ = "0.1.0"
