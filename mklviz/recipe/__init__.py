"""What defines a race, as values: the recipe, its words and JSON, and how a problem is prepared from it."""

from mklviz.recipe.recipe import DataChoice, KernelChoice, ProblemChoice, Recipe, SolverChoice, Split, StopChoice

__all__ = ["DataChoice", "KernelChoice", "ProblemChoice", "Recipe", "SolverChoice", "Split", "StopChoice"]
