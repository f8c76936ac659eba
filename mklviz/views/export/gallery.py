"""A folder of pages that need no server: lessons, laboratories, races of papers' claims, and an index of pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

from mklviz._version import __version__
from mklviz.analysis.knob_grid import LabGrid, LabKnob, solve_grid
from mklviz.numbers import counted
from mklviz.problem import Problem
from mklviz.recipe import Recipe
from mklviz.record import Trace
from mklviz.record.archive import replacing
from mklviz.record.bundle import recorded_evidence, recording
from mklviz.record.store import Store
from mklviz.record.summary import Reference
from mklviz.reproduce.answering import race_text, splits_text
from mklviz.reproduce.claim import DOES_NOT
from mklviz.reproduce.recorded import ClaimRace, claim_races
from mklviz.scenarios import GROUPS, load_scenario, scenarios
from mklviz.views.chart.svg import svg_address
from mklviz.views.export.lab_page import lab_page, lab_title
from mklviz.views.export.page import PICTURE_COLOURS, data_title, page, page_colours, race_page
from mklviz.views.export.playground import ABOUT, TITLE, playground_page
from mklviz.views.host.beside import beside
from mklviz.views.host.solved_paths import SOLVER
from mklviz.views.lessons.one_curve import (
    CURVE_IN_SHORT,
    CURVE_SCRIPT,
    CURVE_STYLE,
    CURVE_TITLE,
    curve_figure,
    curve_thumbnail,
    two_kernels,
)
from mklviz.views.lessons.picture import LessonRuns
from mklviz.views.lessons.pictures import PICTURES, small_picture, thumbnail
from mklviz.views.lessons.triangle import TRIANGLE_SCRIPT, TRIANGLE_STYLE, Heights
from mklviz.views.look.palette import DARK, LIGHT, Theme
from mklviz.views.look.styles import run_styles, verdict_html

LABORATORIES = (  # each with its file's name, its recipe, its knob, and the picture of it at one position
    ("level-lambda", "data=ionosphere; solvers=silp,level", "level.lam", "gap", 0.8),
    ("lp-norm", "data=heart; C=1; solvers=spg; gap=1e-4", "p", "few", 1.0),
)
INDEX = "index.html"
_ABOUT = (
    "Races of multiple kernel learning solvers, step by step, those of papers' claims among them, and laboratories with"
    " a knob to turn. Every page is one file with its numbers in it: it needs no server, loads nothing, and can be"
    " handed on."
)
_LABS = "Laboratories"
_BACK = f'<p><a href="{INDEX}">All pages</a></p>'


@dataclass(frozen=True)
class GalleryPage:
    """A page with its file's name, and what the index says of it."""

    name: str
    group: str
    title: str
    about: str
    picture: Callable[[Theme], str]  # returns a small picture in the colours of a theme
    html: str


def save_gallery(folder: str | Path, store: Store | str | Path | None = None) -> list[Path]:
    """Write the gallery, and return its files, the index first; `store` as for `save_lab`."""
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    files = gallery_pages(store)
    for name, html in files.items():
        with replacing(where / name) as file:
            file.write(html.encode())
    return [where / name for name in files]


def gallery_pages(store: Store | str | Path | None = None) -> dict[str, str]:
    """Return the pages of the gallery by the names of their files."""
    solver = partial(thumbnail, "three-kernels")
    playground = GalleryPage("playground", _LABS, TITLE, ABOUT, solver, playground_page(_BACK))
    pages = [playground, *_laboratories(store), _first_lesson(), *_lessons(), *_claims()]
    return {INDEX: _index(pages), **{f"{page.name}.html": page.html for page in pages}}


_CURVE = """.curve { --run-silp: var(--run-0); --word-silp: var(--run-0); }
.curve { --run-level: var(--run-1); --word-level: var(--run-1); }"""
_STEPS = 'playCurve(document.querySelector(".curve"), JSON.parse(textOf("#data")), textOf(".solver"))'


def _first_lesson() -> GalleryPage:
    """Return the lesson of one curve, which has no race."""
    runs = recording("three-kernels")
    colours = page_colours(partial(run_styles, {key: runs[key] for key in ("silp", "level")}))
    style = colours + PICTURE_COLOURS + TRIANGLE_STYLE + CURVE_STYLE + _CURVE
    solver = f'<script type="text/plain" class="solver">{SOLVER}</script>'
    lead = f'{_BACK}<section class="curve">{curve_figure()}</section>{solver}'
    script = TRIANGLE_SCRIPT + CURVE_SCRIPT + _STEPS
    html = page(CURVE_TITLE, f"{CURVE_TITLE}: SILP and Level", "", two_kernels(), style, script, lead)
    return GalleryPage("one-curve", GROUPS[0], CURVE_TITLE, CURVE_IN_SHORT, curve_thumbnail, html)


def _lessons() -> Iterator[GalleryPage]:
    for name, scenario in scenarios().items():
        runs = recording(name)
        question = scenario.question
        if question is not None and runs:
            problem, heights = _posed(name, runs)
            choices = "".join(f"<li>{escape(choice)}</li>" for choice in question.choices)
            lead = (
                f'{_BACK}<div class="lead"><p><b>{escape(question.text)}</b></p><ul>{choices}</ul>'
                f"<details><summary>What it teaches</summary><p>{escape(scenario.teaches)}</p></details></div>"
            )
            html = race_page(runs, scenario.title, lead, problem=problem, heights=heights)
            picture = partial(thumbnail, name)
            yield GalleryPage(name, scenario.group, scenario.title, question.text, picture, html)


def _posed(name: str, runs: Mapping[str, Trace]) -> tuple[Problem | None, Heights]:
    """Return the problem of three kernels, whose page solves it, and its objective; no other is prepared."""
    if len(next(iter(runs.values())).kernel_names) != 3:
        return None, ()
    ground = recorded_evidence(name).get("ground", {})
    return load_scenario(name).recipe.prepare().problem, ground.get("objective", ())


def _laboratories(store: Store | str | Path | None) -> Iterator[GalleryPage]:
    for name, words, turned, drawn, value in LABORATORIES:
        knob = LabKnob(turned)
        grid = LabGrid(Recipe.from_words(words), (knob,))
        places, title = solve_grid(grid, store), lab_title(grid)
        shown = partial(_small, title, drawn, places[[*knob.values].index(value)])
        yield GalleryPage(name, _LABS, title, knob.watch, shown, lab_page(grid, places, _BACK))


def _claims() -> Iterator[GalleryPage]:
    """Yield the races of papers' claims that the package has recorded, each with all claims that it shows."""
    for race in claim_races():
        if traces := race.traces:
            claims = [answer.claim for answer in race.answers]
            places = dict.fromkeys(part for claim in claims for part in claim.place.split(", "))
            title = f"{', '.join(places)}, on {data_title(race.recipe.data.source)}"
            picture = partial(_small, title, _drawn(traces), traces)
            html = race_page(traces, f"{claims[0].authors}: {title}", _claimed(race))
            yield GalleryPage(race.name.replace("/", "-"), claims[0].paper, title, _about(race), picture, html)


def _drawn(traces: Mapping[str, Trace]) -> str:
    """Return the name of the picture of a race; some have no gap, some methods solve no SVM."""
    if not all(trace.final.svm_solves for trace in traces.values()):
        return "strips"
    return "gap" if Reference.of(traces.values()) else "solves"


def _claimed(race: ClaimRace) -> str:
    """Return the claims that a race shows, with what came out."""
    entries = "".join(
        f"<p>{verdict_html(answer.verdict)} {escape(answer.claim.place)}: {escape(answer.claim.sentence)}</p>"
        for answer in race.answers
    )
    splits = ", ".join(dict.fromkeys(map(splits_text, race.answers)))
    measured = f"The verdicts come from {splits} of each data set. {race_text(race.answers[0].claim)}"
    return f'{_BACK}<div class="lead">{entries}<p>{escape(measured)} {escape(race.answers[0].claim.paper)}.</p></div>'


def _about(race: ClaimRace) -> str:
    first, *others = race.answers
    more = f" The race shows {counted(len(others), 'other claim')}, too." if others else ""
    verdict = "Does not reproduce" if first.verdict == DOES_NOT else first.verdict.capitalize()
    return f"{verdict}: {first.claim.sentence}{more}"


def _small(title: str, drawn: str, traces: Mapping[str, Trace], theme: Theme) -> str:
    return small_picture(title, PICTURES[drawn](LessonRuns(traces, run_styles(traces, theme), {}, theme)), theme)


def _index(pages: list[GalleryPage]) -> str:
    groups = dict.fromkeys([_LABS, *GROUPS, *(page.group for page in pages)])
    sections = "".join(_section(group, [page for page in pages if page.group == group]) for group in groups)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="generator" content="mklviz {escape(__version__)}"><title>mklviz: gallery</title>'
        f"<style>{page_colours(lambda _theme: {})}\n{beside(__file__, 'gallery.css')}</style></head>\n<body><header>"
        f"<h1>Gallery of mklviz</h1><p>{escape(_ABOUT)}</p></header>"
        f"<main>{sections}</main></body></html>\n"
    )


def _section(group: str, pages: list[GalleryPage]) -> str:
    cards = "".join(map(_card, pages))
    return f"<section><h2>{escape(group)}</h2><div>{cards}</div></section>" if pages else ""


def _card(page: GalleryPage) -> str:
    light, dark = (svg_address(page.picture(theme)) for theme in (LIGHT, DARK))
    return (
        f'<a href="{page.name}.html"><picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img src="{light}" alt=""></picture><b>{escape(page.title)}</b><span>{escape(page.about)}</span></a>'
    )
