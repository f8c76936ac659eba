"""A scenario is a recipe with a title and what to look for; each file of this folder defines one."""

from __future__ import annotations

from dataclasses import dataclass

from mklviz.recipe import Recipe


@dataclass(frozen=True)
class Scenario:
    """A prepared race for the classroom.

    Attributes
    ----------
    name : str
        Short name for links and the command line.
    title : str
        What the selector shows.
    look_for : str
        One or two sentences on what to watch.
    recipe : Recipe
    """

    name: str
    title: str
    look_for: str
    recipe: Recipe
