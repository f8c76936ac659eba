"""The server: the served script behind the gate, with signed sessions and bounded messages."""

from __future__ import annotations

import asyncio
import hmac
import os
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import time
from typing import Any

from bokeh.settings import settings
from bokeh.util.browser import view
from bokeh.util.token import check_token_signature, generate_secret_key, get_session_id, get_token_payload
from panel.io.server import get_server
from tornado.ioloop import PeriodicCallback
from tornado.iostream import IOStream
from tornado.netutil import bind_sockets

import mklviz.apps
from mklviz.engine.warmup import WARMUP
from mklviz.errors import MklvizError
from mklviz.limits import LIMITS
from mklviz.quoting import quote
from mklviz.record.store import open_store
from mklviz.server.addresses import LOCAL, check_address, is_local, known_names, own_addresses
from mklviz.server.codes import check_code, new_code
from mklviz.server.connections import LONGEST_REQUEST, PATIENCE, Acceptor, party
from mklviz.server.contained import run
from mklviz.server.dispatcher import check_processes, serve_from_processes
from mklviz.server.garbage_collection import LOOK_EVERY, GarbageCollection
from mklviz.server.gate import COOKIE, OWNER_COOKIE, Gate, set_up
from mklviz.server.logs import log_to_stderr
from mklviz.server.messages import LONGEST_FRAME, MOST_SOCKETS, OPEN_SOCKETS, bound_messages, is_answering
from mklviz.server.page_queue import build_pages_in_turn
from mklviz.views.host.component_files import import_nothing_for_component_files
from mklviz.views.host.page_session import GIVE_UP_AFTER

__all__ = ["answer", "kept_key", "look_after", "make_server", "receive", "serve"]

PAGE, EVERYWHERE = "explorer", "0.0.0.0"
TOKEN_SECONDS = 7 * 24 * 3600  # a page that is open may come back; it is signed with a key of this process


def make_server(
    address: str,
    port: int,
    origins: Sequence[str],
    code: str,
    frames: Sequence[str],
    secret: str = "",
    own_runs: bool = False,
) -> Any:
    """Return the server, ready and not yet started; see `serve`. It listens nowhere: connections go to `answer`.

    Processes that share a port all sign with the same `secret`; `own_runs`: whether browsers see only their own runs.
    """
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
        exclude_headers=["Cookie"],
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
        [_frame(origin) for origin in frames],
        lambda: _visited(server),
        lambda session: _session(server, session) is not None,
        lambda token, address: _has_room(address) and _admits(server, token),
        lambda session: is_answering(_session(server, session)),
        hmac.digest(key, b"gate", "sha256"),
        own=(kept_key() or hmac.digest(key, b"runs", "sha256")) if own_runs else b"",
    )
    set_up(server._tornado, gate)
    return server


def kept_key() -> bytes:
    """Return what signs who browsers are, so that they have their runs when the server is started again.

    It stands in the store, beside the runs; b"" where none is kept.
    """
    store = open_store()
    path = store.folder / "visitors.key"
    with suppress(OSError):
        if store.enabled and not path.exists():
            beside = path.with_suffix(f".{os.getpid()}")
            with open(os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
                file.write(secrets.token_bytes(32))
            with suppress(FileExistsError):  # of servers that begin at the same moment the first makes it
                os.link(beside, path)
            beside.unlink()
        return path.read_bytes() if store.enabled else b""
    return b""


def get_ready() -> None:
    """Load the modules of a page, so that its scripts have addresses, and bound what pages and messages may take."""
    import_module("mklviz.views.start.open_page").get_ready()
    import_nothing_for_component_files()
    build_pages_in_turn()
    bound_messages()


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
    """Let a server that has been started answer whoever connects."""

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


def _announce(page: str, code: str, classroom: bool) -> None:
    """Print how to come in; with `classroom` also what a class needs to know besides."""
    if not classroom:
        if code:
            print(f"mklviz: open {page}?code={code} (the code is {code})", flush=True)
        return
    print(
        f"mklviz: for the projector\n\n    {page}\n    code: {code}\n\n"
        f"There is room for {LIMITS.sessions:,} pages; a solver has at most"
        f" {LIMITS.race_seconds / 60:,.0f} minutes of CPU time. A race that you run can be followed by all:\n"
        "hand on the link that stands under its buttons, and the class costs one solve.",
        flush=True,
    )


def _visited(server: Any) -> int:
    """Return how many pages somebody views or is about to view; abandoned pages count when there are too many."""
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


def serve(
    port: int,
    address: str | None = None,
    origins: Sequence[str] = (),
    code: str | None = None,
    frames: Sequence[str] = (),
    show: bool = False,
    classroom: bool = False,
    processes: int = 1,
    shared_runs: bool = False,
) -> None:
    """Serve the dashboard until the process is told to end.

    `address`: where to listen; this machine only by default; `origins`: HOST:PORT under which browsers reach the
    server, besides the names it knows itself; `code`: what browsers must give; one is made up where others than this
    machine reach the address; `frames`: origins, such as https://lab.example.org, of pages that may frame the
    dashboard; `show`: whether to open it in a browser; `classroom`: whether everybody on the network may come in who
    has the code: at all addresses, unless `address` says which; `processes`: how many processes share the port, each
    with pages of its own; `shared_runs`: whether all browsers see all runs; else each sees its own, where others than
    this machine come in. Raises `MklvizError` with a sentence, if it cannot be served there.
    """
    where = address if address is not None else EVERYWHERE if classroom else LOCAL
    if classroom and is_local(where):
        raise MklvizError(f"--classroom at {quote(where)} lets nobody else in: leave --address out.")
    check_processes(processes)
    check_address(where, port)
    known_names(where, port, origins)  # so that a wrong name is reported here, and not by each process
    for origin in frames:
        _frame(origin)
    asked = check_code(code) if code is not None else "" if is_local(where) else new_code()
    own_runs = bool(asked or origins or processes > 1) and not shared_runs
    log_to_stderr()
    page = f"http://{own_addresses(where)[0]}:{port}/{PAGE}"
    _announce(page, asked, classroom)

    def open_page() -> None:  # by that address, which is also the one that a class opens
        if show:
            view(f"{page}?code={asked}" if asked else page, browser=None, new="tab")

    if processes > 1:
        if own_runs:
            kept_key()  # once, for all of them
        shared = {"address": where, "port": port, "origins": list(origins), "code": asked, "frames": list(frames)}
        shared["own_runs"] = own_runs
        serve_from_processes(processes, {**shared, "secret": settings.secret_key() or generate_secret_key()}, open_page)
        return
    listening = bind_sockets(port, where)  # browsers that connect wait until the server is ready
    server = make_server(where, port, origins, asked, frames, own_runs=own_runs)
    receive(server, listening)
    look_after(server)
    if show:
        server.io_loop.add_callback(open_page)
    run(server)


def _frame(origin: str) -> str:
    scheme, mark, host = origin.partition("://")
    if scheme not in ("http", "https") or not mark or not host or set(host) & set(" ;,'\"/") or not host.isprintable():
        raise MklvizError(f"--allow-frame {quote(origin)} is no origin of a page: write https://HOST, without a path.")
    return origin
