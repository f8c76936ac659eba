"""`mklviz bench`: ratios of alternating timings; what is measured of a page and of classifiers."""

import asyncio
import getpass
import json
import math
import os
import platform
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from _problems import blobs
from _reference import optimal_value
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from mklviz.bench import _suite, learn, svm
from mklviz.bench._rivals import FixedWeights, best_kernel, equal_weights, first_stage, largest_margin
from mklviz.bench._suite import Bench, Row, Suite, goal_words, load_suites, run_suites
from mklviz.bench._visitors import Crowd, Server, Visitor, crowd, left_alone, on_a_server, to_open
from mklviz.cli.commands import main
from mklviz.datasets import describe_datasets, load_dataset
from mklviz.engine import solve
from mklviz.kernels import KernelBank
from mklviz.problem import Hinge, Problem, Simplex
from mklviz.recipe.words import read_kernels
from mklviz.solvers.alignf import Alignf
from mklviz.solvers.easymkl import EasyMkl
from mklviz.typing import Array


def row(ratio: float = 20.0, goal: float | None = 10.0, name: str = "one kernel") -> Row:
    return Row(name, "ours", "theirs", 104, 0, 1.0, ratio, ratio, 0.9 * ratio, 1.1 * ratio, goal, "same answer")


def use(monkeypatch: pytest.MonkeyPatch, found: list[Row], interrupt: bool = False) -> None:
    """Let `mklviz bench` find one suite that yields `found`, and may then be interrupted."""

    def measure(bench: Bench) -> Iterator[Row]:
        yield from found
        if interrupt:
            raise KeyboardInterrupt

    suites = {"made": Suite("Made up", "For a test.", measure)}
    monkeypatch.setattr("mklviz.bench._suite.load_suites", lambda names: suites)


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
    found = Row.of("sums", ("ours", np.array([1.0, 2.0, 1.0])), ("theirs", np.array([3.0, 2.0, 8.0])), goal=4.0)
    assert (found.least, found.ratio, found.most) == (1.0, 3.0, 8.0)  # the median and the extremes of its rounds
    assert (found.met, goal_words(found)) == (False, "goal 4×: missed")


def test_numbers_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Row.missing("one kernel", "ours", "nobody", "nobody is not installed")
    use(monkeypatch, [row(), row(3.0), missing])
    written = tmp_path / "found.json"
    assert run_suites(json=written)
    text = written.read_text()
    for private in (platform.node(), getpass.getuser(), str(tmp_path)):
        assert not re.search(rf"\b{re.escape(private)}\b", text)
    found = json.loads(text)
    assert found["complete"] is True
    assert found["cpus"] >= 1
    assert found["versions"]["numpy"] == np.__version__
    ratios = found["suites"]["made"]["ratios"]
    assert [one["met"] for one in ratios] == [True, False, None]
    assert ratios[2]["ratio"] is None


def test_what_was_measured_before_ctrl_c_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, [row()], interrupt=True)
    assert main(["bench", "--json", str(tmp_path / "found.json")]) == 130
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["complete"] is False
    assert len(found["suites"]["made"]["ratios"]) == 1
    assert "Stopped; what was measured until here is kept." in capsys.readouterr().out


def test_every_suite_says_what_it_is_and_one_that_cannot_be_is_one_sentence(capsys) -> None:
    suites = load_suites()
    assert {"learn", "svm"} <= set(suites)
    for name, suite in suites.items():
        assert suite.title
        assert suite.about.endswith(".")
        assert load_suites([name])[name] is suite
    for words, said in {
        ("nothing",): "There is no benchmark suite 'nothing'; there are ",
        ("_suite",): "There is no benchmark suite '_suite'",
        ("svm", "--json", "/no/such/folder/found.json"): "no folder /no/such/folder",
    }.items():
        assert main(["bench", *words]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1


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


def test_a_visitor_reads_a_message_on_whose_reading_was_cut_short() -> None:
    async def read() -> int:
        sent = asyncio.Queue[str]()

        class Fed(Visitor):
            async def _part(self) -> str:
                return await sent.get()

        visitor = Fed(0)
        sent.put_nowait('{"msgtype": "PATCH-DOC", "num_buffers": 1}')
        await visitor.stay(0.01)
        for part in ("{}", "the content", "a buffer's header", "the buffer"):
            sent.put_nowait(part)
        await visitor.stay(0.01)
        return visitor.messages

    assert asyncio.run(read()) == 1


@pytest.mark.product
def test_visitors_who_come_at_once_all_see_their_races_end() -> None:
    async def measure(server: Server) -> tuple[Crowd, float, tuple[float, float]]:
        came = await crowd(server, 3)
        return came, await to_open(server, "?page=runs", 0.5), await left_alone(server, "?page=start", 2, 0.5, 0.5)

    came, opening, (idle, closed) = on_a_server(1, measure)
    assert len(came.pages) == len(came.races) == 3
    assert all(0.0 < page < race for page, race in zip(came.pages, came.races, strict=True))
    assert came.stall > 0.0
    cores = os.cpu_count() or 1
    assert 0.0 < came.cpu < cores * (max(came.races) + 60.0)
    assert opening > 0.0
    assert 0.0 <= idle <= cores
    assert 0.0 <= closed <= cores
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()  # nothing is left running


FEW = "gauss:1,4 poly:1"
MISSING = dict.fromkeys(learn.MKLPY, "MKLpy is not installed")


@pytest.fixture(autouse=True)
def _few_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"KERNELS": FEW, "CS": (10.0,)}.items():
        monkeypatch.setattr(learn, name, value)


@pytest.mark.full
def test_every_rival_has_a_row_with_times_and_accuracies() -> None:
    said: list[str] = []
    rows = list(learn.measure(Bench(quick=True, repeats=2, say=said.append)))
    kernels = ["Equal weights", "EasyMKL", "ALIGNF", "SMKL", "Best kernel", "LP-beta"]
    plain = [*kernels, "SVC, grid", "LogisticRegression, grid", "HistGradientBoosting"]
    missing, made = rows[:2], rows[2:]
    assert {row.other: row.note for row in missing} == MISSING
    assert [row.other for row in made] == [f"{learn.OURS}, p too", *plain]
    assert {row.ours for row in rows} == {learn.OURS}
    for row in made:
        assert row.ratio > 0.0
        assert row.note.startswith("ours ")
        assert row.note.count("% right") == 2
    assert len(said) == 2 * 11  # two folds, eleven classifiers


@pytest.mark.full
def test_scores_are_those_of_the_fold_left_out() -> None:
    made, reasons = learn.contestants()
    assert reasons == MISSING
    scores = learn.compare("liver", 3, made, lambda words: None)
    for score in scores.values():
        assert score.accuracy.shape == score.fit.shape == score.predict.shape == (3,)
        assert 0.5 < score.accuracy.mean() < 0.9  # a hard table, on which all are better than chance
        assert np.isfinite(score.fit).all()


def test_without_scikit_learn_there_is_a_reason(without: Callable[[str], None]) -> None:
    assert "learn" in load_suites(["learn"])
    without("sklearn")
    (row,) = learn.measure(Bench(quick=True))
    assert math.isnan(row.ratio)
    assert "sklearn" in row.note


def test_the_tables_are_all_those_with_two_classes_but_adult_and_bounded() -> None:
    two = [info.name for info in describe_datasets() if info.kind == "table" and info.task == "binary"]
    assert sorted(("adult", *learn.TABLES)) == sorted(two)
    X, y = learn.bounded("letter")
    every = load_dataset("letter").y
    assert len(X) == len(y) == learn.MOST
    assert (y == y.max()).mean() == pytest.approx((every == every.max()).mean(), abs=1 / learn.MOST)


def unit_bank(X: Array) -> KernelBank:
    return KernelBank.build(X, read_kernels("gauss:0.5,2 poly:1,2"), "diagonal")


def thirds() -> StratifiedKFold:
    return StratifiedKFold(3, shuffle=True, random_state=0)


@pytest.mark.parametrize("method", [Alignf(), EasyMkl()])
def test_methods_in_two_stages_weigh_here_as_in_a_race(method: Alignf | EasyMkl) -> None:
    X, y = blobs(30, 0.2)
    bank = unit_bank(X)
    raced = solve(Problem(bank, y, Hinge(3.0), Simplex()), method).final.weights
    np.testing.assert_array_equal(first_stage(method)(bank, y), raced)


def test_equal_weights_are_an_svc_on_the_mean_kernel() -> None:
    X, y = blobs(40, 0.4)
    made = FixedWeights(FEW, equal_weights, (3.0,), thirds()).fit(X[:30], y[:30])
    bank = KernelBank.build(X[:30], read_kernels(FEW), "diagonal")
    mean = np.mean([bank.combine(unit) for unit in np.eye(len(bank))], axis=0)
    across = np.mean([bank.cross(X[30:]).combine(unit) for unit in np.eye(len(bank))], axis=0)
    theirs = SVC(C=3.0, kernel="precomputed").fit(mean, y[:30])
    np.testing.assert_array_equal(made.predict(X[30:]), theirs.predict(across))


def test_the_best_kernel_is_the_one_whose_own_machine_is_right_most_often() -> None:
    X, y = blobs(60, 0.8)
    bank = unit_bank(X)
    alone = [
        (cross_val_predict(SVC(kernel="precomputed"), bank.combine(unit), y, cv=thirds()) == y).mean()
        for unit in np.eye(len(bank))
    ]
    weights = best_kernel(thirds())(bank, y)
    assert weights.tolist() == [float(k == np.argmax(alone)) for k in range(len(bank))]


@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_lp_beta_solves_its_linear_program(nu: float) -> None:
    """The weights are those of the largest margin, with at most a share nu of the samples below it."""
    rng = np.random.default_rng(0)
    signs = np.resize([1.0, -1.0], 40)
    decisions = 0.5 * signs[:, None] * rng.random(6) + rng.normal(size=(40, 6))
    found = largest_margin(decisions, signs, nu)
    beta, slack, rho = cp.Variable(6, nonneg=True), cp.Variable(40, nonneg=True), cp.Variable()
    margins = cp.multiply(signs, decisions @ beta)
    posed = cp.Problem(cp.Minimize(cp.sum(slack) / (nu * 40) - rho), [margins + slack >= rho, cp.sum(beta) == 1])
    best = optimal_value(posed, 1e-8)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    ours = signs * (decisions @ found)
    prices = [np.maximum(level - ours, 0.0).sum() / (nu * 40) - level for level in ours]  # rho is one of the margins
    assert min(prices) == pytest.approx(best, rel=1e-6)
    level = ours[int(np.argmin(prices))]
    assert (ours < level - 1e-9).mean() <= nu


def test_the_page_on_it_has_a_row_for_every_table_and_three_more_rivals_on_some() -> None:
    page = (Path(__file__).resolve().parents[1] / "apps" / "docs" / "learning_kernels.md").read_text()
    made, others = learn.contestants()
    later = 3
    unmeasured = {"MKLpy's AverageMKL", "SMKL"}  # the first is that of equal weights
    columns = len({*made, *others} - unmeasured) - later
    main, more = ([line.split()[1] for line in page.splitlines() if line.count("±") == k] for k in (columns, later))
    assert sorted(main) == sorted(learn.TABLES)
    assert more
    assert set(more) < set(main)
