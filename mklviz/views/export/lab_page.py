"""A recorded laboratory: one HTML file of at most a megabyte with runs at every position of one or two knobs."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mklviz.analysis.knob_grid import LabGrid, LabKnob, solve_grid
from mklviz.errors import MklvizError
from mklviz.lazy import cached_property
from mklviz.recipe import Recipe
from mklviz.record import Trace
from mklviz.record.archive import replacing
from mklviz.record.store import Store
from mklviz.record.summary import Reference
from mklviz.views.chart.columns import LARGEST_DRAWN, KernelSlots
from mklviz.views.chart.race_charts import ChartOptions, recorded_options
from mklviz.views.export.page import PAGE, data_title, page, page_colours, page_styles, run_data, thinned, words_data
from mklviz.views.host.beside import beside
from mklviz.views.look.palette import LIGHT
from mklviz.views.look.styles import run_styles
from mklviz.views.race.results import weights_pills

MOST_STEPS = 300  # that are kept of a run: more cannot be told apart in a figure that follows a slider
MOST_IN_ALL = 6000  # that are kept of all runs, some 100 bytes each


def save_lab(
    recipe: Recipe | str,
    knob: str | Sequence[str],
    values: Sequence[Any] = (),
    path: str | Path = "lab.html",
    store: Store | str | Path | None = None,
) -> None:
    """Solve a recipe at every position of a knob, and write one HTML page in which the knob turns, without a server.

    What has finished before, in this store, is not solved again. It says how far it is; Ctrl-C ends it and loses
    nothing that has finished.

    Parameters
    ----------
    recipe : Recipe or str
        What is solved, or its words, such as ``"data=sonar; solvers=silp,level"``.
    knob : str or pair of str
        What turns, as in the tab Knobs: an option of a solver, ``"level.lam"``; ``"C"``, ``"p"`` or another number of
        the loss or the regularizer; or ``"tol"``, the SVM tolerance of all solvers. A pair makes a grid.
    values : sequence, or pair of sequences
        The positions; for level.lam, C, p and tol by default those of the tab Knobs.
    path : str or Path
        A file that was there is replaced whole.
    store : Store, str or Path, optional
        Where runs are kept and looked for; the user's store by default. "none" keeps none.

    Raises
    ------
    MklvizError
        If a knob does not fit the recipe, or there are more than 250 runs.
    SolverError
        If a run fails.
    OSError
        If the file cannot be written.
    KeyboardInterrupt
        On Ctrl-C; no page is written.

    Examples
    --------
    >>> mv.save_lab("data=heart; solvers=level", "C", [1, 10], "lab.html", store="none")
    """
    described = Recipe.from_words(recipe) if isinstance(recipe, str) else recipe
    write_lab(LabGrid(described, _knobs(knob, values)), path, store)


def write_lab(grid: LabGrid, path: str | Path, store: Store | str | Path | None = None) -> None:
    """Solve a grid and write its page, see `save_lab`."""
    text = lab_page(grid, solve_grid(grid, store)).encode()
    with replacing(path) as file:
        file.write(text)


def _knobs(knob: str | Sequence[str], values: Sequence[Any]) -> tuple[LabKnob, ...]:
    names, listed = ([knob], [values]) if isinstance(knob, str) else ([*knob], [*values] or [()] * len(knob))
    if len(names) != len(listed):
        raise MklvizError(f"Of {len(names)} knobs there must be {len(names)} lists of values, but {len(listed)} came.")
    return tuple(LabKnob(name, each) for name, each in zip(names, listed, strict=True))


def lab_page(grid: LabGrid, places: Sequence[Mapping[str, Trace]], lead: str = "") -> str:
    """Return what `save_lab` writes, of the traces at every position of the grid; `lead`: HTML that stands first."""
    shown, title = Laboratory(grid, places), lab_title(grid)
    problem = next(iter(places[0].values())).problem
    colours, shows = page_colours(partial(run_styles, places[0])), beside(__file__, "lab.js")
    return page(title, f"{title}: a laboratory", problem, shown.page_data(), colours, shows, lead)


def lab_title(grid: LabGrid) -> str:
    """Return what a laboratory is called: "Level's λ on Sonar"."""
    named = data_title("own data" if grid.recipe.data.own else grid.recipe.data.source)
    return f"{' and '.join(knob.title for knob in grid.knobs)} on {named}"


@dataclass(frozen=True)
class Laboratory:
    """Runs at every position of a grid, as data for the scripts of the page."""

    grid: LabGrid
    places: Sequence[Mapping[str, Trace]]

    @cached_property
    def runs(self) -> dict[int, tuple[str, Trace]]:
        """The runs that differ, with their keys; one that the knobs do not turn stands in many places."""
        return {id(trace): (key, trace) for place in self.places for key, trace in place.items()}

    def page_data(self) -> dict[str, Any]:
        """Return all data that the scripts need."""
        first, order, traces = self.places[0], [*self.runs], [trace for _, trace in self.runs.values()]
        slots, apart = KernelSlots(traces[0].kernel_names), self.grid.turns_problem
        slots.choose([trace.best.weights for trace in traces if len(trace)])
        most = min(MOST_STEPS, MOST_IN_ALL // len(traces))
        usual = ChartOptions(PAGE, gap_tolerance=self.grid.recipe.goal)
        options, alone = recorded_options(usual, traces), recorded_options(usual, first.values())
        raised = not (options.no_bound or options.signed) and (apart or alone.above)
        return {
            "x": "svm_solves",
            "knobs": [
                {word: getattr(knob, word) for word in ("name", "title", "symbol", "watch", "names")}
                | {"usual": knob.current(self.grid.recipe)}
                for knob in self.grid.knobs
            ],
            "apart": ["objective"] if apart else [],
            "left_out": thinned({str(at): trace for at, trace in enumerate(traces)}, most),
            "runs": self._runs(most, slots.slots),
            "places": [
                {"runs": [*map(order.index, map(id, place.values()))], "problem": next(iter(place.values())).problem}
                for place in self.places
            ],
            **words_data(page_styles(run_styles(first, LIGHT)), replace(options, above=raised), slots),
        }

    def _runs(self, most: int, kernels: list[int]) -> list[dict[str, Any]]:
        """Return the runs that differ; objectives stand above the best bound of all runs on their problem."""
        posed: dict[Any, dict[int, Trace]] = {}
        for recipe, place in zip(self.grid.recipes, self.places, strict=True):
            posed.setdefault(recipe.problem, {}).update((id(trace), trace) for trace in place.values())
        best = {at: Reference.of(group.values()) for group in posed.values() for at in group}
        runs = []
        for at, (key, trace) in self.runs.items():
            top = max((float(trace.weights[:, kernels].max()) if kernels else 0.0), 0.0)
            run = run_data(key, trace, None, most, kernels, best[at], packed)
            runs.append(run | {"top": [top], "pills": weights_pills(trace.motion, explained=False)})
        return runs


def packed(values: Iterable[float], digits: int) -> dict[str, str]:
    """Return numbers of single precision, little end first, in base 64; what cannot be drawn is nan."""
    drawn = [float(value) if abs(value) <= LARGEST_DRAWN else math.nan for value in values]
    return {"single": base64.b64encode(np.array(drawn, "<f4").tobytes()).decode()}
