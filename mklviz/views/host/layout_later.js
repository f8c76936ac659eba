// When the box around a figure changes its size, BokehJS lays out even a figure that has no layout yet, and fails
const figure = Bokeh.Models.get("Plot").prototype.default_view.prototype
for (const step of ["_measure_layout", "_after_layout"]) {
  const lay_out = figure[step]
  if (lay_out.waits) continue
  figure[step] = function () {
    if (this.layout != null) lay_out.call(this)
  }
  figure[step].waits = true
}
