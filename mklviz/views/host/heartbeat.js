const KEYS = [" ", "s", "x", "r"]
const STEPS = ["ArrowLeft", "ArrowRight", "Home", "End"]
const ticked = (target) => target.type === "checkbox"  // of all inputs the one that has no use for these keys but for Space
const typing = (target) => !ticked(target) && ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) || target.isContentEditable
const acts = (target, key) => key === " " && (ticked(target) || ["BUTTON", "SUMMARY"].includes(target.tagName)
  || ["button", "tab", "option", "switch", "combobox", "menuitem"].includes(target.getAttribute?.("role")))
const moves = (target) => ["tab", "radio", "option", "combobox", "slider", "menuitem"].includes(target.getAttribute?.("role"))
export function render({ model, el }) {
  const paint = () => {
    const seq = model.seq
    requestAnimationFrame(() => setTimeout(() => { model.ack = seq }, 0))
  }
  model.on("seq", paint)
  if (model.seq > model.ack) paint()  // sent before this was here to see it
  const pressed = (event) => {
    const target = event.composedPath()[0]
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (event.composedPath().some((node) => node.tagName === "DIALOG")) return
    const steps = model.steps && STEPS.includes(event.key) && !moves(target)
    if (!(steps || KEYS.includes(event.key)) || typing(target) || acts(target, event.key)) return
    if (!el.isConnected || el.getRootNode().host?.offsetParent === null) return
    event.preventDefault()
    model.key = event.key
    model.presses += 1
  }
  document.addEventListener("keydown", pressed)
  model.on("remove", () => document.removeEventListener("keydown", pressed))
}
