"""Figures: traces in, drawings out. Knows no panel and no run."""
