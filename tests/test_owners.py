"""Nobody touches another's runs: each action of a store and each kind of page, asked as the wrong owner."""

import io
import json
import shutil
import threading
import zipfile
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from _sources import SOURCES
from _stores import growing, recorded
from _waits import wait_for

import mklviz as mv
from mklviz.errors import MklvizError
from mklviz.record.run_facts import Verdict
from mklviz.record.store import EVERYBODY, Cleaned, Owner, RunHead, Store, open_store, reset
from mklviz.record.store.catalogue import Catalogue
from mklviz.sweeps import Sweep, SweepTable
from mklviz.views.explorer import follower as followers
from mklviz.views.explorer import page as pages
from mklviz.views.explorer.explorer import Explorer
from mklviz.views.explorer.follower import Follower
from mklviz.views.explorer.page_recovery import SHARED_RACES, SharedRace, SharedRaces
from mklviz.views.session.session import Session
from mklviz.views.tabs.runs import Runs

A, B = Owner("a" * 24), Owner("b" * 24)
SECRET = "a secret race"


@pytest.fixture
def kept(store: Store) -> Store:
    """The store of a server, with a race of A's."""
    race = recorded(store.of(A), RunHead(name=SECRET, sweep="s", member="m", made_by="sweep"))
    store.of(A).describe(race, note="what nobody else reads")
    return store


def files(store: Store) -> dict[str, bytes]:
    """Return all that is kept of A's runs."""
    folders = [store.folder / "runs" / run.id for run in store.of(A).runs()]
    return {str(path): path.read_bytes() for folder in folders for path in folder.iterdir()}


def exported(store: Store, race: str, **changed: str) -> bytes:
    """Return a file of a race, in which somebody has changed whose it is said to be."""
    whole, forged = io.BytesIO(), io.BytesIO()
    store.export([race], whole)
    with zipfile.ZipFile(whole) as archive, zipfile.ZipFile(forged, "w") as copy:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "runs.json":
                told = json.loads(content)
                for run in told["runs"].values():
                    run["head"] |= changed
                    run["about"] |= {"note": "forged", "changed": 9e9}
                content = json.dumps(told).encode()
            copy.writestr(name, content)
    return forged.getvalue()


def refused(act: Callable[[], Any]) -> bool:
    with pytest.raises(MklvizError, match=r"There is no|command line"):
        act()
    return True


def forged_file(store: Store, race: str, run: str) -> bool:
    """Take in a file that names A's race and run as B's, and change all that comes of it."""
    taken = store.import_file(exported(open_store().of(A), race, owner=B.name), "runs.zip")
    for key in taken:
        store.describe(key, name="taken over")
    mine = store.runs()
    for key in taken:
        store.delete(key)
    return race not in taken and all(each.id != run and each.owner == B.name for each in mine) and len(mine) == 1


def another_run(store: Store, race: str, run: str) -> bool:
    """Record a run into A's race."""
    trace = growing()
    trace.finish(Verdict("converged", "It has ended."))
    recording = store.record({"mine": trace}, RunHead(race=race, owner=A.name))
    recording.finish()
    return recording.race != race and [each.owner for each in store.runs(f"race:{recording.race}")] == [B.name]


ASKED: dict[str, Callable[[Store, str, str], bool]] = {
    "runs": lambda store, race, run: (
        [*store.runs(), *store.runs(deleted=True), *store.runs(f"owner:{A.name}"), *store.runs(f"race:{race}")] == []
    ),
    "trace": lambda store, race, run: refused(lambda: store.trace(run)),
    "traces": lambda store, race, run: refused(lambda: store.traces(race)),
    "size": lambda store, race, run: store.size == 0,
    "describe": lambda store, race, run: refused(lambda: store.describe(race, name="mine", pinned=True)),
    "delete": lambda store, race, run: refused(lambda: store.delete(race)),
    "restore": lambda store, race, run: refused(lambda: store.restore(race)),
    "export": lambda store, race, run: refused(lambda: store.export([race], io.BytesIO())),
    "clean": lambda store, race, run: store.clean(0) == Cleaned(0, 0),
    "repair": lambda store, race, run: store.repair() == ({}, {}),
    "pack": lambda store, race, run: store.pack(at_once=True) is None,
    "merge": lambda store, race, run: refused(lambda: store.merge(store.folder)),
    "import_file": forged_file,
    "record": another_run,
}
OF_NO_RUN = {"of", "close", "not_kept", "revision", "trouble"}


def test_every_action_of_a_store_leaves_alone_what_is_another_s(kept: Store) -> None:
    public = {name for name in vars(Store) if not name.startswith("_")}
    assert public - OF_NO_RUN == set(ASKED)
    (theirs,) = kept.of(A).runs()
    before = files(kept)
    for name, wrong in ASKED.items():
        assert wrong(kept.of(B), theirs.race, theirs.id), name
        assert files(kept) == before, name
    assert [run.id for run in kept.of(A).runs()] == [theirs.id]
    assert {run.id for run in kept.runs()} > {theirs.id}


def test_an_owner_has_a_name_and_everybody_is_not_an_owner() -> None:
    for nobody in ("", " "):
        with pytest.raises(ValueError, match="EVERYBODY"):
            Owner(nobody)
    assert Owner("everybody") != EVERYBODY
    assert "owner" not in signature(Store.runs).parameters


def test_a_file_of_runs_does_not_say_whose_they_were(kept: Store) -> None:
    file = exported(kept, kept.runs()[0].race)
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        assert A.name not in archive.read("runs.json").decode()
    (mine,) = kept.of(B).import_file(file, "runs.zip")
    assert kept.of(B).import_file(file, "again.zip") == [mine]
    assert [run.name for run in kept.of(B).runs()] == [SECRET]  # B was given the file
    assert kept.of(A).runs()[0].note == "what nobody else reads"


def test_a_run_of_another_s_that_a_forged_key_happens_to_name_is_left_alone(kept: Store, tmp_path: Path) -> None:
    """The key that an importer's run gets is short: a file may be made for which it is another's."""
    (theirs,) = kept.of(A).runs()
    file = exported(kept, theirs.race)
    (mine,) = kept.of(B).import_file(file)
    (run,) = kept.of(B).runs()
    shutil.rmtree(kept.folder / "runs" / run.id)
    reset()
    (kept.folder / "runs" / theirs.id).rename(kept.folder / "runs" / run.id)  # as if that had happened
    store = open_store()
    before = files(store)
    assert before
    assert store.of(B).import_file(file) == [mine]
    assert files(store) == before
    assert [each.id == run.id for each in store.of(B).runs()] == [False]


@pytest.fixture
def asked_for(kept: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose runs the index is asked for from now on, by pages that B opens."""
    names: list[str] = []
    ask = Catalogue.runs

    def note(self: Catalogue, where: str, order: str, limit: int | None, also: str, values: tuple[str, ...]) -> Any:
        if threading.current_thread().name != "mklviz-store-upkeep":  # which packs the runs of all
            names.append(values[-1] if also.endswith("AND owner = ?") else "everybody")
        return ask(self, where, order, limit, also, values)

    for module in (pages, followers):
        monkeypatch.setattr(module, "owner_of_page", lambda: B)
    monkeypatch.setattr(Catalogue, "runs", note)
    return names


def shows_nothing(page: Explorer | Follower, asked_for: list[str]) -> None:
    """Open every tab of a page, and look at Runs until it has asked the store."""
    for place in range(len(page.shell.titles)):
        page.shell.strip.active = place
        page.shell.tick(0.0)
    runs = next(tab for tab in page.shell.tabs.values() if isinstance(tab, Runs))
    wait_for(lambda: asked_for)
    runs.listed.taken(1e9)
    assert ([*runs.listed.listing.races], runs.listed.listing.total) == ([], 0)
    assert "everybody" not in asked_for
    assert set(asked_for) == {B.name}
    page.close()


@pytest.mark.parametrize("followed", ["", "nobody", "x\0y", A.name])
def test_no_page_asks_for_runs_of_others(followed: str, asked_for: list[str]) -> None:
    page = Follower(followed) if followed else Explorer()
    assert page.session.owner == B
    shows_nothing(page, asked_for)


@pytest.mark.full
def test_whoever_follows_a_race_sees_its_leader_s_race_and_none_of_his_runs(kept: Store, asked_for: list[str]) -> None:
    leads = Session(owner=A)
    recipe = mv.Recipe.from_words("data=two_moons; solvers=level; max-iter=2")
    leads.show(recipe, prepared := recipe.prepare(), recipe.race(prepared))
    room = SharedRace(leads, lambda: True)
    SHARED_RACES.open(room)
    asked_for.clear()
    page = Follower(room.name)
    assert page.session.race is leads.race
    assert page.session.recorded is None
    assert page.session.store.owner == B
    shows_nothing(page, asked_for)
    SHARED_RACES.close(room)


def test_a_link_that_was_passed_on_takes_no_race_over() -> None:
    """The address of a page has the key by which its own browser finds the race again after a reload."""
    rooms, gone = SharedRaces(), Session(owner=A)
    gone.sweep = object()
    old = SharedRace(gone, lambda: False)
    rooms.open(old)
    assert not rooms.take_over(old.key, SharedRace(Session(owner=B), lambda: True))
    assert rooms.take_over(old.key, SharedRace(Session(owner=A), lambda: True))


@pytest.mark.full
def test_on_the_command_line_in_a_notebook_and_where_runs_are_shared_all_runs_are_there(kept: Store) -> None:
    assert [run.name for run in mv.runs()] == [run.name for run in Explorer().session.store.runs()] == [SECRET]
    assert len(SweepTable.of(kept.of(B), Sweep.from_words("data=heart"))) == 0


def test_one_visitor_s_session_and_switch_are_his_own(kept: Store) -> None:
    assert Session().store.runs() == []  # that of nobody sees nothing
    ours, theirs = Session(owner=B), Session(owner=A)
    ours.keeps = False
    assert (ours.store.enabled, theirs.store.enabled, kept.enabled) == (False, True, True)
    theirs.keeps, again = False, Session(owner=A)
    again.take(theirs)
    assert again.store.enabled
    assert not ours.store.enabled
    ours.keeps = True
    assert ours.store.enabled


def test_pages_reach_the_store_through_their_session_alone() -> None:
    """Another way would have to ask whose runs may be seen, and one that forgets it opens them all."""
    whole = {name for name, path in SOURCES.items() if "open_store(" in path.read_text(encoding="utf-8")}
    whole = {name for name in whole if name.startswith("mklviz.views.")}
    rooms = {name.rpartition(".")[0] for name in whole}
    assert rooms <= {"mklviz.views.session", "mklviz.views.notebook"}  # a notebook's is of whoever has started it
