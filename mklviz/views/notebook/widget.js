// A race in the output of a cell: the figures of the exported page, and buttons that tell the kernel what is wanted.

const BUTTONS = { pause: "Pause", step: "Step", full: "Full speed", stop: "Stop" }

// whether what is behind an element is dark, whatever the notebook calls its themes and however it writes colours
function dark(element) {
  const ink = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true })
  for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
    ink.clearRect(0, 0, 1, 1)
    ink.fillStyle = getComputedStyle(at).backgroundColor
    ink.fillRect(0, 0, 1, 1)
    const [red, green, blue, alpha] = ink.getImageData(0, 0, 1, 1).data
    if (alpha > 127) return 0.3 * red + 0.6 * green + 0.1 * blue < 128
  }
  return false
}

function render({ model, el }) {
  const root = el.shadowRoot ?? el.attachShadow({ mode: "open" })
  const colours = tag("style", {}), status = tag("span", { class: "status" })
  const place = tag("div", {}), bar = tag("div", { class: "scrubber" })
  const say = (wish) => () => model.send({ wish })
  const buttons = Object.fromEntries(Object.entries(BUTTONS).map(([wish, text]) => [wish, button(text, say(wish))]))
  const whole = tag("div", { class: "recording widget" }, tag("div", { class: "controls" }, ...Object.values(buttons),
    status), place, bar)
  root.replaceChildren(tag("style", {}, model.get("sheet")), colours, whole)
  el.classList.add("mklviz-race")
  el.dataset.lmSuppressShortcuts = "true" // or JupyterLab would take the keys
  const view = new RaceView(place, bar)
  whole.addEventListener("keydown", (event) => { if (view.data) view.key(event) })

  const shade = () => {
    const sheet = model.get("colours")[dark(el) ? "dark" : "light"] ?? ""
    if (colours.textContent !== sheet) colours.textContent = sheet
  }
  const control = () => {
    const { state, words, paced } = model.get("control")
    status.textContent = words
    buttons.pause.textContent = state === "paused" ? "Resume" : "Pause"
    for (const made of Object.values(buttons)) made.hidden = state === "finished"
    buttons.full.hidden ||= !paced
  }
  const grow = () => {
    const recording = model.get("recording")
    shade() // a page may not have had its colours when this was put in it
    bar.hidden = !recording.runs
    if (recording.runs) view.show(recording)
    requestAnimationFrame(() => model.send({ wish: "more" }))
  }
  const followed = [["change:colours", shade], ["change:control", control], ["change:recording", grow]]
  for (const [event, react] of followed) model.on(event, react)
  const themes = new MutationObserver(shade)
  for (const each of [document.documentElement, document.body]) themes.observe(each, { attributes: true })
  // the picture that a page without this widget shows
  const quiet = tag("style", {}, `[data-still="${model.get("still")}"] { display: none; }`)
  document.head.append(quiet)
  shade()
  control()
  grow()
  return () => {
    themes.disconnect()
    quiet.remove()
    for (const [event, react] of followed) model.off(event, react)
  }
}

export default { render }
