"""What Panel and Bokeh know of the models of a document, and say nowhere in public."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from bokeh.document import Document
from bokeh.document.events import ColumnDataChangedEvent
from bokeh.models import ColumnDataSource

__all__ = ["all_columns_are_held", "document_of", "walk_models_once"]


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
