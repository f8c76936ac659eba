"""Parts of a page: with a script of their own, and panes that send no more than what has changed."""

from __future__ import annotations

from typing import Any, ClassVar

import panel as pn
import param
from panel.custom import JSComponent
from panel.io.state import set_curdoc, state


class ScriptedComponent(JSComponent):
    """A component that draws itself in the browser by the script in its ``_esm``."""

    def receive(self, message: Any) -> None:
        """Answer a message of the script."""

    def send(self, message: Any) -> None:
        self._send_msg(message)

    def before_page(self) -> None:
        """Bring the parameters up to date; called before a page is given them for the first time."""

    def _handle_msg(self, data: Any) -> None:
        self.receive(data)

    def _get_model(self, *args: Any, **settings: Any) -> Any:
        self.before_page()
        return super()._get_model(*args, **settings)


class Pulse(JSComponent):
    """Invisible part of a page that counts up `_told` for its browser, which answers with `_heard`.

    Both go straight: Panel would wait for more answers, ask for the lock again, and work out the look of the component
    for each number, for which it asks the disk.
    """

    _told: ClassVar[str] = ""
    _heard: ClassVar[str] = ""

    def _param_change(self, *events: Any) -> None:
        document, names = state.curdoc, {event.name for event in events}
        # a tick holds the lock, and its changes back; what an upload calls after it has waited has neither
        ticks = document is not None and document.callbacks.hold_value is not None and state._unblocked(document)
        if not ticks or not names <= {self._told, self._heard}:
            super()._param_change(*events)
        elif self._told in names:
            for model, _ in self._models.values():
                setattr(model.data, self._told, getattr(self, self._told))

    def _server_change(self, doc: Any, ref: str, subpath: str | None, attr: str, old: Any, new: Any) -> None:
        if attr == self._heard:
            with set_curdoc(doc):
                setattr(self, attr, new)
        else:
            super()._server_change(doc, ref, subpath, attr, old, new)


class Markup(pn.pane.HTML):
    """A pane that sends its text alone when it changes; Panel's own sends its style sheets with it."""

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
