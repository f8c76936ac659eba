// Stands before a script of a figure on which something is dragged: `say` tells the newest state, and the next once the
// figures show the last.
const state = asked.dragged ??= { waits: false, next: null, heard: false }
const tell = () => {
  if (state.waits || state.next === null) return
  state.waits = true
  asked.data = state.next
  state.next = null
}
const say = (columns) => {
  state.next = columns
  tell()
}
if (!state.heard) {
  state.heard = true
  answered.change.connect(() => requestAnimationFrame(() => setTimeout(() => { state.waits = false; tell() }, 0)))
}
