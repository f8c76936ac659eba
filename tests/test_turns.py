"""Pages and frames of many visitors: in turn, and as often as the process can afford."""

from __future__ import annotations

from time import monotonic

from bokeh.server.urls import per_app_patterns
from panel.io.server import DocHandler

from mklviz.server.turns import build_pages_in_turn
from mklviz.views.live.frames import DEAR, LOST_AFTER, SHARE, Drawing, Frames


def test_the_page_alone_is_built_in_turn_and_once() -> None:
    before = list(per_app_patterns)
    try:
        build_pages_in_turn()
        build_pages_in_turn()
        changed = [new[1] for old, new in zip(before, per_app_patterns, strict=True) if new[1] is not old[1]]
        assert [handler.__mro__.count(DocHandler) for handler in changed] == [1]
        assert len(per_app_patterns) == len(before)
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
    assert drawing.interval(now) > 1.5 * alone
    assert drawing.interval(now + LOST_AFTER + 1.0) == 0.0  # nobody has been drawn for long


def test_a_look_without_a_frame_costs_nobody_anything() -> None:
    drawing = Drawing()
    with drawing.watch(Frames()):
        sum(range(100_000))
    assert drawing.interval(0.0) == 0.0
