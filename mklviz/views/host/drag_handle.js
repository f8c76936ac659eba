// A handle on a figure.
export function render({ model, el }) {
  const STEP = 0.02, LARGE = 0.1  // of the frame, by an arrow key
  const REST = 700  // milliseconds after the last key, by when a move by keys has ended
  const handle = document.createElement("button")
  handle.type = "button"
  handle.setAttribute("role", "slider")
  handle.setAttribute("aria-roledescription", "handle in two directions")
  handle.setAttribute("aria-valuemin", "0")
  handle.setAttribute("aria-valuemax", "100")
  let view = null, at = [], held = null, moved = false, resting = 0, undo = () => {}

  const drag = draggedBy(model)
  const figure = () => window.Bokeh.index.query_one((one) => one.model.id === model.figure)
  const inside = (value, { start, end }) => Math.min(Math.max(value, Math.min(start, end)), Math.max(start, end))

  const lay = () => {
    const frame = view?.frame, shown = at.length === 2 && frame !== undefined && view.el.isConnected
    handle.hidden = !shown
    if (!shown) return
    const [x, y] = [frame.x_scale.compute(at[0]), frame.y_scale.compute(at[1])]
    const box = view.el.getBoundingClientRect(), base = el.getBoundingClientRect()
    handle.hidden = !Number.isFinite(x + y) || !frame.bbox.contains(x, y)
    handle.style.transform = `translate(${box.left - base.left + x}px, ${box.top - base.top + y}px)`
  }
  const soon = () => requestAnimationFrame(() => setTimeout(lay, 0))

  const attach = () => {
    undo()
    view = model.figure === "" ? null : figure()
    if (view === null) {
      handle.hidden = true
      const again = setTimeout(attach, 100)
      undo = () => clearTimeout(again)
      return
    }
    const watched = [view.model, view.model.x_range, view.model.y_range]
    const sizes = new ResizeObserver(soon)
    sizes.observe(view.el)
    for (const one of watched) one.change.connect(soon)
    undo = () => { sizes.disconnect(); for (const one of watched) one.change.disconnect(soon) }
    lay()
    soon()
  }

  const move = (place, ended) => {
    at = place
    lay()
    drag.say({ at: place, ended })
  }
  const place = (event) => {
    const { frame, model: shown } = view, box = view.el.getBoundingClientRect()
    return [inside(frame.x_scale.invert(event.clientX - box.left), shown.x_range),
      inside(frame.y_scale.invert(event.clientY - box.top), shown.y_range)]
  }

  handle.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || view === null) return
    event.stopPropagation()
    handle.setPointerCapture(event.pointerId)
    held = { x: event.clientX, y: event.clientY }
  })
  handle.addEventListener("pointermove", (event) => {
    if (held === null || (!moved && event.clientX === held.x && event.clientY === held.y)) return
    moved = true
    move(place(event), false)
  })
  const release = () => {
    if (moved) move(at, true)  // a click alone moves nothing
    held = null
    moved = false
  }
  handle.addEventListener("pointerup", release)
  handle.addEventListener("pointercancel", release)
  handle.addEventListener("keydown", (event) => {
    const along = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key]
    if (along === undefined || view === null || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    event.stopPropagation()
    const { x_range, y_range } = view.model, size = event.shiftKey ? LARGE : STEP
    move([inside(at[0] + size * along[0] * (x_range.end - x_range.start), x_range),
      inside(at[1] + size * along[1] * (y_range.end - y_range.start), y_range)], false)
    clearTimeout(resting)
    resting = setTimeout(() => move(at, true), REST)
  })

  const describe = () => {
    handle.setAttribute("aria-label", model.label)
    handle.setAttribute("aria-valuetext", model.position)
    handle.setAttribute("aria-valuenow", String(model.share))
    handle.dataset.hint = model.hint
  }
  const stand = () => { if (held === null && drag.idle()) { at = model.place; lay() } }
  describe()
  attach()
  stand()
  model.on("figure", attach)
  model.on("place", stand)
  for (const name of ["label", "position", "share", "hint"]) model.on(name, describe)
  model.on("remove", () => { undo(); clearTimeout(resting) })
  el.append(handle)
}
