// On a phone the drawer covers the race: it begins closed, and closes when Run is pressed
const narrow = () => innerWidth < 600
const shells = () => [...(Bokeh.documents[0]?.all_models ?? [])].filter((model) => model.data?.sidebar_open !== undefined)
const close = () => { if (narrow()) for (const shell of shells()) shell.data.sidebar_open = false }
close()
document.addEventListener("click", (event) => {
  if (event.composedPath().some((node) => node.matches?.(".button.contained"))) close()
})
