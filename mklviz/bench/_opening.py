"""What it costs to open the dashboard, beside a bare page of the same shell: a figure and twelve inputs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.plotting import figure
from panel.models.esm import ReactiveESM

from mklviz.bench._served import Served
from mklviz.bench._suite import Bench, Row
from mklviz.views.explorer.explorer import Explorer

__all__ = ["bare_page", "chromium", "open_pages", "opened", "page_rows"]

INPUTS = 12
SETTLED = 700  # milliseconds after a page can be used, in which it still draws
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking")
GOAL = 0.25  # the server may work four times as long as for the bare page


def bare_page() -> pmui.Page:
    """Return a page of the same shell with next to nothing on it."""
    plot = figure(height=300)
    plot.line([1, 2], [1, 2])
    fields = [
        pmui.Select(label=f"field {k}", options=["a", "b"]) if k % 2 else pmui.TextInput(label=f"field {k}")
        for k in range(INPUTS)
    ]
    return pmui.Page(title="bare", sidebar=fields, main=[pn.pane.Bokeh(plot)], busy_indicator=None)


def dashboard() -> pmui.Page:
    """Return the page of one visitor."""
    return Explorer().page()


@dataclass(frozen=True)
class Size:
    """How large a page is: models of Bokeh, components with a script of their own, bytes of the document."""

    models: int
    components: int
    nbytes: int

    def __str__(self) -> str:
        return f"{self.models} models, {self.components} components, {self.nbytes / 1e3:.0f} kB"


def opened(make: Callable[[], pmui.Page]) -> Size:
    """Build and write a page as a server does for a visitor."""
    document = Document()
    make().server_doc(document)
    text = serialize_json(document.to_json())
    models = list(document.models)
    return Size(len(models), sum(isinstance(model, ReactiveESM) for model in models), len(text))


def page_rows(bench: Bench) -> Iterator[Row]:
    """Compare what the server does for one visitor."""
    bench.say("a page on the server")
    seconds = bench.alternate({"dashboard": lambda: opened(dashboard), "bare": lambda: opened(bare_page)}, 5)
    note = f"{opened(dashboard)}; bare {opened(bare_page)}"
    pair = ("dashboard", seconds["dashboard"]), ("bare page", seconds["bare"])
    yield Row.of("server, one visitor", *pair, goal=GOAL, note=note)


@contextmanager
def chromium() -> Iterator[Any]:
    """Open a browser.

    Raises `FileNotFoundError` with a sentence, where there is none.
    """
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("MKLVIZ_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise FileNotFoundError(f"No browser: neither MKLVIZ_CHROMIUM nor any of {', '.join(names)} is there.")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise FileNotFoundError("No browser: playwright is not installed.") from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()


def open_pages(browser: Any, served: Served, rounds: int) -> dict[str, np.ndarray[Any, Any]]:
    """Open both pages in turn, (rounds, 2) each: CPU seconds of the page, and seconds until it can be used."""
    found: dict[str, list[tuple[float, float]]] = {"explorer": [], "bare": []}
    for _ in range(rounds):
        for name, visits in found.items():
            visits.append(_visit(browser, f"http://localhost:{served.port}/{name}"))
    return {name: np.array(visits) for name, visits in found.items()}


def _visit(browser: Any, address: str) -> tuple[float, float]:
    """Open a page in a context of its own, which has nothing in its cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(120_000)
    probe = context.new_cdp_session(page)
    probe.send("Performance.enable")
    page.goto(address, wait_until="commit")
    if address.endswith("bare"):
        page.get_by_label(f"field {INPUTS - 1}").wait_for()
    else:
        page.get_by_role("button", name="Run").first.click(trial=True)  # waits until it would be heard
    usable = page.evaluate("() => performance.now()") / 1e3
    page.wait_for_timeout(SETTLED)
    spent = {metric["name"]: metric["value"] for metric in probe.send("Performance.getMetrics")["metrics"]}
    context.close()
    return spent["TaskDuration"], usable
