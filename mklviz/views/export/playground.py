"""The playground: one page without a server in which data, kernels and C are changed by hand and four solvers answer.

Everything is solved in the page (`host/mkl.js`, in a worker). From Python it has the points, the kernels that can be
chosen, the words of the figures and the colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mklviz.datasets import load_dataset
from mklviz.engine import make_solver
from mklviz.language import ENGLISH, Language, languages
from mklviz.record.archive import replacing
from mklviz.typing import Array
from mklviz.views.chart.columns import KERNELS_SHOWN, KernelSlots
from mklviz.views.chart.race_charts import ChartOptions, run_table
from mklviz.views.export.page import PAGE, PICTURE_COLOURS, page, page_colours, page_styles, words_data
from mklviz.views.host.beside import beside
from mklviz.views.host.solved_paths import SOLVER
from mklviz.views.lessons.triangle import TRIANGLE_SCRIPT, TRIANGLE_STYLE
from mklviz.views.look.palette import DASHES, LIGHT, RunStyle, Theme
from mklviz.views.look.styles import solver_styles

TITLE = "Playground"
ABOUT = (
    "Which mix of kernels makes the best support vector machine (SVM)? Four solvers look for it, in your browser."
    " Drag points, the start and sliders."
)
GAP = 1e-3
MOST_SAMPLES = 200
REACH = 2.8  # of the picture, in standard deviations
WIDTH = {"title": "width", "least": -4, "most": 3, "step": 0.25, "powers": True}  # of two
DEGREE = {"title": "degree", "least": 1, "most": 6, "step": 1, "powers": False}
KERNELS: tuple[tuple[str, str, str, float, dict[str, Any] | None, bool], ...] = (
    ("Gaussian", "gaussian", "both", 0.25, WIDTH, True),
    ("Gaussian", "gaussian", "both", 1.0, WIDTH, True),
    ("linear", "linear", "both", 1.0, None, True),
    ("polynomial", "polynomial", "both", 2.0, DEGREE, False),
    ("Gaussian of x", "gaussian", "x", 0.5, WIDTH, False),
    ("Gaussian of y", "gaussian", "y", 0.5, WIDTH, False),
    ("Laplacian", "laplacian", "both", 1.0, WIDTH, False),
    ("polynomial of x", "polynomial", "x", 3.0, DEGREE, False),
)
MEASURED = {  # two columns of data sets, and the class that is set against the others
    "iris": ("Iris", "petal_length", "sepal_width", "versicolor"),
    "wine": ("Wine", "alcohol", "colour", "cultivar 2"),
    "heart": ("Heart", "age", "max_rate", ""),
}
SCRIPTS = ("playground_points.js", "playground.js")


def save_playground(path: str | Path, language: str = "en") -> None:
    """Write the playground, a page that solves by itself wherever it is opened, in one of `languages`."""
    html = playground_page(language=languages()[language]).encode()
    with replacing(path) as file:
        file.write(html)


def playground_page(lead: str = "", language: Language = ENGLISH) -> str:
    """Return the playground as HTML; `lead`: HTML that stands first."""
    style = page_colours(_styles) + PICTURE_COLOURS + TRIANGLE_STYLE + beside(__file__, "playground.css")
    texts = {"solver": SOLVER, "worker": beside(__file__, "playground_worker.js")}
    kept = "".join(f'<script type="text/plain" class="{name}">{text}</script>' for name, text in texts.items())
    shows = TRIANGLE_SCRIPT + "".join(beside(__file__, name) for name in SCRIPTS)
    title, about = language(TITLE), language(ABOUT)
    return page(title, f"{title}: mklviz", about, _data(), style, shows, lead + kept, language)


def _styles(theme: Theme) -> dict[str, RunStyle]:
    return solver_styles({name: make_solver(name) for name in ("silp", "simplemkl", "level", "spg")}, theme)


def _data() -> dict[str, Any]:
    """Return what the scripts are told: points, kernels, and the words and charts of a race of the four solvers."""
    styles = page_styles(_styles(LIGHT))
    slots = KernelSlots([title for title, *_ in KERNELS[:KERNELS_SHOWN]])
    words = words_data(styles, ChartOptions(PAGE, gap_tolerance=GAP), slots)
    for chart, key in zip(words["weights"], styles, strict=True):
        chart["marks"] += [_grey_line(run_table(key), k) for k in range(KERNELS_SHOWN, len(KERNELS))]
    words["labels"] = {key: style.label for key, style in styles.items()}
    words["dashes"] = {key: DASHES[style.dash] for key, style in styles.items()}
    kernels = [
        {"title": title, "family": family, "on": on, "slider": slider, "colour": _colour(k)}
        for k, (title, family, on, _, slider, _) in enumerate(KERNELS)
    ]
    usual = {"data": "two_moons", "C": 100.0, "lambda": 0.8, "start": None}
    chosen = [{"on": used, "value": value} for *_, value, _, used in KERNELS]
    return {"words": words, "data": dict(_data_sets()), "kernels": kernels, "usual": usual | {"kernels": chosen}}


def _colour(k: int) -> str:
    return f"var(--kernel-{k})" if k < KERNELS_SHOWN else "var(--mk-muted)"


def _grey_line(table: str, k: int) -> dict[str, Any]:
    """Return the line of the weight of a kernel for which no hue is left."""
    dash = DASHES["dashed" if k % 2 else "dotted"]
    return {"table": table, "column": f"w{k}", "colour": _colour(k), "width": 1.6, "alpha": 1.0, "dash": dash}


def _data_sets() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the data sets: points [x, y, class], standardized, and what their axes are."""
    for name, title in {"two_moons": "Two moons", "rings": "Two circles"}.items():
        dataset = load_dataset(name)
        yield name, {"title": title, "axes": "", "points": _points(dataset.X, dataset.y)}
    rng = np.random.default_rng(0)
    centres = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])[np.arange(160) % 4]
    crossed = centres + 0.45 * rng.standard_normal((160, 2))
    yield "xor", {"title": "XOR", "axes": "", "points": _points(crossed, centres.prod(axis=1))}
    for name, (title, across, up, positive) in MEASURED.items():
        dataset = load_dataset(name)
        dataset = dataset.against_rest(positive) if positive else dataset
        columns = [dataset.feature_names.index(column) for column in (across, up)]
        axes = f"x: {across}, y: {up}".replace("_", " ")
        yield name, {"title": title, "axes": axes, "points": _points(dataset.X[:, columns], dataset.y)}


def _points(X: Array, y: Array) -> list[list[float]]:
    """Return at most `MOST_SAMPLES` points, standardized and within the picture."""
    some = np.linspace(0, len(X) - 1, min(len(X), MOST_SAMPLES)).round().astype(int)
    places = np.clip((X[some] - X.mean(axis=0)) / X.std(axis=0), -REACH, REACH).round(2)
    return [[*place, int(label)] for place, label in zip(places.tolist(), y[some], strict=True)]
