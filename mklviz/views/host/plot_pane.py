"""A figure on a page, which takes its colours from `mklviz.views.look.palette`."""

from __future__ import annotations

from typing import Any

import panel as pn
import param

__all__ = ["PlotPane"]


class PlotPane(pn.pane.Bokeh):
    """A `pn.pane.Bokeh` that does not look at all models of its figure to find none that it would change.

    Panel's looks three times: for the sizes that a figure sets, for scripts that name it, and for what a theme of Bokeh
    changes. Here sizes are those of the pane, no script names its figure, and the theme of the document does the rest.
    """

    @param.depends("object", watch=True)
    def _sync_properties(self) -> None:
        """Bring to the figure what the pane was told, and nothing else."""
        if self.object is not None:
            self.object.update(**{name: getattr(self, name) for name in self._overrides})

    def _get_model(self, doc: Any, root: Any = None, parent: Any = None, comm: Any = None) -> Any:
        if comm is not None or root is None or self.object is None or self.object.document not in (None, doc):
            return super()._get_model(doc, root, parent, comm)
        self._models[root.ref["id"]] = (self.object, parent)
        return self.object
