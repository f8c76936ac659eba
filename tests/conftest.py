"""What the tests share."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from _browser import chromium, open_app, server

__all__ = ["chromium", "no_log", "open_app", "server"]


@pytest.fixture
def no_log() -> Iterator[None]:
    """Silence the log of a test that breaks something on purpose."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
