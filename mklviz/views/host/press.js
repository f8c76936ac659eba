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
