"""Parts of a page: with a script of their own, and panes that send no more than what has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import panel as pn
import param
from bokeh.models import ColumnDataSource, CustomJS
from panel.custom import JSComponent
from panel.io.state import set_curdoc, state

from mklviz.views.host.beside import CONTROLS, beside
from mklviz.views.host.solved_paths import DRAG_HANDLE


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


class Lone:
    """Mixed into a pane that has a place on a page: it has no row of its own, which Panel makes for every pane."""

    @staticmethod
    def default_layout(*_: Any, **_named: Any) -> Any:
        return SimpleNamespace(_models={})

    def _sync_layoutable(self, *_: Any) -> None:
        pass


class Markup(Lone, pn.pane.HTML):
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


class PlotPane(Lone, pn.pane.Bokeh):
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


# -- What is dragged on a figure of Bokeh: a point or a line while a picture follows, and a handle that is let go.
#
# The browser tells the newest state, and the next one when the picture of the last has been painted: so nothing queues,
# however slow a picture is.

_OF_FIGURE = """if (!asked.dragged) {
  asked.dragged = oneInFlight((columns) => { asked.data = columns })
  answered.change.connect(asked.dragged.painted)
}
const { say } = asked.dragged
"""


class DraggedFigure:
    """Hears of what is dragged on a figure; `on_state` is called with columns, as the browser says them."""

    def __init__(self, name: str, on_state: Callable[[Mapping[str, Any]], None]) -> None:
        self.asked = ColumnDataSource({}, name=f"{name}-asked")
        self.answered = ColumnDataSource({"count": [0]}, name=f"{name}-answered")
        self.asked.on_change("data", lambda _attr, _old, new: on_state(new))

    def script(self, code: str, **models: Any) -> CustomJS:
        """Return what a figure calls with an event: it says by `say(columns)` what it is about."""
        args = {"asked": self.asked, "answered": self.answered, **models}
        return CustomJS(args=args, code=CONTROLS + _OF_FIGURE + code)

    def answer(self) -> None:
        """Say that the picture shows the state told last, and that another one may be told."""
        self.answered.data = {"count": [self.answered.data["count"][0] + 1]}


FAR = 1e100  # beyond any figure


class DragHandle(ScriptedComponent):
    """The handle; `on_move` is called with a place in the figure's units, and whether it was let go there."""

    figure = param.String(default="", doc="Id of the figure that it lies on")
    place = param.List(default=[], doc="Where it lies when it is not dragged, x and y; empty where it is not shown")
    label = param.String(default="", doc="What it is, for who cannot see it")
    position = param.String(default="", doc="Where it is, for who cannot see it")
    share = param.Integer(default=0, bounds=(0, 100), doc="Where it is, as a percentage, which sliders must have")
    hint = param.String(default="", doc="What stands beside it until it has been dragged")
    on_move: Callable[[float, float, bool], None] | None = None
    handed = False  # whether the browser solves the paths by itself

    _esm = DRAG_HANDLE
    _stylesheets: ClassVar[list[str]] = [beside(__file__, "drag_handle.css")]

    def lie(self, figure: str) -> None:
        """Lie on the figure of that id, or on another map in it."""
        if self.handed:
            self.hand(None)
        self.figure = figure

    def hand(self, paths: Mapping[str, Any] | None) -> None:
        """Let the browser solve the paths by itself, see `solved_paths`, or no more."""
        self.handed = paths is not None
        self.send(paths or {})

    def receive(self, message: Any) -> None:
        """Hand on a place, if it is one."""
        at = message.get("at") if isinstance(message, dict) else None
        if self.on_move is None or not isinstance(at, list) or len(at) != 2:
            return
        if all(isinstance(one, (int, float)) and abs(one) < FAR for one in at):  # false for nan
            self.on_move(float(at[0]), float(at[1]), message.get("ended") is True)
