const shells = () => [...(Bokeh.documents[0]?.all_models ?? [])].filter((model) => model.data?.sidebar_open !== undefined)

// On a phone the drawer covers the race: it closes when Run is pressed
const close = () => { if (innerWidth < 600) for (const shell of shells()) shell.data.sidebar_open = false }
document.addEventListener("click", (event) => {
  if (event.composedPath().some((node) => node.matches?.(".button.contained"))) close()
})

const preference = matchMedia("(prefers-color-scheme: dark)")
const follow = () => {
  for (const shell of shells()) {
    if (shell.data.dark_theme !== mklvizDark) return  // a person has chosen
    shell.data.dark_theme = window.mklvizDark = preference.matches
  }
}
if (!new URLSearchParams(location.search).has("theme")) preference.addEventListener("change", follow)
document.documentElement.style.colorScheme = ""  // the page has colours of its own
