"""The dashboard: controls at the left, the race at the right, and the few rules of who may do what when.

A race is prepared in a thread and shown only when it can start, so the curves on the screen stay until others can take
their place. Nothing here waits: the event loop of the page is never blocked.
"""

from __future__ import annotations

import logging
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from panel.util import edit_readonly

from mklviz.datasets import DataError
from mklviz.engine.warmup import WARMING, WARMUP
from mklviz.errors import Interrupted, MklvizError
from mklviz.recipe import Recipe
from mklviz.recipe.preparation import Preparation
from mklviz.scenarios import DEFAULT, first_solvers
from mklviz.views.link import open_address
from mklviz.views.live.equivalence_card import EquivalenceCard
from mklviz.views.live.minima import MinimaCard
from mklviz.views.live.path_card import PathCard
from mklviz.views.live.race_view import RaceView
from mklviz.views.look.theme import PAGE_SX, SIDEBAR_THEME, SIDEBAR_WIDTH, THEME
from mklviz.views.sidebar.controls import alert, plain
from mklviz.views.sidebar.run_panel import STATES, RunPanel
from mklviz.views.sidebar.sidebar import Sidebar

__all__ = ["Explorer"]

_log = logging.getLogger(__name__)

TITLE, SUBTITLE = "mklviz", "Watch multiple-kernel solvers think"
_ALWAYS_IN_SIGHT = {
    "position": "sticky",
    "bottom": "0",
    "z-index": "5",
    "padding-bottom": "6px",
    "background": "var(--mui-palette-background-paper)",
    "border-top": "1px solid var(--mui-palette-divider)",
}
_NOT_YET = {"pointer-events": "none", "opacity": "0.55"}  # answers to clicks before the page is loaded get lost
_READY = {"pointer-events": "auto", "opacity": "1"}  # said outright: an emptied style would stay as it was
LOOK_EVERY = 100  # milliseconds between looks at the preparation or the race
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
    alert : Alert
        What went wrong, where something did.
    """

    state = param.Selector(default="empty", objects=list(STATES))
    status = param.String(default="")

    def __init__(self, scenario: str = DEFAULT) -> None:
        super().__init__()
        self.sidebar = Sidebar(scenario)
        self.race_view, self.minima = RaceView(), MinimaCard()
        self.equivalence, self.path = EquivalenceCard(), PathCard()
        self._cards = (self.minima, self.equivalence, self.path)
        self.race_view.slot.extend(self._cards)
        commands = {name: getattr(self, name) for name in ("run", "pause", "step", "stop", "reset")}
        self.run_panel = RunPanel(commands)
        self._preparation: Preparation | None = None
        self._shown: Recipe | None = None
        self._wanted = Recipe()
        self._steps = self._looks = 0
        self._warming = False
        self._callback: Any = None
        self.alert = alert(closeable=True, margin=(0, 0, 10, 0))
        self._status_line = pn.pane.HTML(margin=0, align="center")
        self._controls = self._all_controls()
        tabs = pmui.Tabs(("Race", self.race_view), dynamic=True, sizing_mode="stretch_width", margin=0)
        self._main = pmui.Column(self.alert, tabs, sizing_mode="stretch_width", margin=0)
        self.race_view.on_key = self._key
        self.race_view.param.watch(self._follow, "status_text")
        self.run_panel.pace.param.watch(self._change_pace, "value")
        self.sidebar.param.watch(self._refresh, "revision")
        self._follow()

    # -- the commands

    def run(self, *_: Any) -> None:
        """Prepare the recipe the controls stand for and start its race."""
        self._begin(steps=0)

    def pause(self, *_: Any) -> None:
        """Pause the race, or resume it."""
        if self.state == "paused":
            self.race_view.race.resume()
        elif self.state == "running":
            self.race_view.race.pause()
        self._follow()

    def step(self, *_: Any) -> None:
        """Let every solver do one step and pause; without a race, prepare one first."""
        if self.state in ("running", "paused"):
            self.race_view.race.step(1)
            self._follow()
        elif self.state == "empty":
            self._begin(steps=1)

    def stop(self, *_: Any) -> None:
        """Stop the race for good, or give up a preparation."""
        if self._preparation is not None:
            self._preparation.cancel()
        elif self.state in ("running", "paused"):
            self.race_view.race.cancel()
            self._follow()

    def reset(self, *_: Any) -> None:
        """Stop the race and clear the curves; settings and seed stay."""
        if self.state in ("running", "paused", "finished"):
            self.race_view.race.cancel()
            self.race_view.clear()
            for card in self._cards:
                card.clear()
            self._shown = None
            self._follow()
            self._refresh()

    # -- how a race begins

    def _begin(self, steps: int) -> None:
        if self.state not in ("empty", "finished"):
            return
        self._say_wrong("")
        try:
            recipe = self.sidebar.recipe()
        except (MklvizError, DataError) as error:
            self._say_wrong(str(error))
            return
        self._wanted, self._steps = recipe, steps
        self._preparation = Preparation(recipe, self.sidebar.own_data)
        self._preparation.start()
        self._looks = 0
        self.param.update(state="preparing", status="Preparing the race.")

    async def tick(self) -> None:
        """Take over how far the preparation is, or how the race stands.

        A periodic callback holds the lock of the document, which the figures of a new race need; and being async, it
        cannot overlap itself.
        """
        if self._preparation is not None:
            self._look(self._preparation)
        else:
            self._follow()
            self._tell_warmup()

    def _tell_warmup(self) -> None:
        """Show how far the compiled kernels are while nothing else runs."""
        warming = WARMUP.running and self.state in ("empty", "finished")
        if warming or self._warming:
            self.run_panel.show_progress(WARMUP.fraction, WARMING if warming else "")
        self._warming = warming

    def _look(self, preparation: Preparation) -> None:
        if not preparation.ended:
            self._looks += 1
            if self._looks > 2:  # what takes a blink needs no progress bar
                self.run_panel.show_progress(preparation.fraction, preparation.stage)
            return
        self._preparation = None
        try:
            self._start(preparation)
        except Interrupted:
            self._say_wrong("")
        except (MklvizError, DataError) as error:
            self._say_wrong(str(error))
        except MemoryError:
            self._say_wrong("There is not enough memory for these kernels: use fewer of them, or fewer samples.")
        except Exception as error:
            _log.exception("The race could not be prepared")
            self._say_wrong(f"The race could not be prepared ({type(error).__name__}); the server's log says more.")
        self._follow()

    def _start(self, preparation: Preparation) -> None:
        recipe, prepared = self._wanted, preparation.result()
        for card in self._cards:
            card.clear()
        race = recipe.race(prepared, self.run_panel.pace.value, self.run_panel.threads.value)
        preparation.hold(race)
        self.race_view.gap_tolerance = recipe.stop.gap if recipe.convex else recipe.stop.projected_gradient
        if self._steps:
            race.step(self._steps)
        else:
            race.start()  # while the figures are built, so that they come with points
        try:
            self.race_view.show(race, prepared.score, prepared.test.task == "regression")
        except BaseException:
            race.cancel()
            raise
        self._shown = recipe
        self.sidebar.built(recipe, prepared)

    # -- what follows from what

    def _follow(self, *_: Any) -> None:
        """Take over the state and the sentence of the race shown."""
        if self._preparation is None:
            race = self.race_view.race
            self.param.update(
                state="empty" if race is None else _STATE_OF_RACE[race.status], status=self.race_view.status_text
            )
            for card in self._cards:
                if self.state == "finished":
                    card.begin(race)
                card.look()

    @param.depends("state", watch=True)
    def _refresh(self, *_: Any) -> None:
        hint, recipe = "", None if self.sidebar.blocked else self.sidebar.recipe()
        if recipe is not None:
            self.run_panel.offer_threads(len(recipe.solvers))
            if self._shown not in (None, recipe):
                hint = "The curves show the settings before your changes."
        self.run_panel.show(self.state, self.sidebar.blocked, hint)

    @param.depends("status", watch=True)
    def _show_status(self) -> None:
        self._status_line.object = (
            '<span role="status" aria-live="polite" style="font: 400 13px var(--bokeh-base-font);'
            f' color: var(--mui-palette-text-secondary)">{plain(self.status)}</span>'
        )

    def _say_wrong(self, sentence: str) -> None:
        self.alert.param.update(object=plain(sentence), visible=bool(sentence), closed=False)

    def _change_pace(self, event: Any) -> None:
        if self.race_view.race is not None:
            self.race_view.race.pace = event.new

    def _key(self, key: str) -> None:
        space = self.run if self.state in ("empty", "finished") else self.pause
        {" ": space, "s": self.step, "x": self.stop, "r": self.reset}[key]()

    # -- where it is shown

    def set_dark(self, dark: bool) -> None:
        """Use the colours for dark or light pages."""
        self.race_view.set_dark(dark)
        self.minima.set_dark(dark)
        self.path.set_dark(dark)
        self.sidebar.set_dark(dark)

    def page(self) -> pmui.Page:
        """Return the page to serve; to be called once in each session."""
        self._say_wrong(open_address(self.sidebar))
        WARMUP.start(first_solvers())
        page = pmui.Page(
            meta_title=TITLE,
            header=[_brand(), self._status_line],
            sidebar=[self._controls],
            main=[pmui.Column(self._main, sizing_mode="stretch_width", margin=(4, 20, 24, 20))],
            theme_config=THEME,
            sx=PAGE_SX,
            sidebar_width=SIDEBAR_WIDTH,
            sidebar_resizable=False,
            busy_indicator=None,
        )
        _never_busy(page)
        page.param.watch(lambda event: self.set_dark(event.new), "dark_theme")
        self.set_dark(page.dark_theme)
        self._join_session()
        return page

    def _join_session(self) -> None:
        if pn.state.curdoc is not None and not pn.state.loaded:
            self._controls.styles = _NOT_YET
        pn.state.onload(self._start_ticks)
        if pn.state.curdoc is not None and pn.state.curdoc.session_context:
            pn.state.on_session_destroyed(lambda _context: self.close())

    def _start_ticks(self) -> None:
        self._controls.styles = _READY
        self.race_view.start_tick()
        if self._callback is None:
            self._callback = pn.state.add_periodic_callback(self.tick, period=LOOK_EVERY)
            self._callback.log = False

    def close(self) -> None:
        """The session is over: nobody waits for anything any more."""
        if self._preparation is not None:
            self._preparation.cancel()
        for card in self._cards:
            card.clear()
        if self.race_view.race is not None:
            self.race_view.race.cancel()

    def _all_controls(self) -> pmui.Column:
        run = pmui.Column(self.run_panel, sizing_mode="stretch_width", margin=0, styles=_ALWAYS_IN_SIGHT)
        return pmui.Column(
            self.sidebar, run, theme_config=SIDEBAR_THEME, sizing_mode="stretch_width", margin=(0, 14, 0, 14)
        )

    def __panel__(self) -> Any:
        if not pn.extension._loaded:
            pn.extension(inline=True)  # a notebook without a network would show nothing otherwise
        WARMUP.start(first_solvers())
        self._join_session()
        return pmui.Row(
            pmui.Column(self._controls, width=SIDEBAR_WIDTH, margin=0),
            pmui.Column(self._status_line, self._main, sizing_mode="stretch_width", margin=(8, 8, 8, 16)),
            theme_config=THEME,
            sizing_mode="stretch_width",
        )


def _never_busy(page: pmui.Page) -> None:
    """Free a page from the busy light of the process.

    Else every tick of a clock walks through the whole document, twice, to say "busy", and the light, which lives as
    long as the process, keeps the pages of all sessions that are over.
    """
    with edit_readonly(page):
        page.busy = False
    for watcher in list(pn.state.param.watchers.get("busy", {}).get("value", [])):
        if getattr(getattr(watcher.fn, "__self__", None), "self", None) is page:
            pn.state.param.unwatch(watcher)


def _brand() -> pn.pane.HTML:
    """The name of the app, which is also the page's heading."""
    return pn.pane.HTML(
        f'<div style="display: flex; gap: 16px; align-items: baseline; white-space: nowrap; margin-right: 24px;'
        f' font-family: var(--bokeh-base-font)"><h1 style="margin: 0; font-size: 17px;'
        f' color: var(--mui-palette-text-primary)">{TITLE}</h1>'
        f'<span style="font-size: 13px; color: var(--mui-palette-text-secondary)">{SUBTITLE}</span></div>',
        margin=0,
        align="center",
    )
