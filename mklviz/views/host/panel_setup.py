"""Every setting of Panel, and what its pages need besides from the browser."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import cache, partial, wraps
from itertools import chain
from traceback import extract_tb
from typing import Any

import bokeh.model.util
import bokeh.protocol.messages.patch_doc
import bokeh.server.session
import panel as pn
import panel_material_ui as pmui
from bokeh.core.has_props import HasProps
from bokeh.core.property.bases import Undefined
from bokeh.core.property.descriptors import PropertyDescriptor
from bokeh.core.property.wrappers import PropertyValueDict, PropertyValueList, PropertyValueSet
from bokeh.core.serialization import Serializer
from bokeh.model import Model
from bokeh.models import CustomJS
from bokeh.server.contexts import ApplicationContext
from bokeh.server.session import ServerSession
from panel.io import document as panel_document
from panel.io.document import with_lock
from panel.io.notifications import NotificationAreaBase
from panel.io.resources import Resources
from panel.io.server import ComponentResourceHandler
from panel.io.state import set_curdoc, state
from panel.reactive import ReactiveCustomBase, Syncable
from panel.util import _descendents, edit_readonly
from panel_material_ui.theme import MaterialDesign
from param import Parameterized
from param.parameterized import no_instance_params
from tornado.web import HTTPError

from mklviz.engine.scheduler import SCHEDULER
from mklviz.views.host.beside import beside
from mklviz.views.host.page_session import is_served


def _block(name: str, html: str) -> str:
    held = html.replace("{%", "{% endraw %}{{ '{%' }}{% raw %}")  # titles of lessons of one's own may end what is raw
    return f"{{% block {name} %}}{{% raw %}}{held}{{% endraw %}}{{{{ super() }}}}{{% endblock %}}"


def _script(block: str, file: str) -> str:
    return _block(block, f"<script>{beside(__file__, file)}</script>")


# the scripts stand before those of Bokeh and Panel, and after
PAGE_TEMPLATE = (
    '{% extends "base.html" %}' + _script("preamble", "preamble.js") + _script("postamble", "built_first.js")
)


def page_template(html: str, language: str) -> str:
    """Return the template of a page in a language, with HTML of its own that is seen before the scripts are loaded."""
    return PAGE_TEMPLATE + _block("contents", f'<script>document.documentElement.lang = "{language}"</script>{html}')


def never_busy(page: pmui.Page) -> None:
    """Keep a page from walking twice through its document at each tick of a clock to say that the process is busy.

    Panel's state, which lives as long as the process, would also keep the pages of all sessions that are over.
    """
    with edit_readonly(page):
        page.busy = False
    for watcher in list(pn.state.param.watchers.get("busy", {}).get("value", [])):
        if getattr(getattr(watcher.fn, "__self__", None), "self", None) is page:
            pn.state.param.unwatch(watcher)


def served(page: pmui.Page) -> Iterator[None]:
    """Put a page on the document of its session, part by part; without one, leave that to what shows it."""
    document, parts = state.curdoc, {"main": page.main, "sidebar": page.sidebar}
    if document is None:
        return
    page.param.update(**{name: [] for name in parts})
    page.server_doc(document)
    yield from models_on(page, *chain.from_iterable(parts.values()))
    page.param.update(**parts)
    forget_params(chain.from_iterable(parts.values()))


def models_on(page: pmui.Page, *parts: Any) -> Iterator[None]:
    """Make the models of parts of a page that stands already, one by one; what is put around them will find them."""
    for root, _ in [*page._models.values()]:
        yield
        for part in parts:
            yield from _models_of(part, root)


def _models_of(part: Any, root: Model) -> Iterator[None]:
    parts, models = getattr(part, "objects", ()), part._models
    for inner in parts:
        yield from _models_of(inner, root)
    if root.id not in models:
        part._get_model(root.document, root)
    for inner in parts:  # a pane that draws another figure changes it in the layout that it knows
        inner._models[root.id] = inner._models[root.id][0], models[root.id][0]
    yield


# reconnect.js does the rest, which is why Bokeh does not reconnect by itself
_LOST = 'window.dispatchEvent(new CustomEvent("mklviz-lost"))'
_READY = beside(__file__, "page_ready.js")

_log = logging.getLogger(__name__)
_LOGGERS = ("bokeh.server.views.ws", "bokeh.server.protocol_handler", "asyncio", "tornado.application")
_HARMLESS = ("Failed sending message as connection was closed", "WebSocketClosedError", "Stream is closed")


def configure() -> None:
    """Load Panel's parts and set its options; to be called once per session, before anything is built."""
    import_nothing_for_component_files()
    answer_on_event_loop()
    answer_with_lock()
    tell_once()
    remember_looks()
    remember_files()
    share_params()
    messages: Any = bokeh.protocol.messages.patch_doc
    messages.Serializer = ReferencesWhenMet
    pn.extension(notifications=True, reconnect=False, exception_handler=_report)
    if is_served():
        SCHEDULER.niceness = 5  # with 50 pages on two cores the longest wait for an answer is 0.3 instead of 0.5 s
        pn.state.curdoc.js_on_event("connection_lost", CustomJS(code=_LOST))
        pn.state.curdoc.js_on_event("document_ready", CustomJS(code=_READY))
        pn.state.on_session_destroyed(_release_notifications)
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_is_of_no_closed_tab)  # adding it again does nothing


class ReferencesWhenMet(Serializer):
    """Refers to a model of the page when it meets it: Bokeh's writes references to all of them for each message."""

    def __init__(self, *, references: Any = frozenset(), **options: Any) -> None:
        super().__init__(**options)
        self._synced = references

    def has_ref(self, obj: Any) -> bool:
        return self.get_ref(obj) is not None

    def get_ref(self, obj: Any) -> Any:
        return obj.ref if isinstance(obj, Model) and obj in self._synced else super().get_ref(obj)


def _is_of_no_closed_tab(record: logging.LogRecord) -> bool:
    """Return False for what is logged when a tab is closed while a curve, or its last message, is on its way."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, AssertionError) and extract_tb(error.__traceback__)[-1].name == "session":
        return False  # Bokeh's connection has let go of its session
    text = record.getMessage() + (type(error).__name__ if error is not None else "")
    return not any(harmless in text for harmless in _HARMLESS)


def _report(error: Exception) -> None:
    """Log an unexpected error, and tell the user that there was one, unless the page tells of as many as it shows."""
    _log.error("An unexpected error", exc_info=error)
    area = pn.state.notifications
    if area is not None and len(area.notifications) < area.max_notifications:  # each one sends all of them anew
        area.error(f"Something went wrong ({type(error).__name__}); the server's log says more.")


def _release_notifications(context: Any) -> None:
    """Release the notification area of a session that is over: Panel 1.9 keeps it, and with it the whole page."""
    for ref, (view, _root, document, _comm) in list(pn.state._views.items()):
        if document is context._document and isinstance(view, NotificationAreaBase):
            del pn.state._views[ref]


# -- Faults of Panel and Bokeh that every page of this process works around.

_PLAIN = (str, int, float, type(None), type(Undefined))
_CONTAINERS = (PropertyValueDict, PropertyValueList, PropertyValueSet)


@cache
def remember_defaults() -> None:
    """Let Bokeh remember the defaults of each class; done once per process.

    It works them out anew, and checks them, for each of the 700 models of a race: a third of what a page costs. Even of
    a model that is sent it works out those of all properties, to send what was set alone.
    """
    models: Any = HasProps
    models.themed_values = lambda model: vars(model).get("__themed_values__")  # whose absence Bokeh looks for all over
    values_of = models.query_properties_with_values

    @wraps(values_of)
    def values(model: Any, query: Any, **wanted: bool) -> Any:
        if wanted.get("include_defaults", True) or wanted.get("include_undefined"):
            return values_of(model, query, **wanted)
        themed, made = model.themed_values() or {}, model._unstable_default_values
        asked = {name: model.lookup(name) for name in {**model._property_values, **made, **themed}}
        described = {name: descriptor.get_value(model) for name, descriptor in asked.items() if query(descriptor)}
        untouched = {name for name in made if isinstance(made[name], _CONTAINERS)} - set(themed)
        return {name: value for name, value in described.items() if name not in untouched}

    models.query_properties_with_values = values
    descriptors: Any = PropertyDescriptor
    defaults: Any = cache(models._overridden_defaults.__func__)
    varies: Any = cache(descriptors.has_unstable_default)  # which asks of a class what it asks of its models
    models._overridden_defaults = classmethod(defaults)
    work_out: Any = descriptors.instance_default
    plain: dict[tuple[type, str], Any] = {}
    empty: dict[tuple[type, str], Callable[[], Any]] = {}  # of each model its own, made when it is asked for

    def unstable(descriptor: Any, model: Any) -> bool:
        begins = not model._initialized and (type(model), descriptor.name) in empty  # Bokeh would make each of them
        return not begins and varies(descriptor, type(model))

    descriptors.has_unstable_default = unstable

    def default(descriptor: Any, model: Any) -> Any:
        about = type(model), descriptor.name
        if descriptor.name in (model.themed_values() or ()):
            return work_out(descriptor, model)
        if about in plain:
            return plain[about]
        if about in empty:
            return empty[about]()
        value = work_out(descriptor, model)
        if isinstance(value, _PLAIN) and not descriptor.has_unstable_default(model):
            plain[about] = value
        elif type(value) in _CONTAINERS and not value:
            made = model._overridden_defaults().get(descriptor.name, descriptor.property._default)
            if not callable(made):  # a function makes another one the next time
                empty[about] = type(value)
        return value

    descriptors.instance_default = default
    util: Any = bokeh.model.util
    visit_values = util.visit_immediate_value_references

    def visit(value: Any, visitor: Callable[[Any], None]) -> None:
        """Look for models in what a model has; to ask for a container would make an empty one that stays."""
        if not isinstance(value, HasProps):
            visit_values(value, visitor)
            return
        kind, themed = type(value), value.themed_values() or ()
        held = value._property_values.keys() | value._unstable_default_values.keys()
        for name in value.properties_with_refs():
            if name in held or name in themed or not ((kind, name) in plain or (kind, name) in empty):
                util.visit_value_and_its_immediate_references(getattr(value, name), visitor)

    util.visit_immediate_value_references = visit


@cache
def remember_looks() -> None:
    """Let the theme remember what it gives to each class of Panel's objects; done once per process.

    It looks for its file on the disk again for each of the hundred on a page: a twelfth of what building it costs.
    """
    design: Any = MaterialDesign
    work_out = design._get_modifiers.__func__
    known: dict[tuple[object, ...], tuple[dict[str, Any], Any]] = {}

    def modifiers(cls: type, viewable: Any, theme: Any, isolated: bool | None = None) -> tuple[dict[str, Any], Any]:
        served = bool(state.curdoc and state.curdoc.session_context)
        about = cls, type(viewable), theme if isinstance(theme, type) else type(theme), isolated, served
        if about not in known:
            known[about] = work_out(cls, viewable, theme, isolated)
        own, of_children = known[about]
        return {name: list(value) if isinstance(value, list) else value for name, value in own.items()}, of_children

    design._get_modifiers = classmethod(modifiers)


@cache
def remember_files() -> None:
    """Let Panel remember which files its components bring along; done once per process.

    It looks for those of each of two hundred classes and all its ancestors for every page: an eighth of what one costs.
    """
    resources: Any = Resources
    look = resources.extra_resources

    @cache
    def brought(kind: str, mode: str, *_: object) -> list[Any]:
        look(Resources(mode=mode), files := list[Any](), kind)
        return files

    @wraps(look)
    def extra_resources(asked: Any, files: list[Any], kind: str) -> None:
        if state.rel_path:  # which an address may say: remembering each would fill the memory
            look(asked, files, kind)
            return
        classes, extensions = len(_descendents(ReactiveCustomBase)), state._extensions
        known = brought(kind, asked.mode, extensions if extensions is None else tuple(extensions), classes)
        files.extend(file for file in known if file not in files)

    resources.extra_resources = extra_resources


@cache
def share_params() -> None:
    """Let our parts of all pages share what is known of their Params; done once per process.

    Each would have a copy of all of its Params, whose bounds and options no page changes. What others may bind to, a
    session or a view, keeps its copies: they say whose they are.
    """
    for kind in _descendents(Parameterized):
        module = kind.__module__
        if module.startswith("mklviz.views.") and module not in _BOUND and not issubclass(kind, pn.viewable.Viewer):
            no_instance_params(kind)


_BOUND = ("mklviz.views.session.session",)
_BOXES = {pn.Column, pn.Row, pn.Spacer, pn.pane.HTML, pn.pane.Bokeh}


def forget_params(parts: Iterable[Any]) -> None:
    """Drop the copies of Params that Panel's plain parts made, and make again when one of them is set.

    With those of our own parts they take a quarter of a page's memory.
    """
    for part in parts:
        for plain in part.select(lambda each: type(each) in _BOXES):
            plain._param__private.params.clear()


_PACKAGES = ("mklviz", "panel", "panel_material_ui")

_parse = ComponentResourceHandler.parse_url_path


def import_nothing_for_component_files() -> None:
    """Let ``/components/MODULE/CLASS`` find components of Panel and mklviz alone, in modules that are loaded already.

    Panel imports whatever module an address names, which runs that module's code.
    """
    ComponentResourceHandler.parse_url_path = _parse_loaded


def _parse_loaded(handler: ComponentResourceHandler, path: str) -> str:
    module, *names = path.split("/")
    known = vars(sys.modules[module]) if module.split(".")[0] in _PACKAGES and module in sys.modules else {}
    component = known.get(names[0]) if names else None  # not by getattr: a module's own __getattr__ may import
    if not isinstance(component, type) or not issubclass(component, Parameterized):
        raise HTTPError(404, "There is no component of that name")
    try:
        return _parse(handler, path)
    except (TypeError, IndexError) as error:  # what the address names holds no files
        raise HTTPError(404, "There is no such file") from error


@cache
def answer_with_lock() -> None:
    """Let Panel wait for the page and ask for its lock before it answers what a visitor does; done once per process.

    Panel does not send what changes on a page that is still drawn, and answers an event behind another one without the
    lock: Bokeh raises an error then, and the page keeps figures that the server no longer knows.
    """
    for name in ("_change_coroutine", "_event_coroutine"):
        setattr(Syncable, name, with_lock(_once_loaded(getattr(Syncable, name))))


def _once_loaded(answer: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @wraps(answer)
    async def answer_in_time(part: Syncable, document: Any, *event: Any, **names: Any) -> None:
        with set_curdoc(document):
            waits = document.session_context is not None and not state.loaded
            if waits:
                again = partial(getattr(part, answer.__name__), document, *event, **names)
                state.onload(partial(state.execute, again, schedule=True))
        if not waits:
            await answer(part, document, *event, **names)

    return answer_in_time


@cache
def tell_once() -> None:
    """Send no page behind its document what the document has; done once per process.

    Panel keeps messages until a socket is free: rows of a curve would come twice.
    """
    session: Any = ServerSession
    pull = session.pull

    async def pull_once(message: Any, connection: Any) -> Any:
        document = connection.session.document  # whose page may be gone when the answer is there
        reply = await pull(message, connection)
        getattr(panel_document, "_WRITE_MSGS", {}).get(document, {}).pop(connection, None)  # before Panel 1.10
        for connections, _ in getattr(panel_document, "_WRITE_EVENTS", {}).get(document, []):  # from then on
            if connection in connections:
                connections.remove(connection)
        return reply

    session.pull = pull_once


def with_page_locked(change: Callable[[], None]) -> None:
    """Change the page with the lock of its document, which a coroutine lacks behind an `await`."""
    document = state.curdoc
    if document is None or document.session_context is None:
        change()
    else:
        document.add_next_tick_callback(change)


def answer_on_event_loop() -> None:
    """Let pages be built and changed by the event loop alone, for which the views are made.

    From Bokeh 3.10 on servers use other threads, and Panel may then send a model's name before the model.
    """
    module: Any = bokeh.server.session
    session: Any = ServerSession
    context: Any = ApplicationContext
    if hasattr(module, "_run_in_executor"):
        module._run_in_executor = _at_once
        session._run_in_executor = lambda _, call, *args: _at_once(call, *args)
        context._can_initialize_document_in_worker = lambda _: False


async def _at_once(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return call(*args, **kwargs)
