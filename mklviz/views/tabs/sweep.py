"""SWEEP: the same recipe over many data sets, splits, solvers and numbers, solved run by run, and what came of it."""

from __future__ import annotations

import asyncio
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from mklviz.engine.task import ProgressReport, Task
from mklviz.errors import MklvizError
from mklviz.limits import LIMITS, usable_cores
from mklviz.recipe import Recipe
from mklviz.record.store import Store
from mklviz.sweeps import Sweep, SweepRun, SweepTable
from mklviz.views.form import Alert, Button, Form, FormRow, ProgressBar, Reasons, Select
from mklviz.views.host.panel_setup import with_page_locked
from mklviz.views.look import cards
from mklviz.views.model.model_card import ONE_SECTION
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say
from mklviz.views.sweeps.sweep_results import ResultsView, SweepResults, race_of, results_of
from mklviz.views.sweeps.sweep_setup import RUNNING_SWEEPS, SweepForm, SweepPlan, failures, plan_of, progress_line
from mklviz.views.tabs import FigureTab

LOOK = 0.5  # seconds between two looks at a sweep under way
LIVE = 4.0  # seconds between two drawings of its results
MEASURES = {
    **{"Time": None, "SVM solves": "svm_solves", "Mean-kernel fits": "fits", "Steps": "steps", "Moves": "moved"},
    **{"Test score": "score", "Objective": "objective", "Kernels kept": "kernels"},
}
ALL = "the best of all"
_ABOUT = (
    "Every combination is one run, and in the line of words any part of a recipe may have a list, as"
    " train=0.2,0.4,0.8. What has finished is kept and never solved twice: after Stop, Start goes on where it stood."
)
_NONE = "Nothing of this sweep has finished yet: means, profiles and differences appear here as its runs end."
_RUNS = "Every run stands in the tab Runs as well, under made:sweep."
_OPEN = "Show what every solver did on this problem; so does a click on a dot of the spread over splits"


class SweepTab(FigureTab):
    """What is swept, how far that is, and what came of it."""

    title, order = "Sweep", 16
    running = RUNNING_SWEEPS

    def __init__(self) -> None:
        super().__init__()
        self._table: SweepTable | None = None
        self._followed = False  # whether it has a session yet
        self._looked_at = self._drawn_at = 0.0
        self._choice: tuple[Any, ...] = ()  # of what is compared
        self.plan: SweepPlan | None = None
        self.planning, self.starting = Task[SweepPlan](), Task[SweepRun]()
        self.comparing, self.saving = Task[SweepResults](ONE_SECTION), Task[tuple[str, bytes]]()
        self.form, self.results = SweepForm(), ResultsView(self._pick)
        most = max(1, min(usable_cores(), LIMITS.sweep_workers))
        counts = {f"{count}": count for count in range(1, most + 1)}
        self.workers = Select(label="Processes", options=counts, value=max(1, most - 1), width=150)
        self.start = Button(self._start, label="Start", variant="contained", width=90)
        self.pause = Button(self._pause, label="Pause", visible=False, width=90)
        self.stop = Button(self._stop, label="Stop", variant="text", visible=False, width=80)
        self.take = Button(
            self._load, label="Use the current set-up", variant="text", description="Its recipe, with 5 splits"
        )
        self.trouble, self.failed = Alert(visible=False, closeable=True), Reasons(visible=False)
        self.status, self.bar = note(spoken=True), ProgressBar(label="Progress of the sweep", visible=False)
        self.measure = Select(label="Measure", options=MEASURES, value=None, width=240)
        self.against = Select(label="Compared with", options={ALL: ""}, value="", width=260)
        self.files = [Button(partial(self._save, end), label=label, width=90) for label, end in _FILES]
        self.race = Select(label="Race", options={}, value=None, width=240)
        self.open = Button(self.show_race, label="Open in all tabs", width=150, description=_OPEN)
        self._words, self._progress = cards.html(), note()
        compared = FormRow(self.measure, self.against, *self.files, self.race, self.open, wrap=True)
        self._downloads = Form(compared, self._progress)
        self._came = cards.card(cards.html(cards.title("What came of it")), self._words, self._downloads)
        self.form.param.watch(self._plan, "sweep")
        about = cards.html(cards.heading("Sweep", _ABOUT))
        buttons = FormRow(self.workers, self.start, self.pause, self.stop, self.take, wrap=True)
        parts = (self.form.body, buttons, self.trouble, self.status, self.bar, self.failed)
        head = cards.card(about, Form(*parts, margin=(8, 0, 0, 0)))
        self.root = cards.column(head, self._came, self.results, self.frames.heartbeat)

    @classmethod
    def supports(cls, session: Session) -> str:
        """A dashboard of one's own is needed."""
        if session.follows:
            return "This page follows another page's race. Sweeps are made on a dashboard of your own."
        return ""

    def follow(self, session: Session) -> None:
        """Take over the colours, and at first the recipe."""
        self._session = session
        if not self._followed and self.run is None:
            self._load()
        self._followed = True

    @property
    def run(self) -> SweepRun | None:
        """The sweep under way, or the last."""
        return self._session.sweep

    def _load(self, *_: Any) -> None:
        """Sweep over splits of the recipe of the controls, or else of the race."""
        session = self._session
        recipe = session.chosen() if session.chosen is not None else None
        try:
            self.form.load(recipe or session.recipe or Recipe())
        except MklvizError as error:
            say(self.trouble, str(error))

    @property
    def under_way(self) -> bool:
        """Whether a sweep is being solved, or held."""
        return self.starting.working or (self.run is not None and self.run.status in ("running", "paused"))

    # -- before it begins

    def _plan(self, *_: Any) -> None:
        """Look up what is known of another sweep."""
        self.plan = self._table = self._session.sweep = None
        say(self.trouble, "")
        say(self.status, "")
        self.failed.visible = self.bar.visible = False
        sweep: Sweep | None = self.form.sweep
        self._offer()
        if sweep is None:
            self.planning.forget()
            return
        store, failed = self._session.store, "The sweep could not be planned"
        self.planning.ask(sweep, lambda _report: plan_of(sweep, store), failed, "Counting the runs.")

    def _start(self, *_: Any) -> None:
        sweep: Sweep | None = self.form.sweep
        if sweep is None or self.plan is None or self.under_way:
            return
        say(self.trouble, "")
        begun = partial(self._begun, sweep, self.workers.value, self._session.store)
        self.starting.ask(object(), begun, "The sweep could not be started", "Starting.")
        self._offer()

    def _begun(self, sweep: Sweep, workers: int, store: Store, report: ProgressReport) -> SweepRun:
        """Start a sweep, unless this server is solving another, or it was cancelled."""
        run = SweepRun(sweep, store, workers=workers)
        report(1.0)
        self.running.begin(run)
        return run

    def _pause(self, *_: Any) -> None:
        if self.run is None:
            return
        say(self.trouble, "")
        try:
            if self.run.status == "paused":
                self.running.begin(self.run)
            else:
                self.run.pause()
            self._look(self.run)
        except MklvizError as error:
            say(self.trouble, str(error))

    def _stop(self, *_: Any) -> None:
        self.starting.cancel()
        if self.run is not None:
            self.run.cancel()

    def _offer(self) -> None:
        """Bring buttons and fields in line with what can be done now."""
        under_way, paused = self.under_way, self.run is not None and self.run.status == "paused"
        self.form.body.locked = under_way
        self.start.param.update(visible=not under_way, disabled=self.form.sweep is None or self.plan is None)
        self.take.visible = not under_way
        self.pause.param.update(visible=under_way and self.run is not None, label="Resume" if paused else "Pause")
        self.stop.visible = under_way

    # -- while it goes on

    def tick(self, now: float) -> None:
        """Show how far the sweep is, and what has come of it so far."""
        if self.run is not None and self.run.sweep is not self.form.sweep:  # of before the page was reloaded
            run = self.run
            self.form.show(run.sweep)
            self._session.sweep = run
        if self.planning.ended:
            self.plan = self.planning.take()
            say(self.trouble, self.planning.fault)
            if self.plan is not None:
                self._take_table(self.plan.table)
            self._offer()
        if self.starting.ended:
            self._session.sweep = self.starting.take()
            say(self.trouble, self.starting.fault)
            self._offer()
        if self.plan is not None and self.run is None and not self.under_way:
            say(self.status, self.plan.text(self.workers.value))
        if self.run is not None and now - self._looked_at >= LOOK:
            self._looked_at = now
            self._look(self.run)
        if self.saving.ended:
            file = self.saving.take()
            if file is None:
                say(self.trouble, self.saving.fault)
            else:
                self._downloads.hand_over(*file)
        if self.shown:
            self._compare(now)

    def _look(self, run: SweepRun) -> None:
        """Say how far it is; its table is taken now and then, and when it has ended."""
        status, progress = run.status, run.progress
        ended = progress.done + progress.failed
        say(self.status, progress_line(progress, status))
        self.bar.param.update(visible=self.under_way, value=int(100 * ended / max(progress.total, 1)))
        if run.error is not None:
            known = isinstance(run.error, MklvizError)
            say(self.trouble, str(run.error) if known else "The sweep broke down; the server's log says more.")
        elif run.not_kept:
            say(self.trouble, run.not_kept)
        if self._table is None or len(self._table) != ended:
            self._take_table(run.table())
        self._offer()

    def _take_table(self, table: SweepTable) -> None:
        reasons = failures(table)
        self._table = table
        self.failed.param.update(visible=bool(reasons), summary=f"{len(reasons):,} failed", items=reasons)

    # -- what came of it

    def _compare(self, now: float) -> None:
        """Draw the results of what has finished, now and then while it goes on."""
        session, table = self._session, self._table
        if table is None:
            self._show(SweepResults(""))
            return
        if not len(table):
            self._show(SweepResults(_NONE))
            return
        choice = (self.form.sweep, self.measure.value, self.against.value, session.theme)
        due = not self.under_way or now - self._drawn_at >= LIVE
        if choice != self._choice or (due and not self.comparing.working):
            self._choice = choice
            drawn = partial(results_of, table, self.measure.value, self.against.value, session.theme)
            self.comparing.ask((*choice, len(table)), drawn, "The results could not be compared", "Comparing the runs.")
        if self.comparing.ended:
            self._drawn_at = now
            results = self.comparing.take()
            self._show(results or SweepResults(self.comparing.fault))
        say(self._progress, self.comparing.status if self.comparing.working and not self.under_way else "")

    def _show(self, results: SweepResults) -> None:
        compared = bool(results.sections)
        self._came.visible = bool(results.words)
        text = f"{results.words} {_RUNS}" if compared else results.words
        self._words.object = cards.lines(text)
        for part in (self.against, *self.files, self.race, self.open):
            part.visible = compared
        self.measure.visible = results.words != _NONE
        if results is not self.results.results:
            self.results.show(results)
        if compared:
            self.against.offer({ALL: "", **dict(zip(results.labels, results.solvers, strict=True))})
            self.race.offer(results.races)

    def _pick(self, case: int) -> None:
        """Open the race of a run that was clicked."""
        self.race.value = list(self.results.results.races.values())[case]
        self.open.clicks += 1

    async def show_race(self, *_: Any) -> None:
        """Show the race chosen in all tabs."""
        session, table, opens = self._session, self._table, self._session.on_open
        if opens is None or table is None:
            return
        try:
            traces, stored = await asyncio.to_thread(race_of, table, self.race.value, session.store)
        except MklvizError as error:
            with_page_locked(partial(say, self.trouble, str(error)))
            return
        with_page_locked(lambda: say(self.trouble, opens(traces, stored)))

    def _save(self, ending: str, _event: Any) -> None:
        table = self._table
        if table is not None:
            self.saving.ask(object(), lambda _report: _file(table, ending), "The file could not be made")

    def close(self) -> None:
        """End the sweep; what has finished is kept."""
        self._stop()
        for task in (self.planning, self.starting, self.comparing, self.saving):
            task.forget()


_FILES = (("CSV", ".csv"), ("Parquet", ".parquet"))


def _file(table: SweepTable, ending: str) -> tuple[str, bytes]:
    with tempfile.TemporaryDirectory(prefix="mklviz-") as folder:
        path = Path(folder) / f"mklviz-sweep{ending}"
        table.save(path)
        return path.name, path.read_bytes()
