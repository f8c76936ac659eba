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
      tellNext()
    },
    idle: () => next === null,
    painted: () => requestAnimationFrame(() => setTimeout(() => { waits = false; tellNext() }, 0)),
  }
}
