"""No click is lost: what the server changes while a browser builds the views is seen, and each click on Start lands."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from _browser import Server, complaints, events_of, fresh_page, is_broken, loaded
from _waits import wait_for

pytestmark = pytest.mark.browser

# layouts whose child views are not those of their models' children
LOST = """() => {
  const lost = [], visit = (view) => {
    const models = view.child_models ?? [], seen = (view.child_views ?? []).map((child) => child.model)
    if (models.length !== seen.length || models.some((model, k) => model !== seen[k])) lost.push(`${view.model}`)
    for (const child of view.children_views()) visit(child)
  }
  for (const root of Bokeh.index.roots) visit(root)
  return lost
}"""
# a column whose view is held back after it has read what it holds, and what comes from the server meanwhile
MEANWHILE = """async () => {
  const layout = Bokeh.require("models/layouts/layout_dom").LayoutDOMView.prototype, build = layout.build_child_views
  let open
  const gate = new Promise((done) => { open = done })
  layout.build_child_views = async function () {
    const built = await build.call(this)
    if (this.model.name === "late") await gate
    return built
  }
  const now = performance.now.bind(performance)
  performance.now = () => now() + 60_000  // as where the machine has no time for the browser
  const [document] = Bokeh.documents, views = [...Bokeh.index.roots]
  while (!views[0].model.type.endsWith(".Column")) views.push(...views.shift().children_views())
  const outer = views[0].model, made = (id, name, attributes) => ({ type: "object", name, id, attributes })
  const changed = (id, attr, value) => ({ kind: "ModelChanged", model: { id }, attr, new: value })
  const change = (...of) => document.apply_json_patch({ events: [changed(...of)] })
  const kept = outer.children.map(({ id }) => ({ id })), spacers = ["t2", "t3"].map((id) => made(id, "Spacer", {}))
  change(outer.id, "children", [...kept, made("t1", "Column", { name: "late" })])
  change(outer.id, "children", [...kept, { id: "t1" }, made("t4", "Spacer", {})])
  await new Promise((done) => setTimeout(done))  // its view is being built
  change("t1", "children", spacers.slice(0, 1))
  change("t1", "children", [{ id: "t2" }, spacers[1]])
  change("t3", "height", 9)
  open()
}"""
SEEN = """() => ["t2", "t3", "t4"].every((id) => Bokeh.index.find_one_by_id(id))
  && Bokeh.index.get_one_by_id("t3").el.offsetHeight === 9"""


@pytest.fixture
def new_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server whose cache of compiled functions is empty."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    running = Server(tmp_path)
    yield running
    running.close()
    assert not running.complaints, running.log


@contextmanager
def first_page(chromium: Any, server: Server) -> Iterator[Any]:
    """Open a page in a browser that was never here, which logs no error."""
    page = fresh_page(chromium, viewport={"width": 1280, "height": 800})
    errors = complaints(page, lambda message: False)
    page.goto(f"http://127.0.0.1:{server.port}/explorer", wait_until="commit")
    page.locator(".way.first").wait_for()
    yield page
    assert not errors, errors
    page.context.close()


@pytest.fixture
def page(chromium: Any, server: Server) -> Iterator[Any]:
    with first_page(chromium, server) as opened:
        yield opened


def test_what_changes_while_views_are_built_is_seen(page: Any) -> None:
    loaded(page)
    page.evaluate(MEANWHILE)
    wait_for(lambda: page.evaluate(SEEN), "what came meanwhile", events_of(page))
    views_stand(page)


# ways from Start, and what each leads to
WAYS = {
    "#mklviz-front .way.first": ".page.curve[data-drawn=square]",
    "#mklviz-front .small li:nth-child(3) a": "role=button[name=/Run lesson/]",
    "#mklviz-front .way:has-text('Race on real data')": "role=tab[name=/Geometry/]",
    "#mklviz-front .way:has-text('Use my own table')": "role=tab[name=/Geometry/]",
    "a[data-page=runs]": "role=textbox[name=/Search/]",
}


def all_land(chromium: Any, server: Server, seed: int, count: int = len(WAYS)) -> None:
    """Click on ways from Start at a random moment: at once the page says what is coming, and then it is there."""
    chance = random.Random(seed)
    for place, shown in chance.sample([*WAYS.items()], count):
        with first_page(chromium, server) as page:
            page.wait_for_function("(moment) => performance.now() > moment", arg=chance.uniform(0, 5000))
            page.locator(place).click(no_wait_after=True)
            page.locator(shown).first.wait_for()
            views_stand(page)


def test_each_click_on_start_lands_at_whatever_moment(chromium: Any, server: Server) -> None:
    all_land(chromium, server, seed=1)


def test_each_click_on_start_lands_where_nothing_is_compiled(chromium: Any, new_machine: Server) -> None:
    all_land(chromium, new_machine, seed=2, count=2)


# a link of Start, and at once what is done behind it, before the server can have answered
# what answers to keys is not there yet when the page stands
DEAF = """() => {
  let left = 3
  document.addEventListener("keydown", (event) => { if (left-- > 0) event.stopImmediatePropagation() }, true)
}"""
PRESSED = """([place, key]) => {
  document.querySelector(place).click()
  if (key) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))
  return document.querySelector("#mklviz-front .coming").innerText
}"""
# the section that is open is noted whenever it changes
LEFT = """(place) => {
  const front = document.getElementById("mklviz-front")
  window.opened = []
  new MutationObserver(() => opened.push(front.dataset.open)).observe(front, { attributeFilter: ["data-open"] })
  document.querySelector(place).click()
  history.back()
}"""
DROPPED = """(files) => {
  const dataTransfer = new DataTransfer()
  for (const [name, content] of files) dataTransfer.items.add(new File([content], name))
  for (const kind of ["dragover", "drop"]) {
    const event = new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true })
    if (document.body.dispatchEvent(event)) throw Error(`${kind} leaves the page`)
  }
}"""
RACE = "#mklviz-front .way:nth-child(2)"
BUSY = "() => document.getElementById('mklviz-front').hasAttribute('aria-busy')"


def raced(page: Any) -> None:
    """Wait for a race, or for the end of one that was short."""
    stop, ended = page.get_by_role("button", name="Stop", exact=True), page.get_by_text(" finished").first
    wait_for(lambda: (stop.count() and stop.is_enabled()) or ended.is_visible(), "the race", events_of(page))


def views_stand(page: Any) -> None:
    wait_for(lambda: not page.evaluate(LOST), "every view", events_of(page))


def test_a_key_pressed_before_the_dashboard_stands_is_answered_when_it_does(page: Any) -> None:
    loaded(page)
    page.evaluate(DEAF)
    assert "Opening Race on real data … then Run" in page.evaluate(PRESSED, [RACE, " "])
    raced(page)
    views_stand(page)


def test_a_key_pressed_behind_a_link_that_loads_another_page_is_answered_there(chromium: Any, server: Server) -> None:
    page = fresh_page(chromium)
    page.route("**/static/**", lambda route: route.abort())  # no script of the dashboard comes
    page.goto(f"http://127.0.0.1:{server.port}/explorer", wait_until="commit")
    page.locator(RACE).wait_for()
    page.unroute("**/static/**")
    page.evaluate(PRESSED, [RACE, " "])
    raced(page)


def test_who_goes_back_while_the_dashboard_is_built_stays_there_and_finds_it_built(page: Any) -> None:
    loaded(page)
    page.evaluate(LEFT, RACE)
    page.get_by_role("tab", name="Geometry", include_hidden=True).wait_for(state="attached")
    wait_for(lambda: not page.evaluate(BUSY), "Start", events_of(page))
    views_stand(page)
    assert set(page.evaluate("opened")) <= {"start"}
    page.locator(RACE).click()
    page.get_by_role("tab", name="Geometry").wait_for()
    views_stand(page)


def test_a_table_dropped_on_the_page_is_opened_whenever_it_was(page: Any) -> None:
    for samples, lesson in ((40, 0), (50, 3), (60, 1)):
        if lesson:
            # a lesson folds away the controls where files are opened
            page.evaluate(PRESSED, [f"#mklviz-front .small li:nth-child({lesson}) a", ""])
        rows = "".join(f"{i},{i % 7},{'yes' if i % 2 else 'no'}\n" for i in range(samples))
        files = [["mine.csv", f"a,b,class\n{rows}"]]
        if lesson == 3:  # rows to test, too, in a file of their own
            files = [["train.csv", files[0][1]], ["test.csv", f"a,b,class\n{rows}"]]
        page.evaluate(DROPPED, files)
        page.get_by_text(f"{samples * len(files)} samples, 2 features").wait_for()
        wait_for(lambda: not page.evaluate(BUSY), "the dashboard", events_of(page))
        views_stand(page)


SENT_AS_MODELS_COME = """() => {
  const page = Bokeh.documents[0], models = [...page._all_models.values()]
  models.forEach((model) => page._new_models.add(model))
  const { MessageSentEvent } = Bokeh.require("document/events")
  return JSON.stringify(page.create_json_patch([new MessageSentEvent(page, "bokeh_event", { model: models[0] })]))
}"""


def test_a_page_sends_back_no_model_that_has_just_come_as_the_press_would_be_refused(open_app: Any) -> None:
    sent = open_app(solvers="level", iterations=5).page.evaluate(SENT_AS_MODELS_COME)
    assert '"id":' in sent
    assert '"type":"object"' not in sent


UNPAINTED = """() => [...Bokeh.documents[0].all_models].filter((model) => model.data?.seq > model.data?.ack)
  .map((model) => [model.data.seq, model.data.ack])"""


def test_tabs_opened_one_behind_the_other_are_all_filled(open_app: Any) -> None:
    app = open_app(solvers="level", iterations=5)
    app.page.on("console", lambda told: app.errors.append(told.text) if is_broken(told) else None)
    app.press("Run")
    app.until_finished()
    titles = ("Geometry", "Model", "Timeline", "Stopping", "Knobs", "Race", "Runs", "Share", "Your mix", "Sweep")
    strip = [app.page.get_by_role("tab", name=title, exact=True).element_handle() for title in titles]
    app.page.evaluate("(tabs) => tabs.forEach((tab) => tab.click())", strip)
    for title, tab in zip(titles, strip, strict=True):
        tab.click()
        app.page.get_by_role("tab", name=title, exact=True, selected=True).wait_for()
        views_stand(app.page)
        app.until(lambda: not app.page.evaluate(UNPAINTED), "frames sent before a tab was drawn to be painted")


def test_who_follows_a_race_sees_all_of_it_whenever_the_page_was_opened(open_app: Any, chromium: Any) -> None:
    app = open_app(solvers="level,silp", pace=0)
    app.press("Run")
    link = str(app.page.locator("a", has_text="?follow=").get_attribute("href"))
    for step in (None, app.until_running, app.until_finished):
        if step is not None:
            step()
        page = fresh_page(chromium)
        page.goto(link, wait_until="commit")
        page.get_by_role("tab", name="Geometry").click()
        page.get_by_role("tab", name="Geometry", selected=True).wait_for()
        views_stand(page)
        assert not page.get_by_role("button", name="Run", exact=True).count()
