"""The gate before every page: by name, by code, with room for so many; what every answer says; signed sessions."""

import asyncio
import logging
import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlencode

import pytest
import segno
from _browser import free_port
from _waits import PATIENCE, soon
from bokeh.util.token import get_session_id, get_token_payload
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPResponse
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.ioloop import IOLoop
from tornado.netutil import bind_sockets
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketClientConnection, websocket_connect

from mklviz.cli import main
from mklviz.errors import MklvizError
from mklviz.limits import LIMITS, PROCESSES
from mklviz.server import serving
from mklviz.server.access import AT_ONCE, MOST_PARTIES, Guesses, is_local, known_names, new_code, own_addresses
from mklviz.server.connections import LONGEST_REQUEST, party
from mklviz.server.front import check_prefix, serve
from mklviz.server.gate import Gate, set_up
from mklviz.server.messages import OPEN_SOCKETS
from mklviz.server.process import run
from mklviz.server.serving import kept_key, make_server, receive
from mklviz.views.host.page_session import OWNER
from mklviz.views.links import WORKER, process_of

ROOT = Path(__file__).resolve().parents[1]
Get = Callable[..., Awaitable[HTTPResponse]]


class Page(RequestHandler):
    """What is behind the gate."""

    def get(self) -> None:
        self.write("the page")


class Owner(RequestHandler):
    """What the gate tells a page of whose runs it may see."""

    def get(self) -> None:
        self.write(self.request.headers.get(OWNER, "everybody's"))


class Ends(RequestHandler):
    """What would end the process."""

    def get(self) -> None:
        sys.exit("at once")


def through(
    visit: Callable[[Get], Awaitable[None]],
    code: str = "",
    sessions: int = 0,
    frames: tuple[str, ...] = (),
    clock: Callable[[], float] = monotonic,
    own: bytes = b"",
    prefix: str = "",
    address: str = "",
) -> None:
    """Let `visit` ask a small server behind the gate."""

    async def run() -> None:
        listener, port = bind_unused_port()
        application = Application(
            [("/explorer", Page), ("/explorer/ws", Page), ("/static/x", Page), ("/ends", Ends), ("/owner", Owner)]
        )
        lives, busy, guesses = (lambda name: name in ("here", "busy")), (lambda name: name == "busy"), Guesses(clock)
        admits: Callable[[str, str], bool] = lambda token, address: (token, address) == ("signed", "127.0.0.1")  # noqa: E731
        names = [f"localhost:{port}"]
        more: dict[str, Any] = {"guesses": guesses, "own": own, "address": address, "prefix": prefix}
        gate = Gate(names, code, frames, lambda: sessions, lives, admits, busy, **more)
        set_up(application, gate)
        server = HTTPServer(application)
        server.add_socket(listener)

        async def get(path: str, host: str = "localhost", body: dict[str, str] | None = None, **headers: str) -> Any:
            sent = {"Host": f"{host}:{port}", **{name.replace("_", "-"): value for name, value in headers.items()}}
            post: dict[str, Any] = {} if body is None else {"method": "POST", "body": urlencode(body)}
            return await AsyncHTTPClient().fetch(
                f"http://127.0.0.1:{port}{path}", headers=sent, raise_error=False, follow_redirects=False, **post
            )

        try:
            await visit(get)
        finally:
            server.stop()

    asyncio.run(run())


def test_a_foreign_name_of_this_server_is_refused_everywhere() -> None:
    async def visit(get: Get) -> None:
        assert (await get("/explorer")).code == 200
        for path in ("/explorer", "/static/x", "/nowhere"):
            refused = await get(path, host="rebound.example")
            assert refused.code == 403
            assert b"does not go by that name" in refused.body
            assert "rebound.example" not in refused.headers["Content-Security-Policy"]

    through(visit)


def test_below_a_prefix_that_a_proxy_keeps_all_is_as_it_is_without_one() -> None:
    async def visit(get: Get) -> None:
        assert (await get("/lab/mkl/explorer")).code == 403
        opened = await get("/lab/mkl/explorer?a=1&code=blackboard")
        assert (opened.code, opened.headers["Location"]) == (303, "/lab/mkl/explorer?a=1")
        codes = opened.headers.get_list("Set-Cookie")
        assert all("Path=/lab/mkl/" in cookie for cookie in codes)
        known = {"Cookie": codes[0].partition(";")[0]}
        for path in ("/lab/mkl/explorer", "/lab/mkl/static/x", "/explorer"):  # who asks here needs no prefix
            answer = await get(path, **known)
            assert (answer.code, answer.body) == (200, b"the page")
        assert "Path=/lab/mkl/;" in answer.headers["Set-Cookie"]
        for path in ("/lab/mkl", "/lab/mkl/"):
            assert (await get(f"{path}?a=1", **known)).headers["Location"] == "/lab/mkl/explorer?a=1"
        for path in ("/lab/mklx/explorer", "/lab/explorer", "/mkl/explorer"):
            assert (await get(path, **known)).code == 404

    through(visit, code="blackboard", own=b"key", prefix="/lab/mkl")


@pytest.mark.parametrize(
    ("given", "read"),
    [("", ""), ("/", ""), ("mkl", "/mkl"), ("lab/mkl/", "/lab/mkl"), ("/~ada/proxy/5006", "/~ada/proxy/5006")],
)
def test_a_prefix_is_a_path_however_its_slashes_are_written(given: str, read: str) -> None:
    assert check_prefix(given) == read


@pytest.mark.parametrize("given", ["a b", "..", "a/../b", "https://x", "a?b", "ä", "x" * 1000])
def test_a_prefix_that_is_no_path_is_refused(given: str) -> None:
    with pytest.raises(MklvizError, match="is no path"):
        check_prefix(given)


def test_a_class_sees_the_address_with_a_picture_of_it_and_the_code_once_one_is_in() -> None:
    async def visit(get: Get) -> None:
        refused = await get("/class")
        assert refused.code == 403
        assert b"right-1" not in refused.body
        opened = await get("/class", body={"code": "right-1"})
        cookie = opened.headers["Set-Cookie"].partition(";")[0]
        room, alone = "a_room_of_letter", "code=right-1"
        for asked, query in (("", alone), (f"?follow={room}", f"follow={room}&{alone}"), ("?follow=a.b", alone)):
            page = (await get(f"/class{asked}", Cookie=cookie)).body.decode()
            assert ">right-1</b>" in page
            assert "192.0.2.7:5006<wbr>/explorer</b>" in page
            drawn = segno.make(f"http://192.0.2.7:5006/explorer?{query}", micro=False)
            assert drawn.svg_inline(border=3, light="#fff", omitsize=True).partition("<path")[2] in page

    through(visit, code="right-1", address="http://192.0.2.7:5006/explorer")

    async def visit_at_home(get: Get) -> None:  # a server of one's own invites nobody
        assert (await get("/class")).code == 404

    through(visit_at_home)


def test_only_who_knows_the_code_comes_in_and_then_stays() -> None:
    async def visit(get: Get) -> None:
        for path in ("/explorer", "/static/x", "/explorer?code=wrong", "/explorer?code="):
            refused = await get(path)
            assert refused.code == 403
            assert b"the page" not in refused.body
        assert b"That is not the code" in (await get("/explorer", body={"code": "wrong"})).body
        for opened in (
            await get("/explorer?a=1%262&code=Right-1"),
            await get("/explorer?a=1%262", body={"code": "right-1"}),
        ):
            assert (opened.code, opened.headers["Location"]) == (303, "./explorer?a=1%262")
            cookie = opened.headers["Set-Cookie"]
            assert "HttpOnly" in cookie
            assert "right-1" not in cookie.lower()
            assert (await get("/explorer", Cookie=cookie.partition(";")[0])).code == 200
        assert (await get("/explorer", Cookie="mklviz-code=right-1")).code == 403
        assert (await get("/explorer", Cookie="mklviz-code=\xe4")).code == 403
        away = await get("//elsewhere.example/?code=right-1")
        assert away.headers["Location"].startswith("./")

    through(visit, code="right-1")


def test_every_browser_of_a_shared_server_has_runs_of_its_own() -> None:
    async def visit(get: Get) -> None:
        first, second = await get("/owner"), await get("/owner")
        cookie = first.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert first.body != second.body
        assert first.body.decode() not in cookie  # a file of runs, which says the owner, lets nobody in
        again = await get("/owner", Cookie=cookie.partition(";")[0], **{OWNER: second.body.decode()})
        assert again.body == first.body
        assert "Set-Cookie" not in again.headers
        value, unsigned = cookie.partition(";")[0], "mklviz-runs=" + "a" * 32
        for made_up in ("mklviz-runs=", unsigned, value.partition(".")[0], value[:-1] + "!", f"{value}0"):
            other = await get("/owner", Cookie=made_up)
            assert other.body not in (first.body, second.body, b"everybody's")
            assert value not in other.headers["Set-Cookie"]

    through(visit, own=b"key")

    async def visit_at_home(get: Get) -> None:  # where everybody sees all runs, as with shared runs
        told = await get("/owner", Cookie="mklviz-runs=" + "a" * 32, **{OWNER: "somebody"})
        assert told.body == b"everybody's"
        assert "Set-Cookie" not in told.headers

    through(visit_at_home)


def test_a_cookie_goes_through_encrypted_connections_alone_where_the_page_came_by_one() -> None:
    async def visit(get: Get) -> None:
        for said, secure in (("https", True), ("HTTPS, http", True), ("http", False), ("", False)):
            sent = {"X-Forwarded-Proto": said}
            opened = await get("/explorer?code=right-1", **sent)
            cookies = (await get("/owner", Cookie=opened.headers["Set-Cookie"].partition(";")[0], **sent)).headers
            for cookie in (opened.headers["Set-Cookie"], cookies["Set-Cookie"]):
                assert ("; secure" in cookie.lower()) == secure

    through(visit, code="right-1", own=b"key")


def test_no_address_opens_the_page_that_another_browser_has_open() -> None:
    async def visit(get: Get) -> None:
        for query in ("?bokeh-session-id=here", "?a=1&bokeh-token=here", "?bokeh-session-id=%7B%7D&follow=x"):
            assert (await get(f"/explorer{query}")).code == 403
        assert (await get("/explorer", Bokeh_Session_Id="here")).code == 403
        assert (await get("/explorer?a=1")).code == 200

    through(visit)
    gate, start = Gate([], "", (), lambda: 0, lambda _: True, lambda *_: True), RequestStartLine("GET", "/", "")
    # a body that names a page
    for header in ({"Content-Length": "24", "Host": "x"}, {"Transfer-Encoding": "chunked", "Host": "x"}):
        assert gate.is_for_open_page(HTTPServerRequest(start_line=start, headers=HTTPHeaders(header)))


def test_a_page_too_many_is_refused_in_a_sentence_and_files_of_open_pages_are_not() -> None:
    async def visit(get: Get) -> None:
        refused = await get("/explorer")
        assert refused.code == 503
        assert f"{LIMITS.sessions:,} pages are open here".encode() in refused.body
        assert (await get("/static/x")).code == 200

    through(visit, sessions=LIMITS.sessions)


def test_every_answer_says_what_a_page_may_do() -> None:
    async def strict(get: Get) -> None:
        for answer in (await get("/explorer"), await get("/nowhere"), await get("/explorer", host="rebound.example")):
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:; connect-src 'self' " in policy
            assert "http" not in policy  # no other machine
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["X-Frame-Options"] == "DENY"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"

    async def framed(get: Get) -> None:
        assert (await get("/explorer", Sec_Fetch_Site="cross-site", **PICTURE)).code == 403
        answer = await get("/explorer", Sec_Fetch_Site="cross-site", **FRAME)
        assert answer.code == 200
        assert "frame-ancestors https://lab.example.org" in answer.headers["Content-Security-Policy"]
        assert "X-Frame-Options" not in answer.headers

    through(strict)
    through(framed, frames=("https://lab.example.org",))


def test_codes_differ_and_can_be_read_out() -> None:
    codes = {new_code() for _ in range(100)}
    assert len(codes) == 100
    assert not set("".join(codes)) & set("01loi")


def test_names_of_the_server_are_its_own_and_those_it_is_given() -> None:
    names = known_names("localhost", 5006, ["Lab.example.org:80", "other.example"])
    assert names[:2] == ["localhost:5006", "127.0.0.1:5006"]
    assert names[-2:] == ["lab.example.org:80", "other.example:80"]
    assert f"{own_addresses('0.0.0.0')[0].lower()}:5006" in known_names("0.0.0.0", 5006, [])
    with pytest.raises(MklvizError, match="write HOST:PORT"):
        known_names("localhost", 5006, ["a:b:c"])


def test_only_loopback_is_local() -> None:
    assert all(map(is_local, ("localhost", "127.0.0.1", "127.1.2.3", "::1")))
    assert not any(map(is_local, ("0.0.0.0", "::", "192.168.1.5", "lab.example.org")))


@pytest.mark.parametrize("address", ["a\x1b[31mb", "a" * 300, "ä..b", "nosuch host", "a\0b", "192.0.2.77", "-1"])
def test_an_address_that_is_none_is_refused_in_a_sentence(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--no-show", "--address", address]) == 2
    said = capsys.readouterr().err
    assert said.startswith("mklviz: ")
    assert said.rstrip("\n").isprintable()
    assert len(said) < 300


@pytest.mark.parametrize("frame", ["lab.example.org", "javascript://x", "https://a b", "https://a;script-src", "*"])
def test_a_frame_is_an_origin_and_cannot_widen_the_policy(frame: str) -> None:
    with pytest.raises(MklvizError, match="is no origin of a page"):
        serve(free_port(), frames=[frame])


def test_a_code_that_anybody_guesses_is_refused() -> None:
    for code in ("1", "12345", " 12345 ", "abc\ndef"):
        with pytest.raises(MklvizError, match="at least six letters"):
            serve(free_port(), code=code)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a server that is not started is to serve."""
    settings: dict[str, Any] = {}
    monkeypatch.setattr(serving, "serve_here", lambda _, given, __: settings.update(given))
    return settings


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ([], False),
        (["--code", "blackboard"], True),
        (["--allow-websocket-origin", "lab.example.org"], True),
        (["--code", "blackboard", "--shared-runs"], False),
    ],
)
def test_browsers_have_runs_of_their_own_where_others_are_let_in_unless_the_operator_says_otherwise(
    words: list[str], own: bool, asked: dict[str, Any]
) -> None:
    assert main(["serve", "--no-show", "--port", str(free_port()), *words]) == 0
    assert asked["own_runs"] is own


def test_a_class_is_told_where_to_come_in_and_the_code(
    asked: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    words = ["--classroom", "--num-procs", "1", "--no-show", "--port", str(port), "--code", "blackboard"]
    assert main(["serve", *words]) == 0
    said = capsys.readouterr().out
    assert f":{port}/explorer\n    code: blackboard\n" in said
    assert f":{port}/class shows both" in said
    assert f"{LIMITS.sessions:,} pages" in said
    assert asked["address"] == "0.0.0.0"
    with pytest.raises(MklvizError, match="lets no other machine in"):
        serve(free_port(), address="127.0.0.1", classroom=True)


def before_a_server(visit: Callable[[int, Any], Awaitable[None]], code: str = "", own: bool = False) -> None:
    """Let `visit` ask a server of the dashboard at a port."""

    async def run() -> None:
        listening = bind_sockets(0, "127.0.0.1")
        port = listening[0].getsockname()[1]
        server = make_server("localhost", port, [], code, [], own_runs=own)
        server.start()
        receive(server, listening)
        try:
            await visit(port, server)
        finally:
            for task in server.receiving:
                task.cancel()
            server.stop()
            listening[0].close()

    asyncio.run(run())


@pytest.mark.full
def test_sessions_are_signed_and_messages_bounded() -> None:
    async def visit(port: int, server: Any) -> None:
        application = server._tornado
        assert application.sign_sessions
        assert len(application.secret_key) >= 32
        assert application.settings["websocket_max_message_size"] == 2**20 + 2**10
        made_up = await AsyncHTTPClient().fetch(
            f"http://localhost:{port}/explorer", headers={"Bokeh-Session-Id": "made-up"}, raise_error=False
        )
        assert made_up.code == 403

    before_a_server(visit)


def test_a_page_has_one_socket_and_nobody_has_one_without_a_page(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def visit(port: int, server: Any) -> None:
        async def open_socket(token: str) -> WebSocketClientConnection:
            address = f"ws://localhost:{port}/explorer/ws"
            socket = await websocket_connect(address, subprotocols=["bokeh", token])
            assert "ACK" in str(await socket.read_message())
            return socket

        page = (await AsyncHTTPClient().fetch(f"http://localhost:{port}/explorer", request_timeout=PATIENCE)).body
        token = re.search(r'"token":"([^"]+)"', page.decode())
        for wrong in (token[1][:-1], token[1].partition(".")[0], "W10=", "x" * 9000, "é", "[" * 9000):
            with pytest.raises(HTTPClientError) as refused:
                await open_socket(wrong)
            assert refused.value.code == 403
        (session,) = server.get_sessions()
        assert process_of(session.id, 3) == 2  # which its name says
        sockets = [await open_socket(token[1]) for _ in range(9)]
        await soon(lambda: session.connection_count == 1, "the older sockets to be closed")
        for older in sockets[:-1]:
            while await older.read_message() is not None:  # what came before it was closed
                pass
        assert OPEN_SOCKETS[party("127.0.0.1")] == 1
        monkeypatch.setattr(serving, "LIMITS", replace(LIMITS, sessions=0))
        with pytest.raises(HTTPClientError):
            await open_socket(token[1])
        sockets[-1].close()
        await soon(lambda: OPEN_SOCKETS[party("127.0.0.1")] == 0, "the sockets to be closed")

    monkeypatch.setenv(WORKER, "2")
    monkeypatch.setenv(PROCESSES, "3")
    before_a_server(visit)
    assert "Traceback" not in caplog.text


def test_a_browser_is_known_when_the_server_is_started_again_and_its_page_does_not_say_who_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKLVIZ_STORE", str(tmp_path))
    cookies: list[str] = []

    async def visit(port: int, _: Any) -> None:
        address = f"http://localhost:{port}/explorer"
        sent = {"Cookie": "; ".join(["mklviz-page=start", *cookies])}
        page = await AsyncHTTPClient().fetch(address, headers=sent, request_timeout=120)
        cookies.extend(given.partition(";")[0] for given in page.headers.get_list("Set-Cookie"))
        assert len(cookies) == 1
        (token,) = set(re.findall(r'"token": ?"([^"]+)"', page.body.decode()))
        told = get_token_payload(token)
        assert told["cookies"] == {"mklviz-page": "start"}
        assert cookies[0].partition("=")[2] not in str(told)
        for name in ("session-id", "token"):
            value = token if name == "token" else get_session_id(token)
            refused = await AsyncHTTPClient().fetch(f"{address}?bokeh-{name}={value}", raise_error=False)
            assert (refused.code, token.encode() in refused.body) == (403, False)

    for _ in range(2):  # the second time the cookie is that of the first server
        before_a_server(visit, own=True)
    key = tmp_path / "visitors.key"
    assert key.read_bytes() == kept_key()
    assert os.name == "nt" or key.stat().st_mode & 0o077 == 0
    monkeypatch.setenv("MKLVIZ_STORE", "none")
    assert kept_key() == b""


def test_of_servers_that_begin_at_the_same_moment_all_sign_with_the_key_of_the_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def meanwhile(count: int) -> bytes:
        (tmp_path / "visitors.key").write_bytes(b"1" * count)
        return b"2" * count

    monkeypatch.setenv("MKLVIZ_STORE", str(tmp_path))
    monkeypatch.setattr("mklviz.server.serving.secrets.token_bytes", meanwhile)
    assert kept_key() == b"1" * 32
    assert [path.name for path in tmp_path.glob("visitors.*")] == ["visitors.key"]


async def answer_to(port: int, *parts: bytes) -> bytes:
    """Return what comes back before the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for part in parts:
        writer.write(part)
        await writer.drain()
    try:
        return await reader.read()
    except ConnectionResetError:  # what was sent beyond is not read
        return b""
    finally:
        writer.close()


def test_a_body_larger_than_a_code_is_refused_before_it_comes_and_a_connection_carries_one_request() -> None:
    async def visit(port: int, _: Any) -> None:
        head = f"Host: localhost:{port}\r\nContent-Length: %d\r\n\r\n"
        told = await answer_to(port, b"POST /explorer HTTP/1.1\r\n" + (head % (60 * 2**20)).encode())
        assert told.startswith(b"HTTP/1.1 400 ")
        known = await answer_to(port, b"POST /explorer HTTP/1.1\r\n" + (head % 10).encode(), b"code=right1")
        assert b"That is not the code" in known
        long = b"a" * LONGEST_REQUEST
        assert not await answer_to(port, b"GET / HTTP/1.1\r\nX: " + long)
        assert not await answer_to(port, b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5")
        twice = await answer_to(port, 2 * f"GET /favicon.ico HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
        assert twice.count(b"HTTP/1.1 ") == 1

    before_a_server(visit, code="right-1")


def test_the_page_on_security_names_flags_and_files_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    said = (ROOT / "apps" / "docs" / "security.md").read_text()
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert set(re.findall(r"--[a-z][a-z-]+", said)) <= known
    for path in re.findall(r"`((?:mklviz|tests)/[\w/.]+)`", said):
        assert (ROOT / path).exists()
    assert "apps/docs/security.md" in (ROOT / "README.md").read_text()


def test_a_page_that_lost_its_connection_learns_whether_its_session_is_still_there() -> None:
    async def visit(get: Get) -> None:
        assert (await get("/explorer/alive?session=here")).code == 204
        assert (await get("/explorer/alive?session=busy")).code == 202
        assert (await get("/explorer/alive?session=gone")).code == 410
        assert (await get("/explorer/alive")).code == 410
        assert (await get("/explorer/alive?session=here", host="elsewhere")).code == 403

    through(visit, sessions=LIMITS.sessions)  # who comes back needs no room


NAVIGATION = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
FRAME = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"}
PICTURE = {"Sec_Fetch_Mode": "no-cors", "Sec_Fetch_Dest": "image"}
INVITED = {"Sec_WebSocket_Protocol": "bokeh, signed"}
SOCKET = {"Sec_Fetch_Mode": "websocket", "Sec_Fetch_Dest": "websocket", "Upgrade": "websocket", **INVITED}


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ({}, 200),  # a browser from before, or a program
        ({"Sec_Fetch_Site": "none", **NAVIGATION}, 200),
        ({"Sec_Fetch_Site": "same-origin", **PICTURE}, 200),
        ({"Sec_Fetch_Site": "same-origin", **FRAME}, 200),
        ({"Sec_Fetch_Site": "cross-site", **NAVIGATION}, 200),  # a link of a course
        ({"Sec_Fetch_Site": "same-site", **NAVIGATION}, 200),
        ({"Sec_Fetch_Site": "cross-site", **PICTURE}, 403),
        ({"Sec_Fetch_Site": "same-site", **PICTURE}, 403),  # another port of this machine
        ({"Sec_Fetch_Site": "cross-site", **FRAME}, 403),
        ({"Sec_Fetch_Site": "cross-site", **NAVIGATION, "Sec_Purpose": "prefetch;prerender"}, 403),
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "cors"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site", **SOCKET, "Origin": "own"}, 200),  # as some browsers say of their own pages
        ({"Sec_Fetch_Site": "cross-site", **SOCKET, "Origin": "http://elsewhere.example"}, 403),
        (SOCKET, 200),  # from a program
        ({**SOCKET, "Sec_WebSocket_Protocol": "bokeh, forged"}, 403),
        ({**SOCKET, "Sec_WebSocket_Protocol": "bokeh"}, 403),
        ({**SOCKET, "Origin": "null"}, 403),
        ({**SOCKET, "Origin": "http://[a:b:c"}, 403),
    ],
)
def test_pages_of_other_sites_link_to_a_page_and_load_none(sent: dict[str, str], code: int) -> None:
    async def visit(get: Get) -> None:
        port = (await get("/explorer")).effective_url.rpartition(":")[2].partition("/")[0]
        given = {name: f"http://localhost:{port}" if value == "own" else value for name, value in sent.items()}
        for path in ("/explorer", "/explorer/ws", "/static/x"):
            assert (await get(path, **given)).code == code

    through(visit)


def test_each_wrong_code_after_those_of_a_class_makes_the_next_wait_twice_as_long_and_only_from_there() -> None:
    assert AT_ONCE >= 40  # a class behind one address, in which everybody mistypes once
    now = [0.0]
    guesses, waits = Guesses(lambda: now[0]), []
    for _ in range(AT_ONCE - 3):
        guesses.was_wrong("a")
    for _ in range(14):
        guesses.was_wrong("a")
        waits.append(guesses.wait("a"))
        now[0] += waits[-1]
        assert guesses.wait("a") == 0
    assert waits == [0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]
    for _ in range(3000):
        guesses.was_wrong("a")  # no number is too large
    assert guesses.wait("b") == 0
    guesses.was_right("a")
    assert guesses.wait("a") == 0
    for number in range(MOST_PARTIES + 5):
        guesses.was_wrong(str(number))
    assert len(guesses._wrong) == MOST_PARTIES


def test_who_guesses_waits_and_not_even_the_right_code_is_looked_at_meanwhile() -> None:
    now = [0.0]

    async def visit(get: Get) -> None:
        for _ in range(AT_ONCE + 1):
            assert (await get("/explorer?code=wrong-1")).code == 403
        for code in ("wrong-1", "right-1"):
            told = await get("/explorer", body={"code": code})
            assert (told.code, told.headers["Retry-After"]) == (429, "1")
            assert b"try again in 1 second." in told.body
        assert (await get("/explorer")).code == 403  # the form, for when the time has come
        now[0] += 1
        assert (await get("/explorer?code=right-1")).code == 303

    through(visit, code="right-1", clock=lambda: now[0])


def test_a_code_is_never_logged_and_does_not_stay_in_an_address(caplog: pytest.LogCaptureFixture) -> None:
    async def visit(get: Get) -> None:
        cookie = (await get("/explorer?code=right-1&pace=0")).headers["Set-Cookie"].partition(";")[0]
        again = await get("/explorer?c%6fde=right-1&pace=0", Cookie=cookie)
        assert (again.code, again.headers["Location"]) == (303, "./explorer?pace=0")
        for path in ("/explorer?code=right-2", "/explorer?code=right-1%ff", "/static/x?a=%ff&code=right-1"):
            assert (await get(path)).code in (303, 400, 403)
        assert (await get("/explorer?code=right-1", host="rebound.example")).code == 403
        assert (await get("/explorer?code=right-1", Cookie=cookie, Sec_Fetch_Site="cross-site", **PICTURE)).code == 403

    with caplog.at_level(logging.DEBUG):
        through(visit, code="right-1")
    logged = [record.getMessage() for record in caplog.records]
    assert "303 GET /explorer?pace=0" in "\n".join(logged)
    assert not [line for line in logged if "right" in line]


def test_bytes_that_are_no_text_and_addresses_of_nothing_get_a_sentence() -> None:
    async def visit(get: Get) -> None:
        for query in ("theme=%ff%fe", "race=%e9", "a=1&a=%ff"):
            told = await get(f"/explorer?{query}")
            assert (told.code, b"no text" in told.body) == (400, True)
        told = await get("/nowhere")
        assert (told.code, b"the dashboard is at /explorer" in told.body) == (404, True)
        told = await get("/explorer", body={"code": "x"})
        assert (told.code, b"no answer to this address (405)" in told.body) == (405, True)

    through(visit)


def test_what_is_to_end_the_process_ends_an_answer_only() -> None:
    async def visit(get: Get) -> None:
        for _ in range(2):
            told = await get("/ends")
            assert (told.code, b"went wrong on the server" in told.body) == (500, True)
        assert (await get("/explorer")).code == 200

    through(visit)


def test_a_server_goes_on_whatever_code_asks_it_to_end_until_it_is_told_to() -> None:
    class Server:
        """As much of Bokeh's as is needed."""

        def __init__(self) -> None:
            self.io_loop, self.seen = IOLoop(), []

        def start(self) -> None:
            for error in (SystemExit(3), KeyboardInterrupt()):
                self.io_loop.add_callback(self._raise, error)
            self.io_loop.call_later(0.2, os.kill, os.getpid(), signal.SIGINT)

        async def _raise(self, error: BaseException) -> None:
            self.seen.append(type(error))
            raise error

        def stop(self) -> None:
            self.seen.append(Server)
            self.io_loop.close()

    server, before = Server(), signal.getsignal(signal.SIGINT)
    try:
        run(server)
    finally:
        signal.signal(signal.SIGINT, before)
    assert server.seen == [SystemExit, KeyboardInterrupt, Server]


def test_the_address_of_the_server_alone_leads_to_the_page_with_its_query() -> None:
    async def visit(port: int, _: Any) -> None:
        for query in ("", "?recipe=data%3Dheart%3B+C%3D10&tab=Model"):
            asked = f"http://localhost:{port}/{query}"
            answer = await AsyncHTTPClient().fetch(asked, follow_redirects=False, raise_error=False)
            assert (answer.code, answer.headers["Location"]) == (302, f"./explorer{query}")

    before_a_server(visit)
