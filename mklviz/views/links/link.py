"""A recipe in the page's address, ``?recipe=data%3Dsonar%3B+C%3D10``: opening it sets every control.

What cannot be read, or has no control, is said in a sentence; the rest is used. The page keeps its own address up to
date with scenario, recipe, pace and axes as far as they are not those of a new page, or the pace that of its scenario,
so that a reload finds them again, with the guess of a lesson, and with the key of its room, by which it finds its race.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, quote_plus, urlencode

import panel as pn

from mklviz.quoting import one_line
from mklviz.recipe import Recipe
from mklviz.recipe.words import WORDS, read_words
from mklviz.scenarios import DEFAULT, load_scenario, scenarios
from mklviz.views.race.race_view import RaceView
from mklviz.views.sidebar.run_panel import RunPanel
from mklviz.views.sidebar.sidebar import Sidebar

__all__ = [
    *("FOLLOW", "GUESS", "ON", "PROJECTOR", "ROOM", "SCENARIO", "STEP", "TAB"),
    *("Address", "asked", "given", "link", "open_address", "open_words", "unusable"),
]

VERSION, TAB, STEP = "v", "tab", "step"
NOW = "1"  # the version of the links that are written; it says what their other words mean
KEY, SCENARIO, PACE, AXIS, LOG, OBJECTIVE = "recipe", "scenario", "pace", "x", "log", "objective"
ABOVE, PLAIN = "above", "plain"
ROOM, FOLLOW, GUESS, PROJECTOR = "race", "follow", "guess", "projector"
ON, OFF = "on", ("0", "off")
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


def unusable(name: str) -> str:
    """Return a sentence on a part of the address that there is nothing for."""
    return f"“{name}={one_line(given(name), 80)}” in the link cannot be used."


def given(name: str) -> str:
    """Return what the address of the page says of something, or ""."""
    values = (pn.state.session_args or {}).get(name, [])
    return values[-1].decode("utf-8", "replace")[:MOST] if values else ""


def asked(name: str) -> bool:
    """Return whether the address of the page asks for something that needs no value, as ``?projector``."""
    return name in (pn.state.session_args or {}) and given(name).lower() not in OFF


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

    def open(self) -> str:
        """Set pace, axes and guess to those in the address of the page; return a sentence for what cannot be used."""
        wrong = [] if given(VERSION) in ("", NOW) else ["The link is of another version: what it says may be lost."]
        pace = next((value for value in self.run_panel.pace.offered.values() if f"{value:g}" == given(PACE)), None)
        if pace is not None:
            self.run_panel.pace.value = pace
        elif given(PACE):
            wrong.append(unusable(PACE))
        if given(AXIS) in self.view.param.x_axis.objects:
            self.view.x_axis = given(AXIS)
        elif given(AXIS):
            wrong.append(unusable(AXIS))
        if scales := given(LOG):
            self.view.param.update(log_x="x" in scales, log_y="y" in scales)
        if given(OBJECTIVE) in (ABOVE, PLAIN):
            self.view.above, self.view.above_chosen = given(OBJECTIVE) == ABOVE, True
        elif given(OBJECTIVE):
            wrong.append(unusable(OBJECTIVE))
        if given(GUESS) and not self.sidebar.scenario.lesson.choose(given(GUESS)):
            wrong.append(unusable(GUESS))
        return " ".join(wrong)

    def to_share(self, tab: str, step: int | None, more: Mapping[str, str]) -> str:
        """Return the end of an address that opens all this on another page, at a tab and at a step of its race."""
        said = {VERSION: NOW, TAB: tab, STEP: "" if step is None else str(step), **more}
        found = {name: values[-1] for name, values in parse_qs(self.text("", keep=False)[1:]).items()}
        found.pop(GUESS, None)  # everybody has their own
        recipe = found.pop(KEY, "") or self.sidebar.scenario.scenario.recipe.to_words()  # whatever a scenario becomes
        return "?" + urlencode({KEY: recipe, **found, **{name: value for name, value in said.items() if value}})

    def text(self, key: str, keep: bool = True) -> str:
        """Return what a reload needs to find everything as it is.

        Parameters
        ----------
        key : str
            That of the room of a page with a race.
        keep : bool
            Whether to keep what the address says of other things.
        """
        scenario, view = self.sidebar.scenario.scenario, self.view
        logs = ("x" if view.log_x else "") + ("y" if view.log_y else "")
        said = {
            SCENARIO: "" if scenario.name == DEFAULT else scenario.name,
            KEY: self._words(scenario.recipe),
            PACE: "" if self.run_panel.pace.value == scenario.pace else f"{self.run_panel.pace.value:g}",
            AXIS: "" if view.x_axis == view.param.x_axis.default else view.x_axis,
            LOG: "" if logs == "y" else logs or LINEAR,
            OBJECTIVE: "" if not view.above_chosen else ABOVE if view.above else PLAIN,
            GUESS: self.sidebar.scenario.lesson.chosen,
            PROJECTOR: ON if view.theme.projected else "",
            ROOM: key,
        }
        others = {name: given(name) for name in pn.state.session_args or {} if keep and name not in said}
        for name in (VERSION, TAB, STEP):  # a tab that was opened, and a step that was shown
            others.pop(name, None)
        return "?" + urlencode({name: value for name, value in {**others, **said}.items() if value})

    def _words(self, usual: Recipe) -> str:
        recipe = self.sidebar.recipe
        if recipe is None:
            return given(KEY)  # until the controls can be read again
        return "" if recipe == usual else recipe.to_words()


def open_words(sidebar: Sidebar, text: str) -> str:
    """Set the controls to a recipe in words; return a sentence for each part that cannot be used, or ""."""
    recipe, wrong = read_words(text[:MOST], Recipe())
    sentences = list(wrong)
    if recipe.data.own and not sidebar.data.has(recipe.data.source):
        sentences.append("The link is for a file of somebody's own: open it under Data, and its recipe once more.")
        recipe = recipe.changed(data=sidebar.data.chosen)
    sidebar.load(recipe)
    return " ".join([*sentences, *_not_shown(sidebar, recipe)])


def _not_shown(sidebar: Sidebar, wanted: Recipe) -> list[str]:
    """Return a sentence for each part that the controls did not take."""
    shown = sidebar.recipe
    if shown is None:
        return []  # the controls say so themselves
    return [
        f"“{key}={word.write(wanted)}” cannot be used here."
        for key, word in WORDS.items()
        if word.write(shown) != word.write(wanted)
    ]
