"""The gate before every page: who asks for it and by which name, who knows the code, and whether there is room.

A request that the gate refuses never becomes a session. Pages of other sites may link to the dashboard and, if they are
allowed to, frame it; whatever else they ask for, such as pictures, is refused. A page may load scripts, styles,
pictures and data from this server alone. It must be allowed to evaluate text, as Bokeh makes functions from text.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil
from typing import Any
from urllib.parse import unquote_to_bytes, urlencode

import segno
from bokeh.server.util import check_allowlist
from bokeh.util.token import generate_session_id
from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.routing import Matcher, PathMatches, Rule
from tornado.web import Application, OutputTransform, RequestHandler

from mklviz.limits import LIMITS
from mklviz.server.access import Guesses
from mklviz.server.connections import party
from mklviz.server.process import PAGE, Contained, contain
from mklviz.views.host.page_session import OWNER
from mklviz.views.links import FOLLOW

COOKIE, OWNER_COOKIE = "mklviz-code", "mklviz-runs"
_KEPT = "Max-Age=31536000; HttpOnly; SameSite=Lax"
_METHODS = ("GET", "HEAD", "POST")  # that pages use
_SESSION = ("bokeh-session-id", "bokeh-token")
NAMED = "Bokeh-Session-Id"  # the header by which Bokeh is told how to name the session that it makes
_FORM = """<form method="post"><label>Code <input name="code" autofocus autocomplete="off" autocapitalize="off"
 spellcheck="false"></label><button>Open</button></form>"""
_JOIN = """<div class="join"><div>{picture}</div><div><p>Open<b>{address}</b></p>
<p>The code is<b class="code">{code}</b></p></div></div>"""


@dataclass(frozen=True)
class Gate:
    """Who may come in."""

    names: Sequence[str]  # HOST:PORT, or patterns such as ``*.example.org:*``, under which the server may be asked for
    code: str  # the code that a browser must give; "" where everybody may come in
    frames: Sequence[str]  # origins of pages that may frame the dashboard
    sessions: Callable[[], int]  # returns how many pages are viewed or about to be
    lives: Callable[[str], bool]  # returns whether there is a session of that id
    admits: Callable[[str, str], bool]  # returns whether a socket may open, by the token of its page and its address
    busy: Callable[[str], bool] = lambda _session: False  # returns whether a message of that session is carried out
    name: Callable[[], str] = generate_session_id  # returns a name for a session, by which its process is found again
    # what the browser's proof of the right code is made with
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    guesses: Guesses = field(default_factory=Guesses)  # the wrong codes that have been given
    address: str = ""  # where others than this machine find the dashboard
    own: bytes = b""  # what signs who a browser is, where each sees its own runs alone
    prefix: str = ""  # of all paths, as a proxy in front keeps it, such as /lab/mkl

    def without_prefix(self, request: HTTPServerRequest) -> None:
        """Make a request below the prefix one of the server's own paths, as a proxy that takes the prefix away does."""
        if request.path == self.prefix or request.path.startswith(f"{self.prefix}/"):
            request.path = request.path.removeprefix(self.prefix)
            request.uri = str(request.uri).removeprefix(self.prefix)

    @property
    def token(self) -> str:
        """The cookie of a browser that has given the right code."""
        return _digest(self.secret, self.code)

    def is_stranger(self, request: HTTPServerRequest) -> bool:
        """Whether the request names another server; a page elsewhere can make a browser do that."""
        return not check_allowlist(request.host.lower(), list(self.names))

    def is_from_elsewhere(self, request: HTTPServerRequest) -> bool:
        """Whether a page of another site sends the request by itself, without its visitor following a link.

        Browsers say so in a header. Browsers from before 2023 do not, and no browser does so to a server without
        encryption on another machine. The requests of other sites come there without the cookie of the code.
        """
        headers = request.headers
        if _is_socket(request):  # browsers agree only on what they say about the origin
            origin = headers.get("Origin")
            return origin is not None and not check_allowlist(origin.partition("://")[2].lower(), list(self.names))
        if headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
            return False
        if headers.get("Sec-Fetch-Mode") != "navigate" or "prefetch" in headers.get("Sec-Purpose", ""):
            return True
        return headers.get("Sec-Fetch-Dest") != "document" and not self.frames

    def is_unreadable(self, request: HTTPServerRequest) -> bool:
        """Whether something in the address is no text."""
        values = (b" ".join(values) for values in request.query_arguments.values())
        try:
            text = b" ".join([unquote_to_bytes(request.path), *values]).decode()
        except ValueError:
            return True
        return "\0" in text

    def is_uninvited(self, request: HTTPServerRequest) -> bool:
        """Whether a socket is asked for without a page, or by an address with too many."""
        token = request.headers.get("Sec-WebSocket-Protocol", "").rpartition(",")[2].strip()
        return _is_socket(request) and not self.admits(token, str(request.remote_ip))

    def is_for_open_page(self, request: HTTPServerRequest) -> bool:
        """Whether the request names, in its address, headers or body, the session of a page that is open."""
        headers = request.headers
        named = NAMED in headers or any(name in request.query_arguments for name in _SESSION)
        body = headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in headers
        return named or (body and request.method != "POST")

    def is_about_code(self, request: HTTPServerRequest) -> bool:
        """Whether the code is missing, or stands in the address, where it must not stay."""
        return self.is_without_code(request) or (bool(self.code) and "code" in request.query_arguments)

    def is_without_code(self, request: HTTPServerRequest) -> bool:
        """Whether the browser has not given the code."""
        if not self.code:
            return False
        cookie = request.cookies.get(COOKIE)
        return cookie is None or not hmac.compare_digest(cookie.value.encode(), self.token.encode())

    def is_code(self, code: bytes) -> bool:
        """Whether these bytes are the code."""
        text = code.decode(errors="replace").strip().lower()
        return hmac.compare_digest(text.encode(), self.code.lower().encode())

    def is_full(self, request: HTTPServerRequest) -> bool:
        """Whether the request asks for a page, and there are as many pages as there may be."""
        asks = request.path.rstrip("/").endswith(("/explorer", "/autoload.js"))
        return asks and self.sessions() >= LIMITS.sessions

    def own_runs(self, request: HTTPServerRequest) -> str:
        """Tell the page whose runs it may see, by a header of the request that no browser decides.

        Return the cookie that the browser is to be given for it, or "". Browsers differ by a name of chance
        that is signed here; the store knows them by its digest, which does not let anybody in.
        """
        if not self.own:
            request.headers.pop(OWNER, None)
            return ""
        cookie = request.cookies.get(OWNER_COOKIE)
        value = "" if cookie is None else cookie.value
        name = value.partition(".")[0]
        known = bool(name) and hmac.compare_digest(value.encode(), self._signed(name).encode())
        name = name if known else secrets.token_urlsafe(24)
        request.headers[OWNER] = hashlib.sha256(name.encode()).hexdigest()[:24]
        kept = f"Path={self.prefix}/; {_KEPT}{_secure(request)}"
        return "" if known else f"{OWNER_COOKIE}={self._signed(name)}; {kept}"

    def _signed(self, name: str) -> str:
        return f"{name}.{_digest(self.own, name)}"

    def headers(self, host: str) -> dict[str, str]:
        """Return what every answer says to the browser about what it may do."""
        frames = " ".join(self.frames) or "'none'"
        policy = (
            "default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:",
            f"connect-src 'self' blob: data: ws://{host} wss://{host}",
            "base-uri 'self'; form-action 'self'; object-src 'none'",
            f"frame-ancestors {frames}",
        )
        headers = {
            "Content-Security-Policy": "; ".join(policy),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }
        return headers if self.frames else {**headers, "X-Frame-Options": "DENY"}


def _digest(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _is_socket(request: HTTPServerRequest) -> bool:
    return request.headers.get("Upgrade", "").lower() == "websocket"


class _When(Matcher):
    def __init__(self, holds: Callable[[HTTPServerRequest], bool]) -> None:
        self._holds = holds

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        return {} if self._holds(request) else None


class _AtTheGate(Contained):
    """A handler of the gate, whose log entries leave the code out."""

    def prepare(self) -> None:
        self.request.uri = _without_code(self.request)

    def say(self, status: int, sentence: str, form: str = "") -> None:
        """Answer in a sentence."""
        self.set_status(status)
        self.finish(PAGE.format(body=f"<p>{escape(sentence)}</p>{form}"))


class _Refusal(_AtTheGate):
    """A sentence instead of a page."""

    def initialize(self, status: int, sentence: str) -> None:
        self._status, self._sentence = status, sentence

    def prepare(self) -> None:
        super().prepare()
        self.say(self._status, self._sentence)


class _OfGate(RequestHandler):
    def initialize(self, gate: Gate) -> None:
        self._gate = gate


class _Alive(_OfGate):
    """Tells a page that hears nothing whether it can go on: 204 if so, 202 if soon, 410 if its session is over."""

    def get(self) -> None:
        session = self.get_query_argument("session", "")
        self.set_status(410 if not self._gate.lives(session) else 202 if self._gate.busy(session) else 204)


class _Class(_OfGate, _AtTheGate):
    """Shows a room how to come in: address and code in large letters, and a picture of both for phones."""

    def get(self) -> None:
        address, code = self._gate.address, self._gate.code
        named = self.get_query_arguments(FOLLOW)[:1]  # the page that leads
        room = [(FOLLOW, name) for name in named if re.fullmatch(r"[\w-]{16}", name, re.ASCII)]
        drawn = segno.make(f"{address}?{urlencode([*room, ('code', code)])}", micro=False)
        picture = drawn.svg_inline(border=3, light="#fff", omitsize=True, title="Opens the dashboard, with the code")
        words = {"address": escape(address.removeprefix("http://")).replace("/", "<wbr>/"), "code": escape(code)}
        self.finish(PAGE.format(body=_JOIN.format(picture=picture, **words)))


class _ToDashboard(_OfGate):
    """Leads from the bare address of the server to the dashboard, with the same query."""

    def get(self) -> None:
        self.redirect(f"{self._gate.prefix or '.'}/explorer?{self.request.query}".rstrip("?"))


class _AskForCode(_OfGate, _AtTheGate):
    """Asks for the code, and lets those in who give it, in the form or by a link with ``?code=``."""

    def check_xsrf_cookie(self) -> None:
        """A foreign page that sends the right code has it already."""

    def get(self) -> None:
        self._answer(self.request.query_arguments.get("code"))

    def post(self) -> None:
        self._answer(self.request.body_arguments.get("code", [b""]))

    def _answer(self, codes: list[bytes] | None) -> None:
        gate, asker = self._gate, party(str(self.request.remote_ip))
        if not gate.is_without_code(self.request):
            self._open()
        elif not codes:
            self._ask("")
        elif wait := ceil(gate.guesses.wait(asker)):
            self.set_header("Retry-After", wait)
            self.say(429, f"Wrong codes came from your address: try again in {wait} {'s' if wait > 1 else 'second'}.")
        elif gate.is_code(codes[-1]):
            gate.guesses.was_right(asker)
            kept: dict[str, Any] = {"httponly": True, "samesite": "Lax", "secure": bool(_secure(self.request))}
            self.set_cookie(COOKIE, gate.token, path=f"{gate.prefix}/", **kept)
            self._open()
        else:
            gate.guesses.was_wrong(asker)
            self._ask("That is not the code. ")

    def _open(self) -> None:
        """Lead to the page that was asked for, by an address that holds behind every proxy."""
        asked, prefix = str(self.request.uri), self._gate.prefix
        self.redirect(f"{prefix}{asked}" if prefix else f"./{asked.rpartition('/')[2]}", status=303)

    def _ask(self, first: str) -> None:
        self.say(403, f"{first}This dashboard opens with a code: ask who serves it.", _FORM)


def _secure(request: HTTPServerRequest) -> str:
    """Return what a cookie is to say where the page is encrypted.

    Whoever stands in front says so by a header. A visitor who sends it himself loses nothing but his own cookies, and
    other sites cannot make his browser send it.
    """
    forwarded = request.headers.get("X-Forwarded-Proto", "").partition(",")[0].strip().lower()
    return "; Secure" if "https" in (request.protocol, forwarded) else ""


def _without_code(request: HTTPServerRequest) -> str:
    """Return the requested address without the code, which others need not see."""
    arguments = [
        (name, value) for name, values in request.query_arguments.items() for value in values if name != "code"
    ]
    path = "/" + request.path.lstrip("/")  # two slashes would be another machine's name
    return f"{path}?{urlencode(arguments)}" if arguments else path


def set_up(application: Application, gate: Gate) -> None:
    """Set the gate before every page of an application."""

    def refuse(holds: Callable[[HTTPServerRequest], bool], status: int, sentence: str) -> Rule:
        return Rule(_When(holds), _Refusal, {"status": status, "sentence": sentence})

    strange = "This server does not go by that name: open it under its own, or start it with --allow-websocket-origin."
    abroad = "Other sites may link to this dashboard; those that show it in a frame are named by --allow-frame."
    private = "A page belongs to the browser that opened it: open your own, without what follows the question mark."
    garbled = "Something in this address is no text: open it without what follows the question mark."
    unasked = "No page asks for this socket, or its address has as many as it may: open the dashboard at /explorer."
    room = f"{LIMITS.sessions:,} pages are open here, which is all there is room for: close one, or try again later."
    odd = "This server is asked for pages, and for nothing else."
    nothing = "There is nothing at this address: the dashboard is at /explorer."
    application.settings["default_handler_class"] = _Refusal
    application.settings["default_handler_args"] = {"status": 404, "sentence": nothing}
    contain(application.default_router.rules)
    application.default_router.rules[:0] = [
        refuse(gate.is_stranger, 403, strange),
        refuse(gate.is_from_elsewhere, 403, abroad),
        refuse(lambda request: request.method not in _METHODS, 405, odd),
        Rule(_When(gate.is_about_code), _AskForCode, {"gate": gate}),
        refuse(gate.is_for_open_page, 403, private),
        refuse(gate.is_unreadable, 400, garbled),
        refuse(gate.is_uninvited, 403, unasked),
        Rule(PathMatches(".*/alive"), _Alive, {"gate": gate}),
        Rule(PathMatches("/?"), _ToDashboard, {"gate": gate}),
        *([Rule(PathMatches("/class"), _Class, {"gate": gate})] if gate.code and gate.address else []),
        refuse(gate.is_full, 503, room),
    ]

    class Headers(OutputTransform):
        """Adds the same headers to every answer and closes its connection: `Acceptor` looks at every request anew.

        Made between the rules and a request's handler, it also tells Bokeh how to name a session.
        """

        def __init__(self, request: HTTPServerRequest) -> None:
            self._connection: Any = request.connection
            self._headers = gate.headers("" if gate.is_stranger(request) else request.host)
            self._cookie = gate.own_runs(request)
            request.headers[NAMED] = gate.name()  # no browser has said so: see `is_for_open_page`

        def transform_first_chunk(
            self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
        ) -> tuple[int, HTTPHeaders, bytes]:
            headers.update(self._headers)
            if self._cookie and status_code == 200:
                headers.add("Set-Cookie", self._cookie)
            if status_code != 101:  # a socket stays, which it would not with Tornado's no_keep_alive
                self._connection._disconnect_on_finish = True
            return status_code, headers, chunk

    application.add_transform(Headers)
    find = application.find_handler

    def find_handler(request: HTTPServerRequest, **options: Any) -> Any:
        gate.without_prefix(request)
        return find(request, **options)

    application.find_handler = find_handler  # before anything looks at the path
