// How each kind of part looks: a function that makes its element and returns it with `show`, which brings it up to date.
// `say` tells the server what a person did. Whatever text comes from the server is set as text, never as markup.
const put = (node, name, value) => value === undefined || value === false || value === ""
  ? node.removeAttribute(name) : node.setAttribute(name, value)
const words = (tag, className = "") => () => {
  const node = make(tag, className)
  return { node, show: (part) => { node.textContent = part.object ?? "" } }
}
// a control ignores the pointer while it is off, but keeps the focus and says why
const press = (node, act) => node.addEventListener("click", () => {
  if (node.getAttribute("aria-disabled") !== "true") act()
})
// `node` shows the help under the mouse, `control` tells it to screen readers
const explain = (node, control, part) => {
  node.dataset.tip = part.description ?? ""
  put(control, "aria-description", part.description)
}
const size = (node, part) => { node.style.flex = part.width ? `0 0 calc(${part.width}px * var(--mk-scale, 1))` : "" }

// A line with a label at its left and `control` at its right; screen readers read help and errors with the control.
const line = (control, key) => {
  const error = make("p", "fault", { id: `error-${key}`, role: "alert" })
  const label = make("label", "", { htmlFor: `control-${key}` })
  const box = make("div", "line", {}, label, control), node = make("div", "field", {}, box)
  control.id = `control-${key}`
  const show = (part) => {
    label.textContent = part.label
    label.className = part.bare ? "unseen" : ""
    label.toggleAttribute("data-help", Boolean(part.description))
    explain(box, control, part)
    put(control, "aria-invalid", part.helper_text ? "true" : "")
    put(control, "aria-describedby", part.helper_text && error.id)
    node.classList.toggle("wrong", Boolean(part.helper_text))
    if (part.helper_text) node.append(error)
    else error.remove()
    if (error.textContent !== (part.helper_text ?? "")) error.textContent = part.helper_text ?? ""
    size(node, part)
  }
  return { node, show }
}

const onOff = (className) => (say) => {
  const box = make("input", "", { type: "checkbox" }), text = make("span"), node = make("label", className, {}, box, text)
  if (className === "switch") box.setAttribute("role", "switch")
  box.addEventListener("change", () => say({ value: box.checked }))
  return { node, show: (part) => {
    text.textContent = part.label
    box.checked = Boolean(part.value)
    explain(node, box, part)
  } }
}

const PIECE = 2 ** 19  // bytes
const encoded = (blob) => new Promise((done) => {
  const reader = new FileReader()
  reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1))
  reader.readAsDataURL(blob)
})
// one file after the other; files that are too large together are told as one
const send = async (files, limit, say) => {
  const total = files.reduce((sum, file) => sum + file.size, 0), of = files.length
  if (total > limit) return say({ name: files[0].name, size: total, begins: true })
  for (const [at, file] of files.entries()) {
    const { name, size } = file
    if (size === 0) say({ name, size, at, of, begins: true })
    for (let from = 0; from < size; from += PIECE) {
      say({ name, size, at, of, begins: from === 0, piece: await encoded(file.slice(from, from + PIECE)) })
    }
  }
}

// a number and its sign of percent stay in one line
const held = (text) => (text ?? "").replace(/(\d) %/g, "$1\u00a0%")

// a page without encryption has no clipboard, but may copy what is selected
const copied = (text) => {
  const area = make("textarea", "", { value: text, readOnly: true, style: "position: fixed; opacity: 0" })
  document.body.append(area)
  area.select()
  try { return document.execCommand("copy") } catch { return false } finally { area.remove() }
}

// a button that copies what a node shows, and says whether it did
const copier = (look, node) => {
  const button = make("button", `button ${look}`, { type: "button", textContent: "Copy" })
  button.addEventListener("click", async () => {
    const text = node.href ?? node.textContent
    const done = await (navigator.clipboard?.writeText(text).then(() => true, () => copied(text)) ?? copied(text))
    getSelection().selectAllChildren(node)
    button.textContent = done ? "Copied" : "Press Ctrl+C"
    setTimeout(() => { button.textContent = "Copy" }, 3000)
  })
  return button
}

// parts are drawn `inside`, and cannot be used while they are locked
const around = (node, inside, show) => ({ node, inside, show: (part) => {
  node.inert = Boolean(part.locked)
  show(part)
} })

const KINDS = {
  heading: words("h2"),

  note() {
    const node = make("p")
    return { node, show: (part) => {
      node.className = `note ${part.small ? "small" : ""} ${part.strong ? "strong" : ""}`
      put(node, "role", part.spoken ? "status" : "")
      node.textContent = held(part.object)
    } }
  },

  link() {
    const label = make("span"), link = make("a", "", { target: "_blank", rel: "noopener" })
    const node = make("p", "note link", {}, label, link, copier("text", link))
    return { node, show: (part) => {
      label.textContent = `${part.label}: `
      const here = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname)
      link.href = new URL(part.address, here && part.reach || location.href.split("?")[0]).href
      link.textContent = link.href
    } }
  },

  code() {
    const text = make("pre", "", { tabIndex: 0 }), node = make("div", "code", {}, text, copier("outlined", text))
    return { node, show: (part) => {
      put(text, "aria-label", part.label)
      text.textContent = part.object ?? ""
    } }
  },

  alert(say) {
    const text = make("span"), close = make("button", "close", { type: "button", textContent: "×", ariaLabel: "Close" })
    const node = make("div", "", { role: "alert" }, text, close)
    close.addEventListener("click", () => say({ close: true }))
    return { node, show: (part) => {
      node.className = `alert ${part.severity}`
      text.textContent = part.object ?? ""
      close.hidden = !part.closeable
    } }
  },

  reasons() {
    const summary = make("summary"), list = make("ul"), node = make("details", "reasons", {}, summary, list)
    return { node, show: (part) => {
      summary.textContent = part.summary ?? ""
      list.replaceChildren(...part.items.map((textContent) => make("li", "", { textContent })))
    } }
  },

  table(say) {
    const table = make("table"), node = make("div", "cells", { tabIndex: 0, role: "region" }, table)
    const head = ([column, kind, became, ...wishes]) => {
      const offers = [became, ...wishes].map((offer) => make("option", "", {}, offer))
      const wish = make("select", "", { title: became, ariaLabel: column }, ...offers)
      wish.addEventListener("change", () => {
        if (wish.selectedIndex) say({ column, wish: wish.value })
        wish.selectedIndex = 0
      })
      return make("th", kind, { scope: "col" }, make("span", "", { title: column }, column), wish)
    }
    return { node, show: (part) => {
      put(node, "aria-label", part.label)
      const names = make("tr", "", {}, ...part.heads.map(head))
      const cells = (row) => row.map((textContent, k) => make("td", part.heads[k]?.[1] ?? "", { textContent }))
      table.replaceChildren(names, ...part.rows.map((row) => make("tr", "", {}, ...cells(row))))
    } }
  },

  progress() {
    const bar = make("div"), node = make("div", "progress", { role: "progressbar" }, bar)
    return { node, show: (part) => {
      put(node, "aria-label", part.label)
      node.setAttribute("aria-valuenow", part.value ?? 0)
      bar.style.width = `${part.value ?? 0}%`
    } }
  },

  button(say) {
    const node = make("button", "", { type: "button" })
    press(node, () => say({ click: true }))
    return { node, show: (part) => {
      node.className = `button ${part.variant} ${part.wide ? "wide" : ""}`
      node.textContent = part.label
      explain(node, node, part)
      const sign = !/\p{L}/u.test(part.label ?? "")  // which says nothing
      put(node, "aria-label", sign ? part.description : "")
      if (sign) put(node, "aria-description", "")
      put(node, "aria-disabled", part.disabled ? "true" : "")
      size(node, part)
    } }
  },

  menu(say) {
    const list = make("div", "list", { hidden: true }), button = make("button", "button text", { type: "button" })
    const node = make("div", "menu", {}, button, list)
    const open = (is) => {
      list.hidden = !is
      button.setAttribute("aria-expanded", String(is))
    }
    open(false)
    button.addEventListener("click", () => open(list.hidden))
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || list.hidden) return
      open(false)
      button.focus()
    })
    return { node, show: (part) => {
      button.textContent = part.label
      list.replaceChildren(...part.items.map((textContent) => {
        const item = make("button", "item", { type: "button", textContent })
        item.addEventListener("click", () => {
          open(false)
          button.focus()
          say({ value: textContent })
        })
        return item
      }))
    } }
  },

  text(say, key) {
    const input = make("input", "", { type: "text", autocomplete: "off", spellcheck: false })
    const { node, show } = line(input, key)
    let typed = false, sent = ""  // what is being typed stays; a value that the server sends meanwhile waits for its end
    input.addEventListener("input", () => { typed = true })
    input.addEventListener("change", () => {
      typed = false
      say({ value: input.value })
    })
    input.addEventListener("blur", () => {  // without a change, if it reads as it did before
      if (typed) input.value = sent
      typed = false
    })
    return { node, show: (part, before) => {
      show(part)
      put(input, "placeholder", part.placeholder)
      sent = part.value ?? ""
      if (sent !== (before.value ?? "") && !typed) input.value = sent
    } }
  },

  select(say, key) {
    const list = make("select"), { node, show } = line(list, key)
    list.addEventListener("change", () => say({ value: list.value }))
    const option = (label) => make("option", "", { value: label, textContent: label })
    let offered
    return { node, show: (part) => {
      show(part)
      node.classList.toggle("bare", Boolean(part.bare))
      const offers = JSON.stringify([part.options, part.groups])
      if (offers !== offered) {
        offered = offers
        const group = ([label, options]) => make("optgroup", "", { label }, ...options.map(option))
        list.replaceChildren(...part.options.map(option), ...part.groups.map(group))
      }
      list.value = part.value
      list.title = part.value
    } }
  },

  segments(say) {
    const node = make("div", "segments", { role: "group" })
    return { node, show: (part) => {
      put(node, "aria-label", part.label)
      if (part.options.join("\n") !== [...node.children].map((button) => button.textContent).join("\n")) {
        node.replaceChildren(...part.options.map((textContent) => {
          const button = make("button", "", { type: "button", textContent })
          button.addEventListener("click", () => say({ value: textContent }))
          return button
        }))
      }
      for (const button of node.children) button.setAttribute("aria-pressed", String(button.textContent === part.value))
    } }
  },

  choices(say, key) {
    const node = make("fieldset", "choices"), legend = make("legend")
    let offered = [], boxes = []
    const option = (text) => {
      const box = make("input", "", { type: "radio", name: `choice-${key}`, value: text })
      box.addEventListener("change", () => say({ value: text }))
      return make("label", "", {}, box, make("span", "", {}, text), make("b"))
    }
    return { node, show: (part) => {
      legend.textContent = held(part.label)
      if (part.options.join("\n") !== offered.join("\n")) {
        offered = part.options
        const labels = offered.map(option)
        boxes = labels.map((label) => label.firstChild)
        node.replaceChildren(legend, ...labels)
      }
      const all = part.counts.reduce((sum, count) => sum + count, 0)
      node.classList.toggle("counted", all > 0)
      for (const [k, box] of boxes.entries()) {
        box.parentNode.lastChild.textContent = part.counts[k] ?? ""
        box.parentNode.style.setProperty("--share", `${all && 100 * part.counts[k] / all}%`)
        box.checked = box.value === part.value
        box.disabled = Boolean(part.right)
        box.parentNode.className = !part.right ? "" : box.value === part.right ? "right" : box.checked ? "missed" : ""
      }
    } }
  },

  switch: onOff("switch"),
  checkbox: onOff("checkbox"),

  chip(say) {
    const node = make("button", "chip", { type: "button" })
    press(node, () => say({ value: node.getAttribute("aria-pressed") !== "true" }))
    return { node, show: (part) => {
      node.textContent = part.label
      explain(node, node, part)
      node.style.setProperty("--colour", part.colour ?? "")
      node.setAttribute("aria-pressed", String(Boolean(part.value)))
      put(node, "aria-disabled", part.disabled ? "true" : "")
    } }
  },

  slider(say, key) {
    const range = make("input", "", { type: "range", id: `control-${key}` }), value = make("output")
    const label = make("label", "", { htmlFor: `control-${key}` }), node = make("div", "slider", {}, label, range, value)
    let names = []
    const tell = () => {
      const name = names[range.value - range.min]
      value.textContent = name ?? Number(range.value).toLocaleString("en")
      put(range, "aria-valuetext", name)
    }
    const moved = () => {
      tell()
      say({ value: Number(range.value) })
    }
    let held = false  // answers to where it was before would pull it back
    range.addEventListener("input", moved)
    keepHold(range, moved, (is) => { held = is })
    return { node, show: (part) => {
      label.textContent = part.label
      names = part.names ?? []
      node.classList.toggle("named", names.length > 0)
      Object.assign(range, { min: part.start ?? 0, max: part.end ?? 0 })
      if (!held) range.value = part.value ?? 0
      tell()
    } }
  },

  file(say) {
    const input = make("input", "unseen", { type: "file" }), text = make("span")
    const node = make("label", "button text file", {}, input, text)
    let limit = 0, wanted = 0
    const give = (files) => { if (files.length) send([...files].slice(0, input.multiple ? undefined : 1), limit, say) }
    input.addEventListener("change", () => {
      give(input.files)
      input.value = ""
    })
    // a file dropped anywhere on the page, as long as the button is in sight
    const dropped = (event) => {
      if (!node.isConnected) return ["dragover", "drop"].forEach((kind) => document.removeEventListener(kind, dropped))
      if (!node.offsetParent || !event.dataTransfer?.types.includes("Files")) return
      event.preventDefault()
      if (event.type === "drop") give(event.dataTransfer.files)
    }
    let listens = false
    return { node, show: (part) => {
      if (part.dropped && !listens) requestAnimationFrame(() => ["dragover", "drop"].forEach((kind) => document.addEventListener(kind, dropped)))
      listens = listens || Boolean(part.dropped)
      limit = part.limit
      input.multiple = Boolean(part.several)
      if ((part.wanted ?? 0) > wanted) requestAnimationFrame(() => {
        node.scrollIntoView({ block: "center" })
        input.focus({ focusVisible: true })
        const take = (files) => { if (!node.closest("[inert]")) give(files) }
        document.dispatchEvent(new CustomEvent("mklviz-wants-file", { detail: take }))
      })
      wanted = part.wanted ?? 0
      text.textContent = part.label
      put(input, "accept", part.accept)
      explain(node, input, part)
    } }
  },

  group() {
    const node = make("div", "group")
    return around(node, node, (part) => node.classList.toggle("steady", Boolean(part.steady)))
  },

  row() {
    const node = make("div")
    return around(node, node, (part) => { node.className = `row ${part.wrap ? "wrap" : ""}` })
  },

  expander() {
    const summary = make("summary"), inside = make("div", "group"), node = make("details", "expander", {}, summary, inside)
    return around(node, inside, (part) => { summary.textContent = part.title })
  },
}
