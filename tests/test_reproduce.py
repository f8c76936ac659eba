"""The claims of the papers: what decides them, what their runs say, and where they are shown."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from _sweeps import table
from _ticks import visit
from _undrawn import draw_none

from mklviz.cli import main
from mklviz.errors import ProblemError
from mklviz.record.store import Store
from mklviz.reproduce import (
    Alike,
    AtLeast,
    BetweenSettings,
    DigitsPerStep,
    Estimate,
    FirstOverRest,
    GrowthExponent,
    Mean,
    MeanDifference,
    MoreThan,
    PaperClaim,
    PathExponent,
    PrecisionExponent,
    Quotient,
    Ratio,
    RatioAcross,
    WholePath,
    Within,
    answer_stored,
    answering,
    reproduce,
)
from mklviz.reproduce.answering import ClaimAnswer, ClaimRow, contrary_text, measured_text, row_texts, verdict_of
from mklviz.reproduce.claim import DOES_NOT, PARTLY, REPRODUCES, UNKNOWN, UNTESTABLE
from mklviz.reproduce.claims import all_claims, load_claim
from mklviz.reproduce.estimates import ALL_DATA
from mklviz.reproduce.recorded import how_many_text, recorded_answers, stated_answers
from mklviz.sweeps import Sweep, SweepRun
from mklviz.sweeps.member import MemberOutcome
from mklviz.views.chart.description import PointMark
from mklviz.views.chart.svg import drawing
from mklviz.views.explorer.claim_card import claim_chart, claim_height, claim_signs, claim_tables
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.form import Note
from mklviz.views.look.palette import LIGHT
from mklviz.views.sidebar.scenario_panel import CHANGED, CHANGED_CLAIM, OF_CLAIM
from mklviz.views.sidebar.sidebar import Sidebar

TINY = PaperClaim(
    name="tiny",
    paper="Nobody, Nothing, 2026",
    place="Table 1",
    sentence="Level solves no fewer SVMs than Level.",
    setup="data=heart,vote; train=0.2; split=0...4; solvers=level,newton; kernels=gauss:1,2@all",
    quick="data=heart",
    paper_rule="gap=none; iterate-gap=1e-2; max-iter=50",
    quantity=Ratio("svm_solves", "level", "newton"),
    decided_by=MoreThan(0.01),
    published={"heart": 2.0},
)


@pytest.mark.parametrize(
    ("rule", "estimate", "published", "verdict"),
    [
        (MoreThan(1.0), Estimate(2.0, 1.5, 3.0), math.nan, REPRODUCES),
        (MoreThan(1.0), Estimate(2.0, 0.5, 3.0), math.nan, PARTLY),
        (MoreThan(1.0), Estimate(0.9, 0.5, 3.0), math.nan, DOES_NOT),
        (MoreThan(1.0), Estimate(2.0), math.nan, REPRODUCES),  # no interval of too few splits
        (AtLeast(0.5), Estimate(6.0, 4.0, 9.0), 10.0, REPRODUCES),
        (AtLeast(0.5), Estimate(4.0, 3.0, 9.0), 10.0, PARTLY),
        (AtLeast(0.5), Estimate(0.8, 0.7, 0.9), 10.0, DOES_NOT),
        (Alike(0.01), Estimate(0.0, -0.005, 0.005), math.nan, REPRODUCES),
        (Alike(0.01), Estimate(0.0, -0.02, 0.02), math.nan, PARTLY),
        (Alike(0.01), Estimate(0.03, 0.02, 0.04), math.nan, DOES_NOT),
        (Alike(1.0, of_published=True), Estimate(7.0, 6.5, 7.5), 7.2, REPRODUCES),
        (Within(0.5, 2.0), Estimate(1.0, 0.6, 1.5), math.nan, REPRODUCES),
        (Within(0.5, 2.0), Estimate(1.0, 0.4, 1.5), math.nan, PARTLY),
        (Within(0.5, 2.0), Estimate(3.0, 2.5, 3.5), math.nan, DOES_NOT),
        *((rule, Estimate(), 1.0, UNKNOWN) for rule in (MoreThan(), AtLeast(), Alike(1.0), Within(0.0, 1.0))),
    ],
)
def test_a_rule_looks_at_the_interval_and_at_the_papers_value(
    rule: MoreThan | AtLeast | Alike | Within, estimate: Estimate, published: float, verdict: str
) -> None:
    assert rule.verdict(estimate, published) == verdict
    assert rule.words


def _rows(**verdicts: str) -> list[ClaimRow]:
    titled = {{"whole": ALL_DATA}.get(title, title): said for title, said in verdicts.items()}
    return [ClaimRow(title, math.nan, Estimate(), Estimate(), said) for title, said in titled.items()]


def test_a_claim_holds_where_it_holds_over_all_data_and_none_contradicts() -> None:
    assert verdict_of(TINY, _rows(heart=PARTLY, vote=REPRODUCES, whole=REPRODUCES)) == REPRODUCES
    assert verdict_of(TINY, _rows(heart=DOES_NOT, vote=REPRODUCES, whole=REPRODUCES)) == PARTLY
    assert verdict_of(TINY, _rows(heart=PARTLY, vote=DOES_NOT, whole=DOES_NOT)) == DOES_NOT
    assert verdict_of(TINY, _rows(heart=DOES_NOT)) == DOES_NOT
    assert verdict_of(TINY, _rows(heart=REPRODUCES, vote=UNKNOWN)) == REPRODUCES
    assert verdict_of(TINY, []) == UNKNOWN


def test_a_mean_of_opposites_is_no_reproduction_and_both_numbers_are_said() -> None:
    """By one of the stop rules one solver takes half the steps on one set, and four times as many on the other."""
    near, halved, fourfold = Estimate(1.0, 0.8, 1.3), Estimate(0.43, 0.31, 0.62), Estimate(4.73, 3.31, 6.73)
    rows = [
        ClaimRow("heart", math.nan, near, halved, PARTLY),
        ClaimRow("vote", math.nan, near, fourfold, PARTLY),
        ClaimRow(ALL_DATA, math.nan, near, Estimate(1.4, 1.2, 1.8), REPRODUCES),
    ]
    claim = replace(TINY, quantity=Ratio("steps", "level", "silp"), decided_by=Within(0.5, 2.0))
    assert verdict_of(claim, rows) == PARTLY
    said = contrary_text(ClaimAnswer(claim, PARTLY, tuple(rows)))
    assert "all of these: 1× (0.8× to 1.3×) and 1.4× (1.2× to 1.8×)" in said
    assert "heart: 1× (0.8× to 1.3×) and 0.43× (0.31× to 0.62×)" in said
    assert "vote: 1× (0.8× to 1.3×) and 4.73× (3.31× to 6.73×)" in said
    alike = [replace(rows[0], certified=near), *rows[2:]]
    assert verdict_of(claim, alike) == REPRODUCES
    assert contrary_text(ClaimAnswer(claim, REPRODUCES, tuple(alike))) == ""


def test_accuracy_is_in_per_cent_wherever_it_stands() -> None:
    """The words of the rule, the text of a value, the values themselves and the papers' are of one unit."""
    for name in ("level-table-1-accuracy-silp", "simplemkl-table-1-accuracy"):
        answer = recorded_answers().answers[name]
        claim = answer.claim
        assert "per cent" in measured_text(claim)
        assert "within 1 of zero" in measured_text(claim)
        for row in answer.rows:
            shown = float(row_texts(claim, row)[2].partition(" ")[0])
            assert shown == pytest.approx(row.by_paper_rule.value, abs=0.006)
        assert max(map(abs, claim.published.values())) > 0.05
    found = answering._estimates(Mean("score", "silp"), [SimpleNamespace(frame=_frame())])["heart"]
    assert found.value == pytest.approx(80.25)
    assert Mean("score", "silp").text(found.value) == "80.2"


def _costs(name: str, split: int, solver: str) -> float:
    return {"silp": 30.0, "level": 10.0, "spg": 5.0}[solver] + split


def _frame(**others: object) -> pd.DataFrame:
    return table(splits=6, cost=_costs, **others).assign(moved=1.0)  # type: ignore[arg-type]


def test_a_ratio_is_paired_by_splits_for_each_data_set_and_for_all_and_a_bound_where_a_run_ended_at_a_limit() -> None:
    ratio = Ratio("svm_solves", "silp", "level")
    found = ratio.estimates(_frame())
    assert [(name, each.cases) for name, each in found.items()] == [("sonar", 6), ("heart", 6), (ALL_DATA, 12)]
    expected = math.prod((30 + k) / (10 + k) for k in range(6)) ** (1 / 6)
    assert found["heart"].value == pytest.approx(expected)
    assert found["heart"].low < expected < found["heart"].high
    for late, bound in (("silp", "≥"), ("level", "≤")):
        missed = _frame(missed=lambda data, split, solver, late=late: (data, solver) == ("heart", late))
        assert (ratio.estimates(missed)["heart"].bound, ratio.estimates(missed)["heart"].cases) == (bound, 6)


def test_differences_means_and_quotients_have_estimates_and_a_solver_without_runs_has_none() -> None:
    frame = _frame()
    apart = MeanDifference("kernels", "silp", "level").estimates(frame)["heart"]
    assert (apart.value, apart.low, apart.high) == (0.0, 0.0, 0.0)
    assert Mean("svm_solves", "silp").estimates(frame)["heart"].value == pytest.approx(32.5)
    assert math.isnan(Ratio("time", "silp", "newton").estimates(frame)["heart"].value)
    frame = pd.DataFrame([row(split=split, svm_solves=3 * (split + 2), steps=split + 2) for split in range(5)])
    assert Quotient("svm_solves", "steps", "spg").estimates(frame)["sonar"].value == pytest.approx(3.0)


def test_a_solver_is_compared_with_itself_at_another_setting() -> None:
    frame = _frame(C=[1.0, 100.0])
    frame = frame.assign(kernels=frame["C"].map({1.0: 3, 100.0: 10}))
    found = BetweenSettings("kernels", "silp", "C", 100.0, 1.0).estimates(frame)
    assert found["heart"].value == 7.0
    named = [*Ratio("steps", "silp", "level").estimates(frame)]
    assert named[:2] == ["sonar, C = 1", "sonar, C = 100"]


def _path(cost: Callable[[str, float], float], **others: object) -> pd.DataFrame:
    """Return the table of a path of three values of C, whose runs cost what `cost` says."""
    frame = _frame(C=[100.0, 10.0, 1.0], **others)
    solves = [cost(*each) for each in zip(frame["solver"], frame["C"], strict=True)]
    return frame.assign(svm_solves=solves, seconds=solves)


def test_the_runs_of_a_path_count_together_and_the_first_is_compared_with_the_mean_of_the_others() -> None:
    frame = _path(lambda solver, C: {"silp": C, "level": 2.0, "spg": 1.0}[solver])
    whole = WholePath(Ratio("svm_solves", "silp", "level"))
    assert [*whole.estimates(frame)] == ["sonar", "heart", ALL_DATA]
    assert whole.estimates(frame)["heart"].value == pytest.approx(111.0 / 6.0)
    assert whole.estimates(frame)["heart"].cases == 6
    assert WholePath(Mean("kernels", "silp")).estimates(frame.assign(kernels=frame["C"]))["heart"].value == 37.0
    cut = frame[(frame["split"] > 0) | (frame["C"] > 1.0)]  # of one split the last value is missing
    assert whole.estimates(cut)["heart"].cases == 5
    late = frame.assign(status=["limit" if row else "converged" for row in (frame["solver"] == "silp")])
    assert whole.estimates(late)["heart"].bound == "≥"
    assert (whole.even, whole.text(2.0)) == (1.0, "2×")
    unknown = (frame["split"] == 0) & (frame["solver"] == "silp") & (frame["C"] == 1.0)
    fits = frame.assign(fits=frame["svm_solves"].where(~unknown))  # not known of a run, and so not of its path
    assert WholePath(Ratio("fits", "silp", "level")).estimates(fits)["heart"].cases == 5
    frame = _path(lambda solver, C: C + 1.0)
    found = FirstOverRest("time", "silp").estimates(frame)
    assert found["sonar"].value == pytest.approx(101.0 / 6.5)
    assert found[ALL_DATA].cases == 12
    assert FirstOverRest("time", "newton").estimates(frame) == {}


@pytest.mark.parametrize(("second", "ratio"), [("one", 1.0), ("other", 3.0)])
def test_a_path_counts_also_where_its_runs_were_made_on_two_machines(second: str, ratio: float) -> None:
    frame = _path(lambda solver, C: C)
    solves = frame["svm_solves"]
    frame = frame.assign(fits=solves.where(frame["solver"] != "silp", 3.0 * solves), samples=solves, m=solves)
    frame["machine"] = [second if C == 1.0 else "one" for C in frame["C"]]
    found = WholePath(Ratio("time", "silp", "level")).estimates(frame)  # in fits, unless seconds compare
    assert found["heart"].value == pytest.approx(ratio)
    assert found["heart"].cases == 6


@pytest.mark.parametrize(("power", "verdict"), [(0.5, DOES_NOT), (1.0, REPRODUCES), (2.0, DOES_NOT)])
def test_the_exponent_along_a_path_tells_powers_of_C_apart_and_leaves_out_the_first(power: float, verdict: str) -> None:
    frame = _path(lambda solver, C: 1000.0 if C == 100.0 else C**power).assign(status="rule", gap=1e-3)
    found = PathExponent("time", "silp").estimates(frame)
    assert [*found] == ["sonar", "heart"]
    assert found["heart"].value == pytest.approx(power)
    claim = load_claim("simplemkl-figure-3-silp")
    assert claim.decided_by.verdict(found["heart"], math.nan) == verdict
    assert PathExponent("time", "newton").estimates(frame) == {}


@pytest.mark.full
def test_a_claim_is_solved_once_answered_by_either_rule_and_kept(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer_stored(TINY, store, quick=True).verdict == UNKNOWN
    (answer,) = reproduce([TINY], store, quick=True, workers=1)
    (row,) = answer.rows
    assert (row.title, row.published, answer.splits, answer.missing) == ("heart", 2.0, 5, 0)
    assert row.by_paper_rule.value >= row.certified.value > 0.0  # an iterate's own gap is never the smaller one
    assert answer.verdict == REPRODUCES
    assert "20 of 20 runs" in capsys.readouterr().err  # by both rules, in one queue
    assert answer_stored(TINY, store, quick=True) == answer
    assert answer_stored(TINY, store).missing == 20  # vote is not solved
    longer = replace(TINY, name="longer", quick="data=heart; train=0.3")
    stopped = reproduce([longer, TINY], store, quick=True, workers=1, stopped=lambda: True)
    assert next(stopped) == answer
    with pytest.raises(KeyboardInterrupt):
        next(stopped)
    first, second = reproduce([longer, TINY], store, quick=True, workers=1)
    assert (first.missing, second) == (0, answer)
    sweeps = {sweep.key for rule in TINY.rules for claim in (TINY, longer) for sweep in claim.sweeps(rule, True)}
    assert {run.sweep for run in store.runs("made:sweep")} == sweeps


def test_ctrl_c_while_variations_are_solved_loses_no_answer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[SweepRun] = []

    def followed(run: SweepRun, _: object) -> None:
        begun.append(run)
        if len(begun) > 1:
            raise KeyboardInterrupt
        run._outcomes = {member.key: MemberOutcome(member.key, "converged", svm_solves=9) for member in run.members}

    monkeypatch.setattr(answering, "follow", followed)
    doubted = replace(TINY, name="doubted", decided_by=MoreThan(2.0), variations={"another C": "C=7"})
    answers = reproduce([TINY, doubted, TINY], store, workers=1)
    assert [next(answers).claim.name for _ in range(3)] == ["tiny", "doubted", "tiny"]
    with pytest.raises(KeyboardInterrupt):
        next(answers)


@pytest.mark.full
def test_every_claim_names_runs_that_can_be_made_and_its_quick_set_is_small() -> None:
    quick: set[Sweep] = set()
    for claim in all_claims().values():
        assert claim.sentence.endswith(".")
        if claim.untestable:
            continue
        for rule in claim.rules:
            assert len(dict(claim.sweep(rule).lists)["seed"]) in (5, 20), claim.name  # some papers have five folds
            quick.update(claim.sweeps(rule, quick=True))
            assert all(len(claim.sweep(rule, varied=words)) for words in claim.variations.values())
        assert claim.race.solvers == claim.sweep(claim.rules[0]).recipe.solvers
    assert len({member.key for sweep in quick for member in sweep.members}) < 600


def test_every_statement_of_the_papers_has_claims_or_an_obstacle_and_every_claim_a_statement() -> None:
    every = [*stated_answers()]
    assert all(each.names or each.obstacle for each in every)
    assert all(each.answers or each.stated_obstacle for each in every)
    stated = {answer.claim.name for each in every for answer in each.answers}
    theirs = {name for name in all_claims() if not name.startswith("smkl-")}
    assert stated == theirs
    tested = sum(each.verdict != UNTESTABLE for each in every)
    assert how_many_text() == f"{tested} of {len(every)} statements of the five papers are tested"


def test_a_claim_that_says_too_little_is_refused() -> None:
    with pytest.raises(ProblemError, match="needs a setup"):
        replace(TINY, quantity=None)
    with pytest.raises(ProblemError, match="needs a stop rule"):
        replace(TINY, paper_rule="", certified_rule="")


def test_the_answers_that_come_with_the_library_are_those_of_its_claims() -> None:
    recorded = recorded_answers()
    assert recorded.answers
    for name, answer in recorded.answers.items():
        verdict = UNTESTABLE if answer.claim.untestable else verdict_of(answer.claim, answer.rows)
        assert (answer.verdict, answer.machine.endswith(" cores")) == (verdict, True), name


def test_all_data_are_held_to_the_mean_of_the_papers_values_where_most_sets_have_one() -> None:
    """The paper has no time of PGD on two of six sets: those do not make a direction out of a factor."""
    answer = recorded_answers().answers["spg-table-9"]
    whole, stated = answer.rows[-1], answer.claim.published.values()
    assert len(stated) == 4
    assert whole.published == pytest.approx(math.prod(stated) ** 0.25)
    assert (answer.splits, answer.verdict) == (5, PARTLY)


def test_the_command_line_answers_from_stored_runs_and_names_others(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "level-table-2-silp", "--stored", "--store", str(store.folder)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert UNKNOWN in printed
    assert "?claim=level-table-2-silp" in printed
    assert main([*words, "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["claims"]
    assert (entry["verdict"], entry["missing"]) == (UNKNOWN, 960)
    assert main(["reproduce", "spg-figure-1-below", "--no-store"]) == 0  # which no run could test
    assert UNTESTABLE in capsys.readouterr().out
    assert main(["reproduce", "level-table-2-slip"]) == 2
    assert "level-table-2-silp" in capsys.readouterr().err
    assert main(["claims", "--all"]) == 0
    said = capsys.readouterr().out
    assert "Theorem 3" in said
    assert "It is proved in the paper" in said
    assert said.rstrip().endswith(f"{how_many_text()}.")
    assert main(["claims"]) == 0
    assert "Level saves 91.9 %" in capsys.readouterr().out


def test_a_claim_in_the_address_sets_the_controls_to_its_race_and_says_what_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visit(monkeypatch, claim="level-table-2-silp")
    explorer = Explorer()
    explorer.open()
    assert explorer.claim.root.visible
    assert explorer.sidebar.recipe == load_claim("level-table-2-silp").race
    assert explorer.sidebar.recipe.stop.iterate_gap == 1e-2
    scenario = explorer.sidebar.scenario
    explorer.open_lesson(scenario.choice.value)  # the one that was chosen already takes the place of the claim
    assert scenario.claim is None
    assert explorer.sidebar.recipe == scenario.scenario.recipe
    explorer.close()
    visit(monkeypatch, claim="level-table-2-slip")
    explorer = Explorer()
    explorer.open()
    assert "There is no claim" in explorer.alert.object
    assert not explorer.claim.root.visible


def test_the_sidebar_speaks_of_the_claim_whose_race_it_sets_up() -> None:
    sidebar = Sidebar()
    panel = sidebar.scenario
    panel.claim = load_claim("level-table-2-silp")
    panel.restore()

    def said() -> list[str]:
        hidden = {each for part in panel.body.every() if not part.visible for each in part.every()}
        return [part.object for part in panel.body.every() if isinstance(part, Note) and part not in hidden]

    assert said() == [OF_CLAIM]
    sidebar.load(panel.recipe.changed(train=0.3))
    assert CHANGED_CLAIM in said()
    assert CHANGED not in said()
    panel.restore()
    assert sidebar.recipe == load_claim("level-table-2-silp").race
    panel.leave_claim()
    assert sidebar.recipe == panel.scenario.recipe


def test_the_picture_of_a_claim_has_the_papers_values_and_ours_with_their_intervals() -> None:
    answer = recorded_answers().answers["level-table-2-silp"]
    chart, tables = claim_chart(answer, LIGHT), claim_tables(answer)
    drawn = draw_none(chart, tables)
    rows = {row.title: row for row in answer.rows}
    published = {title: row.published for title, row in rows.items()}
    assert dict(zip(tables["paper"]["title"], tables["paper"]["x"], strict=True)) == published
    assert tables["ours"]["x"] == [rows[title].by_paper_rule.value for title in tables["ours"]["title"]]
    assert tables["certified-spans"]["x"][0] == [answer.rows[-2].certified.low, answer.rows[-2].certified.high]
    assert chart.x.log
    assert chart.y.names[-1].endswith(ALL_DATA)
    assert all(len(drawn.points(mark)) == len(rows) for mark in drawn.of(PointMark))
    svg = drawing([([chart], claim_height(answer))], tables, "Level", LIGHT)
    assert all(title in svg for title in rows)


def test_the_legend_of_a_claim_names_the_signs_that_are_drawn_and_no_others() -> None:
    names = {"○": "paper", "●": "ours", "◇": "certified"}
    answers = [answer for answer in recorded_answers().answers.values() if answer.rows]
    for answer in answers:
        drawn = {name for name in names.values() if claim_tables(answer)[name]["x"]}
        assert {names[sign] for sign, _ in claim_signs(answer)} == drawn
    assert min(len(claim_signs(answer)) for answer in answers) < 2  # of some, the paper has no value


def test_a_papers_rule_is_part_of_a_recipe_and_leaves_the_keys_of_others_as_they_were() -> None:
    recipe = TINY.sweep(TINY.paper_rule).members[0].recipe
    assert type(recipe).from_json(recipe.to_json()) == recipe
    assert type(recipe).from_words(recipe.to_words()) == recipe
    assert "iterate_gap" not in recipe.changed(iterate_gap=None).to_json()


def row(**values: object) -> dict[str, object]:
    plain = {"data": "sonar", "split": 0, "solver": "spg", "status": "converged", "gap": 1e-3, "machine": "one"}
    return {**plain, "samples": 100, "m": 10, "seconds": 1.0, "kernels": 5, **values}


def test_the_exponent_is_the_power_with_which_a_cost_grows() -> None:
    rng = np.random.default_rng(0)
    rows = [row(split=split, samples=900, train=0.9, solver="pgd", seconds=1e3) for split in range(5)]
    for split, n in product(range(5), (100, 200, 400)):
        seconds = 1e-4 * n**1.5 * math.exp(0.01 * rng.normal())
        rows.append(row(split=split, samples=n, train=n / 1000, seconds=seconds))
    found = GrowthExponent("seconds", "spg", "samples").estimates(pd.DataFrame(rows))["sonar"]
    assert found.low <= found.value <= found.high
    assert found.value == pytest.approx(1.5, abs=0.05)
    assert found.cases == 15


def test_a_ratio_across_problems_pairs_the_splits_that_both_have() -> None:
    """SILP takes four times as long; runs that failed, and splits with one of the two, do not count."""
    both = [("silp", "simplex", 4.0), ("ufo", "group-squared", 1.0)]
    rows = [
        row(split=split, solver=solver, regularizer=regularizer, seconds=seconds * 2.0**split)
        for split in range(5)
        for solver, regularizer, seconds in both
    ]
    rows.append(row(split=9, solver="silp", regularizer="simplex", seconds=1e6))
    rows.append(row(split=0, solver="silp", regularizer="group-squared", status="failed", seconds=0.0))
    found = RatioAcross("seconds", both[0][:2], both[1][:2]).estimates(pd.DataFrame(rows))["sonar"]
    assert (found.value, found.low, found.high) == pytest.approx((4.0, 4.0, 4.0))
    assert found.cases == 5
    alone = pd.DataFrame(rows[:1])
    assert math.isnan(RatioAcross("seconds", both[0][:2], both[1][:2]).estimates(alone)["sonar"].value)


@pytest.mark.parametrize(
    ("quantity", "steps", "value"),
    [
        (PrecisionExponent, {1e-1: 10, 1e-2: 100, 1e-3: 1000}, 1.0),  # the power of the inverse gap
        (DigitsPerStep, {1e-1: 4, 1e-3: 8, 1e-5: 12}, 1.0),  # linear convergence
        (DigitsPerStep, {1e-1: 4, 1e-3: 8, 1e-5: 9}, 4.0),
        (DigitsPerStep, {1e-1: 4, 1e-3: 5, 1e-5: 9}, 0.25),
    ],
)
def test_steps_to_several_gaps_tell_how_fast_solvers_converge(quantity, steps: dict[float, int], value: float) -> None:
    sets = [{"gap": gap, "gap (set)": gap, "steps": n, "moved": 1.0} for gap, n in steps.items()]
    frame = pd.DataFrame([row(split=split, **each) for split in range(5) for each in sets])
    found = quantity("steps", "spg").estimates(frame)["sonar"]
    cases = 15 if quantity is PrecisionExponent else 5  # all its runs, or the splits
    assert (found.value, found.cases) == (pytest.approx(value), cases)
