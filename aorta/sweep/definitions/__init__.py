"""Mitigations and environments by name, and who defines them."""
