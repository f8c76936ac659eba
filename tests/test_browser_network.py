"""A slow network gets fewer frames and still the last point; a page with arrays survives a lost connection."""

import re
import time
from collections.abc import Callable, Iterator

import pytest
from _browser import LONG, OF_THE_CUT, App, Server
from _proxy import Proxy

pytestmark = pytest.mark.browser
Open = Callable[..., App]
FRAMES = """() => [...Bokeh.documents[0].all_models]
  .map((m) => m.data?.seq ?? m.seq).filter((seq) => seq !== undefined)[0]"""
# what comes of a change to a model that the page has not got, before and after the document of a new connection
STRANGER = """(behind) => {
  const { connection } = mklvizConnection
  const change = { kind: "ModelChanged", model: { id: "nobody" } }
  const content = { events: [{ ...change, attr: "name", new: "x" }] }
  mklvizConnection.behind = behind
  try {
    connection.session.handle({ msgtype: () => "PATCH-DOC", content, buffers: new Map() })
    return "nothing"
  } catch (error) { return String(error) } finally { mklvizConnection.behind = false }
}"""

# a server's document in which a new model stands within one that the page has, within a new one, and is named after it
WOVEN = """() => {
  const { document } = mklvizConnection.connection.session
  const model = (type, id, tags) => ({ type: "object", name: type, id, attributes: { tags } })
  const [root] = document.roots(), range = [...document.all_models].find((m) => m.type === "DataRange1d")
  const inner = model(range.type, range.id, [model("Range1d", "of-the-range", [])])
  const outer = model("Range1d", "of-the-root", [inner, { id: "of-the-range" }])
  document.replace_with_json({ roots: [model(root.type, root.id, [outer])] })
  return [root.tags[0].tags[0] === range, root.tags[0].tags[1] === range.tags[0], range.tags[0].id]
}"""
# the document of another page, whose models have the same numbers
FOREIGN = """() => {
  const { document } = mklvizConnection.connection.session, [{ id, type }] = document.roots()
  document.replace_with_json({ roots: [{ type: "object", name: type, id, attributes: { page_id: "another" } }] })
}"""
# columns that grow short and long at once, as where many changes have waited
CROWDED = """() => {
  const sources = [...Bokeh.documents[0].all_models].filter((m) => (m.name ?? "").startsWith("run-"))
  for (const source of sources) {
    const { data } = source, none = Object.fromEntries([...source.columns()].map((name) => [name, []]))
    for (const some of [none, data, none]) source.setv({ data: some }, { sync: false })
  }
}"""
# counts the lines that are told to look as they do, for which their figures are drawn anew
REDRAWN = """() => {
  window.redrawn = 0
  const lines = [...Bokeh.documents[0].all_models].filter((model) => model.type === "Line")
  for (const line of lines) line.change.connect(() => { redrawn += 1 })
  return lines.length
}"""


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    between = Proxy(server.port)
    yield between
    between.close()


def frames_during(app: App, points: int) -> tuple[int, float]:
    """Return the frames that come while every curve gets `points` new points, and how long that takes."""
    begun, frames, before = time.monotonic(), app.page.evaluate(FRAMES), app.points()
    app.until(lambda: min(app.points()[key] - n for key, n in before.items()) >= points, "more points")
    return app.page.evaluate(FRAMES) - frames, time.monotonic() - begun


def test_a_slow_client_gets_fewer_frames_and_the_last_iterate(proxy: Proxy, open_app: Open) -> None:
    app = open_app(proxy.port, **LONG)
    app.press("Run")
    app.until_running()
    proxy.delay = 1.5
    frames, seconds = frames_during(app, 60)
    assert frames <= 3 * (seconds / proxy.delay + 1)  # at most three under way at any time, where ten a second are due
    app.press("Pause")
    app.until(lambda: app.status.startswith("Paused"), "the pause")
    last = app.points  # the server's own count is in the sentence
    app.until(lambda: all(f"at iteration {n - 1:,}" in app.status for n in last().values()), "the last points")
    at = {key: n - 1 for key, n in app.settled(quiet=4.0).items()}
    assert all(curve["iteration"] == list(range(len(curve["iteration"]))) for curve in app.curves().values())
    proxy.delay = 0.0
    app.press("Stop")
    app.until_finished()
    app.settled()
    assert {key: int(n) for key, n in app.last("iteration").items()} == at


def test_a_page_with_maps_and_pictures_comes_back_as_well(proxy: Proxy, open_app: Open) -> None:
    """Their arrays travel beside the document, and BokehJS does not look for them when it reads it once more."""
    app = open_app(proxy.port, solvers="level,spg", iterations=12)
    app.press("Run")
    app.until_finished()
    app.page.get_by_role("tab", name="Model").click()
    app.until(lambda: app.page.locator(".bk-Canvas:visible").count() > 2, "the figures of the model")
    app.settled()
    assert app.page.evaluate(REDRAWN) > 4
    proxy.cut()
    app.page.get_by_role("alert").filter(has_text="The connection is lost").wait_for()
    proxy.mend()
    app.until(lambda: app.page.locator("#mklviz-connection").count() == 0, "the page to come back")
    assert app.page.evaluate("redrawn") == 0
    app.page.get_by_role("tab", name="Race").click()
    app.race_again()
    app.until(lambda: app.points() == {"level": 13, "spg": 13}, "all of another race")
    assert app.page.evaluate(STRANGER, True) == "nothing"
    assert "nobody" in app.page.evaluate(STRANGER, False)
    app.page.evaluate(CROWDED)
    assert app.page.evaluate(WOVEN) == [True, True, "of-the-range"]
    app.settled()
    app.errors[:] = [error for error in app.errors if not re.search(OF_THE_CUT, error)]
    with app.page.expect_navigation():
        app.page.evaluate(FOREIGN)
