"""An upload whose messages lie is refused in a sentence, keeps nothing, and leaves room for the next one."""

from __future__ import annotations

import tracemalloc
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklviz.views.form import File

MB = 2**20
TABLE = b"a,b,y\n1,2,x\n3,4,z\n"
SIZE = len(TABLE)
NOT_UNDERSTOOD = "The upload could not be understood: choose the file again."


class Heard:
    """A file input, with what arrived and what it refused."""

    def __init__(self) -> None:
        self.file, self.arrived, self.said = File(limit=2 * MB), [], []
        self.file.param.watch(lambda event: self.arrived.append(event.new), "value")
        self.file.param.watch(lambda event: self.said.append(event.new), "trouble")

    @property
    def files(self) -> list[bytes]:
        return [value for value in self.arrived if value is not None]

    def send(self, *messages: Any) -> None:
        for message in messages:
            self.file.answer(message)


def piece(data: Any, begins: Any = True, size: Any = SIZE, name: Any = "mine.csv") -> dict[str, Any]:
    content = b64encode(data).decode() if isinstance(data, bytes) else data
    return {"name": name, "size": size, "begins": begins, "piece": content}


def test_a_file_arrives_in_pieces_and_may_be_sent_again() -> None:
    heard = Heard()
    heard.send(piece(TABLE[:5]), piece(TABLE[5:], begins=False), piece(TABLE))
    assert heard.files == [TABLE, TABLE]
    assert (heard.file.filename, heard.file.size) == ("mine.csv", len(TABLE))
    assert heard.said == []


@pytest.mark.parametrize("size", [0, 60 * MB])
def test_a_file_that_cannot_be_taken_gets_an_answer_and_keeps_nothing(size: int) -> None:
    heard = Heard()
    heard.send(piece(None, size=size))
    assert heard.files == [b""]
    assert heard.file.size == size
    heard.send(piece(TABLE))
    assert heard.files == [b"", TABLE]


def test_a_piece_that_is_a_number_makes_no_zeros() -> None:
    heard = Heard()
    tracemalloc.start()
    try:
        heard.send(piece(700_000_000, size=MB), piece(700_000_000, begins=False, size=MB))
        assert tracemalloc.get_traced_memory()[1] < 8 * MB
    finally:
        tracemalloc.stop()
    assert heard.said == [NOT_UNDERSTOOD]
    assert heard.files == []


@pytest.mark.parametrize(
    "messages",
    [
        [{}],
        [piece(TABLE, size=3)],
        [piece(TABLE[:5]), piece(TABLE, begins=False)],
        [piece(TABLE[:5]), piece(TABLE[5:], begins=False, size=99)],
        [piece(TABLE[:5]), piece(TABLE[5:], begins=False, name="other.csv")],
        [piece(TABLE, size=-1)],
        [piece(TABLE, size=True)],
        [piece(TABLE, size="19")],
        [piece(TABLE, name=None)],
        [piece([1, 2])],
        [piece("no base64!")],
        [piece(b"")],
    ],
    ids=range(12),
)
def test_messages_that_contradict_each_other_are_refused(messages: list[Any]) -> None:
    heard = Heard()
    heard.send(*messages)
    assert heard.said == [NOT_UNDERSTOOD]
    assert heard.files == []
    heard.send(piece(TABLE))
    assert heard.files == [TABLE]
    assert heard.file.trouble == ""


VALUE = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.binary(max_size=20) | st.just([1])
MESSAGE = st.fixed_dictionaries({}, optional={"name": VALUE, "size": VALUE, "begins": VALUE, "piece": VALUE})


@pytest.mark.full
@settings(max_examples=200, deadline=None)
@given(st.lists(MESSAGE, max_size=6))
def test_no_message_breaks_it_and_the_next_file_arrives(messages: list[Any]) -> None:
    heard = Heard()
    heard.send(*messages, piece(TABLE))
    assert heard.files[-1] == TABLE
