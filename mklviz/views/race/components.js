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
  const sum = (spent) => spent.reduce((a, b) => a + b, 0)
  const row = ({ key, label, swatch }, longest) => {
    const spent = model.spent[key] ?? [], all = sum(spent), share = (k) => all > 0 ? spent[k] / all : 0
    const segments = spent.map((part, k) => make("div", "segment", {
      style: `width: ${100 * (model.shares ? share(k) : part / longest)}%; background: var(--mk-${model.parts[k][0]}); color: var(--mk-on-${model.parts[k][0]})`,
      title: `${label}: ${model.parts[k][1]} ${percent(share(k))}, ${part.toPrecision(3)} s` }, make("span", "", {}, percent(share(k)))))
    const texts = spent.flatMap((part, k) => part > 0 ? [`${model.parts[k][1]} ${percent(share(k))}`] : []).join(", ")
    const total = spent.length ? seconds(all) : "", ariaLabel = `${label}, ${total || "not measured"}${texts && `: ${texts}`}`
    const without = spent.length ? [] : [make("span", "without", {}, "Saved without this measurement")]
    const made = make("div", "row", { role: "listitem" }, make("span", "name", { innerHTML: swatch }, make("span", "", {}, label)),
      make("div", "bar", { role: "img", ariaLabel }, ...segments, ...without), make("span", "total", {}, total))
    made.dataset.run = key
    return made
  }
  const fill = () => {
    const shown = model.items.filter(({ key }) => !model.hidden.includes(key))
    const longest = Math.max(...shown.map(({ key }) => sum(model.spent[key] ?? [])), 1e-9)
    list.replaceChildren(...shown.map((item) => row(item, longest)))
    buttons.forEach(([button, shares]) => button.setAttribute("aria-pressed", String(shares === model.shares)))
    modes.hidden = list.hidden = model.items.length === 0
    nothing.hidden = model.items.length > 0
  }
  fill()
  for (const name of ["items", "spent", "hidden", "shares"]) model.on(name, fill)
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
