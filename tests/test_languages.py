"""Other languages: each sentence of Start, lessons and playground is in every catalogue, each page in one language."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from _sources import ROOT
from _ticks import visit
from babel.messages.extract import extract
from babel.messages.pofile import read_po

from mklviz.cli import main
from mklviz.language import CATALOGUES, Language, languages, preferred
from mklviz.scenarios import Answer, scenarios
from mklviz.views.explorer.page import EVERYWHERE, RACE, Frame, Navigation
from mklviz.views.host import page_session
from mklviz.views.lessons.pictures import picture_of, recorded_runs
from mklviz.views.lessons.stage import SEEN, LessonStage
from mklviz.views.look.palette import LIGHT
from mklviz.views.session.session import LessonResult, Session
from mklviz.views.sidebar.controls import note
from mklviz.views.sidebar.scenario_panel import OPEN, LessonPanel
from mklviz.views.start.front import front_html

SHIPPED = [code for code in languages() if code != "en"]
LESSONS = {name: each for name, each in scenarios().items() if each.question is not None}
CALLS = {"language": None, "_language": None, "several": (1, 2), "tr": None}
VIEWS = ROOT / "mklviz" / "views"
PLACE = re.compile(r"\{\w*(?::[^}]*)?\}|</?b>")
NAMES = {"mklviz", "SILP", "SimpleMKL", "Level", "SPG"}


def messages(code: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return what a catalogue has, as Babel reads it, its head left out; a plural has several forms."""
    catalogue = read_po(BytesIO((CATALOGUES / f"{code}.po").read_bytes()))
    found = [(each.id, each.string) for each in catalogue if each.id and not each.fuzzy]
    return {_forms(one): _forms(said) for one, said in found}


def _forms(text: Any) -> tuple[str, ...]:
    return text if isinstance(text, tuple) else (text,)


def marked() -> Language:
    """Return a language that puts what all catalogues have between ‹ and ›."""
    known = set.intersection(*(set(messages(code)) for code in SHIPPED))
    head = {"": "Content-Type: text/plain; charset=UTF-8"}
    return Language("xx", head | {"\0".join(one): "\0".join(f"‹{form}›" for form in one) for one in known})


def unmarked(text: str) -> set[str]:
    """Return the words of a text that did not go through a catalogue, but names."""
    while text != (text := re.sub("‹[^‹›]*›", "", text)):
        pass
    return set(re.findall("[A-Za-z]{3,}", text)) - NAMES


def in_source() -> Iterator[tuple[str, ...]]:
    """Yield what scripts and modules of the screen say, as Babel finds it."""
    for path in [*VIEWS.rglob("*.py"), *VIEWS.rglob("*.js")]:
        kind, options = ("python", {}) if path.suffix == ".py" else ("javascript", {"encoding": "utf-8"})
        found = extract(kind, BytesIO(path.read_bytes()), CALLS, options=options)
        yield from (_forms(said) for _, said, _, _ in found if said)


@pytest.mark.full
@pytest.mark.parametrize("code", SHIPPED)
def test_every_sentence_in_the_source_and_of_lessons_has_a_translation(code: str) -> None:
    said = {one for one in in_source() if one != ("",)}
    assert len(said) > 100
    for lesson in LESSONS.values():
        texts = lesson.title, lesson.in_short, lesson.look_for, lesson.teaches, lesson.group, lesson.question.text
        said |= {(text,) for text in (*texts, *lesson.question.choices, OPEN)}
    said |= {(text,) for word, _, meaning in SEEN.values() for text in (word, meaning)}
    said |= {(does,) for does in (*RACE.values(), *EVERYWHERE.values())}
    assert said - set(messages(code)) == set()


@pytest.mark.parametrize("code", SHIPPED)
def test_translations_have_the_places_and_plurals_of_their_sentences(code: str) -> None:
    catalogue = read_po(BytesIO((CATALOGUES / f"{code}.po").read_bytes()))
    assert str(catalogue.locale) == code
    for one, said in messages(code).items():
        assert all(said), one
        assert len(said) == (catalogue.num_plurals if len(one) > 1 else 1), one
        places = {tuple(sorted(PLACE.findall(form))) for form in said}
        assert places == {tuple(sorted(PLACE.findall(one[-1])))}, one


def test_nothing_on_start_goes_past_the_catalogues() -> None:
    html = front_html("start", marked())
    for away in ("<(script|style).*?</\\1>", '<section class="page true".*?</section>', '<p class="languages".*?</p>'):
        html = re.sub(f"(?s){away}", "", html)
    spoken = re.findall(r'(?:title|aria-label)="(.*?)"', html)
    assert unmarked(unescape(" ".join([*spoken, re.sub("<[^<>]*>", " ", html)]))) == set()


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Language:
    """Let pages be in the language that marks its sentences; return it."""
    made = marked()
    monkeypatch.setattr(page_session, "preferred", lambda *_: made)
    return made


def test_nothing_in_the_header_goes_past_the_catalogues(page: Language) -> None:
    frame, links = Frame(), Navigation(lambda *_: None)
    does = [what for _, what in frame.header.keys.rows]
    switch = frame.header.projector
    assert unmarked(" ".join([*does, *(row[1] for row in links.rows), switch.label, switch.description])) == set()


@pytest.mark.full
@pytest.mark.parametrize("name", LESSONS)
def test_nothing_on_the_stage_goes_past_the_catalogues(page: Language, name: str) -> None:
    panel = LessonPanel(LESSONS[name])
    stage = LessonStage(Session(), panel, {"run": print, "stop": print, "restore": print}, note())
    panel.open = True
    said = []
    for changed, state in ((False, "empty"), (True, "empty"), (False, "finished")):
        stage.show_state(state, False, changed)
        said += [part.label for part in stage.question.root.every()]
    runs = recorded_runs(name, LIGHT)
    picture = picture_of(LESSONS[name], replace(runs, language=page))
    said += [text for chart in picture.charts for text in (chart.title, chart.note, chart.x.label, chart.y.label)]
    stage.picture.show(picture, LIGHT, seen="live")
    said += [re.sub("<[^<>]*>", " ", str(part.object)) for part in (stage.picture.head, *stage.picture.headings)]
    answer = Answer(next(iter(panel.guess.options.values())), "‹so it is›")
    for result in (LessonResult(left_open=OPEN), LessonResult(answer)):
        panel.show_result(result)
        said += [part.object for part in (panel.headline, panel.look_for, panel.teaches)]
    styles = {word for style in runs.styles.values() for word in re.findall("[A-Za-z]{3,}", style.label)}
    assert unmarked(" ".join(said)) <= styles


@pytest.mark.parametrize(
    ("asked", "accepted", "code"),
    [
        ("de", "fr", "de"),
        ("", "de-AT,de;q=0.9,en;q=0.8", "de"),
        ("", "en-US,de;q=0.9", "en"),
        ("xx", "pt, en;q=0.1, fr;q=0.5", "fr"),
        ("", "fr;q=0, *", "en"),
        ("../de", "", "en"),
    ],
)
def test_a_page_is_in_the_language_of_its_address_else_of_its_browser(asked: str, accepted: str, code: str) -> None:
    assert preferred(asked, accepted) is languages()[code]


def test_pages_of_two_visitors_are_each_in_their_language(monkeypatch: pytest.MonkeyPatch) -> None:
    panels = []
    for accepted in ("de", "fr", "en"):
        visit(monkeypatch, accepted=accepted)
        panels.append(LessonPanel(LESSONS["line-search"]))
    for panel in (*panels, *panels):  # one after the other, as on one server
        panel.show(LESSONS["three-kernels"])
    first = [next(iter(panel.guess.options)) for panel in panels]
    assert first == ["In einer Ecke: ein Kern", "Dans un coin\N{NO-BREAK SPACE}: un noyau", "In a corner: one kernel"]
    assert {next(iter(panel.guess.options.values())) for panel in panels} == {first[2]}  # what is kept is the same
    # one that no catalogue has is English as a whole
    panels[0].show(replace(LESSONS["three-kernels"], look_for="Look."))
    assert next(iter(panels[0].guess.options)) == first[2]


def test_numbers_and_plurals_are_those_of_the_language_and_an_answer_is_said_whole_or_in_english() -> None:
    german, french = languages()["de"], languages()["fr"]
    assert german("all the weight {times:.1f} times", times=1234.5) == "1234,5-mal das ganze Gewicht"
    assert french.number("1,231 SVMs, 0.5 %") == "1\u202f231 SVMs, 0,5 %"
    forms = "; {right} of {n} guess right", "; {right} of {n} guesses right"
    assert german.several(*forms, 0, right=0) != german.several(*forms, 1, right=0).replace("1", "0")
    assert french.several(*forms, 0, right=0) == french.several(*forms, 1, right=0).replace("1", "0")
    because = "SimpleMKL solved 1,513 SVMs in 43 steps, Level 29 in 28"
    assert german.answer(because, "") == ["SimpleMKL löste 1.513 SVMs in 43 Schritten, Level 29 in 28", ""]
    assert german.answer(because, "104 samples never need more than 104 kernels. So it is.")[0] == because
    assert german.answer("the first of all", "") == ["the first of all", ""]


def test_a_page_of_the_playground_is_in_the_language_asked_for(tmp_path: Path) -> None:
    assert main(["page", "playground", "--out", str(tmp_path / "mkl.html"), "--lang", "de"]) == 0
    html = (tmp_path / "mkl.html").read_text(encoding="utf-8")
    assert html.count('<html lang="de">') == html.count("<h1>Spielwiese</h1>") == html.count('"Kernels":"Kerne"') == 1
    assert len(html.encode()) < 300_000
