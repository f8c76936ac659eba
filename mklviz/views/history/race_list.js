// A list of any length: a tall box in one that scrolls, in which only the rows in view stand. Texts are set as text.
const PAGE = 40, AROUND = 6
const act = (label, run) => {
  const button = make("button", label.toLowerCase(), { type: "button", textContent: label, tabIndex: -1 })
  button.addEventListener("click", (event) => { event.stopPropagation(); run() })
  return button
}

export function render({ model, el }) {
  const list = make("div", "list", { role: "list", ariaLabel: "Races: Enter opens one, the space bar chooses it, P pins it" })
  const probe = make("div", "probe"), box = make("div", "box", {}, list, probe), drawn = new Map()
  let pages = new Map([[0, model.first]]), asked = new Set(), at = 0, height = 64

  const rowOf = (index) => pages.get(Math.floor(index / PAGE))?.[index % PAGE]
  const chosen = (id) => model.chosen.includes(id)
  const tick = (id) => { model.chosen = chosen(id) ? model.chosen.filter((other) => other !== id) : [...model.chosen, id] }
  const tell = (what, id) => model.send_msg({ act: what, id })

  const fresh = (index) => {
    const tickBox = make("input", "", { type: "checkbox", tabIndex: -1 })
    const parts = Object.fromEntries(["name", "lesson", "tags", "words", "solvers", "result", "when"].map(
      (name) => [name, make(name === "name" ? "b" : "span", name)]))
    const pin = act("Pin", () => tell("pin", node.dataset.id)), open = act("Open", () => tell("open", node.dataset.id))
    const head = make("div", "head", {}, parts.name, parts.lesson, parts.tags), what = make("div", "what", {}, head, parts.words)
    const state = make("span", "state"), came = make("div", "came", {}, state, parts.result)
    const node = make("div", "row", { role: "listitem" }, tickBox, what, parts.solvers, came, parts.when, pin, open)
    node.addEventListener("click", (event) => {
      if (event.target === tickBox || !node.dataset.id) return  // a row that is still on its way
      at = index
      model.chosen = chosen(node.dataset.id) && model.chosen.length === 1 ? [] : [node.dataset.id]
      draw()
    })
    node.addEventListener("dblclick", () => tell("open", node.dataset.id))
    node.addEventListener("focusin", () => { at = index; mark() })
    tickBox.addEventListener("change", () => tick(node.dataset.id))
    return { node, parts, tickBox, state, pin, open, row: null }
  }

  const fill = (made, index, row) => {
    const { node, parts } = made
    node.style.top = `${index * height}px`
    node.setAttribute("aria-posinset", index + 1)
    node.setAttribute("aria-setsize", model.total)
    if (made.row === row) return
    made.row = row
    node.classList.toggle("empty", row === undefined)
    node.dataset.id = row?.id ?? ""
    if (row === undefined) return
    for (const name of ["name", "words", "lesson", "result", "when"]) parts[name].textContent = row[name]
    parts.words.title = row.words
    parts.when.title = row.at
    parts.tags.replaceChildren(...row.tags.map((tag) => make("i", "", { textContent: tag })))
    parts.solvers.replaceChildren(...row.solvers.map(([label, innerHTML]) =>  // the picture is the server's own
      make("span", "chip", { innerHTML, title: label }, make("span", "", {}, label))))
    made.state.textContent = row.state
    made.state.dataset.state = row.state
    made.tickBox.ariaLabel = `Choose ${row.name}`
    made.pin.ariaLabel = `Pin ${row.name}: it is kept when the store is full`
    made.pin.textContent = row.pinned ? "Pinned" : "Pin"
    made.pin.ariaPressed = String(row.pinned)
    made.pin.title = row.pinned ? "Pinned: it stays when the store is full" : "Pin: let it stay when the store is full"
    made.open.ariaLabel = `Open ${row.name}`
    node.ariaLabel = [row.name, row.when, row.solvers.map(([label]) => label).join(", "), row.state, row.result].filter(Boolean).join(", ")
  }

  const mark = () => drawn.forEach(({ node, tickBox }, index) => {
    node.tabIndex = index === at ? 0 : -1
    tickBox.checked = chosen(node.dataset.id)
    node.classList.toggle("chosen", tickBox.checked)
  })

  const ask = (page) => {
    if (asked.has(page)) return
    asked.add(page)
    model.send_msg({ page })
  }

  const draw = () => {
    box.style.display = model.total ? "" : "none"
    height = probe.offsetHeight || height
    list.style.height = `${model.total * height}px`
    at = Math.max(0, Math.min(at, model.total - 1))
    const from = Math.max(0, Math.floor(box.scrollTop / height) - AROUND)
    const to = Math.min(model.total, Math.ceil((box.scrollTop + (box.clientHeight || 600)) / height) + AROUND)
    drawn.forEach(({ node }, index) => {
      if ((index < from || index >= to) && !node.contains(el.getRootNode().activeElement)) { node.remove(); drawn.delete(index) }
    })
    for (let index = from; index < to; index++) {
      if (!drawn.has(index)) drawn.set(index, fresh(index))
      const made = drawn.get(index), row = rowOf(index)
      if (row === undefined || !asked.has(Math.floor(index / PAGE))) ask(Math.floor(index / PAGE))
      fill(made, index, row)
      if (!made.node.isConnected) {  // in the order of reading, whatever way one scrolls
        const next = [...drawn.keys()].filter((other) => other > index && drawn.get(other).node.isConnected)
        list.insertBefore(made.node, next.length ? drawn.get(Math.min(...next)).node : null)
      }
    }
    drawn.forEach((_, index) => { if (index >= model.total) { drawn.get(index).node.remove(); drawn.delete(index) } })
    mark()
  }

  const go = (index) => {
    at = Math.max(0, Math.min(index, model.total - 1))
    const top = at * height
    if (top < box.scrollTop) box.scrollTop = top
    if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight
    draw()
    drawn.get(at)?.node.focus({ preventScroll: true })
  }

  list.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const page = Math.max(1, Math.floor(box.clientHeight / height) - 1), id = rowOf(at)?.id
    const keys = { ArrowDown: () => go(at + 1), ArrowUp: () => go(at - 1), PageDown: () => go(at + page),
      PageUp: () => go(at - page), Home: () => go(0), End: () => go(model.total - 1), Enter: () => tell("open", id),
      " ": () => tick(id), p: () => tell("pin", id) }
    if (!keys[event.key] || id === undefined || event.target.matches("button, input")) return
    event.preventDefault()
    event.stopPropagation()
    keys[event.key]()
  })
  let due = false
  const soon = () => {
    if (due) return
    due = true
    requestAnimationFrame(() => { due = false; draw() })
  }
  box.addEventListener("scroll", soon, { passive: true })
  const watch = new ResizeObserver(soon)
  watch.observe(box)
  model.on("remove", () => watch.disconnect())
  const renew = () => {  // old rows stay until the new ones are there, which may come before their version or after it
    asked = new Set([0])
    pages.set(0, model.first)
    draw()
  }
  model.on("version", renew)
  model.on("first", renew)
  model.on("total", renew)
  model.on("chosen", mark)
  model.on("msg:custom", ({ page, version, rows }) => {
    if (version !== model.version) return
    pages.set(page, rows)
    draw()
  })
  asked.add(0)
  letGo(box)
  el.append(box)
  draw()
}
