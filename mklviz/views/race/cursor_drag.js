// Tells where the mouse is dragged to, and on whose line the drag began, -1 on none. A tool that takes drags, as
// that which zooms, is put away as long as the mouse is on a line of the cursor: from there the line itself is dragged.
const REACH = 6  // pixels
const plot = cb_obj.origin, taken = plot.toolbar.gestures.pan
const drag = asked.drag ??= { line: null, tool: null }
const lineAt = (sx) => {
  const { glyph, view: { filter } } = plot.renderers.find(({ data_source }) => data_source === marks)
  const { x_scale } = Bokeh.index.find_one(plot).frame
  const drawn = (k) => filter.indices === undefined || filter.indices.includes(k)
  const away = Array.from(marks.data[glyph.x.field], (x, k) => drawn(k) ? Math.abs(x_scale.compute(x) - sx) : NaN)
  const nearest = Math.min(...away.filter(Number.isFinite))
  return nearest <= REACH ? away.indexOf(nearest) : -1
}
const putAway = () => {
  if (taken.active == null) return
  drag.tool = taken.active
  drag.tool.active = false
  drag.tool.overlay?.clear()  // of a drag that a finger has begun
}
const giveBack = () => {
  if (drag.tool !== null) drag.tool.active = true
  drag.tool = null
}
const does = {
  mousemove: () => {
    if (drag.line !== null) return
    if (lineAt(cb_obj.sx) < 0) return giveBack()
    putAway()
    Bokeh.index.find_one(plot).canvas_view.ui_event_bus.set_cursor("ew-resize")
  },
  panstart: () => {
    drag.line = lineAt(cb_obj.sx)
    if (drag.line >= 0) putAway()
  },
  pan: () => { if (taken.active == null) say({ x: [cb_obj.x], line: [drag.line ?? -1] }) },
  panend: () => {
    drag.line = null
    giveBack()
  },
  mouseleave: () => { if (drag.line === null) giveBack() },
}
does[cb_obj.event_name]()
