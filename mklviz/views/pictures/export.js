// Draws what the page shows as one picture, and leaves it as text in place of the page.
(() => {
  const leave = (text) => {
    const place = document.createElement("pre")
    place.id = "picture"
    place.textContent = text
    document.body.replaceChildren(place)
  }
  const draw = () => {
    const shown = Bokeh.documents[0]
    if (shown === undefined || !shown.is_idle) return setTimeout(draw, 20)
    try {
      const view = [...Bokeh.index].find((one) => one.model === shown.roots()[0])
      const layer = view.export(FORMAT)
      leave(FORMAT === "svg" ? layer.ctx.get_serialized_svg(true) : layer.canvas.toDataURL("image/png"))
    } catch (error) {
      leave(`failed: ${error}`)
    }
  }
  setTimeout(draw, 20)
})()
