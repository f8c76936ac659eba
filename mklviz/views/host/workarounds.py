"""Faults of Panel and Bokeh that every page of this process works around."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial, wraps
from typing import Any

import bokeh.server.session
from bokeh.core.has_props import HasProps
from bokeh.core.property.descriptors import PropertyDescriptor
from bokeh.document import Document
from bokeh.document.events import ColumnDataChangedEvent
from bokeh.models import ColumnDataSource
from bokeh.server.contexts import ApplicationContext
from bokeh.server.session import ServerSession
from panel.io.document import with_lock
from panel.io.server import ComponentResourceHandler
from panel.io.state import set_curdoc, state
from panel.reactive import Syncable
from param import Parameterized
from tornado.web import HTTPError

__all__ = [
    *("all_columns_are_held", "answer_on_event_loop", "answer_with_lock", "document_of"),
    *("import_nothing_for_component_files", "remember_defaults", "walk_models_once", "with_page_locked"),
]


@cache
def remember_defaults() -> None:
    """Let Bokeh remember the defaults of each class; done once per process."""
    models: Any = HasProps
    of_class, may_vary = models._overridden_defaults.__func__, PropertyDescriptor.has_unstable_default

    @cache
    def overridden(kind: Any) -> dict[str, Any]:
        defaults: dict[str, Any] = of_class(kind)
        return defaults

    @cache
    def varies(descriptor: Any, kind: Any) -> bool:
        return bool(may_vary(descriptor, kind))

    def has_unstable_default(descriptor: Any, model: Any) -> bool:
        kind: Any = type(model)
        return varies(descriptor, kind)

    def overridden_defaults(kind: Any) -> dict[str, Any]:
        return overridden(kind)

    models._overridden_defaults = classmethod(overridden_defaults)
    descriptors: Any = PropertyDescriptor
    descriptors.has_unstable_default = has_unstable_default


_PACKAGES = ("mklviz", "panel", "panel_material_ui")

_parse = ComponentResourceHandler.parse_url_path


def import_nothing_for_component_files() -> None:
    """Let every server of this process answer so, even one that runs already."""
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
    """Let Panel wait for the page and ask for the lock before it answers; done once per process."""
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


def with_page_locked(change: Callable[[], None]) -> None:
    """Change the page by a function that is called with the lock of its document; at once where no server shows it.

    Behind an `await` of its own a coroutine has no lock: Panel lets it go on without, so that it holds up nothing.
    """
    document = state.curdoc
    if document is None or document.session_context is None:
        change()
    else:
        document.add_next_tick_callback(change)


def document_of(pane: Any) -> Document | None:
    """Return the document that a pane of Panel is in, or None."""
    return next((model.document for model, _ in pane._models.values()), None)


def walk_models_once(document: Document | None) -> AbstractContextManager[object]:
    """Let Bokeh look for all models of a document once for everything that is changed within, not for each change."""
    return document.models.freeze() if document is not None else nullcontext()


def all_columns_are_held(source: ColumnDataSource) -> bool:
    """Return whether Bokeh holds back all columns of a source.

    It writes their state when it releases them. Rows streamed in the meantime would be part of that state, and arrive
    twice.
    """
    held = [] if source.document is None else source.document.callbacks._held_events
    return any(isinstance(event, ColumnDataChangedEvent) and event.model is source for event in held)


def answer_on_event_loop() -> None:
    """Let every server of this process do so, even one that runs already; before Bokeh 3.10 all do."""
    if hasattr(bokeh.server.session, "_run_in_executor"):
        module: Any = bokeh.server.session
        session: Any = ServerSession
        context: Any = ApplicationContext
        module._run_in_executor = _at_once
        session._run_in_executor = lambda _, call, *args: _at_once(call, *args)
        context._can_initialize_document_in_worker = lambda _: False


async def _at_once(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return call(*args, **kwargs)
