"""The first page of a machine on which nothing is compiled: a recording plays until the first solver is ready."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _browser import App, Pages, Server

from mklviz.views.explorer.before_and_after import YOURS_FOLLOWS

pytestmark = pytest.mark.browser


@pytest.fixture
def new_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server whose cache of compiled functions is empty."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    running = Server(tmp_path)
    yield running
    running.close()
    assert not running.complaints, running.log


def marks(app: App) -> int:
    """How many figures are marked as those of a recording."""
    return int(app.page.get_by_text("Recording", exact=True).count())


def ends(app: App) -> dict[str, list[float]]:
    """Where the axes of the large figures end."""
    found: dict[str, list[float]] = app.figures(
        "^(objective|gap|step)$", "(figure) => [figure.x_range.end, figure.y_range.start, figure.y_range.end]"
    )
    return found


def test_a_recording_is_seen_until_the_first_solver_is_ready(chromium: Any, new_machine: Server) -> None:
    pages = Pages(chromium)
    app = pages.open(new_machine.url().replace("?pace=0", "?pace=50"))
    app.press("Run")
    app.until(lambda: max(app.points().values(), default=0) > 20 and app.status == YOURS_FOLLOWS, "the recording")
    app.until(lambda: marks(app) == 6, "the marks of five figures and of the weights")
    assert "appears here" in app.page.locator("table.results").first.inner_text()
    app.screenshot("cold-recording")
    app.until(lambda: max(app.points().values()) == 121, "the recording's end")
    before = app.settled() and ends(app)
    app.until(lambda: marks(app) == 0 and max(app.points().values(), default=0) > 2, "the first points of the race")
    app.until(lambda: [end for end, *_ in ends(app).values()] == [end for end, *_ in before.values()], "the same axes")
    app.screenshot("cold-live")
    app.until_finished()
    app.until(lambda: app.row("silp")[2:3] == ["120"], "the last step in the table")
    pages.close()
    assert not pages.errors, "\n".join(pages.errors)
