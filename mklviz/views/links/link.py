"""A recipe in the page's address, ``?recipe=data%3Dsonar%3B+C%3D10``: opening it sets every control.

A sentence says what cannot be read or has no control; the rest is used. The page keeps its own address up to date with
whatever differs from a new page: scenario, recipe, pace, axes, the guess of a lesson, and the key of its race. A reload
finds all of them again.

A link may hide and lock parts, for a class or a frame in a page: ``?hide=setup,tabs&lock=data,kernels``. They keep the
values that the link or the scenario gives them. Anyone can remove the two words: they guide, but protect nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode

import panel as pn

from mklviz.quoting import one_line, quote
from mklviz.recipe import Recipe
from mklviz.recipe.words import WORDS, read_words
from mklviz.scenarios import DEFAULT, load_scenario, scenarios
from mklviz.views.links import RACE_KEY
from mklviz.views.race.race_view import RaceView
from mklviz.views.sidebar.controls import RunPanel, say
from mklviz.views.sidebar.sidebar import Sidebar

VERSION, TAB, STEP = "v", "tab", "step"
NOW = "1"  # the version of the links that are written; it says what their other words mean
RECIPE, SCENARIO, PACE, AXIS, LOG, OBJECTIVE = "recipe", "scenario", "pace", "x", "log", "objective"
ABOVE, PLAIN = "above", "plain"
GUESS, PROJECTOR, LESSON = "guess", "projector", "lesson"
PAGE, HIDE, LOCK, CLAIM = "page", "hide", "lock", "claim"
OF_A_RACE = (
    *(RECIPE, SCENARIO, PACE, AXIS, LOG, OBJECTIVE, RACE_KEY, GUESS),
    *(LESSON, TAB, STEP, VERSION, HIDE, LOCK, CLAIM),
)
ON, OFF = "on", ("0", "off")
LINEAR = "-"
MOST_LETTERS = 20_000  # of a value that is read


def open_address(sidebar: Sidebar) -> str:
    """Set the controls to the recipe in the address of the page, where there is one; return what is wrong with it."""
    scenario, words = query_value(SCENARIO), query_value(RECIPE)
    if scenario in scenarios():
        sidebar.scenario.choice.value = load_scenario(scenario).name
    sidebar.scenario.lesson.open = False  # chosen by the link, which says itself whether it stands on the stage
    if query_flag(LESSON) or (scenario in scenarios() and not words and not query_value(TAB)):
        sidebar.scenario.open_lesson()
    return open_recipe(sidebar) if words else ""


def open_recipe(sidebar: Sidebar) -> str:
    """Set the controls to the recipe in the address of the page; return what is wrong with it."""
    wrong = open_words(sidebar, query_value(RECIPE))
    sidebar.scenario.came_by_link(sidebar.recipe)
    return wrong


def unusable(name: str) -> str:
    """Return a sentence on a value in the address that cannot be used."""
    return f"“{name}={one_line(query_value(name), 80)}” in the link cannot be used."


def query_value(name: str) -> str:
    """Return a value in the query of the page's address, or ""."""
    values = (pn.state.session_args or {}).get(name, [])
    return values[-1].decode("utf-8", "replace")[:MOST_LETTERS] if values else ""


def query_flag(name: str) -> bool:
    """Return whether the address of the page switches something on, with or without a value, as ``?projector``."""
    return name in (pn.state.session_args or {}) and query_value(name).lower() not in OFF


def names_a_race() -> bool:
    """Return whether the address of the page says anything of a race or of how it is shown."""
    return any(name in OF_A_RACE for name in pn.state.session_args or {})


@dataclass(frozen=True)
class Address:
    """The query of a page's address, which stands for its sidebar, the pace of its race and the axes of its view."""

    sidebar: Sidebar
    run_panel: RunPanel
    view: RaceView

    def open(self) -> str:
        """Set pace, axes and guess to those in the address of the page; return a sentence for what cannot be used."""
        version = query_value(VERSION)
        wrong = [] if version in ("", NOW) else ["The link is of another version: some of its settings may be lost."]
        view, paces = self.view, {f"{value:g}": value for value in self.run_panel.pace.offered.values()}
        pace, axis, logs, objective = map(query_value, (PACE, AXIS, LOG, OBJECTIVE))
        fits = {PACE: pace in paces, AXIS: axis in view.param.x_axis.objects, OBJECTIVE: objective in (ABOVE, PLAIN)}
        if fits[PACE]:
            self.run_panel.pace.value = paces[pace]
        if fits[AXIS]:
            view.x_axis = axis
        if logs:
            view.param.update(log_x="x" in logs, log_y="y" in logs)
        if fits[OBJECTIVE]:
            view.above, view.above_chosen = objective == ABOVE, True
        fits[GUESS] = self.sidebar.scenario.lesson.choose(query_value(GUESS))
        return " ".join(
            [*wrong, *(unusable(name) for name, usable in fits.items() if query_value(name) and not usable)]
        )

    def to_share(self, tab: str, step: int | None, more: Mapping[str, str]) -> str:
        """Return a query that opens all this on another page, at a tab and at a step of its race."""
        query = {name: values[-1] for name, values in parse_qs(self.text("", keep=False)[1:]).items()}
        for own in (GUESS, LESSON):  # everybody has their own
            query.pop(own, None)
        recipe = query.pop(RECIPE, "") or self.sidebar.scenario.recipe.to_words()  # scenarios may change
        query |= {VERSION: NOW, TAB: tab, STEP: "" if step is None else str(step), **more}
        return _query({RECIPE: recipe, **query})

    def text(self, key: str, keep: bool = True, page: str = "") -> str:
        """Return the query of a reload, with a race's `key`, the open `page`, and, to `keep`, other values."""
        panel, view = self.sidebar.scenario, self.view
        scenario, claim = panel.scenario, panel.claim
        logs = ("x" if view.log_x else "") + ("y" if view.log_y else "")
        query = {
            SCENARIO: "" if scenario.name == DEFAULT else scenario.name,
            CLAIM: "" if claim is None else claim.name,
            RECIPE: self._recipe_words(panel.recipe, keep),
            PACE: "" if self.run_panel.pace.value == scenario.pace else f"{self.run_panel.pace.value:g}",
            AXIS: "" if view.x_axis == view.param.x_axis.default else view.x_axis,
            LOG: "" if logs == "y" else logs or LINEAR,
            OBJECTIVE: "" if not view.above_chosen else ABOVE if view.above else PLAIN,
            GUESS: panel.lesson.chosen,
            LESSON: ON if panel.lesson.open else "",
            PROJECTOR: ON if view.theme.projected else "",
            RACE_KEY: key,
            PAGE: page,
        }
        opened = {VERSION, TAB, STEP}  # they have had their effect
        others = [name for name in pn.state.session_args or {} if keep and name not in {*query, *opened}]
        return _query({**{name: query_value(name) for name in others}, **query})

    def _recipe_words(self, default: Recipe, keep: bool) -> str:
        recipe, awaited = self.sidebar.recipe, self.sidebar.data.awaited
        if recipe is None:
            return query_value(RECIPE)  # until the controls can be read again
        if keep and awaited is not None:
            return recipe.changed(data=awaited).to_words()  # a reload asks for the file once more
        return "" if recipe == default else recipe.to_words()


def _query(values: Mapping[str, str]) -> str:
    return "?" + urlencode({name: value for name, value in values.items() if value})


def open_words(sidebar: Sidebar, text: str) -> str:
    """Set the controls to a recipe in words; return a sentence for each part that cannot be used, or ""."""
    recipe, wrong = read_words(text[:MOST_LETTERS], Recipe())
    sentences, wanted = list(wrong), recipe.data
    expected = wanted.own and not sidebar.data.has(wanted.source)
    if expected:
        sentences.append("The link is for an uploaded file: open it under Data.")
        recipe = recipe.changed(data=sidebar.data.chosen)
    sidebar.load(recipe)
    if expected:
        sidebar.data.expect(wanted)
    return " ".join([*sentences, *_refused(sidebar, recipe)])


def _refused(sidebar: Sidebar, wanted: Recipe) -> list[str]:
    """Return a sentence for each part of a recipe that the controls did not take."""
    shown = sidebar.recipe
    if shown is None:
        return []  # the controls say so themselves
    return [
        f"“{key}={word.write(wanted)}” cannot be used here."
        for key, word in WORDS.items()
        if word.write(shown) != word.write(wanted)
    ]


SETUP, SIDEBAR, TABS, ALL = "setup", "sidebar", "tabs", "all"


class HideAndLock:
    """What the address of a page hides and locks; `wrong` is a sentence on names that do not exist, or ""."""

    def __init__(self) -> None:
        self._hidden, self._locked = _names(HIDE), _names(LOCK)
        self.wrong = ""

    @property
    def sidebar(self) -> bool:
        """Whether the page has a sidebar."""
        return SIDEBAR not in self._hidden

    def apply(self, sidebar: Sidebar, strip: Any) -> None:
        """Hide and lock controls of a sidebar, and the row of tabs."""
        bodies = {"scenario": sidebar.scenario.body}
        bodies |= {section.title.lower(): section.body for section in sidebar.sections}
        for name, body in bodies.items():
            if self._hidden & {name, SETUP}:
                body.visible = False
            body.locked = bool(self._locked & {name, SETUP, ALL})
        locked = [name for name, body in bodies.items() if body.locked and body.visible]
        say(sidebar.locked, f"Locked by the link: {', '.join(locked)}." if locked else "")
        if TABS in self._hidden:
            strip.visible = False
        sentences = [_unknown(HIDE, self._hidden, [*bodies, SETUP, SIDEBAR, TABS])]
        sentences.append(_unknown(LOCK, self._locked, [*bodies, SETUP, ALL]))
        self.wrong = " ".join(filter(None, sentences))


def _names(word: str) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in query_value(word).split(",") if name.strip())


def _unknown(word: str, names: Collection[str], known: Collection[str]) -> str:
    unknown = sorted(set(names) - set(known))
    return f"The link says {word}={quote(','.join(unknown))}; there are {', '.join(known)}." if unknown else ""
