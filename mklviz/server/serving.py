"""The server: the served script behind the gate, with signed sessions and bounded messages."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import time
from typing import Any

from bokeh.server.urls import per_app_patterns
from bokeh.settings import settings
from bokeh.util.token import (
    check_token_signature,
    generate_secret_key,
    generate_session_id,
    get_session_id,
    get_token_payload,
)
from panel.io.server import DocHandler, WSHandler, get_server
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.iostream import IOStream

import mklviz.apps
from mklviz.engine.warmup import WARMUP
from mklviz.limits import ADDRESS, LIMITS
from mklviz.record.store import open_store
from mklviz.server.access import LOCAL, frame_origin, known_names
from mklviz.server.connections import LONGEST_REQUEST, PATIENCE, Acceptor, party
from mklviz.server.gate import COOKIE, NAMED, OWNER_COOKIE, Gate, set_up
from mklviz.server.logs import log_to_stderr
from mklviz.server.messages import LONGEST_FRAME, MOST_SOCKETS, OPEN_SOCKETS, PageSocket, is_answering
from mklviz.server.process import LOOK_EVERY, GarbageCollection, PageInTurn, run
from mklviz.streams import prepare_streams
from mklviz.views.host.page_session import GIVE_UP_AFTER
from mklviz.views.host.panel_setup import import_nothing_for_component_files
from mklviz.views.links import name_of_this_process

PAGE = "explorer"
TOKEN_SECONDS = 7 * 24 * 3600  # a page that is open may come back; it is signed with a key of this process


def make_server(
    address: str,
    port: int,
    origins: Sequence[str],
    code: str,
    frames: Sequence[str],
    secret: str = "",
    own_runs: bool = False,
    prefix: str = "",
    found_at: str = "",
) -> Any:
    """Return the server, ready and not yet started; see `serve`. It listens nowhere: connections go to `answer`.

    Processes that share a port all sign with the same `secret`; `own_runs`: whether browsers see only their own runs;
    `prefix`: of all paths, as a proxy keeps it; `found_at`: the address by which others than this machine come in.
    """
    os.environ[ADDRESS] = found_at  # for the links on its pages
    names = known_names(address, port, origins)
    key = secret.encode() or settings.secret_key_bytes() or generate_secret_key().encode()
    get_ready()
    server = get_server(
        {PAGE: str(Path(mklviz.apps.__file__).with_name("explorer.py"))},
        port=0,
        address=LOCAL,
        websocket_origin=names,
        sign_sessions=True,
        secret_key=key,
        websocket_max_message_size=LONGEST_FRAME,
        # the page itself, which may be saved and sent on, is not to say who its browser is
        exclude_cookies=[COOKIE, OWNER_COOKIE],
        exclude_headers=["Cookie", NAMED],
        # a page comes back as long as its race waits for it
        unused_session_lifetime_milliseconds=int(1000 * GIVE_UP_AFTER),
        check_unused_sessions_milliseconds=2000,
        session_token_expiration=TOKEN_SECONDS,
        http_server_kwargs={
            "max_body_size": LONGEST_REQUEST,
            "max_header_size": LONGEST_REQUEST,
            "body_timeout": PATIENCE,
        },
    )
    server._http.stop()  # Bokeh's server always listens at some port
    gate = Gate(
        names,
        code,
        [frame_origin(origin) for origin in frames],
        lambda: _visited(server),
        lambda session: _session(server, session) is not None,
        lambda token, address: _has_room(address) and _admits(server, token),
        lambda session: is_answering(_session(server, session)),
        lambda: name_of_this_process(lambda: generate_session_id(key, signed=True)),
        hmac.digest(key, b"gate", "sha256"),
        address=found_at,
        own=(kept_key() or hmac.digest(key, b"runs", "sha256")) if own_runs else b"",
        prefix=prefix,
    )
    set_up(server._tornado, gate)
    return server


def kept_key() -> bytes:
    """Return what signs who browsers are, from a file in the store, for servers started later, or b""."""
    store = open_store()
    path = store.folder / "visitors.key"
    with suppress(OSError):
        if store.enabled and not path.exists():
            beside = path.with_suffix(f".{os.getpid()}")
            with open(os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
                file.write(secrets.token_bytes(32))
            try:
                os.link(beside, path)  # of servers that begin at the same moment the first makes it
            except FileExistsError:
                pass
            except OSError:  # a disk without hard links
                beside.replace(path)
            beside.unlink(missing_ok=True)
        return path.read_bytes() if store.enabled else b""
    return b""


def get_ready() -> None:
    """Load the modules of a page, so that its scripts have addresses, and bound what pages and messages may take."""
    import_module("mklviz.views.start.front_page").get_ready()
    settings.perform_document_validation = settings.perform_error_diagnostics = False  # of pages that are tested
    import_nothing_for_component_files()
    own: dict[type, type] = {DocHandler: PageInTurn, WSHandler: PageSocket}
    per_app_patterns[:] = [(path, own.get(kind, kind), *more) for path, kind, *more in per_app_patterns]


def answer(server: Any, connection: socket.socket) -> None:
    """Let a server that listens nowhere answer on a connection."""
    connection.setblocking(False)
    try:
        address = connection.getpeername()
    except OSError:  # the connection has gone meanwhile
        connection.close()
        return
    server._http.handle_stream(IOStream(connection), address)


def receive(server: Any, listening: Sequence[socket.socket]) -> None:
    """Let a server that has been started answer all who connect."""

    async def hand_over(connection: socket.socket, _: bytes) -> None:
        answer(server, connection.dup())

    async def begin() -> None:
        acceptor = Acceptor(hand_over)
        server.receiving = [asyncio.create_task(acceptor.receive(each)) for each in listening]

    server.io_loop.add_callback(begin)


def look_after(server: Any) -> None:
    """Make a starting server collect garbage, and compile the solvers while the browser opens."""
    PeriodicCallback(GarbageCollection().collect_in_time, 1000 * LOOK_EVERY).start()
    WARMUP.start()


def serve_here(listening: Sequence[socket.socket], asked: Mapping[str, Any], begun: Callable[[], object]) -> None:
    """Serve from this process until it is to end; `asked` is for `make_server`; `begun`: called as it answers."""
    server = make_server(**asked)
    receive(server, listening)
    look_after(server)
    server.io_loop.add_callback(begun)
    run(server)


def _visited(server: Any) -> int:
    """Return how many pages are viewed or about to be; abandoned pages count when there are too many."""
    sessions = server.get_sessions()
    visited = sum(session.connection_count > 0 or session.expiration_blocked for session in sessions)
    return max(visited, len(sessions) - LIMITS.sessions)


def _session(server: Any, name: str) -> Any:
    """Return the session with that id, written without its signature, or None."""
    return next((each for each in server.get_sessions() if each.id.split(".")[0] == name), None)


def _has_room(address: str) -> bool:
    """Return whether one more socket may come from there: all pages may, and all of them back at once after a cut."""
    return OPEN_SOCKETS[party(address)] < MOST_SOCKETS * LIMITS.sessions


def _admits(server: Any, token: str) -> bool:
    """Return whether a token was made here and still holds, and its page is open or there is room for it."""
    application = server._tornado
    try:
        signed = check_token_signature(token, application.secret_key, True)
        if not signed or get_token_payload(token)["session_expiry"] <= time():
            return False
    except (ValueError, TypeError, LookupError, AssertionError, RecursionError):  # no token at all
        return False
    there = _session(server, get_session_id(token).split(".")[0]) is not None
    return there or _visited(server) < LIMITS.sessions


def take_connections(dispatcher: socket.socket, server: Any) -> None:
    """Answer on the connections that the dispatcher hands over, and end this process when the dispatcher has ended."""

    def take(_: object, _events: int) -> None:
        while True:
            try:
                message, descriptors, _, _ = socket.recv_fds(dispatcher, 1, 1)
            except BlockingIOError:
                return
            if not message:
                server.io_loop.remove_handler(dispatcher)
                os.kill(os.getpid(), signal.SIGTERM)
                return
            for descriptor in descriptors:
                answer(server, socket.socket(fileno=descriptor))

    dispatcher.setblocking(False)
    server.io_loop.add_handler(dispatcher, take, IOLoop.READ)


def main() -> None:
    """Serve with the settings that the dispatcher writes to the standard input."""
    prepare_streams()
    log_to_stderr()
    asked = json.load(sys.stdin)
    dispatcher = socket.socket(fileno=asked.pop("socket"))
    server = make_server(**asked)
    take_connections(dispatcher, server)
    look_after(server)
    run(server)


if __name__ == "__main__":
    main()
