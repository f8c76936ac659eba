// Kernel weights as bars that are dragged. Where they share one weight, the others make room in proportion.
export function render({ model, el }) {
  const list = document.createElement("div"), drag = oneInFlight((message) => model.send_msg(message))
  model.on("drawn", drag.painted)
  list.className = "bars"
  list.setAttribute("role", "group")
  list.setAttribute("aria-label", "Kernel weights of your mix")
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
    const line = document.createElement("label"), title = document.createElement("span")
    const track = document.createElement("span"), fill = document.createElement("i"), text = document.createElement("output")
    const range = Object.assign(document.createElement("input"), { type: "range", min: "0", max: "1", step: "0.005" })
    title.textContent = name
    track.className = "track"
    range.setAttribute("aria-label", name)
    const dragged = () => moved(k, Number(range.value) * model.most)
    range.addEventListener("input", dragged)
    keepHold(range, dragged, (is) => { held = is })
    track.append(fill, range)
    line.append(title, track, text)
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
