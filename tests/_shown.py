"""What a view and a value show, read as a person would find it: by the words on it."""

from typing import Any

import panel as pn
from bokeh.models import ColumnDataSource

from mklviz.views.form import Form, FormPart, Note

__all__ = ["control", "controls", "html_of", "notes", "source_of", "words"]


def controls(view: Any) -> list[FormPart]:
    """Return the parts of all forms of a view, hidden ones too."""
    forms = [view.root] if isinstance(view.root, Form) else view.root.select(Form)
    return [part for form in forms for part in form.root.every()]


def control(view: Any, label: str) -> Any:
    """Return the one control of a view with this label."""
    (found,) = [part for part in controls(view) if getattr(part, "label", None) == label]
    return found


def notes(view: Any) -> list[str]:
    """Return what a view says in small text, as far as there is any."""
    return [part.object for part in controls(view) if isinstance(part, Note) and part.object]


def words(view: Any) -> str:
    """Return the HTML that a view shows between its forms and figures."""
    return " ".join(pane.object for pane in view.root.select(pn.pane.HTML) if isinstance(pane.object, str))


def source_of(plot: Any, name: str) -> ColumnDataSource:
    """Return a table of a Bokeh figure by its name."""
    source = plot.select_one({"name": name, "type": ColumnDataSource})
    assert isinstance(source, ColumnDataSource)
    return source


def html_of(value: Any) -> Any:
    """Return what a notebook shows of a value, None where that is no HTML."""
    return value._repr_html_()
