"""What Bokeh would work out anew for each model is remembered by class, and stays what it was."""

from __future__ import annotations

import re
from types import FunctionType
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.core.property.instance import InstanceDefault
from bokeh.document import Document
from bokeh.model import Model
from bokeh.models import Label, Plot
from bokeh.plotting import figure

from mklviz.views.host.bokeh_defaults import remember_defaults
from mklviz.views.host.plot_pane import PlotPane


def models() -> list[type[Model]]:
    return sorted(Model.model_class_reverse_map.values(), key=lambda kind: kind.__qualified_model__)


def test_defaults_that_a_class_overrides_are_those_of_its_ancestors() -> None:
    remember_defaults()
    overridden = 0
    for kind in models():
        expected: dict[str, Any] = {}
        for ancestor in reversed(kind.__mro__):
            expected |= getattr(ancestor, "__overridden_defaults__", {})
        assert kind._overridden_defaults() == expected
        overridden += bool(expected)
    assert overridden > 100


def test_a_default_that_makes_something_new_is_still_known_for_one() -> None:
    remember_defaults()
    found = 0
    for kind in models():
        for name in kind.properties():
            descriptor = kind.lookup(name)
            own = kind.__overridden_defaults__.get(name)
            varies = descriptor.property._may_have_unstable_default() or isinstance(own, FunctionType | InstanceDefault)
            # a class stands in for its model: the answer asks for no more than what the class knows
            assert descriptor.has_unstable_default(object.__new__(kind)) == varies, (kind, name)
            found += varies
    assert found > 100


def test_models_do_not_share_what_their_defaults_make() -> None:
    remember_defaults()
    first, second = Plot(), Plot()
    assert first.title is not second.title
    assert first.tags is not second.tags


def drawn(pane: type[pn.pane.Bokeh]) -> list[str]:
    """Return what the models of a figure on a page are, without their ids."""
    plot = figure(height=190, sizing_mode="stretch_width", x_axis_label="step")
    plot.line([1, 2], [3, 4])
    plot.add_layout(Label(x=1, y=3, text="here"))
    document = Document()
    page = pmui.Page(main=[pn.Column(pane(plot, sizing_mode="stretch_width", margin=0))], dark_theme=True)
    page.server_doc(document)
    assert document.select_one({"type": Plot}) is plot
    values = ((type(model).__name__, model.properties_with_values()) for model in plot.references())
    return sorted(re.sub(r"id='[^']*'|p\d+", "", f"{name} {sorted(found.items())}") for name, found in values)


def test_a_figure_is_drawn_as_in_panels_own_pane() -> None:
    assert drawn(PlotPane) == drawn(pn.pane.Bokeh)


def test_a_figure_that_comes_later_takes_what_its_pane_was_told() -> None:
    pane = PlotPane(None, sizing_mode="stretch_width", margin=3, styles={"color": "red"})
    pane.object = plot = figure(height=190)
    assert (plot.sizing_mode, plot.margin, plot.styles, plot.height) == ("stretch_width", 3, {"color": "red"}, 190)
