"""The pages Start, Lessons and Claims as HTML that stands in the page itself: it is seen before any script is loaded.

What it says of the race that plays is counted from the recording of that race.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from html import escape
from itertools import chain, groupby
from string import Template
from urllib.parse import quote

from mklviz.numbers import counted
from mklviz.record import Trace
from mklviz.record.bundle import recorded_evidence, recording
from mklviz.reproduce import ClaimAnswer
from mklviz.reproduce.recorded import answers_by_paper
from mklviz.reproduce.statements import how_many_text
from mklviz.reproduce.verdicts import VERDICTS
from mklviz.scenarios import Scenario, load_scenario, scenarios
from mklviz.views.explorer.page import CURVE, LESSONS, SECTIONS, address_of
from mklviz.views.geometry.map_chart import LOW_AND_HIGH
from mklviz.views.host.beside import beside
from mklviz.views.host.solved_paths import SOLVER
from mklviz.views.lessons.one_curve import (
    CURVE_FIGURE,
    CURVE_IN_SHORT,
    CURVE_SCRIPT,
    CURVE_STYLE,
    CURVE_TITLE,
    curve_thumbnail,
    two_kernels,
)
from mklviz.views.lessons.pictures import kernel_titles, thumbnail
from mklviz.views.lessons.triangle import TRIANGLE_SCRIPT, TRIANGLE_STYLE, triangle_data, triangle_figure
from mklviz.views.links.link import LESSON, ON
from mklviz.views.look.cards import word_variables
from mklviz.views.look.palette import DARK, FONT, LIGHT, OF_TEXT, Theme, readable
from mklviz.views.look.styles import run_styles, verdict_html

RECORDED = "three-kernels"
"""The scenario whose race runs over the triangle."""
PLAIN = " =:/;,.()-+'"  # signs that an address within CSS may have as they are
_PAGE = Template(beside(__file__, "front.html"))
_CSS, _SCRIPT = (beside(__file__, name) for name in ("front.css", "front.js"))
_LOOKS = {"chest pain": "the kind of chest pain", "vessels": "the vessels seen by X-ray", "thal": "a thallium scan"}
_KERNEL = (
    "A <b>kernel</b> says how alike two samples are. Here are three, for {samples} patients: one looks at {first}, one"
    " at {second}, one at {third}."
)
_WEIGHT = (
    "A <b>weight</b> says how much a kernel counts. Each point of the triangle is one mix of the three kernels,"
    " whose weights sum to one. Its shade is the objective of an SVM trained with that mix, lowest around the star."
)
_STAR = "The <b>star</b> is the best mix found: {mix}. From equal weights {ways}."


def lessons() -> list[Scenario]:
    """Return the scenarios that ask a question, in the order in which they are taught."""
    return [scenario for scenario in scenarios().values() if scenario.question is not None]


@cache
def front_html(section: str) -> str:
    """Return all three pages, of which the one that `section` names is seen."""
    traces, first = recording(RECORDED), lessons()[0]
    titles = kernel_titles(traces)
    return _PAGE.substitute(
        section=section,
        tokens=_tokens(),
        css=_CSS + TRIANGLE_STYLE + CURVE_STYLE,
        links=_links(section),
        **_triangle(traces),
        **_sentences(traces, titles),
        first=first.name,
        first_title=escape(first.title),
        **{
            "curve": CURVE_FIGURE,
            "curve_title": CURVE_TITLE,
            "curve_address": address_of(CURVE),
            "curve_section": CURVE,
        },
        thumbnails=_first_card() + "".join(_card(number, lesson) for number, lesson in enumerate(lessons(), 2)),
        lessons=_groups(),
        claims=_claims(),
        script=f"{{\n{TRIANGLE_SCRIPT}{CURVE_SCRIPT}{_SCRIPT}}}",
    )


def _links(section: str) -> str:
    section = LESSONS if section == CURVE else section
    return "".join(
        f'<a href="{address_of(name)}" data-page="{name}"{" aria-current=page" if name == section else ""}>{title}</a>'
        for name, title in SECTIONS.items()
    )


def _sentences(traces: Mapping[str, Trace], titles: tuple[str, ...]) -> dict[str, str]:
    """Return the words about the triangle and the recorded race."""
    best = min((trace.best for trace in traces.values()), key=lambda iterate: iterate.objective)
    mix = ", ".join(
        f"{weight:.0%} {title}".replace("%", "\N{NO-BREAK SPACE}%")
        for weight, title in zip(best.weights, titles, strict=True)
    )
    samples = next(iter(traces.values())).problem.split(" samples")[0].split()[-1]
    first, second, third = (_LOOKS.get(title, title) for title in titles)
    return {
        "kernel": _KERNEL.format(samples=samples, first=first, second=second, third=third),
        "weight": _WEIGHT,
        "star": _STAR.format(mix=escape(mix), ways="; ".join(_way(key, trace) for key, trace in traces.items())),
    }


def _way(key: str, trace: Trace) -> str:
    """Return how a solver came there, in words."""
    moved = trace.motion.moved
    much = (
        f"all the weight {moved:.1f} times"
        if moved >= 1.0
        else f"{moved:.0%} of the weight".replace("%", "\N{NO-BREAK SPACE}%")
    )
    return f'<b style="color: var(--word-{key})">{escape(trace.label)}</b> moved {much} in {len(trace) - 1} steps'


def _first_card() -> str:
    words = f"<b>1 {CURVE_TITLE}</b><span>{CURVE_IN_SHORT}</span>"
    return f'<li><a href="{address_of(CURVE)}" data-page="{CURVE}" style="--picture: var(--lesson-1)">{words}</a></li>'


def _card(number: int, lesson: Scenario) -> str:
    """Return a lesson as a small picture with its title and what it teaches."""
    words = f"<b>{number} {escape(lesson.title)}</b><span>{escape(lesson.in_short)}</span>"
    place = f'href="?scenario={lesson.name}&amp;{LESSON}={ON}" data-page="explore" data-scenario="{lesson.name}"'
    return f'<li><a {place} style="--picture: var(--lesson-{number})">{words}</a></li>'


def _groups() -> str:
    """Return all lessons under the headings under which they are taught, with what each teaches."""
    parts: list[str] = []
    for group, members in groupby(enumerate(lessons(), 2), key=lambda entry: entry[1].group):
        cards = "" if parts else _first_card()
        cards += "".join(_card(number, lesson) for number, lesson in members)
        parts.append(f'<h3>{escape(group)}</h3><ol class="lessons large">{cards}</ol>')
    return "".join(parts)


def _triangle(traces: Mapping[str, Trace]) -> dict[str, str]:
    """Return the figure that plays the recorded race, and what its script is told."""
    recipe, ground = load_scenario(RECORDED).recipe, recorded_evidence(RECORDED).get("ground", {})
    styles = {key: replace(s, colour=f"var(--run-{key})") for key, s in run_styles(traces, LIGHT).items()}
    said = f"recorded on {recipe.data.source.title()} data"
    data = triangle_data(traces, styles, recipe.prepare().problem, said)
    data["pair"] = two_kernels()
    figure = triangle_figure(traces, styles, ground.get("objective", ()))
    return {"triangle": figure, "data": json.dumps(data).replace("<", "\\u003c"), "solver": SOLVER}


def _tokens() -> str:
    """Return the colours of both themes as variables; until the dashboard says otherwise the system decides."""
    dark = _variables(DARK)
    return (
        f"#mklviz-front {{ --mk-font: {FONT}; {_variables(LIGHT)} }}"
        f"@media (prefers-color-scheme: dark) {{ #mklviz-front:not([data-dark=no]) {{ {dark} }} }}"
        f"#mklviz-front[data-dark=yes] {{ {dark} }}"
    )


def _variables(theme: Theme) -> str:
    names = ("page", "card", "border", "text", "muted", "axis", "accent")
    low, high = LOW_AND_HIGH[theme.dark]
    colours = {f"mk-{name}": getattr(theme, name) for name in names} | {"mk-low": low, "mk-high": high}
    styles = run_styles(recording(RECORDED), theme)
    small = [curve_thumbnail(theme), *(thumbnail(lesson.name, theme) for lesson in lessons())]
    colours |= {f"lesson-{k}": _address(picture) for k, picture in enumerate(small, 1)}
    colours |= {f"run-{key}": style.colour for key, style in styles.items()}
    colours |= {f"word-{key}": readable(style.colour, theme.page, OF_TEXT) for key, style in styles.items()}
    scheme = f"color-scheme: {'dark' if theme.dark else 'light'};{word_variables(theme)}"
    return scheme + "".join(f"--{name}: {c};" for name, c in colours.items())


def _address(svg: str) -> str:
    """Return a picture as an address of CSS, where its style is its own."""
    return f'url("data:image/svg+xml,{quote(svg, safe=PLAIN)}")' if svg else "none"


def _claims() -> str:
    """Return how many claims there are of each verdict, and below them the claims, paper by paper."""
    papers = answers_by_paper()
    lists = ((paper, "".join(map(_line, answers))) for paper, answers in papers.items())
    listed = "".join(f'<h3>{escape(paper)}</h3><ul class="claims">{lines}</ul>' for paper, lines in lists)
    stated = f"<p>{how_many_text()}: <code>mklviz claims --all</code></p>"
    return _counts(chain(*papers.values())) + stated + listed


def _counts(answers: Iterable[ClaimAnswer]) -> str:
    many = Counter(answer.verdict for answer in answers)
    counts = " ".join(f"{many[verdict]} {verdict_html(verdict)}" for verdict in VERDICTS if many[verdict])
    return f'<p class="counts">{counted(many.total(), "claim")}: {counts}</p>'


def _line(answer: ClaimAnswer) -> str:
    claim = answer.claim
    place = f'href="?claim={escape(claim.name)}" data-page="explore" data-claim="{escape(claim.name)}"'
    cells = f"<span>{escape(claim.sentence)}</span><small>{escape(claim.place)}</small>"
    return f"<li><a {place}>{verdict_html(answer.verdict)}{cells}</a></li>"
