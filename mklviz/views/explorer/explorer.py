"""The dashboard: controls at the left, the race at the right, and the few rules of who may do what when.

A race is prepared in a thread and shown only when it can start, so the curves on the screen stay until others can take
their place. Nothing here waits: the event loop of the page is never blocked.
"""

from __future__ import annotations

import math
import weakref
from time import monotonic
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from mklviz.engine.warmup import WARMING, WARMUP
from mklviz.scenarios import DEFAULT
from mklviz.views.explorer.cold_start import PLAYED, YOURS_FOLLOWS, ColdStart
from mklviz.views.explorer.deep_link import DeepLink
from mklviz.views.explorer.header import Header
from mklviz.views.explorer.key_help import RACE
from mklviz.views.explorer.lesson import Lesson
from mklviz.views.explorer.page import build_page, status_html, status_line
from mklviz.views.explorer.shared_races import SHARED_RACES, SharedRace
from mklviz.views.explorer.shell import Shell
from mklviz.views.form import Alert, Form
from mklviz.views.host.frame_rate import FRAME_RATE
from mklviz.views.host.kernel import is_loaded
from mklviz.views.host.page_session import follow_session
from mklviz.views.host.reconnect import Reconnect
from mklviz.views.host.ticks import Ticks
from mklviz.views.links.hide_and_lock import HideAndLock
from mklviz.views.links.link import FOLLOW, RACE_KEY, Address, open_address, query_value
from mklviz.views.look import cards
from mklviz.views.look.theme import SIDEBAR_WIDTH, THEME
from mklviz.views.race.race_view import WORDS_EVERY, RaceView
from mklviz.views.race.results import race_sentence
from mklviz.views.session.launcher import Launch
from mklviz.views.session.session import Session
from mklviz.views.sidebar.run_panel import STATES, RunPanel
from mklviz.views.sidebar.scenario_panel import same_race
from mklviz.views.sidebar.sidebar import Sidebar
from mklviz.views.tabs.race import RaceTab

__all__ = ["Explorer"]

_ALWAYS_IN_SIGHT = {
    "position": "sticky",
    "bottom": "0",
    "z-index": "5",
    "padding-bottom": "6px",
    "background": "var(--mk-card)",
    "border-top": "1px solid var(--mk-border)",
}
_NOT_YET = {"pointer-events": "none", "opacity": "0.55"}  # answers to clicks before the page is loaded get lost
_READY = {"pointer-events": "auto", "opacity": "1"}  # said outright: an emptied style would stay as it was
RECLAIM_FOR = 10.0  # seconds in which a page that was reloaded takes its race over
IDLE = 0.5  # seconds without a touch, after which the figures of the race to come are built
LOOK_EVERY = 0.1  # seconds between looks at the preparation or the race
_STATE_OF_RACE = {"ready": "paused", "paused": "paused", "running": "running", "finished": "finished"}


class Explorer(pn.viewable.Viewer):
    """The whole dashboard.

    Parameters
    ----------
    scenario : str
        Name of the scenario to begin with, see `mklviz.scenarios`.

    Attributes
    ----------
    state : str
        "empty", "preparing", "running", "paused" or "finished".
    status : str
        How things stand, in one sentence.
    session : Session
        What is looked at: the race, the step shown, the colours.
    alert : Alert
        What went wrong, where something did.
    room : Room
        By which others follow the race, and a reload of the page finds it again.
    """

    state = param.Selector(default="empty", objects=list(STATES))
    status = param.String(default="")

    def __init__(self, scenario: str = DEFAULT) -> None:
        super().__init__()
        self.session = Session()
        self.session.on_key = self._key
        self.shell = Shell(self.session)
        self.sidebar = Sidebar(scenario)  # after the tabs, for it tells what plug-ins are left out
        self.session.on_points = self.sidebar.data.take
        commands = {name: getattr(self, name) for name in ("run", "pause", "step", "stop", "reset", "full_speed")}
        self.run_panel = RunPanel(commands)
        self.lesson = Lesson(self.session, self.sidebar.scenario.lesson)
        self._beginning: Launch | None = None
        self._looks, self._said_at = 0, 0.0
        self._warming = False
        self._kept: Any = lambda: None  # returns the race kept last, if it is still there
        self._idle_since = 0.0
        self._wanted, self._wanted_until = "", 0.0
        self.place = DeepLink(self.session, self.shell)
        self.reconnect = Reconnect()
        self.room = SharedRace(self.session, lambda: self.reconnect.present)
        self._ticks = Ticks(LOOK_EVERY, self.tick)
        self.alert = Alert(closeable=True, visible=False)
        self._status_line = status_line()
        self.header = Header(self.session, RACE)
        self._controls = self._all_controls()
        self._main = pn.Column(Form(self.alert), self.shell.root, sizing_mode="stretch_width", margin=0)
        self.address = Address(self.sidebar, self.run_panel, self.race_view)
        self._cold_start = ColdStart(self.sidebar, self.race_view)
        self.run_panel.pace.value = self.sidebar.scenario.scenario.pace
        self.session.link = self.address.to_share
        self.run_panel.pace.param.watch(self._change_pace, "value")
        self.sidebar.scenario.param.watch(self._set_stage, "chosen")  # after the sidebar has loaded the recipe
        self.race_view.param.watch(self._tell_address, ["x_axis", "log_x", "log_y", "above"])
        self.session.param.watch(self._tell_address, "theme")
        self.sidebar.param.watch(self._refresh, ["recipe", "blocked"])
        self.sidebar.scenario.lesson.guess.param.watch(self._tell_address, "value")
        self._paint()
        self._follow()

    @property
    def race_view(self) -> RaceView:
        """The live view of the race."""
        return self.shell.tabs[RaceTab].view

    # -- the commands

    def run(self, *_: Any) -> None:
        """Prepare the recipe the controls stand for and start its race."""
        self._begin(steps=0)

    def pause(self, *_: Any) -> None:
        """Pause the race, or resume it."""
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
            self._begin(steps=1)

    def stop(self, *_: Any) -> None:
        """Stop the race for good, or give up a preparation."""
        if self._beginning is not None:
            self._beginning.cancel()
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
            self.session.race.cancel()
            self.session.clear()
            self._follow()
            self._refresh()

    # -- how a race begins

    def _set_stage(self, *_: Any) -> None:
        """Set tab and pace to those of the scenario chosen, under whose text nothing of another race may stand."""
        scenario = self.sidebar.scenario.scenario
        self.run_panel.pace.value = scenario.pace
        self.shell.turn_to(scenario.tab)
        if self._beginning is not None:
            self._beginning.cancel()
        if self.session.recipe is not None and not same_race(self.session.recipe, scenario.recipe):
            self.session.race.cancel()
            self.session.clear()
            self._follow()
            self._refresh()

    def _begin(self, steps: int) -> None:
        if self.state not in ("empty", "finished"):
            return
        self._say_wrong("")
        recipe = self.sidebar.recipe
        if recipe is None:
            self._say_wrong(self.sidebar.blocked)
            return
        self._beginning = Launch(recipe, steps)
        self._looks = 0
        self.param.update(state="preparing", status="Preparing the race.")

    async def tick(self) -> None:
        """Take over how far the preparation is, or how the race stands.

        A periodic callback holds the lock of the document, which the figures of a new race need; and being async, it
        cannot overlap itself.
        """
        with (
            FRAME_RATE.watch(self.race_view.frames),
            pn.io.hold(policy="collect"),
        ):  # one message for all that has changed; "combine" compares every two
            self._tick()

    def _tick(self) -> None:
        if self.room.left:
            self._leave()
            return
        self.reconnect.tick(monotonic())
        if self._wanted:
            self._reclaim()
        if self._beginning is not None:
            self._look(self._beginning)
        else:
            self._follow()
            self.place.go_to_step()
            self._tell_warmup()
            self._prepare_figures(monotonic())
        if self.session.race is None:
            self._cold_start.look(self.run_panel.pace.value)
        self.lesson.look()
        self.shell.tick(monotonic())

    def _prepare_figures(self, now: float) -> None:
        """Build the figures of the race that is set up, when nothing has been touched for a moment."""
        if self.state == "empty" and not self.sidebar.blocked and now - self._idle_since > IDLE:
            self._idle_since = math.inf  # once, until something is touched
            recipe = self.sidebar.recipe
            solvers = [choice.make(recipe.split.seed) for choice in recipe.solvers]
            self.race_view.prepare(solvers, recipe.problem.regularizer)

    def _tell_warmup(self) -> None:
        """Show how far the compiled kernels are while nothing else runs."""
        warming = WARMUP.running and self.state in ("empty", "finished")
        if warming or self._warming:
            self.run_panel.show_progress(WARMUP.fraction, WARMING if warming else "")
        self._warming = warming

    def _look(self, beginning: Launch) -> None:
        preparation = beginning.preparation
        if not preparation.ended:
            self._looks += 1
            if self._looks > 2:  # what takes a blink needs no progress bar
                self.run_panel.show_progress(preparation.fraction, preparation.stage)
            self.session.give_way(preparation.waits)
            if self._cold_start.playing:
                self.status = YOURS_FOLLOWS
            return
        self.session.give_way(False)
        self._beginning = None
        self._say_wrong(beginning.enter(self.session, self.run_panel.threads.value, self.run_panel.pace.value))
        if self.session.recipe is beginning.recipe:
            self.sidebar.built(beginning.recipe, self.session.prepared)
        self._follow()

    # -- what follows from what

    def _follow(self) -> None:
        """Take over the state of the race shown, and now and then the sentence on it."""
        if self._beginning is not None:
            return
        race, now = self.session.race, monotonic()
        state = "empty" if race is None else _STATE_OF_RACE[race.status]
        if state != self.state or now - self._said_at >= WORDS_EVERY:
            self._said_at = now
            if state == "finished" and (self.state != "finished" or race is not self._kept()):
                self._kept = weakref.ref(race)  # one with a branch may have begun and ended between two looks
                self.session.keep()
            self.param.update(state=state, status=PLAYED if self._cold_start.playing else race_sentence(race))

    @param.depends("state", watch=True)
    def _refresh(self, *_: Any) -> None:
        hint, recipe = "", None if self.sidebar.blocked else self.sidebar.recipe
        if recipe is not None:
            self.run_panel.offer_threads(len(recipe.solvers))
            if self.session.recipe not in (None, recipe):
                hint = "The curves show the settings before your changes."
        self.run_panel.show(self.state, self.sidebar.blocked, hint)
        self._tell_address()

    @param.depends("status", watch=True)
    def _show_status(self) -> None:
        self._status_line.object = status_html(self.status)

    def _say_wrong(self, sentence: str) -> None:
        self.alert.param.update(object=sentence, visible=bool(sentence))

    def _change_pace(self, event: Any) -> None:
        if self.session.race is not None:
            self.session.race.pace = event.new
        self._tell_address()

    def _key(self, key: str) -> None:
        space = self.run if self.state in ("empty", "finished") else self.pause
        {" ": space, "s": self.step, "x": self.stop, "r": self.reset}[key]()

    # -- what a reload finds again

    def _tell_address(self, *_: Any) -> None:
        """Keep the address of a page that has been built up to date, and tell others where to follow its race."""
        self._idle_since = monotonic()
        if self._ticks.begun and self.reconnect.session:
            has_race = self.session.race is not None
            self.run_panel.offer_link(f"?{FOLLOW}={self.room.name}" if has_race else "")
            self.reconnect.query = self.address.text(self.room.key if has_race else self._wanted)

    def _reclaim(self) -> None:
        """Take over the race this page had before it was reloaded, as soon as its connection from then is gone."""
        if self.state == "empty" and SHARED_RACES.take_over(self._wanted, self.room):
            session = self.session
            self.sidebar.built(session.recipe, session.prepared)
            session.race.pace = self.run_panel.pace.value
        elif self.state == "empty" and monotonic() < self._wanted_until:
            return
        self._wanted = ""
        self._follow()
        self._tell_address()

    def _leave(self) -> None:
        """Give the race up to the page that has taken it over."""
        self._ticks.stop()
        self.session.clear()

    # -- where it is shown

    def set_dark(self, dark: bool) -> None:
        """Use the colours for dark or light pages."""
        self.session.set_dark(dark)
        self._idle_since = monotonic()
        self._paint()
        self.sidebar.set_dark(dark)

    def page(self) -> pmui.Page:
        """Return the page to serve; to be called once in each session."""
        self._wanted = query_value(RACE_KEY)
        framing = HideAndLock()
        wrong = [open_address(self.sidebar), self.address.open(), self.place.open()]
        framing.apply(self.sidebar, self.shell.strip)
        self._say_wrong(" ".join(filter(None, [*wrong, framing.wrong])))
        WARMUP.start()
        controls = [self._controls] if framing.sidebar else []
        page = build_page([self._status_line, self.reconnect, *self.header.parts], controls, self._main)
        self.header.shown_on(page)
        page.param.watch(lambda event: self.set_dark(event.new), "dark_theme")
        self.set_dark(page.dark_theme)
        self._join_session()
        return page

    def _join_session(self) -> None:
        if pn.state.curdoc is not None and not pn.state.loaded:
            self._controls.styles = _NOT_YET
        follow_session(self._start_ticks, self.close)

    def _start_ticks(self) -> None:
        self._controls.styles = _READY
        if not self._ticks.begun:
            self._wanted_until = monotonic() + RECLAIM_FOR
            self._ticks.start()
            if self.reconnect.session:  # a notebook has no address
                SHARED_RACES.open(self.room)
            self._tell_address()

    def close(self) -> None:
        """The session is over: nobody waits for anything any more."""
        self._ticks.stop()
        if self._beginning is not None:
            self._beginning.cancel()
        self.lesson.close()
        self.shell.close()
        SHARED_RACES.close(self.room)
        if self.session.race is not None and not self.room.left:
            self.session.race.cancel()

    def _paint(self) -> None:
        """Bring the colours to the controls, which stand beside the tabs."""
        for box in (self._controls, self._main):
            box.stylesheets = [cards.variables(self.session.theme)]

    def _all_controls(self) -> pn.Column:
        run = pn.Column(self.run_panel, sizing_mode="stretch_width", margin=0, styles=_ALWAYS_IN_SIGHT)
        return pn.Column(self.sidebar, run, sizing_mode="stretch_width", margin=(0, 14, 0, 14))

    def __panel__(self) -> Any:
        if not is_loaded(pn.extension):
            pn.extension(inline=True)  # a notebook without a network would show nothing otherwise
        WARMUP.start()
        self._join_session()
        return pmui.Row(
            pn.Column(self._controls, width=SIDEBAR_WIDTH, margin=0),
            pn.Column(self._status_line, self._main, sizing_mode="stretch_width", margin=(8, 8, 8, 16)),
            theme_config=THEME,
            sizing_mode="stretch_width",
        )
