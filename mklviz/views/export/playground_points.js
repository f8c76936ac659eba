// The points of the playground in their plane, over what the solver shown decides: dragged, added and removed.

const REACH = 2.8, PLACES_SHOWN = 44, NEAR = 14  // half a side in standard deviations; of the surface; pixels
const MOST_POINTS = 300, KEY_STEP = 0.05
const STRONGEST = 0.45, BEYOND = 1.5  // how strong the colour of a class is where the decision is this far from zero

class PointPicture {
  // `changed(points, ended)` is told of new points; `points` are [x, y, label]
  constructor(changed) {
    this.changed = changed
    this.points = []
    this.surface = this.held = null
    this.width = 0
    this.chosen = -1 // the point that is dragged, or that keys move
    this.adds = 1
    this.canvas = tag("canvas", { tabindex: 0, role: "application", "aria-roledescription": tr("points in a plane") })
    this.announced = tag("span", { class: "unseen", "aria-live": "polite" })
    this.root = tag("div", { class: "points" }, this.canvas, this.announced)
    this.shades = new OffscreenCanvas(PLACES_SHOWN, PLACES_SHOWN)
    new ResizeObserver(() => { this.width = this.canvas.clientWidth; this.paint() }).observe(this.canvas)
    for (const [name, act] of Object.entries({ pointerdown: this.press, pointermove: this.move, pointerup: this.release,
      pointercancel: this.release, keydown: this.key, dblclick: this.remove })) this.canvas.addEventListener(name, act.bind(this))
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw())
  }

  show(points) {
    if (points === this.points) return
    this.points = points
    this.chosen = Math.min(this.chosen, points.length - 1)
    this.canvas.setAttribute("aria-label",
      tr("{n} points of two classes. Page Up and Page Down choose one, arrow keys move it, Delete removes it, Enter adds one in the middle", { n: points.length }))
    this.draw()
  }

  decided(surface, held) {
    this.surface = surface
    this.held = held
    this.draw()
  }

  // -- drawing

  get unit() { return this.canvas.width / (2 * REACH) }
  place([x, y]) { return [(x + REACH) * this.unit, (REACH - y) * this.unit] }

  // once a frame, however much changes
  draw() { this.due ??= requestAnimationFrame(() => this.paint()) }

  paint() {
    const side = Math.round(this.width * devicePixelRatio), pen = this.canvas.getContext("2d")
    this.due = null
    if (!side) return
    if (this.canvas.width !== side) this.canvas.width = this.canvas.height = side
    const style = getComputedStyle(this.canvas), colour = (name) => style.getPropertyValue(`--${name}`).trim()
    const classes = { [-1]: colour("kernel-1"), 1: colour("kernel-0") }, card = colour("mk-card"), text = colour("mk-text")
    pen.fillStyle = card
    pen.fillRect(0, 0, side, side)
    if (this.surface) this.drawSurface(pen, side, [card, classes], text)
    const size = 4 * devicePixelRatio
    this.points.forEach((point, i) => {
      const [x, y] = this.place(point), ring = this.held?.[i]
      pen.beginPath()
      if (point[2] > 0) pen.rect(x - size * 0.9, y - size * 0.9, 1.8 * size, 1.8 * size)
      else pen.arc(x, y, size, 0, 2 * Math.PI)
      pen.fillStyle = classes[point[2]]
      pen.fill()
      pen.lineWidth = (ring || i === this.chosen ? 1.8 : 1) * devicePixelRatio
      pen.strokeStyle = ring || i === this.chosen ? text : card
      pen.stroke()
      if (i === this.chosen) pen.strokeRect(x - 2.2 * size, y - 2.2 * size, 4.4 * size, 4.4 * size)
    })
  }

  drawSurface(pen, side, [card, classes], text) {
    const small = this.shades.getContext("2d"), image = small.createImageData(PLACES_SHOWN, PLACES_SHOWN)
    const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16))
    const ground = parts(card), ends = { [-1]: parts(classes[-1]), 1: parts(classes[1]) }
    this.surface.forEach((value, at) => {
      const share = STRONGEST * Math.min(Math.abs(value) / BEYOND, 1), end = ends[value > 0 ? 1 : -1]
      ground.forEach((part, k) => { image.data[4 * at + k] = part + share * (end[k] - part) })
      image.data[4 * at + 3] = 255
    })
    small.putImageData(image, 0, 0)
    pen.imageSmoothingEnabled = true
    const cell = side / (PLACES_SHOWN - 1) // values stand at the corners of cells, pixels of the small picture around them
    pen.drawImage(this.shades, -cell / 2, -cell / 2, side + cell, side + cell)
    pen.strokeStyle = text
    for (const [level, width, dash] of [[0, 1.6, []], [-1, 1, [4, 4]], [1, 1, [4, 4]]]) {
      pen.lineWidth = width * devicePixelRatio
      pen.setLineDash(dash.map((length) => length * devicePixelRatio))
      pen.beginPath()
      this.drawLevel(pen, level, cell)
      pen.stroke()
    }
    pen.setLineDash([])
  }

  // the line where the decision is `level`, cell by cell
  drawLevel(pen, level, cell) {
    const at = (column, row) => this.surface[row * PLACES_SHOWN + column] - level
    for (let row = 0; row + 1 < PLACES_SHOWN; row++) for (let column = 0; column + 1 < PLACES_SHOWN; column++) {
      const above = (at(column, row) > 0) + (at(column + 1, row) > 0) + (at(column, row + 1) > 0) + (at(column + 1, row + 1) > 0)
      if (above % 4 === 0) continue
      const corners = [[column, row], [column + 1, row], [column + 1, row + 1], [column, row + 1]], met = []
      corners.forEach((one, k) => {
        const other = corners[(k + 1) % 4], low = at(...one), high = at(...other)
        if (low > 0 !== high > 0) met.push(one.map((value, axis) => cell * (value + low / (low - high) * (other[axis] - value))))
      })
      for (let k = 0; k + 1 < met.length; k += 2) { pen.moveTo(...met[k]); pen.lineTo(...met[k + 1]) }
    }
  }

  // -- pointer and keys

  pointed(event) {
    const box = this.canvas.getBoundingClientRect(), unit = box.width / (2 * REACH)
    return [this.inside((event.clientX - box.left) / unit - REACH), this.inside(REACH - (event.clientY - box.top) / unit)]
  }

  inside(value) { return Math.round(100 * Math.min(Math.max(value, -REACH), REACH)) / 100 }

  nearest([x, y]) {
    const far = this.points.map(([px, py]) => Math.hypot(px - x, py - y)), least = Math.min(...far)
    return least * this.canvas.clientWidth / (2 * REACH) <= NEAR ? far.indexOf(least) : -1
  }

  press(event) {
    if (event.button !== 0) return
    const place = this.pointed(event)
    this.canvas.setPointerCapture(event.pointerId)
    this.chosen = this.nearest(place)
    this.dragged = false
    if (this.chosen < 0) this.add(place)
    else this.draw()
  }

  move(event) {
    if (!this.canvas.hasPointerCapture(event.pointerId) || this.chosen < 0) return
    this.dragged = true
    this.put(this.chosen, this.pointed(event), false)
  }

  release() {
    if (this.dragged) this.changed(this.points, true)
    this.dragged = false
  }

  add(place) {
    if (this.points.length >= MOST_POINTS) { this.say(tr("At most {n} points are solved here", { n: MOST_POINTS })); return }
    this.chosen = this.points.length
    this.changed([...this.points, [...place, this.adds]], true)
    this.say(tr("point {k} added", { k: this.chosen + 1 }))
  }

  put(index, place, ended) {
    this.changed(this.points.with(index, [...place.map((value) => this.inside(value)), this.points[index][2]]), ended)
  }

  // a class keeps its last point
  remove() {
    const label = this.points[this.chosen]?.[2]
    if (label === undefined) return
    if (this.points.filter((point) => point[2] === label).length < 2) { this.say(tr("Each class keeps a point")); return }
    this.changed(this.points.toSpliced(this.chosen, 1), true)
    this.chosen = -1
    this.draw()
    this.say(tr("point removed"))
  }

  key(event) {
    const towards = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key]
    const next = { PageUp: -1, PageDown: 1 }[event.key], n = this.points.length
    if (towards && this.chosen >= 0) {
      const by = KEY_STEP * (event.shiftKey ? 5 : 1), [x, y] = this.points[this.chosen]
      this.put(this.chosen, [x + by * towards[0], y + by * towards[1]], true)
    } else if (next) {
      this.chosen = (this.chosen + next + n) % n
      this.draw()
    } else if (event.key === "Delete" || event.key === "Backspace") this.remove()
    else if (event.key === "Enter") this.add([0, 0])
    else return
    event.preventDefault()
    event.stopPropagation()
    const point = this.points[this.chosen]
    if (point && (towards || next)) this.say(tr("point {k}, class {label}, at {x} and {y}", { k: this.chosen + 1, label: point[2], x: point[0], y: point[1] }))
  }

  say(text) { this.announced.textContent = text }
}
