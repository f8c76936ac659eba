// Sends where the handle is, one place at a time: the newest one when the paths of the one before are there
export function render({ model }) {
  const front = document.getElementById("mklviz-front")
  if (!front) return
  let waits = false, newest = null
  const send = () => {
    if (waits || newest === null) return
    waits = true
    model.send_msg(newest)
    newest = null
  }
  const moved = (event) => {
    event.preventDefault()  // it is taken
    newest = event.detail
    send()
  }
  front.addEventListener("mklviz-start", moved)
  front.dispatchEvent(new CustomEvent("mklviz-listens"))
  model.on("msg:custom", (detail) => {
    front.dispatchEvent(new CustomEvent("mklviz-paths", { detail }))
    waits = false
    send()
  })
  model.on("remove", () => front.removeEventListener("mklviz-start", moved))
}
