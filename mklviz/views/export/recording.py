"""Recorded runs as numbers and words for a script: thinned, rounded, and with what each solver did at each step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mklviz.contract import Solver
from mklviz.engine import Race
from mklviz.engine.race import narrated
from mklviz.errors import MklvizError
from mklviz.record import FINAL, Trace
from mklviz.record.milestones import PARTS, milestones
from mklviz.record.reference import Reference
from mklviz.views.chart.columns import (
    LARGEST_DRAWN,
    WEIGHT_COLUMNS,
    KernelSlots,
    Thinning,
    line_columns,
    weight_columns,
)
from mklviz.views.chart.race_charts import NO_BOUND, STOP, enlargements, run_table, weights_title
from mklviz.views.chart.squashed import squashed
from mklviz.views.export.page_charts import page_charts, page_style
from mklviz.views.look.palette import DASHES, LIGHT, MARKERS, RunStyle
from mklviz.views.look.styles import run_styles, solver_of
from mklviz.views.race.results import MEANINGS, SIGNS, STATUS_WORDS
from mklviz.views.session.comparable import difference, recipe_of

__all__ = [
    "MOST_IN_ALL",
    "Recorded",
    "kept_steps",
    "kernel_names",
    "recorded",
    "rounded",
    "run_data",
    "styled",
    "thinned",
]

Numbers = Callable[[Iterable[float], int], Any]  # writes numbers of so many digits for a script

MOST_STEPS = 600  # that are kept of a run
MOST_IN_ALL = 2400  # that are kept of a race: the page stays below a megabyte
FEWEST = 100  # that are kept of a run, however many there are
DIGITS = {
    "iteration": 15,
    "svm_solves": 15,
    "seconds": 4,
    "objective": 6,
    "above": 4,
    "gap": 4,
    "own_gap": 4,
    "step": 4,
}


@dataclass(frozen=True)
class Recorded:
    """Runs on one problem, and the words for it."""

    traces: Mapping[str, Trace]
    solvers: Mapping[str, Solver] = field(default_factory=dict)  # the solvers of the runs, as far as they are known
    noun: str = "kernel"  # what has weights
    gap: float | None = None  # at which the runs stopped
    data: str = ""  # name of the data set, "" if unknown

    @property
    def problem(self) -> str:
        """One line about the problem."""
        return next(iter(self.traces.values())).problem

    @property
    def ended(self) -> bool:
        """Whether all runs have."""
        return all(trace.status in FINAL for trace in self.traces.values())

    def page_data(self, slots: KernelSlots | None = None, in_all: int = MOST_IN_ALL) -> dict[str, Any]:
        """Return all data that a script needs to draw the runs; `null` is a hole.

        `slots`: of the kernels shown, where they must keep their colours as a race goes on; `in_all`: most steps that
        are kept of all runs together.
        """
        begun = {key: trace for key, trace in self.traces.items() if len(trace)}
        kernels = max(len(trace.best.weights) for trace in begun.values())
        slots = slots or KernelSlots(kernels)
        slots.update([trace.best.weights for trace in begun.values()], exact=self.ended)
        reference = Reference.of(begun.values())
        styles = {key: page_style(style, index) for index, (key, style) in enumerate(run_styles(begun, LIGHT).items())}
        most = max(min(MOST_STEPS, in_all // len(begun)), FEWEST)
        runs = [
            styled(key, styles[key]) | run_data(trace, self.solvers.get(key), most, slots.slots, reference, rounded)
            for key, trace in begun.items()
        ]
        shown = WEIGHT_COLUMNS[: len(slots.slots)]
        tops = {run["table"]: max(weight or 0.0 for column in shown for weight in run[column]) for run in runs}
        enlarged = enlargements(tops)
        objectives = [[math.nan if value is None else value for value in run["objective"]] for run in runs]
        signed = any(value <= 0.0 for column in objectives for value in column)
        names = kernel_names(begun, slots.slots)
        return {
            "noun": self.noun,
            "ended": self.ended,
            "boundless": not reference,
            "squashed": bool(reference) and not signed and squashed(objectives),
            "parts": PARTS,
            "left_out": thinned(begun, most),
            "kernels": names,
            "weights_title": weights_title(self.noun, len(names), kernels),
            "runs": [run | {"top": [tops[run["table"]]], "enlarged": enlarged[run["table"]]} for run in runs],
            STOP: {"y": [self.gap]},
            **page_charts(styles, self.gap, signed, "" if reference else NO_BOUND),
        }


def recorded(shown: Race | Trace | Mapping[str, Trace] | Iterable[Trace]) -> Recorded:
    """Return the runs to show, or raise `MklvizError` if there are none or they belong to several problems."""
    if isinstance(shown, Race):
        traces, solvers = shown.traces, {key: run.solver for key, run in shown.runs.items()}
    else:
        traces = _by_key(shown)
        solvers = {key: solver for key, trace in traces.items() if (solver := solver_of(trace)) is not None}
    if not any(len(trace) for trace in traces.values()):
        raise MklvizError("There is nothing to show: none of the runs has a step yet. Start them first.")
    if wrong := difference(traces.values()):
        raise MklvizError(wrong)
    recipe = recipe_of(next(iter(traces.values())))
    if recipe is None:
        noun = shown.problem.noun if isinstance(shown, Race) else "kernel"
        return Recorded(traces, solvers, noun)
    noun = "parameter" if recipe.kernels.combination == "polynomial" else "kernel"
    return Recorded(traces, solvers, noun, recipe.goal, "" if recipe.data.own else recipe.data.source)


def _by_key(shown: Trace | Mapping[str, Trace] | Iterable[Trace]) -> dict[str, Trace]:
    if isinstance(shown, Trace):
        return {shown.solver: shown}
    if isinstance(shown, Mapping):
        traces = dict(shown)
    elif isinstance(shown, Iterable):
        traces = {}
        for trace in shown:
            name = getattr(trace, "solver", "")
            key = name if name not in traces else f"{name} {sum(k.split(' ')[0] == name for k in traces) + 1}"
            traces[key] = trace
    else:
        traces = {"": shown}
    for trace in traces.values():
        if not isinstance(trace, Trace):
            raise MklvizError(f"A race or its traces are shown, such as race.traces, but {trace!r:.80} was given.")
    return traces


def kernel_names(traces: Mapping[str, Trace], slots: Iterable[int]) -> list[str]:
    """Return the names of some kernels of runs on one bank."""
    names = next(iter(traces.values())).kernel_names
    return [names[k] if k < len(names) else f"kernel {k + 1}" for k in slots]


def thinned(traces: Mapping[str, Trace], most: int) -> str:
    """Say how many steps are left out of the longest run, where any are."""
    longest = max(traces.values(), key=len)
    steps = len(kept_steps(len(longest), most))
    return f"Of {len(longest):,} steps of {longest.label} this page keeps {steps:,}." if steps < len(longest) else ""


def styled(key: str, style: RunStyle) -> dict[str, Any]:
    """Return the key of a run and how it is drawn."""
    marker = MARKERS.get(style.marker, MARKERS["circle"])
    drawn = {"key": key, "table": run_table(key), "label": style.label, "colour": style.colour}
    return drawn | {"dash": DASHES[style.dash], "marker": marker}


def run_data(
    trace: Trace, solver: Solver | None, most: int, kernels: list[int], reference: Reference, numbers: Numbers
) -> dict[str, Any]:
    """Return the columns of one run at the steps that are kept, as `numbers` writes them, and how it ended."""
    status, length = trace.status, len(trace)  # in this order: a final status makes the trace final
    steps = kept_steps(length, most)
    bests = [trace[trace.best_index_at(t)] for t in steps]
    motions = [trace.motion_at(t) for t in steps]
    lines, weights = line_columns(trace, steps, reference), weight_columns(trace, steps, kernels)
    return {
        "status": {"word": STATUS_WORDS.get(status, status), "sign": SIGNS.get(status, ""), "name": status}
        | {"meaning": MEANINGS.get(status, ""), "reason": trace.reason},
        "verdict": trace.motion.verdict or "",
        "milestones": [str(milestone or "–") for milestone in milestones(trace, reference)],
        **{column: numbers(lines[column], digits) for column, digits in DIGITS.items()},
        **{column: numbers(weights[column], 3) for column in WEIGHT_COLUMNS[: len(kernels)]},
        "least": numbers((best.objective for best in bests), 7),
        "kept": numbers((best.active for best in bests), 15),
        "moved": numbers((motion.moved for motion in motions), 3),
        "vain": numbers((motion.share_in_vain for motion in motions), 2),
        "narration": [] if solver is None else [narrated(solver, trace, t) for t in steps],
    }


def kept_steps(length: int, most: int) -> list[int]:
    """Return the steps that are kept, the last one always among them."""
    thinning = Thinning()
    while len(thinning.select(0, length, -1)) > most:
        thinning.stride += 1
    steps = thinning.select(0, length, -1)
    return steps if steps[-1] == length - 1 else [*steps, length - 1]


def rounded(values: Iterable[float], digits: int) -> list[float | None]:
    """Return numbers with so many digits, None for what cannot be drawn; whole ones without a point."""
    return [_short(float(f"{value:.{digits}g}")) if abs(value) <= LARGEST_DRAWN else None for value in values]


def _short(value: float) -> float:
    return int(value) if value.is_integer() else value
