"""Markup on a page, of which only the text changes."""

from __future__ import annotations

from typing import Any

import panel as pn

__all__ = ["Markup"]


class Markup(pn.pane.HTML):
    """A pane that sends its text alone when it changes.

    Panel's own sends its style sheets as well, for which Bokeh walks through all models.
    """

    _dressing = False

    def dress(self, sheets: list[str]) -> None:
        """Change the style sheets, of which a page hears only along with the text."""
        self._dressing, self.stylesheets = True, sheets
        self.param.trigger("object")
        self._dressing = False

    def _update(self, ref: str, model: Any) -> None:
        if self._dressing:
            super()._update(ref, model)
        else:
            model.text = self._transform_object(self.object)["object"]
