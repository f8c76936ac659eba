// Stands before a script of what is dragged: tells the newest state, and the next once the picture shows the last.
const oneInFlight = (model) => {
  let next = null, waits = false
  const tell = () => {
    if (waits || next === null) return
    waits = true
    model.send_msg(next)
    next = null
  }
  model.on("drawn", () => requestAnimationFrame(() => setTimeout(() => { waits = false; tell() }, 0)))
  return {
    say: (message) => {
      next = message
      if (message.ended) waits = false
      tell()
    },
    idle: () => next === null,
  }
}
