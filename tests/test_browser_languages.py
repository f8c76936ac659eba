"""Pages in other languages, in a browser: two visitors at once, nothing wider than its place, no English left."""

from pathlib import Path
from typing import Any

import pytest
from _browser import Server, events_of, fresh_page
from _waits import wait_for
from test_languages import SHIPPED, marked, unmarked

from mklviz.language import languages
from mklviz.views.export.playground import playground_page
from mklviz.views.lessons.one_curve import CURVE_TITLE

pytestmark = pytest.mark.browser
# what is wider than the window, or than the element that cuts it off
WIDER = """() => [...document.querySelectorAll("#mklviz-front *, main *, header *")].filter((one) => {
  const cut = one.matches("a, button, h2, h3, p, label") && one.scrollWidth > one.clientWidth + 1
  return one.checkVisibility() && one.clientWidth && (cut || one.getBoundingClientRect().right > innerWidth + 1)
}).map((one) => one.outerHTML.slice(0, 120))"""
SAID = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), said = []
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement.closest("script, style, noscript")) said.push(walker.currentNode.data)
  }
  const named = [...document.body.querySelectorAll("[title], [aria-label]")]
  return [...said, ...named.flatMap((one) => [one.title ?? "", one.ariaLabel ?? ""])]
}"""


@pytest.mark.parametrize(
    "size", [(1280, 720), pytest.param((390, 844), marks=pytest.mark.product)], ids=["wide", "phone"]
)
def test_two_visitors_see_start_each_in_their_language(chromium: Any, server: Server, size: tuple[int, int]) -> None:
    width, height = size
    viewport = {"width": width, "height": height}
    pages = {code: fresh_page(chromium, locale=code, viewport=viewport) for code in ("en", *SHIPPED)}
    for page in pages.values():
        page.goto(f"http://127.0.0.1:{server.port}/explorer")
    for code, page in pages.items():
        page.locator("#mklviz-front .bar").wait_for(state="detached")
        assert page.evaluate("document.documentElement.lang") == code
        page.get_by_role("heading", name=languages()[code]("Lessons"), exact=True).wait_for()
        assert page.evaluate(WIDER) == []
        page.locator("#mklviz-front .way.first").click()
        page.get_by_role("heading", name=languages()[code](CURVE_TITLE)).wait_for()
        page.locator(".page.curve[data-drawn=square]").wait_for()
        assert page.evaluate(WIDER) == []


def test_a_language_is_chosen_and_stays_in_the_address(chromium: Any, server: Server) -> None:
    page = fresh_page(chromium, locale="fr")
    page.goto(f"http://127.0.0.1:{server.port}/explorer")
    page.get_by_role("link", name="Deutsch").click()
    page.locator("#mklviz-front .bar").wait_for(state="detached")
    page.get_by_role("navigation").get_by_role("link", name="Lektionen").click()
    page.locator("[data-scenario=line-search]").last.click()
    page.get_by_role("heading", name="Was eine Liniensuche kostet").wait_for()
    assert "lang=de" in page.url
    page.reload()
    page.get_by_role("button", name="▶ Lektion starten").wait_for()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("playground")
    for code in SHIPPED:
        (folder / f"{code}.html").write_text(playground_page(language=languages()[code]), encoding="utf-8")
    (folder / "marked.html").write_text(playground_page(language=marked()), encoding="utf-8")
    return folder


def answered(chromium: Any, file: Path, width: int = 1280) -> Any:
    page = fresh_page(chromium, viewport={"width": width, "height": 720})
    page.goto(file.as_uri())
    found = "playground.solved !== undefined && playground.shownFor === playground.asked"
    wait_for(lambda: page.evaluate(f"() => {found}"), found, events_of(page))
    return page


def test_nothing_on_the_playground_goes_past_the_catalogue(chromium: Any, pages: Path) -> None:
    page = answered(chromium, pages / "marked.html")
    assert unmarked(" ".join(page.evaluate(SAID))) == set()


@pytest.mark.parametrize("code", SHIPPED)
def test_longer_words_fit_the_playground(chromium: Any, pages: Path, code: str) -> None:
    for width in (1280, 390):
        page = answered(chromium, pages / f"{code}.html", width)
        assert page.evaluate(WIDER) == []
