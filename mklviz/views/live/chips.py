"""The legend as a row of buttons, one per solver: press to hide or show its curves everywhere."""

from __future__ import annotations

from typing import ClassVar

import param
from panel.custom import JSComponent

from mklviz.views.look.beside import LET_GO, beside

__all__ = ["Chips"]


class Chips(JSComponent):
    """Toggle buttons with the solver's line and marker.

    Attributes
    ----------
    items : list of dict
        ``key``, ``label`` and ``swatch`` (an SVG) of each.
    hidden : list of str
        Keys that are switched off.
    """

    items = param.List(default=[])
    hidden = param.List(default=[])

    _esm = LET_GO + beside(__file__, "chips.js")

    _stylesheets: ClassVar[list[str]] = [beside(__file__, "chips.css")]
