const REACH = 11
// the nearest point within reach speaks; one that is not painted gives way to all that are
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
