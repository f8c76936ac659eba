"""Repeated calls on a page, and how many of them the event loop of one process bears."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from itertools import chain
from time import monotonic, thread_time
from weakref import WeakKeyDictionary

from bokeh.document import Document
from bokeh.document.events import DocumentChangedEvent, DocumentPatchedEvent
from bokeh.server.session import ServerSession
from panel.io import hold, state
from panel.io.callbacks import PeriodicCallback
from panel.io.state import set_curdoc

ROUNDS = 4  # of the event loop: a small request is accepted, read and answered in so many

_LOCKS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


@asynccontextmanager
async def loop_lock() -> AsyncIterator[None]:
    """Wait until no other task of this event loop is within, and let the loop do everything else before the next."""
    async with _LOCKS.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        yield
        await give_way()


async def give_way() -> None:
    """Let the event loop do everything else that is due."""
    for _ in range(ROUNDS):
        await asyncio.sleep(0)


SLICE = 0.06  # CPU seconds, after which what takes longer lets the event loop do everything else


async def give_way_after(begun: float) -> None:
    """Give way if a slice has been spent since `begun`, by `thread_time`."""
    if thread_time() - begun > SLICE:
        await give_way()


_PUT_OFF: ContextVar[list[Iterator[None]] | None] = ContextVar("_PUT_OFF", default=None)


@contextmanager
def put_off() -> Iterator[list[Iterator[None]]]:
    """Keep what pages that are built within would do in parts, for `carry_out`."""
    parts = list[Iterator[None]]()
    token = _PUT_OFF.set(parts)
    try:
        yield parts
    finally:
        _PUT_OFF.reset(token)


async def carry_out(document: Document, work: Iterable[Iterator[None]], at_once: float = SLICE) -> None:
    """Do work on a page, with its lock, `at_once` CPU seconds of it at a time; what changes is sent at the end."""
    connected, before = state._connected.get(document), thread_time()
    state._connected[document] = True  # Panel would put changes off that belong to the page as it is sent
    try:
        with set_curdoc(document), hold(policy="collect"):
            for _ in chain.from_iterable(work):
                if thread_time() - before > at_once:
                    await give_way()
                    before = thread_time()
    finally:
        state._connected[document] = connected


def in_parts(parts: Iterator[None]) -> None:
    """Do work on the page that is being built: at once, or part by part where its builder waits for that."""
    later = _PUT_OFF.get()
    if later is None:
        deque(parts, maxlen=0)
    else:
        later.append(parts)


def part_by_part(parts: Iterator[None]) -> None:
    """Do work on a page that is open, soon and in the order asked for; at once where there is no server."""
    document = state.curdoc
    if document is None or document.session_context is None:
        deque(parts, maxlen=0)
        return

    async def do() -> None:
        async with loop_lock():
            try:
                await carry_out(document, [parts])
            except Exception as error:  # Bokeh would not tell the visitor
                with set_curdoc(document):
                    state._handle_exception(error)

    document.add_next_tick_callback(do)


SHARE = 0.25  # of a core may go into the frames of all pages
MOST_COST = 0.03  # CPU seconds that a frame counts at most, even if figures were built for it
FORGOTTEN = 0.1  # share of the former mean cost that each new frame replaces
FORGET_AFTER = 3.0  # seconds without a frame after which a page does not count
LONGEST = 1.0  # seconds between two frames of a page, however many pages there are


class FrameRate:
    """The cost of the frames of all pages of this process, and how often each page may have one."""

    def __init__(self) -> None:
        self._cost = 0.0  # CPU seconds of a frame
        self._drawn: dict[int, float] = {}  # when each page had its last frame

    def interval(self, now: float) -> float:
        """Return the seconds that must pass between two frames of a page."""
        return min(self._cost * self.pages(now) / SHARE, LONGEST)

    def pages(self, now: float) -> int:
        """Return how many pages are being drawn."""
        return sum(now - at < FORGET_AFTER for at in self._drawn.values())

    @contextmanager
    def watch(self, page: Ticks) -> Iterator[None]:
        """Count the cost of everything within, if it sends anything."""
        before, begun = page.sent_at, thread_time()
        yield
        if page.sent_at > before:
            spent = min(thread_time() - begun, MOST_COST)
            self._cost += (FORGOTTEN if self._cost else 1.0) * (spent - self._cost)
            now = monotonic()
            self._drawn = {each: at for each, at in self._drawn.items() if now - at < FORGET_AFTER}
            self._drawn[id(page)] = now


FRAME_RATE = FrameRate()


IDLE = 0.1  # of the time for which nothing has changed on a page passes until its next tick
SLOWEST = 5.0  # seconds between two of its ticks
PULSES = ("seq", "ack", "beat", "heard")  # by which server and browser hear from each other

_log = logging.getLogger(__name__)


class Ticks:
    """Calls a coroutine every so many seconds, with the lock of the page, and sends all that it changes at once.

    It is called less often while the process draws many pages and, with `idles`, the longer nothing has changed on the
    page; not at all while no browser shows it.
    """

    frame_rate = FRAME_RATE
    away = 10.0  # seconds without a connection after which a page has no ticks
    look_again = 0.5  # seconds between looks whether its browser has come back

    def __init__(self, seconds: float, callback: Callable[[], Awaitable[None]], idles: bool = False) -> None:
        self._seconds, self._callback = seconds, callback
        self._slowest = SLOWEST if idles else seconds
        self.sent_at = self._called_at = -math.inf  # when it changed the page last, and when it was called
        self._woken_at = self._seen_at = monotonic()
        self._document: Document | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None  # the loop itself would forget it
        self.begun = self._over = self._woken = False  # `begun` even if they have been stopped since

    def start(self) -> None:
        """Begin, once; without an event loop there are none."""
        if self.begun:
            return
        self.begun, self._document = True, state.curdoc
        if self._document is not None:
            self._document.on_change(self._note)
            self._document.on_message("bokeh_event", self._hurry)
        with suppress(RuntimeError):
            self._loop = asyncio.get_running_loop()
            self._woken_at = self._seen_at = monotonic()
            self._wait(self._seconds)

    def stop(self) -> None:
        """End for good."""
        self._over = True
        if self._timer is not None:
            self._timer.cancel()

    def wake(self) -> None:
        """Come soon, though the page may be hidden."""
        self._woken = True
        self._hurry()

    def _note(self, event: DocumentChangedEvent) -> None:
        if _is_news(event):
            self._hurry()

    def _hurry(self, *_: object) -> None:
        """Come soon, as something has happened, and at the full rate from now on."""
        self._woken_at = monotonic()
        if self._timer is not None and not self._over:
            self._timer.cancel()
            self._wait(self._called_at + self.pause(self._woken_at) - self._woken_at)

    def pause(self, now: float) -> float:
        """Return the seconds between two ticks."""
        idle = min(max(IDLE * (now - max(self._woken_at, self.sent_at)), self._seconds), self._slowest)
        return max(idle, self.frame_rate.interval(now))

    def _wait(self, seconds: float) -> None:
        self._timer = self._loop.call_later(max(seconds, 0.0), self._begin)

    def _begin(self) -> None:
        seen = self._session is None or self._session.connection_count > 0
        if seen:
            self._seen_at = monotonic()
        if seen or self._woken or monotonic() - self._seen_at < self.away:
            self._timer, self._woken = None, False
            self._task = self._loop.create_task(self._call())
        else:
            self._wait(self.look_again)

    @property
    def _session(self) -> ServerSession | None:
        context = None if self._document is None else self._document.session_context
        return None if context is None else context.session

    async def _call(self) -> None:
        self._called_at, session = monotonic(), self._session
        try:
            await (self._tick() if session is None else session.with_document_locked(self._tick))
        except Exception:
            _log.exception("A tick of a page broke down")
        if not self._over:
            self._wait(self._called_at + self.pause(now := monotonic()) - now)

    async def _tick(self) -> None:
        async with loop_lock():
            if self._over or (self._session is not None and self._session.destroyed):  # while this waited for the locks
                self.stop()
                return
            with set_curdoc(self._document), self.frame_rate.watch(self), hold(policy="collect"):
                begun = thread_time()
                await self._callback()
                await give_way_after(begun)
                if self._document is None or changes(self._document):
                    self.sent_at = monotonic()


def changes(document: Document) -> bool:
    """Return whether a browser is to be told anything of what was done within `hold`, but to say that it is there."""
    return any(map(_is_news, document.callbacks._held_events))


def _is_news(event: DocumentChangedEvent) -> bool:
    return isinstance(event, DocumentPatchedEvent) and getattr(event, "attr", "") not in PULSES


PERIOD = 8  # milliseconds


class Polling:
    """Calls `look` every few milliseconds, from `begin` on, until it returns true; with the lock of the document."""

    def __init__(self, look: Callable[[], bool]) -> None:
        self._look = look
        self._periodic: PeriodicCallback | None = None

    def begin(self) -> None:
        """Begin, or go on; where there is no event loop yet, the next tick looks."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        if self._periodic is None:
            self._periodic = PeriodicCallback(callback=self._call, period=PERIOD, log=False, background=True)
            self._periodic.start()

    @property
    def going(self) -> bool:
        """Whether an answer is awaited."""
        return self._periodic is not None

    def end(self) -> None:
        if self._periodic is not None:
            self._periodic.stop()
            self._periodic = None

    def _call(self) -> None:
        with hold(policy="collect"):  # one message for all that is drawn
            if self._look():
                self.end()
