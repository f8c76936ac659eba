"""Pictures that stand still: curves and images are where their numbers are, names over no curve, in some kilobytes."""

import io
import math
import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise
from types import SimpleNamespace
from xml.etree import ElementTree

import holoviews as hv
import numpy as np
import pytest
from _problems import blobs, problem, ran, small_bank
from _sweeps import table
from _undrawn import DrawnChart, DrawnMark, draw_none
from IPython.core.formatters import DisplayFormatter
from PIL import Image

import mklviz as mv
from mklviz.engine import Race
from mklviz.views.chart.axes import axis_share, axis_span
from mklviz.views.chart.bokeh_figure import ChartFigure
from mklviz.views.chart.description import (
    Axis,
    Chart,
    Column,
    LineMark,
    Mark,
    NumberFormat,
    PointMark,
    RuleMark,
    TextMark,
)
from mklviz.views.chart.svg import drawing
from mklviz.views.chart.svg_pictures import path_still, race_still, trace_still
from mklviz.views.lessons.picture import Named, Picture, name_mark, with_names
from mklviz.views.lessons.pictures import recorded_picture
from mklviz.views.look.palette import DARK, LIGHT, Theme, theme_for
from mklviz.views.model.decision_pictures import draw_confusion
from mklviz.views.model.kernel_pictures import sequential
from mklviz.views.pictures import export
from mklviz.views.pictures.still import still
from mklviz.views.pictures.style import dressed

LINEAR, LOG = Axis(), Axis(scale="log")
SVG = "{http://www.w3.org/2000/svg}"


@cache
def raced() -> Race:
    return ran(Race(problem("noisy blobs, C = 10"), ["silp", "level"]))


def words(drawn: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(drawn).iter(f"{SVG}text")]


def lines(drawn: str, colour: str) -> list[list[tuple[float, float]]]:
    """Return the points of each line of a colour, pieces apart."""
    paths = [path for path in ElementTree.fromstring(drawn).iter(f"{SVG}path") if path.get("stroke") == colour]
    pieces = [piece for path in paths for piece in re.split("M", path.get("d", ""))[1:]]
    return [[(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", piece)] for piece in pieces]


def one(along: Sequence[float], up: Sequence[float], x: Axis = LINEAR, y: Axis = LINEAR) -> str:
    chart = Chart("one", "", x, y, [LineMark("one", colour="#123456")])
    return drawing([([chart], 200)], {"one": {"x": along, "y": up}}, "one", LIGHT)


def test_a_line_goes_through_its_points_in_proportion_without_those_on_a_straight_piece_of_it() -> None:
    [points] = lines(one([0, 1, 4], [0, 3, 4], y=Axis(start=0.0)), "#123456")
    (x0, y0), (x1, y1), (x2, y2) = points
    assert (x1 - x0) / (x2 - x0) == pytest.approx(1 / 4, abs=1e-3)
    assert (y1 - y0) / (y2 - y0) == pytest.approx(3 / 4, abs=1e-2)  # a tenth of a pixel of a hundred
    assert y2 < y0  # upwards
    [points] = lines(one(list(range(300)), [0.0] * 299 + [1.0]), "#123456")
    assert len(points) == 3
    assert points[-1][1] < points[0][1]


def test_what_cannot_be_drawn_is_a_hole() -> None:
    curve = [0, 1, 2, 3, 4, 5, 6], [1, 2, math.nan, 3, 0.0, 1, 5]
    assert [len(piece) for piece in lines(one(*curve, y=LOG), "#123456")] == [2, 1, 2]
    assert [len(piece) for piece in lines(one(*curve), "#123456")] == [2, 4]


@pytest.mark.parametrize("values", [[], [math.nan], [0.0], [-3.0, -1.0], [1e-300, 1e300], [5.0, 5.0]])
@pytest.mark.parametrize("y", [LINEAR, LOG])
@pytest.mark.parametrize("numbers", ["short", "exact", "percent"])
def test_any_numbers_make_a_picture(values: list[float], y: Axis, numbers: NumberFormat) -> None:
    drawn = one(list(range(len(values))), values, y=replace(y, numbers=numbers))
    assert "nan" not in drawn
    assert len(words(drawn)) > 2


def test_a_race_is_drawn_with_the_words_and_colours_of_the_dashboard_before_it_has_begun_too() -> None:
    drawn = race_still(raced(), 1e-2)
    told = {"Objective", "Duality gap", "SILP", "Level"}
    assert told | {"stop at 1 %", "iteration"} <= set(words(drawn))
    assert lines(drawn, "#0072b2")  # Level
    assert "SVM solves" in words(race_still(raced(), x="svm_solves"))
    assert told <= set(words(race_still(Race(problem("noisy blobs, C = 10"), ["silp", "level"]), 1e-2)))


def test_a_trace_is_drawn_alone_and_a_path_with_the_names_of_its_largest_kernels() -> None:
    assert {"Duality gap", "Level"} <= set(words(trace_still(raced().traces["level"])))
    assert "Level" in words(trace_still(mv.Trace("level", "Level")))
    assert "mine" in words(trace_still(mv.Trace("not-a-solver", "mine")))
    found = mv.path(problem("noisy blobs, C = 10"), "level", C=[100.0, 10.0, 1.0])
    shown = words(path_still(found, found))
    largest = found.kernel_names[int(found.weights.max(axis=0).argmax())]
    assert {"Kernel weights", "Kernels in use", "SVM solves", "C", largest} <= set(shown)


NAMED = {  # lessons whose curves have names, and these
    "silp-oscillates": {"SILP", "Level"},
    "best-response": {"SMKL", "SMKL, averaged"},
    "sparse-or-dense": {"simplex", "p = 4/3"},
    "noisy-svms": {"PGD, rough SVMs", "PGD 2, exact SVMs"},
    "second-order": {"Newton"},
    "certificate": {"averages", "each SVM alone", "equal start"},
    "without-svms": {"Level", "OGAProx", "average of all", "last step"},
    "silp-is-fine": {"… equal weights", "… SimpleMKL, Level, SPG"},
    "objective-and-accuracy": {"best: step 1"},
}
LETTER, LINE = 0.6, 0.9  # of the size of type, without the room around it
Box = tuple[float, float, float, float]
Point = tuple[float, float]


class Frame:
    """A chart in a frame of so many pixels."""

    def __init__(self, drawn: DrawnChart, size: tuple[float, float], theme: Theme = LIGHT) -> None:
        self.drawn, self.size, self.type = drawn, size, 13 * theme.scale
        self.axes = drawn.chart.x, drawn.chart.y
        values = [
            [value for mark in drawn.marks for value in mark.columns.get(field, []) if axis.shows(value)]
            for field, axis in zip("xy", self.axes, strict=True)
        ]
        self.spans = [axis_span(*each) for each in zip(values, self.axes, (0.01, 0.04), strict=True)]

    def pixel(self, place: Point) -> Point:
        along, up = (
            size * axis_share(value, span, axis.log)
            for size, value, span, axis in zip(self.size, place, self.spans, self.axes, strict=True)
        )
        return along, up

    def boxes(self) -> Iterator[tuple[str, Box]]:
        """Yield the names and where their letters are."""
        for drawn in self.drawn.of(TextMark):
            columns = drawn.columns
            for place, name in enumerate(columns["text"]):
                x, y = self.pixel((columns["x"][place], columns["y"][place]))
                x, y = x + columns["right"][place], y + columns["up"][place]
                wide, high = LETTER * self.type * len(name) / 2.0, LINE * self.type / 2.0
                yield name, (x - wide, y - high, x + wide, y + high)

    def lines(self) -> Iterator[tuple[Point, Point]]:
        """Yield the straight pieces of all curves that are painted."""
        for drawn in self.drawn.marks:
            points = [self.pixel(place) for place in self._points(drawn)]
            if isinstance(drawn.mark, PointMark):
                yield from ((point, point) for point in points)
            else:
                yield from pairwise(points)

    def _points(self, drawn: DrawnMark) -> list[Point]:
        if not isinstance(drawn.mark, (LineMark, PointMark, RuleMark)) or not drawn.mark.colour:
            return []
        if isinstance(drawn.mark, RuleMark):
            return [(x, y) for y in drawn.columns["y"] for x in self.spans[0]]
        return self.drawn.points(drawn)


def meets(piece: tuple[Point, Point], box: Box) -> bool:
    """Return whether a straight piece has a point within a box, of a hundred along it."""
    (x0, y0), (x1, y1) = piece
    along = np.linspace(0.0, 1.0, 101)
    x, y = x0 + along * (x1 - x0), y0 + along * (y1 - y0)
    return bool(((x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])).any())


def frames(picture: Picture, theme: Theme) -> Iterator[Frame]:
    """Yield the charts with names as a phone, a laptop and a projector show them."""
    low, high = (230.0, 340.0) if len(picture.rows) == 1 else (120.0, 120.0)
    for row in picture.rows:
        sizes = [(250.0, low), (675.0 if len(row) == 1 else 290.0, high)]
        for chart in row:
            if name_mark(chart.name) in chart.marks:
                drawn = draw_none(chart, picture.tables)
                yield from (Frame(drawn, size, theme) for size in ([(600.0, 130.0)] if theme.projected else sizes))


@pytest.mark.parametrize("theme", [LIGHT, theme_for(False, projected=True)], ids=["page", "projector"])
@pytest.mark.parametrize("name", NAMED)
def test_names_of_curves_are_over_no_curve_and_not_cut_in_any_frame(name: str, theme: Theme) -> None:
    picture = recorded_picture(name, theme)
    seen = set()
    for frame in frames(picture, theme):
        boxes = list(frame.boxes())
        seen |= {word for word, _ in boxes}
        pieces = list(frame.lines())
        assert [word for word, box in boxes if any(meets(piece, box) for piece in pieces)] == []
        for word, (left, low, right, high) in boxes:
            assert min(left, low) >= 0.0, word
            assert right <= frame.size[0], word
            assert high <= frame.size[1], word
        for (_, one), (_, other) in combinations(boxes, 2):
            assert one[0] > other[2] or other[0] > one[2] or one[1] > other[3] or other[1] > one[3]
    assert seen == NAMED[name]


def test_a_curve_that_leaves_another_is_named_where_it_has_left_it() -> None:
    picture = recorded_picture("silp-is-fine", LIGHT)
    for frame in frames(picture, LIGHT):
        boxes = dict(frame.boxes())
        valley = min(y for piece in frame.lines() for _, y in piece)
        assert boxes["… SimpleMKL, Level, SPG"][3] < valley < boxes["… equal weights"][1]


def drawn(*marks: Mark, **curves: list[float]) -> Picture:
    tables = {key: {"x": [0.0, 1.0, 2.0], "y": ys} for key, ys in curves.items()}
    return Picture([[Chart("curves", marks=marks)]], tables)


def test_a_name_is_nearest_to_its_own_curve_which_has_none_before_it_has_points() -> None:
    lines = [LineMark(key, colour="#000000") for key in ("low", "high")]
    names = [Named(key, "y", key, "#000000") for key in ("low", "high")]
    named = with_names(drawn(*lines, low=[0.0, 0.0, 0.0], high=[1.0, 1.0, 1.0]), "curves", names, LIGHT)
    table = named.tables["names-curves"]
    assert table["name"] == ["low", "high"]
    assert table["y"] == [0.0, 1.0]
    low, high = table["up"]
    assert 0.0 < low < 40.0
    assert -40.0 < high < 0.0
    empty = Picture([[Chart("curves", marks=lines[:1])]], {"low": {"x": [], "y": []}})
    named = with_names(empty, "curves", names[:1], LIGHT)
    assert not any(named.tables["names-curves"].values())
    assert named.charts[0].marks[-1] == name_mark("curves")


def test_a_figure_moves_each_name_by_its_own_pixels() -> None:
    figure = ChartFigure(Chart("curves", marks=[name_mark("curves")]), LIGHT, 300)
    glyph = figure.plot.renderers[0].glyph
    assert glyph.x_offset["field"] == "right"
    assert glyph.y_offset["field"] == "up"
    assert glyph.y_offset["transform"].func == "return -x"  # Bokeh counts pixels downwards
    assert name_mark("curves").up == Column("up")


def test_names_with_control_characters_make_a_picture_that_is_xml() -> None:
    name = "a\x00\x1b\ud800\uffff<b"
    chart = Chart("one", name, LINEAR, LINEAR, [LineMark("one", colour="#123456")])
    drawn = drawing([([chart], 200)], {"one": {"x": [0, 1], "y": [0, 1]}}, name, LIGHT)
    assert "a\ufffd\ufffd\ufffd\ufffd<b" in words(drawn)


# -- pictures of HoloViews in notebooks


X, Y = blobs(40, 0.2, features=2)
BANK = small_bank(X)
PROBLEM = mv.Problem(BANK, Y, mv.Hinge(10.0))
RACE = mv.race(PROBLEM, ["silp", "level"])
TRACE = RACE.traces["level"]
THREE = mv.Problem(mv.KernelBank.build(X, [mv.Gaussian(widths=(0.5, 1.0, 2.0))]), Y)
TWO = mv.Problem(mv.KernelBank.build(X, [mv.Gaussian(widths=(0.5, 2.0))]), Y)
PICTURES = {
    "gram": lambda: mv.plot.gram(BANK, 1, Y),
    "similarity": lambda: mv.plot.similarity(BANK),
    "decision": lambda: mv.plot.decision(PROBLEM, TRACE),
    "by feature": lambda: mv.plot.weights(TRACE, BANK, "feature"),
    "weights": lambda: mv.plot.weights(TRACE, dark=True),
    "gap": lambda: mv.plot.gap(RACE.traces),
    "simplex": lambda: mv.plot.simplex(mv.solve(THREE, "level"), problem=THREE),
    "segment": lambda: mv.plot.segment(TWO, mv.solve(TWO, "level")),
    "confusion": lambda: draw_confusion(np.array([[5, 1], [2, 7]]), ["no", "yes"], LIGHT),
    "profile": lambda: mv.plot.profile(table(), "svm_solves"),
    "profile of pairs": lambda: mv.plot.profile(table(), "svm_solves", "level"),
    "spread": lambda: mv.plot.spread(table(), "svm_solves"),
    "together": lambda: mv.plot.gap(RACE.traces) + mv.plot.gram(BANK, 1, Y),
}


@pytest.fixture
def formatter(monkeypatch: pytest.MonkeyPatch) -> DisplayFormatter:
    """What a kernel of Jupyter shows things by, with pictures registered."""
    shell = SimpleNamespace(display_formatter=DisplayFormatter())
    monkeypatch.setattr(export, "notebook_shell", lambda: shell)
    monkeypatch.setattr(hv.extension, "_loaded", False)
    export.show_in_notebooks()
    return shell.display_formatter


@pytest.mark.full
@pytest.mark.parametrize("name", PICTURES)
def test_a_notebook_keeps_kilobytes_of_every_picture_and_no_script(name: str, formatter: DisplayFormatter) -> None:
    shown, _ = formatter.format(PICTURES[name]())  # type: ignore[no-untyped-call]
    assert sum(map(len, shown.values())) < 195_000
    assert "<script" not in "".join(shown.values())
    drawn = ElementTree.fromstring(shown["image/svg+xml"])
    assert float(drawn.attrib["width"]) > 300
    places = re.findall(r'[ "][xy][12]?="([^"]*)"', shown["image/svg+xml"])
    assert places
    assert all(np.isfinite(float(place)) for place in places)
    assert not hv.extension._loaded  # which would bring six megabytes


LEFT = {
    "turned round": lambda: mv.plot.gap(TRACE).opts(invert_yaxis=True),
    "more colours than an image has": lambda: mv.plot.gram(BANK, 0).opts(hv.opts.Image(cmap="viridis")),
    "colours on a log scale": lambda: mv.plot.gram(BANK, 0).opts(hv.opts.Image(logz=True, clim=(0.01, 1.0))),
    "words on an axis": lambda: hv.Curve([("a", 1.0), ("b", 2.0)]),
    "a colour bar below": lambda: mv.plot.gram(BANK, 0).opts(hv.opts.Image(colorbar_position="bottom")),
    "a shape": lambda: dressed(hv.Polygons([{"x": [0, 1, 1], "y": [0, 0, 1]}]) * hv.VLine(0.5), LIGHT),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_not_drawn_here_is_left_to_holoviews(name: str) -> None:
    assert still(LEFT[name]()) is None  # type: ignore[no-untyped-call]


def test_who_loads_the_extension_sees_what_moves(formatter: DisplayFormatter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hv.extension, "_loaded", True)
    monkeypatch.setattr(hv.Store, "render", lambda picture: ({"text/html": "<script>moves</script>"}, {}))
    shown, _ = formatter.format(PICTURES["gap"]())  # type: ignore[no-untyped-call]
    assert "moves" in shown["text/html"]


def test_the_image_of_a_gram_matrix_has_its_numbers_the_first_sample_at_the_top_left() -> None:
    values = np.triu(np.arange(16.0).reshape(4, 4)) + np.triu(np.arange(16.0).reshape(4, 4), 1).T + 20.0 * np.eye(4)
    drawn = still(mv.plot.gram(mv.KernelBank.from_grams([values]), 0)) or ""
    (address, *_) = re.findall(r"data:image/png;base64,([^\"]+)", drawn)
    image = Image.open(io.BytesIO(b64decode(address)))
    shades, palette = np.asarray(image), sequential(LIGHT)
    wanted = values / values.diagonal().mean()
    top = float(np.quantile(wanted, 0.995))
    np.testing.assert_array_equal(shades, np.clip((wanted / top * len(palette)).astype(int), 0, len(palette) - 1))
    assert list(image.convert("RGB").getpixel((0, 0)) or ()) == list(bytes.fromhex(palette[shades[0, 0]][1:]))


def test_a_picture_has_the_colours_of_its_page_and_text_laid_over_it_and_somebody_elses_is_left_to_holoviews() -> None:
    assert f'fill="{DARK.card}"' in (still(mv.plot.gram(BANK, 0, dark=True)) or "")
    assert ">here</text>" in (still(PICTURES["gap"]() * hv.Text(2, 0.1, "here", fontsize=9)) or "")  # type: ignore[no-untyped-call]
    assert still(hv.Curve([1, 2]), dressed_alone=True) is None


def test_a_long_legend_goes_on_in_the_next_line() -> None:
    many = hv.Overlay([hv.Curve([0, k], label=f"a rather long name {k}").opts(show_legend=True) for k in range(6)])
    drawn = ElementTree.fromstring(still(dressed(many, LIGHT, legend_position="top")) or "")
    names = [each for each in drawn.iter() if (each.text or "").startswith("a rather")]
    assert len(names) == 6
    assert len({each.attrib["y"] for each in names}) > 1
    assert max(float(each.attrib["x"]) for each in names) < float(drawn.attrib["width"]) - 100
