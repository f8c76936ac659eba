"""Pictures of sweeps: what they draw is what the statistics say, and what did not converge is seen."""

from __future__ import annotations

from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd
import pytest
from _sweeps import table, two_machines
from bokeh.models import LegendItem

import mklviz as mv
from mklviz.errors import ProblemError, UnknownName
from mklviz.sweeps.intervals import performance_profile
from mklviz.sweeps.outcomes import Outcomes
from mklviz.views.look.palette import DARK, LIGHT, contrast
from mklviz.views.look.styles import solver_styles, written_styles
from mklviz.views.pictures.style import rendered


def unlucky(data: str, split: int, solver: str) -> bool:
    return solver == "silp" and split == 1


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


def test_a_solver_that_is_not_installed_here_is_drawn_under_its_own_name() -> None:
    drawn = mv.plot.profile(table(solvers=["level", "theirs:step=2"]), "svm_solves")
    assert labels(rendered(drawn)) == {"Level", "theirs:step=2"}


def test_pairs_are_drawn_around_the_cost_of_one_solver() -> None:
    drawn = mv.plot.profile(table(splits=6), "svm_solves", against="level")
    figure = rendered(drawn)
    assert labels(figure) == {"SILP", "SPG"}
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
    with pytest.raises(ProblemError, match=r"train=0\.2,0\.4,0\.8"):
        mv.plot.growth(table(), "svm_solves")
    with pytest.raises(ProblemError, match="along"):
        mv.plot.growth(frame, along="data")  # type: ignore[arg-type]


def test_growth_of_runs_that_cannot_be_drawn_again_has_no_interval() -> None:
    frame = pd.concat([sized(size, train=[size]).query("split == 0") for size in (50.0, 100.0)], ignore_index=True)
    assert labels(rendered(mv.plot.growth(frame, "svm_solves"))) == {"Level: n^1.50", "SPG: n^1.50"}


@pytest.mark.parametrize("plot", [mv.plot.profile, mv.plot.spread, mv.plot.growth])
def test_what_is_no_sweep_is_refused_in_a_sentence(plot: Any) -> None:
    with pytest.raises(ProblemError, match=r"mv\.sweep"):
        plot({"a": 1})
