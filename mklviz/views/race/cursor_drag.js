// Tells where the mouse is dragged to: the newest place, and the next once the figures stand there.
if (cb_obj.origin.toolbar.gestures.pan.active != null) return
const state = asked.dragged ??= { waits: false, next: null, heard: false }
const tell = () => {
  if (state.waits || state.next === null) return
  state.waits = true
  asked.data = { x: [state.next] }
  state.next = null
}
if (!state.heard) {
  state.heard = true
  answered.change.connect(() => requestAnimationFrame(() => setTimeout(() => { state.waits = false; tell() }, 0)))
}
state.next = cb_obj.x
tell()
