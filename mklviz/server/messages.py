"""The socket of a page: bounded messages of plain data, and answers that tell nothing of the server.

This module alone knows how Bokeh receives messages, and `tests/test_host.py` says in words what a new Bokeh has moved.
What a message may contain is in `mklviz.server.plain`.
"""

from __future__ import annotations

import logging
from typing import Any
from weakref import WeakKeyDictionary

from bokeh.protocol.message import Message
from bokeh.server.session import ServerSession
from bokeh.server.urls import per_app_patterns
from panel.io.server import WSHandler

from mklviz.quoting import said_by
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

__all__ = ["LONGEST_FRAME", "bound_messages"]

_log = logging.getLogger(__name__)

LONGEST_FRAME = LONGEST_PIECE + 2**10  # bytes; longer ones are not received at all
MOST_HELD = 4 * 2**20  # letters that a page may leave in properties of the server's models
POLICY, UNREADABLE, TOO_LONG = 1008, 1007, 1009  # why a socket is closed: RFC 6455, 7.4.1
_BROKE_DOWN = "This message could not be carried out; the server's log says more."

Property = tuple[str, str]  # of a model, by its id


class _Socket(WSHandler):
    """Reads messages of three parts, header, metadata and content, and passes on what is plain."""

    _held: WeakKeyDictionary[ServerSession, dict[Property, int]] = WeakKeyDictionary()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._parts: list[str] = []

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
            header, _, content = read(header_text), read(metadata_text), read(content_text)
            if header.get("msgtype") not in KINDS or not isinstance(header.get("msgid"), str):
                raise Refused("This message is refused: its header says nothing that browsers ask for.")
            if header.get("num_buffers"):
                raise Refused("This message is refused: it announces bytes.")
        except Refused as refused:
            _log.warning("%s Its socket is closed.", refused)
            self.close(UNREADABLE, "That message was not understood.")
            return
        message = self.connection.protocol.assemble(header_text, metadata_text, content_text)
        answer = await self._answer(message, content)
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
                return await ServerSession.pull(message, self.connection)
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
        session = self.connection.session
        held = {**self._held.get(session, {}), **dict(long_values(content))}
        if sum(held.values()) > MOST_HELD:
            raise Refused("This message is refused: the page has filled its properties with all that they may hold.")
        self._held[session] = {name: length for name, length in held.items() if length}


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
