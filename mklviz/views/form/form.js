// Draws the parts that the server describes, and of those there already what differs.
export function render({ model, el }) {
  const form = make("div", "form"), tip = make("div", "tip", { popover: "manual" })
  tip.setAttribute("aria-hidden", "true")  // screen readers read the control's description
  const controls = new Map()

  const control = (part) => {
    let made = controls.get(part.key)
    if (made === undefined) {
      const say = (change) => {
        if ("value" in change && made.part.kind !== "file") {  // shown at once; the server's answer may differ
          const before = made.part
          made.part = { ...before, value: change.value }
          made.show(made.part, before)
        }
        model.send_msg({ key: part.key, ...change })
      }
      made = { ...KINDS[part.kind](say, part.key), part: {} }
      controls.set(part.key, made)
    }
    return made
  }

  const fill = (box, parts, seen) => {
    const nodes = parts.map((part) => {
      const made = control(part), sent = JSON.stringify(part)
      seen.add(part.key)
      if (made.inside !== undefined) fill(made.inside, part.inner ?? [], seen)
      if (JSON.stringify(made.part) !== sent) made.show(part, made.part)
      made.part = part
      return made.node
    })
    if (nodes.length !== box.children.length || nodes.some((node, k) => node !== box.children[k])) {
      nodes.forEach((node, k) => { if (box.children[k] !== node) box.insertBefore(node, box.children[k] ?? null) })
      while (box.children.length > nodes.length) box.lastElementChild.remove()
    }
  }

  const draw = () => {
    const seen = new Set()
    fill(form, JSON.parse(model.drawn).parts, seen)
    for (const key of controls.keys()) if (!seen.has(key)) controls.delete(key)
    if (tip.about !== undefined && !tip.about.isConnected) hide()
  }

  let used = null  // what has been changed needs no help until another control was pointed at
  const hide = () => {
    clearTimeout(tip.timer)
    if (tip.matches(":popover-open")) tip.hidePopover()
  }
  const explain = (event) => {
    const about = event.target.closest("[data-tip]")
    if (about === tip.about && tip.matches(":popover-open")) return
    hide()
    if (about !== used) used = null
    if (!about?.dataset.tip || about === used) return
    tip.about = about
    tip.timer = setTimeout(() => {
      if (!about.isConnected) return
      tip.textContent = about.dataset.tip
      tip.showPopover()
      const place = about.getBoundingClientRect(), size = tip.getBoundingClientRect()
      const below = place.bottom + 6 + size.height < innerHeight
      tip.style.top = `${below ? place.bottom + 6 : place.top - 6 - size.height}px`
      tip.style.left = `${Math.max(6, Math.min(place.left, innerWidth - size.width - 6))}px`
    }, 400)
  }
  form.addEventListener("pointerover", explain)
  form.addEventListener("focusin", (event) => { if (event.target.matches(":focus-visible")) explain(event) })
  form.addEventListener("pointerleave", () => {
    used = null
    hide()
  })
  form.addEventListener("change", (event) => {
    used = event.target.closest("[data-tip]")
    hide()
  })
  form.addEventListener("focusout", hide)
  form.addEventListener("pointerdown", hide)
  form.addEventListener("keydown", (event) => { if (event.key === "Escape") hide() })
  document.addEventListener("scroll", hide, { capture: true, passive: true })
  model.on("remove", () => document.removeEventListener("scroll", hide, { capture: true }))

  letGo(form)
  draw()
  model.on("drawn", draw)
  model.on("msg:custom", (file) => {
    const link = make("a", "", { download: file.name })
    const bytes = Uint8Array.from(atob(file.content), (sign) => sign.charCodeAt(0))
    link.href = URL.createObjectURL(new Blob([bytes]))
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60000)
  })
  el.append(form, tip)
}
