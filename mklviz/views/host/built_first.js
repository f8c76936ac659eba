// What the server changes waits while views are being built. BokehJS reads a model when it builds the view and listens to
// it later: what changes in between stands in the model and is never seen, be it children, data or a state.
{
const LONGEST = 60  // looks, one a second, without any view built, after which those that are missing are not waited for; a
  // browser that is held up looks less often
const LISTENS = 50  // milliseconds, about, after which React listens to what it has drawn
const { Document } = Bokeh.require("document/document"), builders = Bokeh.require("core/build_views")
const view = (name) => Bokeh.Models.get(name).prototype.default_view.prototype
const layout = Bokeh.require("models/layouts/layout_dom").LayoutDOMView.prototype
const connections = Bokeh.require("client/connection").ClientConnection.prototype, { connect } = connections
let building = new Set(), waiting = [], looks = 0
Bokeh.set_log_level("error")  // its warnings tell of figures that wait for their race, and have no data yet

const goOn = () => {
  if (!waiting.length || building.size) return
  try { waiting.shift()[1]() } finally { goOn() }
}
const finish = (work) => {
  const over = () => {
    looks = 0
    building.delete(work)
    if (!building.size) setTimeout(goOn)  // once they are drawn
  }
  looks = 0
  building.add(work)
  work.then(over, over)
  return work
}

for (const name of ["build_view", "build_views"]) {
  const build = builders[name]
  builders[name] = (...given) => finish(build(...given))
}
const kinds = Bokeh.Models.names.map((name) => Bokeh.Models.get(name).prototype.default_view?.prototype ?? {})
for (const kind of new Set([layout, ...kinds.filter((kind) => Object.hasOwn(kind, "update_children"))])) {
  const update = kind.update_children
  kind.update_children = function () {  // one after the other: two at once would build the same child twice
    return this.updated = finish((this.updated ?? Promise.resolve()).catch(() => {}).then(() => update.call(this)))
  }
}
const renderer = view("GlyphRenderer"), fill = renderer.set_data
renderer.set_data = function (...given) {  // likewise: it reads the data in several steps, between which others may come
  return this.filled = (this.filled ?? Promise.resolve()).catch(() => {}).then(() => fill.apply(this, given))
}
const react = view("panel.models.esm.ReactComponent"), draw = react.render_esm
const shown = new WeakSet()
react.render_esm = function () {
  const { data } = this.model  // on a phone the drawer covers the race: it begins closed, before it is ever drawn
  if (data?.sidebar_open && innerWidth < 600 && !shown.has(this.model)) data.sidebar_open = false
  if (data?.sidebar_open !== undefined && mklvizDark && !shown.has(this.model)) data.dark_theme = true
  shown.add(this.model)
  draw.call(this)
  finish(this.ready.finally(() => new Promise((done) => setTimeout(done, LISTENS))))
}

const apply = Document.prototype.apply_json_patch
Document.prototype.in_turn = function (work) {
  waiting.push([this, work])
  goOn()
}
Document.prototype.forget_waiting = function () {  // what comes instead has the changes
  waiting = waiting.filter(([document]) => document !== this)
}
Document.prototype.apply_json_patch = function (...patch) {
  this.in_turn(() => apply.apply(this, patch))
}
Document.prototype.apply_at_once = apply
// BokehJS would send models that have come since the page last sent something whole, which the server refuses; none is new
const patch = Document.prototype.create_json_patch
Document.prototype.create_json_patch = function (events) {
  this._new_models.clear()
  return patch.call(this, events)
}
setInterval(() => {
  if (++looks > LONGEST) building = new Set()
  goOn()
}, 1000)

connections.connect = function () {
  window.mklvizLine = this  // BokehJS does not say when it is lost; reconnect.js brings it back
  return connect.call(this)
}

// When a box changes its size, BokehJS lays out every figure of the page: also one that has no layout yet, and fails, and
// those of hidden tabs, each once for every figure of the tab that is opened
const figure = view("Plot")
for (const step of ["_measure_layout", "_after_layout"]) {
  const lay_out = figure[step]
  figure[step] = function () {
    const seen = !this.el.checkVisibility || this.el.checkVisibility()  // which older browsers lack
    if (this.layout != null && seen) lay_out.call(this)
  }
}
// A hidden figure has no size and never gets one: BokehJS would lay it out anew at each change, which takes ten
// times as long as to paint one that is seen
const renew = figure._invalidate_layout_if_needed
figure._invalidate_layout_if_needed = function () {
  if (this.is_displayed) renew.call(this)
}
}
