// Plays the recorded paths over the triangle as soon as the HTML is there, and draws those that the server sends for
// another start: "mklviz-paths" brings them, "mklviz-start" says where the handle is. Says at once what a click will open.
{
const front = document.getElementById("mklviz-front")
const data = JSON.parse(front.querySelector(".data").textContent)
const { left, foot, side, runs } = data
const FOLLOW = "The paths from there follow as soon as the page is loaded."
const STEPS_A_SECOND = 2, KEY = 0.02, STILL = matchMedia("(prefers-reduced-motion: reduce)")
const find = (name) => front.querySelector(name)
const made = (tag, properties = {}, parent = null) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag)
  for (const [name, value] of Object.entries(properties)) node.setAttribute(name, value)
  parent?.append(node)
  return node
}
const at = ([, second, third]) => [left + side * (second + third / 2), foot - side * Math.sqrt(0.75) * third]
const line = (points) => points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("")
const percent = (share) => `${Math.round(100 * share)} %`
const STAR = "M0-11l2.6 7.1 7.6.3-6 4.6 2.1 7.3L0 4.1l-6.3 4.2 2.1-7.3-6-4.6 7.6-.3z"

// -- the paths

const layer = find(".paths"), ghosts = find(".ghosts")
const drawn = runs.map(({ key, dash }) => {
  const colour = `stroke: var(--run-${key})`
  return { key, seam: made("path", { class: "seam" }, layer), line: made("path", { class: "line", style: colour, "stroke-dasharray": dash }, layer),
    dots: made("g", { style: colour }, layer), head: made("circle", { class: "running", r: 6, style: `fill: var(--run-${key})` }, layer) }
})
const best = made("path", { class: "best", d: STAR }, layer)
let paths = data.paths, recorded = true
const longest = () => Math.max(...Object.values(paths).map((path) => path.length - 1))
const until = (points, step) => {
  const whole = Math.min(Math.floor(step), points.length - 1), rest = step - whole, kept = points.slice(0, whole + 1)
  if (rest > 0 && whole + 1 < points.length) kept.push(points[whole].map((value, k) => value + rest * (points[whole + 1][k] - value)))
  return kept
}
const draw = (step) => {
  for (const run of drawn) {
    const points = (paths[run.key] ?? []).map(at), shown = until(points, step), d = line(shown)
    run.seam.setAttribute("d", d)
    run.line.setAttribute("d", d)
    run.dots.replaceChildren(...points.slice(1, Math.floor(step) + 1).map(([cx, cy]) => made("circle", { class: "dot", r: 4, cx, cy })))
    const end = shown.at(-1), runs_on = end !== undefined && step < points.length - 1
    run.head.style.display = runs_on ? "" : "none"
    if (runs_on) { run.head.setAttribute("cx", end[0]); run.head.setAttribute("cy", end[1]) }
  }
  best.setAttribute("transform", `translate(${at(data.best)})`)
  best.style.display = step >= longest() ? "" : "none"
}

// -- playing

const play = find(".play"), status = find(".said")
let step = 0, playing = false, last = 0
const say = () => {
  play.textContent = playing ? "Pause" : step >= longest() ? "Play again" : "Play"
  status.textContent = recorded ? `${data.recorded}; ${playing ? "playing" : step >= longest() ? `${longest()} steps` : "paused"}` : ""
}
const frame = (now) => {
  if (!playing) return
  if (last === 0 && step === 0) performance.mark("mklviz-path-moves")
  step = Math.min(step + (last ? Math.min(now - last, 100) : 16) / 1000 * STEPS_A_SECOND, longest())
  last = now
  draw(step)
  if (step < longest()) return void requestAnimationFrame(frame)
  stop()
}
const stop = () => { playing = false; say() }
const start = () => {
  if (step >= longest()) step = 0
  playing = true
  last = 0
  say()
  requestAnimationFrame(frame)
}
play.hidden = false
play.addEventListener("click", () => playing ? stop() : start())
if (STILL.matches) { step = longest(); draw(step); say() } else start()

// -- the start is dragged

const clear = find(".clear"), undo = find(".undo"), hint = find(".hint")
const middle = [1 / 3, 1 / 3, 1 / 3]
let begins = middle, former = [], turn = 0  // turned by undoing: answers to what was asked before come too late
const handle = made("g", { class: "handle", role: "slider", tabindex: 0, "aria-label": "Start of the solvers: arrow keys move it",
  "aria-valuemin": 0, "aria-valuemax": 100 }, layer.ownerSVGElement)
made("circle", { class: "reach", r: 24 }, handle)
made("circle", { class: "knob", r: 9 }, handle)
const words = made("text", { x: 17, y: 5 }, handle)
words.textContent = "drag the start"
const place = () => {
  handle.setAttribute("transform", `translate(${at(begins)})`)
  handle.setAttribute("aria-valuenow", Math.round(100 * begins[2]))
  handle.setAttribute("aria-valuetext", data.kernels.map((name, k) => `${name} ${percent(begins[k])}`).join(", "))
}
const tidy = () => {
  undo.hidden = former.length === 0
  clear.hidden = ghosts.childElementCount === 0
  words.style.display = former.length ? "none" : ""
}
const keep = () => {  // the paths so far stay as ghosts, once for each drag
  former.push({ begins, paths, recorded, hint: hint.textContent })
  for (const { key } of runs) made("path", { d: line((paths[key] ?? []).map(at)), style: `stroke: var(--run-${key})`, "stroke-width": 2 }, ghosts)
  tidy()
}
const ask = () => {
  const asks = new CustomEvent("mklviz-start", { detail: { weights: begins, turn }, cancelable: true })
  if (front.dispatchEvent(asks)) hint.textContent = FOLLOW  // nobody listens yet
}
front.addEventListener("mklviz-listens", () => { if (hint.textContent === FOLLOW) ask() })
const move = (shares) => {
  begins = shares
  place()
  if (playing) stop()
  ask()
}
const projected = (shares) => {  // the nearest point of the triangle
  const sorted = [...shares].sort((one, other) => other - one)
  let sum = 0, shift = 0
  sorted.forEach((value, k) => { sum += value; if (value > (sum - 1) / (k + 1)) shift = (sum - 1) / (k + 1) })
  return shares.map((value) => Math.max(value - shift, 0))
}
const under = (event) => {
  const svg = handle.ownerSVGElement, point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse())
  const third = (foot - point.y) / (side * Math.sqrt(0.75)), second = (point.x - left) / side - third / 2
  return projected([1 - second - third, second, third])
}
let held = null, dragged = false  // where the pointer was pressed
handle.addEventListener("pointerdown", (event) => {
  event.preventDefault()
  handle.focus()
  handle.setPointerCapture(event.pointerId)
  held = { x: event.clientX, y: event.clientY }
})
handle.addEventListener("pointermove", (event) => {
  if (held === null || (!dragged && event.clientX === held.x && event.clientY === held.y)) return
  if (!dragged) keep()  // a click alone moves nothing
  dragged = true
  move(under(event))
})
for (const name of ["pointerup", "pointercancel"]) handle.addEventListener(name, () => { held = null; dragged = false })
const TOWARDS = { ArrowLeft: [1, -1, 0], ArrowRight: [-1, 1, 0], ArrowUp: [-0.5, -0.5, 1], ArrowDown: [0.5, 0.5, -1] }
handle.addEventListener("keydown", (event) => {
  const towards = TOWARDS[event.key]
  if (!towards) return
  event.preventDefault()
  event.stopPropagation()
  if (!event.repeat) keep()
  move(projected(begins.map((share, k) => share + KEY * (event.shiftKey ? 5 : 1) * towards[k])))
})
undo.addEventListener("click", () => {
  const before = former.pop()
  for (const _ of runs) ghosts.lastElementChild?.remove()
  ;({ begins, paths, recorded } = before)
  turn += 1
  hint.textContent = before.hint
  step = longest()
  draw(step)
  place()
  tidy()
  say()
})
clear.addEventListener("click", () => { ghosts.replaceChildren(); former = []; tidy() })
front.addEventListener("mklviz-paths", ({ detail }) => {
  if (detail.turn !== turn) return  // they begin where the handle was before
  hint.textContent = detail.sentence
  if (!detail.paths) return
  ({ paths } = detail)
  recorded = false
  step = longest()
  draw(step)
  say()
  performance.mark("mklviz-paths-drawn")
})
place()
tidy()

// -- what is coming

const coming = find(".coming span"), KEYS = { " ": "Run", s: "Step", "?": "Keys" }
let kept = {}  // also where a link loads another page
try { kept = sessionStorage } catch {}  // which not every browser has within a frame
let opens = "", key = kept.mklvizKey ?? "", file = null, asked = false  // what was pressed or dropped before it can be answered
const tell = () => { coming.textContent = `Opening ${file?.name ?? opens} …${key && ` then ${KEYS[key]}`}` }
const announce = (link) => {
  const { scenario } = link.dataset, card = scenario ? front.querySelector(`.lessons [data-scenario="${scenario}"] b`) : null
  opens = (card ? "lesson " : "") + (card ?? link.querySelector("small") ?? link).textContent
  tell()
}
document.addEventListener("click", (event) => {  // also on the links that take the place of those in the bar
  const link = event.composedPath().find((node) => node.dataset?.page)
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  front.querySelector(".pressed")?.classList.remove("pressed")
  link.classList.add("pressed")
  if (front.dataset.open !== link.dataset.page) front.setAttribute("aria-busy", "true")
  announce(link)
}, true)
addEventListener("pageshow", ({ persisted }) => persisted && front.removeAttribute("aria-busy"))  // back from an ordinary link
const [named] = [...new URLSearchParams(location.search)].filter(([name]) => ["scenario", "claim"].includes(name))
announce((named && find(`[data-${named[0]}="${CSS.escape(named[1])}"]`)) ?? find(`[data-page="${front.dataset.open}"]`))

// -- what is done before it can be answered

const loads = () => find(".bar") || document.getElementById("loader").style.display === "flex"
const comes = () => front.hasAttribute("aria-busy") || ["explore", "runs"].includes(front.dataset.open) && loads()
let tries = 300  // what answers to keys may be built after what says that the page stands
const press = () => {
  const last = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })
  const lost = () => front.dataset.open === "explore" && document.body.dispatchEvent(last) && --tries  // or turned away
  if (comes() || lost()) return void setTimeout(press, 100)
  kept.mklvizKey = key = ""
}
addEventListener("keydown", (event) => {
  if (!(event.key in KEYS) || event.ctrlKey || event.metaKey || event.altKey || !comes()) return
  if (event.composedPath()[0].matches?.("input, textarea, select")) return
  event.preventDefault()
  event.stopImmediatePropagation()
  if (!key) setTimeout(press, 100)
  kept.mklvizKey = key = event.key
  tell()
}, true)
if (key) press()

// a file that is dropped where nobody else takes it is a table of one's own; the browser would leave the page for it
const open = () => {
  front.setAttribute("aria-busy", "true")
  tell()
  if (!find(".bar")) find("[data-own]").click()
  asked = !find(".bar")
}
addEventListener("dragover", (event) => { if (event.dataTransfer.types.includes("Files")) event.preventDefault() })
addEventListener("drop", (event) => {
  const [dropped] = event.defaultPrevented ? [] : event.dataTransfer.files
  if (!dropped) return
  event.preventDefault()
  file = dropped
  open()
})
front.addEventListener("mklviz-section", () => { if (file && !asked) open() })
document.addEventListener("mklviz-wants-file", ({ detail: give }) => {
  if (file) give(file)
  file = null
})
}
