// Plays the recorded paths as soon as the HTML is there. Says at once what a click will open.
{
const front = document.getElementById("mklviz-front"), find = (name) => front.querySelector(name)
const language = new URLSearchParams(location.search).get("lang")  // stays in the links of the page
if (language) for (const link of front.querySelectorAll('a[href^="?"]:not([hreflang])')) link.search += `&lang=${encodeURIComponent(language)}`
const data = JSON.parse(find(".data").textContent), solver = find(".solver").textContent
playTriangle(find(".map"), data, solver)
let drawn = false  // the curve of the first lesson, once it is seen
const seen = () => { if (!drawn && front.dataset.open === "curve") { drawn = true; playCurve(find(".page.curve"), data.pair, solver) } }
front.addEventListener("mklviz-section", seen)
seen()

// -- what is coming

const coming = find(".coming span"), KEYS = { " ": tr("Run"), s: tr("Step"), "?": tr("Keys") }
let kept = {}  // also where a link loads another page
try { kept = sessionStorage } catch {}  // which not every browser has within a frame
let opens = "", key = kept.mklvizKey ?? "", files = [], asked = false  // what was pressed or dropped before it can be answered
const tell = () => {
  const opening = tr("Opening {what} …", { what: files.map((file) => file.name).join(", ") || opens })
  coming.textContent = key ? opening + " " + tr("then {key}", { key: KEYS[key] }) : opening
}
const announce = (link) => {
  const { scenario } = link.dataset, card = scenario ? front.querySelector(`.lessons [data-scenario="${scenario}"] b`) : null
  opens = (card ?? link.querySelector("small") ?? link).textContent
  if (card) opens = tr("lesson {title}", { title: opens })
  tell()
}
document.addEventListener("click", (event) => {  // also on the links that take the place of those in the bar
  const link = event.composedPath().find((node) => node.dataset?.page)
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  const here = new URLSearchParams(location.search)
  if (!here.has("page")) {  // such an address opens what was open last, and Back is to lead here
    here.set("page", front.dataset.open)
    try { history.replaceState(history.state, "", `?${here}${location.hash}`) } catch {}  // in a frame that may not
  }
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

// a file that is dropped where nothing else takes it is a table of one's own; the browser would leave the page for it
const open = () => {
  front.setAttribute("aria-busy", "true")
  tell()
  if (!find(".bar")) find("[data-own]").click()
  asked = !find(".bar")
}
addEventListener("dragover", (event) => { if (event.dataTransfer.types.includes("Files")) event.preventDefault() })
addEventListener("drop", (event) => {
  const dropped = event.defaultPrevented ? [] : [...event.dataTransfer.files]
  if (!dropped.length) return
  event.preventDefault()
  files = dropped
  open()
})
front.addEventListener("mklviz-section", () => { if (files.length && !asked) open() })
document.addEventListener("mklviz-wants-file", ({ detail: give }) => {
  give(files)
  files = []
})
}
