// The bar of a recorded race: a cursor over its steps.

const FRAMES = 100, FRAME_MS = 200 // from the first step to the last, and between two of them
let playing = null
show(data.runs)

const slider = tag("input", { type: "range", min: 0, max: last, "aria-label": "Step" })
const where = tag("output", {})
const playButton = button("Play", play, { class: "play" })

function scrubber() {
  slider.addEventListener("input", () => { hold(); go(Number(slider.value)) })
  return tag("div", { class: "scrubber" }, tag("div", {}, playButton, button("Back", () => { hold(); go(nextKept(-1)) }),
    button("On", () => { hold(); go(nextKept(1)) }), slider, where))
}

function moved() {
  slider.value = state.cursor
  where.textContent = `step ${count(state.cursor)} of ${count(last)}`
  slider.setAttribute("aria-valuetext", where.textContent)
}

// the next step at which something is known
function nextKept(way) {
  const known = runs.flatMap((run) => run.iteration.filter((at) => way * (at - state.cursor) > 0))
  return known.length ? state.cursor + way * Math.min(...known.map((at) => way * (at - state.cursor))) : state.cursor
}

function hold() {
  clearInterval(playing)
  playing = null
  playButton.textContent = "Play"
}

function play() {
  if (playing !== null) { hold(); return }
  if (state.cursor >= last) go(0)
  playButton.textContent = "Hold"
  playing = setInterval(() => {
    go(state.cursor + Math.ceil(last / FRAMES))
    if (state.cursor >= last) hold()
  }, FRAME_MS)
}

document.addEventListener("keydown", (event) => pressed(event, {
  ArrowLeft: () => go(nextKept(-1)), ArrowRight: () => go(nextKept(1)), Home: () => go(0), End: () => go(last),
}, (move) => { hold(); move() }))

document.getElementById("race").append(toolbar(), largeFigures(),
  tag("section", { class: "card" }, tag("div", { class: "title" }, toldTitle), told), multiples(), results(),
  tag("p", { class: "why foot" }, "Arrow keys go from step to step, the space bar plays. Point into a figure to go to a "
    + "place in it. ", data.left_out))
document.body.append(scrubber())
draw()
