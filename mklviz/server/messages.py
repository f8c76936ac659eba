"""The socket of a page: bounded messages of plain data, and answers that tell nothing of the server.

A page says that properties have changed, or what a person did. Bokeh's protocol can do more: arrays and bytes, which
grow when they are unpacked, new models and whole documents. No page of the dashboard sends any of that. A message is
checked before Bokeh decodes it, so that a refusal never costs more than the message did.

A page has one socket. Where it comes back before the server has noticed that it was away, the old one is closed: what
is written to a network that has gone would wait for ever, and with it the document, which is locked meanwhile.

This module alone knows how Bokeh receives messages, and `tests/test_host.py` says in words what a new Bokeh has moved.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from bokeh.protocol.message import Message
from bokeh.server.session import ServerSession
from panel.io.server import WSHandler
from tornado.iostream import IOStream

from mklviz.quoting import message_of
from mklviz.server.connections import party

_log = logging.getLogger(__name__)

LONGEST = 2**18  # letters of a message
LONGEST_PIECE = 2**20  # letters of one that brings a piece of a file, of which the page sends half a megabyte
LONGEST_HEADER = 2**10
MOST_EVENTS = 100  # a page joins at most a dozen
DEEPEST = 24  # lists within lists
LARGEST = 10**21  # browsers write whole numbers out up to there, and larger ones with an exponent
LONG = 200  # letters of a value that is worth counting
KINDS = ("PATCH-DOC", "PULL-DOC-REQ", "SERVER-INFO-REQ")
_TYPES = ("array", "event", "field", "map", "number", "value")
_PIECE = re.compile(r'"[A-Za-z0-9+/=]{1000,}"')
_SHAPES = {"ModelChanged": {"attr", "kind", "model", "new"}, "MessageSent": {"kind", "msg_data", "msg_type"}}


class Refused(Exception):
    """A message that no page of the dashboard sends, and why, as a sentence."""


def is_too_long(text: str) -> bool:
    """Return whether a message is longer than it may be, without reading it."""
    return len(text) > LONGEST and (len(text) > LONGEST_PIECE or len(_PIECE.sub("", text)) > LONGEST)


def read(text: str) -> dict[str, Any]:
    """Return a part of a message as the object it is in JSON, or raise `Refused`."""
    try:
        content = json.loads(text, parse_constant=lambda _name: _refuse("it holds a number that JSON has not"))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        _refuse("it is no object in JSON")
    return content


def check_change(content: dict[str, Any]) -> None:
    """Raise `Refused` unless a message tells of changes, or of what a person did, in plain data."""
    events = content.get("events")
    if not isinstance(events, list) or not events or set(content) - {"events", "references"}:
        _refuse("it is no list of events")
    if len(events) > MOST_EVENTS:
        _refuse(f"it tells of {len(events):,} events, but at most {MOST_EVENTS} may come at once")
    for event in events:
        _check_event(event)
    long = sum(len(value) > LONGEST for value in _values(content) if isinstance(value, str))
    if long and (long > 1 or [event["kind"] for event in events] != ["MessageSent"]):
        _refuse(f"it has a text of more than {LONGEST:,} letters that is no piece of a file")


def long_values(content: dict[str, Any]) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield which properties of which models a checked message sets, and how long the values are, 0 for short ones."""
    for event in content["events"]:
        if event["kind"] == "ModelChanged":
            length = len(json.dumps(event["new"]))
            yield (event["model"]["id"], event["attr"]), length if length > LONG else 0


def _check_event(event: object) -> None:
    if not isinstance(event, dict) or _SHAPES.get(str(event.get("kind"))) != set(event):
        _refuse("it tells of something else than a change of a property or what a person did")
    if event["kind"] == "ModelChanged":
        model = event["model"]
        if not (isinstance(model, dict) and isinstance(model.get("id"), str) and isinstance(event["attr"], str)):
            _refuse("it does not say which property of which model has changed")
    elif event["msg_type"] != "bokeh_event":
        _refuse("what a person did comes as a bokeh_event")


def _values(content: object) -> Iterator[object]:
    """Yield every value within, once it is checked."""
    left: list[tuple[object, int]] = [(content, 0)]
    while left:
        value, depth = left.pop()
        if depth > DEEPEST:
            _refuse(f"its data are nested more than {DEEPEST} deep")
        if isinstance(value, dict):
            if value.get("type", "map") not in _TYPES and set(value) != {"id"}:
                _refuse("it holds bytes, arrays, models or other data that browsers do not send here")
            left += ((inner, depth + 1) for inner in value.values())
        elif isinstance(value, list):
            left += ((inner, depth + 1) for inner in value)
        elif isinstance(value, int) and abs(value) > LARGEST:
            _refuse("it holds a whole number of more than 21 digits")
        yield value


def _refuse(why: str) -> NoReturn:
    raise Refused(f"This message is refused: {why}.")


LONGEST_FRAME = LONGEST_PIECE + 2**10  # bytes; longer ones are not received at all
MOST_HELD = 4 * 2**20  # letters that a page may leave in properties of the server's models
MOST_SOCKETS = 2  # for each page that there may be: after a cut they come back before the old ones are closed
REMEMBERED = 100  # messages of a page that are carried out and would not be once more
LEFT, LEAVE = (1000, 1001), 10.0  # how a socket is closed by who leaves a page, and seconds until it is given up
RESET = 75.0  # the same where the socket was reset, as by a browser that goes while data come and cannot say so
POLICY, UNREADABLE, TOO_LONG = 1008, 1007, 1009  # why a socket is closed: RFC 6455, 7.4.1
_BROKE_DOWN = "This message could not be carried out; the server's log says more."

OPEN_SOCKETS: Counter[str] = Counter()  # of each party


@dataclass
class _Page:
    """What the server knows of the page at the other end."""

    sockets: list[PageSocket] = field(default_factory=list)
    came: int = 0  # how often a socket was opened
    answering: int = 0  # messages that are being carried out, behind which others wait
    done: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED))  # messages, by their ids
    held: dict[tuple[str, str], int] = field(default_factory=dict)  # letters in each property of each model


_PAGES: WeakKeyDictionary[ServerSession, _Page] = WeakKeyDictionary()


def pages_held() -> int:
    """Return how many pages are in memory: open ones, and closed ones that are not collected yet."""
    return len(_PAGES)


class PageSocket(WSHandler):
    """Reads messages of three parts, header, metadata and content, and passes on what is plain."""

    _page: _Page | None = None
    _stream: IOStream | None = None
    _session: ServerSession | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._parts: list[str] = []

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Count the socket."""
        self._stream = self.ws_connection.stream
        OPEN_SOCKETS[party(str(self.request.remote_ip))] += 1
        return super().open(*args, **kwargs)

    async def _async_open(self, token: str) -> None:
        await super()._async_open(token)
        self._session = self.connection._session if self.connection is not None else None
        if self.ws_connection is None:  # closed meanwhile, of which no later call tells
            self._detach()
        elif self._session is not None:
            self._page = _PAGES.setdefault(self._session, _Page())
            self._page.sockets.append(self)
            self._page.came += 1
            for socket in self._page.sockets[:-1]:
                socket.ws_connection.stream.close()  # its other end may never answer

    def on_close(self) -> None:
        """Keep a page that lost its connection for its return, and one that was left for a moment."""
        OPEN_SOCKETS[party(str(self.request.remote_ip))] -= 1
        if self._page is not None:
            self._page.sockets.remove(self)
        self._detach()

    def _detach(self) -> None:
        """Let go of the page. Bokeh's own way fails where the session has ended, or where a ping was first to fail."""
        session, self._session = self._session, None
        if session is not None and session.destroyed:
            session = None
        if session is not None:
            session.notify_connection_lost()
        if self.connection is not None:
            self.application.client_lost(self.connection)
        left = self.close_code in LEFT
        reset = self._stream is not None and isinstance(self._stream.error, ConnectionError)
        if session is not None and (left or reset):
            page = _PAGES.setdefault(session, _Page())
            self.application.io_loop.call_later(LEAVE if left else RESET, _give_up, session, page, page.came)

    async def on_message(self, fragment: str | bytes) -> None:
        """Take a part of a message, and answer when it is complete."""
        if self.connection is None or self.connection._session is None:
            self.close(POLICY, "No page is open on this socket.")
        elif not isinstance(fragment, str):
            self.close(POLICY, "Browsers send no bytes here.")
        elif is_too_long(fragment) or (len(self._parts) < 2 and len(fragment) > LONGEST_HEADER):
            self.close(TOO_LONG, "That message was too long.")
        else:
            self._parts.append(fragment)
            if len(self._parts) == 3:
                parts, self._parts = self._parts, []
                await self._receive_parts(*parts)

    async def _receive_parts(self, header_text: str, metadata_text: str, content_text: str) -> None:
        try:
            header, metadata, content = read(header_text), read(metadata_text), read(content_text)
            if header.get("msgtype") not in KINDS or not isinstance(header.get("msgid"), str):
                _refuse("its header says nothing that browsers ask for")
            if header.get("num_buffers"):
                _refuse("it announces bytes")
        except Refused as refused:
            _log.warning("%s Its socket is closed.", refused)
            self.close(UNREADABLE, "That message was not understood.")
            return
        message = self.connection.protocol.assemble(header_text, metadata_text, content_text)
        page = _PAGES.setdefault(self.connection.session, _Page())
        if metadata.get("again") and message.header["msgid"] in page.done:
            await self.send_message(self.connection.ok(message))
            return
        page.done.append(message.header["msgid"])
        page.answering += 1
        try:
            answer = await self._answer(message, content)
        finally:
            page.answering -= 1
        if answer is not None:
            await self.send_message(answer)

    async def _answer(self, message: Message[Any], content: dict[str, Any]) -> Message[Any] | None:
        """Carry out what a message says, and return the answer, which quotes nothing.

        From Bokeh 3.10 on a session itself sends a page that is asked for, and no answer is left to send.
        """
        try:
            if message.msgtype == "PATCH-DOC":
                check_change(content)
                _count(_PAGES.setdefault(self.connection.session, _Page()), content)
                return await ServerSession.patch(message, self.connection)
            if message.msgtype == "PULL-DOC-REQ":
                return await ServerSession.pull(message, self.connection)
            return await self.handler.handle(message, self.connection)  # it asks for versions
        except Refused as refused:
            sentence = str(refused)
            _log.warning("%s", sentence)
        except (Exception, SystemExit) as error:
            sentence, why = _BROKE_DOWN, f"{type(error).__name__}: {message_of(error)}"
            _log.error("A message of a page could not be carried out: %s", why, exc_info=not _is_of_bokeh(error))
        return self.connection.error(message, sentence)


def _count(page: _Page, content: dict[str, Any]) -> None:
    """Raise `Refused` if the page sends more for properties than it may: the server keeps all of it."""
    held = {**page.held, **dict(long_values(content))}
    if sum(held.values()) > MOST_HELD:
        _refuse("the page has filled its properties with all that they may hold")
    page.held = {name: length for name, length in held.items() if length}


def is_answering(session: Any) -> bool:
    """Return whether a message of a page is being carried out, and not because its socket takes no more."""
    page = _PAGES.get(session) if session is not None else None
    if page is None or not page.answering:
        return False
    return not any(socket.ws_connection.stream.writing() for socket in page.sockets)


def _give_up(session: ServerSession, page: _Page, came: int) -> None:
    """Let the server forget a page to which no browser has come back since, be it for a moment."""
    if page.came == came and not session.destroyed and session.connection_count == 0:
        session.request_expiration()


def _is_of_bokeh(error: BaseException) -> bool:
    """Return whether Bokeh has refused what a message holds; a traceback through Bokeh would tell nothing more."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__")).startswith("bokeh.")
