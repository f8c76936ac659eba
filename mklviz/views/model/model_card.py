"""A section of the Model tab: a card whose figures are computed in a thread, and changed in place where possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib import import_module
from threading import Lock
from time import monotonic
from typing import Any

import panel as pn
from bokeh.models import FactorRange, GlyphRenderer, Range1d

from mklviz.context import interruptible
from mklviz.contract import Iterate
from mklviz.engine.background import Background
from mklviz.recipe.prepared import Prepared
from mklviz.views.form import Button, Form, FormRow
from mklviz.views.look import cards
from mklviz.views.look.palette import RunStyle, Theme
from mklviz.views.session.session import Session
from mklviz.views.sidebar.controls import note, say

__all__ = ["ModelCard", "ModelSection", "ShownModel", "Subject", "adopt"]

_DRAWN_BY = "mklviz.views.model.model_sections"  # which loads HoloViews, once somebody looks
_TURN = Lock()  # one section at a time in a process: HoloViews keeps its options in one place
_PATIENCE = 0.1  # seconds between two questions whether a section that waits is still wanted


@dataclass(frozen=True)
class Subject:
    """What is looked at.

    Attributes
    ----------
    prepared : Prepared
        The problem and its held-out samples.
    iterate : Iterate
    label : str
        Whose it is and when, such as "Level, step 3".
    style : RunStyle
    theme : Theme
    """

    prepared: Prepared
    iterate: Iterate
    label: str
    style: RunStyle
    theme: Theme


@dataclass(frozen=True)
class ShownModel:
    """What a section shows: a sentence, and Bokeh figures."""

    words: str
    figures: tuple[Any, ...] = ()


@dataclass(frozen=True)
class ModelSection:
    """What a card shows.

    Attributes
    ----------
    title : str
    draws : str
        The function of `mklviz.views.model.model_sections` that draws it.
    columns : str
        How its figures stand, as CSS ``repeat`` takes it.
    refuses : callable
        Says why there is nothing to show for a session, "" if there is something; None hides the card.
    resting : bool
        Whether it waits until the race rests.
    """

    title: str
    draws: str
    columns: str
    refuses: Callable[[Session], str | None]
    resting: bool = False


class ModelCard(pn.viewable.Viewer):
    """The card of one section.

    Attributes
    ----------
    key : object
        What the figures show, to be compared with what they should show.
    begun_at : float
        When they were asked for last.
    figures : tuple of figure
    trouble : str
        Why there are none.
    """

    def __init__(self, section: ModelSection) -> None:
        super().__init__()
        self.section, self.begun_at = section, 0.0
        self.key: object = None
        self.figures: tuple[Any, ...] = ()
        self.trouble = ""
        self._titles: list[pn.pane.HTML] = []
        self._work: Background[ShownModel] | None = None
        self._wanted: object = None
        self._words, self._progress = cards.html(), note()
        self._stop = Button(self.stop, label="Stop", variant="text", visible=False, width=80)
        self._place = cards.grid(columns=section.columns)
        heading = cards.html(cards.title(section.title))
        self.root = cards.card(heading, self._words, self._place, Form(FormRow(self._progress, self._stop)))

    @property
    def working(self) -> bool:
        """Whether the figures are being computed."""
        return self._work is not None

    def begin(self, key: object, subject: Subject) -> None:
        """Compute what `subject` shows, which is known by its `key`."""
        self._wanted, self.begun_at = key, monotonic()
        self._work = Background(partial(_shown, self.section.draws, subject), self.section.title)

    def stop(self, *_: Any) -> None:
        """Be content with what there is."""
        if self._work is not None:
            self._work.cancel()

    def refuse(self, reason: str | None) -> None:
        """Show `reason` in place of figures, or nothing at all."""
        self.stop()
        self._work = self.key = self._wanted = None
        self.root.visible = reason is not None
        self._show("", ())
        self._say(reason or "")

    def wait(self) -> None:
        """Say that there will be figures once the race rests, where there are none yet."""
        if not self.figures and not self.working and not self.trouble:
            self._say("Drawn when the race rests: pause it, or wait for its end.")

    def look(self) -> bool:
        """Take over what was computed; return whether figures were sent that take the place of others."""
        work = self._work
        if work is None:
            return False
        self._stop.visible = not work.ended and monotonic() - self.begun_at > 1.0
        if not work.ended:
            if self._stop.visible or not self.figures:
                self._say(f"Computing: {100 * work.fraction:.0f} %.")
            return False
        self._work, self.key, self.trouble = None, self._wanted, work.trouble
        self._say(work.trouble)
        return work.result is not None and self._show(work.result.words, work.result.figures)

    def _say(self, text: str) -> None:
        say(self._progress, text)

    def _show(self, words: str, figures: tuple[Any, ...]) -> bool:
        self._words.object = f'<p class="why">{escape(words)}</p>' if words else ""
        alike = len(figures) == len(self.figures)
        if alike and all(adopt(old, new) for old, new in zip(self.figures, figures, strict=True)):
            for title, plot in zip(self._titles, figures, strict=True):
                title.object = _title(plot)
            return False
        self.figures, self._titles = figures, [cards.html(_title(plot)) for plot in figures]
        self._place.objects = [_cell(*pair) for pair in zip(self._titles, figures, strict=True)]
        return bool(figures)

    def __panel__(self) -> pn.viewable.Viewable:
        return self.root


def _cell(title: Any, plot: Any) -> pn.Column:
    pane = pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0)
    return pn.Column(title, pane, margin=0, min_width=0, sizing_mode="stretch_width")


def _title(plot: Any) -> str:
    return f'<div class="head"><b>{escape(plot.title.text)}</b></div>' if plot.title.text else ""


def _shown(draws: str, subject: Subject, report: Callable[[float], None]) -> ShownModel:
    """Draw a section when it is its turn."""
    while not _TURN.acquire(timeout=_PATIENCE):
        report(0.0)
    done = 0.0

    def told(fraction: float) -> None:
        nonlocal done
        done = fraction
        report(fraction)

    try:
        with interruptible(lambda: report(done)):
            found: ShownModel = getattr(import_module(_DRAWN_BY), draws)(subject, told)
            return found
    finally:
        _TURN.release()


def adopt(old: Any, new: Any) -> bool:
    """Let a figure on a page show what a `new` one shows; return whether it could, as they are alike but for data."""
    pairs = list(zip(_glyphs(old), _glyphs(new), strict=False))
    alike = len(_glyphs(old)) == len(_glyphs(new)) and old.height == new.height
    if not alike or not all(_alike(one, other) for one, other in pairs):
        return False
    for name in ("x_range", "y_range"):
        one, other = getattr(old, name), getattr(new, name)
        if isinstance(one, FactorRange):
            one.factors = other.factors
        elif isinstance(one, Range1d):
            one.update(start=other.start, end=other.end, reset_start=other.reset_start, reset_end=other.reset_end)
    for one, other in pairs:
        one.data_source.data = dict(other.data_source.data)
        for mapper, fresh in zip(_mappers(one), _mappers(other), strict=True):
            mapper.update(low=fresh.low, high=fresh.high, palette=fresh.palette)
    return True


def _glyphs(plot: Any) -> list[GlyphRenderer]:
    return [found for found in plot.renderers if isinstance(found, GlyphRenderer)]


def _alike(one: GlyphRenderer, other: GlyphRenderer) -> bool:
    same = type(one.glyph) is type(other.glyph) and set(one.data_source.data) == set(other.data_source.data)
    colours = (str(getattr(found.glyph, name, "")) for name in ("line_color", "fill_color") for found in (one, other))
    return same and len(_mappers(one)) == len(_mappers(other)) and _plain(list(colours))


def _plain(colours: list[str]) -> bool:
    """Whether colours, two by two, are the same where they are named."""
    return all(a == b for a, b in zip(colours[::2], colours[1::2], strict=True) if a.startswith("#"))


def _mappers(renderer: GlyphRenderer) -> list[Any]:
    """Return what turns values into colours."""
    found = [getattr(renderer.glyph, "color_mapper", None)]
    fill = getattr(renderer.glyph, "fill_color", None)
    found.append(getattr(fill, "transform", None))
    return [mapper for mapper in found if hasattr(mapper, "palette")]
