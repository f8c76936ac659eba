"""The legend as a row of buttons, one per solver: press to hide or show its curves everywhere."""

from __future__ import annotations

import param
from panel.custom import JSComponent

__all__ = ["Chips"]


class Chips(JSComponent):
    """Toggle buttons with the solver's line and marker.

    Attributes
    ----------
    items : list of dict
        ``key``, ``label`` and ``swatch`` (an SVG) of each.
    hidden : list of str
        Keys that are switched off.
    """

    items = param.List(default=[])
    hidden = param.List(default=[])

    _esm = """
    export function render({ model, el }) {
      const row = document.createElement("div")
      row.className = "chips"
      row.setAttribute("role", "group")
      row.setAttribute("aria-label", "Solvers shown")
      const press = (key) => {
        const hidden = model.hidden.filter((other) => other !== key)
        model.hidden = hidden.length === model.hidden.length ? [...hidden, key] : hidden
      }
      const isolate = (key) => {
        const others = model.items.map((item) => item.key).filter((other) => other !== key)
        const alone = others.every((other) => model.hidden.includes(other))
        model.hidden = alone ? [] : others
      }
      const mark = () => row.querySelectorAll("button").forEach((button) => {
        button.setAttribute("aria-pressed", String(!model.hidden.includes(button.dataset.key)))
      })
      const fill = () => {
        row.replaceChildren(...model.items.map((item) => {
          const button = document.createElement("button")
          button.type = "button"
          button.dataset.key = item.key
          button.title = "Click: hide or show. Double-click: show alone."
          button.innerHTML = item.swatch
          button.append(Object.assign(document.createElement("span"), { textContent: item.label }))
          button.addEventListener("click", (event) => { if (event.detail < 2) press(item.key) })
          button.addEventListener("dblclick", () => { press(item.key); isolate(item.key) })
          return button
        }))
        mark()
      }
      fill()
      model.on("items", fill)
      model.on("hidden", mark)
      el.append(row)
    }
    """

    _stylesheets = [
        """
        .chips { display: flex; flex-wrap: wrap; gap: 6px; }
        .chips button { display: inline-flex; align-items: center; gap: 7px; height: 30px; padding: 0 12px 0 10px;
          font: 600 13px var(--mk-font); color: var(--mk-text); background: var(--mk-card); cursor: pointer;
          border: 1px solid var(--mk-border); border-radius: 15px; }
        .chips button:hover { border-color: var(--mk-muted); }
        .chips button:focus-visible { outline: 2px solid var(--mk-accent); outline-offset: 2px; }
        .chips button[aria-pressed="false"] { background: transparent; font-weight: 400; color: var(--mk-muted);
          border-style: dashed; text-decoration: line-through; }
        .chips button[aria-pressed="false"] svg { opacity: 0.35; }
        """
    ]
