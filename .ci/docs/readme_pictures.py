"""Take the pictures of README and tutorial anew: the dashboard after a race, and SILP beside Level, moving.

    python .ci/docs/readme_pictures.py [FOLDER]

They go to FOLDER, or to their places in the repository. Needs Chromium or Chrome, on the path or in MKLVIZ_CHROMIUM.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from pictures import THEMES, animated, recorded
from PIL import Image
from playwright.sync_api import sync_playwright

from mklviz.bench._visitors import Server
from mklviz.engine.warmup import BEGINS

ROOT = Path(__file__).resolve().parents[2]
SIZE = {"width": 1440, "height": 1000}
PATIENCE = 300.0  # seconds, where everything may have to be compiled first
COLOURED = """(colour) => {
  const figures = [...Bokeh.documents[0].all_models].filter((m) => m.type === "Figure")
  const drawn = figures.filter((m) => Bokeh.index.find_one(m) !== null)
  return drawn.length > 0 && drawn.every((m) => m.background_fill_color === colour)
}"""
FRAMES = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


def main(folder: str = "") -> None:
    """Write all pictures."""
    docs = Path(folder) if folder else ROOT / "apps" / "docs"
    traces = recorded()
    for ending, theme in THEMES.items():
        docs.joinpath(f"silp-level{ending}.svg").write_text(animated(traces, theme), encoding="utf-8")
    path = os.environ.get("MKLVIZ_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        sys.exit("No browser: install Chromium or Chrome, or name one in MKLVIZ_CHROMIUM.")
    server = Server()
    try:
        server.wait()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            _take_all(browser.new_page(viewport=SIZE), server.port, docs)
    finally:
        server.end()


def _take_all(page: Any, port: int, docs: Path) -> None:
    page.goto(f"http://localhost:{port}/explorer?page=explore", timeout=1e3 * PATIENCE)
    page.locator("button:visible").filter(has_text="Run").first.click(timeout=1e3 * PATIENCE)
    page.get_by_role("status").filter(has_text="finished.").wait_for(timeout=1e3 * PATIENCE)
    page.get_by_text(BEGINS).wait_for(state="hidden", timeout=1e3 * PATIENCE)
    _take(page, docs, "screenshot")
    page.get_by_role("tab", name="Geometry").click()
    page.get_by_text("Paths of the kernel weights").wait_for(timeout=1e3 * PATIENCE)
    page.wait_for_timeout(3000)  # the map is being computed then
    page.get_by_text("Stop refining").wait_for(state="hidden", timeout=1e3 * PATIENCE)
    _take(page, docs, "geometry")


def _take(page: Any, docs: Path, name: str) -> None:
    """Save what is seen, light and dark, in 256 colours: a third of the bytes, and thin lines keep theirs."""
    page.mouse.move(0, 0)
    for ending, theme in THEMES.items():
        page.emulate_media(color_scheme="dark" if theme.dark else "light")
        page.wait_for_function(COLOURED, arg=theme.card, timeout=1e3 * PATIENCE)
        picture = Image.open(io.BytesIO(_still(page))).convert("RGB")
        few = picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
        few.save(docs / f"{name}{ending}.png", optimize=True)
    page.emulate_media(color_scheme="light")


def _still(page: Any) -> bytes:
    """Return the picture of a page on which nothing changes any more."""
    before, seen = b"", page.screenshot(animations="disabled")
    while seen != before:
        page.wait_for_timeout(2000)
        page.evaluate(FRAMES)
        before, seen = seen, page.screenshot(animations="disabled")
    return bytes(seen)


if __name__ == "__main__":
    main(*sys.argv[1:])
