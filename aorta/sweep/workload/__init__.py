"""Trials of workloads, in this process or each in a fresh interpreter."""
