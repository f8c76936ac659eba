window.mklviz ??= (() => {
  const MOST_RETRIES = 3
  const known = new Set(["program"]), texts = new Map(), documents = new WeakMap(), retries = new WeakMap()

  const library = ({ name, text, version }) => {
    if (known.has(name)) return
    known.add(name)
    const there = name === "modules" ? window.importShim !== undefined
      : window.Bokeh?.version === version && window.Bokeh.Panel !== undefined
    if (!there) {
      document.head.append(Object.assign(document.createElement("script"), { textContent: text }))
    }
  }

  const text = ({ name, text }) => { known.add(name); texts.set(name, text) }

  const filled = (value) => {
    if (typeof value === "string") return texts.get(value) ?? value
    if (Array.isArray(value)) return value.map(filled)
    if (value === null || typeof value !== "object") return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner)]))
  }

  const answer = (model, comm) => {
    let events = [], due = false
    const send = () => {
      due = false
      const patch = model.create_json_patch(events)
      events = []
      comm.send({ kind: "events", content: JSON.parse(JSON.stringify(patch)) })
    }
    model.on_change((event) => {
      if (event.kind === "ModelChanged" && event.model.properties[event.attr]?.syncable === false) return
      events.push(event)
      if (!due) setTimeout(send, 0)
      due = true
    })
  }

  const forget = (box) => {
    const model = documents.get(box)
    if (model === undefined) return
    documents.delete(box)
    model.clear()
    const place = window.Bokeh.documents.indexOf(model)
    if (place >= 0) window.Bokeh.documents.splice(place, 1)
  }

  const draw = async (box, comm, { content, items, place, quiet }) => {
    forget(box)
    box.innerHTML = place
    await window.Bokeh.embed.embed_items_notebook(filled(JSON.parse(content)), items)
    const [root] = items[0].root_ids
    const view = window.Bokeh.index.get_by_id?.(root) ?? window.Bokeh.index[root]
    documents.set(box, view.model.document)
    for (const child of box.children) child.setAttribute("data-lm-suppress-shortcuts", "true")
    box.append(Object.assign(document.createElement("style"), { textContent: quiet }))
    answer(view.model.document, comm)
    requestAnimationFrame(() => setTimeout(() => comm.send({ kind: "drawn" }), 0))
  }

  const bytes = (buffer) => buffer instanceof ArrayBuffer ? buffer
    : buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength)

  const patch = (box, { content, refs }, buffers) => {
    const carried = new Map(refs.map((ref, index) => [ref, bytes(buffers[index])]))
    documents.get(box)?.apply_json_patch(JSON.parse(content), carried)
  }

  const receive = async (box, comm, message, again) => {
    const { data } = message.content
    try {
      if (data.kind === "library") library(data)
      else if (data.kind === "text") text(data)
      else if (data.kind === "document") await draw(box, comm, data)
      else if (data.kind === "patch") patch(box, data, message.buffers ?? [])
    } catch (error) {
      console.warn("mklviz: what is drawn is drawn anew", error)
      const before = retries.get(box) ?? 0
      retries.set(box, before + 1)
      comm.send({ kind: "leave" })
      if (before < MOST_RETRIES) again()
    }
  }

  return { known, receive }
})()
