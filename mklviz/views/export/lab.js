// The page of a recorded laboratory: the figures of a race, and a slider for each knob, by which all are drawn anew.

const POSITION_MS = 600, REST_MS = 600 // between two positions that play, and without a turn until the knob rests
const NEAR = ["above", "gap", "own_gap"] // far below where runs stop, values do not matter

// numbers of single precision; what is no number is a hole
function floats(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))
  return Array.from(new Float32Array(bytes.buffer), (value) => (Number.isNaN(value) ? null : value))
}

// the least number, the least above zero and the largest, which are all that an axis asks for
function reach(values) {
  const known = values.filter((value) => value !== null), positive = known.filter((value) => value > 0)
  return known.length ? [Math.min(...known), Math.max(...known), ...(positive.length ? [Math.min(...positive)] : [])] : []
}

function unpacked(run) {
  const columns = Object.entries(run).filter(([, value]) => value.single !== undefined)
  const numbers = { top: run.top, ...Object.fromEntries(columns.map(([name, value]) => [name, floats(value.single)])) }
  return { ...run, ...numbers,
    reach: Object.fromEntries(Object.entries(numbers).map(([name, values]) => [name, reach(values)])) }
}

class LabView extends RaceView {
  // `recorded`: runs that differ, and which of them stand at each position of the knobs
  constructor(place, bar, recorded) {
    super(place, bar)
    this.recorded = recorded
    this.everywhere = recorded.runs.map(unpacked)
    this.before = [] // runs of the position that the knob was turned from
    this.turned = recorded.knobs.map((knob) => knob.usual)
    this.turnedAt = -REST_MS
    this.due = false
    this.state.x = recorded.x
    this.put()
  }

  // show the runs at the present position; their steps are seen at the end
  put() {
    const { recorded } = this
    const at = this.turned.reduce((whole, position, k) => whole * recorded.knobs[k].names.length + position, 0)
    const { runs, problem } = recorded.places[at]
    this.state.cursor = null
    document.querySelector("header p").textContent = problem
    this.show({ ...recorded, ended: true, runs: runs.map((run) => this.everywhere[run]) })
  }

  // turn a knob; figures follow with the next frame, and what the knob turned from stays faint behind them
  turn(k, position) {
    const now = performance.now()
    if (now - this.turnedAt > REST_MS) this.before = this.data.runs
    this.turnedAt = now
    this.turned[k] = Math.min(Math.max(position, 0), this.recorded.knobs[k].names.length - 1)
    if (this.due) return
    this.due = true
    requestAnimationFrame(() => { this.due = false; this.put() })
  }

  horizontal(runs) {
    const ended = this.everywhere.filter((run) => run.state !== "limit") // others are as long as they were allowed to be
    const some = ended.length ? ended : this.data.runs
    const drawn = new Set(runs.map((run) => run.key)), seen = some.filter((run) => drawn.has(run.key))
    return { ...super.horizontal(runs), values: (seen.length ? seen : some).flatMap((run) => run.reach[this.state.x]) }
  }

  vertical(marks) {
    const { recorded } = this
    if (marks.some((mark) => recorded.apart.includes(mark.column))) return {}
    const floor = recorded.stop.y[0] / 10 || 0
    const least = (column) => (value) => (NEAR.includes(column) && value > 0 ? Math.max(value, floor) : value)
    const ends = marks.flatMap((mark) => this.everywhere
      .filter((run) => run.table === mark.table && mark.column in run.reach)
      .flatMap((run) => run.reach[mark.column].map(least(mark.column))))
    return ends.length ? { values: [...ends, ...marks.filter((mark) => mark.across).flatMap((mark) => mark.y)] } : {}
  }

  behind(marks) {
    const former = (mark) => this.before.find((run) => run.table === mark.table && run !== this.tables[mark.table])
    return marks.filter((mark) => mark.marker && former(mark)).map((mark) => ({ ...mark, marker: undefined, alpha: 0.35,
      x: former(mark)[this.state.x], y: former(mark)[mark.column] }))
  }

  parts() {
    const watch = this.recorded.knobs.filter((knob) => knob.watch).map((knob) => why(knob.watch))
    return [...watch, this.toolbar(), this.largeFigures(), this.multiples(), this.results(),
      tag("p", { class: "why foot" }, "Drag a knob below, or turn it with the arrow keys; the space bar plays. Faint: where "
        + "the knob was before. Axes stay as they are while it turns. Point into a figure for the numbers of a step. ",
      this.leftOut)]
  }

  scrubber() {
    this.playButton = button("Play", () => this.play(), { class: "play" })
    this.values = this.recorded.knobs.map(() => tag("output", {}))
    this.sliders = this.recorded.knobs.map((knob, k) => {
      const slider = tag("input", { type: "range", min: 0, max: knob.names.length - 1, "aria-label": knob.title })
      slider.addEventListener("input", () => { this.hold(); this.turn(k, Number(slider.value)) })
      return slider
    })
    return this.recorded.knobs.map((knob, k) => tag("div", { class: "knob" }, k ? tag("span", { class: "play" })
      : this.playButton, tag("label", {}, knob.title), this.sliders[k], this.values[k]))
  }

  moved() {
    this.recorded.knobs.forEach((knob, k) => {
      this.sliders[k].value = this.turned[k]
      this.values[k].textContent = `${knob.symbol} = ${knob.names[this.turned[k]]}`
      this.sliders[k].setAttribute("aria-valuetext", this.values[k].textContent)
    })
  }

  // through all positions of the last knob
  get motion() {
    const k = this.turned.length - 1
    return { at: this.turned[k], end: this.recorded.knobs[k].names.length - 1, to: (position) => this.turn(k, position), by: 1, ms: POSITION_MS }
  }

  keys() {
    const k = this.turned.length - 1, by = (way) => () => this.turn(k, this.turned[k] + way)
    return { ArrowLeft: by(-1), ArrowRight: by(1), Home: by(-Infinity), End: by(Infinity) }
  }

  key(event) {
    if (!event.target.matches("input[type=range]")) super.key(event) // which turns by itself
  }
}

wholePage(LabView, JSON.parse(textOf("#data")))
