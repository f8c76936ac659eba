// Stands before a script with sliders. The browser takes the pointer from a slider whenever the page around it is laid
// out anew, as it is when a figure changes its height; from there on the slider follows the pointer by this.
const keepHold = (range, moved, hold) => {
  let dragged = false  // by the browser itself
  const THUMB = 16  // pixels, about
  const follow = (event) => {
    if (dragged && !range.hasPointerCapture(event.pointerId)) return
    range.setPointerCapture(event.pointerId)
    const { left, width } = range.getBoundingClientRect(), before = range.value
    const share = Math.min(Math.max((event.clientX - left - THUMB / 2) / (width - THUMB), 0), 1)
    range.value = String(Number(range.min) + share * (range.max - range.min))
    if (range.value !== before) moved()
  }
  const release = () => {
    hold(false)
    document.removeEventListener("pointermove", follow, true)
    for (const end of ["pointerup", "pointercancel"]) document.removeEventListener(end, release, true)
  }
  range.addEventListener("gotpointercapture", () => { dragged = true })
  range.addEventListener("lostpointercapture", () => { dragged = false })
  range.addEventListener("pointerdown", ({ button }) => {
    if (button !== 0) return
    hold(true)
    document.addEventListener("pointermove", follow, true)
    for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, release, true)
  })
}
