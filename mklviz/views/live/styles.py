"""How the runs of a race are drawn: as their solvers are, told apart where one solver enters more than once."""

from __future__ import annotations

from collections.abc import Mapping

from mklviz.contract import Solver
from mklviz.engine import Race, make_solver
from mklviz.engine.styles import style_of
from mklviz.errors import MklvizError
from mklviz.record import Trace
from mklviz.record.summary import label as label_of
from mklviz.views.look.palette import DASHES, RunStyle, Theme, readable

__all__ = ["race_styles", "run_styles"]


def race_styles(race: Race, theme: Theme) -> dict[str, RunStyle]:
    """Return the style of each run of a live race."""
    return run_styles(race.traces, theme, {key: run.solver for key, run in race.runs.items()})


def run_styles(
    traces: Mapping[str, Trace], theme: Theme, solvers: Mapping[str, Solver] | None = None
) -> dict[str, RunStyle]:
    """Return the style of each run: its solver's own, and another dash where a solver enters twice, while there are.

    Solvers are those of a live race, or else made from what the traces say.
    """
    styles: dict[str, RunStyle] = {}
    seen: dict[str, list[str]] = {}
    for key, trace in traces.items():
        solver = _solver_of(trace) if solvers is None else solvers[key]
        taken = seen.setdefault(trace.solver, [])
        own = style_of(Solver if solver is None else type(solver))
        set_dash = "" if solver is None else solver.dash  # a setting may have a dash of its own
        dash = min((set_dash or own.dash, *DASHES), key=taken.count)
        taken.append(dash)
        colour = readable(own.colour_dark if theme.dark else own.colour, theme.card)
        styles[key] = RunStyle(label_of(key, trace), colour, dash, own.marker)
    return styles


def _solver_of(trace: Trace) -> Solver | None:
    """Return the solver that a trace came from, None where it is not there any more or takes other options now."""
    try:
        return make_solver(trace.solver, **trace.options)
    except MklvizError:
        return None
