"""The gallery: a page for every lesson that is recorded, laboratories, and an index that leads to all."""

import re
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest
from test_export import numbers

import mklviz as mv
from mklviz.analysis.knob_grid import LabGrid, LabKnob
from mklviz.record.bundle import FOLDER, recording
from mklviz.reproduce.recorded import claim_races, recorded_answers
from mklviz.views.export import gallery
from mklviz.views.export.gallery import LABORATORIES, save_gallery


@pytest.mark.full
def test_the_index_leads_to_a_page_of_every_recorded_lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "LABORATORIES", ())
    files = save_gallery(tmp_path / "pages", store="none")
    index = files[0].read_text(encoding="utf-8")
    assert files[0].name == "index.html"
    assert sorted(re.findall(r'href="([^"]+)"', index)) == sorted(file.name for file in files[1:])
    claims = {race.name.replace("/", "-"): race for race in claim_races()}
    recorded = {path.stem for path in FOLDER.glob("*.zip")}
    assert {file.stem for file in files[1:]} == {"playground", "one-curve", *claims, *recorded}
    for file in files[1:]:
        page = file.read_text(encoding="utf-8")
        assert 'href="index.html"' in page
        assert not re.search(r'(?:src|href)="(?!index\.html|data:)', page)  # nothing else is loaded, or led to
        if file.stem in {"one-curve", "playground"}:
            continue
        traces = claims[file.stem].traces if file.stem in claims else recording(file.stem)
        assert {run["key"] for run in numbers(page).get("runs", ())} == set(traces)
        for answer in claims[file.stem].answers if file.stem in claims else ():
            assert escape(answer.claim.sentence) in page
            assert f"</i>{answer.verdict}</span> {answer.claim.place}" in page


def test_recorded_races_of_claims_are_those_that_show_them() -> None:
    races = claim_races()
    answers = [answer.claim.name for race in races for answer in race.answers]
    testable = [name for name, answer in recorded_answers().answers.items() if not answer.claim.untestable]
    assert sorted(answers) == sorted(testable)
    for race in races:
        for trace in race.traces.values():
            made = mv.Recipe.from_json(trace.recipe)
            assert replace(made, solvers=race.recipe.solvers) == race.recipe, (
                f"python .ci/recordings.py claims: {race.name}"
            )
    assert {path.stem for path in (FOLDER / "claims").glob("*.zip")} == {race.name.split("/")[1] for race in races}


@pytest.mark.parametrize(("name", "words", "knob", "picture", "value"), LABORATORIES)
def test_a_laboratory_of_the_gallery_can_be_turned_to_its_picture(
    name: str, words: str, knob: str, picture: str, value: float
) -> None:
    grid = LabGrid(mv.Recipe.from_words(words), (LabKnob(knob),))
    assert value in grid.knobs[0].values
    assert len(grid.sweep) <= 20  # quick to solve
    assert picture in gallery.PICTURES
    assert name == name.lower()
