"""`mklviz bench`: ratios of alternating timings, a table and JSON; missing rivals are rows with a reason."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mklviz.bench import _suite, svm
from mklviz.bench._command import run_suites
from mklviz.bench._suite import Bench, Row, Suite, goal_words, load_suites
from mklviz.cli.commands import main
from mklviz.errors import MklvizError


def row(ratio: float = 20.0, goal: float | None = 10.0, name: str = "one kernel") -> Row:
    return Row(name, "ours", "theirs", 104, 0, 1.0, ratio, ratio, 0.9 * ratio, 1.1 * ratio, goal, "same answer")


def use(monkeypatch: pytest.MonkeyPatch, found: list[Row], interrupt: bool = False) -> None:
    """Let `mklviz bench` find one suite that yields `found`, and may then be interrupted."""

    def measure(bench: Bench) -> Iterator[Row]:
        yield from found
        if interrupt:
            raise KeyboardInterrupt

    suites = {"made": Suite("Made up", "For a test.", measure)}
    monkeypatch.setattr("mklviz.bench._command.load_suites", lambda names: suites)


def test_everything_compared_runs_in_every_round_in_an_order_that_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = {"now": 0.0}
    order: list[str] = []

    def spend(name: str, seconds: float) -> None:
        order.append(name)
        clock["now"] += seconds

    monkeypatch.setattr(_suite.time, "process_time", lambda: clock["now"])
    things = {"ours": lambda: spend("ours", 1.0), "theirs": lambda: spend("theirs", 8.0)}
    seconds = Bench(repeats=3).alternate(things)
    assert order[4:] == ["ours", "theirs", "theirs", "ours", "ours", "theirs"]  # after two runs each for the clock
    found = Row.of("sums", ("ours", seconds["ours"]), ("theirs", seconds["theirs"]), goal=5.0)
    assert (found.ours_ms, found.other_ms) == (1e3, 8e3)
    assert (found.least, found.ratio, found.most) == (8.0, 8.0, 8.0)
    assert found.met


def test_a_row_takes_the_median_and_the_extremes_of_the_ratios_of_its_rounds() -> None:
    found = Row.of("sums", ("ours", np.array([1.0, 2.0, 1.0])), ("theirs", np.array([3.0, 2.0, 8.0])), goal=4.0)
    assert (found.least, found.ratio, found.most) == (1.0, 3.0, 8.0)
    assert found.met is False
    assert goal_words(found) == "goal 4×: missed"


def test_numbers_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Row.missing("one kernel", "ours", "nobody", "nobody is not installed")
    use(monkeypatch, [row(), row(3.0), missing])
    written = tmp_path / "found.json"
    assert run_suites(json=written)
    found = json.loads(written.read_text())
    assert found["complete"] is True
    assert found["cpus"] >= 1
    assert found["versions"]["numpy"] == np.__version__
    ratios = found["suites"]["made"]["ratios"]
    assert [one["met"] for one in ratios] == [True, False, None]
    assert ratios[2]["ratio"] is None


def test_neither_host_nor_user_nor_folders_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import getpass
    import platform

    use(monkeypatch, [row()])
    run_suites(json=tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text()
    for private in (platform.node(), getpass.getuser(), str(tmp_path)):
        assert not re.search(rf"\b{re.escape(private)}\b", text)


def test_what_was_measured_before_ctrl_c_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, [row()], interrupt=True)
    assert main(["bench", "--json", str(tmp_path / "found.json")]) == 130
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["complete"] is False
    assert len(found["suites"]["made"]["ratios"]) == 1
    assert "Stopped; what was measured until here is kept." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "There is no benchmark suite 'nothing'; there are "),
        (["svm", "--json", "/no/such/folder/found.json"], "no folder /no/such/folder"),
    ],
)
def test_a_benchmark_that_cannot_be_is_one_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_every_suite_is_found_by_its_file_and_says_what_it_is() -> None:
    suites = load_suites()
    assert {"learn", "svm"} <= set(suites)
    for name, suite in suites.items():
        assert suite.title
        assert suite.about.endswith(".")
        assert load_suites([name])[name] is suite
    with pytest.raises(MklvizError, match="no benchmark suite '_suite'"):
        load_suites(["_suite"])


def test_both_svms_of_a_row_solve_the_same_problem() -> None:
    case = next(svm.drawn_cases((60,), (1.0,)))
    found = list(svm._rows(case, Bench(repeats=1)))
    assert {one.other for one in found} == {"SVC as called from Python", "LIBSVM's own call"}
    assert {one.ours for one in found} == {"inner SVM, cold", "inner SVM, warm"}
    for one in found:
        assert one.ratio == pytest.approx(one.other_ms / one.ours_ms)
        if one.note:
            higher = float(re.findall(r"[-+][0-9.e+-]+", one.note)[0].rstrip(","))
            assert abs(higher) < 1e-3  # both stop at a violation of 1e-3, in a value of about the margin times C
    middle = Row.median("median", [one for one in found if one.other == svm.LOW_LEVEL])
    assert middle.least <= middle.ratio <= middle.most
