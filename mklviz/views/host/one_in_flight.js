// Stands before a script of what is dragged: tells the newest state, and the next once the picture shows the last.
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
      if (message.ended) waits = false
      tellNext()
    },
    idle: () => next === null,
    painted: () => requestAnimationFrame(() => setTimeout(() => { waits = false; tellNext() }, 0)),
  }
}
const draggedBy = (model) => {
  const drag = oneInFlight((message) => model.send_msg(message))
  model.on("drawn", drag.painted)
  return drag
}
