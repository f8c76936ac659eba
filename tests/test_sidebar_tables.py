"""The choices of how a table of one's own is read: shown, changed, proposed, and stopped while it is being read."""

import asyncio
import io
from collections.abc import Callable

import pandas as pd
import pytest
from _waits import soon
from test_sidebar import upload

from mklviz.problem import OneClass
from mklviz.views.links.link import open_words
from mklviz.views.sidebar.data_panel import OWN_FILE
from mklviz.views.sidebar.sidebar import Sidebar

TABLE = b"a,b,class\n" + b"".join(b"%d,%d,%d\n" % (i, i * i % 7, i % 2) for i in range(40))


@pytest.fixture
def sidebar() -> Sidebar:
    return Sidebar()


INSURANCE = "age,smoker,fee\n" + "".join(
    f"{'' if i % 10 == 3 else 20 + i % 40},{'yes' if i % 3 else 'no'},{100.5 * (i % 40) + 7 * i}\n" for i in range(60)
)


def read_anew(sidebar: Sidebar, change: Callable[[], object], shown: Callable[[], bool] = lambda: True) -> None:
    """Change something as a person does, and wait until the file was read anew and something is shown."""
    task = sidebar.data.reading.task

    async def changed() -> None:
        before = task.key
        change()
        await soon(lambda: task.key is not before and not task.working and shown(), "the table to be read anew")

    asyncio.run(changed())


def choose(sidebar: Sidebar, name: str, value: object) -> None:
    """Change a control of the table."""
    read_anew(sidebar, lambda: setattr(getattr(sidebar.data.table, name), "value", value))


def test_how_a_table_was_read_is_shown_beside_its_choices(sidebar: Sidebar) -> None:
    upload(sidebar, INSURANCE.encode(), "insurance.csv")
    table = sidebar.data.table
    assert table.body.visible
    assert (table.target.value, list(table.target.options)) == ("fee", ["fee", "age", "smoker", "nothing"])
    assert table.header.value
    assert (table.missing.value, list(table.missing.options)) == ("leave-out", ["leave out 6 rows", "fill in, 6 rows"])
    assert table.done.items == [
        "6 rows are left out, where a value is missing.",
        'Column "smoker" holds words (no, yes): 1 stands for "yes".',
    ]
    sidebar.data.choice.value = "sonar"
    assert not table.body.visible
    sidebar.data.choice.value = OWN_FILE
    assert table.body.visible


def test_a_table_is_read_anew_as_its_choices_say(sidebar: Sidebar) -> None:
    upload(sidebar, INSURANCE.encode(), "insurance.csv")
    choose(sidebar, "missing", "fill")
    assert sidebar.recipe.data.dataset.n_samples == 60
    choose(sidebar, "target", "smoker")
    assert sidebar.recipe.data.dataset.classes == ("no", "yes")
    assert sidebar.recipe.to_words().split("; ")[1:4] == ["target=smoker", "missing=fill", "header=true"]
    assert sidebar.blocked == ""
    choose(sidebar, "target", "nothing")
    assert (sidebar.recipe.data.dataset.y == 1.0).all()
    assert sidebar.recipe.to_words().split("; ")[1] == "target=nothing"
    assert "no target" in sidebar.data.about.object
    assert sidebar.recipe.changed(loss=OneClass()).prepare().test.n_samples == 30  # which knows no table


def test_rows_to_test_and_missing_words_are_choices(sidebar: Sidebar) -> None:
    rows = "".join(
        f"{i % 7},{'none' if i % 9 == 4 else i},{'uv'[i % 2]},{'test' if i % 3 == 0 else 'train'}\n" for i in range(60)
    )
    upload(sidebar, f"a,b,class,set\n{rows}".encode(), "marked.csv")
    table = sidebar.data.table
    assert table.written["test"].visible
    assert table.written["test"].value == "set"
    assert sidebar.data.tested.object == "Trained on 40, tested on 20, as the data say."
    assert not sidebar.data.train.visible
    assert sidebar.data.shape.n_train == 40
    choose(sidebar, "na", "6, none")
    assert sidebar.recipe.data.na == ("6", "none")
    assert 'column "a" are filled in by its median' in " ".join(sidebar.data.table.done.items)
    assert 'na="6","none"; test=set' in sidebar.recipe.to_words()
    sidebar.data.choice.value = "sonar"
    assert sidebar.data.train.visible
    sidebar.data.train.set(1e-9)
    assert sidebar.recipe is None
    assert "Of 208 samples, none is left to train on" in sidebar.blocked


def test_the_table_is_shown_and_its_heads_change_how_it_is_read(sidebar: Sidebar) -> None:
    upload(sidebar, INSURANCE.replace(",", ";").replace(".", ",").encode(), "insurance.csv")
    table = sidebar.data.table
    assert table.dialect.object == "semicolons, decimal comma, 60 rows"
    assert table.head.heads == [
        ["age", "numbers", "number", "predict it", "leave it out"],
        ["smoker", "words", "words as 1 column", "predict it", "leave it out"],
        ["fee", "target", "target: numbers", "leave it out"],
    ]
    assert table.head.rows[0] == ("20", "no", "0,0")

    def wish(column: str, wanted: str, became: str) -> None:
        def shown() -> bool:
            became_so = any(head[0] == column and head[2] == became for head in table.head.heads)
            return became_so and not sidebar.data.reading.body.visible

        read_anew(sidebar, lambda: table.head.answer({"column": column, "wish": wanted}), shown)

    wish("age", "leave it out", "left out")
    assert sidebar.recipe.data.leave_out == ("age",)
    assert sidebar.recipe.data.dataset.feature_names == ("smoker=yes",)
    assert table.head.heads[0][3:] == ["predict it", "use it"]
    wish("age", "use it", "number")
    wish("smoker", "predict it", "target: classes")
    assert sidebar.recipe.data.dataset.classes == ("no", "yes")
    assert sidebar.recipe.data.leave_out == ()


def test_a_choice_that_cannot_be_used_is_refused_and_taken_back(sidebar: Sidebar) -> None:
    upload(sidebar, b"a,b,class\n1,2,u\n3,1,v\n2,2,u\n", "mine.csv")
    choose(sidebar, "header", False)
    assert 'column "column 1": it holds numbers, but "a" in row 1' in sidebar.data.refusal.object
    assert sidebar.data.table.header.value
    assert sidebar.data.table.target.value == "class"


def test_where_columns_get_other_names_the_target_is_guessed_anew_and_else_kept(sidebar: Sidebar) -> None:
    book, table = io.BytesIO(), sidebar.data.table
    with pd.ExcelWriter(book) as file:
        for names in ("abc", "xyz"):
            pd.DataFrame({name: [k, 1, 2, 3] * 5 for k, name in enumerate(names)}).to_excel(
                file, sheet_name=names, index=False
            )
    upload(sidebar, book.getvalue(), "two.xlsx")
    shown = [name for name, control in table.written.items() if control.visible]
    assert shown == ["task", "decimal", "thousands", "sheet"]  # which a workbook heeds
    read_anew(sidebar, lambda: setattr(table.written["sheet"], "value", "xyz"))
    assert (table.target.value, table.written["sheet"].value) == ("z", "xyz")
    assert not sidebar.data.refusal.visible
    upload(sidebar, INSURANCE.encode(), "insurance.csv")
    choose(sidebar, "target", "smoker")
    read_anew(sidebar, lambda: setattr(table.written["encoding"], "value", "cp1252"))
    assert (table.target.value, table.written["encoding"].value) == ("smoker", "cp1252")


def test_the_choices_shown_are_those_of_the_text_refused_or_of_the_file_opened(sidebar: Sidebar) -> None:
    table, rows = sidebar.data.table, "".join(f"{i}^{i % 2}\n" for i in range(20))
    upload(sidebar, TABLE, "before.csv")
    choose(sidebar, "na", "7")
    upload(sidebar, f"kind^class\n{rows}".encode(), "carets.csv")
    assert "carets.csv has one column" in sidebar.data.refusal.object
    assert [part for part in table.body.inner if part.visible] == [table.how]
    assert table.na.value == ""
    upload(sidebar, b"PK\x03\x04", "cut.xlsx")
    assert sidebar.data.refusal.object == "cut.xlsx is a damaged or cut-off workbook: copy or download it anew."
    assert table.head.visible
    choose(sidebar, "target", "b")
    assert sidebar.data.card.name == "before"


@pytest.mark.parametrize("before", [False, True])
def test_a_table_refused_for_its_target_offers_others(before: bool, sidebar: Sidebar) -> None:
    if before:
        upload(sidebar, TABLE, "before.csv")
    rows = "".join(f"{'uv'[i % 2]},{i % 7},\n" for i in range(40))
    upload(sidebar, f"kind,size,class\n{rows}1,2,only\n".encode(), "mine.csv")
    table = sidebar.data.table
    assert "Every label in column" in sidebar.data.refusal.object
    assert table.body.visible
    assert [part for part in table.body.inner if part.visible] == [table.target, table.how]
    assert list(table.target.options) == ["automatic", "kind", "size", "class", "nothing"]
    choose(sidebar, "target", "kind")
    assert sidebar.recipe.data.dataset.feature_names == ("size",)
    assert table.head.visible
    assert not sidebar.data.refusal.visible


def test_the_loss_that_fits_is_one_click_away(sidebar: Sidebar) -> None:
    upload(sidebar, INSURANCE.encode(), "insurance.csv")
    assert sidebar.blocked
    assert sidebar.data.misfit.object == "The target holds numbers, which the loss chosen does not fit."
    assert sidebar.data.proposal.label == "Use the squared loss"
    sidebar.data.proposal.answer({"click": True})
    assert sidebar.recipe.problem.loss.name_ == "squared"
    assert not sidebar.data.proposal.visible
    assert sidebar.blocked == ""
    choose(sidebar, "target", "smoker")
    assert sidebar.blocked == ""  # the squared loss takes two classes as well
    upload(sidebar, b"a,class\n" + b"".join(b"%d,%d\n" % (i, i % 3) for i in range(30)), "three.csv")
    assert sidebar.data.misfit.object == "The target holds 3 classes, which the loss chosen does not fit."
    sidebar.data.proposal.answer({"click": True})
    assert sidebar.recipe.problem.loss.multiclass


def test_a_file_being_read_shows_how_far_it_is_and_can_be_stopped(
    sidebar: Sidebar, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, shown = sidebar.data.reading, []
    reading.patience = 0.0

    def endless(data: bytes, name: str, progress: Callable[[float], None], **options: object) -> None:
        while True:
            progress(0.25)  # raises where somebody has stopped it

    async def stop() -> None:
        receiving = asyncio.ensure_future(sidebar.data.receive(INSURANCE.encode(), "large.csv"))
        await soon(lambda: reading.bar.value == 25 and reading.body.visible, "progress to be shown")
        shown.append(reading.bar.value)
        reading.stop.answer({"click": True})
        await receiving

    before = sidebar.recipe
    monkeypatch.setattr("mklviz.views.sidebar.own_table.read_dataset_bytes", endless)
    asyncio.run(stop())
    assert shown == [25]
    assert not reading.body.visible
    assert sidebar.data.refusal.object == "large.csv: Stopped by hand."
    assert sidebar.recipe == before


@pytest.mark.full
def test_the_file_of_a_link_is_read_as_the_link_says(sidebar: Sidebar) -> None:
    upload(sidebar, INSURANCE.encode(), "insurance.csv")
    choose(sidebar, "target", "smoker")
    wanted = sidebar.recipe
    other = Sidebar()
    assert open_words(other, wanted.to_words()) == "The link is for an uploaded file: open it under Data."
    upload(other, TABLE, "another.csv")
    assert other.recipe.data.source != wanted.data.source
    upload(other, INSURANCE.encode(), "insurance.csv")
    assert other.recipe == wanted
