"""Words, JSON, arguments, files, addresses and uploads made to do harm are understood or refused in a sentence."""

import io
import json
import subprocess
import sys
import tracemalloc
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from _corpus import ARGUMENTS, DIGITS, FAR, HOSTILE, JSON, WORDS, archive, member, parquet
from _waits import wait_for
from hostile import MOST_LETTERS, TARGETS, try_arguments, try_json, try_words
from hypothesis import given, settings
from hypothesis import strategies as st

from mklviz.cli import main
from mklviz.datasets import DataError, Dataset, read_dataset, read_dataset_bytes
from mklviz.errors import MklvizError
from mklviz.limits import LIMITS, Limits, machine_memory
from mklviz.recipe import Recipe
from mklviz.recipe.parsing import literal
from mklviz.recipe.words import read_words
from mklviz.record.store import EVERYBODY
from mklviz.unpacking import parquet_pages
from mklviz.views.form import File
from mklviz.views.session.launcher import Launch, Reopening, bounded
from mklviz.views.session.session import Session

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("text", WORDS, ids=range(len(WORDS)))
def test_hostile_words_are_understood_or_refused(text: str) -> None:
    try_words(text)


@pytest.mark.parametrize("text", JSON, ids=range(len(JSON)))
def test_hostile_json_is_understood_or_refused(text: str) -> None:
    try_json(text)


@pytest.mark.parametrize("words", ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_hostile_arguments_are_understood_or_refused(words: tuple[str, ...]) -> None:
    try_arguments(words)


@pytest.mark.parametrize(
    "text", [f"max-iter={FAR}", f"C=2^{DIGITS}", f"kernels=poly@{DIGITS}", f"solvers=level:lam={DIGITS}"]
)
def test_what_is_quoted_of_a_long_number_fits_into_a_line(text: str) -> None:
    _, wrong = read_words(text, Recipe())
    if not wrong:  # a name of a column, which only the data can refuse
        with pytest.raises(MklvizError) as caught:
            read_words(text, Recipe())[0].changed(source="iris").prepare()
        wrong = (str(caught.value),)
    assert all(len(sentence) < 400 for sentence in wrong)


def test_a_whole_number_that_no_double_holds_stays_a_word() -> None:
    assert literal("12") == 12
    assert literal(FAR) == FAR
    assert literal(DIGITS) == DIGITS


@pytest.mark.parametrize("values", ["C=1:2:99999999999999999999", f"C={DIGITS}", f"C=1:2:{DIGITS}", "C=1:inf:3"])
def test_values_of_a_path_that_nobody_could_wait_for_are_refused(
    values: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["path", "--data", "two_moons", "--kernels", "linear", "--vary", values]) == 2
    said = capsys.readouterr().err
    assert "is not understood: write NAME=FROM:TO:COUNT" in said
    assert len(said) < MOST_LETTERS


def test_errors_of_the_command_line_steer_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--data", "\x1b[31mred\x07.csv"]) == 2
    said = capsys.readouterr().err
    assert said.rstrip("\n").isprintable()
    assert main(["run", "--data", "n" * 5000]) == 2
    assert len(capsys.readouterr().err) < MOST_LETTERS


@pytest.mark.full
def test_what_is_drawn_is_refused_or_understood_in_bounded_memory() -> None:
    command = [sys.executable, str(ROOT / "tests" / "hostile.py"), "--cases", "80"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert done.stdout.count("none at fault") == len(TARGETS)


@pytest.mark.parametrize(("asked", "found"), [(None, LIMITS.race_seconds), (5.0, 5.0), (1e9, LIMITS.race_seconds)])
def test_a_race_in_the_dashboard_ends_though_nobody_stops_it(asked: float | None, found: float) -> None:
    recipe = Recipe().changed(max_seconds=asked)
    assert bounded(recipe).stop.max_seconds == found
    assert bounded(recipe).changed(max_seconds=asked) == recipe


def test_a_branch_of_a_race_of_the_past_ends_as_well_and_the_recipe_stays_as_it_was_asked_for() -> None:
    recipe, session = Recipe.from_words("data=two_moons; solvers=level"), Session(owner=EVERYBODY)
    prepared = recipe.prepare()
    Launch(recipe, 1).show(session, prepared, 1, 0.0)
    wait_for(lambda: len(session.race.traces["level"]), "the first step")
    trace = session.race.traces["level"]
    assert trace.recipe == recipe.to_json()
    Reopening(recipe, {"level": trace}).show(session, prepared, 1, 0.0)
    assert LIMITS.race_seconds in [getattr(rule, "seconds", None) for rule in session.race.runs["level"].rules]


PATIENCE = 300.0
SERVED = Path(__file__).with_name("_routes.py")


@pytest.mark.full
@pytest.mark.parametrize("code", ["right-1", pytest.param("", marks=pytest.mark.product)])
def test_no_route_ends_the_process_imports_a_module_or_breaks_down(code: str) -> None:
    done = subprocess.run([sys.executable, SERVED, code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["imported"] == []
    assert told["broken"] == []
    assert len(told["routes"]) >= 10
    assert {"/components/%s", "/explorer", "/static/%s", "/static/extensions/%s"} <= set(told["routes"])
    assert told["asked"] >= 400
    assert told["component"] == "200"  # what is there is found


# Files, refused by what they declare before room is made for them


MB, GB = 2**20, 2**30
SHORT = 400  # letters of a sentence


@pytest.mark.full
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence_and_in_little_memory(name: str) -> None:
    make, said = HOSTILE[name]
    data = make()
    assert len(data) < MB
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=said) as caught:
            read_dataset_bytes(data, name)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 32 * MB
    assert len(str(caught.value)) < SHORT
    assert str(caught.value).isprintable()


@pytest.mark.full
def test_labels_by_the_million_are_coded_as_texts_once_each() -> None:
    data = archive(X=member(np.arange(1_000_000.0)[:, None]), y=member(np.arange(1_000_000) % 2))
    found = read_dataset_bytes(data, "many.npz")
    assert (found.classes, found.y[:3].tolist()) == (("0", "1"), [-1.0, 1.0, -1.0])


def wide(columns: int, rows: int = 20) -> bytes:
    names = ",".join(f"c{j}" for j in range(columns))
    return "\n".join([names + ",y", *(f"{i}," * columns + str(i % 2) for i in range(rows))]).encode()


@pytest.mark.full
@pytest.mark.parametrize("columns", [2_000, pytest.param(30_000, marks=pytest.mark.product)])
def test_a_file_of_many_columns_is_read_and_split_and_a_note_on_dropped_ones_names_the_first(columns: int) -> None:
    found = read_dataset_bytes(wide(columns), "wide.csv")
    train, test = found.split(seed=0)
    assert train.n_features == test.n_features == columns
    note = Dataset("c", np.hstack([found.X * 0.0, found.X[:, :1]]), found.y).split()[0].notes[0]
    assert f"x12 and {columns - 12:,} more" in note
    assert len(note) < SHORT


def test_a_name_of_a_file_is_cut_and_steers_no_terminal(tmp_path: Path) -> None:
    for name in ("n" * 100_000 + ".csv", "\x1b[31mred\x07.csv"):
        with pytest.raises(DataError) as caught:
            read_dataset_bytes(b"a\n1\n", name)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < SHORT
        assert len(read_dataset_bytes(b"a,y\n1,0\n2,1\n", name).title) < 100
    for path in ("a\0b.csv", str(tmp_path / ("n" * 5000)), "\x1b[31m.csv"):
        with pytest.raises(DataError) as caught:
            read_dataset(path)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < SHORT


def test_a_target_that_is_no_column_is_cut_as_the_list_of_columns_is() -> None:
    with pytest.raises(DataError, match=r"no column \"q{40}…\". .* and 1,989 more") as caught:
        read_dataset_bytes(wide(2_000), "wide.csv", target="q" * 10_000)
    assert len(str(caught.value)) < SHORT


@pytest.mark.parametrize("size", [1e160, 1e308, 1e-170])
def test_numbers_whose_squares_overflow_are_said(size: float) -> None:
    X = np.column_stack([np.arange(8.0), size * np.array([1.0, -1.0] * 4)])
    data = Dataset("large", X, np.repeat([1.0, -1.0], 4))
    with pytest.raises(DataError, match="Column 'x2' cannot be standardized: its numbers reach 1e"):
        data.split()
    assert data.split(standardize=False)[0].n_features == 2


def test_a_table_that_will_not_do_is_refused_after_its_first_rows() -> None:
    body = b"1,2,3\n" * 20_000
    for start, target, said in (
        (b"a,b,y\n", "z", 'no column "z"'),
        (b"a," + b"n" * 1000 + b",y\n", None, "has a name of 1,000 letters"),
    ):
        seen: list[float] = []
        with pytest.raises(DataError, match=said):
            read_dataset_bytes(start + body, "long.csv", target=target, progress=seen.append)
        assert max(seen, default=0.0) < 0.1
    seen = []
    with pytest.raises(DataError, match="one column"):
        read_dataset_bytes(body.replace(b",", b""), "long.csv", progress=seen.append)
    assert max(seen, default=0.0) < 0.1


def test_the_pages_of_a_parquet_file_say_what_they_unpack_to_whatever_its_footer_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(0).integers(0, 256, 3_000_000, np.uint8).tobytes()
    data = parquet([values], "binary", 2, use_dictionary=False, write_statistics=False)
    chunk = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0)
    said = chunk.total_uncompressed_size
    for size in (said, pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).total_byte_size):
        data = data.replace(varint(size), varint(9, len(varint(size))))
    footer = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0)
    assert (footer.total_byte_size, footer.column(0).total_uncompressed_size) == (9, 9)
    assert sum(size for size, _, _ in parquet_pages(data, footer.column(0))) == pytest.approx(said, abs=200)
    monkeypatch.setattr("mklviz.datasets._read_binary.UNPACKED", 5_000_000)
    with pytest.raises(DataError, match="unpacks to more than 5 MB"):
        read_dataset_bytes(data, "belied.parquet")


def varint(number: int, letters: int = 0) -> bytes:
    """A whole number as Thrift writes it, or longer than need be."""
    packed, left = bytearray(), number << 1
    while left > 127 or len(packed) < letters - 1:
        packed.append(left & 127 | 128)
        left >>= 7
    return bytes([*packed, left])


def test_bytes_and_texts_with_prefixes_in_a_parquet_file_are_read_as_words() -> None:
    for words in ([b"u", b"v"], ["u", "v"]):
        kind = "binary" if isinstance(words[0], bytes) else "string"
        coded = {"use_dictionary": False, "column_encoding": {"x": "DELTA_BYTE_ARRAY"}}
        for options in ({}, coded):
            found = read_dataset_bytes(parquet(words, kind, 20, **options), "words.parquet")
            assert (found.feature_names, found.X.ravel().tolist()) == (("x=v",), [0.0, 1.0] * 10)


# the bounds themselves


def test_bounds_shrink_with_the_machine_and_stay_useful() -> None:
    small, large = Limits.of(GB), Limits.of(256 * GB)
    for name in ("cells", "gram_cells", "upload_bytes", "bank_bytes", "nystrom_bytes", "banks_bytes", "sessions"):
        assert 0 < getattr(small, name) < getattr(large, name), name
    for memory in (256 * MB, GB, 16 * GB, 256 * GB):
        limits = Limits.of(memory)
        assert 8 * limits.cells + limits.bank_bytes + limits.banks_bytes <= memory
        assert limits.preparations >= 1
        assert limits.sessions >= 8
    assert Limits.of(machine_memory()) == LIMITS


def test_the_memory_of_a_container_counts(tmp_path: Path) -> None:
    allowed = tmp_path / "memory.max"
    allowed.write_text(f"{512 * MB}\n")
    assert machine_memory(allowed) == 512 * MB
    allowed.write_text("max\n")
    assert machine_memory(allowed) > 512 * MB


# An upload whose messages lie, which leaves room for the next one


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
