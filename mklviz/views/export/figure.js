// A line chart as SVG: lines once, and a layer above them that follows the cursor.

const SVG = "http://www.w3.org/2000/svg"
const PATHS = new WeakMap() // lines by their numbers
const TEXTS = new Map() // numbers on axes, which a browser is slow to write
const EDGE = { left: 54, right: 12, top: 10, bottom: 38 }
const LOW = 90 // pixels: a figure lower than that has the ends of its vertical axis for all numbers

const filled = (made, attributes, children) => {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}
const svg = (name, attributes, ...children) => filled(document.createElementNS(SVG, name), attributes, children)
const tag = (name, attributes, ...children) => filled(document.createElement(name), attributes, children)

function numberText(numbers, value) {
  const key = `${numbers} ${value}`
  if (!TEXTS.has(key)) TEXTS.set(key, inLanguage(NUMBERS[numbers](value)))
  return TEXTS.get(key)
}

// an axis from the numbers on it: where each of them is, from 0 to 1, and which ticks it has
function axis(values, { log, start, padding, whole }) {
  const known = values.filter((value) => value !== null && (value > 0 || !log))
  let low = Math.min(...known), high = Math.max(...known)
  if (!known.length) [low, high] = log ? [0.1, 1] : [0, 1]
  if (log) {
    const room = Math.min(Math.max(padding * Math.log(high / low), padding ? 0.02 : 0), 2)
    low *= Math.exp(-room)
    high = Math.max(high * Math.exp(room), low * 1.0001)
    return { low, high, log, at: (value) => Math.log(value / low) / Math.log(high / low), ticks: powers(low, high) }
  }
  const fixed = start !== null
  if (fixed) low = start
  const room = padding * (high - low) || (high > low ? 0 : Math.abs(high) || 1)
  if (!fixed) low -= padding ? room : 0
  high += padding || high === low ? room : 0
  return { low, high, log, at: (value) => (value - low) / (high - low), ticks: steps(low, high, whole) }
}

function powers(low, high) {
  if (high / low < 8) return steps(low, high, false)
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9)
  const ticks = []
  for (let power = first - 1; power <= last + 1; power++) {
    for (const step of last - first < 1 ? [1, 2, 5] : [1]) ticks.push(step * 10 ** power)
  }
  const inside = ticks.filter((value) => value >= low && value <= high)
  const every = Math.ceil(inside.length / 5)
  return inside.filter((_, place) => place % every === 0)
}

function steps(low, high, whole) {
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max([1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough), whole ? 1 : 0)
  const ticks = []
  for (let place = Math.ceil(low / step - 1e-9); place <= high / step + 1e-9; place++) ticks.push(place * step || 0)
  return ticks
}

class Figure {
  // `spec()` returns what is drawn now: marks ({ x, y } or, `across`, { y }, and how they are painted), axes with the
  // numbers on them, and where the runs stand
  constructor(spec, choose, label) {
    this.spec = spec
    this.root = tag("div", { class: "plot", role: "img", "aria-label": label })
    const pick = (event) => {
      const box = this.root.getBoundingClientRect()
      const share = (event.clientX - box.left - EDGE.left) / (box.width - EDGE.left - EDGE.right)
      choose(this.xAt(Math.min(Math.max(share, 0), 1)))
    }
    this.root.addEventListener("pointerdown", (event) => { this.root.setPointerCapture(event.pointerId); pick(event) })
    this.root.addEventListener("pointermove", (event) => { if (event.buttons & 1) pick(event) })
    new ResizeObserver(() => { this.box = null; this.draw() }).observe(this.root)
  }

  draw() {
    this.box ??= this.root.getBoundingClientRect() // to ask for it lays the whole page out
    const { width, height } = this.box
    if (!width) return
    const spec = this.spec()
    this.horizontal = axis(spec.x.values, { ...spec.x, padding: 0 })
    this.vertical = axis(spec.y.values ?? spec.marks.flatMap((mark) => mark.y), { ...spec.y, padding: 0.06 })
    this.left = EDGE.left
    this.right = width - EDGE.right
    this.low = height < LOW
    this.bottom = height - (this.low ? EDGE.top : EDGE.bottom)
    this.begin(spec, width, height)
    this.lines.replaceChildren(...spec.marks.filter((mark) => mark.colour).flatMap((mark) => this.drawn(mark)))
    this.mark()
  }

  // a picture with axes; one whose axes are the same stays, for words are what takes a browser longest
  begin(spec, width, height) {
    const { low, high } = this.vertical, ends = [low, high, this.horizontal.low, this.horizontal.high]
    const axes = [width, height, this.vertical.log, this.horizontal.log, spec.x.label, spec.y.numbers, ...ends].join()
    if (axes === this.axes) return
    this.axes = axes
    this.lines = svg("g", {})
    this.cursor = svg("g", {})
    this.root.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      ...this.frame(spec), this.lines, this.cursor))
  }

  drawn(mark) {
    const style = `stroke: ${mark.colour}; stroke-width: ${mark.width}; stroke-dasharray: ${mark.dash || "none"};`
      + ` opacity: ${mark.alpha}`
    const d = mark.across ? this.rules(mark) : this.path(mark)
    return d ? [svg("path", { d, style })] : []
  }

  frame(spec) {
    const { left, right, bottom, horizontal, vertical } = this
    const parts = [], last = vertical.ticks.length - 1 || 1
    for (const value of vertical.ticks.filter((_, place) => !this.low || place % last === 0)) {
      const y = this.y(value)
      parts.push(svg("path", { class: "grid-line", d: `M${left} ${y}H${right}` }))
      parts.push(svg("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, numberText(spec.y.numbers, value)))
    }
    if (this.low) return parts
    for (const value of horizontal.ticks) {
      parts.push(svg("text", { x: this.x(value), y: bottom + 16, "text-anchor": "middle" }, numberText(spec.x.numbers, value)))
    }
    const middle = (left + right) / 2
    parts.push(svg("text", { x: middle, y: bottom + 33, "text-anchor": "middle" }, tr(spec.x.label)))
    return parts
  }

  // the cursor: a line and a marker for each run, where it stood
  mark() {
    if (!this.cursor) return
    const parts = []
    for (const place of this.spec().places) {
      if (place.x === null || place.x > this.horizontal.high || (this.horizontal.log && place.x <= 0)) continue
      const x = this.x(place.x)
      if (place.line) parts.push(svg("path", { class: "at", style: place.look, d: `M${x} ${EDGE.top}V${this.bottom}` }))
      if (place.y === null || place.y === undefined || (this.vertical.log && place.y <= 0)) continue
      const move = `translate(${x - 11 * 1.3} ${this.y(place.y) - 6 * 1.3}) scale(1.3)`
      parts.push(svg("path", { class: "here", style: place.fill, d: place.marker, transform: move }))
    }
    this.cursor.replaceChildren(...parts)
  }

  x(value) { return this.left + (this.right - this.left) * this.horizontal.at(value) }

  // what is below the axis lies on its end
  y(value) { return this.bottom - (this.bottom - EDGE.top) * Math.max(this.vertical.at(value), 0) }

  xAt(share) {
    const { low, high, log } = this.horizontal
    return log ? low * (high / low) ** share : low + share * (high - low)
  }

  rules(mark) {
    const heights = mark.y.filter((value) => value !== null && (value > 0 || !this.vertical.log))
    return heights.map((value) => `M${this.left} ${this.y(value)}H${this.right}`).join("")
  }

  // the line of a mark, which stays what it was as long as its numbers and the axes do
  path(mark) {
    const known = PATHS.get(mark.y) ?? new Map()
    PATHS.set(mark.y, known)
    if (known.get(this.axes)?.x !== mark.x) known.set(this.axes, { x: mark.x, d: this.line(mark) })
    return known.get(this.axes).d
  }

  line(mark) {
    const { horizontal, vertical } = this
    let d = "", pen = "M"
    mark.x.forEach((x, place) => {
      const y = mark.y[place]
      const drawn = y !== null && (y > 0 || !vertical.log) && x <= horizontal.high && (x > 0 || !horizontal.log)
      if (drawn) d += `${pen}${Math.round(10 * this.x(x)) / 10} ${Math.round(10 * this.y(y)) / 10}`
      pen = drawn ? "L" : "M"
    })
    return d
  }
}
