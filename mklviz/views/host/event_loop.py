"""Everything that happens to a page happens on the server's event loop, one thing after the other.

From Bokeh 3.10 on a server uses other threads to carry out what browsers say and to write its answers. But the views
are made for one thread, and Panel may send the browser a model's name before the model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bokeh.server.session
from bokeh.server.contexts import ApplicationContext
from bokeh.server.session import ServerSession

__all__ = ["answer_on_event_loop"]


def answer_on_event_loop() -> None:
    """Let every server of this process do so, even one that runs already; before Bokeh 3.10 all do."""
    if hasattr(bokeh.server.session, "_run_in_executor"):
        module: Any = bokeh.server.session
        session: Any = ServerSession
        context: Any = ApplicationContext
        module._run_in_executor = _at_once
        session._run_in_executor = lambda _, call, *args: _at_once(call, *args)
        context._can_initialize_document_in_worker = lambda _: False


async def _at_once(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return call(*args, **kwargs)
