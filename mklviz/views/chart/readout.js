const plot = cb_obj.origin
const x = cb_obj.x
const view = Bokeh.index.find_one(plot)
const rows = []
let at = null
// what lies behind, drawn faintly or not at all, says nothing
const curves = plot.renderers.filter(({visible}) => visible).flatMap(({glyph, data_source: {data}, name}) => {
  if (glyph.type === "MultiLine" && "label" in data) return data.label.flatMap((label, k) => data.alpha[k] < 1 ? []
    : [{xs: data.xs[k], ys: data.ys[k], name: label, colour: data.colour[k], share: shares}])
  if (glyph.type !== "Line" || glyph.line_color.value == null || glyph.line_alpha.value < 1) return []
  const share = plot.name === "gap" || glyph.y.field === "above"
  return [{xs: data[glyph.x.field], ys: data[glyph.y.field], name, colour: glyph.line_color.value, share}]
})
for (const {xs, ys, name, colour, share} of curves) {
  let low = 0, high = xs.length - 1
  if (high < 0 || x > xs[high] + 0.03 * (plot.x_range.end - plot.x_range.start)) continue
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (xs[middle] < x) low = middle; else high = middle
  }
  const nearest = Math.abs(xs[low] - x) < Math.abs(xs[high] - x) ? low : high
  if (at === null || Math.abs(xs[nearest] - x) < Math.abs(at - x)) at = xs[nearest]
  if (Number.isFinite(ys[nearest])) rows.push([ys[nearest], name, colour, share])
}
const box = readoutBox()
const {x_range, y_range} = plot
const outside = x < x_range.start || x > x_range.end || cb_obj.y < y_range.start || cb_obj.y > y_range.end
if (rows.length === 0 || outside) { box.style.display = "none"; return }
const shown = (value, share) => share ? percent(value) : number(value, 5)
const cell = (text, style) => Object.assign(document.createElement("span"), {textContent: text, style})
const head = cell(`${plot.below[0].axis_label} ${number(at, 4)}`, `grid-column: 1 / 4; color: ${muted}`)
box.replaceChildren(head, ...rows.sort((a, b) => b[0] - a[0]).flatMap(([value, name, colour, share]) => [
  cell("", `width: 12px; height: 3px; align-self: center; background: ${colour}`),
  cell(name, ""), cell(shown(value, share), "text-align: right; font-variant-numeric: tabular-nums"),
]))
showReadout(box, view, cb_obj, "display: grid; gap: 1px 8px; grid-template-columns: auto auto auto")
