"""The pages Start, Lessons and Claims as HTML that stands in the page itself: it is seen before any script is loaded.

What it says of the race that plays is counted from the recording of that race.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from itertools import chain, groupby
from string import Template
from urllib.parse import quote

from mklviz.language import ENGLISH, LANGUAGE, Language, languages
from mklviz.numbers import counted
from mklviz.record import Trace
from mklviz.record.bundle import recorded_evidence, recording
from mklviz.reproduce import ClaimAnswer
from mklviz.reproduce.claim import VERDICTS
from mklviz.reproduce.recorded import answers_by_paper, how_many_text
from mklviz.scenarios import Scenario, lessons, load_scenario
from mklviz.views.explorer.page import CURVE, HEADER_SCRIPT, LESSONS, SECTIONS, address_of
from mklviz.views.geometry.map_chart import LOW_AND_HIGH
from mklviz.views.host.beside import beside
from mklviz.views.host.solved_paths import DRAG_HANDLE, SOLVER
from mklviz.views.lessons import one_curve
from mklviz.views.lessons.pictures import kernel_titles, thumbnail
from mklviz.views.lessons.triangle import TRIANGLE_SCRIPT, TRIANGLE_STYLE, triangle_data, triangle_figure
from mklviz.views.links.link import LESSON, ON
from mklviz.views.look.cards import word_variables
from mklviz.views.look.palette import DARK, FONT, LIGHT, OF_TEXT, Theme, readable
from mklviz.views.look.styles import run_styles, verdict_html

RECORDED = "three-kernels"
"""The scenario whose race runs over the triangle."""
PLAIN = " =:/;,.()-+'"  # signs that an address within CSS may have as they are
_PAGE, _CSS = beside(__file__, "front.html"), beside(__file__, "front.css")
_SCRIPTS = TRIANGLE_SCRIPT + one_curve.CURVE_SCRIPT + beside(__file__, "front.js")


@cache
def front_html(section: str, language: Language = ENGLISH) -> str:
    """Return all pages in a language, of which the one that `section` names is seen."""
    traces, first = recording(RECORDED), next(iter(lessons().values()))
    titles = [*map(language, kernel_titles(traces))]
    return Template(language.marked(_PAGE)).substitute(
        section=section,
        tokens=_tokens(),
        css=_CSS + TRIANGLE_STYLE + one_curve.CURVE_STYLE,
        words=language.script(HEADER_SCRIPT + DRAG_HANDLE + _SCRIPTS + json.dumps(one_curve.two_kernels()["names"])),
        languages=_languages(language),
        links=_links(section, language),
        **_triangle(traces, titles, language),
        **_sentences(traces, titles, language),
        first=first.name,
        first_title=escape(language(first.title)),
        curve=one_curve.curve_figure(language),
        curve_title=language(one_curve.CURVE_TITLE),
        thumbnails=_first_card(language) + "".join(_card(*each, language) for each in enumerate(lessons().values(), 2)),
        lessons=_groups(language),
        claims=_claims(),
        script=f"{{\n{_SCRIPTS}}}",
    )


def _languages(language: Language) -> str:
    """Return links to this page in the other languages, by the names that these have for themselves."""
    return " · ".join(
        f'<a href="?{LANGUAGE}={code}" hreflang="{code}" lang="{code}">{other("English")}</a>'
        for code, other in languages().items()
        if other is not language
    )


def _links(section: str, language: Language) -> str:
    section = LESSONS if section == CURVE else section
    return "".join(
        f'<a href="{address_of(name)}" data-page="{name}"{" aria-current=page" if name == section else ""}>'
        f"{language(title)}</a>"
        for name, title in SECTIONS.items()
    )


def _sentences(traces: Mapping[str, Trace], titles: Sequence[str], language: Language) -> dict[str, str]:
    """Return the words about the triangle and the recorded race."""
    best = min((trace.best for trace in traces.values()), key=lambda iterate: iterate.objective)
    mix = ", ".join(
        f"{weight:.0%} {title}".replace("%", "\N{NO-BREAK SPACE}%")
        for weight, title in zip(best.weights, titles, strict=True)
    )
    samples = next(iter(traces.values())).problem.split(" samples")[0].split()[-1]
    return {
        "kernel": language(
            "A <b>kernel</b> says how alike two samples are. Here are three, for {samples} patients: one looks at the"
            " kind of chest pain, one at the vessels seen by X-ray, one at a thallium scan.",
            samples=samples,
        ),
        "weight": language(
            "A <b>weight</b> says how much a kernel counts. Each point of the triangle is one mix of the three kernels,"
            " whose weights sum to one. Its shade is the objective of an SVM trained with that mix, lowest around the"
            " star."
        ),
        "star": language(
            "The <b>star</b> is the best mix found: {mix}. From equal weights {ways}.",
            mix=escape(mix),
            ways="; ".join(_way(key, trace, language) for key, trace in traces.items()),
        ),
    }


def _way(key: str, trace: Trace, language: Language) -> str:
    """Return how a solver came there, in words."""
    moved, steps = trace.motion.moved, len(trace) - 1
    name = f'<b style="color: var(--word-{key})">{escape(trace.label)}</b>'
    if moved >= 1.0:
        much = language("all the weight {times:.1f} times", times=moved)
    else:
        much = language("{part} of the weight", part=f"{100 * moved:.0f}\N{NO-BREAK SPACE}%")
    return language.several(
        "{name} moved {much} in {n} step", "{name} moved {much} in {n} steps", steps, name=name, much=much
    )


def _first_card(language: Language) -> str:
    words = f"<b>1 {language(one_curve.CURVE_TITLE)}</b><span>{language(one_curve.CURVE_IN_SHORT)}</span>"
    return f'<li><a href="{address_of(CURVE)}" data-page="{CURVE}" style="--picture: var(--lesson-1)">{words}</a></li>'


def _card(number: int, lesson: Scenario, language: Language) -> str:
    """Return a lesson as a small picture with its title and what it teaches."""
    words = f"<b>{number} {escape(language(lesson.title))}</b><span>{escape(language(lesson.in_short))}</span>"
    place = f'href="?scenario={lesson.name}&amp;{LESSON}={ON}" data-page="explore" data-scenario="{lesson.name}"'
    return f'<li><a {place} style="--picture: var(--lesson-{number})">{words}</a></li>'


def _groups(language: Language) -> str:
    """Return all lessons under the headings under which they are taught, with what each teaches."""
    parts: list[str] = []
    for group, members in groupby(enumerate(lessons().values(), 2), key=lambda entry: entry[1].group):
        cards = "" if parts else _first_card(language)
        cards += "".join(_card(number, lesson, language) for number, lesson in members)
        parts.append(f'<h3>{escape(language(group))}</h3><ol class="lessons large">{cards}</ol>')
    return "".join(parts)


def _triangle(traces: Mapping[str, Trace], titles: Sequence[str], language: Language) -> dict[str, str]:
    """Return the figure that plays the recorded race, and what its script is told."""
    recipe, ground = load_scenario(RECORDED).recipe, recorded_evidence(RECORDED).get("ground", {})
    styles = {key: replace(s, colour=f"var(--run-{key})") for key, s in run_styles(traces, LIGHT).items()}
    caption = language("recorded on {data} data", data=recipe.data.source.title())
    data = triangle_data(traces, styles, recipe.prepare().problem, caption, titles, ground.get("objective", ()))
    data["pair"] = one_curve.two_kernels()
    return {
        "triangle": triangle_figure(traces, styles, language),
        "data": json.dumps(data).replace("<", "\\u003c"),
        "solver": SOLVER,
    }


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
    small = [one_curve.curve_thumbnail(theme), *(thumbnail(name, theme) for name in lessons())]
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
    many = Counter(answer.verdict for answer in chain(*papers.values()))
    counts = " ".join(f"{many[verdict]} {verdict_html(verdict)}" for verdict in VERDICTS if many[verdict])
    return f'<p class="counts">{counted(many.total(), "claim")}: {counts}</p>{stated}{listed}'


def _line(answer: ClaimAnswer) -> str:
    claim = answer.claim
    place = f'href="?claim={escape(claim.name)}" data-page="explore" data-claim="{escape(claim.name)}"'
    cells = f"<span>{escape(claim.sentence)}</span><small>{escape(claim.place)}</small>"
    return f"<li><a {place}>{verdict_html(answer.verdict)}{cells}</a></li>"
