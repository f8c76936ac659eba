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
