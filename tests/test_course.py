"""The lessons' questions in the formats of course systems: nothing in them has a meaning there that was not meant."""

import io
import json
import re
import zipfile
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mklviz.cli.commands import main
from mklviz.scenarios import lessons, load_scenario
from mklviz.views.export.course import CourseQuestion, answered, written

QTI = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
SIGNS = "a: {b} = c ~ d # e \\ f <g> & “h” 'i' \"j\""
ODD = CourseQuestion(
    "odd", SIGNS, f"What is {SIGNS}?", (SIGNS, "x = 2", "~none~"), "x = 2", f"Because {SIGNS}.", b"PNG"
)
BARE = CourseQuestion("bare", "Bare", "Which?", ("one", "two"), "two", "So.", b"")


def files(made: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def gift(text: str) -> list[dict[str, object]]:
    """Read GIFT: signs behind a backslash mean themselves."""
    hidden = re.sub(r"\\(.)", lambda sign: f"\0{ord(sign[1]):05d}", text)

    def plain(part: str) -> str:
        return unescape(re.sub(r"\0(\d{5})", lambda sign: chr(int(sign[1])), part)).strip()

    read = []
    for title, asked, answers in re.findall(r"::(.*?)::\[html\]([^{]*)\{([^}]*)\}", hidden):
        choices, _, feedback = answers.partition("####")
        marks = re.findall(r"([=~])([^=~]*)", choices)
        read.append(
            {
                **{"title": plain(title), "text": plain(asked), "feedback": plain(feedback)},
                **{"choices": [plain(words) for _, words in marks]},
                "right": [plain(words) for sign, words in marks if sign == "="],
            }
        )
    return read


def test_gift_keeps_every_sign() -> None:
    odd, bare = gift(written([ODD, BARE], "gift").decode())
    assert odd["title"] == SIGNS
    assert odd["choices"] == [*ODD.choices]
    assert odd["right"] == ["x = 2"]
    assert f"What is {SIGNS}?" in str(odd["text"])
    assert 'src="data:image/png;base64,UE5H"' in str(odd["text"])
    assert f"Because {SIGNS}." in str(odd["feedback"])
    assert (bare["text"], bare["right"]) == ("<p>Which?</p>", ["two"])


def test_qti_is_a_package_of_items_with_one_right_choice() -> None:
    made = files(written([ODD, BARE], "qti"))
    assert set(made) == {"imsmanifest.xml", "odd.xml", "bare.xml", "images/odd.png"}
    manifest = ElementTree.fromstring(made["imsmanifest.xml"])
    assert {each.attrib["href"] for each in manifest.iter() if "href" in each.attrib} == set(made) - {"imsmanifest.xml"}
    for question in (ODD, BARE):
        item = ElementTree.fromstring(made[f"{question.name}.xml"])
        assert item.attrib["title"] == question.title
        choices = {one.attrib["identifier"]: one.text for one in item.iter(f"{QTI}simpleChoice")}
        assert [*choices.values()] == [*question.choices]
        (right,) = item.findall(f"{QTI}responseDeclaration/{QTI}correctResponse/{QTI}value")
        assert choices[str(right.text)] == question.right
        assert [one.text for one in item.iter(f"{QTI}prompt")] == [question.text]


def test_h5p_is_a_set_of_multiple_choices() -> None:
    made = files(written([ODD, BARE], "h5p"))
    assert set(made) == {"h5p.json", "content/content.json", "content/images/odd.png"}
    for question, told in zip((ODD, BARE), json.loads(made["content/content.json"])["questions"], strict=True):
        answers = told["params"]["answers"]
        assert [unescape(one["text"]) for one in answers] == [f"<div>{choice}</div>" for choice in question.choices]
        assert [one["correct"] for one in answers] == [choice == question.right for choice in question.choices]
        media = told["params"]["media"]
        assert bool(media) == bool(question.picture)


def test_the_answer_is_that_of_the_race_and_an_unknown_format_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    lesson = load_scenario("three-kernels")
    question = answered(lesson)
    assert question.right in lesson.question.choices
    assert question.right.startswith("Inside")
    assert lesson.teaches in question.feedback
    assert question.picture.startswith(b"\x89PNG")
    (read,) = gift(written([question], "gift").decode())
    assert (read["title"], read["right"]) == (lesson.title, [question.right])
    with pytest.raises(SystemExit):
        main(["lessons", "export", "--format", "word"])
    assert "invalid choice: 'word'" in capsys.readouterr().err


@pytest.mark.product  # it solves them all
def test_all_lessons_are_written(tmp_path: Path) -> None:
    file = tmp_path / "lessons"
    assert main(["lessons", "export", "--format", "qti", "--out", str(file)]) == 0
    made = files(file.read_bytes())
    assert {name for name in made if "images/" in name} == {f"images/{name}.png" for name in lessons()}
    for name, lesson in lessons().items():
        assert ElementTree.fromstring(made[f"{name}.xml"]).attrib["title"] == lesson.title
