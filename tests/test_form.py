"""A form is one component that draws what its parts say; what a person does reaches the part it was done to."""

import asyncio
import io
import json
import zipfile
from base64 import b64encode
from typing import Any

import pytest
from _served import page_of
from _waits import next_round
from bokeh.document import Document
from bokeh.server.session import ServerSession
from panel.models.esm import ReactiveESM

from mklviz.views.explorer.explorer import Explorer
from mklviz.views.form import Button, Chip, File, Form, FormPart, Group, Menu, Note, Select, Slider, Switch, TextBox


def told(form: Form) -> list[dict[str, Any]]:
    """What the browser is told to draw."""
    return json.loads(form.drawn)["parts"]


def do(form: Form, part: FormPart, **said: Any) -> None:
    """Do something to a part as the browser does."""
    form.receive({"key": part.key, **said})


def test_only_what_is_visible_is_drawn_and_a_change_is_drawn_at_once() -> None:
    box, hidden = TextBox(label="C", value="10"), Note(object="unseen", visible=False)
    form = Form(box, Group(hidden))
    assert told(form) == [
        {"key": box.key, "kind": "text", "label": "C", "value": "10"},
        {"key": form.root.objects[1].key, "kind": "group", "inner": []},
    ]
    box.helper_text = "C must be positive."
    hidden.visible = True
    assert told(form)[0]["helper_text"] == "C must be positive."
    assert told(form)[1]["inner"][0]["object"] == "unseen"


def test_changes_that_belong_together_are_sent_together() -> None:
    sent: list[str] = []

    async def change() -> None:
        form = Form(box := TextBox(), note := Note())
        form.param.watch(lambda event: sent.append(event.new), "drawn")
        box.value, note.object, box.helper_text = "1", "one", "none"
        assert not sent
        await next_round()
        assert (box.value, len(sent)) == ("1", 1)

    asyncio.run(change())


@pytest.mark.full
def test_a_change_whose_page_is_discarded_before_it_is_sent_breaks_nothing() -> None:
    broken: list[dict[str, Any]] = []

    async def change() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: broken.append(context))
        form, document = Form(note := Note()), Document()
        form.server_doc(document)
        note.object = "late"
        ServerSession("left", document).destroy()  # after which Panel hears of it, a little later
        await next_round()
        assert "late" in form.drawn

    asyncio.run(change())
    assert broken == []


def test_a_part_that_comes_later_is_heard_and_one_that_has_gone_is_not() -> None:
    form, late = Form(group := Group()), TextBox(value="a")
    group.objects = [late]
    do(form, late, value="b")
    assert late.value == told(form)[0]["inner"][0]["value"] == "b"
    group.objects = []
    do(form, late, value="c")
    assert late.value == "b"
    before = form.drawn
    late.value = "d"
    assert form.drawn == before


def test_options_keep_their_values_here_only_labels_travel_and_what_was_refused_is_drawn_again() -> None:
    menu = Select(options={"one": 1.0}, groups={"more": {"two": 2.0}}, value=2.0)
    form = Form(menu)
    assert (told(form)[0]["options"], told(form)[0]["groups"]) == (["one"], [["more", ["two"]]])
    assert told(form)[0]["value"] == "two"
    do(form, menu, value="one")
    assert menu.value == 1.0
    form = Form(chip := Chip(value=True, disabled=True))
    before = form.drawn
    do(form, chip, value=False)
    assert form.drawn != before  # else the browser would go on showing its own
    assert told(form)[0]["value"] is True


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (TextBox(value="a"), "x" * 10_001),
        (TextBox(value="a"), 3),
        (Select(options={"one": 1}, value=1), "two"),
        (Switch(value=True), "no"),
        (Chip(value=True, disabled=True), False),
        (Slider(start=0, end=5, value=2), 6),
    ],
)
def test_what_no_control_can_have_said_changes_nothing(part: Any, said: object) -> None:
    before = part.value
    do(Form(part), part, value=said)
    assert part.value == before


def test_buttons_and_menus_call_who_made_them_unless_they_are_off_or_hidden() -> None:
    pressed: list[str] = []
    button = Button(lambda *_: pressed.append("button"), label="Run")
    menu = Menu(pressed.append, label="Add", items=["Linear"])
    form = Form(button, menu)
    for _ in range(2):
        do(form, button, click=True)
        do(form, menu, value="Linear")
        do(form, menu, value="Quadratic")
        assert pressed == ["button", "Linear"]
        button.disabled, menu.visible = True, False


def test_several_files_arrive_as_one_archive() -> None:
    arrived: list[bytes] = []
    file = File(limit=10, several=True)
    file.param.watch(lambda event: arrived.append(event.new) if event.new is not None else None, "value")
    form = Form(file)

    def send(name: str, content: bytes, at: int, of: int, size: int | None = None) -> None:
        piece = b64encode(content).decode()
        do(form, file, name=name, size=len(content) if size is None else size, begins=True, piece=piece, at=at, of=of)

    send("a.csv", b"abc", 0, 2)
    send("b.csv", b"de", 0, 2)  # another choice before the first was there
    send("c.csv", b"fg", 1, 2)
    with zipfile.ZipFile(io.BytesIO(arrived.pop())) as packed:
        assert {name: packed.read(name) for name in packed.namelist()} == {"b.csv": b"de", "c.csv": b"fg"}
    assert file.filename == "b.csv,c.csv"
    send("a.csv", b"12345678", 0, 2)
    send("b.csv", b"123", 1, 2)  # more than allowed together
    assert arrived == [b""]
    for at, of in ((1, 2), (2, 2), (0, 10**6), (-1, 1)):
        send("a.csv", b"abc", at, of)
        assert file.trouble
    file.several = False
    send("a.csv", b"abc", 0, 2)
    assert arrived == [b""]


def test_every_kind_of_part_has_somebody_to_draw_it() -> None:
    explorer, script = Explorer(), Form._esm
    forms = [explorer.sidebar.form, explorer.run_panel.form, *explorer.shell.root.select(Form)]
    kinds = {part.kind for form in forms for part in form.root.every()}
    assert {"text", "select", "chip", "file", "expander", "segments"} <= kinds
    for kind in kinds:
        assert f"\n  {kind}(" in script or f"\n  {kind}: " in script, kind


@pytest.mark.full
def test_all_controls_of_the_dashboard_are_a_handful_of_components() -> None:
    document = Document()
    page_of(Explorer()).server_doc(document)
    components = [model for model in document.models if isinstance(model, ReactiveESM)]
    assert len(components) <= 15
    assert len(list(document.models)) <= 250
