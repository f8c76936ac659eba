"""What Bokeh would work out anew for each model is remembered by class, and stays what it was."""

from types import FunctionType
from typing import Any

from bokeh.core.property.instance import InstanceDefault
from bokeh.core.property.wrappers import PropertyValueContainer
from bokeh.document import Document
from bokeh.model import Model
from bokeh.models import CustomJS, Line, Plot
from bokeh.plotting import figure
from bokeh.themes import Theme

from mklviz.views.host.components import PlotPane
from mklviz.views.host.panel_setup import remember_defaults


def models() -> list[type[Model]]:
    return sorted(Model.model_class_reverse_map.values(), key=lambda kind: kind.__qualified_model__)


def test_a_default_that_makes_something_new_is_still_known_for_one() -> None:
    remember_defaults()
    found = 0
    for kind in models():
        for name in kind.properties():
            descriptor = kind.lookup(name)
            own = kind.__overridden_defaults__.get(name)
            varies = descriptor.property._may_have_unstable_default() or isinstance(own, FunctionType | InstanceDefault)
            # a class stands in for its model: the answer asks for no more than what the class knows
            model = object.__new__(kind)
            model._initialized = True
            assert descriptor.has_unstable_default(model) == varies, (kind, name)
            found += varies
    assert found > 100


def test_each_model_has_empty_containers_of_its_own_that_know_it_and_few_are_made() -> None:
    remember_defaults()
    for kind in (Plot, Line, CustomJS):
        one, other = kind(), kind()
        for name in sorted(kind.properties()):
            descriptor = kind.lookup(name)
            if isinstance(value := descriptor._get(one), PropertyValueContainer):
                assert value == descriptor.property.themed_default(kind, name, None)
                assert value is not descriptor._get(other)
                assert (one, descriptor) in value._owners
    one, other = Line(), Line()
    one.tags.append("changed")
    assert (one.tags, other.tags, Line().tags) == (["changed"], [], [])
    document, made = Document(theme=Theme(json={"attrs": {"Line": {"tags": [{"a": 1}]}}})), list[figure]()
    for _ in range(2):  # the defaults of each class are known from its first model
        plot = figure()
        plot.line([1, 2], [3, 4], name="one").js_on_change("visible", CustomJS())
        made.append(plot)
        document.add_root(plot)
    one, other = (plot.references() for plot in made)
    assert len(one) == len(other) > 20
    assert any(isinstance(model, CustomJS) for model in other)
    held = [value for model in other for value in model._unstable_default_values.values()]
    empty = [value for value in held if isinstance(value, PropertyValueContainer) and not value]
    assert len(empty) < len(other)  # Bokeh asks for some, where it would make seven for each


def test_of_a_model_is_sent_what_bokeh_itself_would_send() -> None:
    remember_defaults()
    values: Any = Plot.query_properties_with_values
    document, plot = Document(theme=Theme(json={"attrs": {"Plot": {"height": 77}, "Axis": {"tags": ["a"]}}})), figure()
    plot.line([1, 2], [3, 4], line_color="red", legend_label="one").tags.append("changed")
    document.add_root(plot)
    sent = {model: values(model, lambda each: each.serialized, include_defaults=False) for model in plot.references()}
    assert len(sent) > 20
    for model, found in sent.items():
        assert found == values.__wrapped__(model, lambda each: each.serialized, include_defaults=False)
    assert sent[plot]["height"] == 77


def test_a_figure_that_comes_later_takes_what_its_pane_was_told() -> None:
    pane = PlotPane(None, sizing_mode="stretch_width", margin=3, styles={"color": "red"})
    pane.object = plot = figure(height=190)
    assert (plot.sizing_mode, plot.margin, plot.styles, plot.height) == ("stretch_width", 3, {"color": "red"}, 190)
