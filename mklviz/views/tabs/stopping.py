"""STOPPING: any stop rule on ended runs: the step where it would have fired, and the result they would have
returned."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from itertools import chain
from typing import Any

from mklviz.analysis.stopping import DIGITS, RULES, Judgement, Rule, judge, threshold_text
from mklviz.engine import Replay, Returned
from mklviz.engine.task import Task
from mklviz.numbers import number_text, score_text
from mklviz.record import FINAL, Trace
from mklviz.views.form import Form, FormRow, Select, Slider
from mklviz.views.look import cards
from mklviz.views.look.palette import RunStyle, Theme, run_name
from mklviz.views.look.styles import row_html, run_styles, table_html
from mklviz.views.model.lab_charts import bar_table, bars_chart, curve_tables, curves_chart, lab_figure
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say
from mklviz.views.tabs import FigureTab
from mklviz.views.tabs._previews import curves_preview

ROUNDING = 1e-9  # of the objective; a smaller distance may be rounding
SHOWN = "The race shown"
_ABOUT = (
    "A rule decides when a run stops, and sees less than is known afterwards. Choose one and move its threshold: each"
    " run is replayed, and judged by the best bounds that all of them had found by their ends."
)
_CURVES = (
    (
        "What the rule looks at",
        "Dashed across: the threshold. A mark stands where the rule fires, on the solver's own curve.",
    ),
    (
        "Distance above the optimum",
        "Strong: the best iterate so far. Faint: the last one. The mark shows the last step at that point.",
    ),
)
_BARS = "Bar: the best iterate when the rule fires. Ring: the last one. Grey: the best solution that is known."


class Stopping(FigureTab):
    """Stop rules on recordings: `race`, `rule` and `threshold` say what is replayed, `judgement` what comes of it."""

    title, order = "Stopping", 14
    preview = staticmethod(curves_preview)

    def __init__(self) -> None:
        super().__init__()
        self._theme: Theme | None = None
        self._styles: dict[str, RunStyle] = {}
        self._offered: dict[str, dict[str, Trace]] = {}
        self.task = Task[Judgement]()
        self._drawn: tuple[Any, ...] = ()
        self.judgement: Judgement | None = None
        self.race = Select(label="Race", options={}, value="", width=300)
        self.rule = Select(label="Rule", options={rule.title: rule for rule in RULES}, value=RULES[0], width=360)
        self.threshold = Slider(label="Threshold", end=len(DIGITS) - 1)
        self.run = Select(label="Weights of", options={}, value="", width=300)
        self._why, self._progress = note(), note()
        self._headings = cards.html(), cards.html()
        self.table = cards.html()
        self._grid = cards.grid(columns="auto-fit, minmax(min(400px, 100%), 1fr)")
        self.rule.param.watch(lambda _event: self._turn_to_rule(), "value")
        about = cards.html(cards.heading("When would it have stopped?", _ABOUT))
        race = FormRow(self.race, self.rule, wrap=True)
        form = Form(race, self._why, FormRow(self.threshold), self._progress, margin=(8, 0, 0, 0))
        self.root = cards.column(cards.card(about, form), self._grid, cards.card(self.table), self.frames.heartbeat)
        self._turn_to_rule()

    @classmethod
    def supports(cls, session: Session) -> str:
        """Runs that have ended are needed."""
        if _ended(session.traces) or session.race_history.races:
            return ""
        if session.last_step < 0:
            return "Press Run first: this tab replays stop rules on runs that have ended."
        return "Stop rules are replayed on runs that have ended: let one end, or press Stop."

    def _turn_to_rule(self) -> None:
        rule: Rule = self.rule.value
        names = [threshold_text(rule, value) for value in DIGITS]
        usual = min(range(len(DIGITS)), key=lambda k: abs(DIGITS[k] - rule.usual))
        self.threshold.param.update(names=names, value=usual)
        say(self._why, rule.why)

    # -- what is shown

    def follow(self, session: Session) -> None:
        self._session = session
        if session.theme is not self._theme:
            self._theme, self._drawn = session.theme, ()
            self._build(session.theme)
        self._offer(session)

    def _build(self, theme: Theme) -> None:
        self.seen = lab_figure(curves_chart("stop-seen", "iteration", theme), theme)
        self.truth = lab_figure(curves_chart("stop-truth", "iteration", theme), theme)
        self.bars = lab_figure(bars_chart("stop-weights", theme), theme)
        figures = zip(self._headings, (self.seen, self.truth), strict=True)
        boxes = [cards.card(heading, cards.figure(part.plot)) for heading, part in figures]
        heading = cards.html(cards.heading("Weights that would have been returned", _BARS))
        self._grid.objects = [*boxes, cards.card(heading, cards.figure(self.bars.plot), Form(FormRow(self.run)))]

    def _offer(self, session: Session) -> None:
        """Offer the ended runs of the race shown, and the kept races."""
        shown = _ended(session.traces)
        earlier = {race.name: _ended(race.traces) for race in session.race_history.races}
        first = next(iter(shown.values()), None)
        others = {name: traces for name, traces in earlier.items() if traces and first not in traces.values()}
        offered = {**({SHOWN: shown} if shown else {}), **others}
        if offered != self._offered:
            self._offered = offered
            self.race.offer({name: name for name in offered})

    def tick(self, now: float) -> None:
        """Show finished replays, and replay the current choice."""
        session = self._session
        if not self.shown:
            return
        self._offer(session)
        traces = self._offered.get(self.race.value, {})
        if not traces or not self.sync.ready([self.seen.plot, self.truth.plot, self.bars.plot]):
            return
        key = (*map(id, traces.values()), self.rule.value, self.threshold.value)
        score = session.score if self.race.value == SHOWN else None
        judged = partial(judge, traces, self.rule.value.make(DIGITS[self.threshold.value]), score, self.judgement)
        self.task.ask(key, lambda _report: judged(), "The replay could not be computed", "Replaying …")
        self.judgement = self.task.take() or self.judgement
        say(self._progress, "" if self.task.working and self._drawn else self.task.status)
        if self.judgement is not None and not self.task.working:
            self._draw(self.judgement, session)

    def _draw(self, judgement: Judgement, session: Session) -> None:
        drawn = (judgement, self.run.value)
        if drawn == self._drawn:
            return
        if set(self.run.options.values()) != set(judgement.traces) or self._drawn[:1] != (judgement,):
            self._styles = run_styles(judgement.traces, session.theme)
            self.run.offer({style.label: key for key, style in self._styles.items()})
            for heading, (title, why) in zip(self._headings, _CURVES, strict=True):
                heading.object = cards.heading(title, why, beside=cards.legend(self._styles.values()))
        self._drawn = (judgement, self.run.value)
        with self.frames.in_order():
            self.seen.show(curve_tables(judgement.seen(), self._styles, DIGITS[self.threshold.value]))
            self.truth.show(curve_tables(judgement.truth(), self._styles))
            self.bars.show(bar_table(judgement.bars(self.run.value), self._styles[self.run.value].colour))
        self.table.object = cards.title("What it would have returned") + self._table(judgement, session)

    def _table(self, judgement: Judgement, session: Session) -> str:
        score = ""
        if self.race.value == SHOWN and session.prepared is not None:
            score = "Test R²" if session.fits_numbers else "Test accuracy"
        table = replay_table(judgement, self._styles, score)
        unscored = "" if score else '<p class="why">Only the race shown has held-out samples.</p>'
        proved = judgement.reference
        unproved = "" if proved else '<p class="why">No run has a lower bound: the optimum may lie lower.</p>'
        return table + unscored + unproved

    def close(self) -> None:
        self.task.forget()


def _ended(traces: Mapping[str, Trace]) -> dict[str, Trace]:
    return {key: trace for key, trace in traces.items() if trace.status in FINAL and len(trace)}


_HEADS = (
    ("Above optimum", "How far its objective lies above the optimum, by the best bounds of all runs at their ends"),
    ("Kernels", "Kernels in use"),
    ("Misplaced", "Share of the weight that is on other kernels than in the best solution known"),
)


def replay_table(judgement: Judgement, styles: Mapping[str, RunStyle], score_name: str) -> str:
    """Return where each run would have stopped, as HTML."""
    heads = [*_HEADS, (score_name, "On samples that were held out")] if score_name else list(_HEADS)
    columns = [("Solver", ""), ("Stops", ""), ("SVM solves", ""), ("CPU seconds", ""), *heads, *heads]
    groups = "".join(
        f'<th scope="colgroup" colspan="{len(heads)}">{what}</th>' for what in ("Last iterate", "Best iterate so far")
    )
    rows = (
        _row(replay, judgement.traces[key], styles[key], score_name, key in judgement.silent)
        for key, replay in judgement.replays.items()
    )
    above = f'<tr><td colspan="4"></td>{groups}</tr>'
    return table_html("Where each run would have stopped", columns, rows, f"results replays of-{len(heads)}", above)


def _row(replay: Replay, trace: Trace, style: RunStyle, score_name: str, silent: bool) -> str:
    """Return the row of a run; a `silent` one does not report what the rule looks at."""
    first, end = trace.first_step, trace.last_step
    if silent:
        when = "not reported"
    elif replay.verdict is None:
        when = f"never, in {end - first:,} steps"
    else:
        when = f"at step {first + replay.step:,} of {end:,}"
    step = replay.last.step
    spent = f"{trace[step].svm_solves:,}", f"{trace.seconds_at(step):.2f} s"
    results = (_cells(returned, score_name) for returned in (replay.last, replay.best))
    return row_html(run_name(style), (when, *spent, *chain.from_iterable(results)))


def _cells(returned: Returned, score_name: str) -> list[str]:
    cells = [above_words(returned), f"{returned.iterate.active:,}", number_text(100 * returned.misplaced, ".0f", " %")]
    if score_name:
        cells.append(score_text(returned.score, score_name))
    return cells


def above_words(returned: Returned) -> str:
    """Return how far the returned iterate lies above the optimum: "1.2 %", or "0.4–1.2 %" where no more is known."""
    least, most = _short(returned.at_least), _short(returned.at_most)
    if not most:
        return f"≥ {least} %" if least else "–"
    return f"{most} %" if least == most else f"{least}–{most} %"


def _short(share: float) -> str:
    if not math.isfinite(share):
        return ""
    value = 100 * share if share > ROUNDING else 0.0
    return number_text(value, ".2g" if value < 99.5 else ",.0f")
