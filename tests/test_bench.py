"""The benchmark of formulations measures what it says it does; small cases only, and no seconds are judged."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from measure import formulations
from measure.formulations import main
from measure.lp import SOLVERS, measure_lp
from measure.report import Row
from measure.spicy import exponents, measure_spicy
from measure.ufo import measure_ufo


def test_lp_norms_are_measured_by_every_method_in_both_forms() -> None:
    rows = list(measure_lp(("liver",), (1.5,), splits=1, max_seconds=0.5))
    methods = {norm: {row["method"] for row in rows if row["norm"] == norm} for norm in ("penalty", "ball")}
    assert methods["penalty"] == set(SOLVERS)
    # in the ball there is no penalty to follow, and SMO-MKL knows the penalty alone
    assert methods["ball"] == {name for name in SOLVERS if not name.endswith("exact")} - {"SMO-MKL"}
    for row in rows:
        assert (row["gap"] <= 1e-3) == (row["unfinished"] == "0 of 1")
        assert row["method"] != "PGD" or row["PGD_over"] == 1.0
        assert row["method"] != "SPG" or row["SPG_over"] == 1.0
        assert math.isnan(row["solves"]) == (row["method"] == "SMO-MKL")


def test_thousands_of_kernels_are_measured_on_one_problem_in_two_forms() -> None:
    rows = list(measure_spicy((100,), drawn=100, max_seconds=20.0))
    assert {(row["bank"], row["kernels"]) for row in rows} == {("widths", 136), ("subsets", 100)}
    for loss, methods in (("logistic", {"spicymkl", "spg"}), ("hinge", {"spicymkl", "spg", "newton"})):
        for form in ("simplex", "block 1"):
            found = [row for row in rows if (row["bank"], row["loss"], row["form"]) == ("widths", loss, form)]
            assert {row["method"] for row in found} == methods
            assert all(row["status"] == "converged" and row["gap"] <= 1e-2 for row in found)


def test_exponents_are_slopes_of_what_converged() -> None:
    def row(kernels: int, status: str) -> Row:
        seconds = 1e-3 * kernels**1.5 if status == "converged" else 7.0
        return Row(measured, kernels=kernels, cpu_s=seconds, status=status)

    measured = {"bank": "widths", "loss": "hinge", "form": "simplex", "method": "spg"}

    rows = [row(100, "converged"), row(1000, "converged"), row(3000, "converged"), row(10_000, "limit")]
    (found,) = exponents(rows)
    assert found["exponent"] == pytest.approx(1.5)
    assert found["sizes"] == 3
    assert not list(exponents(rows[:2]))


def test_ufo_is_measured_beside_silp_at_the_alphas_of_its_paper() -> None:
    rows = list(measure_ufo(("liver",), splits=1, max_seconds=0.3))
    assert [row["method"] for row in rows] == ["SILP", *["UFO, hinge"] * 3, *["UFO, logistic"] * 3]
    assert rows[0]["ratio"] == 1.0
    for row in rows:
        assert 0.0 <= row["accuracy"] <= 100.0
        assert 0 < row["kernels"] <= 91
        assert (row["good_s"] < math.inf) == (row["good_ratio"] > 0.0)
    kept = [row["kernels"] for row in rows if row["method"] == "UFO, hinge"]
    assert kept == sorted(kept, reverse=True)


def test_tables_are_printed_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = Row(
        bank="widths",
        kernels=136,
        loss="hinge",
        form="simplex",
        method="spg",
        cpu_s=0.0234,
        gap=math.nan,
        status="limit",
    )
    monkeypatch.setattr(formulations, "measure_spicy", lambda: iter([row]))
    main(["spicy", "--json", str(tmp_path / "found.json")])
    heads, values = capsys.readouterr().out.splitlines()[:2]
    assert heads.split()[:3] == ["bank", "kernels", "loss"]
    assert values.split() == ["widths", "136", "hinge", "simplex", "spg", "0.0234", "-", "limit"]
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert found["spicy"][0]["gap"] is None
    assert found["exponents"] == []


def test_unknown_parts_are_named_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["spicey"])
    assert "the parts are lp, spicy, ufo" in capsys.readouterr().err
