"""The gate before every page: whose name is asked for, who knows the code, whether there is room, and what is said.

What the gate refuses never becomes a session. A page may load scripts, styles, pictures and data from this server alone
and be framed by nobody; Bokeh makes functions from text, which is why evaluating text must be allowed.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import urlencode

from bokeh.server.util import check_allowlist
from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.routing import Matcher, Rule
from tornado.web import Application, OutputTransform, RequestHandler

from mklviz.limits import LIMITS

__all__ = ["Gate", "new_code", "set_up"]

COOKIE = "mklviz-code"
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none is taken for another
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>mklviz</title>
<meta name="viewport" content="width=device-width"><body style="font: 16px sans-serif; margin: 15vh auto; width: 26em">
<h1 style="font-size: 20px">mklviz</h1><p>{sentence}</p>{form}</body></html>"""
_FORM = """<form method="post"><label>Code <input name="code" autofocus autocomplete="off"></label>
<button>Open</button></form>"""


def new_code() -> str:
    """Return a code that nobody guesses, and that can be read out."""
    return "".join(secrets.choice(LETTERS) for _ in range(8))


@dataclass(frozen=True)
class Gate:
    """Who may come in.

    Attributes
    ----------
    names : sequence of str
        HOST:PORT, or patterns such as ``*.example.org:*``, under which the server may be asked for.
    code : str
        What a browser must have been told; "" where everybody may come in.
    frames : sequence of str
        Origins of pages that may frame the dashboard.
    sessions : callable
        Returns how many there are that somebody looks at, or is about to.
    lives : callable
        Returns whether there is a session of that id.
    secret : bytes
        What the browser's proof of the right code is made with.
    behind : bool
        Whether another process hands connections over, and browsers are asked to make a new one for each request.
    """

    names: Sequence[str]
    code: str
    frames: Sequence[str]
    sessions: Callable[[], int]
    lives: Callable[[str], bool]
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    behind: bool = False

    @property
    def token(self) -> str:
        """What a browser keeps that has given the right code."""
        return hmac.new(self.secret, self.code.encode(), hashlib.sha256).hexdigest()

    def is_stranger(self, request: HTTPServerRequest) -> bool:
        """Whether the server is asked for by a name that is not its own, as a page elsewhere can make it be."""
        return not check_allowlist(request.host.lower(), list(self.names))

    def is_without_code(self, request: HTTPServerRequest) -> bool:
        """Whether the browser has not given the code."""
        if not self.code:
            return False
        kept = request.cookies.get(COOKIE)
        return kept is None or not hmac.compare_digest(kept.value.encode(), self.token.encode())

    def is_full(self, request: HTTPServerRequest) -> bool:
        """Whether a page is asked for, and there are as many as there may be."""
        asks = request.path.rstrip("/").endswith(("/explorer", "/autoload.js"))
        return asks and self.sessions() >= LIMITS.sessions

    def is_question(self, request: HTTPServerRequest) -> bool:
        """Whether a page asks if its session is still there."""
        return request.path.endswith("/alive")

    def headers(self, host: str) -> dict[str, str]:
        """Return what every answer says to the browser about what it may do."""
        frames = " ".join(self.frames) or "'none'"
        policy = (
            "default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:",
            f"connect-src 'self' blob: data: ws://{host} wss://{host}",
            "base-uri 'self'; form-action 'self'; object-src 'none'",
            f"frame-ancestors {frames}",
        )
        said = {
            "Content-Security-Policy": "; ".join(policy),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }
        return said if self.frames else {**said, "X-Frame-Options": "DENY"}


class _When(Matcher):
    def __init__(self, holds: Callable[[HTTPServerRequest], bool]) -> None:
        self._holds = holds

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        return {} if self._holds(request) else None


class _Refusal(RequestHandler):
    """A sentence instead of a page."""

    def initialize(self, status: int, sentence: str) -> None:
        self._status, self._sentence = status, sentence

    def prepare(self) -> None:
        self.set_status(self._status)
        self.finish(_PAGE.format(sentence=escape(self._sentence), form=""))


class _Alive(RequestHandler):
    """Tells a page that has lost its connection whether it can go on: 204 if so, 410 if its session is over."""

    def initialize(self, gate: Gate) -> None:
        self._gate = gate

    def get(self) -> None:
        self.set_status(204 if self._gate.lives(self.get_query_argument("session", "")) else 410)


class _AskForCode(RequestHandler):
    """Asks for the code, and lets in who knows it: from the form, or from a link with ``?code=``."""

    def initialize(self, gate: Gate) -> None:
        self._gate = gate

    def check_xsrf_cookie(self) -> None:
        """A foreign page that sends the right code has it already."""

    def get(self) -> None:
        self._answer(self.get_query_argument("code", None))

    def post(self) -> None:
        self._answer(self.get_body_argument("code", ""))

    def _answer(self, given: str | None) -> None:
        if given is not None and hmac.compare_digest(given.strip().lower().encode(), self._gate.code.lower().encode()):
            self.set_cookie(COOKIE, self._gate.token, httponly=True, samesite="Lax")
            self.redirect(self._without_code(), status=303)
            return
        self.set_status(403)
        wrong = "" if given is None else "That is not the code. "
        self.finish(_PAGE.format(sentence=f"{wrong}This dashboard opens with a code: ask who serves it.", form=_FORM))

    def _without_code(self) -> str:
        """Return this page's address without the code, which needs not be seen by others."""
        kept = [(name, value) for name in self.request.query_arguments for value in self.get_query_arguments(name)]
        query = urlencode([pair for pair in kept if pair[0] != "code"])
        path = "/" + self.request.path.lstrip("/")  # two slashes would be another machine's name
        return f"{path}?{query}" if query else path


def set_up(application: Application, gate: Gate) -> None:
    """Set the gate before every page of an application."""
    room = f"{LIMITS.sessions:,} pages are open here, which is all there is room for: close one, or try again later."
    strange = "This server does not go by that name: open it under its own, or start it with --allow-websocket-origin."
    application.default_router.rules[:0] = [
        Rule(_When(gate.is_stranger), _Refusal, {"status": 403, "sentence": strange}),
        Rule(_When(gate.is_without_code), _AskForCode, {"gate": gate}),
        Rule(_When(gate.is_question), _Alive, {"gate": gate}),
        Rule(_When(gate.is_full), _Refusal, {"status": 503, "sentence": room}),
    ]

    class Headers(OutputTransform):
        """Says the same with every answer."""

        def __init__(self, request: HTTPServerRequest) -> None:
            self._said = gate.headers("" if gate.is_stranger(request) else request.host)

        def transform_first_chunk(
            self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
        ) -> tuple[int, HTTPHeaders, bytes]:
            headers.update(self._said)
            if gate.behind and status_code != 101:  # a socket stays
                headers["Connection"] = "close"
            return status_code, headers, chunk

    application.add_transform(Headers)
