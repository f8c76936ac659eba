// Guesses stand in the browser's storage under one name, and nothing else does. A browser that keeps nothing, as some do
// in private windows, forgets them with the page.
const NAME = "mklviz-guesses"

const stored = () => {
  try { return JSON.parse(localStorage.getItem(NAME)) ?? {} } catch { return {} }
}

export function render({ model }) {
  model.on("kept", () => {
    const guesses = JSON.parse(model.kept || "{}")
    try {
      if (Object.keys(guesses).length) localStorage.setItem(NAME, JSON.stringify({ ...stored(), ...guesses }))
      else localStorage.removeItem(NAME)
    } catch { /* nothing can be kept */ }
  })
  const tell = () => {
    const kept = stored()
    if (model.asked && Object.keys(kept).length) model.send_msg({ kept })
  }
  model.on("asked", tell)
  tell()
}
