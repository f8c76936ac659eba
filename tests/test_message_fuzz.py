"""A sample of the messages that ``python tests/message_fuzz.py`` sends by the thousand."""

from __future__ import annotations

import json
import re

import pytest
from message_fuzz import fuzz

from mklviz.server.logs import LETTERS

MESSAGES = 1000
MOST_MEMORY = 1024.0  # megabytes
MOST_WAIT = 1.0  # CPU seconds of the server's event loop, however busy the machine is
PATHS = re.compile(r"Traceback|File |\.py|/(home|root|tmp|usr|work)|[A-Z]:\\")


@pytest.mark.full
def test_no_message_ends_the_server_fills_its_memory_or_lets_others_wait() -> None:
    outcome = fuzz(MESSAGES)
    assert outcome.alive
    assert outcome.answers.total() == MESSAGES
    assert min(outcome.answers["OK"], outcome.answers["ERROR"], outcome.answers["closed"]) > 0, outcome
    assert outcome.peak < MOST_MEMORY, outcome
    assert len(outcome.waits) > 10
    assert max(outcome.waits) < MOST_WAIT, outcome.dearest
    assert outcome.logged < outcome.minutes * 4 * LETTERS
    for text in outcome.texts:
        told = json.loads(text)
        assert told["traceback"] is None
        assert told["text"].startswith("This message ")
        assert len(text) < 300
        assert not PATHS.search(text)
