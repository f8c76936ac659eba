"""One ledger of memory: what it counts, who waits in its line and what they are told, and when memory is free again."""

from __future__ import annotations

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
from importlib import import_module
from types import SimpleNamespace

import pytest
from _waits import PATIENCE, soon, wait_for

from mklviz.context.allocator import begin_anew
from mklviz.context.memory import Ledger, MemoryRequest, in_words
from mklviz.engine import scheduler
from mklviz.engine.warmup import Warmup
from mklviz.errors import BankTooLarge, Interrupted
from mklviz.kernels import Gaussian
from mklviz.limits import LIMITS
from mklviz.recipe import DataChoice, KernelChoice, Recipe, SolverChoice, StopChoice, preparation
from mklviz.recipe.banks import BankStore
from mklviz.recipe.preparation import Preparation
from mklviz.recipe.prepared import Prepared
from mklviz.recipe.sizes import RaceSize, built_bytes, data_bytes
from mklviz.record.bundle import bundle_bytes, write_bundle
from mklviz.server import garbage_collection
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.explorer.follower import WAITS, Follower
from mklviz.views.explorer.shared_races import SHARED_RACES
from mklviz.views.session import race_history
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


class Ready(Warmup):
    """A warm-up that has happened."""

    def start(self) -> None:
        self._done.set()


class Held:
    """Whoever holds memory."""


def in_line(ledger: Ledger, size: int) -> MemoryRequest:
    place = ledger.line_up(lambda: size, "this race")
    place.admitted()
    return place


def test_what_is_charged_counts_until_its_owner_is_gone() -> None:
    ledger, owner = Ledger(100), Held()
    ledger.charge(owner, 30)
    ledger.charge(owner, 20)
    assert ledger.used == 50
    del owner
    assert ledger.used == 0


def test_an_owner_may_go_while_the_ledger_is_being_counted() -> None:
    ledger, owner = Ledger(100), Held()
    ledger.charge(owner, 30)
    with ledger._lock:  # as when the memory of objects is collected in the middle of it
        gone = threading.Thread(target=lambda held: None, args=(owner,))
        del owner
        gone.start()
        gone.join(PATIENCE)
        assert not gone.is_alive()
        del gone
    assert ledger.used == 0


def test_who_fits_goes_first_in_the_order_of_the_line() -> None:
    ledger = Ledger(100)
    holder = in_line(ledger, 60)
    large, small, other = (in_line(ledger, size) for size in (70, 30, 20))
    assert [place.number for place in (holder, large, small, other)] == [0, 1, 0, 2]
    assert ledger.used == 90
    holder.leave()
    assert not other.admitted()  # 70 bytes are free again, and the first in the line has not looked yet
    assert large.admitted()
    assert not other.admitted()
    large.leave()
    small.leave()
    assert other.admitted()
    assert (ledger.used, ledger.waiting) == (20, 0)


def test_a_place_says_what_it_waits_for_and_can_be_left() -> None:
    ledger = Ledger(4 * 2**30)
    holder = in_line(ledger, 3 * 2**30)
    first, second = in_line(ledger, 2 * 2**30), in_line(ledger, 3 * 2**29)
    assert second.message == (
        "Waiting for memory: this race needs 1.5 GB, and what others have open leaves 1.0 GB. It is number 2 in the"
        " line."
    )
    first.leave()
    assert second.message.endswith("It is number 1 in the line.")
    holder.leave()
    assert second.admitted()
    assert in_words(80 * 2**20) == "80 MB"


def test_what_could_never_fit_is_refused_in_a_sentence_and_leaves_the_line() -> None:
    ledger = Ledger(2**30)
    with pytest.raises(BankTooLarge, match=r"^This race needs about 3\.0 GB of memory, but .* take 1\.0 GB together"):
        in_line(ledger, 3 * 2**30)
    assert ledger.waiting == 0


def test_what_whoever_asks_holds_and_keeps_is_not_waited_for() -> None:
    ledger, own = Ledger(100), Held()
    ledger.charge(own, 30)
    assert ledger.line_up(lambda: 70, "this race", held=30).admitted()
    with pytest.raises(BankTooLarge):
        ledger.line_up(lambda: 71, "this race", held=30).admitted()


def test_an_upload_counts_as_long_as_it_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, panel = Ledger(), DataPanel()
    monkeypatch.setattr("mklviz.views.sidebar.data_panel.LEDGER", ledger)
    table = b"a,b,class\n" + b"".join(b"%d,2,%d\n" % (i, i % 2) for i in range(10))
    asyncio.run(panel.receive(table, "mine.csv"))
    assert ledger.used - len(table) == data_bytes(panel.chosen.dataset) == 10 * 3 * 8  # the file is read anew on demand
    asyncio.run(panel.receive(table[: -len("9,2,1\n")], "mine.csv"))  # which takes its place
    gc.collect()
    assert ledger.used == 9 * 3 * 8 + len(table) - len("9,2,1\n")


def test_what_is_only_kept_makes_room_before_anybody_waits() -> None:
    ledger, kept = Ledger(100), [Held(), Held()]
    for owner in kept:
        ledger.charge(owner, 40)
    del owner
    ledger.spare.append(lambda: bool(kept and kept.pop()))
    assert in_line(ledger, 50).number == 0
    assert len(kept) == 1
    assert in_line(ledger, 60).number == 1
    assert not kept


# -- races


class Visitors:
    """Those who prepare races on one small machine."""

    def __init__(self, total: int, kept: int = 10**9) -> None:
        self.ledger = Ledger(total)
        self.banks = BankStore(max_bytes=kept, ledger=self.ledger)
        self.ledger.spare.append(self.banks.make_room)

    def begin(self, seed: int) -> Preparation:
        begun = Preparation(SMALL.changed(seed=seed), self.banks, Ready(), self.ledger)
        begun.start()
        return begun


def result(begun: Preparation) -> Prepared:
    wait_for(lambda: begun.ended)
    return begun.result()


def test_an_estimate_is_what_is_built() -> None:
    found = RaceSize.of(SMALL, SMALL.load())
    assert found.shared == pytest.approx(built_bytes(SMALL.build()), rel=0.05)


def test_four_visitors_stay_under_the_bound_and_the_others_wait_until_some_have_gone() -> None:
    visitors = Visitors(2 * ONE + ONE // 2)
    begun = [visitors.begin(seed) for seed in range(4)]
    wait_for(lambda: sum(each.ended for each in begun) == 2 and sum(each.waits for each in begun) == 2)
    assert visitors.ledger.used <= visitors.ledger.total
    waiting = [each for each in begun if each.waits]
    assert sorted(each.stage.split("It is ")[1] for each in waiting) == [
        "number 1 in the line.",
        "number 2 in the line.",
    ]
    begun = waiting  # the other two close their pages
    wait_for(lambda: all(each.ended for each in begun))
    assert visitors.ledger.used <= visitors.ledger.total
    assert all(result(each) for each in begun)


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


def test_who_waits_can_leave_the_line() -> None:
    visitors = Visitors(ONE + ONE // 2)
    held = result(visitors.begin(0))
    waiting = visitors.begin(1)
    wait_for(lambda: waiting.waits)
    waiting.cancel()
    with pytest.raises(Interrupted):
        result(waiting)
    assert visitors.ledger.waiting == 0
    assert held


def test_a_race_that_could_never_fit_is_refused() -> None:
    with pytest.raises(BankTooLarge, match="This race needs about"):
        result(Visitors(ONE // 2).begin(0))


def test_a_class_that_asks_for_the_same_at_once_needs_it_once() -> None:
    visitors = Visitors(SIZE.shared + 13 * SIZE.own)
    begun = [visitors.begin(0) for _ in range(12)]
    races: list[Prepared] = [result(each) for each in begun]
    assert len({id(race.problem.bank) for race in races}) == 1
    assert visitors.ledger.used <= visitors.ledger.total


# -- on the screen


@pytest.fixture
def visitors(monkeypatch: pytest.MonkeyPatch) -> Iterator[Visitors]:
    """Explorers on a machine with room for a race and a half."""
    found = Visitors(ONE + ONE // 2)
    monkeypatch.setattr("mklviz.recipe.preparation.WARMUP", Ready())
    monkeypatch.setattr("mklviz.recipe.preparation.BANKS", found.banks)
    monkeypatch.setattr("mklviz.recipe.preparation.LEDGER", found.ledger)
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
        if preparation.LEDGER.waiting:
            gc.collect()  # as the server does

    asyncio.run(soon(happened, meanwhile=tick))


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


def test_who_follows_gives_way_as_well(visitors: Visitors) -> None:
    teacher = at_work()
    SHARED_RACES.open(teacher.reclaim.shared_race)
    teacher.run()
    follow([teacher], lambda: teacher.state == "finished")
    pupil = Follower(teacher.reclaim.shared_race.name)
    follow([pupil], lambda: pupil.session.race is teacher.session.race)
    teacher.sidebar.data.seed.set(1)
    teacher.run()
    follow([teacher, pupil], lambda: pupil.message == WAITS)
    follow([teacher, pupil], lambda: teacher.state == "finished" and pupil.session.race is teacher.session.race)


def test_two_visitors_do_not_wait_for_each_other(visitors: Visitors) -> None:
    visitors.ledger.total = 2 * ONE + ONE // 2
    pages = [at_work(), at_work()]
    for seed, page in enumerate(pages):
        page.sidebar.data.seed.set(seed)
        page.run()
    follow([*pages], lambda: all(page.state == "finished" for page in pages))
    for seed, page in enumerate(pages):
        page.sidebar.data.seed.set(10 + seed)
        page.run()
    follow([*pages], lambda: all(page.state == "finished" for page in pages))
    assert [page.session.recipe.split.seed for page in pages] == [10, 11]


def test_the_line_is_seen_and_stop_leaves_it(visitors: Visitors) -> None:
    first, second = at_work(), at_work()
    first.run()
    follow([first], lambda: first.state == "finished")
    second.sidebar.data.seed.set(1)
    second.run()
    follow([first, second], lambda: "number 1 in the line" in second.run_panel.stage.object)
    assert second.run_panel.usable(second.state) == {"stop"}
    second.stop()
    follow([first, second], lambda: second.state == "empty")
    assert visitors.ledger.waiting == 0
    assert not second.alert.visible


def test_a_race_that_could_never_fit_is_refused_on_the_screen(visitors: Visitors) -> None:
    visitors.ledger.total = ONE // 2
    explorer = at_work()
    explorer.run()
    follow([explorer], lambda: explorer.alert.visible)
    assert "This race needs about" in explorer.alert.object


def test_the_largest_bank_allowed_fits_into_the_memory_of_all() -> None:
    assert max(LIMITS.bank_bytes, LIMITS.nystrom_bytes) < LIMITS.memory_bytes


def test_a_file_of_runs_waits_in_the_same_line_and_counts_while_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    race = SMALL.race(SMALL.prepare())
    race.start()
    race.wait()
    file = io.BytesIO()
    write_bundle(race.traces, file)
    ledger = Ledger(bundle_bytes(file.getvalue(), "runs.zip"))
    monkeypatch.setattr(runs, "LEDGER", ledger)
    monkeypatch.setattr(race_history, "LEDGER", ledger)
    monkeypatch.setattr(runs, "LOOK_SECONDS", 0.01)
    monkeypatch.setenv("MKLVIZ_STORE", "none")
    tab, session, holder = runs.Runs(), Session(), in_line(ledger, 10)
    tab.follow(session)

    async def visit() -> None:
        received = asyncio.ensure_future(tab.receive(file.getvalue(), "runs.zip", 1))
        await soon(lambda: "Waiting for memory: this file needs" in tab.trouble.object, "the reason")
        holder.leave()
        await received

    asyncio.run(asyncio.wait_for(visit(), PATIENCE))
    (kept,) = session.race_history.races
    assert ledger.used == kept.size
    monkeypatch.setattr(runs, "PATIENCE", 0.0)
    asyncio.run(tab.receive(file.getvalue(), "runs.zip", 1))
    assert "There was no memory for this file" in tab.trouble.object
    assert ledger.waiting == 0


# -- what stays


def test_a_server_keeps_no_problem_that_somebody_raced() -> None:
    warmup = Ready()
    problem = SMALL.prepare().problem
    gone = weakref.ref(problem)
    warmup.want(problem, ["level"])
    del problem
    assert gone() is None


def test_a_worker_that_waits_for_its_next_race_does_not_keep_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "IDLE_SECONDS", 2.0 * PATIENCE)  # the worker still waits when patience ends
    monkeypatch.setattr(scheduler, "SCHEDULER", scheduler.Scheduler(workers=1))
    monkeypatch.setattr("mklviz.engine.run.SCHEDULER", scheduler.SCHEDULER)
    prepared = SMALL.prepare()
    race = SMALL.race(prepared)
    race.start()
    race.wait()
    gone = weakref.ref(prepared.problem)
    del race, prepared
    wait_for(lambda: gc.collect() >= 0 and gone() is None)


GROWS = """
import ctypes, os, sys
if len(sys.argv) > 1:
    from mklviz.context.allocator import begin_anew
    begin_anew()
from mklviz.context.allocator import give_back
def taken():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20
before = taken()
crowd = [[object() for _ in range(100)] for _ in range(60_000)]
most, kept = taken(), crowd[::500]  # a few objects stay, in the midst of all that go
del crowd
give_back()
print(before, most, taken(), os.environ.get("PYTHONMALLOC", ""))
"""


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


def test_an_allocator_that_was_chosen_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONMALLOC", "pymalloc")
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("begun anew"))
    begin_anew()


def test_what_is_waited_for_is_collected_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, collected = Ledger(100), []
    nothing_yet = {
        "freeze": int,
        "get_threshold": gc.get_threshold,
        "set_threshold": max,
        "get_count": lambda: (0, 0, 0),
        "get_stats": gc.get_stats,
    }
    monkeypatch.setattr(garbage_collection, "gc", SimpleNamespace(collect=lambda: collected.append(1), **nothing_yet))
    monkeypatch.setattr(garbage_collection, "FRAME_RATE", SimpleNamespace(pages=lambda now: 0))
    monkeypatch.setattr(garbage_collection, "LEDGER", ledger)
    found = garbage_collection.GarbageCollection()
    collected.clear()
    found.collect_in_time()
    assert not collected
    places = [in_line(ledger, 60) for _ in range(2)]
    found.collect_in_time()
    assert collected == [1]
    assert [place.number for place in places] == [0, 1]
