"""The gate before every page: by name, by code, with room for so many; what every answer says; signed sessions."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPResponse
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler

from mklviz.cli import main
from mklviz.errors import MklvizError
from mklviz.limits import LIMITS
from mklviz.server.addresses import check_address, is_local, known_names, own_addresses
from mklviz.server.gate import Gate, new_code, set_up
from mklviz.server.serving import make_server, serve

ROOT = Path(__file__).resolve().parents[1]
Get = Callable[..., Awaitable[HTTPResponse]]


class Page(RequestHandler):
    """What is behind the gate."""

    def get(self) -> None:
        self.write("the page")


def through(visit: Callable[[Get], Awaitable[None]], code: str = "", sessions: int = 0, frames: tuple[str, ...] = ()):
    """Let `visit` ask a small server behind the gate."""

    async def run() -> None:
        listener, port = bind_unused_port()
        application = Application([("/explorer", Page), ("/static/x", Page)])
        set_up(application, Gate([f"localhost:{port}"], code, frames, lambda: sessions, lambda name: name == "here"))
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
            assert (opened.code, opened.headers["Location"]) == (303, "/explorer?a=1%262")
            cookie = opened.headers["Set-Cookie"]
            assert "HttpOnly" in cookie
            assert "right-1" not in cookie.lower()
            assert (await get("/explorer", Cookie=cookie.partition(";")[0])).code == 200
        assert (await get("/explorer", Cookie="mklviz-code=right-1")).code == 403
        assert (await get("/explorer", Cookie="mklviz-code=\xe4")).code == 403
        away = await get("//elsewhere.example/?code=right-1")
        assert away.headers["Location"].startswith("/elsewhere")

    through(visit, code="right-1")


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
        answer = await get("/explorer")
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
    with pytest.raises(MklvizError, match="at least four letters"):
        serve(free_port(), code="1")


def test_a_class_is_told_where_to_come_in_and_the_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Quiet:
        def run_until_shutdown(self) -> None:
            pass

    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr("mklviz.server.serving.make_server", lambda *given: asked.append(given) or Quiet())
    monkeypatch.setattr("mklviz.server.serving.look_after", lambda server: None)
    port = free_port()
    words = ["--classroom", "--num-procs", "1", "--no-show", "--port", str(port), "--code", "blackboard"]
    assert main(["serve", *words]) == 0
    said = capsys.readouterr().out
    assert f":{port}/explorer\n    code: blackboard\n" in said
    assert f"{LIMITS.sessions:,} pages" in said
    assert asked[0][0] == "0.0.0.0"
    with pytest.raises(MklvizError, match="lets nobody else in"):
        serve(free_port(), address="127.0.0.1", classroom=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_sessions_are_signed_and_messages_bounded() -> None:
    async def run() -> None:
        port = free_port()
        server = make_server("localhost", port, [], "", [])
        server.start()
        try:
            assert server._tornado.sign_sessions
            assert len(server._tornado.secret_key) >= 32
            assert server._tornado.settings["websocket_max_message_size"] == 2**20 + 2**10
            made_up = await AsyncHTTPClient().fetch(
                f"http://localhost:{port}/explorer", headers={"Bokeh-Session-Id": "made-up"}, raise_error=False
            )
            assert made_up.code == 403
        finally:
            server.stop()

    asyncio.run(run())


def test_the_port_must_be_free() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(MklvizError, match=r"cannot be used .* choose another with --port"):
            check_address("localhost", taken.getsockname()[1])


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
        assert (await get("/explorer/alive?session=gone")).code == 410
        assert (await get("/explorer/alive")).code == 410
        assert (await get("/explorer/alive?session=here", host="elsewhere")).code == 403

    through(visit, sessions=LIMITS.sessions)  # who comes back needs no room
