"""The process goes on even if code that answers a request exits.

``except Exception`` does not catch SystemExit. Without this module one ``sys.exit`` in a plug-in would end the
dashboard with all its races.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterable
from html import escape
from typing import Any

from tornado.routing import Rule, RuleRouter
from tornado.web import RequestHandler

__all__ = ["PAGE", "Contained", "contain", "run"]

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>mklviz</title>
<meta name="viewport" content="width=device-width"><body style="font: 16px sans-serif; margin: 15vh auto; width: 26em">
<h1 style="font-size: 20px">mklviz</h1><p>{sentence}</p>{form}</body></html>"""
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
        self.finish(PAGE.format(sentence=escape(sentence), form=""))


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
