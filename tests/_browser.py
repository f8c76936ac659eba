"""A real Chromium before a real server: fixtures of the browser tests, and the page as a person sees it.

Curves are read from the models of BokehJS, never from pixels: what is in a ColumnDataSource of the page is what is
drawn. Controls are found by their role and text.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

import pytest
from _waits import LEFT_OPEN, PATIENCE, wait_for, wait_until_still

T = TypeVar("T")
ROOT = Path(__file__).parent.parent
ARTIFACTS = ROOT / "test-artifacts"
SCRIPTS = (ROOT / "apps" / "explorer.py", Path(__file__).parent / "_served.py")
# a race of Level and SPG that outlasts a test, in which a busy machine may wait for minutes
LONG = {"solvers": "level,spg", "iterations": 2000, "pace": 10}
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking")
# where Bokeh's server notices by a ping that a page is gone, it stumbles over what is still to be read from it
OF_A_CLOSED_PAGE = r"^.* ERROR .*\n(?:(?!\d{4}-).*\n)*? +assert self\._session is not None\n.*\nAssertionError\n"
# what a console says of a connection that was cut
OF_THE_CUT = (
    "[Ww]eb[Ss]ocket|not connected so cannot send|CONNECTING|Failed to load resource|pulled doc|network error occurred"
)
SERVE = """
import sys
from mklviz.engine.warmup import WARMUP
from mklviz.views.host import page_session
WARMUP._started.acquire()
WARMUP._done.set()
page_session.GIVE_UP_AFTER = float(sys.argv.pop(1)) or page_session.GIVE_UP_AFTER
from mklviz.cli import main
main()
"""
CURVES = """() => {
  const sources = [...Bokeh.documents[0].all_models].filter((m) => (m.name ?? "").startsWith("run-"))
  const columns = (data) => data instanceof Map ? [...data] : Object.entries(data)
  return Object.fromEntries(sources.map((source) => [source.name.slice(4), Object.fromEntries(
    columns(source.data).map(([name, values]) => [name, READ]))]))
}"""


def events_of(page: Any) -> Callable[[], None]:
    """Return what lets the events of a page in while a test waits."""
    return lambda: page.wait_for_timeout(100)  # each look takes the page some milliseconds


def at_rest(part: Any) -> dict[str, float]:
    """Return the box of what a locator finds, once it stays where it is."""
    part.wait_for()
    box: dict[str, float] = wait_until_still(part.bounding_box, "a part that stays", events_of(part.page), quiet=0.5)
    return box


def middle(part: Any) -> tuple[float, float]:
    """Return the middle of what a locator finds, once it stays where it is."""
    box = at_rest(part)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@contextmanager
def held(page: Any, x: float, y: float) -> Iterator[None]:
    """Press the mouse at a place, and let it go at the end."""
    page.mouse.move(x, y)
    page.mouse.down()
    yield
    page.mouse.up()


def serious(page: Any) -> list[str]:
    """Return what axe-core calls serious or critical, once the page rests and its colours have faded."""
    from axe_playwright_python.sync_playwright import Axe

    for _ in range(5):
        wait_until_still(lambda: page.inner_text("body"), "what is read to rest", events_of(page))
        violations = Axe().run(page).response["violations"]
        grave = [violation for violation in violations if violation["impact"] in ("serious", "critical")]
        if not grave:
            break
    return [
        f"{v['id']} ({v['impact']}): {v['help']}\n  "
        + "\n  ".join(f"{node['html'][:150]} {node['failureSummary']}" for node in v["nodes"][:6])
        for v in grave
    ]


def is_broken(message: Any) -> bool:
    """Return whether a message of a console tells of more than drivers and addresses that a server lacks."""
    return message.type in ("warning", "error") and not re.search("Failed to load|GPU stall", message.text)


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Program:
    """A Python program in a process of its own that serves a free port, by its `words`, and logs to a file in `folder`.

    It can be closed and started again.
    """

    def __init__(self, folder: Path, *words: str) -> None:
        self.port = free_port()
        self._log_file = folder / "server.log"
        self._command = [sys.executable, *words, f"--port={self.port}"]
        self.start()

    def start(self) -> None:
        with self._log_file.open("w") as log:
            self._process = subprocess.Popen(self._command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_for(lambda: not self.runs or self._listens(), "the server to listen")
            assert self.runs, "The server has ended."
        except AssertionError:
            self.close()
            raise AssertionError(f"The server did not start:\n{self.log}") from None

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    @property
    def log(self) -> str:
        """What the server has logged."""
        return self._log_file.read_text()

    @property
    def complaints(self) -> list[str]:
        """The lines of the log that tell of something broken, but for words of a page that has just been closed."""
        said = re.sub(OF_A_CLOSED_PAGE, "", self.log, flags=re.MULTILINE).splitlines()
        return [line for line in said if re.search(r"\b(ERROR|CRITICAL|Traceback|refused)\b", line)]

    def close(self) -> None:
        """End the server, which does so when it is asked to."""
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()


class Server(Program):
    """``panel serve apps/explorer.py tests/_served.py``."""

    def __init__(self, folder: Path) -> None:
        words = ("--allow-websocket-origin=*", "--log-format=%(asctime)s %(levelname)s %(name)s %(message)s")
        super().__init__(folder, "-m", "panel", "serve", *map(str, SCRIPTS), *words)

    def url(self, port: int | None = None, **race: object) -> str:
        """Return the address of the explorer, or of one with a small `race` set up, seen through another `port`.

        Both race at full speed unless told otherwise.
        """
        page = f"_served?{urlencode(race)}" if race else "explorer?pace=0"
        return f"http://127.0.0.1:{port or self.port}/{page}"


def serving(folder: Path, *words: str, life: float = 0.0) -> Program:
    """Start ``mklviz serve`` that loads no solver ahead and forgets pages that were away for `life` seconds, if any."""
    return Program(folder, "-c", SERVE, str(life), "serve", "--no-show", *words)


class App:
    """The explorer in one page of a browser, and the errors that its pages have logged."""

    def __init__(self, page: Any, errors: list[str]) -> None:
        self.page, self.errors = page, errors

    # -- what is seen

    @property
    def status(self) -> str:
        """How things stand, in the sentence at the top."""
        return str(self.page.get_by_role("status").first.inner_text())

    def curves(self, read: str = "Array.from(values)") -> dict[str, dict[str, Any]]:
        """Return the columns of every run's source, by run, or what `read` makes of the values of each."""
        curves: dict[str, dict[str, Any]] = self.page.evaluate(CURVES.replace("READ", read))
        return curves

    def points(self) -> dict[str, int]:
        """Return the number of points of every run."""
        return {key: columns["iteration"] for key, columns in self.curves("values.length").items()}

    def last(self, column: str) -> dict[str, float]:
        """Return the last value of a column, for every run that has a point."""
        ends = self.curves("Array.from(values.slice(-1))")
        return {key: curve[column][0] for key, curve in ends.items() if curve[column]}

    def figures(self, names: str, expression: str) -> Any:
        """Evaluate a JavaScript `expression` of each figure whose name matches the pattern `names`, by name."""
        script = f"""(names) => Object.fromEntries([...Bokeh.documents[0].all_models]
          .filter((m) => m.type === "Figure" && new RegExp(names).test(m.name ?? ""))
          .map((figure) => [figure.name, ({expression})(figure)]))"""
        return self.page.evaluate(script, names)

    def row(self, key: str) -> list[str]:
        """Return the texts of a run's row in the table of results."""
        return [str(text) for text in self.page.locator(f'tr[data-run="{key}"] > *').all_inner_texts()]

    def screenshot(self, name: str, whole: bool = False) -> bytes:
        """Save what is seen under ``test-artifacts/``."""
        ARTIFACTS.mkdir(exist_ok=True)
        picture: bytes = self.page.screenshot(path=ARTIFACTS / f"{name}.png", full_page=whole, animations="disabled")
        return picture

    # -- what is done

    def rest(self, milliseconds: int) -> None:
        """Let time pass that is itself what a test is about, as between two taps; for all else there is `until`."""
        self.page.wait_for_timeout(milliseconds)

    def drag(self, figure: int, begin: tuple[float, float], end: tuple[float, float], rest: int = 0) -> None:
        """Draw a box in the `figure`-th figure, its corners in shares of width and height.

        The mouse rests for `rest` milliseconds after it is pressed.
        """
        box = at_rest(self.page.locator(".bk-Canvas").nth(figure))
        places = [(box["x"] + across * box["width"], box["y"] + down * box["height"]) for across, down in (begin, end)]
        with held(self.page, *places[0]):
            self.rest(rest)
            self.page.mouse.move(*places[1], steps=3)

    def button(self, text: str) -> Any:
        """Return the button that shows `text`."""
        return self.page.locator("button:visible").filter(has_text=re.compile(rf"^\W*{re.escape(text)}$"))

    def press(self, text: str) -> None:
        """Press the button that shows `text`, when it can be pressed."""
        self.button(text).click(timeout=1e3 * PATIENCE)

    def choose(self, label: str, option: str) -> None:
        """Choose from the drop-down list called `label` the option that begins with `option`."""
        menu = self.page.get_by_role("combobox", name=re.compile(f"^{label}"))
        offered = menu.locator("option").all_inner_texts
        menu.select_option(
            label=self.until(lambda: next((text for text in offered() if text.startswith(option)), ""), option)
        )

    def enter(self, label: str, text: str) -> None:
        """Write `text` into the field called `label`."""
        field = self.page.get_by_role("textbox", name=re.compile(f"^{label}"))
        field.fill(text)
        field.press("Enter")

    def until(self, found: Callable[[], T], what: str, patience: float = PATIENCE) -> T:
        """Wait until `found` returns something true; where that is in vain, say how things stand instead."""
        from playwright.sync_api import Error

        def seen() -> Any:
            try:
                return found()
            except Error as error:
                if "Execution context was destroyed" in str(error):  # the page is just being loaded anew
                    return None
                raise

        try:
            value: T = wait_for(seen, what, events_of(self.page), patience)
            return value
        except AssertionError as error:
            self.screenshot("in-vain")
            raise AssertionError(f"{error} It says: {self.status!r}; points: {self.points()}.") from None

    def until_running(self, points: int = 3) -> None:
        """Wait until every run has some points."""
        self.until(lambda: self.points() and min(self.points().values()) >= points, "the first points of every curve")

    def until_finished(self) -> None:
        """Wait for the end of the race and for its last words."""
        self.until(lambda: re.search("ha(s|ve) finished|[Ss]topped", self.status), "the end of the race")

    def race(self) -> None:
        """Run a race to its end, until its curves grow no more."""
        self.press("Run")
        self.until_finished()
        self.settled()

    def begun(self) -> dict[str, list[float]]:
        """Return the CPU seconds of the first two steps of every run, which no two races share."""
        begun = self.curves("Array.from(values.slice(0, 2))")
        return {key: curve["seconds"] for key, curve in begun.items() if len(curve["seconds"]) == 2}

    def race_again(self, start: Callable[[], None] | None = None) -> None:
        """Press Run, or `start`, where curves of another race may be, and wait for the first points not theirs."""
        before = self.begun()
        (start or partial(self.press, "Run"))()
        self.until(lambda: (now := self.begun()) and all(now[key] != before.get(key) for key in now), "another race")

    def settled(self, quiet: float = 1.0) -> dict[str, int]:
        """Wait until no curve has grown for `quiet` seconds; return the numbers of points."""
        return self.still(self.points, "the curves to grow no more", quiet)

    def still(self, reading: Callable[[], T], what: str, quiet: float = 1.0) -> T:
        """Wait until the page has shown the same for `quiet` seconds; return that."""
        return wait_until_still(reading, what, events_of(self.page), quiet)


Open = Callable[..., App]


class Pages:
    """Opens the explorer in pages of their own, and at the end looks at what they complained about."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._pages: list[Any] = []
        self.errors: list[str] = []

    def open(self, url: str, width: int = 1280, height: int = 900, button: str = "Run") -> App:
        """Open `url` and wait until it shows a `button`."""
        page = self._context.new_page()
        self._pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(1e3 * PATIENCE)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(url)
        app = App(page, self.errors)
        app.button(button if width >= 600 else "Reset zoom").first.wait_for()  # on a phone the controls are put away
        page.locator("#loader").wait_for(state="hidden")  # until then nobody could press anything
        return app

    def _hear(self, message: Any) -> None:
        """Note an error, unless a page asked a server without a gate, as Panel's own is, whether it lives."""
        if message.type == "error" and "/alive?" not in message.location["url"]:
            self.errors.append(message.text)

    def close(self) -> None:
        """Close every page."""
        for page in self._pages:
            page.close()


def new_page(chromium: Any, **settings: Any) -> Any:
    """Return a page in a browser that was never here, which waits as patiently as all do; it wants no motion."""
    context = chromium.browser.new_context(**{"reduced_motion": "reduce", **settings})
    context.set_default_timeout(1e3 * PATIENCE)
    return context.new_page()


def loaded(page: Any) -> None:
    """Wait until the dashboard behind the page that opens is there."""
    page.locator("#mklviz-front .bar").wait_for(state="detached")
    page.locator("#loader").wait_for(state="hidden")


def fresh_page(chromium: Any, **settings: Any) -> Any:
    """Return such a page, which is closed with its browser when the test is over."""
    page = new_page(chromium, **settings)
    LEFT_OPEN.append(page.context)
    return page


def complaints(page: Any, of: Callable[[Any], bool] = lambda message: message.type == "error") -> list[str]:
    """Return the list in which the errors of a page will be, and what its console says `of` them."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if of(message) else None)
    return errors


def not_driven(reason: str) -> None:
    """Skip a test that cannot drive a browser, or fail it where it must not be skipped."""
    if os.environ.get("MKLVIZ_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def find_browser() -> str:
    """Return where Chromium or Chrome is, or skip the test, or fail it where it must not be skipped."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("MKLVIZ_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        not_driven(f"No browser: neither MKLVIZ_CHROMIUM nor any of {', '.join(names)} is there.")
    return str(found)


@pytest.fixture(scope="module")  # no longer: Playwright's own event loop is in the way of tests that need one
def chromium() -> Iterator[Any]:
    """Chromium under Playwright: a context, with a cache of its own, for all pages of a module."""
    found = find_browser()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        not_driven("No browser: playwright is not installed.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        context = browser.new_context(reduced_motion="reduce")
        context.set_default_timeout(1e3 * PATIENCE)
        yield context
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The explorer, served as its readme says; at the end of all tests nothing must have broken in it."""
    running = Server(tmp_path_factory.mktemp("server"))
    yield running
    running.close()
    assert not running.complaints, running.log


def one_page(chromium: Any, server: Server, **race: object) -> Iterator[App]:
    """Yield one page for the tests of a module, which leave it as it was; at the end it may have logged no error."""
    pages = Pages(chromium)
    yield pages.open(server.url(**race))
    pages.close()
    assert not pages.errors, "\n".join(pages.errors)


@pytest.fixture(scope="module")
def raced(chromium: Any, server: Server) -> Iterator[App]:
    """One page with a finished race of SILP, Level and SPG, two tabs of which were opened before, for a module."""
    for app in one_page(chromium, server, solvers="silp,level,spg", iterations=40):
        for name in ("Timeline", "Model"):
            app.page.get_by_role("tab", name=name).click()
            app.page.get_by_text("Press Run first").locator("visible=true").first.wait_for()
        app.page.get_by_role("tab", name="Race").click()
        app.race()
        yield app


@pytest.fixture
def pages(chromium: Any) -> Iterator[Pages]:
    """Pages of their own, none of which may have logged an error by the end of the test."""
    opened = Pages(chromium)
    yield opened
    opened.close()
    assert not opened.errors, "\n".join(opened.errors)


@pytest.fixture
def open_app(pages: Pages, server: Server) -> Callable[..., App]:
    """Open the explorer, or one with a small race set up; no page may have logged an error by the end of the test."""

    def open_app(port: int | None = None, width: int = 1280, height: int = 900, **race: object) -> App:
        return pages.open(server.url(port, **race), width, height)

    return open_app
