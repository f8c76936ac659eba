"""The socket of a page: bounded messages of plain data, and answers that tell nothing of the server.

A page has one socket. Where it comes back before the server has noticed that it was away, the old one is closed: what
is written to a network that has gone would wait for ever, and with it the document, which is locked meanwhile.

This module alone knows how Bokeh receives messages, and `tests/test_host.py` says in words what a new Bokeh has moved.
What a message may contain is in `mklviz.server.plain`.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from bokeh.protocol.message import Message
from bokeh.server.session import ServerSession
from bokeh.server.urls import per_app_patterns
from panel.io.document import _WRITE_MSGS
from panel.io.server import WSHandler
from tornado.iostream import IOStream

from mklviz.quoting import said_by
from mklviz.server.connections import party
from mklviz.server.plain import (
    KINDS,
    LONGEST_HEADER,
    LONGEST_PIECE,
    Refused,
    check_change,
    is_too_long,
    long_values,
    read,
)

__all__ = ["LONGEST_FRAME", "MOST_SOCKETS", "OPEN_SOCKETS", "bound_messages", "is_answering"]

_log = logging.getLogger(__name__)

LONGEST_FRAME = LONGEST_PIECE + 2**10  # bytes; longer ones are not received at all
MOST_HELD = 4 * 2**20  # letters that a page may leave in properties of the server's models
MOST_SOCKETS = 2  # for each page that there may be: after a cut they come back before the old ones are closed
REMEMBERED = 100  # messages of a page that are carried out and would not be once more
LEFT, LEAVE = (1000, 1001), 15.0  # how a socket is closed by who leaves a page, and seconds until it is given up
RESET = 75.0  # the same where the socket was reset, as by a browser that goes while data come and cannot say so
POLICY, UNREADABLE, TOO_LONG = 1008, 1007, 1009  # why a socket is closed: RFC 6455, 7.4.1
_BROKE_DOWN = "This message could not be carried out; the server's log says more."

Property = tuple[str, str]  # of a model, by its id
OPEN_SOCKETS: Counter[str] = Counter()  # of each party


@dataclass
class _Page:
    """What the server knows of the page at the other end."""

    sockets: list[_Socket] = field(default_factory=list)
    answering: int = 0  # messages that are being carried out, behind which others wait
    done: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED))  # messages, by their ids
    held: dict[Property, int] = field(default_factory=dict)


_PAGES: WeakKeyDictionary[ServerSession, _Page] = WeakKeyDictionary()


class _Socket(WSHandler):
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
        if self.ws_connection is None:  # closed meanwhile: nobody will tell of it again
            self._detach()
        elif self._session is not None:
            self._page = _PAGES.setdefault(self._session, _Page())
            self._page.sockets.append(self)
            for socket in self._page.sockets[:-1]:
                socket.ws_connection.stream.close()  # nobody may answer at its other end

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
            self.application.io_loop.call_later(LEAVE if left else RESET, _give_up, session)

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
                raise Refused("This message is refused: its header says nothing that browsers ask for.")
            if header.get("num_buffers"):
                raise Refused("This message is refused: it announces bytes.")
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
                self._count(content)
                return await ServerSession.patch(message, self.connection)
            if message.msgtype == "PULL-DOC-REQ":
                told = await ServerSession.pull(message, self.connection)
                _WRITE_MSGS.get(self.connection.session.document, {}).pop(
                    self.connection, None
                )  # it has what waits there
                return told
            return await self.handler.handle(message, self.connection)  # it asks for versions
        except Refused as refused:
            sentence = str(refused)
            _log.warning("%s", sentence)
        except (Exception, SystemExit) as error:
            sentence = _BROKE_DOWN
            said = f"{type(error).__name__}: {said_by(error)}"
            _log.error("A message of a page could not be carried out: %s", said, exc_info=not _is_of_bokeh(error))
        return self.connection.error(message, sentence)

    def _count(self, content: dict[str, Any]) -> None:
        """Raise `Refused` if the page sends more for properties than it may: the server keeps all of it."""
        page = _PAGES.setdefault(self.connection.session, _Page())
        held = {**page.held, **dict(long_values(content))}
        if sum(held.values()) > MOST_HELD:
            raise Refused("This message is refused: the page has filled its properties with all that they may hold.")
        page.held = {name: length for name, length in held.items() if length}


def is_answering(session: Any) -> bool:
    """Return whether a message of a page is being carried out, and not because nobody takes what its socket says."""
    page = _PAGES.get(session) if session is not None else None
    if page is None or not page.answering:
        return False
    return not any(socket.ws_connection.stream.writing() for socket in page.sockets)


def _give_up(session: ServerSession) -> None:
    """Let the server forget a page that nobody has come back to."""
    if not session.destroyed and session.connection_count == 0:
        session.request_expiration()


def _is_of_bokeh(error: BaseException) -> bool:
    """Return whether Bokeh has refused what a message holds; a traceback through Bokeh would tell nothing more."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__")).startswith("bokeh.")


def bound_messages() -> None:
    """Let every server that this process makes from now on receive messages by such sockets."""
    per_app_patterns[:] = [
        (pattern[0], _Socket, *pattern[2:]) if pattern[1] is WSHandler else pattern for pattern in per_app_patterns
    ]
