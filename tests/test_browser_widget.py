"""The widget of a race in a host that keeps to anywidget's published protocol and to nothing else.

VS Code and Colab import `_esm` as a module and give `render` a model and an element, as the page here does. Its model
has what the protocol names, and refuses all else.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from _browser import complaints, events_of
from _cells import rows, steps
from _problems import problem as named_problem
from _waits import PATIENCE, wait_for

from mklviz.engine import Race, standard_rules
from mklviz.views.notebook.race_widget import RaceWidget

MODULE = RaceWidget._esm
SYNCED = ("sheet", "still", "recording", "colours", "control")
# nothing but what the page brings may run, and nothing be loaded
HOST = """<!doctype html><html><head><meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; style-src 'unsafe-inline'"></head>
<body><div id="output"></div><script>
const NAMED = ["get", "set", "on", "off", "send", "save_changes", "widget_manager"]

function modelOf(state) {
  const told = new Map(), sent = []
  const heard = (event) => told.get(event) ?? told.set(event, new Set()).get(event)
  const plain = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value },
    on: (event, react) => { heard(event).add(react) },
    off: (event, react) => { heard(event).delete(react) },
    send: (content) => { sent.push(JSON.parse(JSON.stringify(content))) },
    save_changes: () => {},
  }
  const model = new Proxy(plain, {
    get: (_, name) => {
      if (!NAMED.includes(name)) throw new Error(`The protocol knows no ${String(name)}`)
      return plain[name]
    },
  })
  const change = (name, value) => {
    state[name] = value
    for (const react of heard(`change:${name}`)) react()
  }
  const listeners = () => [...told.values()].reduce((sum, each) => sum + each.size, 0)
  return { model, sent, change, listeners }
}

async function show(esm, state) {
  const source = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }))
  const widget = (await import(source)).default
  window.host = modelOf(state)
  await widget.initialize?.({ model: host.model })
  window.leave = await widget.render({ model: host.model, el: document.querySelector("#output") })
}
</script></body></html>"""


def state_of(widget: RaceWidget) -> dict[str, Any]:
    """Return what a kernel sends of a widget."""
    sent: dict[str, Any] = json.loads(json.dumps({name: getattr(widget, name) for name in SYNCED}))
    return sent


def stepped() -> tuple[RaceWidget, list[dict[str, Any]]]:
    """Return the widget of a race that is paced, and its states before the race and after each of six steps."""
    race = Race(named_problem("noisy blobs, C = 10"), ["silp", "level"], standard_rules(None, 400), pace=20.0)
    widget = RaceWidget(race, 1e-2)
    states = [state_of(widget)]
    for _ in range(7):
        for run in race.runs.values():
            run.advance()
        widget.update()
        states.append(state_of(widget))
    return widget, states


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page whose errors fail the test, and which must ask nobody for anything."""
    opened, asked = chromium.new_page(), []
    errors = complaints(opened)
    opened.on("request", lambda request: asked.append(request.url))
    opened.set_content(HOST)
    yield opened
    opened.close()
    assert errors == []
    assert [url for url in asked if not url.startswith("blob:")] == []


def test_the_module_of_the_widget_imports_nothing_and_names_no_address() -> None:
    code = re.sub(r"^\s*//.*$", "", MODULE, flags=re.MULTILINE)
    assert not re.search(r"\bimport\b|\brequire\b|\bfetch\b|XMLHttpRequest|WebSocket|Worker|sendBeacon", code)
    assert set(re.findall(r"\w+://[^\"'`\s]+", MODULE)) == {"http://www.w3.org/2000/svg"}  # the name of SVG's elements
    assert re.findall(r"^export .*$", MODULE, re.MULTILINE) == ["export default { render }"]
    sheet = RaceWidget.sheet.default_value
    assert len(sheet) > 1000
    assert not re.search(r"url\(|@import|://", sheet)


@pytest.mark.browser
def test_by_the_protocol_alone_a_race_grows_and_its_buttons_say_what_is_wanted(page: Any) -> None:
    widget, states = stepped()
    page.evaluate("([esm, state]) => show(esm, state)", [MODULE, states[0]])
    page.get_by_role("button", name="Pause", exact=True).wait_for()
    assert steps(page) == 0
    for step, state in enumerate(states[1:]):
        for name, value in state.items():
            page.evaluate("([name, value]) => host.change(name, value)", [name, value])
        wait_for(lambda step=step: rows(page) == [step, step], f"step {step}", events_of(page))
    assert page.locator(".plot svg path").count() > 10
    # a page that has drawn says so, once for each recording and once at first
    wait_for(lambda: said(page) == ["more"] * len(states), "a word for each recording", events_of(page))

    for name, wish in (("Step", "step"), ("Full speed", "full"), ("Stop", "stop"), ("Pause", "pause")):
        page.get_by_role("button", name=name, exact=True).click()
        wait_for(lambda wish=wish: said(page)[-1] == wish, f"the wish {wish}", events_of(page))
    race = widget.race
    race.start()
    assert race.status == "running"
    heard = page.evaluate("() => host.sent.at(-1)")
    widget.comm.handle_msg({"content": {"data": {"method": "custom", "content": heard}}, "buffers": []})
    wait_for(lambda: race.status == "paused", "the pause that the page has asked for")
    widget.update()
    page.evaluate("(control) => host.change('control', control)", state_of(widget)["control"])
    page.get_by_role("button", name="Resume", exact=True).wait_for()
    race.cancel()
    assert race.wait(PATIENCE)

    assert page.evaluate("() => { leave(); return host.listeners() }") == 0


def said(page: Any) -> list[str]:
    """Return what the page has sent to the kernel."""
    return [message["wish"] for message in page.evaluate("() => host.sent")]
