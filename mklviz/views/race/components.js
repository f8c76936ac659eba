// the legend
function chips({ model, el }) {
  const row = make("div", "chips", { role: "group", ariaLabel: "Solvers shown" })
  const press = (key) => {
    const hidden = model.hidden.filter((other) => other !== key)
    model.hidden = hidden.length === model.hidden.length ? [...hidden, key] : hidden
  }
  const isolate = (key) => {
    const others = model.items.map((item) => item.key).filter((other) => other !== key)
    const alone = others.every((other) => model.hidden.includes(other))
    model.hidden = alone ? [] : others
  }
  const pin = ({ key, label, summary, apart }) => {
    const what = apart ? "its gaps alone, as it solved another problem" : "in objective and gap"
    const title = `Pinned, ${what}: ${summary}. Click: take it off.`, parts = [make("i", "", { ariaHidden: "true" }),
      make("span", "", {}, label), make("b", "", { ariaHidden: "true" }, "×")]
    const button = make("button", "pinned", { type: "button", title, ariaLabel: `Take off the pinned race ${label}` }, ...parts)
    button.addEventListener("click", () => model.send_msg({ off: key }))
    return button
  }
  const mark = () => row.querySelectorAll("button[data-key]").forEach((button) => {
    button.setAttribute("aria-pressed", String(!model.hidden.includes(button.dataset.key)))
  })
  const fill = () => {
    row.replaceChildren(...model.items.map((item) => {
      const button = make("button", "", { type: "button", innerHTML: item.swatch,
        title: "Click: hide or show. Double-click: show alone." }, make("span", "", {}, item.label))
      button.dataset.key = item.key
      button.addEventListener("click", (event) => { if (event.detail < 2) press(item.key) })
      button.addEventListener("dblclick", () => { press(item.key); isolate(item.key) })
      return button
    }), ...model.pinned.map(pin))
    mark()
  }
  letGo(row)
  fill()
  model.on("items", fill)
  model.on("pinned", fill)
  model.on("hidden", mark)
  el.append(row)
}

// where the time goes
function timeBars({ model, el }) {
  const percent = (share) => `${Math.round(100 * share)} %`
  const seconds = (s) => `${s.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} s`
  const list = make("div", "bars", { role: "list" })
  const buttons = [["Seconds", false], ["Shares", true]].map(([text, shares]) => {
    const button = make("button", "", { type: "button" }, text)
    button.addEventListener("click", () => { model.shares = shares })
    return [button, shares]
  })
  const modes = make("div", "modes", { role: "group", ariaLabel: "Length of the bars" }, ...buttons.map(([button]) => button))
  letGo(modes)
  const top = make("div", "top", { innerHTML: model.heading }, modes)
  const nothing = make("p", "quiet", {}, "What each solver spends its time on appears here.")
  let rows = new Map()
  const build = () => {
    rows = new Map(model.items.map(({ key, label, swatch }) => {
      const segments = model.parts.map(([part]) => make("div", `segment ${part}`, {}, make("span")))
      const without = make("span", "without", {}, "Saved without this measurement"), total = make("span", "total")
      const name = make("span", "name", { innerHTML: swatch }, make("span", "", {}, label))
      const bar = make("div", "bar", { role: "img" }, ...segments, without)
      const row = make("div", "row", { role: "listitem" }, name, bar, total)
      row.dataset.run = key
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
      const texts = []
      segments.forEach((segment, index) => {
        const part = spent[index] ?? 0, share = all > 0 ? part / all : 0
        segment.style.width = `${100 * (model.shares ? share : part / longest)}%`
        segment.firstChild.textContent = percent(share)
        const text = `${model.parts[index][1]} ${percent(share)}`
        segment.title = `${label}: ${text}, ${part.toPrecision(3)} s`
        if (part > 0) texts.push(text)
      })
      const parts = texts.length ? `: ${texts.join(", ")}` : ""
      bar.setAttribute("aria-label", `${label}, ${total.textContent || "not measured"}${parts}`)
    }
    buttons.forEach(([button, shares]) => button.setAttribute("aria-pressed", String(shares === model.shares)))
    modes.hidden = list.hidden = rows.size === 0
    nothing.hidden = rows.size > 0
  }
  build()
  model.on("items", build)
  for (const name of ["spent", "hidden", "shares"]) model.on(name, fill)
  el.append(top, make("p", "why", {}, model.why), list, nothing)
}

// Kernel weights as bars that are dragged. Where they share one weight, the others make room in proportion.
function weightBars({ model, el }) {
  const list = make("div", "mix", { role: "group", ariaLabel: "Kernel weights of your mix" })
  const drag = oneInFlight((message) => model.send_msg(message))
  model.on("drawn", drag.painted)
  let weights = [], rows = [], held = false
  const words = (weight) => model.shared ? `${(100 * weight).toFixed(1)} %` : weight.toPrecision(3)

  const paint = () => rows.forEach(({ range, fill, text }, k) => {
    const share = Math.min(weights[k] / model.most, 1)
    range.value = String(share)
    range.setAttribute("aria-valuetext", words(weights[k]))
    fill.style.width = `${100 * share}%`
    text.textContent = words(weights[k])
  })
  const moved = (k, value) => {
    const before = weights.reduce((sum, weight, j) => j === k ? sum : sum + weight, 0)
    const left = 1 - value
    weights = weights.map((weight, j) => {
      if (j === k) return value
      if (!model.shared) return weight
      return before > 1e-9 ? weight * left / before : left / (weights.length - 1)
    })
    paint()
    drag.say({ weights })
  }
  const row = (name, k) => {
    const range = make("input", "", { type: "range", min: "0", max: "1", step: "0.005", ariaLabel: name })
    const fill = make("i"), text = make("output")
    const line = make("label", "", {}, make("span", "", {}, name), make("span", "track", {}, fill, range), text)
    const dragged = () => moved(k, Number(range.value) * model.most)
    range.addEventListener("input", dragged)
    keepHold(range, dragged, (is) => { held = is })
    return { line, range, fill, text }
  }
  const fill = () => {
    rows = model.names.map(row)
    list.replaceChildren(...rows.map(({ line }) => line))
    take()
  }
  const take = () => {
    if (held || !drag.idle() || model.weights.length !== rows.length) return
    weights = [...model.weights]
    paint()
  }
  fill()
  model.on("names", fill)
  model.on("weights", take)
  el.append(list)
}
