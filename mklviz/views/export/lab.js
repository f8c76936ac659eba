// The bar of a recorded laboratory: a slider for each knob, by which every figure is drawn anew.

const POSITION_MS = 600, REST_MS = 600 // between two positions that play, and without a turn until the knob rests
let playing = null, turnedAt = -REST_MS, due = false

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

everywhere = data.runs.map(unpacked)
const turned = data.knobs.map((knob) => knob.usual)
const place = () => data.places[turned.reduce((at, position, k) => at * data.knobs[k].names.length + position, 0)]
const posed = document.querySelector("header p")
const playButton = button("Play", play, { class: "play" })

function put() {
  show(place().runs.map((at) => everywhere[at]))
  posed.textContent = place().problem
}

const sliders = data.knobs.map((knob, k) => {
  const slider = tag("input", { type: "range", min: 0, max: knob.names.length - 1, "aria-label": knob.title })
  slider.addEventListener("input", () => { hold(); turn(k, Number(slider.value)) })
  return slider
})
const said = data.knobs.map(() => tag("output", {}))

// turn a knob; figures follow with the next frame, and what the knob turned from stays faint behind them
function turn(k, position) {
  const now = performance.now()
  if (now - turnedAt > REST_MS) before = runs
  turnedAt = now
  turned[k] = Math.min(Math.max(position, 0), data.knobs[k].names.length - 1)
  if (due) return
  due = true
  requestAnimationFrame(() => { due = false; put(); draw() })
}

function moved() {
  data.knobs.forEach((knob, k) => {
    sliders[k].value = turned[k]
    said[k].textContent = `${knob.symbol} = ${knob.names[turned[k]]}`
    sliders[k].setAttribute("aria-valuetext", said[k].textContent)
  })
}

function hold() {
  clearInterval(playing)
  playing = null
  playButton.textContent = "Play"
}

// through all positions of the last knob
function play() {
  if (playing !== null) { hold(); return }
  const k = turned.length - 1, end = data.knobs[k].names.length - 1
  if (turned[k] >= end) turn(k, 0)
  playButton.textContent = "Hold"
  playing = setInterval(() => {
    turn(k, turned[k] + 1)
    if (turned[k] >= end) hold()
  }, POSITION_MS)
}

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input[type=range]")) return // which turns by itself
  const k = turned.length - 1
  pressed(event, { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }, (way) => { hold(); turn(k, turned[k] + way) })
})

put()
const watch = data.knobs.filter((knob) => knob.watch).map((knob) => why(knob.watch))
document.getElementById("race").append(...watch, toolbar(), largeFigures(), multiples(), results(),
  tag("p", { class: "why foot" }, "Drag a knob below, or turn it with the arrow keys; the space bar plays. Faint: where "
    + "the knob was before. Axes stay as they are while it turns. Point into a figure for the numbers of a step. ",
  data.left_out))
document.body.append(tag("div", { class: "scrubber" }, ...data.knobs.map((knob, k) => tag("div", { class: "knob" },
  k ? tag("span", { class: "play" }) : playButton, tag("label", {}, knob.title), sliders[k], said[k]))))
draw()
