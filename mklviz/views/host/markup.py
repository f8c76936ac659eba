"""Markup on a page, of which only the text changes."""

from __future__ import annotations

from typing import Any

import panel as pn

__all__ = ["Markup"]


class Markup(pn.pane.HTML):
    """A pane that sends its text alone when it changes.

    Panel's own sends its style sheets as well, for which Bokeh walks through all models.
    """

    def _update(self, ref: str, model: Any) -> None:
        model.text = self._transform_object(self.object)["object"]
