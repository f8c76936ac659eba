"""One ledger of memory: what it counts, who is refused, when memory is free again; banks are shared."""

import asyncio
import ctypes
import gc
import io
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module

import pytest
from _problems import ran
from _waits import PATIENCE, soon, wait_for

from mklviz.context.memory import Ledger, in_words
from mklviz.datasets import Dataset, load_dataset
from mklviz.engine.scheduler import Scheduler
from mklviz.engine.warmup import WARMUP
from mklviz.errors import BankTooLarge, Interrupted, MemoryTaken, ProblemError
from mklviz.kernels import Gaussian
from mklviz.limits import LIMITS
from mklviz.problem import Hinge, MulticlassHinge
from mklviz.recipe import DataChoice, KernelChoice, Recipe, SolverChoice, StopChoice, preparation
from mklviz.recipe.banks import BankStore, RaceSize, built_bytes, data_bytes
from mklviz.recipe.preparation import Preparation
from mklviz.recipe.prepared import Built, Prepared
from mklviz.record.bundle import bundle_bytes, write_bundle
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.explorer.follower import Follower
from mklviz.views.explorer.page_recovery import SHARED_RACES
from mklviz.views.session import session as session_module
from mklviz.views.session.session import Session
from mklviz.views.sidebar.data_panel import DataPanel
from mklviz.views.tabs import runs

SMALL = Recipe(
    DataChoice("two_moons"),
    kernels=KernelChoice(families=[Gaussian(widths=(0.5, 1.0, 2.0))]),
    solvers=(SolverChoice("level"), SolverChoice("spg")),
    stop=StopChoice(max_iter=20),
)
SIZE = RaceSize.of(SMALL, SMALL.load())
ONE = SIZE.shared + SIZE.own  # bytes of one race


class Held:
    """Whoever holds memory."""


def test_room_is_held_while_something_is_made_given_back_where_that_fails_and_refused_where_it_never_fits() -> None:
    ledger, made = Ledger(100), Held()
    with ledger.room(60, "this race"):
        assert ledger.used == 60
        ledger.charge(made, 50)
    assert ledger.used == 50
    with pytest.raises(ZeroDivisionError), ledger.room(50, "this race"):
        raise ZeroDivisionError
    assert ledger.used == 50
    ledger = Ledger(2**30)
    said = r"^This race needs about 3\.0 GB of memory, but .* take 1\.0 GB together: use fewer samples"
    for part, more in ((3 * 2**30, 0), (2**28, 11 * 2**28)):
        with pytest.raises(BankTooLarge, match=said), ledger.room(part, "this race", more=more):
            pass
    assert ledger.used == 0


@pytest.mark.full
def test_what_others_have_taken_is_refused_with_what_is_free_and_what_to_do() -> None:
    ledger, other = Ledger(4 * 2**30), Held()
    ledger.charge(other, 3 * 2**30)
    said = (
        r"^This race needs about 1\.5 GB of memory, and what others have open leaves 1\.0 GB: use fewer samples,"
        r" kernels or solvers, or try again when others have closed their pages\.$"
    )
    with pytest.raises(MemoryTaken, match=said), ledger.room(3 * 2**29, "this race"):
        pass
    own = ledger.room(2**29, "this race", more=2**30)  # its own part is there, the kernels are not
    with own, pytest.raises(MemoryTaken, match=said), ledger.room(2**30, "this race", held=2**29):
        pass
    del other
    with ledger.room(3 * 2**29, "this race"):
        pass
    assert in_words(80 * 2**20) == "80 MB"


@pytest.mark.full
def test_an_upload_counts_as_long_as_it_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, panel = Ledger(), DataPanel()
    monkeypatch.setattr("mklviz.views.sidebar.data_panel.LEDGER", ledger)
    table = b"a,b,class\n" + b"".join(b"%d,2,%d\n" % (i, i % 2) for i in range(10))
    asyncio.run(panel.receive(table, "mine.csv"))
    assert ledger.used - len(table) == data_bytes(panel.chosen.dataset) == 10 * 3 * 8  # the file is read anew on demand
    asyncio.run(panel.receive(table[: -len("9,2,1\n")], "mine.csv"))  # which takes its place
    gc.collect()
    assert ledger.used == 9 * 3 * 8 + len(table) - len("9,2,1\n")


@pytest.mark.full
def test_what_is_only_kept_makes_room_and_so_does_what_nobody_can_reach() -> None:
    ledger, kept, circle = Ledger(100), [Held(), Held()], Held()
    for owner in kept:
        ledger.charge(owner, 30)
    ledger.charge(circle, 30)
    circle.itself = circle  # type: ignore[attr-defined]
    del owner, circle
    ledger.spare.append(lambda: bool(kept and kept.pop()))
    with ledger.room(40, "this race"):
        assert len(kept) == 1
    with ledger.room(100, "this race"):
        assert not kept


# -- races


class Visitors:
    """Those who prepare races on one small machine."""

    def __init__(self, total: int, kept: int = 10**9, pauses: tuple[float, ...] = preparation.PAUSES) -> None:
        self.ledger, self.pauses = Ledger(total), pauses
        self.banks = BankStore(max_bytes=kept, ledger=self.ledger)
        self.ledger.spare.append(self.banks.make_room)

    def begin(self, seed: int) -> Preparation:
        begun = Preparation(SMALL.changed(seed=seed), self.banks, ledger=self.ledger)
        begun.pauses = self.pauses
        begun.start()
        return begun


def result(begun: Preparation) -> Prepared:
    wait_for(lambda: begun.ended)
    return begun.result()


def test_an_estimate_is_what_is_built_and_the_largest_bank_allowed_fits_into_the_memory_of_all() -> None:
    assert SIZE.shared == pytest.approx(built_bytes(SMALL.build()), rel=0.05)
    assert max(LIMITS.bank_bytes, LIMITS.nystrom_bytes) < LIMITS.memory_bytes


@pytest.mark.full
def test_four_visitors_stay_under_the_bound_and_the_others_are_refused() -> None:
    visitors = Visitors(2 * ONE + ONE // 2, pauses=())
    begun = [visitors.begin(seed) for seed in range(4)]
    wait_for(lambda: all(each.ended for each in begun))
    assert visitors.ledger.used <= visitors.ledger.total
    there, refused = list[Prepared](), list[str]()
    for each in begun:
        try:
            there.append(each.result())
        except MemoryTaken as error:
            refused.append(str(error))
    assert len(there) == 2
    assert all("what others have open leaves" in sentence for sentence in refused)
    there.clear()  # they close their pages
    begun.clear()
    each = visitors.begin(3)
    assert result(each)


def test_banks_that_nobody_uses_make_room_and_those_in_use_stay() -> None:
    visitors = Visitors(2 * ONE + SIZE.shared // 2)
    used = result(visitors.begin(0))
    result(visitors.begin(1))
    assert len(visitors.banks) == 2
    result(visitors.begin(2))
    assert len(visitors.banks) == 2
    assert result(visitors.begin(0)).problem.bank is used.problem.bank


def test_a_bank_that_is_in_use_is_shared_though_it_is_too_large_to_be_kept() -> None:
    visitors = Visitors(SIZE.shared + 6 * SIZE.own, kept=0)
    races = [result(visitors.begin(0)) for _ in range(5)]
    assert len({id(race.problem.bank) for race in races}) == 1
    del races
    assert visitors.ledger.used == 0


@pytest.mark.full
def test_who_hopes_for_room_can_be_stopped() -> None:
    visitors = Visitors(ONE + ONE // 2, pauses=(PATIENCE,))
    held = result(visitors.begin(0))
    hoping = visitors.begin(1)
    wait_for(lambda: hoping.wants_room)
    hoping.cancel()
    with pytest.raises(Interrupted):
        result(hoping)
    assert held
    assert visitors.ledger.used <= ONE


# -- on the screen


@pytest.fixture
def visitors(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Visitors]:
    """Explorers on a machine with room for a race and a half, who wait for it for some tenths of a second."""
    found = Visitors(ONE + ONE // 2)
    pauses = (0.1,) * getattr(request, "param", 5)
    for name, value in {"BANKS": found.banks, "LEDGER": found.ledger, "PAUSES": pauses}.items():
        monkeypatch.setattr(preparation, name, value)
    yield found
    SHARED_RACES._rooms.clear()


def at_work() -> Explorer:
    explorer = Explorer()
    explorer.sidebar.load(SMALL)
    explorer.run_panel.pace.value = 0.0
    return explorer


def follow(pages: list[Explorer | Follower], happened: Callable[[], bool]) -> None:
    async def tick() -> None:
        for page in pages:
            await page.tick()

    asyncio.run(soon(happened, meanwhile=tick))


@pytest.mark.product
@pytest.mark.parametrize("visitors", [600], indirect=True)  # until the tabs have let go of it, however long that takes
def test_the_race_before_gives_way_to_the_next_of_the_same_visitor_in_all_tabs(visitors: Visitors) -> None:
    import_module("mklviz.views.model.model_sections")  # would take its time while the tab is drawn
    explorer = at_work()
    explorer.run()
    follow([explorer], lambda: explorer.state == "finished")
    for title in ("Geometry", "Model"):  # they compute with the problem
        explorer.shell.turn_to(title)
        follow([explorer], iter([False, True]).__next__)
    used = visitors.ledger.used
    assert used > visitors.ledger.total / 2
    explorer.sidebar.data.seed.set(1)
    explorer.run()
    follow([explorer], lambda: explorer.state == "finished")
    assert explorer.session.recipe.split.seed == 1
    assert len(explorer.session.race_history.races) == 2
    explorer.close()


@pytest.mark.full
def test_a_race_that_others_leave_no_room_for_is_refused_on_the_screen(visitors: Visitors) -> None:
    first, second = at_work(), at_work()
    first.run()
    follow([first], lambda: first.state == "finished")
    second.sidebar.data.seed.set(1)
    second.run()
    follow([first, second], lambda: second.alert.visible)
    assert "what others have open leaves" in second.alert.object
    assert (first.state, second.state) == ("finished", "empty")
    first.close()
    first.session.clear()
    first.session.race_history.races.clear()
    second.run()
    follow([second], lambda: second.state == "finished")


@pytest.mark.full
def test_a_file_of_runs_counts_while_it_is_read_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    race = ran(SMALL.race(SMALL.prepare()))
    file = io.BytesIO()
    write_bundle(race.traces, file)
    ledger = Ledger(int(bundle_bytes(file.getvalue(), "runs.zip")))
    for module in (runs, session_module):
        monkeypatch.setattr(module, "LEDGER", ledger)
    monkeypatch.setenv("MKLVIZ_STORE", "none")
    tab, session = runs.Runs(), Session()
    tab.follow(session)
    asyncio.run(tab.receive(file.getvalue(), "runs.zip", 1))
    (kept,) = session.race_history.races
    assert ledger.used == kept.size
    asyncio.run(tab.receive(file.getvalue(), "runs.zip", 1))
    assert "This file needs about" in tab.trouble.object
    assert "open a file of fewer runs, or try again" in tab.trouble.object


# -- what stays


def test_a_server_keeps_no_problem_that_somebody_raced() -> None:
    problem = SMALL.prepare().problem
    gone = weakref.ref(problem)
    WARMUP.want(problem, ["level"])
    del problem
    assert gone() is None


@pytest.mark.full
def test_a_worker_that_waits_for_its_next_race_does_not_keep_the_last(one_worker: Scheduler) -> None:
    one_worker.idle_seconds = 2.0 * PATIENCE  # it still waits when patience ends
    prepared = SMALL.prepare()
    race = ran(SMALL.race(prepared))
    gone = weakref.ref(prepared.problem)
    del race, prepared
    wait_for(lambda: gc.collect() >= 0 and gone() is None)


GROWS = """
import ctypes, os, sys
if len(sys.argv) > 1:
    from mklviz.context.memory import begin_anew
    begin_anew()
from mklviz.context.memory import give_back
def taken():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20
before = taken()
crowd = [[object() for _ in range(100)] for _ in range(60_000)]
most, kept = taken(), crowd[::500]  # a few objects stay, in the midst of all that go
del crowd
give_back()
print(before, most, taken(), os.environ.get("PYTHONMALLOC", ""))
"""


@pytest.mark.full
@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library hands nothing back")
def test_memory_of_many_small_things_is_handed_back_though_a_few_of_them_stay() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONMALLOC"}
    command = [sys.executable, "-c", GROWS, "anew"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    *found, allocator = done.stdout.split()
    before, most, after = map(int, found)
    assert allocator == "malloc"
    assert most - before > 80
    assert after - before < (most - before) / 3


# -- banks are shared by all who ask for the same numbers; names are not


MOONS = Recipe(DataChoice("two_moons"), kernels=KernelChoice(families=[Gaussian(widths=(1.0,))]))


def prepared(banks: BankStore, recipe: Recipe, data: Dataset | None = None) -> Prepared:
    return Preparation(recipe.on(data), banks).work()


def test_names_are_those_of_whoever_asks_for_the_same_numbers_also_of_a_class_against_the_rest() -> None:
    banks, moons = BankStore(), load_dataset("two_moons", n=40)
    first = replace(moons, name="secret", title="Secret", classes=("ill", "well"), feature_names=("age", "dose"))
    second = replace(moons, name="mine", title="Mine", classes=("left", "right"), feature_names=("u", "v"))
    third = replace(second, name="other", title="Other", source="a drawer", notes=("Measured twice.",))
    seen = [prepared(banks, MOONS, data) for data in (first, second, third)]
    for one, data in zip(seen, (first, second, third), strict=True):
        for part in (one.train, one.test):
            assert (part.title, part.name, part.source) == (data.title, data.name, data.source)
            assert (part.classes, part.feature_names) == (data.classes, data.feature_names)
            assert part.notes[: len(data.notes)] == data.notes
    assert seen[2].problem.bank is seen[1].problem.bank  # only the title differs
    kept = " ".join(f"{built.train!r} {built.train.title} {built.train.source}" for built in banks._kept.values())
    assert not any(word in kept for word in ("Secret", "secret", "Mine", "mine", "Other", "drawer"))
    iris = replace(load_dataset("iris"), name="flowers", title="Flowers")
    found = prepared(BankStore(), MOONS.changed(positive="setosa"), iris)
    assert found.train.title == "Flowers: setosa against the rest"


def together(count: int, ask: Callable[[int], object]) -> list[object]:
    """Return what so many threads found that began at once; errors are found, too."""
    begin = threading.Barrier(count)

    def work(k: int) -> object:
        begin.wait()
        return ask(k)

    with ThreadPoolExecutor(count) as pool:
        asked = [pool.submit(work, k) for k in range(count)]
    return [each.exception() or each.result() for each in asked]


def leave(_: float) -> None:
    raise Interrupted("The preparation was stopped.")


def test_one_bank_is_built_for_all_who_ask_for_it_at_once() -> None:
    banks, built, begun = BankStore(max_bytes=0), MOONS.build(), []
    waiting = threading.Event()

    def build(_: Callable[[float], None]) -> Built:
        begun.append(1)
        assert waiting.wait(PATIENCE)
        return built

    def report(_: float) -> None:
        if any(build.waiting == 8 for build in [*banks._builds.values()]):  # none, once it is built
            waiting.set()

    found = together(8, lambda _: banks.take("key", build, report))
    assert found == [built] * 8
    assert len(begun) == 1
    assert len(banks) == 0  # too large to be kept, and shared all the same


def test_who_gives_up_does_not_take_the_bank_from_those_who_wait() -> None:
    banks, built, both, gone = BankStore(), MOONS.build(), threading.Event(), threading.Event()

    def build(progress: Callable[[float], None]) -> Built:
        assert gone.wait(PATIENCE)
        progress(0.5)  # somebody still waits
        return built

    def ask(k: int) -> Built:
        def report(_: float) -> None:
            if any(build.waiting == 2 for build in [*banks._builds.values()]):
                both.set()
            if k == 0 and both.is_set():
                leave(0.0)

        try:
            return banks.take("key", build, report)
        finally:
            gone.set()

    first, second = together(2, ask)
    assert isinstance(first, Interrupted)
    assert second is built


def test_what_nobody_waits_for_is_given_up_an_error_is_told_and_both_can_be_asked_for_again() -> None:
    banks, built, gave_up = BankStore(), MOONS.build(), threading.Event()

    def endless(progress: Callable[[float], None]) -> Built:
        try:
            while True:
                progress(0.1)
        except Interrupted:
            gave_up.set()
            raise

    with pytest.raises(Interrupted):
        banks.take("key", endless, leave)
    assert gave_up.wait(PATIENCE)
    assert banks.take("key", lambda _: built, lambda _: None) is built

    def fail(_: Callable[[float], None]) -> Built:
        raise ProblemError("No.")

    with pytest.raises(ProblemError, match="No"):
        banks.take("other key", fail, lambda _: None)
    assert banks.take("other key", lambda _: built, lambda _: None) is built


def test_a_loss_that_does_not_fit_is_refused_to_who_chose_it_alone() -> None:
    banks = BankStore()
    iris = MOONS.changed(source="iris")
    with pytest.raises(ProblemError, match="more than two classes"):
        prepared(banks, iris.changed(loss=Hinge(1.0)))
    assert prepared(banks, iris.changed(loss=MulticlassHinge(1.0))).problem.loss == MulticlassHinge(1.0)
    assert len(banks) == 1


def test_no_more_banks_are_built_at_once_than_there_is_room_for() -> None:
    banks, built = BankStore(at_once=1), MOONS.build()
    building, waiting, most = [], threading.Event(), []

    def build(_: Callable[[float], None]) -> Built:
        building.append(1)
        most.append(len(building))
        assert waiting.wait(PATIENCE)
        building.pop()
        return built

    def ask(k: int) -> Built:
        return banks.take(k, build, lambda _: None, lambda begun: None if begun else waiting.set())

    assert together(3, ask) == [built] * 3
    assert most == [1, 1, 1]


def test_who_waits_for_a_turn_can_give_up() -> None:
    banks, built, begun, go = BankStore(at_once=1), MOONS.build(), threading.Event(), threading.Event()

    def build(_: Callable[[float], None]) -> Built:
        begun.set()
        assert go.wait(PATIENCE)
        return built

    def ask(k: int) -> Built:
        if k == 0:
            return banks.take("first", build, lambda _: None)
        assert begun.wait(PATIENCE)
        try:
            return banks.take("second", build, leave)
        finally:
            go.set()

    first, second = together(2, ask)
    assert first is built
    assert isinstance(second, Interrupted)
