"""The playground, opened from the disk: it solves by itself what Python solves, and follows mouse, finger and keys."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _browser import at_rest, complaints, events_of, fresh_page, middle, new_page
from _waits import wait_for

import mklviz as mv
from mklviz.contract import Facts, Iterate
from mklviz.kernels import Gaussian, KernelBank, Laplacian, Linear, Polynomial
from mklviz.solvers.level import Level
from mklviz.views.export.playground import save_playground

pytestmark = pytest.mark.browser

MOST_BYTES = 300_000
AGREED = 1e-6
ALL_KERNELS = "kernels=0:0.25,1:1,2,3:2,4:0.5,5:0.5,6:1,7:3"
FAMILIES = {
    "gaussian": lambda value, on: Gaussian(widths=[value], on=on),
    "laplacian": lambda value, on: Laplacian(widths=[value], on=on),
    "polynomial": lambda value, on: Polynomial(degrees=[int(value)], on=on),
    "linear": lambda _, on: Linear(on=on),
}
COLUMNS = {"both": "all", "x": [0], "y": [1]}
ANSWERED = "playground.whole && playground.shownFor === playground.asked"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("playground") / "mkl.html"
    save_playground(path)
    return path


class Playground:
    """The page, and what stands in it."""

    def __init__(self, page: Any, file: Path) -> None:
        self.page, self.file = page, file
        self.asked: list[str] = []
        self.complaints = complaints(page, lambda message: True)
        page.on("request", lambda request: self.asked.append(request.url))

    def open(self, address: str = "") -> None:
        self.page.goto("about:blank")
        self.page.goto(f"{self.file.as_uri()}#{address}")
        self.answered()

    def answered(self) -> None:
        self.until(ANSWERED)

    def until(self, script: str) -> None:
        """Wait for what the page's own policy would not let Playwright wait for in the page."""
        wait_for(lambda: self.page.evaluate(f"() => {script}"), script, events_of(self.page))

    def value(self, script: str) -> Any:
        return self.page.evaluate(f"() => {script}")

    @property
    def setting(self) -> dict[str, Any]:
        return dict(self.value("({ ...playground.set, used: playground.used, start: playground.start })"))

    def centre(self, part: str) -> tuple[float, float]:
        """Return the middle of a part that is to be dragged, once it stays where it is and everything is solved."""
        self.answered()
        self.page.locator(part).evaluate("(node) => node.scrollIntoView({ block: 'center' })")
        return middle(self.page.locator(part))


@pytest.fixture(scope="module")
def shared(chromium: Any, file: Path) -> Iterator[Playground]:
    page = new_page(chromium)
    yield Playground(page, file)
    page.context.close()


@pytest.fixture
def unopened(shared: Playground) -> Iterator[Playground]:
    """The page of all tests, for one that opens it with what it needs."""
    shared.complaints.clear()
    shared.page.set_viewport_size({"width": 1280, "height": 720})
    yield shared
    assert shared.complaints == []


@pytest.fixture
def playground(unopened: Playground) -> Playground:
    unopened.open()
    return unopened


def posed(setting: dict[str, Any]) -> mv.Problem:
    """Return the problem that a page has set, built in Python."""
    X = np.array([point[:2] for point in setting["points"]])
    families = [FAMILIES[one["family"]](one["value"], COLUMNS[one["on"]]) for one in setting["used"]]
    y = np.array([point[2] for point in setting["points"]], float)
    return mv.Problem(KernelBank.build(X, families), y, mv.Hinge(setting["C"]), mv.Simplex())


def at_start(problem: mv.Problem, setting: dict[str, Any]) -> Iterate:
    """Return Python's solution of the SVM at the weights at which the solvers of a page start."""
    begins = Iterate(np.array(setting["start"]), np.zeros(problem.n), np.inf, -np.inf, 0.0, 0, Facts())
    return next(iter(Level(svm_tolerance=1e-12).iterates(problem, begins)))


def test_the_page_is_small_and_loads_nothing(playground: Playground, file: Path) -> None:
    assert file.stat().st_size <= MOST_BYTES
    assert {url.split(":")[0] for url in playground.asked} <= {"file", "about", "blob"}


@pytest.mark.parametrize(
    "address",
    [
        "",
        f"data=two_moons&C=1000&{ALL_KERNELS}",
        f"data=rings&C=10&{ALL_KERNELS}",
        "data=xor&C=3&kernels=3:2,2,0:1",
        "data=iris&kernels=4:0.5,5:0.5",
        f"data=wine&lambda=0.3&{ALL_KERNELS}",
        "data=heart&C=10000&kernels=0:0.5,6:2,7:1&start=0.2,0.5,0.3",
    ],
)
def test_its_numbers_are_those_of_python(unopened: Playground, address: str) -> None:
    unopened.open(address)
    setting, found = unopened.setting, unopened.value("playground.solved")
    problem = posed(setting)
    first = at_start(problem, setting)
    least = mv.solve(problem, "level", gap=1e-7, max_iter=3000).best.objective
    for path in found.values():
        assert path[0]["objective"] == pytest.approx(first.objective, rel=AGREED)
        assert path[-1]["gap"] <= 1e-3
        best = min(step["objective"] for step in path)
        assert least * (1 - 1e-6) <= best <= least * (1 + path[-1]["gap"] + 1e-6)


def test_the_surface_is_what_the_svm_decides(playground: Playground) -> None:
    playground.page.keyboard.press("Home")
    playground.answered()
    playground.until("playground.cursor === 0")
    setting = playground.setting
    problem = posed(setting)
    start = at_start(problem, setting)
    side, reach = playground.value("PLACES_SHOWN"), playground.value("REACH")
    along = np.linspace(-reach, reach, side)
    lattice = np.array([[x, -y] for y in along for x in along])
    decided = problem.decision_values(start.weights, start.dual, problem.bank.cross(lattice))

    def shown() -> float:  # how far it is from what is decided, which comes after the cursor
        return np.abs(playground.value("[...playground.points.surface ?? [0]]") - decided).max() / np.abs(decided).max()

    assert wait_for(lambda: shown() <= 1e-3, "the surface of the start", events_of(playground.page))


@pytest.mark.parametrize("touch", [False, True])
def test_the_start_and_a_point_are_dragged_and_taken_back(chromium: Any, file: Path, touch: bool) -> None:
    viewport = {"width": 390 if touch else 1280, "height": 844}
    page = fresh_page(chromium, viewport=viewport, has_touch=touch)
    one = Playground(page, file)
    one.open()
    pointer = _finger(page) if touch else _mouse(page)
    x, y = one.centre(".mixes .knob")
    one.until("window.shade = playground.mixes.area.firstChild")
    pointer("down", x, y)
    for k in range(1, 6):
        pointer("move", x - 4 * k, y + 2 * k)
    pointer("up", x - 20, y + 10)
    one.until("playground.set.start !== null && playground.drag === null")
    moved = one.setting["start"]
    assert moved[0] > 0.36
    assert sum(moved) == pytest.approx(1.0)
    one.until("location.hash.includes('start=')")
    one.answered()
    assert one.value("playground.mixes.area.firstChild === shade")  # the objective is not drawn anew for another start
    before = one.setting["points"][150]
    box_x, box_y = one.centre(".points canvas")
    unit = at_rest(page.locator(".points canvas"))["width"] / (2 * one.value("REACH"))
    px, py = box_x + before[0] * unit, box_y - before[1] * unit
    pointer("down", px, py)
    for k in range(1, 6):
        pointer("move", px + 6 * k, py)
        if k == 3:
            page.wait_for_timeout(2 * one.value("REST_MS"))  # a hand that pauses has not ended what is undone at once
    pointer("up", px + 30, py)
    one.until("playground.set.data === 'own' && playground.drag === null")
    after = one.setting["points"]
    assert sum(a != b for a, b in zip(after, one.value("playground.given.data.two_moons.points"), strict=True)) == 1
    undo = page.get_by_role("button", name="Undo")
    undo.click()
    one.until("playground.set.data === 'two_moons'")
    undo.click()
    one.until("playground.set.start === null")
    wait_for(undo.is_disabled, "nothing to be taken back", events_of(page))
    assert one.complaints == []


def _mouse(page: Any) -> Any:
    def act(kind: str, x: float, y: float) -> None:
        page.mouse.move(x, y)
        if kind != "move":
            getattr(page.mouse, kind)()

    return act


def _finger(page: Any) -> Any:
    session = page.context.new_cdp_session(page)
    kinds = {"down": "touchStart", "move": "touchMove", "up": "touchEnd"}

    def act(kind: str, x: float, y: float) -> None:
        points = [] if kind == "up" else [{"x": x, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kinds[kind], "touchPoints": points})

    return act


def test_keys_move_the_start_and_points(playground: Playground) -> None:
    page = playground.page
    page.locator(".mixes .handle").focus()
    page.keyboard.press("ArrowUp")
    playground.until("playground.set.start?.[2] > 0.34")
    page.locator(".points canvas").focus()
    page.keyboard.press("PageDown")
    page.keyboard.press("Shift+ArrowRight")
    playground.until("playground.set.data === 'own'")
    count = len(playground.setting["points"])
    page.keyboard.press("Delete")
    playground.until(f"playground.set.points.length === {count - 1}")
    page.keyboard.press("Enter")
    playground.until(f"playground.set.points.length === {count}")
    playground.answered()


def test_own_points_begin_with_both_classes_which_each_keep_a_point(playground: Playground) -> None:
    page = playground.page
    page.get_by_label("Data", exact=True).select_option("own")
    playground.until("playground.set.data === 'own'")
    page.locator(".points canvas").focus()
    for _ in range(8):
        page.keyboard.press("PageDown")
        page.keyboard.press("Delete")
    page.get_by_text("Each class keeps a point").wait_for()
    assert {point[2] for point in playground.setting["points"]} == {-1, 1}
    playground.answered()


def test_the_address_holds_what_is_set(playground: Playground) -> None:
    page = playground.page
    page.get_by_label("Data", exact=True).select_option("own")
    page.get_by_label("λ of Level").fill("0.5")
    page.get_by_label("linear").uncheck()
    playground.until("location.hash.includes('lambda=0.5') && location.hash.includes('kernels=0%3A0.25%2C1%3A1&')")
    playground.answered()
    before, address = playground.setting, page.url.split("#")[1]
    playground.open(address)
    after = playground.setting
    assert after.pop("points") == before.pop("points")
    assert after == before


UNREAD = (
    *("data=nothing&part=no", "C=-3&lambda=7", "kernels=99,x:,", "start=1,2", "data=own&points=1,2,1"),
    *("points=%FF;;,", "=&&&#"),
)


def test_an_address_that_cannot_be_read_leaves_what_is_usual(playground: Playground) -> None:
    usual = playground.setting
    for address in UNREAD:
        playground.open(address)
        assert playground.setting == usual, address
        assert playground.page.locator(".points.part").is_visible(), address


PARTS = {"points": "canvas", "mixes": "svg", "objective": ".plot", "gap": ".plot", "weights": ".plot"}
OUTSIDE = """() => {
  const bar = document.querySelector('.scrubber').getBoundingClientRect(), { scrollWidth, scrollHeight } = document.body
  const seen = document.querySelectorAll('.part, .part :is(canvas, svg, text, h3, .kernel), .scrubber *')
  const cut = [...seen].filter((node) => {
    const { left, right, top, bottom, width } = node.getBoundingClientRect()
    const floor = node.closest('.scrubber') ? innerHeight : bar.top
    return width && (left < -1 || right > innerWidth + 1 || top < -1 || bottom > floor + 1)
  })
  return [scrollWidth > innerWidth, scrollHeight > innerHeight, ...cut.map((node) => node.outerHTML.slice(0, 80))]
}"""


SIZES = [(320, 240), (640, 360), (390, 844), (1920, 1080)]


@pytest.mark.parametrize("part", PARTS)
def test_one_picture_stands_alone_in_a_frame_of_any_size(unopened: Playground, file: Path, part: str) -> None:
    """Each part is opened in another size, and its frame then takes the others."""
    page, slide, first = unopened.page, file.with_name("slide.html"), list(PARTS).index(part) % len(SIZES)
    framed = f'sandbox="allow-scripts" src="{file.name}#part={part}" style="width: 100vw; height: 100vh"'
    slide.write_text(f'<body style="margin: 0; overflow: hidden"><iframe {framed} frameborder="0"></iframe>')
    page.set_viewport_size(dict(zip(("width", "height"), SIZES[first], strict=True)))
    page.goto(slide.as_uri())
    frame = page.frames[1]
    wait_for(lambda: frame.evaluate(f"() => {ANSWERED}"), "the paths", events_of(page))
    for width, height in (*SIZES[first:], *SIZES[:first]):
        page.set_viewport_size({"width": width, "height": height})
        size = [width, height]
        wait_for(lambda size=size: frame.evaluate("[innerWidth, innerHeight]") == size, "the size", events_of(page))
        wait_for(lambda: frame.evaluate(OUTSIDE) == [False, False], "a picture that fits", events_of(page))
        assert [name for name in PARTS if frame.locator(f".{name}.part").is_visible()] == [part]

        def drawn(most: float = width * min(width, height)) -> bool:
            boxes = [each.bounding_box() for each in frame.locator(f".{part}.part {PARTS[part]}").all()]
            return sum(box["width"] * box["height"] for box in boxes if box) > 0.2 * most

        wait_for(drawn, "a picture that fills its frame", events_of(page))


def test_nothing_is_wider_than_the_page(playground: Playground) -> None:
    too_wide = """[...document.querySelectorAll('.part')].filter((part) => part.scrollWidth > part.clientWidth + 1)
      .map((part) => part.className)"""
    for width, height in ((1280, 720), (1440, 900), (390, 844), (640, 360)):
        playground.page.set_viewport_size({"width": width, "height": height})
        playground.until(f"document.documentElement.scrollWidth === {width}")
        playground.until(f"{too_wide}.length === 0")
    assert playground.page.locator(".part").count() > 0
