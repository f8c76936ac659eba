"""The lessons' questions for course systems: GIFT for Moodle, QTI 2.1 for Canvas and others, H5P question sets.

Which choice is right is computed from the lesson's race, as on the page. Formats: Moodle's GIFT; 1EdTech, Question and
Test Interoperability 2.1 (2012), and Content Packaging 1.1; H5P.QuestionSet 1.20 of H5P.MultiChoice 1.16.
"""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from xml.sax.saxutils import quoteattr

from mklviz.errors import MklvizError
from mklviz.scenarios import Scenario, solved
from mklviz.views.chart.pixels import still_picture
from mklviz.views.lessons.pictures import thumbnail

_QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
_PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"


@dataclass(frozen=True)
class CourseQuestion:
    """A question with its choices, the right one, what explains it, and its picture as PNG (empty for none)."""

    name: str
    title: str
    text: str
    choices: Sequence[str]
    right: str
    feedback: str
    picture: bytes

    @property
    def alt(self) -> str:
        """What stands for the picture."""
        return f"The race of the lesson {self.title}, without its end"


def answered(lesson: Scenario) -> CourseQuestion:
    """Run the race of a lesson, and return its question with the answer that came out."""
    question = lesson.question
    if question is None:
        raise MklvizError(f"The scenario {lesson.name} asks no question.")
    answer = question.answer(solved(lesson))
    because = f"{answer.because[0].upper()}{answer.because[1:]}."
    feedback = " ".join(filter(None, (because, answer.why, lesson.teaches)))
    drawn = thumbnail(lesson.name)
    picture = still_picture(drawn, ".png") if drawn else b""
    return CourseQuestion(lesson.name, lesson.title, question.text, question.choices, answer.choice, feedback, picture)


def written(questions: Iterable[CourseQuestion], format_: str) -> bytes:
    """Return questions as the file of a format, one of `FORMATS`."""
    return FORMATS[format_][1]([*questions])


# -- GIFT


def _gift_question(question: CourseQuestion) -> str:
    picture = ""
    if question.picture:
        address = base64.b64encode(question.picture).decode()
        picture = f"<p><img src={quoteattr(f'data:image/png;base64,{address}')} alt={quoteattr(question.alt)}></p>"
    marks = {choice: "=" if choice == question.right else "~" for choice in question.choices}
    choices = "".join(f"\n\t{mark}{_plain(escape(choice, quote=False))}" for choice, mark in marks.items())
    text = _plain(f"<p>{escape(question.text, quote=False)}</p>{picture}")
    feedback = _plain(f"<p>{escape(question.feedback, quote=False)}</p>")
    return f"::{_plain(question.title)}::[html]{text}{{{choices}\n\t####{feedback}\n}}"


def _plain(text: str) -> str:
    """Return text in which no sign has a meaning in GIFT."""
    return re.sub(r"([\\~=#{}:])", r"\\\1", text).replace("\n", " ")


# -- QTI 2.1


def _qti(questions: Sequence[CourseQuestion]) -> bytes:
    files = {"imsmanifest.xml": _manifest(questions).encode()}
    for question in questions:
        files[f"{question.name}.xml"] = _item(question).encode()
        if question.picture:
            files[f"images/{question.name}.png"] = question.picture
    return _zipped(files)


def _manifest(questions: Sequence[CourseQuestion]) -> str:
    resources = "".join(
        f'<resource identifier="{_id(question)}" type="imsqti_item_xmlv2p1" href="{question.name}.xml">'
        f'<file href="{question.name}.xml"/>'
        + (f'<file href="images/{question.name}.png"/>' if question.picture else "")
        + "</resource>"
        for question in questions
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<manifest xmlns="{_PACKAGE}" identifier="mklviz-lessons">'
        "<metadata><schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion></metadata>"
        f"<organizations/><resources>{resources}</resources></manifest>\n"
    )


def _item(question: CourseQuestion) -> str:
    picture = (
        f'<p><img src="images/{question.name}.png" alt={quoteattr(question.alt)}/></p>' if question.picture else ""
    )
    choices = "".join(
        f'<simpleChoice identifier="choice-{k}">{escape(choice)}</simpleChoice>'
        for k, choice in enumerate(question.choices)
    )
    right = f"choice-{[*question.choices].index(question.right)}"
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<assessmentItem xmlns="{_QTI}" identifier="{_id(question)}"'
        f' title={quoteattr(question.title)} adaptive="false" timeDependent="false">'
        '<responseDeclaration identifier="RESPONSE" cardinality="single" baseType="identifier">'
        f"<correctResponse><value>{right}</value></correctResponse></responseDeclaration>"
        '<outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float"/>'
        '<outcomeDeclaration identifier="FEEDBACK" cardinality="single" baseType="identifier">'
        "<defaultValue><value>answer</value></defaultValue></outcomeDeclaration>"
        f'<itemBody>{picture}<choiceInteraction responseIdentifier="RESPONSE" shuffle="false" maxChoices="1">'
        f"<prompt>{escape(question.text)}</prompt>{choices}</choiceInteraction></itemBody>"
        f'<responseProcessing template="{_QTI.replace("/xsd/imsqti_v2p1", "/question/qti_v2p1")}/rptemplates/'
        'match_correct"/>'
        '<modalFeedback outcomeIdentifier="FEEDBACK" identifier="answer" showHide="show">'
        f"<p>{escape(question.feedback)}</p></modalFeedback></assessmentItem>\n"
    )


def _id(question: CourseQuestion) -> str:
    return f"mklviz-{question.name}"


# -- H5P


def _h5p(questions: Sequence[CourseQuestion]) -> bytes:
    asked = [_multiple_choice(question) for question in questions]
    usual = {"introPage": {"showIntroPage": False}, "progressType": "dots", "passPercentage": 50}
    files = {"h5p.json": _json(_H5P), "content/content.json": _json({**usual, "questions": asked})}
    files |= {f"content/images/{each.name}.png": each.picture for each in questions if each.picture}
    return _zipped(files)


_H5P = {
    **{"title": "Lessons of mklviz", "language": "en", "mainLibrary": "H5P.QuestionSet", "license": "U"},
    "embedTypes": ["div"],
    "preloadedDependencies": [
        {"machineName": name, "majorVersion": "1", "minorVersion": minor}
        for name, minor in (("H5P.QuestionSet", "20"), ("H5P.MultiChoice", "16"), ("H5P.Image", "1"))
    ],
}


def _multiple_choice(question: CourseQuestion) -> dict[str, object]:
    media: dict[str, object] = {}
    if question.picture:
        file = {"path": f"images/{question.name}.png", "mime": "image/png"}
        params = {"contentName": "Image", "file": file, "alt": question.alt}
        media = {"type": {"library": "H5P.Image 1.1", "params": params}}
    answers = [
        {
            **{"text": f"<div>{escape(choice)}</div>", "correct": choice == question.right},
            "tipsAndFeedback": {"chosenFeedback": f"<div>{escape(question.feedback)}</div>"},
        }
        for choice in question.choices
    ]
    behaviour = {"singleAnswer": True, "randomAnswers": False, "type": "single"}
    return {
        "library": "H5P.MultiChoice 1.16",
        "params": {
            **{"question": f"<p>{escape(question.text)}</p>", "answers": answers, "media": media},
            "behaviour": behaviour,
        },
    }


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


FORMATS: dict[str, tuple[str, Callable[[Sequence[CourseQuestion]], bytes]]] = {
    "gift": (".txt", lambda questions: "\n\n".join(map(_gift_question, questions)).encode() + b"\n"),
    "qti": (".zip", _qti),
    "h5p": (".h5p", _h5p),
}
"""The usual ending and the writer of each format."""
