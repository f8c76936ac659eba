"""The served dashboard behind its gate, in a browser: the policy forbids nothing it needs; uploads get answers."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from _browser import Pages, Program, Server, events_of, fresh_page, serving
from _waits import wait_for

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", params=[pytest.param("1", marks=pytest.mark.product), "2"])
def gated(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a fresh ``mklviz serve`` with a code, by one process or several."""
    words = ("-m", "mklviz", "serve", "--no-show", "--address=127.0.0.1", "--code=blackboard")
    server = Program(tmp_path_factory.mktemp("gated"), *words, f"--num-procs={request.param}")
    yield f"http://127.0.0.1:{server.port}/explorer"
    server.close()
    assert "the code is blackboard" in server.log
    assert not server.complaints, server.log


def test_who_gives_the_code_has_a_complete_page_in_which_nothing_that_a_person_does_is_refused(
    chromium: Any, pages: Pages, gated: str, tmp_path: Path
) -> None:
    rows = "".join(f"{i / 7:.60f},{i % 7 / 3:.60f},{'yes' if i % 2 else 'no'}\n" for i in range(5_000))
    (tmp_path / "mine.csv").write_text(f"a,b,class\n{rows}")  # more than one piece of half a megabyte
    first = pages.open(f"{gated}?code=blackboard&page=explore")  # of a fresh class
    assert first.status.startswith("Press Run")
    first.page.close()
    assert not pages.errors
    stranger = fresh_page(chromium)
    stranger.goto(gated)
    assert "opens with a code" in stranger.inner_text("body")
    stranger.fill("input", "blackboard")
    stranger.click("button")
    stranger.get_by_role("link", name="Explore").first.wait_for()
    assert "code" not in stranger.url
    app = pages.open(f"{gated}?recipe=data=two_moons;solvers=level,silp;max-iter=20")
    app.press("Run")
    app.until_finished()
    for tab in ("Geometry", "Model", "Race"):
        app.page.get_by_role("tab", name=tab).click()
        app.still(lambda: app.page.inner_text("body"), f"all of {tab}")
    app.page.set_viewport_size({"width": 900, "height": 700})
    app.page.emulate_media(color_scheme="dark")
    app.page.mouse.move(500, 400)
    app.page.mouse.wheel(0, 300)
    app.page.set_input_files("input[type=file]", tmp_path / "mine.csv")
    app.page.get_by_text("5,000 samples, 2 features").wait_for()


@pytest.mark.parametrize("gated", ["2"], indirect=True, scope="module")
def test_a_visitor_sees_his_own_races_and_his_switch_is_for_his_own_browser(chromium: Any, gated: str) -> None:
    """The recipe of a link stands in for A's own."""
    race, contexts = "recipe=data=heart;solvers=level;max-iter=20", [fresh_page(chromium).context for _ in "AB"]
    ours, theirs = map(Pages, contexts)
    rows, keep = ".row[data-id]", "Keep my races"
    away, before = (pages.open(f"{gated}?code=blackboard&{race}") for pages in (theirs, ours))
    chosen = ours.open(f"{gated}?code=blackboard&page=runs", button="Open").page
    chosen.get_by_role("switch", name=keep).click()
    again = ours.open(f"{gated}?page=runs", button="Open").page

    def heard() -> bool:  # a page says what the server knew when it built it
        switch = again.get_by_role("switch", name=keep)
        switch.wait_for()
        if kept := switch.is_checked():
            again.reload()
        return not kept

    wait_for(heard, "the switch", events_of(again))
    chosen.close()
    for app in (away, before):
        app.press("Run")
        app.until_finished()
    before.page.close()
    theirs_too = theirs.open(f"{gated}?page=runs", button="Open").page
    wait_for(lambda: theirs_too.locator(rows).count() == 1, "the race of the other", events_of(theirs_too))
    assert theirs_too.get_by_role("switch", name=keep).is_checked()
    again.reload()
    again.get_by_text("No race is saved here yet").wait_for()
    for query in ("follow=nobody", away.page.url.partition("?")[2]):
        other = contexts[0].new_page()
        other.goto(f"{gated}?{query}")
        wait_for(lambda: other.get_by_role("tab", name="Runs").count(), "the tabs", events_of(other))  # noqa: B023
        other.get_by_role("tab", name="Runs").first.click()
        other.get_by_text("No race is saved here yet").first.wait_for()
        assert other.locator(rows).count() == 0
        other.close()
    assert not ours.errors + theirs.errors


@pytest.mark.parametrize("script", ["panel-material-ui.bundle.js", "bokeh.min.js"])
def test_a_page_whose_script_does_not_come_says_so(chromium: Any, server: Server, script: str) -> None:
    page = chromium.new_page()
    try:
        page.route(f"**/{script}*", lambda route: route.fulfill(status=404, body="Not found"))
        page.goto(server.url())
        alert = page.get_by_role("alert").filter(has_text="not complete")
        alert.wait_for()
        assert script in alert.inner_text()
        page.unroute(f"**/{script}*")
        alert.get_by_role("button", name="Load again").click()
        page.get_by_role("button", name="Stop", exact=True).wait_for()  # of the dashboard itself
        assert alert.count() == 0
    finally:
        page.close()


PICTURES = "(url) => Promise.all([...Array(30).keys()].map((i) => new Promise((done) => { " + (
    "const picture = new Image(); picture.onload = picture.onerror = done; picture.src = `${url}?x=${i}` })))"
)


def test_pictures_and_frames_of_another_site_build_no_page_and_end_nothing_and_its_links_lead_in(
    chromium: Any, tmp_path: Path
) -> None:
    server = serving(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path / "elsewhere")  # a list of no files
    site = HTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    page = chromium.new_page()
    try:
        own = f"http://localhost:{server.port}"
        page.goto(f"http://127.0.0.1:{site.server_port}/")
        page.evaluate(PICTURES, f"{own}/explorer")
        page.evaluate(PICTURES, f"{own}/components/numpy.f2py.__main__/x/css/y")
        page.evaluate("(url) => { document.body.innerHTML += `<iframe src='${url}'></iframe>` }", f"{own}/explorer")
        wait_for(lambda: server.log.count("403 GET") >= 61, "61 refusals", events_of(page))
        assert "WebSocket" not in server.log
        page.evaluate("(url) => { document.body.innerHTML = `<a href='${url}'>here</a>` }", f"{own}/explorer")
        page.get_by_text("here").click()
        page.get_by_role("link", name="Explore").first.wait_for()
        assert server.runs
        wait_for(lambda: server.log.count("200 GET /explorer ") == 1, "one page in the log", events_of(page))
    finally:
        page.close()
        site.shutdown()
        site.server_close()
        server.close()
