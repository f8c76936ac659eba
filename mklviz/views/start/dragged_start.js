// Sends where the handle is, one place at a time: the newest one when the paths of the one before are there
export function render({ model }) {
  const front = document.getElementById("mklviz-front")
  if (!front) return
  const places = oneInFlight((place) => model.send_msg(place))
  const moved = (event) => {
    event.preventDefault()  // it is taken
    places.say(event.detail)
  }
  front.addEventListener("mklviz-start", moved)
  front.dispatchEvent(new CustomEvent("mklviz-listens"))
  model.on("msg:custom", (detail) => {
    front.dispatchEvent(new CustomEvent("mklviz-paths", { detail }))
    places.painted()
  })
  model.on("remove", () => front.removeEventListener("mklviz-start", moved))
}
