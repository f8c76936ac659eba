"""An upload whose messages lie is refused in a sentence, keeps nothing, and leaves room for the next one."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklviz.limits import LIMITS
from mklviz.views.sidebar.upload import PIECE, Upload

MB = 2**20
TABLE = b"a,b,y\n1,2,x\n3,4,z\n"


class Heard:
    """An upload, with what it refused and what it sent back."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.upload = Upload(self.said.append)
        self.upload._send_msg = lambda message: None

    def send(self, *messages: Any) -> None:
        for message in messages:
            self.upload._handle_msg(message)

    def send_file(self, *pieces: Any, name: str = "mine.csv", count: int | None = None) -> None:
        self.send(BEGIN)
        for place, data in enumerate(pieces, 1):
            self.send(piece(data, place, len(pieces) if count is None else count, name))
        self.send(END)


BEGIN, END = {"status": "initializing", "type": "status"}, {"status": "finished", "type": "status"}


def piece(data: Any, place: Any = 1, count: Any = 1, name: Any = "mine.csv") -> dict[str, Any]:
    told = {"status": "upload_event", "type": "status", "mime_type": "text/csv"}
    return {**told, "data": data, "chunk": place, "total_chunks": count, "name": name}


def test_a_file_arrives_in_pieces_and_may_be_sent_again() -> None:
    heard, arrived = Heard(), []
    heard.upload.param.watch(lambda event: arrived.append(event.new), "value")
    heard.send_file(memoryview(TABLE[:5]), TABLE[5:])
    heard.send_file(TABLE)
    assert [value for value in arrived if value is not None] == [TABLE, TABLE]
    assert heard.upload.filename == "mine.csv"
    assert heard.said == []


def test_a_piece_that_is_a_number_makes_no_zeros() -> None:
    heard = Heard()
    tracemalloc.start()
    try:
        heard.send(BEGIN, piece(700_000_000, 1, 2), piece(700_000_000, 2, 2), END)
        assert tracemalloc.get_traced_memory()[1] < 8 * MB
    finally:
        tracemalloc.stop()
    assert heard.said == ["The upload could not be understood: choose the file again."]
    assert heard.upload.value is None


def test_an_empty_file_gets_an_answer() -> None:
    heard = Heard()
    heard.send_file()
    assert heard.said == ["The file is empty: choose one with a header line and rows below it."]


def test_a_file_of_60_mb_gets_an_answer_at_its_first_piece_and_keeps_nothing() -> None:
    heard, data = Heard(), bytes(PIECE)
    heard.send_file(*[data] * 60, name="large.csv")
    assert heard.said == [f"large.csv has about 60 MB, but at most {LIMITS.upload_bytes >> 20} MB are read."]
    assert heard.upload.value is None
    heard.send_file(TABLE)
    assert heard.upload.value == TABLE


def test_pieces_that_are_larger_than_they_may_be_are_counted_by_what_they_hold() -> None:
    heard = Heard()
    heard.send_file(*[bytes(4 * PIECE)] * 4)
    assert len(heard.said) == 1
    assert heard.upload.value is None


@pytest.mark.parametrize(
    "messages",
    [
        [None],
        [{"status": "other"}],
        [piece(TABLE, 2, 2)],
        [piece(TABLE, 1, 2), piece(TABLE, 1, 2)],
        [piece(TABLE, 1, 2), piece(TABLE, 2, 3)],
        [piece(TABLE, 1, 2), piece(TABLE, 2, 2, "other.csv")],
        [piece(TABLE, 1, 2)],
        [piece(TABLE, -1, 0)],
        [piece(TABLE, True, True)],
        [piece([1, 2], 1, 1)],
        [piece(TABLE, 1, 1, None)],
    ],
    ids=range(11),
)
def test_messages_that_contradict_each_other_are_refused_once(messages: list[Any]) -> None:
    heard = Heard()
    heard.send(BEGIN, *messages, END)
    assert len(heard.said) == 1
    assert heard.upload.value is None


VALUE = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.binary(max_size=20) | st.just([1])
STATUS = st.sampled_from(["initializing", "upload_event", "finished", "other"]) | VALUE
MESSAGE = st.fixed_dictionaries(
    {}, optional={"status": STATUS, "data": VALUE, "chunk": VALUE, "total_chunks": VALUE, "name": VALUE}
)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.lists(MESSAGE | VALUE | st.builds(piece, VALUE, VALUE, VALUE, VALUE), max_size=6))
def test_no_messages_break_an_upload(messages: list[Any]) -> None:
    heard = Heard()
    heard.send(*messages, BEGIN)
    heard.send_file(TABLE)
    assert heard.upload.value == TABLE
