"""What defines a race, as values: the recipe, its words and JSON, and how a problem is prepared from it."""

from mklviz.recipe.choices import DataChoice, KernelChoice, ProblemChoice, SolverChoice, Split, StopChoice
from mklviz.recipe.recipe import Recipe

__all__ = ["DataChoice", "KernelChoice", "ProblemChoice", "Recipe", "SolverChoice", "Split", "StopChoice"]
