// The picture of the first lesson over the two kernels of a race; its keys count within it alone.
export function render({ model, el }) {
  let end = () => {}
  const draw = () => {
    end()
    el.innerHTML = model.figure
    end = playCurve(el, model.pair, model.solver, "data")
  }
  if (model.pair.problem) draw()
  model.on("pair", draw)
  model.on("remove", () => end())
}
