// one box for all figures, in the colours and the type of the page
const EDGE = 8  // pixels between it and the edges of the window
function readoutBox() {
  const known = document.getElementById("mk-readout")
  if (known !== null) return known
  const box = Object.assign(document.createElement("div"), {id: "mk-readout", ariaHidden: "true"})
  document.body.append(box)
  return box
}
function showReadout(box, view, event, look) {
  box.style.cssText = `position: fixed; z-index: 2000; pointer-events: none; padding: 6px 10px; border-radius: 6px;
    left: 0; top: 0; max-width: calc(100vw - 16px);
    font: ${font}; color: ${text}; background: ${card}; border: 1px solid ${border};
    box-sizing: border-box; box-shadow: 0 2px 8px rgba(0, 0, 0, 0.18); ${look}`
  const frame = view.el.getBoundingClientRect(), x = frame.left + event.sx, y = frame.top + event.sy
  const { offsetWidth: width, offsetHeight: height } = box
  const room = innerWidth - width - EDGE, low = innerHeight - height - EDGE
  const beside = [x + 16, x - 16 - width].find((left) => left >= EDGE && left <= room)
  const under = y + 24 <= low ? y + 24 : Math.max(y - 24 - height, EDGE)  // or above, where neither side has room, as on a phone
  box.style.left = `${beside ?? Math.max(room, EDGE)}px`
  box.style.top = `${beside === undefined ? under : Math.max(Math.min(y + 12, low), EDGE)}px`
}
const number = (value, digits) => value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)
  ? power(value, 2) : value.toLocaleString("en-US", {maximumSignificantDigits: digits}).replace("-", "−")

// the values of all curves at the place under the mouse; as per cent where the axis has these
function readCurves() {
  const plot = cb_obj.origin
  const x = cb_obj.x
  const view = Bokeh.index.find_one(plot)
  const rows = []
  let at = null
  // what lies behind, drawn faintly or not at all, says nothing
  const curves = plot.renderers.filter(({visible}) => visible).flatMap(({glyph, data_source: {data}, name}) => {
    if (glyph.type === "MultiLine" && "label" in data) return data.label.flatMap((label, k) => data.alpha[k] < 1 ? []
      : [{xs: data.xs[k], ys: data.ys[k], name: label, colour: data.colour[k]}])
    if (glyph.type !== "Line" || glyph.line_color.value == null || glyph.line_alpha.value < 1) return []
    return [{xs: data[glyph.x.field], ys: data[glyph.y.field], name, colour: glyph.line_color.value}]
  })
  const first = Math.min(...curves.filter(({xs}) => xs.length).map(({xs}) => xs[0]))
  for (const {xs, ys, name, colour} of curves) {
    let low = 0, high = xs.length - 1
    if (high < 0 || (x < xs[0] && xs[0] > first) ||  // a branch has no value before it begins
       x > xs[high] + 0.03 * (plot.x_range.end - plot.x_range.start)) continue
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (xs[middle] < x) low = middle; else high = middle
    }
    const nearest = Math.abs(xs[low] - x) < Math.abs(xs[high] - x) ? low : high
    if (at === null || Math.abs(xs[nearest] - x) < Math.abs(at - x)) at = xs[nearest]
    if (Number.isFinite(ys[nearest])) rows.push([ys[nearest], name, colour])
  }
  const box = readoutBox()
  const {x_range, y_range} = plot
  const outside = x < x_range.start || x > x_range.end || cb_obj.y < y_range.start || cb_obj.y > y_range.end
  if (rows.length === 0 || outside) { box.style.display = "none"; return }
  const shown = (value) => plot.left[0].formatter.code === inPercent ? percent(value) : number(value, 5)
  const cell = (text, style) => Object.assign(document.createElement("span"), {textContent: text, style})
  const head = cell(`${plot.below[0].axis_label} ${number(at, 4)}`, `grid-column: 1 / 4; color: ${muted}`)
  box.replaceChildren(head, ...rows.sort((a, b) => b[0] - a[0]).flatMap(([value, name, colour]) => [
    cell("", `width: 12px; height: 3px; align-self: center; background: ${colour}`),
    cell(name, ""), cell(shown(value), "text-align: right; font-variant-numeric: tabular-nums"),
  ]))
  showReadout(box, view, cb_obj, "display: grid; gap: 1px 8px; grid-template-columns: auto auto auto")
}

const REACH = 11  // pixels
// the nearest point within reach speaks; one that is not painted gives way to all that are
function readPoints() {
  const view = Bokeh.index.find_one(plot)
  const {x_scale, y_scale} = view.frame
  let nearest = null
  for (const [renderer, lines] of readouts) {
    const {glyph, data_source: {data}} = renderer
    const xs = data[glyph.x.field], ys = data[glyph.y.field]
    const unpainted = glyph.line_color.value === null && glyph.line_color.field === undefined
    for (let i = 0; i < xs.length; i++) {
      const away = Math.hypot(x_scale.compute(xs[i]) - cb_obj.sx, y_scale.compute(ys[i]) - cb_obj.sy)
      const distance = away + (unpainted ? REACH : 0)
      if (away < REACH && (nearest === null || distance < nearest.distance)) nearest = {distance, data, i, lines}
    }
  }
  const box = readoutBox()
  if (nearest === null) { box.style.display = "none"; return }
  const {data, i, lines} = nearest
  const written = (value) => typeof value === "number" ? number(value, 5) : value
  const texts = lines.map(([words, column]) => [words, written(data[column][i])]).filter(([, text]) => text !== "")
  box.replaceChildren(...texts.map(([words, text], place) => Object.assign(document.createElement("div"),
    {textContent: words ? `${words} ${text}` : text,
      style: words ? "" : place === 0 ? "font-weight: 700" : `color: ${muted}`})))
  showReadout(box, view, cb_obj, "max-width: min(340px, calc(100vw - 16px))")
}
