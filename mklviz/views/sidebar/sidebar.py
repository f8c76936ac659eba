"""The sidebar: every control of a recipe, and the recipe they stand for."""

from __future__ import annotations

from typing import Any

import param

from mklviz.datasets import DataError
from mklviz.engine import ProblemSize
from mklviz.errors import MklvizError
from mklviz.plugins import left_out
from mklviz.recipe import Recipe
from mklviz.recipe.prepared import Prepared
from mklviz.scenarios import DEFAULT
from mklviz.views.form import Alert, Form
from mklviz.views.sidebar.controls import note, say
from mklviz.views.sidebar.data_panel import DataPanel, Shape
from mklviz.views.sidebar.kernel_panel import KernelPanel, describe_bank, expected_size
from mklviz.views.sidebar.problem_panel import FITTING, ProblemPanel, StopPanel
from mklviz.views.sidebar.scenario_panel import ScenarioPanel
from mklviz.views.sidebar.solver_panel import SolverPanel


class Sidebar(param.Parameterized):
    """All controls but the buttons of the race.

    `recipe`: what the controls stand for; None where one of them cannot be read. It is set once for each change of a
    control; `blocked`: why no race can be started with the controls as they stand, or ""; `locked`: what cannot be
    changed, where the link says so; `left_out`: which plug-ins cannot be used, and why, where there are any.
    """

    recipe = param.Parameter(default=None)
    blocked = param.String(default="")

    def __init__(self, scenario: str = DEFAULT) -> None:
        super().__init__()
        self.scenario = ScenarioPanel(scenario)
        self.data, self.kernels, self.problem = DataPanel(), KernelPanel(), ProblemPanel()
        self.solvers, self.stop = SolverPanel(), StopPanel()
        self.sections = (self.data, self.kernels, self.problem, self.solvers, self.stop)
        self.left_out = Alert(severity="warning", visible=False)
        say(self.left_out, " ".join(left_out()))
        self.locked = note(visible=False)
        self._loading = False
        self._built: tuple[object, tuple[str, str], ProblemSize] | None = None
        self.scenario.param.watch(self._load_scenario, "chosen")
        self.scenario.param.watch(self._refresh, "claim")
        self.data.proposal.param.watch(lambda *_: self.problem.use_fitting(self.data.task), "clicks")
        for section in self.sections:
            section.param.watch(self._refresh, "revision")
        self._load_scenario()
        self.form = Form(self.left_out, self.locked, self.scenario.body, *(section.body for section in self.sections))

    def load(self, recipe: Recipe) -> None:
        self._loading = True
        try:
            for section in self.sections:
                section.load(recipe)
        finally:
            self._loading = False
        self._refresh()

    def built(self, recipe: Recipe, prepared: Prepared) -> None:
        """Remember how large a bank is and how it is kept, to be shown while the controls ask for that bank."""
        self._built = recipe.bank_key, describe_bank(prepared.problem.bank), ProblemSize.of(prepared.problem)
        self.kernels.show_size(self._shape(), self._words_of(self.recipe))
        self.solvers.advise(self._size(self.recipe))

    def set_dark(self, dark: bool) -> None:
        """Use the colours for dark or light pages."""
        self.solvers.set_dark(dark)

    def _load_scenario(self, *_: Any) -> None:
        self.load(self.scenario.recipe)

    def _refresh(self, *_: Any) -> None:
        """Bring what depends on several sections up to date: sizes, solvers offered, what stands in the way."""
        if self._loading:
            return
        self.kernels.suit(self._shape())
        self._offer_solvers()
        self.stop.suit(self.kernels.combination.value == "sum" and self.problem.conjugated)
        recipe, unreadable = self._read()
        misfit = self.problem.suit(self.data.name_, self.data.task)
        self.data.propose(FITTING[self.data.task].label if misfit else "")
        too_large = self.kernels.show_size(self._shape(), self._words_of(recipe))
        self.solvers.advise(None if too_large else self._size(recipe))
        self.scenario.compare(recipe)
        self.param.update(recipe=recipe, blocked=unreadable or misfit or too_large)

    def _read(self) -> tuple[Recipe | None, str]:
        """Return the recipe the controls stand for, or None and why a control cannot be read."""
        parts: dict[str, Any] = {}
        try:
            for section in self.sections:
                parts.update(section.parts())
            return Recipe(**parts), ""
        except (MklvizError, DataError) as error:
            return None, str(error)

    def _offer_solvers(self) -> None:
        try:
            chosen = self.problem.chosen_loss, self.problem.regularizer, self.kernels.combination.value
            weighted = self.problem.class_weight is not None
            self.solvers.suit(*chosen, self.kernels.access(self._shape()), weighted)
        except MklvizError:
            return  # a parameter cannot be read, and says so itself

    def _shape(self) -> Shape | None:
        try:
            return self.data.shape
        except MklvizError:
            return None

    def _of_bank(self, recipe: Recipe | None) -> tuple[tuple[str, str], ProblemSize] | None:
        """Return what is known of the bank of this recipe, where that has been built."""
        if recipe is None or self._built is None or self._built[0] != recipe.bank_key:
            return None
        return self._built[1:]

    def _words_of(self, recipe: Recipe | None) -> tuple[str, str] | None:
        known = self._of_bank(recipe)
        return known and known[0]

    def _size(self, recipe: Recipe | None) -> ProblemSize | None:
        """Return how large the problem is, or by its controls would be."""
        known, shape = self._of_bank(recipe), self._shape()
        if known or recipe is None or shape is None:
            return known and known[1]
        return expected_size(shape, recipe.kernels)
