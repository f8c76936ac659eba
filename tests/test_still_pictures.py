"""Pictures in notebooks: SVG of some kilobytes, in which a Gram matrix is an image of its numbers."""

import io
import re
from base64 import b64decode
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import holoviews as hv
import numpy as np
import pytest
from _problems import blobs, small_bank
from _sweeps import table
from IPython.core.formatters import DisplayFormatter
from PIL import Image

import mklviz as mv
from mklviz.views.look.palette import DARK, LIGHT
from mklviz.views.model.decision_pictures import draw_confusion
from mklviz.views.model.kernel_pictures import sequential
from mklviz.views.pictures import export
from mklviz.views.pictures.still import still
from mklviz.views.pictures.style import dressed

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


def test_a_picture_has_the_colours_of_its_page_and_what_is_not_drawn_is_left_to_holoviews() -> None:
    assert f'fill="{DARK.card}"' in (still(mv.plot.gram(BANK, 0, dark=True)) or "")
    odd: Any = hv.Polygons([{"x": [0, 1, 1], "y": [0, 0, 1]}]) * hv.VLine(0.5)
    assert still(dressed(odd, LIGHT)) is None
    assert still(hv.Curve([1, 2]), dressed_alone=True) is None  # somebody else's


def test_text_laid_over_a_picture_is_drawn() -> None:
    assert ">here</text>" in (still(PICTURES["gap"]() * hv.Text(2, 0.1, "here", fontsize=9)) or "")  # type: ignore[no-untyped-call]


def test_a_long_legend_goes_on_in_the_next_line() -> None:
    many = hv.Overlay([hv.Curve([0, k], label=f"a rather long name {k}").opts(show_legend=True) for k in range(6)])
    drawn = ElementTree.fromstring(still(dressed(many, LIGHT, legend_position="top")) or "")
    names = [each for each in drawn.iter() if (each.text or "").startswith("a rather")]
    assert len(names) == 6
    assert len({each.attrib["y"] for each in names}) > 1
    assert max(float(each.attrib["x"]) for each in names) < float(drawn.attrib["width"]) - 100
