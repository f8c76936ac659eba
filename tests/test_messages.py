"""What a page's socket takes: changes and events in plain data; what it refuses, and how; and a log with a budget."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import logging
import re
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from bokeh.document import Document
from bokeh.models import Div
from bokeh.protocol import Protocol
from bokeh.server.connection import ServerConnection
from bokeh.server.session import ServerSession
from message_fuzz import fuzz
from panel.io.server import WSHandler

from mklviz.server import logs
from mklviz.server.logs import LETTERS, Budget, ShortEntries
from mklviz.server.messages import (
    _PAGES,
    LONGEST,
    LONGEST_PIECE,
    MOST_EVENTS,
    PageSocket,
    Refused,
    check_change,
    is_answering,
    is_too_long,
    read,
)
from mklviz.views.host import page_session

PACKED = base64.b64encode(gzip.compress(bytes(10**6))).decode()
BYTES = {"type": "bytes", "data": PACKED}


def changed(new: object, attr: str = "key") -> dict[str, Any]:
    return {"events": [{"kind": "ModelChanged", "model": {"id": "p1"}, "attr": attr, "new": new}]}


def sent(data: object) -> dict[str, Any]:
    event = {"type": "event", "name": "data_event", "values": {"type": "map", "entries": [["data", data]]}}
    return {"events": [{"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event}]}


@pytest.mark.parametrize(
    "content",
    [
        changed(BYTES),
        changed([1, {"deep": {"type": "map", "entries": [["a", BYTES]]}}]),
        changed({"type": "ndarray", "array": ["a"] * 4, "dtype": "S999999999", "order": "little", "shape": [4]}),
        changed({"type": "typed_array", "array": [1], "dtype": "float64", "order": "little"}),
        changed({"type": "slice", "start": 0, "stop": 1, "step": 1}),
        changed({"type": "object", "name": "Div", "id": "p9", "attributes": {"text": "x"}}),
        changed({"type": "object", "id": "p9"}),
        changed({"type": ["map"]}),
        changed({"type": "symbol", "name": "x"}),
        changed(10**22),
        changed(json.loads("[" * 31 + "]" * 31)),
        sent(BYTES),
        sent({"type": "ndarray", "array": BYTES, "dtype": "uint8", "order": "little", "shape": [10**6]}),
        {"events": []},
        {"events": {}},
        {"events": [None]},
        {"events": [{"kind": "RootAdded", "model": {"id": "p1"}}]},
        {"events": [{"kind": "TitleChanged", "title": "mine"}]},
        {"events": [{"kind": "ColumnsStreamed", "model": {"id": "p1"}, "attr": "data", "data": {}, "rollover": 1}]},
        {"events": [{"kind": ["ModelChanged"]}]},
        {"events": [{"kind": "ModelChanged", "model": "p1", "attr": "key", "new": 1}]},
        {"events": [{"kind": "ModelChanged", "model": {"id": []}, "attr": "key", "new": 1}]},
        {"events": [{"kind": "MessageSent", "msg_type": "other", "msg_data": 1}]},
        {"events": changed(1)["events"] * (MOST_EVENTS + 1)},
        {"events": changed(1)["events"], "doc": {}},
        changed("x" * (LONGEST + 1)),
        {"events": [*sent("x" * (LONGEST + 1))["events"], *sent("y" * (LONGEST + 1))["events"]]},
        {},
    ],
)
def test_what_no_browser_sends_is_refused_in_a_sentence_that_quotes_nothing(content: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        check_change(content)
    assert str(refused.value).startswith("This message is refused: ")
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    "content",
    [
        changed("a"),
        changed({"type": "number", "value": "nan"}, "location"),
        changed({"type": "map", "entries": [["x", [0.5, -1.5]], ["class", ["a", "b"]]]}, "data"),
        changed(10**21 - 1),
        changed({"id": "p7"}),
        {"events": changed(1)["events"] * 12},
        sent({"type": "map", "entries": [["key", 3], ["piece", base64.b64encode(bytes(2**19)).decode()]]}),
    ],
)
def test_what_browsers_send_is_taken(content: dict[str, Any]) -> None:
    text = json.dumps(content)
    assert not is_too_long(text)
    check_change(read(text))


@pytest.mark.parametrize("text", ["[" * 60_000, "[]", "null", '{"a": NaN}', '{"a": ' + "9" * 5000 + "}", "{", '"' * 3])
def test_what_is_no_object_in_json_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        read(text)


def test_long_messages_are_told_without_being_read() -> None:
    assert is_too_long(json.dumps(changed([0] * LONGEST)))
    assert is_too_long('"a"' * LONGEST)
    assert is_too_long('"' + "A" * LONGEST_PIECE + '"')
    assert not is_too_long("a" * LONGEST)


class Connected:
    """A page's socket with neither network nor page: what it sends and how it is closed."""

    def __init__(self, patch: Callable[..., Awaitable[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ServerSession, "patch", patch)
        self.socket = PageSocket.__new__(PageSocket)
        self.socket._parts = []
        self.answers: list[Any] = []
        self.closed: list[int] = []
        session: Any = type("Session", (), {"document": Document()})()
        self.socket.connection = ServerConnection.__new__(ServerConnection)
        self.socket.connection._protocol, self.socket.connection._session = Protocol(), session
        self.socket.close = lambda code, reason: self.closed.append(code)

        async def send(message: Any) -> None:
            self.answers.append(message)

        self.socket.send_message = send

    def receive(self, *parts: str | bytes) -> Connected:
        async def receive() -> None:
            for part in parts:
                await self.socket.on_message(part)

        asyncio.run(receive())
        return self

    def told(self, content: object) -> Any:
        """Return the answer to a change."""
        self.receive('{"msgid": "m1", "msgtype": "PATCH-DOC"}', "{}", json.dumps(content))
        return self.answers[-1]


async def carried_out(message: Any, connection: Any) -> Any:
    return connection.ok(message)


async def broken(message: Any, connection: Any) -> Any:
    raise FileNotFoundError(f"/home/server/secret: expected a number, got {message.content!r}")


async def refused_by_bokeh(message: Any, connection: Any) -> Any:
    Div(width="wide")


async def exits(message: Any, connection: Any) -> Any:
    raise SystemExit(1)


@pytest.mark.parametrize("patch", [broken, exits, refused_by_bokeh])
def test_an_answer_to_what_broke_down_tells_nothing_of_the_server(
    patch: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answer = Connected(patch, monkeypatch).told(changed("x" * 10_000))
    assert answer.msgtype == "ERROR"
    assert answer.header["reqid"] == "m1"
    said = "This message could not be carried out; the server's log says more."
    assert answer.content == {"text": said, "traceback": None}
    assert ("Traceback" in caplog.text) == (patch is not refused_by_bokeh)  # where it is the server's own fault


def test_a_page_that_its_session_has_told_already_is_not_answered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def tells_itself(message: Any, connection: Any) -> None:  # as sessions do from Bokeh 3.10 on
        page.answers.append(connection.ok(message))

    page = Connected(carried_out, monkeypatch)
    monkeypatch.setattr(ServerSession, "pull", tells_itself)
    (answer,) = page.receive('{"msgid": "m1", "msgtype": "PULL-DOC-REQ"}', "{}", "{}").answers
    assert answer.msgtype == "OK"
    assert not page.closed


def test_what_a_page_says_again_after_a_cut_is_carried_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    carried: list[str] = []

    async def counted(message: Any, connection: Any) -> Any:
        carried.append(message.header["msgid"])
        return connection.ok(message)

    page = Connected(counted, monkeypatch)
    for header, metadata in (("m1", "{}"), ("m1", '{"again": true}'), ("m2", '{"again": true}')):
        page.receive(f'{{"msgid": "{header}", "msgtype": "PATCH-DOC"}}', metadata, json.dumps(changed("a")))
    assert carried == ["m1", "m2"]
    assert [answer.msgtype for answer in page.answers] == ["OK", "OK", "OK"]  # the page need not say it any more
    script = (Path(page_session.__file__).parent / "reconnect.js").read_text(encoding="utf-8")
    assert '`{"again": true}`' in script


def test_a_page_is_busy_while_it_is_answered_unless_nobody_takes_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    busy: list[bool] = []

    async def looked_at(message: Any, connection: Any) -> Any:
        busy.append(is_answering(connection.session))
        return connection.ok(message)

    page = Connected(looked_at, monkeypatch)
    session = page.socket.connection.session
    page.told(changed("a"))
    gone: Any = SimpleNamespace(ws_connection=SimpleNamespace(stream=SimpleNamespace(writing=lambda: True)))
    _PAGES[session].sockets.append(gone)
    page.told(changed("a"))
    assert busy == [True, False]
    assert not is_answering(session)
    assert not is_answering(None)


def test_a_refusal_is_answered_and_the_page_goes_on_with_properties_that_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = Connected(carried_out, monkeypatch)
    refused = page.told(changed(BYTES))
    assert (refused.msgtype, refused.content["traceback"]) == ("ERROR", None)
    assert "bytes" in refused.content["text"]
    assert page.told(changed("a")).msgtype == "OK"
    assert not page.closed
    answers = [page.told(changed("x" * 60_000, f"name{k}")).msgtype for k in range(100)]
    assert answers[:50] == ["OK"] * 50
    assert answers[80:] == ["ERROR"] * 20
    assert page.told(changed("", "name0")).msgtype == "OK"
    assert page.told(changed("x" * 60_000, "name0")).msgtype == "OK"  # in the place of what was there


@pytest.mark.parametrize(
    "parts",
    [
        (b"{}",),
        ("x" * 2000,),
        ('{"msgid": "1", "msgtype": "PATCH-DOC"}', "x" * 2000),
        ('{"msgid": "1", "msgtype": "PATCH-DOC"}', "{}", "[0, " * LONGEST),
        ('{"msgid": "1", "msgtype": "PATCH-DOC", "num_buffers": 1}', "{}", json.dumps(changed(1))),
        ('{"msgid": "1", "msgtype": "PUSH-DOC"}', "{}", '{"doc": {}}'),
        ('{"msgid": {}, "msgtype": "PATCH-DOC"}', "{}", json.dumps(changed(1))),
        ('{"msgid": "1", "msgtype": ["PATCH-DOC"]}', "{}", json.dumps(changed(1))),
        ('{"msgid": "1", "msgtype": "PATCH-DOC"}', "{}", "[" * 60_000),
        ("{", "{}", "{}"),
    ],
)
def test_what_has_no_answer_closes_its_socket(parts: tuple[str | bytes, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    page = Connected(carried_out, monkeypatch).receive(*parts)
    assert not page.answers
    assert page.closed


@pytest.mark.parametrize(
    ("code", "error", "ends"),
    [(1001, None, ["10 s"]), (None, ConnectionResetError(), ["75 s"]), (None, TimeoutError(), []), (None, None, [])],
    ids=["left", "reset", "network gone", "closed by the server"],
)
def test_a_socket_that_closes_while_its_page_is_opened_or_after_its_session_keeps_no_session(
    code: int | None, error: Exception | None, ends: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser that goes while data come resets the connection, and the code of its leave is lost."""
    lost: list[str] = []
    session = Mock(notify_connection_lost=lambda: lost.append("told"), destroyed=False, connection_count=0)
    connection = SimpleNamespace(_session=session, session=session)
    page = Connected(carried_out, monkeypatch)
    page.socket.ws_connection, page.socket.close_code, page.socket.close_reason = None, code, None
    page.socket._stream = SimpleNamespace(error=error)
    given_up: list[Callable[[], None]] = []

    def call_later(seconds: float, action: Callable[..., None], *about: Any) -> None:
        lost.append(f"{seconds:.0f} s")
        given_up.append(partial(action, *about))

    loop = SimpleNamespace(call_later=call_later)
    application = SimpleNamespace(client_lost=lambda gone: lost.append("detached"), io_loop=loop)
    monkeypatch.setattr(PageSocket, "application", application, raising=False)

    async def opened(socket: Any, token: str) -> None:
        socket.connection = connection

    monkeypatch.setattr(WSHandler, "_async_open", opened)
    asyncio.run(page.socket._async_open("token"))
    assert lost == ["told", "detached", *ends]
    page.socket._detach()  # its session is told once
    assert lost == ["told", "detached", *ends, "detached"]

    page.socket.ws_connection = Mock()
    asyncio.run(page.socket._async_open("token"))
    lost.clear()
    connection._session = None  # as Bokeh leaves it where a ping fails before the socket is closed
    page.socket._detach()
    assert lost == ["told", "detached", *ends]
    connection._session = session
    asyncio.run(page.socket._async_open("token"))
    lost.clear()
    page.socket._detach()
    for action in given_up[:-1]:
        action()
    session.request_expiration.assert_not_called()  # it has come back since, and is away only once more
    for action in given_up[-1:]:
        action()
    assert session.request_expiration.call_count == len(ends)
    asyncio.run(page.socket._async_open("token"))
    lost.clear()
    session.destroyed = True
    page.socket._detach()
    assert lost == ["detached"]


@pytest.fixture
def written() -> tuple[logging.Logger, list[str], list[float]]:
    """A logger with a budget, what it writes, and the time, which stands still."""
    entries: list[str] = []
    now = [0.0]
    handler = Budget()
    handler.setFormatter(ShortEntries("%(levelname)s %(message)s"))
    handler.stream = SimpleNamespace(write=entries.append, flush=lambda: None)
    logger = logging.Logger("a server's")
    logger.addFilter(lambda record: record.__dict__.update(created=now[0]) is None)
    logger.addHandler(handler)
    return logger, entries, now


def test_the_log_is_bounded_by_the_minute_and_says_what_it_left_out(written: Any) -> None:
    logger, entries, now = written
    for _ in range(10_000):
        logger.info("200 GET /explorer")
        try:
            raise ValueError("x" * 100_000)
        except ValueError:
            logger.exception("broke down")
    assert sum(map(len, entries)) < 2 * logs.LETTERS + 2 * logs.LONGEST_ENTRY
    assert {entry.split()[0] for entry in entries} == {"INFO", "ERROR"}
    now[0] = 60.0
    logger.info("once more")
    assert "entries were left out" in entries[-2]
    assert entries[-1] == "INFO once more\n"


def test_an_entry_is_cut_cannot_steer_a_terminal_and_stops_nobody_where_it_cannot_be_written(written: Any) -> None:
    logger, entries, _ = written
    logger.error("first\n  second\x1b[2J\x07%s", "x" * 10**6)
    (entry,) = entries
    assert len(entry) < 2 * logs.LONGEST_ENTRY
    assert entry.startswith("ERROR first\n  second\N{REPLACEMENT CHARACTER}[2J")
    assert all(line.isprintable() for line in entry.splitlines())

    class Speechless:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    logger.error("%s", Speechless())
    assert entries[1:] == ["ERROR An entry that cannot be written: RuntimeError\n"]


MESSAGES = 1000
MOST_MEMORY = 1024.0  # megabytes
MOST_WAIT = 2.0  # pages that are built, in CPU time of the server's event loop, however slow the machine is
PATHS = re.compile(r"Traceback|File |\.py|/(home|root|tmp|usr|work)|[A-Z]:\\")


@pytest.mark.product
def test_no_message_ends_the_server_fills_its_memory_or_lets_others_wait() -> None:
    outcome = fuzz(MESSAGES)
    assert outcome.alive
    assert outcome.answers.total() == MESSAGES
    assert min(outcome.answers["OK"], outcome.answers["ERROR"], outcome.answers["closed"]) > 0, outcome
    assert outcome.peak < MOST_MEMORY, outcome
    assert len(outcome.waits) > 10
    assert max(outcome.waits) < MOST_WAIT * outcome.page, outcome
    assert outcome.logged < outcome.minutes * 4 * LETTERS
    for text in outcome.texts:
        told = json.loads(text)
        assert told["traceback"] is None
        assert told["text"].startswith("This message ")
        assert len(text) < 300
        assert not PATHS.search(text)
