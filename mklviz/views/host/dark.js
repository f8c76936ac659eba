// A page is dark where the system prefers dark pages, unless its address says otherwise or somebody has chosen
const preference = matchMedia("(prefers-color-scheme: dark)")
const shells = () => [...(Bokeh.documents[0]?.all_models ?? [])].filter((model) => model.data?.dark_theme !== undefined && model.data.sidebar_open !== undefined)
const follow = () => {
  for (const shell of shells()) {
    if (shell.data.dark_theme !== (window.mklvizDark ?? false)) return  // somebody has chosen
    shell.data.dark_theme = window.mklvizDark = preference.matches
  }
}
if (!new URLSearchParams(location.search).has("theme")) {
  follow()
  preference.addEventListener("change", follow)
}
