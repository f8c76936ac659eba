"""One HTML file that shows a recorded race wherever it is opened, with a cursor over its steps, and asks nobody.

The page holds numbers (`recording`), a script and a style sheet of its own. Its security policy lets this one script
run, by its digest, and nothing be loaded: what came from elsewhere, such as names of columns, stays text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from mklviz._version import __version__
from mklviz.engine import Race
from mklviz.record import Trace
from mklviz.record.files import replacing
from mklviz.views.chart.axes import NUMBERS
from mklviz.views.export.recording import recorded
from mklviz.views.host.beside import beside
from mklviz.views.look.palette import DARK, FONT, LIGHT, Theme
from mklviz.views.look.styles import run_styles

__all__ = ["data_title", "page", "page_colours", "race_page", "save_html"]

_MORE = "Open it with scripts switched on: the figures are drawn by a script in this file, which loads nothing."


def save_html(runs: Race | Trace | Mapping[str, Trace] | Iterable[Trace], path: str | Path) -> None:
    """Write recorded runs as one HTML page that needs no server: figures, a cursor over the steps, and the results.

    Parameters
    ----------
    runs : Race, Trace, mapping of str to Trace or iterable of Trace
        Of one problem.
    path : str or Path
        A file that was there is replaced whole.

    Raises
    ------
    MklvizError
        If no run has a step yet, or if they are of several problems.
    OSError
        If the file cannot be written.
    """
    page = race_page(runs).encode()
    with replacing(path) as file:
        file.write(page)


def race_page(runs: Race | Trace | Mapping[str, Trace] | Iterable[Trace], title: str = "", lead: str = "") -> str:
    """Return what `save_html` writes; with a `title` of its own and `lead`, HTML that stands first, where given."""
    shown = recorded(runs)
    data = shown.page_data()
    heading = "A race" if len(data["runs"]) > 1 else "A run"
    title = title or (f"{heading} on {data_title(shown.data)}" if shown.data else f"{heading} of mklviz")
    names = ", ".join(run["label"] for run in data["runs"])
    begun = {key: trace for key, trace in shown.traces.items() if len(trace)}
    return page(title, f"{title}: {names}", shown.problem, data, begun, "race.js", lead)


def data_title(name: str) -> str:
    """Return what a data set is called in headings."""
    return name.replace("_", " ").capitalize()


def page(
    title: str,
    long_title: str,
    problem: str,
    data: Mapping[str, Any],
    traces: Mapping[str, Trace],
    last_script: str,
    lead: str = "",
) -> str:
    """Return a page of recorded runs.

    `long_title`: its title in a list of windows; `data`: what the scripts draw, `last_script` the last of them;
    `traces`: runs by whose solvers the colours are; `lead`: HTML that stands first.
    """
    sheet = beside(__file__, "page.css")
    script = _numbers() + "".join(beside(__file__, name) for name in ("figure.js", "page.js", last_script))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="generator" content="mklviz {escape(__version__)}"><title>{escape(long_title)}</title>'
        f"<style>{page_colours(traces)}\n{sheet}</style></head>\n<body>"
        f"<header><h1>{escape(title)}</h1><p>{escape(problem)}</p>{lead}</header>"
        f'<main id="race"><noscript><p class="card">{escape(_MORE)}</p></noscript></main>'
        f'\n<script type="application/json" id="data">{_json(data)}</script>\n<script>{script}</script></body></html>\n'
    )


def _numbers() -> str:
    """Return a script that writes numbers at ticks as the dashboard does."""
    written = ", ".join(f"{name}: (tick) => {{ {body} }}" for name, body in NUMBERS.items())
    return f'"use strict"\nconst NUMBERS = {{ {written} }}\n'


def _policy(script: str) -> str:
    """Return a policy under which `script` runs and nothing else, and nothing is loaded."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"


def _json(data: Mapping[str, Any]) -> str:
    """Return JSON that nothing in it can end: a browser looks for tags before it looks for quotes."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def page_colours(traces: Mapping[str, Trace]) -> str:
    """Return the colours of light and dark pages as CSS variables."""
    return (
        f":root {{ color-scheme: light dark; --font: {FONT}; {_variables(traces, LIGHT)} }}"
        f" @media (prefers-color-scheme: dark) {{ :root {{ {_variables(traces, DARK)} }} }}"
    )


def _variables(traces: Mapping[str, Trace], theme: Theme) -> str:
    plain = ("page", "card", "border", "text", "muted", "grid", "axis", "accent")
    colours = {name: getattr(theme, name) for name in plain}
    for name in ("good", "bad", "neutral"):
        colours[f"{name}-fill"], colours[name] = getattr(theme, name)
    styles = run_styles(traces, theme)
    colours |= {f"run-{index}": style.colour for index, style in enumerate(styles.values())}
    colours |= {f"kernel-{index}": colour for index, colour in enumerate(theme.kernels)}
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
