"""Benchmarks: what is fast, by how much, and against what; each module prints its table when run."""
