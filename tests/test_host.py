"""What mklviz knows of the insides of Panel, Bokeh, Tornado and Jupyter: each test says in words what has moved.

These tests run under the newest releases as well, on an installed package, and know no other file of the tests.
"""

import ast
import asyncio
import importlib
import inspect
import json
import logging
import pkgutil
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache, wraps
from pathlib import Path
from time import monotonic
from typing import Any

import bokeh.server.session
import panel as pn
import panel_material_ui as pmui
import pytest
from _waits import next_round, soon
from bokeh import events
from bokeh.application import Application
from bokeh.application.handlers import FunctionHandler
from bokeh.core.properties import Int
from bokeh.core.property import bases, descriptors
from bokeh.document import Document
from bokeh.model import DataModel
from bokeh.models import ColumnDataSource, Div, Plot, TextInput
from bokeh.plotting import figure
from bokeh.protocol import Protocol
from bokeh.resources import Resources
from bokeh.server.connection import ServerConnection
from bokeh.server.contexts import ApplicationContext
from bokeh.server.protocol_handler import ProtocolHandler
from bokeh.server.session import ServerSession
from bokeh.server.urls import per_app_patterns
from bokeh.util.token import generate_jwt_token
from panel.io.document import init_doc
from panel.io.notifications import NotificationAreaBase
from panel.io.resources import Resources as PanelResources
from panel.io.server import ComponentResourceHandler, DocHandler, WSHandler, get_server
from panel.io.state import set_curdoc, state
from panel.models.esm import DataEvent, ReactiveESM
from panel.reactive import Syncable
from panel_material_ui.theme import MaterialDesign, MuiDefaultTheme
from tornado.http1connection import HTTP1Connection
from tornado.httpclient import AsyncHTTPClient
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.ioloop import IOLoop
from tornado.iostream import IOStream
from tornado.locks import Lock
from tornado.routing import RuleRouter
from tornado.web import Application as WebApplication
from tornado.web import HTTPError, RequestHandler
from tornado.websocket import websocket_connect

import mklviz.views
from mklviz.server.process import Contained, contain
from mklviz.server.serving import get_ready
from mklviz.views.chart.bokeh_figure import ignore_long_press
from mklviz.views.form import Form, Note
from mklviz.views.host import ticks
from mklviz.views.host.components import DraggedFigure, Markup, PlotPane, ScriptedComponent
from mklviz.views.host.environment import is_loaded, notebook_shell
from mklviz.views.host.frames import Frames, Heartbeat, all_columns_are_held, document_of, walk_models_once
from mklviz.views.host.page_session import GONE_AFTER, Reconnect, follow_session, is_connected, is_on_page, is_served
from mklviz.views.host.panel_setup import (
    PAGE_TEMPLATE,
    answer_on_event_loop,
    answer_with_lock,
    configure,
    forget_params,
    import_nothing_for_component_files,
    never_busy,
    remember_defaults,
    remember_files,
    remember_looks,
    share_params,
    tell_once,
)
from mklviz.views.host.ticks import Polling, Ticks
from mklviz.views.session.session import Session

VIEWS = Path(mklviz.views.__file__).parent
HOST = VIEWS / "host"
FOREIGN = ("bokeh", "panel", "panel_material_ui", "param", "tornado", "IPython", "pyviz_comms", "holoviews")

tested: set[str] = set()  # modules and scripts, by their paths in mklviz


def rests_on(fact: str, *paths: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a test that fails say in words what has moved, and which modules rest on it."""
    tested.update(paths)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(*given: Any, **named: Any) -> None:
            try:
                test(*given, **named)
            except Exception as error:
                moved = f"A new release has moved what {' and '.join(paths)} of mklviz knows of others: {fact}"
                raise AssertionError(moved) from error

        return run

    return decorate


class Socket:
    """Keeps what a session sends to its browser."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    async def send_message(self, message: Any) -> None:
        self.sent.append(message)


async def session_of(build: Callable[[Document], object]) -> tuple[Any, Callable[[Any], ServerConnection]]:
    """Return a session of Bokeh's whose page is built so, and what connects a socket to it."""

    def with_panel(document: Document) -> None:
        with set_curdoc(document):
            build(document)

    context = ApplicationContext(Application(FunctionHandler(with_panel)), IOLoop.current())
    begun = RequestStartLine("GET", "/", "HTTP/1.1")
    request = HTTPServerRequest(headers=HTTPHeaders({"Host": "localhost"}), start_line=begun)
    token = generate_jwt_token("one")  # type: ignore[arg-type]
    session: Any = await context.create_session_if_needed("one", request, token)  # type: ignore[arg-type]
    assert isinstance(session, ServerSession)
    return session, lambda to: ServerConnection(Protocol(), to, context, session)


def shown(pane: Any) -> Document:
    """Return a document that shows a pane."""
    document = Document()
    pn.panel(pane).server_doc(document)
    return document


# -- Bokeh: models and documents


@rests_on("Bokeh asks _overridden_defaults and has_unstable_default for defaults.", "views/host/panel_setup.py")
def test_bokeh_asks_for_defaults_by_methods_that_can_remember() -> None:
    remember_defaults()
    assert "cls._overridden_defaults()" in inspect.getsource(bases)
    assert "self.has_unstable_default(obj)" in inspect.getsource(descriptors)
    overridden = 0
    for kind in Plot.model_class_reverse_map.values():
        expected: dict[str, Any] = {}
        for ancestor in reversed(kind.__mro__):
            expected |= getattr(ancestor, "__overridden_defaults__", {})
        assert kind._overridden_defaults() == expected
        overridden += bool(expected)
    assert overridden > 100
    assert Plot().title is not Plot().title


@rests_on("what the theme gives to an object depends on its class alone.", "views/host/panel_setup.py")
def test_the_theme_remembers_what_it_gives_to_a_class() -> None:
    remember_looks()
    for kind in (pn.pane.HTML, pn.Column, pmui.Button):
        first, second = (MaterialDesign._get_modifiers(kind(), MuiDefaultTheme()) for _ in range(2))
        assert first == second
        assert first[0] is not second[0]
        first[0].setdefault("stylesheets", []).append("changed")
        assert MaterialDesign._get_modifiers(kind(), MuiDefaultTheme()) == second


@rests_on("Param has no_instance_params, and copies a Param of an object when it is set.", "views/host/panel_setup.py")
def test_parts_of_a_page_keep_no_copies_of_params_and_what_is_bound_follows_the_object() -> None:
    share_params()
    for one in (Markup("b"), Form(), Note()):
        shown(one) if isinstance(one, pn.viewable.Viewable) else one.describe()
        assert not one._param__private.params
        assert all(one.param[name] is type(one).param[name] for name in one.param)
    assert pmui.Tabs(("a", "b")).param.active is not pmui.Tabs.param.active  # whose bounds are those of its tabs
    pane = pn.pane.HTML("before")
    column, bound = pn.Column(pane), pn.bind(str.upper, pane.param.object)
    assert pane._param__private.params
    shown(column)
    forget_params([column])
    assert not column._param__private.params
    assert not pane._param__private.params
    pane.object = "after"
    assert (bound(), pane.param.object.owner) == ("AFTER", pane)
    session = Session()
    assert session.param.cursor.owner is session


@rests_on("extra_resources adds the files that classes bring along.", "views/host/panel_setup.py")
def test_panel_remembers_the_files_of_its_components(monkeypatch: pytest.MonkeyPatch) -> None:
    remember_files()
    look: Any = PanelResources.extra_resources
    for kind in ("_bundle_css", "__javascript__", "__css__"):
        for path in ("", "", "lab/mkl"):
            monkeypatch.setattr(type(pn.state), "rel_path", path)
            expected, found = ["before"], ["before"]
            look.__wrapped__(PanelResources(mode="server"), expected, kind)
            look(PanelResources(mode="server"), found, kind)
            assert found == expected
    look(PanelResources(mode="server"), expected := [], "_bundle_css")
    assert any(str(file).endswith(".css") for file in expected)


@rests_on("where Panel keeps models, and Bokeh the changes that it holds back.", "views/host/frames.py")
def test_a_document_still_says_what_it_holds() -> None:
    pane = pn.pane.HTML("a")
    assert document_of(pane) is None
    document, source = shown(pane), ColumnDataSource({"x": [1]})
    assert document_of(pane) is document
    document.add_root(Div(tags=[source]))
    with walk_models_once(document):
        document.add_root(Div())
    assert not all_columns_are_held(source)
    document.on_change(lambda event: None)
    document.hold("collect")
    source.data = {"x": [1, 2]}
    assert all_columns_are_held(source)


@rests_on("pn.pane.Bokeh builds by _get_model, and sets sizes by _sync_properties.", "views/host/components.py")
def test_a_figure_is_drawn_as_in_panels_own_pane() -> None:
    assert {"_get_model", "_sync_properties"} <= set(dir(pn.pane.Bokeh))
    drawn = []
    for kind in (PlotPane, pn.pane.Bokeh):
        plot = figure(height=190, sizing_mode="stretch_width", x_axis_label="step")
        plot.line([1, 2], [3, 4])
        document = Document()
        column = pn.Column(kind(plot, sizing_mode="stretch_width", margin=0))
        pmui.Page(main=[column], dark_theme=True).server_doc(document)
        assert document.select_one({"type": Plot}) is plot
        values = ((type(model).__name__, model.properties_with_values()) for model in plot.references())
        texts = (f"{name} {sorted(found.items())}" for name, found in values)
        drawn.append(sorted(re.sub(r"id='[^']*'|p\d+", "", text) for text in texts))
    assert drawn[0] == drawn[1]


@rests_on("a figure has the event mouseenter.", "views/chart/bokeh_figure.py")
def test_a_mouse_that_enters_a_figure_is_an_event() -> None:
    plot = figure()
    ignore_long_press(plot)
    assert set(plot.js_event_callbacks) == {events.MouseEnter.event_name}


# -- Bokeh: sessions


async def threads_of_a_page() -> dict[str, int]:
    """Return in which thread a page is built, a change of its browser and a callback are carried out, and it is told.

    The page is a real session of Bokeh's; no socket is there, so that what is sent to the browser is kept.
    """
    threads: dict[str, int] = {}
    div = Div(text="before")

    def build(document: Document) -> None:
        threads["built"] = threading.get_ident()
        div.on_change("text", lambda attr, old, new: threads.setdefault("changed", threading.get_ident()))
        document.add_root(div)

    session, connect = await session_of(build)
    browser = Socket()
    page = connect(browser)
    changed = {"kind": "ModelChanged", "model": {"id": div.id}, "attr": "text", "new": "after"}
    patch = Protocol().assemble('{"msgid": "1", "msgtype": "PATCH-DOC"}', "{}", json.dumps({"events": [changed]}))
    assert (await ServerSession.patch(patch, page)).msgtype == "OK"

    def call() -> None:
        threads["called"] = threading.get_ident()
        div.text = "later"

    await session.with_document_locked(call)
    (told,) = browser.sent
    assert "later" in told.content_json
    page.detach_session()
    return threads


@rests_on("by which function Bokeh hands work to other threads.", "views/host/panel_setup.py")
def test_pages_are_built_and_changed_in_the_thread_of_the_event_loop() -> None:
    if hasattr(bokeh.server.session, "_needs_document_lock_on_loop"):  # from Bokeh 3.10 on
        assert hasattr(bokeh.server.session, "_run_in_executor")
        assert hasattr(ServerSession, "_run_in_executor")
        assert hasattr(ApplicationContext, "_can_initialize_document_in_worker")
    answer_on_event_loop()
    threads = asyncio.run(threads_of_a_page())
    assert threads == dict.fromkeys(("built", "changed", "called"), threading.get_ident())


async def visit() -> list[str]:
    """Fetch a page, connect to it, leave it, and return what happened to it."""
    happened: list[str] = []
    plot = figure()

    def build() -> Any:
        assert is_served()
        follow_session(lambda: happened.append("loaded"), lambda: happened.append("ended"))
        return pn.pane.Bokeh(plot)

    assert not is_on_page([plot])
    settings = {"unused_session_lifetime_milliseconds": 100, "check_unused_sessions_milliseconds": 50}
    server = get_server({"page": build}, port=0, start=False, loop=IOLoop.current(), **settings)
    server.start()
    await AsyncHTTPClient().fetch(f"http://localhost:{server.port}/page")
    assert is_on_page([plot])
    (session,) = server.get_sessions()
    await soon(lambda: session.expiration_blocked)
    happened.append("waits")
    with set_curdoc(session.document):
        assert not is_connected()
        reconnect = Reconnect()
        assert reconnect.session == session.id.split(".")[0]
        browser = await websocket_connect(
            f"ws://localhost:{server.port}/page/ws", subprotocols=["bokeh", generate_jwt_token(session.id)]
        )
        await soon(is_connected)
        assert reconnect.present
        session.document.callbacks.trigger_event(events.DocumentReady())
        await soon(lambda: not session.expiration_blocked)
        reconnect.beat += GONE_AFTER + 1
        assert not reconnect.present
        reconnect.heard = reconnect.beat
        assert reconnect.present
        browser.close()
        await soon(lambda: not reconnect.present)
    await soon(lambda: not server.get_sessions())
    server.stop()
    return happened


@rests_on(
    "a session says when its page is loaded and when it is over, counts its connections, and can be kept.",
    "views/host/page_session.py",
)
def test_a_session_waits_for_its_browser_and_knows_whether_it_is_there() -> None:
    assert not is_served()
    assert is_connected()
    answer_on_event_loop()
    assert asyncio.run(visit()) == ["waits", "loaded", "ended"]


# -- Panel


@rests_on("Panel answers by _change_coroutine and _event_coroutine of Syncable.", "views/host/panel_setup.py")
def test_whatever_a_visitor_does_is_answered_with_the_lock() -> None:
    answer_with_lock()
    source = inspect.getsource(Syncable)
    for name in ("_change_coroutine", "_event_coroutine"):
        assert getattr(Syncable, name).lock
        assert f"partial(self.{name}, doc" in source


class Taken(Socket):
    """A socket that is taken by another message until `write_lock` is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.write_lock = Lock()

    async def send(self, text_data: str = "", **_binary: bytes) -> None:
        self.sent.append(text_data)


async def told_behind_the_document() -> tuple[int, list[str]]:
    """Change a page whose socket is taken, let it ask for its document; return the rows in that, and what follows."""
    source, browser = ColumnDataSource({"x": [0]}), Taken()
    session, connect = await session_of(lambda document: init_doc(document).add_root(source))
    page, state._loaded[session.document] = connect(browser), True

    def change() -> None:
        with set_curdoc(session.document), pn.io.hold(policy="collect"):
            source.stream({"x": [1]})

    with await browser.write_lock.acquire():
        await session.with_document_locked(change)
        asked = Protocol().assemble('{"msgid": "1", "msgtype": "PULL-DOC-REQ"}', "{}", "{}")
        reply = await ProtocolHandler().handle(asked, page)
    if reply is None:  # from Bokeh 3.10 on sessions send it themselves
        at = [getattr(each, "msgtype", "") for each in browser.sent].index("PULL-DOC-REPLY")
        reply, browser.sent = browser.sent[at], browser.sent[at + 1 :]
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
    page.detach_session()
    return len(dict(reply.content["doc"]["roots"][0]["attributes"]["data"]["entries"])["x"]), browser.sent


@rests_on("Panel keeps messages for a socket that is taken, by connections.", "views/host/panel_setup.py")
def test_a_row_that_is_in_the_document_a_page_gets_is_not_sent_once_more() -> None:
    tell_once()
    assert asyncio.run(told_behind_the_document()) == (2, [])


@rests_on("Panel finds files of components by ComponentResourceHandler.parse_url_path.", "views/host/panel_setup.py")
def test_no_module_is_imported_for_a_file_of_a_component() -> None:
    import_nothing_for_component_files()
    handler = ComponentResourceHandler.__new__(ComponentResourceHandler)
    assert "self.parse_url_path(path)" in inspect.getsource(ComponentResourceHandler.__mro__[1])
    assert "this" not in sys.modules
    for path in ("this/Zen/_esm/zen.js", "os/path/_esm/x", "panel/state/_esm/x", ""):
        with pytest.raises(HTTPError, match="404"):
            handler.parse_url_path(path)
    assert "this" not in sys.modules
    with pytest.raises(HTTPError, match="403"):  # a component, but no file of it
        handler.parse_url_path("panel.custom/JSComponent/_esm/passwd")


class Answers(ScriptedComponent):
    _esm = "export function render() {}"

    def __init__(self) -> None:
        super().__init__()
        self.happened: list[Any] = []

    def receive(self, message: Any) -> None:
        self.happened.append(message)

    def before_page(self) -> None:
        self.happened.append("before a page")


@rests_on("a component hears by _handle_msg, says by _send_msg and is built by _get_model.", "views/host/components.py")
def test_a_component_and_its_script_send_each_other_messages() -> None:
    component = Answers()
    document = shown(component)
    model = next(found for found in document.models if isinstance(found, ReactiveESM) and found.esm == Answers._esm)
    said: list[Any] = []
    document.callbacks.on_change_dispatch_to(type("Browser", (), {"_document_message_sent": said.append})())
    component.send("to the script")
    assert "to the script" in str(said[0].msg_data.__dict__)
    document.callbacks.trigger_event(DataEvent(model, data="from the script"))
    assert component.happened == ["before a page", "from the script"]


@rests_on("a page is loaded when Panel says so, which answers nothing before.", "views/host/panel_setup.py")
def test_what_a_visitor_does_while_the_page_is_drawn_is_answered_when_it_is_loaded() -> None:
    async def press(component: Answers) -> list[Any]:
        session, connect = await session_of(component.server_doc)
        page, document = connect(Socket()), session.document
        (model,) = (found for found in document.models if isinstance(found, ReactiveESM) and found.esm == Answers._esm)
        for pressed in ("first", "second"):
            document.callbacks.trigger_event(DataEvent(model, data=pressed))
        for _ in range(50):
            await next_round()
        early = list(component.happened)
        pn.state._schedule_on_load(document, None)
        await soon(lambda: "second" in component.happened)
        page.detach_session()
        return early

    answer_with_lock()
    component = Answers()
    assert asyncio.run(press(component)) == ["before a page"]
    assert component.happened == ["before a page", "first", "second"]


def busy_after(component: Any, **changed: Any) -> bool:
    """Return whether a page is busy for a moment when its browser has changed something."""
    said: list[bool] = []
    watcher = pn.state.param.watch(lambda event: said.append(event.new), "busy")
    component._process_events(changed)
    pn.state.param.unwatch(watcher)
    return any(said)


@rests_on("what is named in _busy__ignore marks no page busy.", "views/host/frames.py", "views/host/components.py")
def test_an_acknowledgement_is_no_work() -> None:
    assert busy_after(Heartbeat(), seq=1)
    assert not busy_after(Heartbeat(), ack=1)
    assert busy_after(Reconnect(), beat=1)
    assert not busy_after(Reconnect(), heard=1)


@rests_on("a table tells of its data when they are replaced, as a browser does.", "views/host/components.py")
def test_what_is_dragged_on_a_figure_is_told_and_answered() -> None:
    told: list[dict[str, object]] = []
    dragged = DraggedFigure("map", lambda columns: told.append(dict(columns)))
    dragged.asked.data = {"x": [0.5], "y": [0.25]}
    dragged.answer()
    assert told == [{"x": [0.5], "y": [0.25]}]
    assert dragged.answered.data["count"] == [1]
    assert set(dragged.script("say({})").args) == {"asked", "answered"}


@rests_on("panel.io.document.unlocked lets changes pass the queue.", "views/host/frames.py")
def test_frames_are_sent_in_order_or_at_once() -> None:
    frames = Frames()
    assert isinstance(frames.in_order(), AbstractContextManager)
    frames.send(1.0, figures=True)
    with frames.in_order():
        assert not frames.stand
    frames.heartbeat.ack = frames.heartbeat.seq
    with frames.in_order():
        assert frames.stand


@rests_on("a pane of markup makes its text by _transform_object and sends it by _update.", "views/host/components.py")
def test_markup_sends_its_text_alone() -> None:
    pane = Markup("one", stylesheets=[":host { color: red }"])
    document = shown(pane)
    changed: list[Any] = []
    document.on_change(changed.append)
    pane.object = "<b>two</b>"
    assert [(event.attr, event.new) for event in changed] == [("text", "&lt;b&gt;two&lt;/b&gt;")]
    pane.dress([":host { color: blue }"])
    model = next(found for found in document.models if getattr(found, "text", "") == "&lt;b&gt;two&lt;/b&gt;")
    assert ":host { color: blue }" in model.stylesheets


def test_ticks_begin_once_and_end() -> None:
    def counting() -> tuple[Ticks, list[None]]:
        calls: list[None] = []

        async def tick() -> None:
            calls.append(None)

        return Ticks(0.01, tick), calls

    async def count() -> int:
        (some, calls), (others, later) = counting(), counting()
        assert not some.begun
        some.start()
        some.start()
        await soon(lambda: len(calls) > 2)
        some.stop()
        last = len(calls)
        others.start()
        await soon(lambda: len(later) > 9)
        others.stop()
        assert some.begun
        return len(calls) - last

    assert asyncio.run(count()) <= 1  # one may have been on its way


def test_ticks_come_less_often_the_longer_nothing_changes_and_at_once_after_an_event() -> None:
    async def tick() -> None: ...

    idle, steady, now = Ticks(0.1, tick, idles=True), Ticks(0.1, tick), monotonic()
    idle.frame_rate = steady.frame_rate = ticks.FrameRate()  # no other page is drawn
    pauses = [idle.pause(now + since) for since in (0.0, 5.0, 20.0, 1e6)]
    assert pauses[0] == 0.1 < pauses[1] < pauses[2] < pauses[3] == ticks.SLOWEST
    assert steady.pause(now + 1e6) == 0.1
    idle.sent_at = now + 1e6  # it has changed the page
    assert idle.pause(now + 1e6) == 0.1
    idle.sent_at = now
    idle.wake()
    assert idle.pause(monotonic()) == 0.1


@rests_on(
    "a session knows its connections and calls with the lock of its document, which holds what has changed.",
    "views/host/ticks.py",
)
def test_a_page_has_ticks_while_a_browser_shows_it_or_something_happens() -> None:
    calls: list[bool] = []

    class Heart(DataModel):
        seq = Int(default=0)

    pane, heart = Div(text="one"), Heart()

    async def tick() -> None:
        heart.seq += 1
        calls.append(ticks.changes(state.curdoc))
        pane.text = f"{len(calls)}"
        assert ticks.changes(state.curdoc)

    async def visit() -> None:
        session, connect = await session_of(lambda document: [document.add_root(each) for each in (pane, heart)])
        with set_curdoc(session.document):
            each = Ticks(0.0, tick)
            each.away = each.look_again = 0.0
            each.start()
        for _ in range(50):
            await next_round()
        assert not calls  # nobody is there
        each.wake()
        await soon(lambda: len(calls) == 1)
        for _ in range(50):
            await next_round()
        assert len(calls) == 1
        session.subscribe(connect(Socket()))
        await soon(lambda: len(calls) > 3)
        each.stop()
        assert not any(calls)  # to count up a heartbeat changes nothing

    asyncio.run(visit())


@rests_on("a document tells what its browser changes, and events on it.", "views/host/ticks.py")
def test_what_happens_on_a_page_brings_its_ticks_back_and_a_sign_of_life_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heart, field = Heartbeat(), pn.widgets.TextInput()
    document = shown(pn.Column(heart, field))

    async def tick() -> None: ...

    each, later = Ticks(0.1, tick, idles=True), 1e6
    each.frame_rate = ticks.FrameRate()
    said = {"type": "event", "name": "document_ready", "values": {"type": "map", "entries": []}}
    ready: Any = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": said}
    with set_curdoc(document):
        each.start()
    monkeypatch.setattr(ticks, "monotonic", lambda: later)
    model = next(model for model in document.models if hasattr(getattr(model, "data", None), "ack"))
    model.data.ack = 3  # as by a browser
    assert heart.ack == 3
    assert each.pause(later) == ticks.SLOWEST
    for happen in (
        lambda: setattr(next(iter(document.select({"type": TextInput}))), "value", "typed"),
        lambda: document.apply_json_patch({"events": [ready]}),
    ):
        happen()
        assert each.pause(later) == 0.1
        later *= 2
        assert each.pause(later) == ticks.SLOWEST


@rests_on("PeriodicCallback calls in the background, in milliseconds, until it is stopped.", "views/host/ticks.py")
def test_polling_asks_until_there_is_an_answer_and_can_begin_again() -> None:
    async def ask() -> list[int]:
        calls: list[int] = []

        def answered() -> bool:
            calls.append(len(calls))
            return len(calls) % 3 == 0

        polling = Polling(answered)
        for _ in range(2):
            polling.begin()
            polling.begin()
            assert polling.going
            await soon(lambda: not polling.going)
        return calls

    assert asyncio.run(ask()) == [0, 1, 2, 3, 4, 5]


@rests_on(
    "the page of panel-material-ui has a template with a preamble, and follows state.", "views/host/panel_setup.py"
)
def test_a_page_keeps_its_template_and_is_never_busy() -> None:
    page, other = (pmui.Page(title="a page", template=PAGE_TEMPLATE) for _ in range(2))
    never_busy(page)
    document = Document()
    page.server_doc(document)
    assert "preamble" in document.template.blocks
    assert {"dark_theme", "sidebar_open"} <= set(page.param)  # which page_ready.js knows in the browser
    with pn.util.edit_readonly(pn.state):
        pn.state.busy = True
        assert (page.busy, other.busy) == (False, True)
        pn.state.busy = False


@rests_on(
    "where Panel keeps the notifications of a page, and how Bokeh's events are named.", "views/host/panel_setup.py"
)
def test_a_session_that_is_over_leaves_no_notifications_behind() -> None:
    def notifications(document: Document) -> list[Any]:
        return [
            view
            for view, _, of, _ in pn.state._views.values()
            if isinstance(view, NotificationAreaBase) and of is document
        ]

    def build(document: Document) -> None:
        configure()
        pmui.Page(title="a page").server_doc(document)

    async def over() -> None:
        session, _ = await session_of(build)
        document = session.document
        assert {"connection_lost", "document_ready"} <= set(document.callbacks._js_event_callbacks)
        assert notifications(document)
        for react in document.session_destroyed_callbacks:
            react(document.session_context)
        assert not notifications(document)

    assert events.ConnectionLost.event_name == "connection_lost"
    assert events.DocumentReady.event_name == "document_ready"
    answer_on_event_loop()
    asyncio.run(over())


def test_a_tab_that_is_closed_leaves_no_entry_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    configure()
    log = logging.getLogger("bokeh.server.views.ws")
    for text in ("Failed sending message as connection was closed", "Something else"):
        log.warning(text)
    connection = ServerConnection(Protocol(), None, None, ServerSession("left", Document()))
    connection.detach_session()
    answer = asyncio.run(ProtocolHandler().handle(Protocol().create("PULL-DOC-REQ"), connection))
    assert answer.msgtype == "ERROR"
    assert caplog.messages == ["Something else"]


# -- Jupyter


@rests_on("how a kernel of Jupyter tells of cells, and what marimo is asked.", "views/host/environment.py")
def test_a_kernel_tells_of_cells() -> None:
    from ipykernel.zmqshell import ZMQInteractiveShell
    from IPython.core.events import available_events
    from IPython.core.interactiveshell import InteractiveShell

    assert notebook_shell() is None
    assert "post_run_cell" in available_events
    assert {"kernel", "display_formatter"} <= set(dir(ZMQInteractiveShell))
    assert "self.events = " in inspect.getsource(InteractiveShell)
    assert not is_loaded(object())
    pn.extension()
    assert is_loaded(pn.extension)


# -- BokehJS

SCRIPTS = {
    "views/host/built_first.js": (
        *(
            "default_view",
            "_measure_layout",
            "_after_layout",
            "_invalidate_layout_if_needed",
            "is_displayed",
            "build_view",
            "build_views",
            "update_children",
        ),
        *("render_esm", "ready", "apply_json_patch", "set_data", "client/connection", "ClientConnection"),
        *("create_json_patch", "_new_models"),
        *("document/document", "core/build_views", "models/layouts/layout_dom"),
    ),
    "views/chart/bokeh_figure.py": ("find_one", "canvas_view", "ui_event_bus", "ui_gestures", "_start_timeout"),
    "views/host/reconnect.js": (
        *("_pull_doc_json", "_repull_session_doc", "_receiver", "replace_with_json", "buffers", "_on_message", "msgid"),
        *("on_message", "get_model_by_id", "client/connection", "ClientConnection"),
    ),
    "views/race/figures.py": ("have_updated_interactively", "scale_hint"),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_bokehjs_has_what_a_script_reaches_for(script: str) -> None:
    source = (VIEWS.parent / script).read_text(encoding="utf-8")
    panel = (Path(pn.__file__).parent / "dist" / "panel.min.js").read_text(encoding="utf-8")
    bokehjs = "\n".join([*Resources(mode="inline", components=["bokeh"]).js_raw, panel])
    for name in SCRIPTS[script]:
        assert name in source, f"mklviz/{script} does not know {name} any more: leave it out here."
        found = re.search(rf"\b{name}\b", bokehjs)
        assert found, f"What mklviz/{script} rests on has moved or is gone: BokehJS has no {name} any more."


def test_no_script_reaches_for_a_private_name_that_is_not_tested() -> None:
    assert all((VIEWS.parent / script).exists() for script in SCRIPTS)
    for path in VIEWS.rglob("*.js"):
        names = set(re.findall(r"(?:\.|\")(_[a-z]\w+)", path.read_text(encoding="utf-8"))) - {"_blank"}  # a target
        assert names <= set(SCRIPTS.get(path.relative_to(VIEWS.parent).as_posix(), ())), path


# -- the server: Bokeh's and Tornado's


@rests_on("how Bokeh receives a message, in parts, and answers it.", "server/messages.py")
def test_a_socket_still_receives_messages_in_parts() -> None:
    kinds = [pattern[1] for pattern in per_app_patterns]
    assert any(issubclass(kind, WSHandler) for kind in kinds)  # by which pages get their sockets
    assert len(inspect.signature(WSHandler.on_message).parameters) == 2  # itself and a part
    assert inspect.iscoroutinefunction(WSHandler.on_message)
    assert inspect.iscoroutinefunction(WSHandler.send_message)
    parts = ('{"msgid":"1","msgtype":"PATCH-DOC"}', "{}", '{"events":[]}')
    assert Protocol().assemble(*parts).content == {"events": []}
    page = ServerConnection.__new__(ServerConnection)
    page._session = session = object()  # type: ignore[assignment]
    assert page.session is session
    for call in (ServerSession.patch, ServerSession.pull, ServerConnection.error):
        assert next(name for name in inspect.signature(call).parameters if name != "self") == "message"


@pytest.fixture
def patterns() -> Iterator[list[Any]]:
    """The pages and sockets of every server, which are afterwards as they were."""
    before = list(per_app_patterns)
    yield per_app_patterns
    per_app_patterns[:] = before


@rests_on("a page is got from panel.io.server.DocHandler, which Bokeh's patterns name.", "server/process.py")
def test_pages_and_sockets_of_a_server_are_of_our_kinds(patterns: list[Any]) -> None:
    for _ in range(2):  # which wraps each of them once
        get_ready()
    kinds = [pattern[1] for pattern in patterns if issubclass(pattern[1], DocHandler | WSHandler)]
    pages = [kind for kind in kinds if issubclass(kind, DocHandler) and "autoload" not in kind.__name__.lower()]
    assert pages
    assert {(kind.__module__, kind.__base__) for kind in pages} == {("mklviz.server.process", DocHandler)}
    assert {kind.__module__ for kind in kinds if issubclass(kind, WSHandler)} == {"mklviz.server.messages"}
    assert inspect.iscoroutinefunction(inspect.unwrap(DocHandler.get))


@rests_on("Tornado answers by RequestHandler._execute, and rules of a router lead to handlers.", "server/process.py")
def test_every_handler_of_an_application_is_contained() -> None:
    assert inspect.iscoroutinefunction(RequestHandler._execute)
    assert "self._finished" in inspect.getsource(RequestHandler.finish)
    application = WebApplication([("/", RequestHandler)])
    contain(application.default_router.rules)
    (rule,) = (inner for rule in application.default_router.rules for inner in routed(rule))
    assert issubclass(rule.target, Contained)


def routed(rule: Any) -> list[Any]:
    return (
        [inner for each in rule.target.rules for inner in routed(each)]
        if isinstance(rule.target, RuleRouter)
        else [rule]
    )


@rests_on("Tornado closes a connection where _disconnect_on_finish says so.", "server/gate.py")
def test_a_connection_can_be_told_to_close() -> None:
    with socket.socket() as one:
        connection = HTTP1Connection(IOStream(one), is_client=False)
        assert connection._disconnect_on_finish is False
        assert "self._disconnect_on_finish" in inspect.getsource(HTTP1Connection._finish_request)


@rests_on("where Bokeh's server keeps Tornado's server and application.", "server/serving.py")
def test_a_server_is_made_of_tornados() -> None:
    async def parts() -> tuple[Any, Any]:
        server = get_server({"page": lambda: pn.Row()}, port=0, start=False, loop=IOLoop.current())
        server.stop()
        return server._http, server._tornado

    http, application = asyncio.run(parts())
    assert isinstance(http, HTTPServer)
    assert isinstance(application, WebApplication)
    assert list(inspect.signature(HTTPServer.handle_stream).parameters) == ["self", "stream", "address"]


# -- nobody else

DOCUMENTED = {"_esm", "_importmap", "_stylesheets"}  # how a component of Panel says what it is made of
OWN = ("self", "cls")
MADE = r"_(param__|data_model|_|[A-Z])\w*"  # by metaclasses


def private(name: object) -> bool:
    return re.fullmatch(r"_\w*[a-z]", str(name)) is not None and re.fullmatch(MADE, str(name)) is None


def reaches(text: str) -> list[str]:
    """Return where a module asks others than itself for private names, or sets anything on what it imports."""
    nodes = list(ast.walk(ast.parse(text)))
    imports = [(node, alias) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    origins = {alias.asname or alias.name: getattr(node, "module", None) or alias.name for node, alias in imports}
    foreign = {name for name, origin in origins.items() if origin.split(".")[0] in FOREIGN}
    found = []
    for node in nodes:
        if isinstance(node, ast.Attribute):
            of = ast.unparse(node.value)
            if (private(node.attr) and of not in OWN) or (isinstance(node.ctx, ast.Store) and of in foreign):
                found.append(ast.unparse(node))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "getattr", "delattr", "hasattr"):
            of, name = node.args[:2]
            changes = ast.unparse(node.func) in ("setattr", "delattr") and ast.unparse(of) in foreign
            if changes or (isinstance(name, ast.Constant) and private(name.value)):
                found.append(ast.unparse(node))
    return found


@cache
def classes_of(module: str) -> dict[str, tuple[ast.AST, ...]]:
    """Return the nodes of each class of a module by its qualified name: `inspect` would parse all for each class."""
    found: dict[str, tuple[ast.AST, ...]] = {}

    def look(body: list[ast.stmt], within: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                found[within + node.name] = tuple(ast.walk(node))
                look(node.body, f"{within}{node.name}.")

    look(ast.parse(inspect.getsource(sys.modules[module])).body, "")
    return found


@cache
def asked_of_itself(kind: type) -> frozenset[str]:
    """Return the names that a class asks of itself, and those that it defines."""
    nodes = classes_of(kind.__module__).get(kind.__qualname__, ())
    own = (node for node in nodes if isinstance(node, ast.Attribute) and ast.unparse(node.value) in OWN)
    return frozenset({node.attr for node in own} | set(vars(kind)))


def reaches_of(kind: type) -> set[str]:
    """Return which private names of foreign classes a class overrides or asks of itself."""
    foreign = [base for base in kind.__mro__ if base.__module__.split(".")[0] in FOREIGN]
    theirs = {name for base in foreign for name in asked_of_itself(base)}
    return {name for name in theirs & asked_of_itself(kind) if private(name)} - DOCUMENTED


@pytest.mark.parametrize(
    "line",
    [
        "pane._models",
        "pn.extension._loaded",
        "super()._get_model()",
        "getattr(pane, '_models')",
        "from panel.reactive import Syncable\nSyncable.lock = True",
        "from panel.reactive import Syncable as Other\nsetattr(Other, name, True)",
    ],
)
def test_a_reach_is_seen(line: str) -> None:
    assert len(reaches(line)) == 1
    assert reaches("self._models + cls._models + other.models + __file__ + module.__name__") == []


@pytest.mark.full
def test_no_view_outside_the_host_reaches_into_others() -> None:
    names = [info.name for info in pkgutil.walk_packages(mklviz.views.__path__, "mklviz.views.")]
    modules = [importlib.import_module(name) for name in names if not name.startswith("mklviz.views.host")]
    assert len(modules) > 80
    for module in modules:
        assert reaches(inspect.getsource(module)) == [], module.__name__
        for kind in vars(module).values():
            if isinstance(kind, type) and kind.__module__ == module.__name__:
                assert reaches_of(kind) == set(), f"{module.__name__}.{kind.__name__}"


def test_every_module_that_knows_others_is_tested_here() -> None:
    for path in [*HOST.glob("*.py"), *(VIEWS.parent / "server").glob("*.py")]:
        text = path.read_text(encoding="utf-8")
        knows = any(f"\nfrom {name}" in text or f"\nimport {name}" in text for name in FOREIGN)
        if (path.parent == HOST and knows) or reaches(text):
            assert path.relative_to(VIEWS.parent).as_posix() in tested
