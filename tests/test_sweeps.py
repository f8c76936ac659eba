"""A sweep is one value: a recipe with lists, its members, and what divides them among workers."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from mklviz.errors import MklvizError
from mklviz.recipe import Recipe
from mklviz.sweeps import Member, MemberOutcome, Shard, Sweep, SweepTable
from mklviz.sweeps.definition import alternatives
from mklviz.sweeps.engine import MemberQueue
from mklviz.sweeps.running import sweep_of
from mklviz.sweeps.table import machines_text, summary_rows

PATHS = "data=sonar; C=100,10,1; solvers=silp,level; path=C"
WORDS = "data=sonar,heart; split=0...19; solvers=silp,level,newton; C=1,10,100; gap=1e-3"


def test_members_are_the_product_of_the_lists_and_the_solvers() -> None:
    members = Sweep.from_words(WORDS).members
    assert len(members) == 2 * 20 * 3 * 3
    every = product(("sonar", "heart"), range(20), ("silp", "level", "newton"), (1.0, 10.0, 100.0))
    assert {(m.data, m.split, m.solver, m.settings["C"]) for m in members} == set(every)
    assert all(member.recipe.stop.gap == 1e-3 and member.recipe.split.seed == member.split for member in members)


@pytest.mark.parametrize(
    "words",
    [
        WORDS,
        "data=sonar; regularizer=simplex | lp-ball:p={1.5,3}; solvers=level:lam={0.3,0.5} silp",
        "data=wdbc; kernels=gauss:1,2@all poly:1...3@each | paper; seed=3; solvers=spg",
        "data=sonar; gap=1e-2,1e-3; C=2^-1...2^3; solvers=pgd:spectral={true,false}",
        "data=sonar",
        "data=sonar; split=0,1; C=100,10,1; solvers=silp level; path=C",
    ],
)
def test_words_and_json_give_the_sweep_back(words: str) -> None:
    sweep = Sweep.from_words(words)
    assert Sweep.from_words(sweep.to_words()) == sweep
    assert Sweep.from_json(sweep.to_json()) == sweep
    assert hash(Sweep.from_words(sweep.to_words())) == hash(sweep)
    assert Sweep.from_words(sweep.to_words()).key == sweep.key


def test_bars_commas_ranges_and_braces_list_values_as_lists_in_python_do() -> None:
    assert alternatives("seed", "0...2, 7") == ("0", "1", "2", "7")
    assert alternatives("C", "2^-1...2^1") == ("0.5", "1", "2")
    assert alternatives("loss", "hinge:C={1,10} | logistic") == ("hinge:C=1", "hinge:C=10", "logistic")
    assert alternatives("solvers", "silp level:lam={0.3, 0.5}") == ("silp", "level:lam=0.3", "level:lam=0.5")
    assert alternatives("kernels", "gauss:1,2@all poly:1...3@each") == ("gauss:1,2@all poly:1...3@each",)
    lists = {"data": ["sonar", "heart"], "split": range(3), "C": [1, 10], "solvers": ["silp", "level:lam=0.5"]}
    words = "data=sonar,heart; split=0...2; C=1,10; solvers=silp level:lam=.5"
    assert Sweep(Recipe(), lists) == Sweep.from_words(words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("data=sonarr,heart", "sonarr"),
        ("foo=1; C=1,x", "no part “foo”.*C must be a number"),
        ("split=0...3; seed=1", "split is another word for seed"),
        ("C=1,,2", "A value of C is missing"),
        ("C=10; path=C", "several values of C"),
        ("C=10,1; gap=.1,.2; path=gap", "several values of C"),
        ("solvers=levl", "did you mean level"),
        ("solvers=level:lam={0.3", "braces"),
        ("split=0...9999; C=1,2,3; gap=.1,.2,.3,.4,.5", "at most 100,000 runs"),
    ],
)
def test_mistakes_are_sentences(words: str, said: str) -> None:
    with pytest.raises(MklvizError, match=said):
        Sweep.from_words(words)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2, "recipe": {}, "lists": {}}', '{"version": 1}'])
def test_json_that_is_no_sweep_is_refused(text: str) -> None:
    with pytest.raises(MklvizError, match="sweep"):
        Sweep.from_json(text)


_OTHERS = ("silp", "level:lam=0.3", "level; seed=1", "level; C=10", "level; gap=1e-3", "level; regularizer=lp-ball")


def test_a_key_depends_on_all_that_changes_a_result_and_the_version_of_results(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe.from_words("data=sonar; solvers=level")
    words = ["data=heart; solvers=level", *(f"data=sonar; solvers={o}" for o in _OTHERS)]
    changed = [Recipe.from_words(each) for each in words]
    assert len({Member(each).key for each in (recipe, *changed)}) == len(words) + 1
    before = Member(recipe).key
    assert Member(Recipe.from_words("solvers=level; data=sonar")).key == before
    monkeypatch.setattr("mklviz.sweeps.member.RESULT_VERSION", 999)
    assert Member(recipe).key != before


def test_a_member_of_a_path_is_known_by_what_comes_before_it() -> None:
    path = Sweep.from_words("data=sonar; C=100,10,1; solvers=silp,level; path=C")
    members = {(member.solver, member.settings["C"]): member for member in path.members}
    assert [*members] == [(solver, C) for solver in ("silp", "level") for C in (100.0, 10.0, 1.0)]
    last, alone = members["level", 1.0], Sweep.from_words("data=sonar; C=100,10,1; solvers=silp,level").members
    assert last.before == members["level", 10.0]
    assert last.before.before == members["level", 100.0]
    assert last.first == members["level", 100.0].recipe
    first = {members[solver, 100.0].key for solver in ("silp", "level")}
    assert {member.key for member in path.members} & {member.key for member in alone} == first
    assert last.race == members["silp", 1.0].race
    assert last.race not in {member.race for member in alone}


def test_shards_are_the_same_every_time_and_together_the_sweep_and_leave_paths_whole() -> None:
    members = Sweep.from_words(WORDS).members
    shares = [Shard(f"{k}/7").share(members) for k in range(1, 8)]
    assert shares == [Shard(f"{k}/7").share(members) for k in range(1, 8)]
    assert sorted(member.key for share in shares for member in share) == sorted(member.key for member in members)
    for share in shares:  # kernels are built in one of them only
        others = {member.recipe.bank_key for other in shares if other is not share for member in other}
        assert others.isdisjoint(member.recipe.bank_key for member in share)
    paths = Sweep.from_words(PATHS).members
    assert [Shard(f"{k}/3").share(paths) for k in range(1, 4)] == [paths[:3], paths[3:], ()]


@pytest.mark.parametrize("text", ["", "0/3", "4/3", "a/b", "1", "1/0"])
def test_a_share_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(MklvizError, match="K/N"):
        Shard(text)


def test_a_worker_gets_what_is_on_its_kernels_and_helps_others_at_the_end() -> None:
    queue = MemberQueue(Sweep.from_words("data=sonar,heart; solvers=silp,level,newton").members)
    first, second = queue.take("a"), queue.take("b")
    assert first.data != second.data
    own = [queue.take("a") for _ in range(2)]
    assert {member.data for member in own if member} == {first.data}
    helped = queue.take("a")
    assert helped.data == second.data
    assert len(queue) == 1


def test_nobody_helps_at_the_end_of_a_path_which_waits_while_a_member_of_it_may_still_come_back() -> None:
    first, second, last = members = Sweep.from_words(PATHS.replace(",level", "")).members
    queue = MemberQueue(members)
    assert queue.take("a") == first
    assert queue.take("b") is None
    queue.ended(first)
    assert queue.take("b") is None  # "a" knows where to begin
    assert queue.take("a") == second
    assert len(queue) == 1
    queue.leave("a")
    assert queue.take("b") is None
    queue.ended(second)
    assert queue.take("b") == last


def test_the_threads_of_one_worker_are_on_different_paths() -> None:
    members = Sweep.from_words(PATHS).members
    queue = MemberQueue(members)
    taken = [queue.take("a") for _ in range(3)]
    assert taken == [members[0], members[3], None]
    queue.ended(members[3])
    assert [queue.take("a") for _ in range(2)] == [members[4], None]


def test_a_worker_helps_with_a_path_that_is_not_begun_and_solves_all_of_it() -> None:
    members = Sweep.from_words(PATHS).members
    queue = MemberQueue(members)
    solved: dict[str, list[Member]] = {"a": [], "b": []}
    while len(queue):
        for worker, own in solved.items():
            member = queue.take(worker)
            queue.ended(member)
            own.append(member)
    assert solved == {"a": [*members[:3]], "b": [*members[3:]]}


@pytest.mark.parametrize("order", [("leave", "again"), ("again", "leave")])
def test_a_path_whose_worker_was_lost_stays_one(order: tuple[str, str]) -> None:
    queue = MemberQueue(Sweep.from_words(PATHS.replace(",level", "")).members)
    first = queue.take("lost")
    for what in order:
        if what == "leave":
            queue.leave("lost")
        else:
            assert queue.again(first)
    assert queue.take("b") == first
    assert queue.take("c") is None
    assert len(queue) == 2


def test_a_member_whose_worker_was_lost_is_handed_out_again_but_not_for_ever() -> None:
    (member,) = Sweep.from_words("data=sonar; solvers=level").members
    queue = MemberQueue([member])
    answers = []
    for worker in range(3):
        assert queue.take(worker) == member
        queue.leave(worker)
        answers.append(queue.again(member))
    assert answers == [True, True, False]


def outcome(member: Member, status: str = "converged", machine: str = "one", **more: float) -> MemberOutcome:
    numbers = {"steps": 3, "svm_solves": 4, "seconds": 2.0, "gap": 1e-3, "objective": 5.0, **more}
    results = {"machine": machine, "fit_seconds": 0.5, "score": 0.9, "samples": 50, "bank": 7}
    return MemberOutcome(member.key, status, **numbers, results=results)  # type: ignore[arg-type]


def test_a_row_says_what_a_member_took_in_fits_of_the_mean_kernel() -> None:
    sweep = Sweep.from_words("data=sonar; split=0,1; solvers=level; C=1,10")
    frame = SweepTable(sweep, {sweep.members[1].key: outcome(sweep.members[1])}).frame
    (row,) = frame.to_dict("records")
    assert (row["data"], row["split"], row["solver"], row["C"]) == ("sonar", 0, "level", 10.0)
    assert (row["fits"], row["score"], row["samples"], row["m"]) == (4.0, 0.9, 50, 7)
    assert list(SweepTable(sweep, {}).frame.columns) == list(frame.columns)


def test_times_of_different_machines_are_not_put_together_and_means_without_the_gap_are_lower_bounds() -> None:
    sweep = Sweep.from_words("data=sonar; split=0,1; solvers=level")
    one, other = sweep.members

    def with_other(**words: Any) -> SweepTable:
        return SweepTable(sweep, {one.key: outcome(one), other.key: outcome(other, **words)})

    same, mixed = with_other(), with_other(machine="two")
    assert ("CPU s" in summary_rows(same)[0], machines_text(same)) == (True, "")
    assert "CPU s" not in summary_rows(mixed)[0]
    assert "2 machines" in machines_text(mixed)
    row = dict(zip(*summary_rows(with_other(status="limit", svm_solves=8)), strict=True))
    assert row["solved"] == "1 of 2"
    assert row["SVM solves"].startswith("≥ 6")


def test_two_files_of_the_same_samples_are_one_data_set_and_refused(tmp_path: Path) -> None:
    for name, sign in (("plain.csv", ","), ("semi.csv", ";")):
        lines = "".join(f"{i % 7}{sign}{'uv'[i % 2]}\n" for i in range(20))
        (tmp_path / name).write_text(f"a{sign}class\n{lines}")
    with pytest.raises(MklvizError, match="semi and plain hold the same samples: list one of them"):
        sweep_of(f"data={tmp_path / 'plain.csv'},{tmp_path / 'semi.csv'}; C=1")


def test_tables_are_written_as_csv_and_parquet(tmp_path: Path) -> None:
    pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    sweep = Sweep.from_words("data=sonar; solvers=level")
    table = SweepTable(sweep, {m.key: outcome(m) for m in sweep.members})
    for file, read in ((tmp_path / "a.csv", pd.read_csv), (tmp_path / "a.parquet", pd.read_parquet)):
        table.save(file)
        assert read(file)["fits"].tolist() == [4.0]
    with pytest.raises(MklvizError, match=r"\.csv or \.parquet"):
        table.save(tmp_path / "a.txt")
