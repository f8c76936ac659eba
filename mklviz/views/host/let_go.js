// A control clicked with the mouse lets go of the focus, so that the keys of the race are heard again; whoever goes
// through the controls with the keyboard keeps it.
const letGo = (box) => box.addEventListener("click", ({ target }) => {
  const control = target.closest("button, label")?.control ?? target.closest("button, input[type=checkbox], input[type=radio]")
  if (control !== null && !control.matches(":focus-visible")) control.blur()
})
