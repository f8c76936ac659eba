"""Statistics of sweeps, against brute force and closed forms, and the pictures that draw them."""

import math
from itertools import combinations, product
from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd
import pytest
from _sweeps import table, two_machines
from bokeh.models import LegendItem
from scipy import stats

import mklviz as mv
from mklviz.errors import ProblemError, UnknownName
from mklviz.sweeps import MemberOutcome, Sweep, SweepTable
from mklviz.sweeps.intervals import Resampling, growths, pair_profile, paired_differences, performance_profile, spreads
from mklviz.sweeps.outcomes import Outcomes, measure_of
from mklviz.views.look.palette import DARK, LIGHT, contrast
from mklviz.views.look.styles import solver_styles, written_styles
from mklviz.views.pictures.style import rendered


def unlucky(data: str, split: int, solver: str) -> bool:
    return solver == "silp" and split == 1


def test_on_one_machine_seconds_are_compared_and_on_two_mean_kernel_fits() -> None:
    frame = table()
    assert measure_of(frame).column == "seconds"
    assert measure_of(two_machines(frame)).column == "fits"
    assert measure_of(two_machines(frame).assign(fits=np.nan)).column == "svm_solves"
    with pytest.raises(ProblemError, match=r"2 machines, whose seconds do not compare: ask for svm_solves"):
        Outcomes.of(two_machines(frame), "seconds")
    assert "(2 machines: seconds do not compare)" in Outcomes.of(two_machines(frame), "svm_solves").words
    assert Outcomes.of(frame, "seconds").words == "CPU seconds"


@pytest.mark.parametrize("wrong", [3, {"a": 1}, pd.DataFrame({"a": [1]}), table().iloc[:0]])
@pytest.mark.parametrize("take", [Outcomes.of, mv.plot.profile, mv.plot.spread, mv.plot.growth])
def test_what_is_no_table_of_results_is_refused_in_a_sentence(take: Any, wrong: object) -> None:
    with pytest.raises(ProblemError, match=r"mv\.sweep|has finished yet"):
        take(wrong)


def test_methods_that_solve_no_svm_are_left_out_where_svm_solves_are_counted() -> None:
    frame = table(solvers=("level", "smo-mkl"), cost=lambda data, split, solver: 0.0 if solver == "smo-mkl" else 7.0)
    outcomes = Outcomes.of(frame, "svm_solves")
    assert outcomes.solvers == ("level",)
    assert outcomes.uncounted == ("smo-mkl",)
    with pytest.raises(ProblemError, match="another measure"):
        Outcomes.of(frame[frame["solver"] == "smo-mkl"], "svm_solves")


def test_runs_that_did_not_converge_are_counted_and_not_averaged() -> None:
    frame = table(splits=5, missed=unlucky)
    found = spreads(Outcomes.of(frame, "svm_solves"))
    assert {spread.solver for spread in found} == set(frame["solver"])
    for spread in found:
        runs = frame[(frame["data"] == spread.title) & (frame["solver"] == spread.solver)]
        solved = runs[runs["status"] == "converged"]["svm_solves"]
        assert spread.mean == pytest.approx(solved.mean())
        assert spread.deviation == pytest.approx(solved.std())
        assert spread.quartiles == pytest.approx(tuple(solved.quantile([0.25, 0.5, 0.75])))
        assert spread.missed == (1 if spread.solver == "silp" else 0)
        assert spread.runs == 5


def test_where_there_is_no_gap_the_rule_that_fired_is_the_end_and_settings_make_rows_of_their_own() -> None:
    frame = table(splits=2).assign(status="rule", gap=np.nan)
    assert Outcomes.of(frame).solved.all()
    assert not Outcomes.of(frame.assign(gap=0.1)).solved.any()
    titles = [spread.title for spread in spreads(Outcomes.of(table(data=["sonar"], C=(1.0, 10.0)), "svm_solves"))]
    assert titles == ["sonar, C = 1"] * 3 + ["sonar, C = 10"] * 3


def test_a_sweep_over_gaps_and_kernels_keeps_them_beside_what_runs_had_found() -> None:
    sweep = Sweep.from_words("data=heart; solvers=level; gap=1e-2,1e-3; kernels=gauss:1@all | poly:1@all")
    ended = {each.key: MemberOutcome(each.key, "converged", svm_solves=7, gap=1e-4) for each in sweep.members}
    outcomes = Outcomes.of(SweepTable(sweep, ended), "svm_solves")
    settings = product(("gaussian", "polynomial"), (0.01, 0.001))
    titles = [f"heart, kernels = {kernel}:1@all, gap = {gap}" for kernel, gap in settings]
    assert [case.title for case in outcomes.cases] == titles


def test_the_interval_of_normal_differences_is_students() -> None:
    rng = np.random.default_rng(3)
    change = rng.normal(0.2, 0.5, 12)
    cost = lambda data, split, solver: float(np.exp(change[split] if solver == "level" else 0.0))  # noqa: E731
    frame = table(["sonar"], 12, ("level", "spg"), cost)
    (found,) = paired_differences(Outcomes.of(frame, "svm_solves"), replicates=40_000)
    low, high = stats.t.interval(0.95, 11, change.mean(), change.std(ddof=1) / math.sqrt(12))
    assert math.log(found.value) == pytest.approx(change.mean())
    assert (math.log(found.low), math.log(found.high)) == pytest.approx((low, high), abs=0.06 * (high - low))


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    unit = np.arange(10)
    held = {"expanded": 0, "plain": 0}
    for trial in range(400):
        sample = rng.normal(size=10)
        drawn = Resampling.of(unit, 0 * unit, seed=trial, replicates=500)
        means = drawn.counts @ sample / 10.0
        intervals = {"expanded": drawn.interval(means), "plain": np.quantile(means, [0.025, 0.975])}
        for name, (low, high) in intervals.items():
            held[name] += bool(low <= 0.0 <= high)
    assert held["plain"] < held["expanded"]
    assert 0.91 <= held["expanded"] / 400 <= 0.98


def test_splits_are_drawn_within_their_data_and_settings_stay_together() -> None:
    unit, group = np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    drawn = Resampling.of(unit, group, replicates=200)
    assert drawn.freedom == 2
    assert np.array_equal(drawn.counts[:, ::2], drawn.counts[:, 1::2])
    assert (drawn.counts[:, :4].sum(axis=1) == 4.0).all()
    single = Resampling.of(np.arange(3), np.arange(3), replicates=200)  # one split of each data set: data are drawn
    assert single.freedom == 2
    assert single.counts.max() == 3.0


def test_two_solvers_are_compared_on_what_both_solved_and_the_rest_is_counted() -> None:
    missed = {("silp", 1), ("level", 1), ("spg", 2)}
    frame = table(splits=6, missed=lambda data, split, solver: (solver, split) in missed)
    wide = frame.pivot_table(index=["data", "split"], columns="solver", values="svm_solves")
    status = frame.pivot_table(index=["data", "split"], columns="solver", values="status", aggfunc="first")
    found = paired_differences(Outcomes.of(frame, "svm_solves"), replicates=200)
    assert [(pair.first, pair.second) for pair in found] == list(combinations(("silp", "level", "spg"), 2))
    for pair in found:
        solved = status[[pair.first, pair.second]] == "converged"
        both = solved.all(axis=1)
        ratio = wide[pair.first][both] / wide[pair.second][both]
        assert pair.value == pytest.approx(np.exp(np.log(ratio).mean()))
        assert pair.low <= pair.value <= pair.high
        assert pair.pairs == both.sum()
        assert pair.less == (ratio < 1.0).sum()
        only = (solved[pair.first] & ~both).sum(), (solved[pair.second] & ~both).sum(), (~solved.any(axis=1)).sum()
        assert (pair.first_only, pair.second_only, pair.neither) == only


def test_swapping_two_solvers_turns_the_ratio_round_and_scores_differ_by_a_difference() -> None:
    frame = table(splits=8)
    one, other = (
        {pair.first: pair for pair in paired_differences(Outcomes.of(frame, "svm_solves"), against=solver)}
        for solver in ("level", "silp")
    )
    assert one["silp"].value == pytest.approx(1.0 / other["level"].value)
    assert one["silp"].low == pytest.approx(1.0 / other["level"].high)
    frame["score"] += np.where(frame["solver"] == "level", 0.05, 0.0)
    (pair, *_) = paired_differences(Outcomes.of(frame, "score"), against="silp")
    assert (pair.first, pair.value) == ("level", pytest.approx(0.05))


@pytest.mark.parametrize("splits", [1, 2, 4])
def test_of_fewer_than_five_splits_there_is_no_interval(splits: int) -> None:
    few = paired_differences(Outcomes.of(table(data=["sonar"], splits=splits), "svm_solves"))
    assert all(math.isnan(pair.low) and math.isnan(pair.high) and pair.pairs == splits for pair in few)
    enough = paired_differences(Outcomes.of(table(data=["sonar"], splits=5), "svm_solves"))
    assert all(pair.low <= pair.value <= pair.high for pair in enough)


def brute(frame: pd.DataFrame, solver: str, tau: float) -> float:
    """Return the share of cases with a cost of at most tau times the least, one case at a time."""
    shares = []
    for _, case in frame.groupby(["data", "split"]):
        rows = case.itertuples(index=False)
        costs = {row.solver: row.svm_solves if row.status == "converged" else math.inf for row in rows}
        shares.append(costs[solver] < math.inf and costs[solver] <= tau * min(costs.values()))
    return float(np.mean(shares))


@pytest.mark.parametrize("tau", [1.0, 1.2, 2.0, 3.7, 50.0])
def test_a_profile_is_what_counting_case_by_case_gives(tau: float) -> None:
    frame = table(splits=9, missed=unlucky)
    profile = performance_profile(Outcomes.of(frame, "svm_solves"))
    for solver in profile.solvers:
        assert profile.share(solver, tau) == pytest.approx(brute(frame, solver, tau))


def test_a_curve_ends_at_the_share_that_was_solved_and_what_nobody_solved_counts_against_everybody() -> None:
    profile = performance_profile(Outcomes.of(table(splits=8, missed=unlucky), "svm_solves"))
    assert profile.steps("silp")[1][-1] == pytest.approx(14 / 16)
    assert profile.steps("level")[1][-1] == pytest.approx(1.0)
    assert (profile.missed("silp"), profile.cases("silp")) == (2, 16)
    profile = performance_profile(Outcomes.of(table(missed=lambda data, split, solver: split == 0), "svm_solves"))
    assert [profile.share(solver, 1e9) for solver in profile.solvers] == pytest.approx([0.75] * 3)


def test_cases_without_a_run_of_every_solver_are_left_out_and_counted() -> None:
    frame = table(splits=4)
    profile = performance_profile(Outcomes.of(frame.iloc[:-1], "svm_solves"))
    assert (profile.left_out, profile.cases("silp")) == (1, 7)
    lonely = frame[(frame["solver"] == "level") == (frame["split"] == 0)]
    with pytest.raises(ProblemError, match="run of every solver"):
        performance_profile(Outcomes.of(lonely, "svm_solves"))


def test_the_order_of_two_solvers_may_change_with_a_third_and_pairwise_it_does_not() -> None:
    costs = {"a": (1.0, 3.0, 3.0), "b": (2.0, 2.0, 2.0), "c": (9.0, 1.0, 1.0)}

    def frame(*solvers: str) -> pd.DataFrame:
        return table(["sonar"], 3, solvers, lambda data, split, solver: costs[solver][split])

    def best(profile_of: pd.DataFrame) -> list[float]:
        profile = performance_profile(Outcomes.of(profile_of, "svm_solves"))
        return [profile.share(solver, 1.0) for solver in ("a", "b")]

    alone, three = best(frame("a", "b")), best(frame("a", "b", "c"))
    assert alone[0] < alone[1]
    assert three[0] > three[1]
    for solvers in (("a", "b"), ("a", "b", "c")):
        pair = pair_profile(Outcomes.of(frame(*solvers), "svm_solves"), "b")
        assert pair.share("a", 1.0) == pytest.approx(1 / 3)


@pytest.mark.parametrize("tau", [1.0, 1.5, 2.5, 8.0])
def test_one_line_of_a_pair_holds_the_profiles_of_both(tau: float) -> None:
    outcomes = Outcomes.of(table(splits=30), "svm_solves")
    both, pair = performance_profile(outcomes.among(["silp", "level"])), pair_profile(outcomes, "level")
    assert pair.share("silp", tau) == pytest.approx(both.share("silp", tau))
    below = 1.0 - pair.share("silp", (1.0 - 1e-12) / tau)
    assert below == pytest.approx(both.share("level", tau))


def grown(exponent: float, noise: float = 0.0, missed: bool = False) -> pd.DataFrame:
    """Return runs on shares of two data sets whose cost is c n^exponent, c another for each of the data."""
    rng, rows = np.random.default_rng(1), []
    for name, factor, n in (("sonar", 1.0, 200), ("heart", 40.0, 100)):
        for train in (0.1, 0.2, 0.4, 0.8):
            frame = table([name], 6, ["level"], train=[train])
            size = n * train
            cost = factor * size**exponent * np.exp(noise * rng.normal(size=len(frame)))
            status = "limit" if missed and train == 0.8 else "converged"
            rows.append(frame.assign(svm_solves=cost, samples=size, status=status))
    return pd.concat(rows, ignore_index=True)


def test_the_exponent_is_that_within_data_sets_whose_costs_differ_besides() -> None:
    (found,) = growths(Outcomes.of(grown(1.7), "svm_solves"), replicates=100)
    assert found.within
    assert (found.exponent, found.low, found.high) == pytest.approx((1.7, 1.7, 1.7))
    assert np.polyfit(np.log(found.x), np.log(found.line), 1)[0] == pytest.approx(1.7)


def test_the_exponent_of_noisy_costs_is_least_squares_with_an_intercept_for_each_data_set() -> None:
    frame = grown(1.2, noise=0.2)
    own = [frame["data"] == name for name in ("sonar", "heart")]
    design = np.column_stack([np.log(frame["samples"]), *own]).astype(float)
    answer, residual, *_ = np.linalg.lstsq(design, np.log(frame["svm_solves"]), rcond=None)
    (found,) = growths(Outcomes.of(frame, "svm_solves"))
    assert found.exponent == pytest.approx(answer[0])
    deviation = math.sqrt(residual[0] / (len(frame) - 3) * np.linalg.inv(design.T @ design)[0, 0])
    assert 2.5 * deviation < found.high - found.low < 7.0 * deviation
    assert found.low < 1.2 < found.high
    assert (found.band_low <= found.line).all()
    assert (found.line <= found.band_high).all()


def test_between_data_sets_of_one_size_each_there_is_one_line_and_runs_that_did_not_converge_are_not_fitted() -> None:
    frame = table(["a", "bb", "cccc"], 3, ["spg"], lambda data, split, solver: (100.0 + len(data)) ** 2)
    (found,) = growths(Outcomes.of(frame, "svm_solves"), replicates=50)
    assert not found.within
    assert found.exponent == pytest.approx(2.0)
    (found,) = growths(Outcomes.of(grown(1.5, missed=True), "svm_solves"), replicates=50)
    assert found.missed == 12
    assert found.exponent == pytest.approx(1.5)
    assert found.sizes.max() == pytest.approx(80.0)


# Pictures: what they draw is what the statistics say, and what did not converge is seen


def labels(figure: Any) -> set[str]:
    return {item.label.value for item in figure.select(LegendItem)}


def sized(size: float, **options: Any) -> pd.DataFrame:
    return table(["sonar"], 5, ["level", "spg"], lambda data, split, solver: size**1.5, **options).assign(samples=size)


@pytest.mark.full
def test_a_profile_draws_the_curve_of_each_solver_and_counts_what_did_not_converge() -> None:
    frame = table(splits=6, missed=unlucky)
    drawn = mv.plot.profile(frame, "svm_solves")
    found = performance_profile(Outcomes.of(frame, "svm_solves"))
    lines = {line.label.partition(" (")[0]: line for line in drawn if isinstance(line, hv.Curve)}
    assert set(lines) == {"SILP", "Level", "SPG"}
    for solver, label in (("silp", "SILP"), ("level", "Level"), ("spg", "SPG")):
        for tau, share in lines[label].array():
            assert share == pytest.approx(found.share(solver, tau))
    assert labels(rendered(drawn)) == {"SILP (2 not converged)", "Level", "SPG"}
    assert rendered(drawn).title.text == "12 cases"


def test_solvers_have_the_colours_dashes_and_markers_that_they_have_everywhere() -> None:
    solvers = ["silp", "level", "level:lam=0.3"]
    for theme in (LIGHT, DARK):
        styles = written_styles(solvers, theme)
        race = solver_styles({name: mv.engine.make_solver(name) for name in ("silp", "level")}, theme)
        assert (styles["silp"], styles["level"]) == (race["silp"], race["level"])
        assert styles["level:lam=0.3"].label == "Level, lam=0.3"
        assert styles["level:lam=0.3"].dash != styles["level"].dash
        assert min(contrast(style.colour, theme.card) for style in styles.values()) >= 3.0


def test_pairs_are_drawn_around_the_cost_of_one_solver_and_one_that_is_not_installed_under_its_own_name() -> None:
    figure = rendered(mv.plot.profile(table(solvers=["silp", "level", "theirs:step=2"]), "svm_solves", against="level"))
    assert labels(figure) == {"SILP", "theirs:step=2"}
    assert figure.x_range.start < 1.0 < figure.x_range.end
    assert "cost of Level" in figure.xaxis[0].axis_label
    with pytest.raises(UnknownName, match="levle"):
        mv.plot.profile(table(), against="levle")


@pytest.mark.full
@pytest.mark.parametrize("plot", [mv.plot.profile, mv.plot.spread])
def test_of_two_machines_no_seconds_are_drawn_and_the_figure_says_so(plot: Any) -> None:
    frame = two_machines(table())
    words = rendered(plot(frame)).xaxis[0].axis_label
    assert "mean-kernel fits (2 machines: seconds do not compare)" in words
    assert "SVM solves (2 machines" in rendered(plot(frame, "svm_solves")).xaxis[0].axis_label
    with pytest.raises(ProblemError, match="2 machines"):
        plot(frame, "seconds")
    assert "machines" not in rendered(plot(table())).xaxis[0].axis_label


def test_a_spread_shows_every_run_its_quartiles_and_what_did_not_converge_hollow() -> None:
    frame = table(["sonar"], 9, missed=unlucky)
    drawn = mv.plot.spread(frame, "svm_solves")
    dots = [each for each in drawn if isinstance(each, hv.Scatter) and not each.label]
    solved = frame[frame["status"] == "converged"]["svm_solves"]
    shown = np.concatenate([each.dimension_values(0) for each in dots[::2]])
    hollow = np.concatenate([each.dimension_values(0) for each in dots[1::2]])
    assert sorted(shown) == sorted(solved)
    assert hollow.tolist() == frame[frame["status"] == "limit"]["svm_solves"].tolist()
    bars = np.concatenate([each.array() for each in drawn if isinstance(each, hv.Segments)])
    level = frame[frame["solver"] == "level"]["svm_solves"]
    assert [level.quantile(0.25), level.quantile(0.75)] in bars[:, [0, 2]].tolist()
    assert rendered(drawn).title.text == "27 runs; 1 did not converge (hollow)"


def test_growth_says_its_exponent_and_where_there_is_none_what_to_sweep() -> None:
    frame = pd.concat([sized(size, train=[size]) for size in (50.0, 100.0, 200.0)], ignore_index=True)
    assert labels(rendered(mv.plot.growth(frame, "svm_solves"))) == {
        f"{name}: n^1.50 (1.50 to 1.50)" for name in ("Level", "SPG")
    }
    alone = frame.query("split == 0")  # runs that cannot be drawn again
    assert labels(rendered(mv.plot.growth(alone, "svm_solves"))) == {"Level: n^1.50", "SPG: n^1.50"}
    with pytest.raises(ProblemError, match=r"train=0\.2,0\.4,0\.8"):
        mv.plot.growth(table(), "svm_solves")
    with pytest.raises(ProblemError, match="along"):
        mv.plot.growth(frame, along="data")  # type: ignore[arg-type]
