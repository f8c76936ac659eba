// Stands before a script with controls.

const make = (tag, className = "", properties = {}, ...inside) => {
  const node = Object.assign(document.createElement(tag), { className, ...properties })
  node.append(...inside)
  return node
}

// A control that is clicked with the mouse gives up the focus, so that the keys of the race work again. Whoever moves
// through the controls with the keyboard keeps the focus.
const letGo = (box) => {
  let pressed = null  // a list that the mouse has opened
  box.addEventListener("pointerdown", ({ target }) => { pressed = target.closest("select") })
  box.addEventListener("focusout", ({ target }) => { if (target === pressed) pressed = null })
  box.addEventListener("change", ({ target }) => { if (target === pressed) target.blur() })
  box.addEventListener("click", ({ target }) => {
    const control = target.closest("button, label")?.control ?? target.closest("button, input[type=checkbox], input[type=radio]")
    if (control !== null && !control.matches(":focus-visible")) control.blur()
  })
}

// The browser takes the pointer from a slider whenever the page around it is laid
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

// Of what is dragged: tells the newest state, and the next once the picture shows the last.
const oneInFlight = (tell) => {
  let next = null, waits = false
  const tellNext = () => {
    if (waits || next === null) return
    waits = true
    tell(next)
    next = null
  }
  return {
    say: (message) => {
      next = message
      tellNext()
    },
    idle: () => next === null,
    painted: () => requestAnimationFrame(() => setTimeout(() => { waits = false; tellNext() }, 0)),
  }
}
