"""A figure on a page, without Panel's walks through its models."""

from __future__ import annotations

from typing import Any

import panel as pn
import param

__all__ = ["PlotPane"]


class PlotPane(pn.pane.Bokeh):
    """A `pn.pane.Bokeh` that does not walk through all models of its figure.

    Panel's pane does so three times: for the sizes that a figure sets, for scripts that name it, and for what a theme
    of Bokeh changes. Here the pane sets the sizes, no script names the figure, and the document has the theme.
    """

    @param.depends("object", watch=True)
    def _sync_properties(self) -> None:
        """Set on the figure the properties that were set on the pane, and nothing else."""
        if self.object is not None:
            self.object.update(**{name: getattr(self, name) for name in self._overrides})

    def _get_model(self, doc: Any, root: Any = None, parent: Any = None, comm: Any = None) -> Any:
        if comm is not None or root is None or self.object is None or self.object.document not in (None, doc):
            return super()._get_model(doc, root, parent, comm)
        self._models[root.ref["id"]] = (self.object, parent)
        return self.object
