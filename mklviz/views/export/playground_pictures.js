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
    this.chosen = -1 // the point that is dragged, or that keys move
    this.adds = 1
    this.canvas = tag("canvas", { tabindex: 0, role: "application", "aria-roledescription": tr("points in a plane") })
    this.said = tag("span", { class: "unseen", "aria-live": "polite" })
    this.root = tag("div", { class: "points" }, this.canvas, this.said)
    this.shades = new OffscreenCanvas(PLACES_SHOWN, PLACES_SHOWN)
    new ResizeObserver(() => this.draw()).observe(this.canvas)
    for (const [name, act] of Object.entries({ pointerdown: this.press, pointermove: this.move, pointerup: this.release,
      pointercancel: this.release, keydown: this.key, dblclick: this.remove })) this.canvas.addEventListener(name, act.bind(this))
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw())
  }

  show(points) {
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

  draw() {
    const side = Math.round(this.canvas.clientWidth * devicePixelRatio), pen = this.canvas.getContext("2d")
    if (!side) return
    if (this.canvas.width !== side) this.canvas.width = this.canvas.height = side
    const style = getComputedStyle(this.canvas), colour = (name) => style.getPropertyValue(`--${name}`).trim()
    const classes = { [-1]: colour("kernel-1"), 1: colour("kernel-0") }, card = colour("mk-card")
    pen.fillStyle = card
    pen.fillRect(0, 0, side, side)
    if (this.surface) this.drawSurface(pen, side, [card, classes], colour("mk-text"))
    const size = 4 * devicePixelRatio
    this.points.forEach((point, i) => {
      const [x, y] = this.place(point), ring = this.held?.[i]
      pen.beginPath()
      if (point[2] > 0) pen.rect(x - size * 0.9, y - size * 0.9, 1.8 * size, 1.8 * size)
      else pen.arc(x, y, size, 0, 2 * Math.PI)
      pen.fillStyle = classes[point[2]]
      pen.fill()
      pen.lineWidth = (ring || i === this.chosen ? 1.8 : 1) * devicePixelRatio
      pen.strokeStyle = ring || i === this.chosen ? colour("mk-text") : card
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

  say(text) { this.said.textContent = text }
}

// All mixes of the kernels in use as a polygon, a corner for each kernel, and the solvers' paths over it.
//
//     place of d = sum of d_k c_k,   c_k the corners;   d of a place p = the mix nearest to  1/m + (C' (C C')^+ p)_k

const SIDES = 12  // places of the objective along a side of the triangle
const MIXES = { radius: 178 }

class MixPicture {
  // `moved(mix, begins)` is told where the start is dragged; `begins` with the first move of a drag
  constructor(moved) {
    this.moved = moved
    this.root = tag("figure", { class: "map" })
    this.picture = svgPart("svg", { role: "group", "aria-label": tr("The mixes of the kernels in use") })
    this.root.append(this.picture)
    this.names = ""
    this.start = []
    this.ghosts = []
  }

  // -- where a mix is drawn

  lay(m) {
    const turn = m === 3 ? Math.PI * 7 / 6 : m === 4 ? Math.PI * 5 / 4 : m === 2 ? Math.PI : -Math.PI / 2 // a side lies below
    this.corners = Array.from({ length: m }, (_, k) => {
      const angle = m === 3 || m === 4 ? -turn - 2 * Math.PI * k / m : turn + 2 * Math.PI * k / m
      return [MIXES.radius * Math.cos(angle), MIXES.radius * Math.sin(angle)]
    })
  }

  place(mix) { return [0, 1].map((axis) => mix.reduce((total, share, k) => total + share * this.corners[k][axis], 0)) }

  mixAt([x, y]) {
    const m = this.corners.length, [across, up] = [0, 1].map((axis) => this.corners.reduce((total, corner) => total + corner[axis] ** 2, 0))
    return nearestMix(this.corners.map(([cx, cy]) => 1 / m + x * cx / across + (up > 1 ? y * cy / up : 0)))
  }

  // -- drawing

  show({ kernels, start, runs, paths, cursor, best, ground }) {
    const names = kernels.map(({ name }) => name).join("\n")
    if (names !== this.names) this.build(kernels)
    this.names = names
    this.start = start
    if (kernels.length < 2) return
    this.shade(ground)
    this.past.replaceChildren(...this.ghosts.map(({ path, colour }) =>
      svgPart("path", { d: svgLine(path.map((mix) => this.place(mix))), style: `stroke: ${colour}`, "stroke-width": 2 })))
    this.layer.replaceChildren(...runs.flatMap(({ key, colour, dash }) => this.path(paths[key].slice(0, cursor + 1), colour, dash)))
    const [x, y] = this.place(best)
    this.star.setAttribute("transform", `translate(${x} ${y})`)
    const [hx, hy] = this.place(start)
    this.handle.setAttribute("transform", `translate(${hx} ${hy})`)
    const told = kernels.map(({ name }, k) => `${name} ${Math.round(100 * start[k])} %`).join(", ")
    this.handle.setAttribute("aria-valuetext", told)
    this.handle.setAttribute("aria-valuenow", Math.round(100 * start[0]))
  }

  path(mixes, colour, dash) {
    const places = mixes.map((mix) => this.place(mix)), d = svgLine(places), [cx, cy] = places.at(-1)
    return [svgPart("path", { class: "seam", d }),
      svgPart("path", { class: "line", d, style: `stroke: ${colour}`, "stroke-dasharray": dash || "none" }),
      svgPart("circle", { class: "running", r: 5, cx, cy, style: `fill: ${colour}` })]
  }

  build(kernels) {
    this.ghosts = []
    this.shaded = null
    this.picture.replaceChildren()
    this.lay(kernels.length)
    this.picture.setAttribute("viewBox", kernels.length === 3 ? "-240 -208 480 332" : "-260 -216 520 432")
    if (kernels.length < 2) {
      svgPart("text", { class: "corner", "text-anchor": "middle" }, this.picture).textContent = tr("Two kernels or more make mixes")
      return
    }
    const points = this.corners.map((corner) => corner.map((value) => value.toFixed(1)).join()).join(" ")
    svgPart("polygon", { class: "ground", points }, this.picture)
    this.area = svgPart("g", {}, this.picture)
    svgPart("polygon", { class: "side", points }, this.picture)
    this.corners.forEach(([x, y], k) => {
      const away = Math.abs(x) < 1 || kernels.length === 2 ? "middle" : x > 0 ? "start" : "end", wide = kernels.length > 4
      const text = svgPart("text", { class: "corner", x: wide ? x * 1.06 : x, y: y + (y > 1 ? 22 : -12) }, this.picture)
      text.setAttribute("text-anchor", wide ? away : "middle")
      text.textContent = kernels[k].name
      text.style.fill = kernels[k].colour
    })
    this.past = svgPart("g", { class: "ghosts" }, this.picture)
    this.layer = svgPart("g", { class: "paths" }, this.picture)
    this.star = svgPart("path", { class: "best", d: STAR }, this.picture)
    this.hold()
  }

  hold() {
    const { handle, words } = svgHandle(this.picture, tr("Start of the solvers: arrow keys move it"), {
      begin: () => { this.begins = true },
      to: ({ x, y }) => this.go(this.mixAt([x, y])),
      by: (along, up) => {
        const [x, y] = this.place(this.start)
        this.go(this.mixAt([x + along * MIXES.radius, y - up * MIXES.radius]))
      },
    })
    this.handle = handle
    this.words = words
  }

  go(mix) {
    this.moved(mix, this.begins)
    this.begins = false
    this.words.style.display = "none"
  }

  // the objective over three kernels: small triangles, the higher the further from the light colour
  shade(heights) {
    if (heights === this.shaded) return
    this.shaded = heights
    this.area.replaceChildren()
    if (!heights) return
    const low = Math.log(Math.min(...heights)), high = Math.log(Math.max(...heights)), rows = []
    for (let up = 0, at = 0; up <= SIDES; up++) rows.push(heights.slice(at, at += SIDES - up + 1))
    const corner = (up, along) => this.place([SIDES - up - along, along, up].map((part) => part / SIDES))
    const add = (...places) => {
      const mean = places.reduce((total, [up, along]) => total + Math.log(rows[up][along]) / 3, 0), share = (mean - low) / (high - low || 1)
      const points = places.map(([up, along]) => corner(up, along).map((value) => value.toFixed(1)).join()).join(" ")
      svgPart("polygon", { points, class: "shade", style: `fill-opacity: ${(0.75 * share).toFixed(2)}`, "shape-rendering": "crispEdges" }, this.area)
    }
    for (let up = 0; up < SIDES; up++) for (let along = 0; along < SIDES - up; along++) {
      add([up, along], [up, along + 1], [up + 1, along])
      if (along + 1 < SIDES - up) add([up, along + 1], [up + 1, along + 1], [up + 1, along])
    }
  }
}
