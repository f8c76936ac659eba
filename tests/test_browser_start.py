"""The page that opens, in a browser: paths run before the page is loaded, links lead on, and the start is dragged."""

import os
import re
import signal
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from _browser import Server, at_rest, complaints, events_of, fresh_page, held, is_broken, loaded, middle, serious
from _waits import wait_for, wait_until_still

from mklviz.views.explorer.page import CURVE
from mklviz.views.look.palette import DARK, LIGHT
from mklviz.views.start.front import front_html

LINES = "[...document.querySelectorAll('#mklviz-front .paths .line')].map((line) => line.getAttribute('d'))"
pytestmark = pytest.mark.browser

START_DRAWN = "document.querySelectorAll('#mklviz-front .paths .dot').length"


@pytest.fixture
def page(chromium: Any, server: Server) -> Iterator[Any]:
    """The page at the bare address, in a browser that was never here, loaded as a whole: its console stays empty."""
    opened = fresh_page(chromium, viewport={"width": 1280, "height": 720})
    errors = complaints(opened, is_broken)
    opened.goto(f"http://127.0.0.1:{server.port}/explorer")
    loaded(opened)
    yield opened
    assert not errors, errors


def turn(page: Any, title: str) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=title).click()
    page.locator(f"a[aria-current=page]:text-is('{title}')").wait_for()


def shown(page: Any) -> str:
    return str(page.locator("#mklviz-front").get_attribute("data-open"))


def test_paths_run_in_the_html_itself_and_can_be_stopped(chromium: Any, server: Server) -> None:
    page = fresh_page(chromium, reduced_motion="no-preference", viewport={"width": 1280, "height": 720})
    # no script of the dashboard comes, and the page does not load itself again for it, as where it was cut off
    page.route("**/static/**", lambda route: route.fulfill(status=404))
    page.goto(f"http://127.0.0.1:{server.port}/explorer", wait_until="commit")
    page.wait_for_function(f"{START_DRAWN} > 2 && (document.querySelector('#mklviz-front .map .play').click(), true)")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    before = wait_until_still(lambda: page.evaluate(START_DRAWN), "paths that are held", events_of(page))
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_function(f"{START_DRAWN} > {before}")
    page.get_by_role("button", name="Play again").wait_for()
    assert page.evaluate(START_DRAWN) == 13 + 4 + 4
    assert page.get_by_role("link", name="Explore").get_attribute("href") == "?page=explore"  # leads on, all the same
    page.get_by_role("link", name="Lessons", exact=True).press("Enter")  # the banner lies over it
    page.wait_for_url("**/explorer?page=lessons")
    page.go_back(wait_until="commit")
    assert page.url.endswith("/explorer?page=start")  # and back to what was there


def test_the_links_lead_to_everything_and_back_and_the_race_stays(page: Any, server: Server) -> None:
    assert page.get_by_role("heading", name="mklviz").count() == 1
    turn(page, "Explore")
    page.get_by_role("button", name="Run").wait_for()
    wait_for(lambda: shown(page) == "explore", "the dashboard", events_of(page))
    turn(page, "Claims")
    turn(page, "Lessons")
    page.locator("section.all li a").nth(2).click()
    wait_for(lambda: shown(page) == "explore", "the lesson", events_of(page))
    menu = page.get_by_role("combobox", name="Scenario", include_hidden=True)  # a lesson folds the controls away
    chosen = menu.locator("option:checked")
    wait_for(lambda: chosen.text_content() == "Three kernels from above", "the lesson in the menu", events_of(page))
    wait_for(lambda: "scenario=three-kernels" in page.url, "its address", events_of(page))
    page.locator("a[aria-current=page]:text-is('Lessons')").wait_for()
    turn(page, "Explore")
    page.get_by_role("button", name="Run lesson").wait_for(state="hidden")
    turn(page, "Runs")
    page.get_by_role("textbox", name="Search").wait_for()
    wait_for(lambda: page.get_by_role("tab").count() == 0, "no tabs", events_of(page))
    page.go_back()
    page.get_by_role("tab", name="Geometry").wait_for()
    page.goto(f"http://127.0.0.1:{server.port}/explorer")  # who was here before lands there again
    loaded(page)
    wait_for(lambda: shown(page) == "explore", "the dashboard", events_of(page))
    turn(page, "Lessons")
    page.locator("section.all li a").nth(2).click()
    wait_for(lambda: shown(page) == "explore", "the lesson", events_of(page))
    page.goto(f"http://127.0.0.1:{server.port}/explorer")  # after a lesson, at the start
    loaded(page)
    wait_for(lambda: shown(page) == "start", "the start", events_of(page))
    assert page.get_by_role("slider", name="Start of the solvers").is_visible()
    page.get_by_role("link", name="Use my own table").click()  # and the focus is where files are opened
    wait_for(lambda: shown(page) == "explore", "the dashboard", events_of(page))
    page.wait_for_function("""() => { let node = document.activeElement
      while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
      return node?.type === "file" }""")


def test_each_address_of_the_history_stays_that_of_its_page_however_slow_the_server_is(
    page: Any, server: Server
) -> None:
    there = []

    def stand() -> None:
        page.wait_for_function("window.mklvizTurning === false")  # all is answered
        there.append((shown(page), page.url.partition("page=")[2]))

    turn(page, "Lessons")
    turn(page, "Claims")
    os.kill(server.pid, signal.SIGSTOP)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Runs").click()
    page.go_back()
    page.go_back()
    os.kill(server.pid, signal.SIGCONT)
    stand()
    for go in (page.go_forward, page.go_forward, page.go_back, page.go_back, page.go_back):
        go()
        stand()
    assert there == [(name, name) for name in ("lessons", "claims", "runs", "claims", "lessons", "start")]


def drag_start(page: Any) -> None:
    """Drag the handle of the start with the mouse, down and to the left."""
    x, y = middle(page.locator(".handle .knob"))
    with held(page, x, y):
        page.mouse.move(x - 50, y + 50, steps=3)


def test_the_start_follows_pointer_and_keys_and_former_paths_stay_until_cleared(page: Any) -> None:
    wait_for(lambda: page.evaluate(START_DRAWN) == 13 + 4 + 4, "the paths", events_of(page))
    page.locator("#mklviz-front .best").wait_for()
    assert page.evaluate("performance.getEntriesByName('mklviz-path-moves').length") == 0  # who wants no motion
    handle = page.get_by_role("slider", name="Start of the solvers")
    assert handle.get_attribute("aria-valuetext") == "chest pain 33 %, vessels 33 %, thal 33 %"
    recorded = page.evaluate(LINES)
    drag_start(page)
    wait_for(lambda: page.evaluate(LINES) != recorded, "paths from there", events_of(page))
    assert page.evaluate("document.querySelectorAll('#mklviz-front .ghosts path').length") == 3
    dragged = handle.get_attribute("aria-valuetext")
    handle.press("ArrowUp")
    assert handle.get_attribute("aria-valuetext") != dragged
    page.get_by_role("button", name="Undo").click()
    assert handle.get_attribute("aria-valuetext") == dragged
    page.get_by_role("button", name="Undo").click()
    wait_for(lambda: page.evaluate(LINES) == recorded, "the recorded paths", events_of(page))
    handle.press("ArrowLeft")
    page.get_by_role("button", name="Clear old paths").click()
    assert page.evaluate("document.querySelectorAll('#mklviz-front .ghosts path').length") == 0
    words = handle.get_attribute("aria-valuetext")
    page.evaluate("""() => { for (const name of ["movementX", "movementY"])  // which some browsers do not tell
      Object.defineProperty(PointerEvent.prototype, name, { get: () => 0 }) }""")
    drag_start(page)
    wait_for(lambda: handle.get_attribute("aria-valuetext") != words, "the start elsewhere", events_of(page))
    for _ in range(3):
        handle.press("End")  # to the corner, and no further
    assert handle.get_attribute("aria-valuetext") == "chest pain 0 %, vessels 100 %, thal 0 %"
    page.get_by_role("button", name="Undo").click()
    assert "100 %" not in handle.get_attribute("aria-valuetext")


def test_a_click_on_the_start_moves_nothing_and_what_was_undone_draws_nothing_any_more(page: Any) -> None:
    recorded = page.evaluate(LINES)
    page.locator(".handle .reach").click()
    assert not page.get_by_role("button", name="Undo").is_visible()
    assert page.evaluate("document.querySelectorAll('#mklviz-front .ghosts path').length") == 0
    page.evaluate("""() => { const sent = Worker.prototype.postMessage  // undone as soon as it is asked for
      Worker.prototype.postMessage = function (asked) {
        sent.call(this, asked)
        const drawn = () => requestAnimationFrame(() => { window.late = 1 })
        this.addEventListener("message", () => requestAnimationFrame(drawn))
        queueMicrotask(() => document.querySelector("#mklviz-front .undo").click())
      } }""")
    page.get_by_role("slider", name="Start of the solvers").press("ArrowUp")
    page.wait_for_function("window.late")
    assert page.evaluate(LINES) == recorded


ENDED = re.compile(r"Step \d+(: done|, the last one drawn)\.")


def words(page: Any) -> list[str]:
    return [said.replace("\xa0", " ") for said in page.locator(".curve .panel p").all_inner_texts()]


def test_the_first_lesson_takes_the_steps_of_the_papers_example_from_wherever_it_begins(chromium: Any) -> None:
    page = fresh_page(chromium)
    page.set_content(f'<div id="loader"></div>{front_html(CURVE)}')  # without a server
    page.locator(".page.curve[data-drawn=square]").wait_for()
    assert words(page) == ["", ""]  # before a guess
    page.get_by_role("button", name="x = 0").click()
    told = page.locator(".curve .told").inner_text()
    assert "x\xa0=\xa04" in told  # never broken across lines
    assert told.replace("\xa0", " ") == "You said x = 0. It was x = 4, the lowest point of the only cut."
    assert [said[said.rindex("x = ") :] for said in words(page)] == ["x = 4.", "x = −2.3."]
    assert "level 4.8" in page.locator(".panel.level svg").text_content()
    page.keyboard.press("ArrowRight")
    assert words(page)[0].endswith(
        "promised −33 here, but the curve is at 16. SILP goes where its cuts are lowest: x = 0.5."
    )
    page.get_by_role("button", name="Back").click()
    handle, before = page.get_by_role("slider", name="Start of both").last, words(page)
    handle.press("Shift+ArrowRight")
    wait_for(lambda: words(page)[1] != before[1], "the run from there", events_of(page))
    wait_for(lambda: handle.get_attribute("aria-valuetext") == "x\xa0=\xa0−2.2", "the start", events_of(page))
    (x, y), before = middle(page.locator(".panel.silp .knob")), words(page)
    with held(page, x, y):
        page.mouse.move(x - 2000, y)  # no farther than the curve
    wait_for(lambda: handle.get_attribute("aria-valuetext") == "x\xa0=\xa0−4", "the start at the end", events_of(page))
    wait_for(lambda: words(page)[1] != before[1], "the run from there", events_of(page))
    level = page.get_by_role("slider", name="Level, by λ")
    for _ in range(9):
        level.press("Shift+ArrowDown")
    wait_for(lambda: " 0 %" in words(page)[1], "the run with that λ", events_of(page))
    assert words(page)[1].endswith("below it: x = 4.")  # as SILP
    at_rest(page.locator(".panel.level"))

    def height(name: str) -> float:
        """Return where a flat line of the picture is on the page."""
        line = page.locator(f".panel.level path.{name}")
        return float(line.evaluate("(line) => line.getBoundingClientRect().y"))

    x = page.locator(".panel.level path.level").evaluate("(line) => line.getBoundingClientRect().x") + 20
    best, stood = height("best"), height("level")  # which is taken hold of anywhere
    halfway = (stood + best) / 2
    with held(page, x, stood):
        page.mouse.move(x, halfway)
        wait_for(lambda: abs(height("level") - halfway) < 3, "the level under the pointer", events_of(page))
        page.mouse.move(x, best - 500)  # no farther than makes sense
    wait_for(lambda: " 95 %" in words(page)[1], "the run with the largest λ", events_of(page))
    wait_for(lambda: level.get_attribute("aria-valuetext") == "λ = 0.95", "the largest λ", events_of(page))
    for name in ("kink", "flat", "wall", "data"):
        page.locator(f"[data-curve={name}]").click()
        page.locator(f".page.curve[data-drawn={name}]").wait_for()
        page.locator("h2").first.evaluate("() => document.activeElement.blur()")
        page.keyboard.press("End")
        wait_for(lambda: all(map(ENDED.search, words(page))), f"the end of {name}", events_of(page))
        if name == "kink":
            silp, level = words(page)
            assert silp == "Step 2: done. The best height found is 0, and the curve is nowhere below 0."
            assert re.match(r"Step \d+: done. In \d+ steps the curve lay on the cuts, but Level stops", level)
            assert level.endswith("each left 95 % of the gap. SILP goes to the bound: 2 steps.")


# each key moves the level, at once; what is asked last is solved once the first answer has been drawn
HASTE = """(level) => {
  window.told = []
  const words = document.querySelector(".panel.level p"), sent = Worker.prototype.postMessage
  new MutationObserver(() => told.push(words.innerText)).observe(words, { childList: true })
  let first = true
  Worker.prototype.postMessage = function (asked) {
    const now = () => sent.call(this, asked)
    if (first) now()
    else requestAnimationFrame(() => requestAnimationFrame(now))
    first = false
  }
  for (let k = 0; k < 9; k++) level.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", shiftKey: true }))
}"""


def test_the_sentence_names_the_level_of_its_own_step_while_the_level_is_moved_on(chromium: Any) -> None:
    page = fresh_page(chromium)
    page.set_content(f'<div id="loader"></div>{front_html(CURVE)}')
    page.locator(".page.curve[data-drawn=square]").wait_for()
    page.get_by_role("button", name="x = 0").click()
    page.get_by_role("slider", name="Level, by λ").evaluate(HASTE)
    wait_for(lambda: len(page.evaluate("told")) > 1, "both answers", events_of(page))
    first, last = (said.replace("\xa0", " ") for said in page.evaluate("told"))
    assert "the level is 80 %" in first
    assert not first.endswith("x = 4.")
    assert "the level is 0 %" in last
    assert last.endswith("x = 4.")


PAINTED = "document.querySelector('.handle .knob') && performance.getEntriesByName('first-contentful-paint').length"
LOOKS = """[...document.querySelectorAll('#mklviz-front :is(.paths .line, .legend span)')]
  .map((node) => (node.getAttribute('style') ?? '') + node.textContent)"""


def swipe(finger: Any, x: float, y: float) -> None:
    """Move a finger up and to the left."""
    for step in range(30):
        kind = "touchMove" if step else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x - step, "y": y - 4 * step}]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_paths_follow_mouse_finger_and_keys_while_the_server_is_stopped(chromium: Any, server: Server) -> None:
    page = fresh_page(chromium, has_touch=True)
    page.goto(f"http://127.0.0.1:{server.port}/explorer", wait_until="commit")
    page.wait_for_function(PAINTED)
    os.kill(server.pid, signal.SIGSTOP)
    try:
        looks, hint = page.evaluate(LOOKS), page.locator("#mklviz-front .hint")
        handle, finger = page.get_by_role("slider", name="Start of the solvers"), page.context.new_cdp_session(page)

        def fingered() -> None:
            swipe(finger, *middle(page.locator(".handle .knob")))

        seen, told = [page.evaluate(LINES)], set()
        for drag in (partial(drag_start, page), fingered, partial(handle.press, "Shift+ArrowLeft")):
            drag()
            wait_for(lambda: page.evaluate(LINES) not in seen, "paths from there", events_of(page))
            wait_until_still(lambda: page.evaluate(LINES), "the paths of the last place", events_of(page))
            seen.append(page.evaluate(LINES))
            told.add(hint.inner_text())
            assert page.evaluate(LOOKS) == looks
    finally:
        os.kill(server.pid, signal.SIGCONT)
    said = r"SILP: \d+ solves.*; Level: \d+.*; SPG: \d+.*\. Each ends within [\d.]+.% of the lowest\."
    assert all(re.fullmatch(said, words) for words in told)
    assert len(told) > 1


def test_a_finger_drags_the_start_and_scrolls_the_page_elsewhere(chromium: Any, server: Server) -> None:
    phone = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 844}}
    page = fresh_page(chromium, **phone)
    page.goto(f"http://127.0.0.1:{server.port}/explorer")
    loaded(page)
    finger, handle = page.context.new_cdp_session(page), page.get_by_role("slider", name="Start of the solvers")

    scrolled = "document.querySelector('#mklviz-front .scroll').scrollTop"
    before, knob = handle.get_attribute("aria-valuetext"), at_rest(page.locator(".handle .knob"))
    swipe(finger, knob["x"] + knob["width"] + 8, knob["y"] + 4)
    assert page.evaluate(scrolled) == 0
    moved = at_rest(page.locator(".handle .knob"))
    assert (moved["x"], moved["y"]) == pytest.approx((knob["x"] - 29, knob["y"] - 116), abs=30)
    assert handle.get_attribute("aria-valuetext") != before
    swipe(finger, 200, 700)
    page.wait_for_function(f"{scrolled} > 0")


# counts pictures, and those in which what the server has drawn for a light page is seen
WATCHED = """
window.drawn = window.light = 0
const all = (node) => [node, ...[...(node.shadowRoot ?? node).children].flatMap(all)]
const look = () => {
  requestAnimationFrame(look)
  if (!document.body) return
  drawn += 1
  const front = document.getElementById("mklviz-front"), cover = front && getComputedStyle(front)
  if (cover && cover.display !== "none" && cover.backgroundColor === "DARK") return
  light += all(document.body).some((node) => getComputedStyle(node).getPropertyValue("--mk-page") === "LIGHT")
}
look()
"""


def test_a_page_that_follows_is_dark_from_its_first_picture(chromium: Any, server: Server) -> None:
    page = fresh_page(chromium, color_scheme="dark")
    dark = "rgb({}, {}, {})".format(*bytes.fromhex(DARK.page[1:]))
    page.add_init_script(WATCHED.replace("DARK", dark).replace("LIGHT", LIGHT.page))
    page.goto(f"http://127.0.0.1:{server.port}/explorer?follow=nobody")
    page.get_by_text("This race has ended, or the link is incomplete.").wait_for()
    page.wait_for_function("drawn > 9 && getComputedStyle(document.getElementById('mklviz-front')).display === 'none'")
    assert page.evaluate("light") == 0


@pytest.mark.parametrize(
    ("scheme", "width", "words"),
    [("light", 1280, ""), ("dark", 390, ""), pytest.param("dark", 1280, "?projector", marks=pytest.mark.product)],
)
def test_it_fits_its_screen(chromium: Any, server: Server, scheme: str, width: int, words: str) -> None:
    viewport = {"width": width, "height": 720 if width > 600 else 844}
    page = fresh_page(chromium, color_scheme=scheme, viewport=viewport)
    page.goto(f"http://127.0.0.1:{server.port}/explorer{words}")
    loaded(page)
    wide = "(node) => node.scrollWidth <= node.clientWidth"
    assert page.locator("#mklviz-front .scroll").evaluate(wide)
    names = page.locator("#mklviz-front .map .corner")
    map_box = at_rest(page.locator("#mklviz-front figure.map"))
    for name in names.all():
        box = name.bounding_box()
        assert map_box["x"] <= box["x"]
        assert box["x"] + box["width"] <= map_box["x"] + map_box["width"]
    for title in ("Start", "Lessons", "Explore", "Runs"):
        link = page.get_by_role("navigation", name="Pages").get_by_role("link", name=title).bounding_box()
        assert link["x"] >= 0
        assert link["x"] + link["width"] <= width
    if words:
        ways = [way.bounding_box() for way in page.locator("#mklviz-front .start .way").all()]
        assert [way["y"] + way["height"] < 720 for way in ways] == [True] * 3
        sizes = "[...document.querySelectorAll('#mklviz-front .start :is(p, h2, .said, .hint, b, button)')]"
        assert page.evaluate(f"Math.min(...{sizes}.map((node) => parseFloat(getComputedStyle(node).fontSize)))") >= 20
        drawn = "[...document.querySelectorAll('#mklviz-front .map text')]"
        seen = "parseFloat(getComputedStyle(node).fontSize) * node.getScreenCTM().a"
        assert page.evaluate(f"Math.min(...{drawn}.map((node) => {seen}))") >= 20
    assert serious(page) == []
    turn(page, "Lessons")
    assert serious(page) == []
    page.locator("section.all li a").first.click()
    page.locator(".page.curve[data-drawn]").wait_for()
    assert serious(page) == []


@pytest.mark.product
def test_no_lesson_has_a_word_in_the_console(page: Any) -> None:
    turn(page, "Lessons")
    links = page.locator("#mklviz-front .lessons a").evaluate_all("(all) => all.map((link) => link.href)")
    assert links
    for link in links:
        page.goto(link)
        if "page=curve" in link:  # which nothing runs: it stands on the front page
            page.locator("#mklviz-front[data-open=curve]").wait_for()
            continue
        loaded(page)
        page.get_by_role("button", name="Run").first.wait_for()


def test_at_twice_the_size_everything_in_the_header_can_be_read(chromium: Any, server: Server) -> None:
    page = fresh_page(chromium, viewport={"width": 640, "height": 360})
    for section in ("start", "explore"):
        page.goto(f"http://127.0.0.1:{server.port}/explorer?page={section}")
        loaded(page)
        at_rest(page.get_by_role("link", name="Runs", exact=True).first)
        for name in ("Start", "Lessons", "Claims", "Explore", "Runs"):
            box = page.get_by_role("link", name=name, exact=True).first.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 640
        assert page.evaluate("document.documentElement.scrollWidth") <= 640
