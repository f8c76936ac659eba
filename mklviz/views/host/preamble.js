// Stands in the page itself, before the scripts of Bokeh and Panel.

// A page is dark where the system prefers dark pages, unless its address says otherwise or a person has chosen
window.mklvizDark = !new URLSearchParams(location.search).has("theme") && matchMedia("(prefers-color-scheme: dark)").matches
if (mklvizDark) document.documentElement.style.colorScheme = "dark"  // until it has colours of its own
// as long as Panel waits: what covers a page must go, even where nothing says how dark the page is
addEventListener("load", () => setTimeout(() => {
  const front = document.getElementById("mklviz-front")
  if (front) front.dataset.dark ??= "no"
}, 30000))

// A page that lacks one of its scripts, or was cut off while it was loaded, stays empty; this says so.
let complete = true, leaves = false
const unloaded = (address) => {
  const name = new URL(address, location.href).pathname.split("/").at(-1)
  say(`the server did not give it its script ${name}`, !performance.getEntriesByName(address).at(-1)?.responseStatus)
}
window.mklvizBanner = (id, text, button) => {
  const banner = Object.assign(document.createElement("div"), { id, textContent: text })
  banner.setAttribute("role", "alert")
  banner.style.cssText = "position: fixed; inset: 0 0 auto 0; z-index: 100000; padding: 14px 20px; background: #8a2b0e;"
    + " color: #fff; font: 600 15px sans-serif; display: flex; gap: 16px; align-items: center; justify-content: center"
  const again = Object.assign(document.createElement("button"), { textContent: button })
  again.style.cssText = "font: inherit; padding: 6px 14px; cursor: pointer"
  again.addEventListener("click", () => location.reload())
  if (button) banner.append(again)
  return banner
}
const say = (why, cut) => {
  if (!complete) return
  complete = false
  const banner = mklvizBanner("mklviz-unloaded", `This page is not complete: ${why}.`, "Load again")
  const show = () => document.body.append(banner)
  document.body ? show() : addEventListener("DOMContentLoaded", show)
  if (!cut || performance.getEntriesByType("navigation")[0]?.type === "reload") return  // by itself only once
  const settings = () => ({ cache: "no-store", method: "HEAD", signal: AbortSignal.timeout(5000) })
  setInterval(() => fetch(location.href, settings()).then(({ status }) => { if (status < 500 && !leaves) location.reload() }, () => {}), 1000)
}

addEventListener("error", ({ target }) => target instanceof HTMLScriptElement && unloaded(target.src), true)
// modules are fetched by scripts; browsers from before 2023 do not tell how that ended
new PerformanceObserver((seen) => {
  const lost = seen.getEntries().find((entry) => entry.responseStatus >= 400 && /\.m?js($|\?)/.test(entry.name))
  if (lost) unloaded(lost.name)
}).observe({ type: "resource", buffered: true })

// BokehJS asks once what the page consists of, and reconnect.js, which brings a page back, is part of that
addEventListener("beforeunload", () => { leaves = true; complete = false })
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given)
    this.addEventListener("close", () => window.mklvizConnection || say("its connection was lost while it was loaded", true))
  }
}

// A button that is pressed is clicked when the mouse is let go, even if the page has moved it meanwhile, as a picture does
// that is laid out while a person clicks, or has put another in its place, as Start does once it is loaded. Who moves
// the mouse away takes the press back, as everywhere.
{
const AWAY = 20  // pixels
addEventListener("pointerdown", (down) => {
  const pressed = down.composedPath().find((node) => node.matches?.("button, a"))
  if (!down.isTrusted || down.button !== 0 || !pressed || pressed.matches("[role=slider]")) return
  pressed.setPointerCapture(down.pointerId)
  pressed.addEventListener("pointermove", function leave({ clientX, clientY, pointerId }) {
    if (!pressed.hasPointerCapture(pointerId)) return pressed.removeEventListener("pointermove", leave)
    if (Math.hypot(clientX - down.clientX, clientY - down.clientY) > AWAY) pressed.releasePointerCapture(pointerId)
  })
  addEventListener("pointerup", (up) => {
    const now = up.composedPath().find((node) => node.matches?.("button, a"))
    if (!pressed.isConnected && now?.textContent === pressed.textContent) now.click()
  }, { capture: true, once: true })
}, true)
}
