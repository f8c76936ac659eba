"""Where the time goes: one bar per solver, its CPU seconds split into what they were spent on.

A bar is as long as its solver's time compared with the longest, or, as shares, as long as all others. The page holds
the bars; while solvers run, only their numbers travel.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape
from typing import Any

import param
from panel.custom import JSComponent

from mklviz.context import PARTS
from mklviz.engine import Race
from mklviz.views.look.cards import TEXT_CSS, title
from mklviz.views.look.palette import RunStyle, swatch

__all__ = ["LABELS", "TimeBars", "heading", "spent_by"]

LABELS = {
    "svm": "SVM",
    "gradient": "gradient",
    "combine": "combine kernels",
    "subproblem": "subproblem",
    "other": "other",
}


WHY = (
    "CPU seconds inside each solver. The subproblem is its own linear program, projection or formula; other is mostly"
    " certificates."
)


def heading() -> str:
    """Return the card's title with the parts and their colours; what each is shows under the mouse as well."""
    entries = (
        f'<span title="{escape(why.capitalize())}"><i class="part" style="background: var(--mk-{part})"></i>'
        f"{LABELS[part]}</span>"
        for part, why in PARTS.items()
    )
    return title("Where the time goes", beside=f'<span class="legend">{"".join(entries)}</span>')


class TimeBars(JSComponent):
    """The bars.

    Attributes
    ----------
    items : list of dict
        ``key``, ``label`` and ``swatch`` (an SVG) of each run.
    spent : dict
        CPU seconds by part, a list per key; an empty list where nobody measured them.
    hidden : list of str
        Keys of the runs that are not drawn.
    shares : bool
        Whether all bars are equally long.
    """

    items = param.List(default=[])
    spent = param.Dict(default={})
    hidden = param.List(default=[])
    shares = param.Boolean(default=False)
    heading = param.String(default="", constant=True)
    why = param.String(default=WHY, constant=True)
    parts = param.List(default=list(LABELS.items()), constant=True)

    def __init__(self, **params: Any) -> None:
        super().__init__(**{"heading": heading(), **params})

    def follow(self, race: Race, styles: Mapping[str, RunStyle], hidden: Collection[str]) -> None:
        """Bring the bars up to what the runs have spent by now; nothing is sent where nothing changed."""
        items = [{"key": key, "label": style.label, "swatch": swatch(style)} for key, style in styles.items()]
        news: dict[str, Any] = {"items": items, "spent": spent_by(race), "hidden": sorted(hidden)}
        self.param.update(**{name: value for name, value in news.items() if value != getattr(self, name)})

    _esm = """
    export function render({ model, el }) {
      const make = (tag, className, textContent = "") =>
        Object.assign(document.createElement(tag), { className, textContent })
      const percent = (share) => `${Math.round(100 * share)} %`
      const seconds = (s) => `${s.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} s`
      const list = make("div", "bars")
      list.setAttribute("role", "list")
      const modes = make("div", "modes")
      modes.setAttribute("role", "group")
      modes.setAttribute("aria-label", "Length of the bars")
      const buttons = [["Seconds", false], ["Shares", true]].map(([text, shares]) => {
        const button = Object.assign(make("button", "", text), { type: "button" })
        button.addEventListener("click", () => { model.shares = shares })
        return [button, shares]
      })
      modes.append(...buttons.map(([button]) => button))
      const top = make("div", "top"), nothing = make("p", "quiet", "What each solver spends its time on appears here.")
      top.innerHTML = model.heading
      top.append(modes)
      let rows = new Map()
      const build = () => {
        rows = new Map(model.items.map(({ key, label, swatch }) => {
          const row = make("div", "row"), name = make("span", "name"), bar = make("div", "bar")
          row.setAttribute("role", "listitem")
          row.dataset.run = key
          name.innerHTML = swatch
          name.append(make("span", "", label))
          bar.setAttribute("role", "img")
          const segments = model.parts.map(([part]) => {
            const segment = make("div", `segment ${part}`)
            segment.append(make("span", ""))
            return segment
          })
          const total = make("span", "total")
          bar.append(...segments, make("span", "without", "Saved without this measurement"))
          row.append(name, bar, total)
          return [key, { row, bar, segments, total, label }]
        }))
        list.replaceChildren(...[...rows.values()].map(({ row }) => row))
        fill()
      }
      const fill = () => {
        const sum = (key) => (model.spent[key] ?? []).reduce((a, b) => a + b, 0)
        const shown = [...rows.keys()].filter((key) => !model.hidden.includes(key))
        const longest = Math.max(...shown.map(sum), 1e-9)
        for (const [key, { row, bar, segments, total, label }] of rows) {
          const spent = model.spent[key] ?? [], all = sum(key)
          row.hidden = model.hidden.includes(key)
          row.classList.toggle("unmeasured", spent.length === 0)
          total.textContent = spent.length ? seconds(all) : ""
          const told = []
          segments.forEach((segment, index) => {
            const part = spent[index] ?? 0, share = all > 0 ? part / all : 0
            segment.style.width = `${100 * (model.shares ? share : part / longest)}%`
            segment.firstChild.textContent = percent(share)
            const said = `${model.parts[index][1]} ${percent(share)}`
            segment.title = `${label}: ${said}, ${part.toPrecision(3)} s`
            if (part > 0) told.push(said)
          })
          const parts = told.length ? `: ${told.join(", ")}` : ""
          bar.setAttribute("aria-label", `${label}, ${total.textContent || "not measured"}${parts}`)
        }
        buttons.forEach(([button, shares]) => button.setAttribute("aria-pressed", String(shares === model.shares)))
        modes.hidden = list.hidden = rows.size === 0
        nothing.hidden = rows.size > 0
      }
      build()
      model.on("items", build)
      for (const name of ["spent", "hidden", "shares"]) model.on(name, fill)
      el.append(top, make("p", "why", model.why), list, nothing)
    }
    """

    _stylesheets = [
        TEXT_CSS,
        """
        .top { display: flex; flex-wrap: wrap; gap: 4px 16px; justify-content: space-between; align-items: baseline; }
        .bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: 7px 14px; padding: 10px 0 4px; }
        .row { display: grid; grid-template-columns: subgrid; grid-column: 1 / -1; align-items: center; }
        [hidden] { display: none !important; }
        .name { display: inline-flex; align-items: center; gap: 8px; font-weight: 500; white-space: nowrap; }
        .bar { display: flex; height: 22px; border-radius: 3px; overflow: hidden; min-width: 0; }
        .segment { height: 100%; min-width: 0; flex: none; box-sizing: border-box; container-type: inline-size;
          display: flex; align-items: center; justify-content: center; overflow: hidden;
          box-shadow: inset -1px 0 var(--mk-card); }
        .segment span { display: none; font-size: 12px; font-weight: 600; white-space: nowrap;
          font-variant-numeric: tabular-nums; }
        @container (min-width: 38px) { .segment span { display: inline; } }
        .svm { background: var(--mk-svm); color: var(--mk-on-svm); }
        .gradient { background: var(--mk-gradient); color: var(--mk-on-gradient); }
        .combine { background: var(--mk-combine); color: var(--mk-on-combine); }
        .subproblem { background: var(--mk-subproblem); color: var(--mk-on-subproblem); }
        .other { background: var(--mk-other); color: var(--mk-on-other); }
        .without { display: none; color: var(--mk-muted); font-size: 12.5px; }
        .unmeasured .segment { display: none; }
        .unmeasured .without { display: inline; }
        .total { text-align: right; font-variant-numeric: tabular-nums; min-width: 56px; }
        .modes { display: flex; gap: 4px; }
        .modes button { font: 500 12.5px var(--mk-font); padding: 2px 10px; border-radius: 6px; cursor: pointer;
          color: var(--mk-muted); background: transparent; border: 1px solid var(--mk-border); }
        .modes button[aria-pressed="true"] { color: var(--mk-text); border-color: var(--mk-muted); }
        .modes button:focus-visible { outline: 2px solid var(--mk-accent); outline-offset: 2px; }
        """,
    ]


def spent_by(race: Race) -> dict[str, list[float]]:
    """Return the CPU seconds by part of every run, rounded to what can be seen; none where nobody measured them."""
    spent = {}
    for key, run in race.runs.items():
        split = run.trace.split_at(len(run.trace) - 1) if len(run.trace) else dict.fromkeys(PARTS, 0.0)
        spent[key] = [round(seconds, 5) for seconds in split.values()]
    return spent
