"""A process of the server goes on answering, whatever its pages ask for.

Code that exits ends an answer and not the process: ``except Exception`` does not catch the SystemExit of a plug-in.
Pages, of which each takes a good part of a second, are built one after the other, and everything else is done in
between. Python looks for unused objects, which takes a second with thirty pages, while no page is drawn, or seldom.
"""

from __future__ import annotations

import gc
import logging
import signal
from collections.abc import Iterable
from html import escape
from time import monotonic
from typing import Any

from bokeh.server.session import ServerSession
from panel.io import document as panel_document
from panel.io.server import DocHandler
from tornado.routing import Rule, RuleRouter
from tornado.web import RequestHandler

from mklviz.context.memory import give_back
from mklviz.server.messages import OPEN_SOCKETS, pages_held
from mklviz.views.host.beside import ICON, beside
from mklviz.views.host.ticks import FRAME_RATE, carry_out, give_way, loop_lock, put_off
from mklviz.views.look.cards import variables
from mklviz.views.look.palette import DARK, LIGHT

_COLOURS = f"{variables(LIGHT)} @media (prefers-color-scheme: dark) {{ {variables(DARK)} }}".replace(":host", ":root")
_CSS = _COLOURS + beside(__file__, "gate.css")
PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>mklviz</title>'
    f'<meta name="viewport" content="width=device-width"><link rel="icon" href="{ICON}">'
    f"<style>{_CSS.replace('{', '{{').replace('}', '}}')}</style>"
    "<body><header>mklviz</header><main>{body}</main></body></html>"
)
_ENDS = (SystemExit, KeyboardInterrupt)
_BROKEN = "This went wrong on the server ({status}); its log says more."
_WRONG = "The server has no answer to this address ({status}). The dashboard is at /explorer."

_log = logging.getLogger(__name__)


class Contained(RequestHandler):
    """Answers in a sentence when the handler that it is mixed into breaks down."""

    async def _execute(self, *args: Any, **kwargs: Any) -> None:
        try:
            await super()._execute(*args, **kwargs)
        except _ENDS as error:
            _log.error("%s was to end the server, and did not: %s", self.request.path, type(error).__name__)
            if not self._finished:
                self.send_error(500)

    def write_error(self, status_code: int, **_: Any) -> None:
        sentence = (_BROKEN if status_code >= 500 else _WRONG).format(status=status_code)
        self.finish(PAGE.format(body=f"<p>{escape(sentence)}</p>"))


def contain(rules: Iterable[Rule]) -> None:
    """Keep every handler that these rules lead to from ending the process."""
    for rule in rules:
        if isinstance(rule.target, RuleRouter):
            contain(rule.target.rules)
        elif isinstance(rule.target, type) and issubclass(rule.target, RequestHandler):
            rule.target = type(rule.target.__name__, (Contained, rule.target), {})


def run(server: Any) -> None:
    """Serve with a server of Bokeh's until the process gets SIGINT, as by Ctrl-C, or SIGTERM."""
    loop, raised = server.io_loop, False
    server.start()
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.asyncio_loop.add_signal_handler(number, loop.stop)
    except NotImplementedError:  # on Windows Ctrl-C is raised wherever the process is
        raised = True
    while True:
        try:
            loop.start()
            break
        except _ENDS as error:
            if raised and isinstance(error, KeyboardInterrupt):
                break
            _log.error("Something was to end the server, and did not: %s", type(error).__name__)
    server.stop()


class PageInTurn(DocHandler):
    """Waits until the pages asked for earlier are built, and the frames due earlier are drawn."""

    async def get(self, *args: Any, **kwargs: Any) -> None:
        async with loop_lock():
            await super().get(*args, **kwargs)

    async def get_session(self) -> ServerSession:
        """Build the page part by part, before any of it is sent."""
        with put_off() as parts:
            session = await super().get_session()
        if parts:  # of a new session, which no other thread has locked
            await give_way()
            await session.with_document_locked(carry_out, session.document, parts)
        return session


LOOK_EVERY = 2.0  # seconds
NEVER = 1_000_000  # collections of young objects before Python collects everything by itself
WORTH_IT = 12  # such collections before there may be anything to find


class GarbageCollection:
    """Collects unused objects when there is time; those that exist at its creation count as used for good.

    Whatever is collected, all pages are looked through: with a class of thirty that takes up to a second.
    """

    put_off_for = 300.0  # seconds, while pages are drawn or there are many
    few = 6  # pages, open or closed, that may be looked through while a visitor is there
    most_closed = 50  # pages, some 5 MB each, that wait
    alone = 60.0  # seconds without a visitor after which none is expected back
    times = 40.0  # the seconds that the last collection took, for which the next is put off otherwise
    frame_rate = FRAME_RATE

    def __init__(self) -> None:
        module: Any = panel_document
        module._garbage_collect, module.GC_DEBOUNCE = self._note, 0  # Panel would collect at any time
        begun = monotonic()
        gc.collect()
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, NEVER)
        self._done_at = self._here_at = monotonic()
        self._took = self._done_at - begun
        self._ended = self._again = False  # whether a page has ended since; whether its threads may have left more

    def _note(self) -> None:
        self._ended = True

    def collect_in_time(self) -> None:
        """Collect if there is anything to find, and time, or if it cannot be put off."""
        now = monotonic()
        waited = now - self._done_at
        if here := OPEN_SOCKETS.total():
            self._here_at = now
        late = waited > self.put_off_for or pages_held() - here > self.most_closed
        spare = waited > self.times * self._took and self.frame_rate.pages(now) == 0
        quick = pages_held() <= self.few or now - self._here_at > self.alone
        due = self._ended or gc.get_count()[2] >= WORTH_IT or (self._again and late)
        if due and (late or (spare and quick)):
            gc.collect()
            give_back()
            self._done_at, self._again, self._ended = monotonic(), self._ended, False
            self._took = self._done_at - now
