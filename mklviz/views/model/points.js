// What a drag and a tap on a point do; the tool has its turn with the mouse first. A drag tells where the point is. A tap
// selects a point. That is taken back, as a selected point would move along with the next one that is dragged, and where
// taps remove points, the point goes. Where taps do something else the server hears of it all the same: it may have been
// told meanwhile that they remove points.
setTimeout(() => {
  const chosen = [...source.selected.indices]
  if (!chosen.length) return
  if (cb_obj.event_name === "pan") {
    const [place] = chosen
    say({ place: [place], x: [source.get_array("x")[place]], y: [source.get_array("y")[place]] })
    return
  }
  if (!tool.add) {
    const kept = (name) => Array.from(source.get_array(name)).filter((_, place) => !chosen.includes(place))
    source.data = Object.fromEntries(source.columns().map((name) => [name, kept(name)]))
  } else {
    taps.data = { place: chosen, at: chosen.map(() => Date.now()) }
  }
  source.selected.indices = []
}, 0)
