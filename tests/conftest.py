"""What the tests share."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator

import pytest

from _linked import LINKED  # isort: skip  # before anything of mklviz is imported
from _browser import chromium, open_app, raced, server
from _cover import leave_the_rest
from _plugins import save
from _stores import store

from mklviz.engine.warmup import WARMUP

__all__ = [
    "LINKED",
    "chromium",
    "no_log",
    "open_app",
    "pytest_collection_modifyitems",
    "raced",
    "save",
    "server",
    "store",
]

pytest_plugins = ["pytester"]

_STORE = tempfile.TemporaryDirectory(prefix="mklviz-tests-", ignore_cleanup_errors=True)  # one for each worker
os.environ["MKLVIZ_STORE"] = _STORE.name  # programs that tests start have it, too: none touches the user's own runs


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tell the quick tests from the others."""
    leave_the_rest(items)


@pytest.fixture(autouse=True, scope="session")
def _nothing_is_compiled_ahead() -> None:
    """Let pages that tests build leave both cores to the tests, which compile what they need."""
    WARMUP._started.acquire(blocking=False)
    WARMUP._done.set()


@pytest.fixture
def no_log() -> Iterator[None]:
    """Silence the log of a test that breaks something on purpose."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
