"""The dashboard: controls at the left, the race at the right, and the few rules of what may be done when.

A race is prepared in a thread and shown only when it can start, so the curves on the screen stay until others can take
their place. Nothing here waits: the event loop of the page is never blocked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic, thread_time
from typing import Any

import panel as pn
import param

from mklviz.engine.race import ReopenedRace
from mklviz.engine.warmup import WARMUP
from mklviz.errors import MklvizError
from mklviz.kernels.evaluation.specs import NOT_SEMIDEFINITE
from mklviz.recipe import Recipe
from mklviz.record import Trace
from mklviz.scenarios import DEFAULT
from mklviz.views.explorer.before_and_after import PLAYED, YOURS_FOLLOWS, ColdStart, FiguresAhead, Lesson
from mklviz.views.explorer.claim_card import ClaimCard
from mklviz.views.explorer.page import EXPLORE, RUNS, SECTIONS, TICK, Frame, cell_layout, controls_column, status_html
from mklviz.views.explorer.page_recovery import PageRecovery
from mklviz.views.explorer.shell import Shell
from mklviz.views.form import Alert, Form
from mklviz.views.host.page_session import follow_session
from mklviz.views.host.ticks import Ticks, give_way_after
from mklviz.views.lessons.pooled import ClassCard
from mklviz.views.lessons.stage import LessonStage
from mklviz.views.links.link import (
    CLAIM,
    RECIPE,
    Address,
    HideAndLock,
    open_address,
    open_recipe,
    open_words,
    query_value,
)
from mklviz.views.look import cards
from mklviz.views.race.race_text import WORDS_EVERY
from mklviz.views.race.race_view import PAGE_CLOSED
from mklviz.views.race.results import race_sentence
from mklviz.views.session.launcher import Launch, Reopening
from mklviz.views.session.session import shared_recipe
from mklviz.views.sidebar.controls import STATES, RunPanel, say
from mklviz.views.sidebar.sidebar import Sidebar

SOON = 2  # ticks: a preparation that ends by then needs no progress bar
_BUSY = "A race is going on: let it end, press Stop on Explore, or do this on another page."
_NO_RECIPE = "This race was recorded without its data and kernels: only what its steps say can be shown."
_OWN_DATA = "This race was about an uploaded file, which is not stored: open that file under Data on Explore first."
_OLD = {
    **dict.fromkeys(("empty", "finished"), "These curves belong to the old settings. Press Run to update."),
    **dict.fromkeys(("running", "paused"), "These curves belong to the old settings. Press Stop, then Run."),
}
_KEPT = "The server was started again, or had given this page up: this is its race as the store has saved it."


class Explorer(pn.viewable.Viewer):
    """The whole dashboard: a session, the controls beside it, the tabs that show it, and what happens when.

    Examples
    --------
    >>> explorer = mv.Explorer("silp-oscillates")  # as the last line of a cell, it shows itself
    """

    state = param.Selector(default="empty", objects=list(STATES), doc="How far the race is")
    status = param.String(default="", doc="How things stand, in one sentence")

    def __init__(
        self,
        scenario: str = DEFAULT,
        frame: Frame | None = None,
        section: str = EXPLORE,
        shell: Shell | None = None,
        sidebar: Sidebar | None = None,
    ) -> None:
        super().__init__()
        self.frame = frame or Frame()
        self.session, self.header = self.frame.session, self.frame.header
        self.session.on_key = self._press
        self.session.on_open, self.session.on_repeat = self.open_race, self.repeat
        self.shell = shell or Shell(self.session, seen=section == EXPLORE)
        self.race_view = self.shell.race_view()  # the address holds its axes
        self.sidebar = sidebar or Sidebar(scenario)  # after the tabs: it lists the plug-ins that are left out
        self.session.on_points = self.sidebar.data.take
        self.session.chosen = lambda: self.sidebar.recipe
        commands = {name: getattr(self, name) for name in ("run", "pause", "step", "stop", "reset", "full_speed")}
        on_stage = {name: commands[name] for name in ("run", "stop", "full_speed")}
        on_stage |= {"restore": self.sidebar.scenario.restore, "choose": self.open_lesson}
        self.run_panel = RunPanel(commands)
        self.run_panel.pace.value = self.sidebar.scenario.scenario.pace
        self.lesson = Lesson(self.session, self.sidebar.scenario.lesson)
        self.address = Address(self.sidebar, self.run_panel, self.race_view)
        self.session.link = self.address.to_share
        self.page_recovery = PageRecovery(self.session, self.address, self.run_panel, self.frame.reconnect)
        self._cold_start = ColdStart(self.sidebar, self.race_view)
        self._figures_ahead = FiguresAhead(self.sidebar, self.race_view.figures)
        self._section = section  # of the page, that is open
        self.launch: Launch | Reopening | None = None  # the race that is being prepared
        self.turn_to_tabs: Callable[[], None] = lambda: None  # called where the page is to show the tabs
        self._ticks_of_launch, self._described_at = 0, 0.0
        self._ticks = Ticks(TICK, self.tick, idles=True)
        self.page_recovery.shared_race.wake = self._ticks.wake
        self.alert, self._not_kept = Alert(closeable=True, visible=False), ""
        self.controls = controls_column(self.sidebar, self.run_panel)
        lesson = self.sidebar.scenario.lesson
        self.class_card = ClassCard(
            self.session,
            lesson,
            lambda: self.page_recovery.shared_race.answers,
            lambda name, content: self.stage.question.hand_over(name, content),
        )
        self.stage = LessonStage(self.session, lesson, on_stage, self.class_card.row)
        self.claim = ClaimCard(self.sidebar.scenario)
        parts = (Form(self.alert), self.claim.root, self.stage.root, self.class_card.root, self.shell.root)
        self.main = pn.Column(*parts, sizing_mode="stretch_width", margin=0)
        self._watch()
        self._paint()
        self._follow()

    def _watch(self) -> None:
        """Let the address and the buttons follow what is chosen."""
        scenario = self.sidebar.scenario
        self.run_panel.pace.param.watch(self._change_pace, "value")
        scenario.param.watch(self._touched, "claim")
        scenario.param.watch(self._set_stage, "chosen")  # after the sidebar has loaded the recipe
        self.race_view.param.watch(self._touched, ["x_axis", "log_x", "log_y", "above"])
        self.session.param.watch(self._touched, ["theme", "sweep"])
        self.session.param.watch(lambda _: self._paint(), "theme")
        self.sidebar.param.watch(self._refresh, ["recipe", "blocked"])
        self.sidebar.kernels.repair.param.watch(self._mended, "value")  # after the sidebar has read it
        scenario.lesson.guess.param.watch(self._touched, "value")
        scenario.lesson.param.watch(self._turn_lesson, "open")

    def open_lesson(self, name: str) -> None:
        """Put a lesson on the stage, and fold away the controls that set it up."""
        scenario = self.sidebar.scenario
        if scenario.choice.value == name:  # choosing it says nothing new
            scenario.leave_claim()
        scenario.choice.value = name
        scenario.open_lesson()
        self.header.fold(scenario.lesson.open)

    def _turn_lesson(self, *_: Any) -> None:
        """Leave Run to the stage while a lesson stands there."""
        opened = self.sidebar.scenario.lesson.open
        self.header.offer_run(self._section == EXPLORE and not opened)
        self.run_panel.buttons["run"].visible = not opened
        self._described_at = 0.0  # the sentence on the race names the button
        self._follow()
        self._touched()

    def open_claim(self, name: str) -> None:
        """Show a claim of a paper above the tabs, and set the controls to its race, where it has one."""
        scenario = self.sidebar.scenario
        raced, wrong = scenario.races_claim, self.claim.open(name)
        say(self.alert, wrong)
        if not wrong:
            scenario.lesson.open = False
        if not wrong and (raced or scenario.races_claim):
            scenario.restore()

    # -- the commands

    def run(self, *_: Any, steps: int = 0) -> None:
        """Prepare the recipe of the controls and start its race; with `steps`, pause after so many."""
        if self.state not in ("empty", "finished"):
            return
        say(self.alert, "")
        recipe = self.sidebar.recipe
        if recipe is None:
            say(self.alert, self.sidebar.blocked)
            return
        self._begin(Launch(recipe, steps), "Preparing the race.")

    def _begin(self, launch: Launch | Reopening, status: str) -> None:
        self.launch, self._ticks_of_launch = launch, 0
        self.param.update(state="preparing", status=status)

    def open_race(self, traces: Mapping[str, Trace], stored: str) -> str:
        """Show in all tabs what was kept of a past race, with its problem if that is here; return why not, or ""."""
        if self.state not in ("empty", "finished"):
            return _BUSY
        begun = {key: trace for key, trace in traces.items() if len(trace)}
        recipe = shared_recipe(begun.values())
        missing = _NO_RECIPE if recipe is None else self._missing(recipe)
        if recipe is None or missing:
            try:
                self.session.reopen(ReopenedRace(None, begun, stored=stored, missing=missing))
            except MklvizError as error:
                return str(error)
        say(self.alert, "")
        self.sidebar.scenario.claim = None
        if recipe is not None and not missing:
            if recipe.data.own and recipe.data.dataset is None:
                recipe = recipe.changed(data=self.sidebar.data.own(recipe.data))
            self.sidebar.load(recipe)  # Run repeats it
            self._begin(Reopening(recipe, begun, stored), "Preparing the problem of a race of the past.")
        self._turn_to_race()
        self._follow()
        return ""

    def _turn_to_race(self) -> None:
        self.turn_to_tabs()
        self.shell.turn_to(self.shell.titles[0])

    def repeat(self, recipe: Recipe) -> str:
        """Set the controls to a recipe, and run it; return why that is impossible, or ""."""
        busy = _BUSY if self.state not in ("empty", "finished") else ""
        wrong = busy or self._missing(recipe) or open_words(self.sidebar, recipe.to_words())
        if wrong or self.sidebar.blocked:
            return wrong or self.sidebar.blocked
        self.sidebar.scenario.claim = None
        self._turn_to_race()
        self.run()
        return ""

    def _missing(self, recipe: Recipe) -> str:
        """Return "" or why the data of a recipe are not at hand."""
        data = recipe.data
        return _OWN_DATA if data.own and data.dataset is None and self.sidebar.data.own(data) is None else ""

    def pause(self, *_: Any) -> None:
        if self.state == "paused":
            self.session.race.resume()
        elif self.state == "running":
            self.session.race.pause()
        self._follow()

    def step(self, *_: Any) -> None:
        """Let every solver do one step and pause; without a race, prepare one first."""
        if self.state in ("running", "paused"):
            self.session.race.step(1)
            self._follow()
        elif self.state == "empty":
            self.run(steps=1)

    def stop(self, *_: Any) -> None:
        """Stop the race for good, or give up a preparation."""
        if self.launch is not None:
            self.launch.cancel()
        elif self.state in ("running", "paused"):
            self.session.race.cancel()
            self._follow()

    def full_speed(self, *_: Any) -> None:
        """Let the race go on, if it is paused, as fast as it can."""
        self.run_panel.pace.value = 0.0
        if self.state == "paused":
            self.pause()

    def reset(self, *_: Any) -> None:
        """Stop the race and clear the curves; settings and seed stay."""
        if self.state in ("running", "paused", "finished"):
            self._drop_race()

    def _drop_race(self) -> None:
        self.session.race.cancel()
        self.session.clear()
        self._follow()
        self._refresh()

    # -- how a race begins, and goes on

    def _set_stage(self, *_: Any) -> None:
        """Set tab and pace to those of the scenario chosen, and clear another race: its curves must not stand there."""
        panel, self.page_recovery.awaits = self.sidebar.scenario, False
        self.run_panel.pace.value = panel.scenario.pace
        self.shell.turn_to(self.shell.titles[0] if panel.races_claim else panel.scenario.tab)
        if self.launch is not None:
            self.launch.cancel()
        shown = self.session.recipe
        if self.session.race is not None and not (shown is not None and shown.same_race(panel.recipe)):
            self._drop_race()

    async def tick(self) -> None:
        """Show how far preparation or race are, with the document locked; being async, it cannot overlap itself."""
        now, begun = monotonic(), thread_time()
        if self.page_recovery.shared_race.left:  # to the page that has taken it over
            self._ticks.stop()
            self.session.clear()
            return
        if self.page_recovery.tick(self.state == "empty", now):
            self.resume()
        elif self.page_recovery.where:
            self._open_kept()
        if self.launch is None:
            self._tick_race(now)
        else:
            self._tick_launch(self.launch)
        if self.session.race is None and not self.page_recovery.awaits:
            self._cold_start.awaited = self.launch is not None
            self.session.preview = self._cold_start.set_up
            seen = self.shell.sees(self.race_view)
            drawable = self.launch is None and self._figures_ahead.built
            self._cold_start.update(self.run_panel.pace.value, drawable, seen)
        self.lesson.update()
        self.stage.tick()
        if self.class_card.tick():
            self.page_recovery.tell()
        await give_way_after(begun)  # figures may have been built
        self.shell.tick(monotonic())

    def _tick_race(self, now: float) -> None:
        self.stage.progress = ""
        self._follow()
        self.shell.go_to_step()
        warming = WARMUP.running and self.state in ("empty", "finished")
        if warming or self.run_panel.stage.visible:
            self.run_panel.show_progress(WARMUP.fraction, WARMUP.sentence if warming else "")
        if self.state == "empty" and self.shell.sees(self.race_view):
            self._figures_ahead.tick(now)

    def _tick_launch(self, launch: Launch | Reopening) -> None:
        """Show how far the preparation is, and the race when it can start."""
        preparation = launch.preparation
        stand = launch.recipe != self.sidebar.recipe or self._figures_ahead.build()  # not all at once, at the end
        if not preparation.ended:
            self._ticks_of_launch += 1
            if self._ticks_of_launch > SOON:
                self.run_panel.show_progress(preparation.fraction, preparation.stage)
                self.stage.progress = preparation.stage
                if self._ticks_of_launch % 20 == SOON + 1:  # it is spoken
                    self.status = YOURS_FOLLOWS if self._cold_start.bridges else preparation.stage
            self.session.give_way(preparation.wants_room)
            return
        if not stand:
            return
        self.session.give_way(False)
        self.launch = None
        wrong = launch.enter(self.session, self.run_panel.threads.value, self.run_panel.pace.value)
        say(self.alert, wrong or launch.note)
        if self.session.recipe is launch.recipe:
            self.sidebar.built(launch.recipe, self.session.prepared)
        self._follow()

    # -- what follows from what

    def _follow(self) -> None:
        """Take over the state of the race shown, and now and then the sentence on it."""
        if self.launch is not None:
            return
        race, now = self.session.race, monotonic()
        state = "empty" if race is None else "paused" if race.status == "ready" else race.status
        if state != self.state or now - self._described_at >= WORDS_EVERY:
            self._described_at = now
            if state == "finished":
                self.session.keep()
            self.header.show_state(state)
            self._say_what_is_not_kept()
            self.state = state  # by which the buttons are named
            button = self.stage.run.label.removeprefix("▶ ") if self.sidebar.scenario.lesson.open else "Run"
            played = f"{PLAYED} " if self._cold_start.bridges else ""
            self.status = played + race_sentence(race, button)

    @param.depends("state", watch=True)
    def _refresh(self, *_: Any) -> None:
        hint, recipe = "", None if self.sidebar.blocked else self.sidebar.recipe
        if recipe is not None:
            self.run_panel.offer_threads(len(recipe.solvers))
            if self.session.recipe not in (None, recipe):
                hint = _OLD.get(self.state, "")
            if self.session.race is None:
                self.race_view.gap_tolerance = recipe.goal  # for the figures that wait for the next race
        self.session.stale = self.session.recipe not in (None, recipe)
        self.run_panel.show(self.state, self.sidebar.blocked, hint)
        self.stage.show_state(self.state, bool(self.sidebar.blocked), self.sidebar.scenario.changed)
        self._touched()

    @param.depends("status", watch=True)
    def _show_status(self) -> None:
        self.header.status.object = status_html(self.status)

    def _say_what_is_not_kept(self) -> None:
        """Say while a race is in memory alone, once for each trouble of the disk."""
        recorded, before = self.session.recorded, self._not_kept
        self._not_kept = recorded.store.not_kept if recorded is not None and recorded.ids else ""
        if self._not_kept != before and (self._not_kept or self.alert.object == before):
            say(self.alert, self._not_kept)

    def _mended(self, event: Any) -> None:
        """Go on with a repair that is chosen where a race was refused for want of one."""
        if event.new is not None and self.alert.visible and NOT_SEMIDEFINITE in self.alert.object:
            self.run()

    def _change_pace(self, event: Any) -> None:
        if self.session.race is not None:
            self.session.race.pace = event.new
        self._touched()

    def show_section(self, section: str) -> None:
        """Stand on a page that has this section open, in which the history of races may be all there is to see."""
        self._section = self.page_recovery.section = section
        self.header.offer_run(section == EXPLORE and not self.sidebar.scenario.lesson.open)
        self.shell.show_alone(SECTIONS[RUNS] if section == RUNS else "")
        self.shell.show(section in (EXPLORE, RUNS))
        self.page_recovery.tell()

    def _press(self, key: str) -> None:
        if self._section != EXPLORE:
            return
        space = self.run if self.state in ("empty", "finished") else self.pause
        {" ": space, "s": self.step, "x": self.stop, "r": self.reset}[key]()

    def _touched(self, *_: Any) -> None:
        """Write the choices into the address, and wait for more."""
        self._figures_ahead.touch()
        self.page_recovery.tell()

    def resume(self) -> None:
        """Go on with the race, or the sweep, that the page had before it was reloaded."""
        session = self.session
        if session.race is None:
            if session.sweep is not None:
                self.shell.turn_to("Sweep")
            self.page_recovery.awaits = session.sweep is not None
            return
        if session.recipe is not None:
            awaited = self.sidebar.data.awaited
            if awaited is not None and awaited.source == session.recipe.data.source:  # the race has the data
                self.sidebar.data.load(session.recipe)
                say(self.alert, open_recipe(self.sidebar))
            if not session.race.finished and self.sidebar.recipe != session.recipe:
                self.sidebar.load(session.recipe)
            self.sidebar.built(session.recipe, session.prepared)
        session.race.pace = self.run_panel.pace.value
        self._follow()

    def _open_kept(self) -> None:
        """Show what the store has kept of the race of the address, or say where that is."""
        recovery = self.page_recovery
        (stored, recovery.kept), (where, recovery.where) = (recovery.kept, ""), (recovery.where, "")
        try:
            kept = self.session.store.traces(stored) if stored else {}
        except MklvizError:  # it was deleted, or never kept, or is another visitor's
            kept = {}
        traces = {key: trace.snapshot() for key, trace in kept.items() if len(trace)}
        wrong = self.open_race(traces, stored) if traces else ""
        if traces and not wrong:
            self.page_recovery.restore()
        say(self.alert, wrong or (_KEPT if traces else where))
        if self.launch is not None:
            self.launch.note = _KEPT

    # -- where it is shown

    def set_dark(self, dark: bool) -> None:
        """Use the colours for dark or light pages."""
        self.session.set_dark(dark)
        self._figures_ahead.touch()
        self._paint()
        self.sidebar.set_dark(dark)

    def open(self) -> bool:
        """Open what the address of the page asks for; return whether there are controls beside it."""
        self.page_recovery.ask()
        framing = HideAndLock()
        wrong = [open_address(self.sidebar), self._open_claim(), self.address.open(), self.shell.open_address()]
        framing.apply(self.sidebar, self.shell.strip)
        say(self.alert, " ".join(filter(None, [*wrong, framing.wrong])))
        self.header.fold(self.sidebar.scenario.lesson.open)
        self._turn_lesson()
        WARMUP.start()
        return framing.sidebar

    def _open_claim(self) -> str:
        """Open the claim of the address, and its race unless the address says another; return what is wrong with it."""
        wrong = self.claim.open(query_value(CLAIM)) if query_value(CLAIM) else ""
        if self.sidebar.scenario.races_claim and not query_value(RECIPE):
            self.sidebar.load(self.sidebar.scenario.recipe)
        return wrong

    def start(self) -> None:
        """Begin to follow the race, now that the page is loaded."""
        if not self._ticks.begun:
            self._ticks.start()
            self._figures_ahead.touch()
            self.page_recovery.open()

    def close(self) -> None:
        """The session is over: cancel all that is waited for."""
        self._ticks.stop()
        if self.launch is not None:
            self.launch.cancel()
        self.lesson.close()
        self.shell.close()
        self.page_recovery.close()
        if self.session.sweep is not None:
            self.session.sweep.cancel()
        if self.session.race is not None and not self.page_recovery.shared_race.left:
            self.session.race.cancel(PAGE_CLOSED)

    def _paint(self) -> None:
        """Apply the colours to the controls beside the tabs."""
        sheet = cards.variables(self.session.theme)
        self.main.stylesheets = [sheet, ":host { min-width: 0; }"]
        self.claim.paint(self.session.theme)
        self.controls.stylesheets = [sheet, ":host { --mk-scale: 1; }"]  # as wide as ever, and put away

    def __panel__(self) -> Any:
        WARMUP.start()
        follow_session(self.start, self.close)
        return cell_layout(self.controls, pn.Column(self.header.status, self.main, sizing_mode="stretch_width"))
