"""Pages are built one after the other, and the server does everything else in between.

A page takes a good part of a second. Otherwise thirty pages that are asked for at once would be built in one go, during
which no race is drawn and no connection answered.
"""

from __future__ import annotations

from typing import Any

from bokeh.server.urls import per_app_patterns
from panel.io.server import DocHandler

from mklviz.views.host.loop_lock import loop_lock

__all__ = ["build_pages_in_turn"]


class _InTurn(DocHandler):
    """Waits until the pages asked for earlier are built, and the frames due earlier are drawn."""

    async def get(self, *args: Any, **kwargs: Any) -> None:
        async with loop_lock():
            await super().get(*args, **kwargs)


def build_pages_in_turn() -> None:
    """Make every later server of this process queue its pages."""
    per_app_patterns[:] = [
        (pattern[0], _InTurn, *pattern[2:]) if pattern[1] is DocHandler else pattern for pattern in per_app_patterns
    ]
