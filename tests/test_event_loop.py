"""Whatever happens to a page happens in one thread, whichever Bokeh serves it."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import bokeh.server.session
from bokeh.application import Application
from bokeh.application.handlers import FunctionHandler
from bokeh.document import Document
from bokeh.models import Div
from bokeh.protocol import Protocol
from bokeh.server.connection import ServerConnection
from bokeh.server.contexts import ApplicationContext
from bokeh.server.session import ServerSession
from tornado.ioloop import IOLoop

from mklviz.views.host.event_loop import answer_on_event_loop


async def what_happens_to_a_page() -> dict[str, int]:
    """Return in which thread a page is built, a change of its browser and a callback are carried out, and it is told.

    The page is a real session of Bokeh's; no socket is there, so that what is sent to the browser is kept.
    """
    threads: dict[str, int] = {}
    answered: list[Any] = []
    div = Div(text="before")

    def build(document: Document) -> None:
        threads["built"] = threading.get_ident()
        div.on_change("text", lambda attr, old, new: threads.setdefault("changed", threading.get_ident()))
        document.add_root(div)

    class Socket:
        async def send_message(self, message: Any) -> None:
            answered.append(message)

    context = ApplicationContext(Application(FunctionHandler(build)), IOLoop.current())
    session: Any = await context.create_session_if_needed("one")  # type: ignore[arg-type]
    assert isinstance(session, ServerSession)
    socket: Any = Socket()
    page = ServerConnection(Protocol(), socket, context, session)
    changed = {"kind": "ModelChanged", "model": {"id": div.id}, "attr": "text", "new": "after"}
    patch = Protocol().assemble('{"msgid": "1", "msgtype": "PATCH-DOC"}', "{}", json.dumps({"events": [changed]}))
    assert (await ServerSession.patch(patch, page)).msgtype == "OK"

    def call() -> None:
        threads["called"] = threading.get_ident()
        div.text = "later"

    await session.with_document_locked(call)
    (told,) = answered
    assert "later" in told.content_json
    page.detach_session()
    return threads


def test_pages_are_built_and_changed_in_the_thread_of_the_event_loop() -> None:
    answer_on_event_loop()
    assert asyncio.run(what_happens_to_a_page()) == dict.fromkeys(("built", "changed", "called"), threading.get_ident())


def test_a_new_bokeh_still_leaves_the_event_loop_where_this_module_expects() -> None:
    moved = "Bokeh has moved what mklviz/views/host/event_loop.py rests on: "
    if hasattr(bokeh.server.session, "_needs_document_lock_on_loop"):  # from Bokeh 3.10 on
        for holder, name in (
            (bokeh.server.session, "_run_in_executor"),
            (ServerSession, "_run_in_executor"),
            (ApplicationContext, "_can_initialize_document_in_worker"),
        ):
            assert hasattr(holder, name), f"{moved}{holder.__name__} has no {name} any more."
