"""Races and paths in the output of a notebook cell."""
