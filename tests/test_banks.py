"""Banks are shared by all who ask for the same numbers; names are not."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from _waits import PATIENCE

from mklviz.datasets import Dataset, load_dataset
from mklviz.errors import Interrupted, ProblemError
from mklviz.kernels import Gaussian
from mklviz.problem import Hinge, MulticlassHinge
from mklviz.recipe import DataChoice, KernelChoice, Recipe
from mklviz.recipe.banks import BankStore
from mklviz.recipe.preparation import Preparation
from mklviz.recipe.prepared import Built, Prepared

SMALL = Recipe(DataChoice("two_moons"), kernels=KernelChoice(families=[Gaussian(widths=(1.0,))]))


def prepared(banks: BankStore, recipe: Recipe, data: Dataset | None = None) -> Prepared:
    return Preparation(recipe.on(data), banks).work()


def test_a_second_person_with_the_same_numbers_sees_names_of_their_own() -> None:
    banks, moons = BankStore(), load_dataset("two_moons", n=40)
    first = replace(moons, name="secret", title="Secret", classes=("ill", "well"), feature_names=("age", "dose"))
    second = replace(moons, name="mine", title="Mine", classes=("left", "right"), feature_names=("u", "v"))
    third = replace(second, name="other", title="Other", source="a drawer", notes=("Measured twice.",))
    seen = [prepared(banks, SMALL, data) for data in (first, second, third)]
    for one, data in zip(seen, (first, second, third), strict=True):
        for part in (one.train, one.test):
            assert (part.title, part.name, part.source) == (data.title, data.name, data.source)
            assert (part.classes, part.feature_names) == (data.classes, data.feature_names)
            assert part.notes[: len(data.notes)] == data.notes
    assert seen[2].problem.bank is seen[1].problem.bank  # only the title differs
    kept = " ".join(f"{built.train!r} {built.train.title} {built.train.source}" for built in banks._kept.values())
    assert not any(word in kept for word in ("Secret", "secret", "Mine", "mine", "Other", "drawer"))


def test_a_class_against_the_rest_is_named_after_the_file() -> None:
    iris = replace(load_dataset("iris"), name="flowers", title="Flowers")
    found = prepared(BankStore(), SMALL.changed(positive="setosa"), iris)
    assert found.train.title == "Flowers: setosa against the rest"


def together(count: int, ask: Callable[[int], object]) -> list[object]:
    """Return what so many threads found that began at once; errors are found, too."""
    found: list[object] = [None] * count
    begin = threading.Barrier(count)

    def work(k: int) -> None:
        begin.wait()
        try:
            found[k] = ask(k)
        except Exception as error:
            found[k] = error

    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_one_bank_is_built_for_all_who_ask_for_it_at_once() -> None:
    banks, built, begun = BankStore(max_bytes=0), SMALL.build(), []
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
    banks, built, both, gone = BankStore(), SMALL.build(), threading.Event(), threading.Event()

    def build(progress: Callable[[float], None]) -> Built:
        assert gone.wait(PATIENCE)
        progress(0.5)  # somebody still waits
        return built

    def ask(k: int) -> Built:
        def report(_: float) -> None:
            if any(build.waiting == 2 for build in [*banks._builds.values()]):
                both.set()
            if k == 0 and both.is_set():
                raise Interrupted("The preparation was stopped.")

        try:
            return banks.take("key", build, report)
        finally:
            gone.set()

    first, second = together(2, ask)
    assert isinstance(first, Interrupted)
    assert second is built


def test_what_nobody_waits_for_is_given_up_and_can_be_asked_for_again() -> None:
    banks, built, gave_up = BankStore(), SMALL.build(), threading.Event()

    def endless(progress: Callable[[float], None]) -> Built:
        try:
            while True:
                progress(0.1)
        except Interrupted:
            gave_up.set()
            raise

    def leave(_: float) -> None:
        raise Interrupted("The preparation was stopped.")

    with pytest.raises(Interrupted):
        banks.take("key", endless, leave)
    assert gave_up.wait(PATIENCE)
    assert banks.take("key", lambda _: built, lambda _: None) is built


def test_an_error_is_told_to_all_who_waited_and_the_next_may_try_again() -> None:
    banks, built = BankStore(), SMALL.build()

    def fail(_: Callable[[float], None]) -> Built:
        raise ProblemError("No.")

    with pytest.raises(ProblemError, match="No"):
        banks.take("key", fail, lambda _: None)
    assert banks.take("key", lambda _: built, lambda _: None) is built


def test_a_loss_that_does_not_fit_is_refused_to_who_chose_it_alone() -> None:
    banks = BankStore()
    iris = SMALL.changed(source="iris")
    with pytest.raises(ProblemError, match="more than two classes"):
        prepared(banks, iris.changed(loss=Hinge(1.0)))
    assert prepared(banks, iris.changed(loss=MulticlassHinge(1.0))).problem.loss == MulticlassHinge(1.0)
    assert len(banks) == 1


def test_no_more_banks_are_built_at_once_than_there_is_room_for() -> None:
    banks, built = BankStore(at_once=1), SMALL.build()
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
    banks, built, begun, go = BankStore(at_once=1), SMALL.build(), threading.Event(), threading.Event()

    def build(_: Callable[[float], None]) -> Built:
        begun.set()
        assert go.wait(PATIENCE)
        return built

    def leave(_: float) -> None:
        raise Interrupted("The preparation was stopped.")

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
