"""Sweeps on screen: what is to be swept, how far it is, and what came of it."""
