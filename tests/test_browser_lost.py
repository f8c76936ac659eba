"""A page whose connection is lost goes on where it was, or says that it must start again."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest
from _browser import OF_THE_CUT, App, Pages, Program, serving
from _proxy import Proxy

pytestmark = pytest.mark.browser
RACE = "data=heart; solvers=pgd,spg; gap=none; max-iter=20000"
LOST, SILENT = "The connection is lost", "The server has not answered"
INERT = "() => [...document.body.children].some((node) => node.inert)"
WORDS = ("--address", "127.0.0.1", "--allow-websocket-origin=*")


@pytest.fixture(scope="module")  # which one test starts again
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    running = serving(tmp_path_factory.mktemp("own"), *WORDS)
    yield running
    running.close()


@pytest.fixture
def pages(chromium: Any) -> Iterator[Pages]:
    opened = Pages(chromium)
    yield opened
    opened.close()
    unexpected = [error for error in opened.errors if not re.search(OF_THE_CUT, error)]
    assert not unexpected, "\n".join(unexpected)


@pytest.fixture
def proxy(own: Program) -> Iterator[Proxy]:
    between = Proxy(own.port)
    yield between
    between.close()


def racing(pages: Pages, port: int, pace: int = 2) -> App:
    """Open a race that outlasts the test, and start it."""
    app = pages.open(f"http://127.0.0.1:{port}/explorer?recipe={quote_plus(RACE)}&pace={pace}&x=svm_solves")
    app.press("Run")
    app.until_running()
    return app


def banner(app: App) -> str:
    # it may go meanwhile
    return str(app.page.evaluate("() => document.getElementById('mklviz-connection')?.innerText ?? ''"))


def goes_on(app: App) -> None:
    """Wait until every curve grows, with no hole and no step twice: of many steps not all are drawn."""
    before = app.points()
    app.until(lambda: all(n > before[key] + 3 for key, n in app.points().items()), "the curves to go on")
    for curve in app.curves().values():
        assert curve["iteration"][0] == 0
        assert all(0 < later - step <= 2 + step // 20 for step, later in pairwise(curve["iteration"]))


def follow(app: App, pages: Pages) -> None:
    """Let somebody else open the link to the race: a page that shows it grow and cannot touch it."""
    link = app.page.locator("a", has_text="?follow=").get_attribute("href")
    student = pages.open(str(link), button="SVM solves")
    student.until_running()
    before = student.points()
    student.until(lambda: all(n > before[key] for key, n in student.points().items()), "the curves to grow")
    assert student.button("Pause").count() == student.button("Run").count() == 0
    student.page.close()
    before = app.points()
    app.until(lambda: all(n > before[key] for key, n in app.points().items()), "the race to go on")


def test_what_is_lost_comes_back_and_a_reload_finds_its_race_which_others_can_follow(
    proxy: Proxy, pages: Pages
) -> None:
    app = racing(pages, proxy.port)
    proxy.cut()
    app.until(lambda: LOST in banner(app), "the page to say that it is cut off")
    app.until(lambda: app.page.evaluate(INERT), "the page to be inert")
    app.rest(6000)  # the race is held meanwhile
    sockets: list[Any] = []
    sent: list[int] = []

    def opened(socket: Any) -> None:
        sockets.append(socket)
        socket.on("framesent", lambda frame: sent.append(len(frame)))

    app.page.on("websocket", opened)
    proxy.mend()
    app.until(lambda: not banner(app), "the page to come back")
    goes_on(app)
    assert sum(not socket.is_closed() for socket in sockets) == 1
    assert sum(sent) < 30_000  # letters; the document has a million, and the server has it already
    app.press("Pause")
    app.until(lambda: app.status.startswith("Paused"), "the buttons to work again")
    app.press("Resume")

    before = app.points()
    app.page.reload()
    app.button("Pause").wait_for()
    app.until(lambda: app.points() and all(n > before[key] for key, n in app.points().items()), "its race")
    solves = app.button("SVM solves")
    app.until(lambda: solves.get_attribute("aria-pressed") == "true", "the axis of before")
    has_its_pace(app)
    follow(app, pages)


def has_its_pace(app: App) -> None:
    pace = app.page.get_by_role("combobox", name="pace")
    app.until(lambda: pace.input_value() == "2 steps/s", "the pace of before")


def starts_again(app: App) -> None:
    """Wait until the page has started again by itself, with the same set-up and with what the store has of its race."""
    app.page.get_by_text("as the store has saved it").wait_for()
    app.until(lambda: bool(app.points()) and min(app.points().values()) > 1, "the race of before")
    has_its_pace(app)
    assert set(app.points()) == {"pgd", "spg"}
    app.race_again()
    app.until_running()


def test_a_server_that_was_started_again_is_said_and_the_set_up_is_kept(own: Program, pages: Pages) -> None:
    app = racing(pages, own.port)
    student = pages.open(str(app.page.locator("a", has_text="?follow=").get_attribute("href")), button="SVM solves")
    own.close()
    app.until(lambda: LOST in banner(app), "the page to say that the server is gone")
    own.start()
    starts_again(app)
    student.until_running()  # who followed the race follows it again


def test_a_page_that_was_away_for_too_long_starts_again_with_its_set_up(tmp_path: Path, pages: Pages) -> None:
    own = serving(tmp_path, *WORDS, life=2.0)
    proxy = Proxy(own.port)
    try:
        app = racing(pages, proxy.port)
        proxy.cut()
        app.until(lambda: LOST in banner(app), "the page to say that it is cut off")
        session = app.page.evaluate("mklvizConnection.session")
        alive = f"http://127.0.0.1:{own.port}/explorer/alive?session={session}"
        app.until(lambda: app.page.request.get(alive).status == 410, "the server to forget the page")
        proxy.mend()
        starts_again(app)
    finally:
        proxy.close()
        own.close()


@pytest.mark.parametrize("end", ["mend", pytest.param("forget", marks=pytest.mark.product)])
def test_a_network_that_goes_silent_is_said_and_the_page_goes_on(proxy: Proxy, pages: Pages, end: str) -> None:
    app = racing(pages, proxy.port)
    proxy.silence()
    app.enter("C$", "7")
    app.until(lambda: SILENT in banner(app), "the page to say that it hears nothing")
    app.until(lambda: app.page.evaluate(INERT), "the page to be inert")
    getattr(proxy, end)()
    app.until(lambda: not banner(app), "the page to come back")
    goes_on(app)
    app.until(lambda: "C%3D7" in app.page.url, "what was written into the silence")


def test_a_page_that_follows_and_plays_stands_still_without_a_connection_and_goes_on(
    own: Program, proxy: Proxy, pages: Pages
) -> None:
    leader = racing(pages, own.port, pace=10)  # which the cursor, of 5 steps a second, never reaches
    link = str(leader.page.locator("a", has_text="?follow=").get_attribute("href"))
    leader.page.get_by_role("tab", name="Share").click()  # where no figure is drawn
    student = pages.open(link.replace(f":{own.port}", f":{proxy.port}"), button="SVM solves")
    student.until_running(20)
    student.page.get_by_role("tab", name="Timeline").click()
    step = student.page.get_by_role("slider", name="Step")
    student.press("To the start")
    student.press("Play")
    student.until(lambda: int(step.input_value()) > 1, "the cursor to go on")
    student.press("iteration")  # figures are under way
    proxy.cut()
    student.until(lambda: LOST in banner(student), "the page to say that it is cut off")
    at = int(student.still(step.input_value, "the cursor to stand still", quiet=3.0))
    assert LOST in banner(student)
    proxy.mend()
    student.until(lambda: not banner(student), "the page to come back")
    student.until(lambda: int(step.input_value()) > at, "the cursor to go on")
    student.press("Hold")
    student.button("Play").wait_for()
    student.page.get_by_role("tab", name="Race").click()
    goes_on(student)
