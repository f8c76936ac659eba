// Tells where a point is dragged to, and the tool has its turn with the mouse first.
setTimeout(() => {
  const [place] = source.selected.indices
  if (place !== undefined) say({ place: [place], x: [source.get_array("x")[place]], y: [source.get_array("y")[place]] })
}, 0)
