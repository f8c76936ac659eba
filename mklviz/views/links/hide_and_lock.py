"""What a link hides and what it locks, for a class or a frame in a page: ``?hide=setup,tabs&lock=data,kernels``.

Parts go by their names. A part that is hidden or locked keeps the values that the link or the scenario gives it. Anyone
can remove the two words from the address: they guide, but protect nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mklviz.quoting import quote
from mklviz.views.links.link import HIDE, LOCK, query_value
from mklviz.views.sidebar.controls import say
from mklviz.views.sidebar.sidebar import Sidebar

__all__ = ["ALL", "HIDE", "LOCK", "SETUP", "SIDEBAR", "TABS", "HideAndLock"]

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
