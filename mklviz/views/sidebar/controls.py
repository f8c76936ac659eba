"""The bricks of the sidebar: a section, a heading, a note, and a text field that holds a value.

A section stands for some parts of an `Recipe`: `load` shows them, `parts` reads them back.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

import panel as pn
import panel_material_ui as pmui
import param

from mklviz.errors import ProblemError
from mklviz.recipe import Recipe

__all__ = ["GAP", "Section", "ValueField", "alert", "button", "heading", "note", "plain", "row", "say", "select"]

T = TypeVar("T")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]#|~])")
_BUTTON = {
    "minWidth": 0,
    "height": 32,
    "padding": "0 8px",
    "whiteSpace": "nowrap",
    "&.MuiButton-outlined:not(.Mui-disabled)": {"color": "text.primary", "borderColor": "divider"},
    "&.MuiButton-outlined:hover": {"borderColor": "primary.main"},
}
_UNSEEN_LABEL = {
    "components": {
        "MuiInputLabel": {
            "styleOverrides": {"root": {"clipPath": "inset(50%)", "width": 1, "height": 1, "overflow": "hidden"}}
        }
    }
}
GAP = (3, 0)  # margin above and below a control, beside it


class Section(pn.viewable.Viewer):
    """A part of the sidebar.

    Attributes
    ----------
    revision : int
        Counts the changes made to the controls.
    """

    title: ClassVar[str] = ""
    revision = param.Integer(default=0)

    def load(self, recipe: Recipe) -> None:
        """Show the parts of `recipe` this section stands for."""
        raise NotImplementedError

    def parts(self) -> Mapping[str, Any]:
        """Return the parts of a recipe as the controls stand.

        Raises
        ------
        MklvizError
            With a sentence, if a control holds something that cannot be used.
        """
        raise NotImplementedError

    def touched(self, *_: Any) -> None:
        """Say that a control has changed."""
        self.revision += 1


class ValueField(pn.viewable.Viewer, Generic[T]):
    """A text box that holds one value, and says under it in one sentence what is wrong with its text.

    Parameters
    ----------
    label : str
        Shown in the box.
    what : str
        The value's name in sentences, with a capital.
    parse : callable
        ``parse(text, what)`` returns the value or raises `ProblemError`.
    show : callable
        Returns the text of a value; None is shown as an empty box.
    """

    revision = param.Integer(default=0)

    def __init__(
        self,
        label: str,
        what: str,
        parse: Callable[[str, str], T],
        show: Callable[[Any], str],
        placeholder: str = "",
        doc: str = "",
        **layout: Any,
    ) -> None:
        super().__init__()
        self._what, self._parse, self._show = what, parse, show
        self.box = pmui.TextInput(
            label=label,
            placeholder=placeholder,
            description=doc,
            size="small",
            **{"sizing_mode": "stretch_width", "margin": GAP, **layout},
        )
        self.box.param.watch(self._entered, "value")

    @property
    def value(self) -> T:
        """The value; reading it raises `ProblemError` while the text cannot be used."""
        return self._parse(self.box.value, self._what)

    def set(self, value: Any) -> None:
        """Show a value."""
        self.box.value = "" if value is None else self._show(value)
        self._check()

    def _entered(self, *_: Any) -> None:
        self._check()
        self.revision += 1

    def _check(self) -> None:
        try:
            self._parse(self.box.value, self._what)
        except ProblemError as error:
            self.box.param.update(error_state=True, helper_text=str(error))
        else:
            self.box.param.update(error_state=False, helper_text="")

    def __panel__(self) -> Any:
        return self.box


def heading(text: str) -> pmui.Typography:
    """Return the heading of a section."""
    look = {"color": "text.secondary", "m": 0}
    return pmui.Typography(text.upper(), variant="h2", sx=look, margin=(14, 0, 4, 0), sizing_mode="stretch_width")


def note(text: str = "", **layout: Any) -> pmui.Typography:
    """Return a line of small grey text."""
    look = {"color": "text.secondary", "fontSize": "0.8rem", "lineHeight": 1.4, "m": 0, **layout.pop("sx", {})}
    settings = {"margin": (2, 2, 4, 2), "sizing_mode": "stretch_width", "visible": bool(text), **layout}
    return pmui.Typography(plain(text), variant="body2", sx=look, **settings)


def say(line: pmui.Typography | pmui.Alert, text: str) -> None:
    """Put `text` into a note or an alert, or hide it where there is none."""
    line.param.update(object=plain(text), visible=bool(text))


def plain(text: str) -> str:
    """Return `text` so that notes and alerts, which read Markdown, show it letter by letter."""
    return html.escape(_MARKDOWN.sub(r"\\\1", text), quote=False)


def alert(**settings: Any) -> pmui.Alert:
    """Return a hidden alert for one sentence about what went wrong."""
    sx = {"& .MuiAlertTitle-root": {"display": "none"}, "& p": {"m": 0}}
    return pmui.Alert(
        **{"severity": "error", "visible": False, "margin": GAP, "sizing_mode": "stretch_width", "sx": sx, **settings}
    )


def select(label: str, options: Mapping[str, Any], bare: bool = False, **settings: Any) -> pmui.Select:
    """Return a drop-down list; a bare one shows its value alone and its label only to screen readers."""
    look = {"theme_config": _UNSEEN_LABEL, "sx": {"& .MuiSelect-select": {"textAlign": "left"}}} if bare else {}
    return pmui.Select(
        label=label,
        options=options,
        **{"size": "small", "sizing_mode": "stretch_width", "margin": GAP, **look, **settings},
    )


def row(*controls: Any, **settings: Any) -> pmui.Row:
    """Return controls side by side."""
    return pmui.Row(
        *controls, **{"sizing_mode": "stretch_width", "margin": 0, "sx": {"alignItems": "center"}, **settings}
    )


def button(label: str, click: Callable[..., Any], **settings: Any) -> pmui.Button:
    """Return a button with a text, outlined unless said otherwise."""
    return pmui.Button(
        label=label,
        on_click=click,
        **{"variant": "outlined", "size": "small", "margin": GAP, "disable_elevation": True, "sx": _BUTTON, **settings},
    )
