export function render({ model, el }) {
  const row = document.createElement("div")
  row.className = "chips"
  row.setAttribute("role", "group")
  row.setAttribute("aria-label", "Solvers shown")
  const press = (key) => {
    const hidden = model.hidden.filter((other) => other !== key)
    model.hidden = hidden.length === model.hidden.length ? [...hidden, key] : hidden
  }
  const isolate = (key) => {
    const others = model.items.map((item) => item.key).filter((other) => other !== key)
    const alone = others.every((other) => model.hidden.includes(other))
    model.hidden = alone ? [] : others
  }
  const pin = ({ key, label, told, apart }) => {
    const button = document.createElement("button")
    button.type = "button"
    button.className = "pinned"
    const what = apart ? "its gaps alone, as it solved another problem" : "in objective and gap"
    button.title = `Pinned, ${what}: ${told}. Click: take it off.`
    button.setAttribute("aria-label", `Take off the pinned race ${label}`)
    button.append(Object.assign(document.createElement("i"), { ariaHidden: "true" }),
      Object.assign(document.createElement("span"), { textContent: label }),
      Object.assign(document.createElement("b"), { textContent: "×", ariaHidden: "true" }))
    button.addEventListener("click", () => model.send_msg({ off: key }))
    return button
  }
  const mark = () => row.querySelectorAll("button[data-key]").forEach((button) => {
    button.setAttribute("aria-pressed", String(!model.hidden.includes(button.dataset.key)))
  })
  const fill = () => {
    row.replaceChildren(...model.items.map((item) => {
      const button = document.createElement("button")
      button.type = "button"
      button.dataset.key = item.key
      button.title = "Click: hide or show. Double-click: show alone."
      button.innerHTML = item.swatch
      button.append(Object.assign(document.createElement("span"), { textContent: item.label }))
      button.addEventListener("click", (event) => { if (event.detail < 2) press(item.key) })
      button.addEventListener("dblclick", () => { press(item.key); isolate(item.key) })
      return button
    }), ...model.pinned.map(pin))
    mark()
  }
  letGo(row)
  fill()
  model.on("items", fill)
  model.on("pinned", fill)
  model.on("hidden", mark)
  el.append(row)
}
