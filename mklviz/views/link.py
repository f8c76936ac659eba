"""A recipe in the page's address, ``?recipe=data%3Dsonar%3B+C%3D10``: opening it sets every control.

What cannot be read, or has no control, is said in a sentence; the rest is used. The page keeps its own address up to
date with scenario, recipe, pace and axes as far as they are not those of a new page, or the pace that of its scenario,
so that a reload finds them again, and with the key of its room, by which it finds its race.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote_plus, urlencode

import panel as pn

from mklviz.datasets import DataError
from mklviz.errors import MklvizError
from mklviz.recipe import Recipe
from mklviz.recipe.words import WORDS, read_words
from mklviz.scenarios import DEFAULT, load_scenario, scenarios
from mklviz.views.live.race_view import RaceView
from mklviz.views.sidebar.run_panel import RunPanel
from mklviz.views.sidebar.sidebar import Sidebar

__all__ = ["FOLLOW", "ROOM", "Address", "given", "link", "open_address", "open_words"]

KEY, SCENARIO, PACE, AXIS, LOG, OBJECTIVE = "recipe", "scenario", "pace", "x", "log", "objective"
ABOVE, PLAIN = "above", "plain"
ROOM, FOLLOW = "race", "follow"
LINEAR = "-"
MOST = 20_000  # letters that are read


def link(recipe: Recipe) -> str:
    """Return the end of an address that opens this recipe."""
    return f"?{KEY}={quote_plus(recipe.to_words())}"


def open_address(sidebar: Sidebar) -> str:
    """Set the controls to the recipe in the address of the page, where there is one; return what is wrong with it."""
    scenario = given(SCENARIO)
    if scenario in scenarios():
        sidebar.scenario.choice.value = load_scenario(scenario).name
    words = given(KEY)
    return open_words(sidebar, words) if words else ""


def given(name: str) -> str:
    """Return what the address of the page says of something, or ""."""
    values = (pn.state.session_args or {}).get(name, [])
    return values[-1].decode("utf-8", "replace")[:MOST] if values else ""


@dataclass(frozen=True)
class Address:
    """The end of a page's address.

    Parameters
    ----------
    sidebar : Sidebar
    run_panel : RunPanel
    view : RaceView
    """

    sidebar: Sidebar
    run_panel: RunPanel
    view: RaceView

    def open(self) -> None:
        """Set pace and axes to those in the address of the page; what is none is left out."""
        pace = next((value for value in self.run_panel.pace.offered.values() if f"{value:g}" == given(PACE)), None)
        if pace is not None:
            self.run_panel.pace.value = pace
        if given(AXIS) in self.view.param.x_axis.objects:
            self.view.x_axis = given(AXIS)
        if scales := given(LOG):
            self.view.param.update(log_x="x" in scales, log_y="y" in scales)
        if given(OBJECTIVE) in (ABOVE, PLAIN):
            self.view.above, self.view.above_chosen = given(OBJECTIVE) == ABOVE, True

    def text(self, key: str) -> str:
        """Return what a reload needs to find everything as it is; `key` is that of the room of a page with a race."""
        scenario, view = self.sidebar.scenario.scenario, self.view
        logs = ("x" if view.log_x else "") + ("y" if view.log_y else "")
        said = {
            SCENARIO: "" if scenario.name == DEFAULT else scenario.name,
            KEY: self._words(scenario.recipe),
            PACE: "" if self.run_panel.pace.value == scenario.pace else f"{self.run_panel.pace.value:g}",
            AXIS: "" if view.x_axis == view.param.x_axis.default else view.x_axis,
            LOG: "" if logs == "y" else logs or LINEAR,
            OBJECTIVE: "" if not view.above_chosen else ABOVE if view.above else PLAIN,
            ROOM: key,
        }
        others = {name: given(name) for name in pn.state.session_args or {} if name not in said}
        return "?" + urlencode({name: value for name, value in {**others, **said}.items() if value})

    def _words(self, usual: Recipe) -> str:
        try:
            recipe = self.sidebar.recipe()
        except (MklvizError, DataError):
            return given(KEY)  # until the controls can be read again
        return "" if recipe == usual else recipe.to_words()


def open_words(sidebar: Sidebar, text: str) -> str:
    """Set the controls to a recipe in words; return a sentence for each part that cannot be used, or ""."""
    recipe, wrong = read_words(text[:MOST])
    sentences = list(wrong)
    if recipe.data.own and sidebar.own_digest != recipe.data.source:
        sentences.append("The link is for a file of somebody's own: open it under Data, and its recipe once more.")
        recipe = recipe.changed(data=sidebar.recipe().data)
    sidebar.load(recipe)
    return " ".join([*sentences, *_not_shown(sidebar, recipe)])


def _not_shown(sidebar: Sidebar, wanted: Recipe) -> list[str]:
    """Return a sentence for each part that the controls did not take."""
    try:
        shown = sidebar.recipe()
    except MklvizError:
        return []  # the controls say so themselves
    return [
        f"“{key}={word.write(wanted)}” cannot be used here."
        for key, word in WORDS.items()
        if word.write(shown) != word.write(wanted)
    ]
