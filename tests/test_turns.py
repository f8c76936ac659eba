"""Pages and frames of many visitors: in turn, and as often as the process can afford."""

from __future__ import annotations

from time import monotonic

from bokeh.server.urls import per_app_patterns
from bokeh.server.views.ws import WSHandler
from panel.io.server import DocHandler

from mklviz.server.turns import build_pages_in_turn
from mklviz.views.live.drawing import DEAR, FORGET_AFTER, LONGEST, SHARE, Drawing
from mklviz.views.live.frames import Frames


def test_the_page_alone_is_built_in_turn_and_once() -> None:
    before = list(per_app_patterns)  # which a server of this process may have changed already
    try:
        per_app_patterns[:] = [(r"/ws", WSHandler), (r"/?", DocHandler)]
        build_pages_in_turn()
        build_pages_in_turn()
        socket, page = (pattern[1] for pattern in per_app_patterns)
        assert socket is WSHandler
        assert issubclass(page, DocHandler)
        assert page is not DocHandler
        assert page.__mro__[1] is DocHandler  # wrapped once
    finally:
        per_app_patterns[:] = before


def drawn(drawing: Drawing, frames: Frames, now: float, busy: int = 0) -> None:
    with drawing.watch(frames):
        sum(range(busy))
        frames.sent_at = now


def test_the_more_pages_are_drawn_the_longer_each_waits_for_its_next_frame() -> None:
    drawing, pages, now = Drawing(), [Frames() for _ in range(4)], monotonic()
    assert drawing.interval(now) == 0.0
    drawn(drawing, pages[0], now, busy=100_000)
    alone = drawing.interval(now)
    assert 0.0 < alone <= DEAR / SHARE
    for page in pages[1:]:
        drawn(drawing, page, now, busy=100_000)
    assert 1.5 * alone < drawing.interval(now) <= LONGEST
    assert drawing.interval(now + FORGET_AFTER + 1.0) == 0.0  # nobody has been drawn for long


def test_a_look_without_a_frame_costs_nobody_anything() -> None:
    drawing = Drawing()
    with drawing.watch(Frames()):
        sum(range(100_000))
    assert drawing.interval(0.0) == 0.0
