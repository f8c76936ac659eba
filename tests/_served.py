"""The explorer with a small race set up, for the browser tests.

    /_served?solvers=silp,level&iterations=40&gap=1e-6&pace=10

The solver "broken" takes three steps and then fails.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import panel as pn
import panel_material_ui as pmui

from mklviz.contract import Iterate, Solver
from mklviz.errors import SolverError
from mklviz.problem import Problem
from mklviz.recipe import DataChoice, Recipe, SolverChoice, StopChoice
from mklviz.solvers.level import Level
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.explorer.page import build_page
from mklviz.views.host.page_session import follow_session
from mklviz.views.host.panel_setup import configure

WORDS = ("solvers", "iterations", "gap", "pace")
SENTENCE = "The step size became negative after three steps."


class Broken(Level):
    """Fails in the middle of its work."""

    name_, label, dash = "broken", "Broken", "dashed"

    def iterates(self, problem: Problem, start: Iterate | None = None) -> Iterator[Iterate]:
        """Yield the start and three steps."""
        for count, iterate in enumerate(super().iterates(problem, start)):
            if count > 3:
                raise SolverError(SENTENCE)
            yield iterate


@dataclass(frozen=True)
class BrokenChoice(SolverChoice):
    """A choice that no control offers."""

    def make(self, seed: int = 0) -> Solver:
        """Return the solver."""
        return Broken(seed=seed)


def small_recipe(solvers: str = "level,silp", iterations: int = 40, gap: float = 1e-9) -> Recipe:
    """Return a race on a small table, without solvers that no control offers."""
    named = tuple(SolverChoice(name) for name in solvers.split(",") if name != "broken")
    return Recipe(data=DataChoice("heart"), solvers=named, stop=StopChoice(gap=gap, max_iter=iterations))


def small_explorer(solvers: str = "level,silp", iterations: str = "40", gap: str = "1e-9", pace: str = "0") -> Explorer:
    """Return an explorer whose controls stand for that race."""
    explorer = Explorer()
    explorer.sidebar.load(small_recipe(solvers, int(iterations), float(gap)))
    explorer.run_panel.pace.value = float(pace)
    if "broken" in solvers:
        recipe = explorer.sidebar.recipe
        explorer.sidebar.recipe = replace(recipe, solvers=(*recipe.solvers, BrokenChoice("broken")))
    return explorer


def page_of(explorer: Explorer) -> pmui.Page:
    """Return an explorer as a page of its own."""
    controls = [explorer.controls] if explorer.open() else []
    page = build_page(explorer.frame.parts, explorer.header, controls, explorer.main, explorer.set_dark)
    follow_session(explorer.start, explorer.close)
    return page


if pn.state.served:
    configure()
    words = {name: values[0].decode() for name, values in pn.state.session_args.items() if name in WORDS}
    page_of(small_explorer(**words)).servable()
