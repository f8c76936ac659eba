"""Pages and frames of many visitors: in turn, and as often as the process can afford."""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from time import monotonic
from types import SimpleNamespace
from typing import Any

import panel as pn
import pytest
from _waits import next_round, soon
from bokeh.document import Document
from bokeh.document.events import SessionCallbackAdded
from panel.io import document
from panel.io.state import set_curdoc

from mklviz.server import process
from mklviz.server.messages import OPEN_SOCKETS
from mklviz.server.process import WORTH_IT, GarbageCollection
from mklviz.views.host.frames import Frames
from mklviz.views.host.ticks import (
    FORGET_AFTER,
    LONGEST,
    MOST_COST,
    SHARE,
    FrameRate,
    carry_out,
    in_parts,
    loop_lock,
    part_by_part,
    put_off,
)


async def request(told: list[str]) -> None:
    """Be accepted, read and answered, each in another round of the loop."""
    for _ in range(3):
        await next_round()
    told.append("answered")


def test_one_thing_at_a_time_holds_the_loop_and_a_small_request_is_answered_between_two() -> None:
    told: list[str] = []

    async def hold(name: str) -> None:
        async with loop_lock():
            told.append(f"{name} begins")
            await next_round()  # whoever did not wait would come in here
            told.append(f"{name} ends")

    async def both() -> None:
        await asyncio.gather(hold("a page"), hold("a frame"), hold("another"), request(told))

    for _ in range(2):  # each loop has turns of its own
        told.clear()
        asyncio.run(both())
        assert [said for said in told if said != "answered"] == [
            f"{name} {what}" for name in ("a page", "a frame", "another") for what in ("begins", "ends")
        ]
        assert told.index("answered") < told.index("a frame begins")


def test_what_breaks_in_its_turn_does_not_keep_the_others() -> None:
    async def both() -> str:
        with pytest.raises(ValueError, match="broken"):
            async with loop_lock():
                raise ValueError("broken")
        async with loop_lock():
            return "goes on"

    assert asyncio.run(both()) == "goes on"


def test_what_is_done_in_parts_holds_the_loop_for_one_of_them_alone() -> None:
    told: list[str] = []
    document = Document()

    def parts() -> Iterator[None]:
        for part in ("first", "second"):
            told.append(part if pn.state.curdoc is document else "elsewhere")
            yield
        told.append("last")

    async def both() -> None:
        with put_off() as later:
            in_parts(parts())
        assert told == []  # it is kept
        await asyncio.gather(carry_out(document, later, at_once=-1.0), request(told))

    with set_curdoc(document):
        asyncio.run(both())
        assert told == ["first", "answered", "second", "last"]
        in_parts(parts())  # nobody waits for it
        part_by_part(parts())  # there is no server
    assert told[4:] == 2 * ["first", "second", "last"]


def test_an_open_page_is_changed_in_parts_soon_and_in_the_order_asked_for() -> None:
    told, asked, errors = list[int](), list[Any](), list[Exception]()

    class Served(Document):
        session_context = SimpleNamespace(session=None)

    page: Any = Served()

    def parts(number: int) -> Iterator[None]:
        for _ in range(2):
            told.append(number)
            yield
        if number == 1:
            raise ValueError("The first breaks down")

    async def both() -> None:
        for event in asked[:2]:  # Panel adds what sends the changes
            await event.callback.callback()

    page.on_change(lambda event: asked.append(event) if isinstance(event, SessionCallbackAdded) else None)
    with set_curdoc(page), pn.config.set(exception_handler=errors.append):
        part_by_part(parts(1))
        part_by_part(parts(2))
        assert told == []
        asyncio.run(both())
    assert told == [1, 1, 2, 2]
    assert [str(error) for error in errors] == ["The first breaks down"]  # which whoever looks at the page is told


def drawn(drawing: FrameRate, frames: Frames, now: float, busy: int = 0) -> None:
    with drawing.watch(frames):
        sum(range(busy))
        frames.sent_at = now


def test_the_more_pages_are_drawn_the_longer_each_waits_for_its_next_frame() -> None:
    drawing, pages, now = FrameRate(), [Frames() for _ in range(4)], monotonic()
    assert drawing.interval(now) == 0.0
    drawn(drawing, pages[0], now, busy=100_000)
    alone = drawing.interval(now)
    assert 0.0 < alone <= MOST_COST / SHARE
    for page in pages[1:]:
        drawn(drawing, page, now, busy=100_000)
    assert 1.5 * alone < drawing.interval(now) <= LONGEST
    assert drawing.interval(now + FORGET_AFTER + 1.0) == 0.0  # nobody has been drawn for long


@pytest.fixture
def collections() -> Iterator[list[int]]:
    """The generations that Python has collected since; it and Panel collect as they did before afterwards."""
    of_panel = {name: vars(document)[name] for name in ("_garbage_collect", "GC_DEBOUNCE")}
    before, found = gc.get_threshold(), list[int]()

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            found.append(info["generation"])

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)
    gc.unfreeze()
    gc.set_threshold(*before)
    vars(document).update(of_panel)


def some_garbage() -> None:
    """Make what is young grow old, as pages that are built do."""
    for _ in range(WORTH_IT):
        gc.collect(1)


@pytest.mark.full
def test_what_nobody_uses_is_collected_when_nothing_is_drawn(collections: list[int]) -> None:
    drawing, page = FrameRate(), Frames()
    tidy = GarbageCollection()
    tidy.frame_rate, tidy.few = drawing, 1000
    some_garbage()
    drawn(drawing, page, monotonic(), busy=1)
    collections.clear()
    tidy.collect_in_time()
    assert 2 not in collections  # a race goes on
    tidy.frame_rate = FrameRate()
    tidy.collect_in_time()
    assert 2 not in collections  # it was done a moment ago
    tidy.times = 0.0
    tidy.collect_in_time()
    assert collections.count(2) == 1
    tidy.collect_in_time()
    assert collections.count(2) == 1  # nothing has come since


@pytest.mark.full
def test_many_pages_are_looked_through_when_everybody_has_gone(collections: list[int]) -> None:
    tidy = GarbageCollection()
    tidy.frame_rate, tidy.times, tidy.few, tidy.most_closed = FrameRate(), 0.0, -1, 1000
    some_garbage()
    collections.clear()
    OPEN_SOCKETS.clear()
    OPEN_SOCKETS["somebody"] += 1
    tidy.collect_in_time()
    del OPEN_SOCKETS["somebody"]
    tidy.collect_in_time()
    assert 2 not in collections  # who has just left may come back
    tidy.alone = -1.0
    tidy.collect_in_time()
    assert collections.count(2) == 1


@pytest.mark.full
def test_what_the_last_page_leaves_is_collected_though_nothing_more_comes(
    collections: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[int] = []
    monkeypatch.setattr(process, "give_back", lambda: given_back.append(1))
    tidy = GarbageCollection()
    tidy.frame_rate, tidy.times, tidy.few = FrameRate(), 0.0, 1000
    collections.clear()
    tidy.collect_in_time()
    assert 2 not in collections
    with suppress(KeyError):
        pn.state.cancel_task("gc.collect")  # which a page before may have left
    page: Any = Document()
    page.destroy = partial(vars(document)["_destroy_document"], page)  # as Panel's pages end

    async def look() -> None:
        page.destroy(None)
        await soon(lambda: tidy.collect_in_time() or given_back)

    asyncio.run(look())
    tidy.collect_in_time()
    assert collections.count(2) == len(given_back) == 1  # Panel itself has not collected
    tidy.put_off_for = 0.0
    tidy.collect_in_time()
    tidy.collect_in_time()
    assert collections.count(2) == 2  # once more, for what its threads held longer
