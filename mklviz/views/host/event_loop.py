"""Everything that happens to a page happens on the server's event loop, one thing after the other.

From Bokeh 3.10 on a server carries out in other threads what browsers say, and writes there what it answers. The views
are made for one thread, and Panel may then send the browser a model's name before the model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bokeh.server.session
from bokeh.server.contexts import ApplicationContext
from bokeh.server.session import ServerSession

__all__ = ["answer_on_event_loop"]


def answer_on_event_loop() -> None:
    """Let every server of this process, also one that runs, do so; before Bokeh 3.10 all do."""
    if hasattr(bokeh.server.session, "_run_in_executor"):
        module: Any = bokeh.server.session
        session: Any = ServerSession
        context: Any = ApplicationContext
        module._run_in_executor = _at_once
        session._run_in_executor = lambda _, call, *given: _at_once(call, *given)
        context._can_initialize_document_in_worker = lambda _: False


async def _at_once(call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    return call(*given, **named)
