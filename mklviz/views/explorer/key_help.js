const made = (tag, properties = {}, ...inside) => {
  const node = Object.assign(document.createElement(tag), properties)
  node.append(...inside)
  return node
}
const typing = (target) => ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) && target.type !== "range"
  && target.type !== "checkbox" && target.type !== "radio" || target.isContentEditable

export function render({ model, el }) {
  const opener = made("button", { type: "button", className: "open", textContent: "Keys", title: "What the keys do (?)" })
  opener.setAttribute("aria-haspopup", "dialog")
  const close = made("button", { type: "button", className: "close", textContent: "Close", autofocus: true })
  const list = made("dl", {}, ...model.rows.flatMap(([keys, does]) => [
    made("dt", {}, ...keys.split(/( |, )/).map((key) => key.trim() && key !== ", " ? made("kbd", { textContent: key }) : key)),
    made("dd", { textContent: does }),
  ]))
  const dialog = made("dialog", {}, made("h2", { id: "keys-title", textContent: "Keys" }), list, close)
  dialog.setAttribute("aria-labelledby", "keys-title")
  const open = () => { if (!dialog.open) dialog.showModal() }
  opener.addEventListener("click", open)
  close.addEventListener("click", () => dialog.close())
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close() })  // beside it
  const pressed = (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || typing(event.composedPath()[0])) return
    event.preventDefault()
    open()
  }
  document.addEventListener("keydown", pressed)
  model.on("remove", () => document.removeEventListener("keydown", pressed))
  el.append(opener, dialog)
}
