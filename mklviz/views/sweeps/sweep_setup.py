"""What is swept, as fields and as a line of words; and what it will take: members known already, time of the others."""

from __future__ import annotations

import json
import math
import shlex
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import Any

import param

from mklviz.datasets import DataError
from mklviz.errors import MklvizError
from mklviz.limits import LIMITS
from mklviz.numbers import counted, duration_text, number_text
from mklviz.recipe import Recipe
from mklviz.recipe.parsing import show_number
from mklviz.recipe.words import WORDS, split_words
from mklviz.record.store import Store
from mklviz.sweeps import Member, Sweep, SweepProgress, SweepRun, SweepTable
from mklviz.sweeps.definition import KEYS, Own
from mklviz.sweeps.intervals import Difference, Spread
from mklviz.sweeps.outcomes import Measure, Outcomes
from mklviz.sweeps.running import progress_text
from mklviz.views.form import Code, FormRow, Group, TextBox
from mklviz.views.look.palette import RunStyle, run_name
from mklviz.views.look.styles import MILESTONES, row_html, table_html

SPLITS = "0...4"  # at first
_FIELDS = (
    ("data", "Data sets", "Names with commas between them, such as sonar,heart"),
    ("split", "Splits", "Seeds of the splits, one after the other or as a range: 0...19"),
    ("solvers", "Solvers", "Names, and alternatives of an option in braces: level:lam={0.3,0.5}"),
    ("C", "C", "Numbers with commas between them: 1,10,100"),
)


class SweepForm(param.Parameterized):
    """The fields, the line of words and the command of a `sweep`, which is None where the words cannot be read."""

    sweep = param.Parameter(default=None)

    def __init__(self) -> None:
        super().__init__()
        self.fields = {key: TextBox(label=label, description=why) for key, label, why in _FIELDS}
        self.words, self.command = TextBox(label="Sweep"), Code(label="Command line", visible=False)
        self._own: Own = ()  # whose files the words name, though none is opened here
        self._showing = False
        for key, field in self.fields.items():
            field.param.watch(partial(self._edit, key), "value")
        self.words.param.watch(lambda event: self._take(event.new), "value")
        one, two, three, four = self.fields.values()
        self.body = Group(FormRow(one, two, wrap=True), FormRow(three, four, wrap=True), self.words, self.command)

    def load(self, recipe: Recipe) -> None:
        """Sweep over some splits of what the recipe says."""
        self.show(Sweep(recipe, {"split": SPLITS}))

    def show(self, sweep: Sweep) -> None:
        self._own = tuple(dict(sweep.own).items())
        self._show(sweep)

    def _edit(self, key: str, event: Any) -> None:
        if self._showing:
            return
        texts, _ = split_words(self.words.value, KEYS, "A sweep")
        texts = {name: text for name, text in texts.items() if name != key and (name, key) != ("seed", "split")}
        if event.new.strip():
            texts[key] = event.new.strip()
        self._take("; ".join(f"{name}={text}" for name, text in texts.items()))

    def _take(self, words: str) -> None:
        """Read the sweep that words describe, and show it, or what is wrong with them."""
        if self._showing:
            return
        try:
            sweep = Sweep.from_words(words, self._own)
        except (MklvizError, DataError) as error:
            self._write(words, str(error))
            self.sweep = None
            return
        self._show(sweep)

    def _write(self, words: str, wrong: str) -> None:
        self._showing = True
        self.words.param.update(value=words, helper_text=wrong)
        self.command.visible = not wrong
        self._showing = False

    def _show(self, sweep: Sweep) -> None:
        """Show a sweep in all its fields."""
        words = sweep.to_words()
        self._write(words, "")
        self._showing = True
        texts, _ = split_words(words, KEYS, "A sweep")
        usual = {
            "split": str(sweep.recipe.split.seed),
            "solvers": WORDS["solvers"].write(sweep.recipe),
            "C": show_number(sweep.recipe.problem.loss.C),
        }
        for key, field in self.fields.items():
            field.value = (texts.get(key) or usual.get(key, "")).replace(" ", ", " if key == "solvers" else " ")
        quoted = words.replace("\\", "\\\\").replace('"', '\\"')
        kept = shlex.quote(words) if set(words) & set("$`!") else f'"{quoted}"'  # the second in every system's shell
        self.command.object = f"mklviz sweep {kept}"
        self._showing = False
        self.sweep = sweep


# -- what a sweep will take before it begins


RECENT = 200  # runs of a solver that an estimate looks at


@dataclass(frozen=True)
class SweepPlan:
    """What is known of a sweep that has not begun."""

    total: int  # members
    table: SweepTable  # of those that have ended before
    seconds: float  # of CPU time of the others, by earlier runs like them, nan where there are none for a part

    def text(self, workers: int) -> str:
        """Return the plan as a sentence, with the time that so many processes need."""
        before = len(self.table)
        if before == self.total:
            return f"All {counted(self.total, 'run')} of this sweep have finished before: there is nothing to solve."
        skipped = f", of which {before:,} have finished before and are skipped" if before else ""
        where = "in one process" if workers == 1 else f"in {workers:,} processes"
        if math.isnan(self.seconds):
            return f"{counted(self.total, 'run')}{skipped}. How long they take is seen when the first have ended."
        lasts = duration_text(self.seconds / workers)
        return f"{counted(self.total, 'run')}{skipped}. About {lasts} {where}, by earlier runs like these."


def plan_of(sweep: Sweep, store: Store) -> SweepPlan:
    """Look up what a store knows of a sweep; refuse one with more members than a dashboard solves."""
    if len(sweep) > LIMITS.sweep_members:
        raise MklvizError(
            f"A dashboard solves at most {LIMITS.sweep_members:,} runs in a sweep, and these lists make {len(sweep):,}:"
            " shorten a list, or run it by mklviz sweep on the command line."
        )
    members = sweep.members
    table = SweepTable.of(store, sweep)
    left = [member for member in members if member.key not in table.outcomes]
    return SweepPlan(len(members), table, _seconds(left, store))


def _seconds(left: Sequence[Member], store: Store) -> float:
    """Return the CPU time of members by that of runs of their solvers on the same kernels, and data where there are."""
    known: dict[tuple[str, ...], list[float]] = {}
    for solver in {member.recipe.solvers[0].name for member in left}:
        for run in store.runs(f"solver:{solver}", limit=RECENT):
            if run.steps and run.recipe:
                data, kernels = _parts(run.recipe)
                known.setdefault((solver, kernels, data), []).append(run.seconds)
                known.setdefault((solver, kernels), []).append(run.seconds)
    seconds = 0.0
    for member in left:
        data, kernels = _parts(member.recipe.to_json())
        alike = (member.recipe.solvers[0].name, kernels)
        spent = known.get((*alike, data)) or known.get(alike, [math.nan])
        seconds += sum(spent) / len(spent)
    return seconds


def _parts(recipe: str) -> tuple[str, str]:
    """Return the data and the kernels of a recipe in JSON, in texts that can be compared."""
    parts = json.loads(recipe)
    return json.dumps(parts.get("data"), sort_keys=True), json.dumps(parts.get("kernels"), sort_keys=True)


# One sweep at a time on a server: each takes all the processes that there are to have.


class RunningSweeps:
    """The sweep that pages of this process have begun."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._run: SweepRun | None = None

    def begin(self, run: SweepRun) -> None:
        """Start a sweep, or go on with one that was paused; raise `MklvizError` while another goes on.

        No sweep waits for one that is paused.
        """
        with self._lock:
            if self._run is not None and self._run is not run and self._run.status == "running":
                raise MklvizError(
                    "Another sweep is going on on this server, perhaps on another page: start this one when it has"
                    " ended."
                )
            self._run = run
            (run.resume if run.status == "paused" else run.start)()


RUNNING_SWEEPS = RunningSweeps()


# A sweep in words and tables: how far it is, means and spreads, and solvers two by two.


_RATIO = "How many times the first costs what the second does: the geometric mean over cases that both solved"
_CHANGE = "By how much the first has more than the second: the mean over cases that both solved"
_INTERVAL = "Drawn again 2,000 times from the splits of each data set; of fewer than five there is none"
_LESS = "Cases in which the first has less, of those that both solved"
_ONLY = "Cases that one of the two solved and the other did not, or neither: they are in no mean"


def progress_line(progress: SweepProgress, status: str) -> str:
    """Say how far a sweep is, or how it ended, in one sentence."""
    ended = status in ("finished", "failed", "stopped")
    if ended or status == "paused":  # nothing goes on
        progress = replace(progress, seconds_left=0.0, running=0 if ended else progress.running)
    total, words = progress.total, progress_text(progress, "held" if status == "paused" else "running")
    if status == "finished" and progress.skipped == total:
        return f"All {counted(total, 'run')} had finished before: nothing was left to solve."
    first = {"finished": "Finished: ", "failed": "Broken off: ", "stopped": "Stopped: ", "paused": "Paused: "}
    left = ended and progress.done + progress.failed < total
    return f"{first.get(status, '')}{words}.{' Start goes on with the rest.' if left else ''}"


def failures(table: SweepTable) -> list[str]:
    """Return a sentence for each member that failed."""
    members = (member for member in table.sweep.members if member.key in table.outcomes)
    failed = [(member, table.outcomes[member.key]) for member in members if table.outcomes[member.key].failed]
    return [f"{member.solver} on {member.data}, split {member.split}: {outcome.reason}" for member, outcome in failed]


def runs_sentence(outcomes: Outcomes) -> str:
    """Say how many runs are compared, which of them did not converge, and what was left out."""
    runs, solved = int(outcomes.known.sum()), int((outcomes.known & outcomes.solved).sum())
    parts = [f"{counted(runs, 'run')} of {counted(len(outcomes.cases), 'case')}, {solved:,} converged."]
    if runs > solved:
        parts.append("What did not converge is counted, drawn hollow, and in no mean.")
    if outcomes.failed:
        parts.append(f"{outcomes.failed:,} of these failed and have no result.")
    if outcomes.machines > 1:
        parts.append(
            f"The runs come from {outcomes.machines} machines. Compare SVM solves or mean-kernel fits"
            " (seconds in units of one SVM fit on the same machine); seconds differ by machine."
        )
    if outcomes.uncounted:
        parts.append(f"Without {outcomes.measure.label}, and so left out: {', '.join(outcomes.uncounted)}.")
    return " ".join(parts)


def spread_table(drawn: Sequence[Spread], styles: Mapping[str, RunStyle], measure: Measure) -> str:
    """Return as HTML the means, with standard deviations, of each solver for each data set and setting."""
    cells = {(each.title, each.solver): each for each in drawn}
    heads = [("Data", ""), *((run_name(style), "") for style in styles.values())]
    rows = (
        row_html(escape(title), (_mean_text(cells.get((title, solver)), measure) for solver in styles))
        for title in dict.fromkeys(each.title for each in drawn)
    )
    return table_html(f"Means of {measure.label}", heads, rows, MILESTONES)


def _mean_text(spread: Spread | None, measure: Measure) -> str:
    if spread is None:
        return "–"
    mean, deviation = (_written(value, measure) for value in (spread.mean, spread.deviation))
    text = f"{mean} ± {deviation}" if len(spread.values) > 1 else mean
    if spread.missed:
        text += f'<span class="reason">{spread.missed:,} of {spread.runs:,} not converged</span>'
    return text


def _written(value: float, measure: Measure) -> str:
    """Return a value to three digits, a score in per cent."""
    if measure.column == "score":
        return number_text(100.0 * value, ".1f", " %")
    return number_text(value, ".3g" if abs(value) < 1000.0 else ",.0f")


def difference_table(differences: Sequence[Difference], styles: Mapping[str, RunStyle], measure: Measure) -> str:
    """Return as HTML how solvers differ two by two, with intervals."""
    ratio = ("Times the cost", _RATIO) if measure.cost else ("Difference", _CHANGE)
    columns = (
        ("First", "The solver whose cost is above the line of the ratio"),
        ("Second", "The solver that it is compared with"),
        ratio,
        ("95 % interval", _INTERVAL),
        ("First less", _LESS),
        ("Only first, only second, neither", _ONLY),
    )
    rows = (_difference(each, styles, measure) for each in differences)
    return table_html(f"{measure.label}, two by two", columns, rows, MILESTONES)


def _difference(pair: Difference, styles: Mapping[str, RunStyle], measure: Measure) -> str:
    first, second = (run_name(styles[name]) for name in (pair.first, pair.second))
    value, low, high = (_written(end, measure) for end in (pair.value, pair.low, pair.high))
    sign = "× " if measure.cost and math.isfinite(pair.value) else ""
    interval = f"{low} to {high}" if math.isfinite(pair.low) else "–"
    even = 1.0 if measure.cost else 0.0
    decided = math.isfinite(pair.low) and not pair.low <= even <= pair.high
    shown = f"<b>{sign}{value}</b>" if decided else f"{sign}{value}"
    unsolved = f"{pair.first_only:,}, {pair.second_only:,}, {pair.neither:,}"
    return row_html(first, (second, shown, interval, f"{pair.less:,} of {pair.pairs:,}", unsolved))
