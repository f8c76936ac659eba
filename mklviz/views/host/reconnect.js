// A page that loses its connection says so and is dimmed. It goes on where it was as soon as the server answers and still
// has its session. Otherwise it starts again from its address, which has the set-up and the key of its race.
const EVERY = 1000, MOST_REFUSALS = 5, SILENT = 7000, ANSWER = 5000, SOON = 1000
const NOT_HERE = [403, 410], NO_SERVER = 502
const LOST = "The connection is lost. This page goes on as soon as the server answers."
const SLOW = "The server has not answered for a while. This page goes on as soon as it does."
const OVER = "The server no longer has this page, as it was away for too long or the server was started again."

const link = window.mklvizConnection ??= { page: "", session: "", heard: Date.now(), refusals: 0, event: null, socket: null, over: false, lost: false, behind: false, known: false, repeats: false, untold: new Map() }

const say = (text, button) => {
  if (link.banner === undefined) {
    link.banner = Object.assign(document.createElement("div"), { id: "mklviz-connection" })
    link.banner.setAttribute("role", "alert")
    link.banner.style.cssText = "position: fixed; inset: 0 0 auto 0; z-index: 100000; padding: 14px 20px; background: #8a2b0e;"
      + " color: #fff; font: 600 15px sans-serif; display: flex; gap: 16px; align-items: center; justify-content: center"
    // Panel would say once more that the connection is lost
    const style = Object.assign(document.createElement("style"), { textContent: ".notyf__disconnect { display: none }" })
    document.head.append(style)
  }
  if (link.banner.dataset.text === text) return
  link.banner.dataset.text = text
  link.banner.replaceChildren(Object.assign(document.createElement("span"), { textContent: text }))
  if (button) {
    const again = Object.assign(document.createElement("button"), { textContent: "Start again" })
    again.style.cssText = "font: inherit; padding: 6px 14px; cursor: pointer"
    again.addEventListener("click", () => location.reload())
    link.banner.append(again)
  }
  document.body.append(link.banner)
  for (const node of document.body.children) {
    if (node === link.banner || node.tagName === "SCRIPT") continue
    node.inert = true
    node.style.opacity = "0.45"
  }
}

const unsay = () => {
  if (!link.banner?.isConnected) return
  link.banner.remove()
  link.banner.dataset.text = ""
  for (const node of document.body.children) {
    node.inert = false
    node.style.opacity = ""
  }
}

const end = () => {
  link.over = true
  say(OVER, true)
}

// Only once somebody looks: a server that was started again has enough to do
const startAgain = () => {
  end()
  if (document.visibilityState === "visible") location.reload()
  else document.addEventListener("visibilitychange", () => location.reload())
}

// Ask whether the server can be reached, and whether it has this session
const ask = async () => {
  try {
    const settings = { cache: "no-store", signal: AbortSignal.timeout(ANSWER) }
    const path = location.pathname.replace(/\/$/, "")
    return (await fetch(`${path}/alive?session=${link.session}`, settings)).status
  } catch { return NO_SERVER }
}

// What the server's document says, as models that the page lacks and attributes of those it has, each named by its id
const news = (json, document) => {
  const fresh = [], known = []
  const walk = (value, within) => {
    if (Array.isArray(value)) return value.map((inner) => walk(inner, within))
    if (value === null || typeof value !== "object") return value
    if (value.type !== "object" || !value.id) {
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner, within)]))
    }
    const has = Boolean(document.get_model_by_id(value.id)), attributes = {}, model = { ...value, attributes }
    if (has) known.push([{ id: value.id }, { type: "map", entries: attributes }])
    else if (!within) fresh.push(model)
    for (const [name, inner] of Object.entries(value.attributes ?? {})) attributes[name] = walk(inner, !has)
    return has || !within ? { id: value.id } : model
  }
  walk([json.config, json.roots], false)
  for (const [, map] of known) map.entries = Object.entries(map.entries)
  return { fresh, known }
}

// BokehJS brings a page back by the document that the server has: it builds all views anew, without the arrays that come
// with it, and sends all of it back. This page takes over what differs instead. Changes that come before the document
// are in it
const whole = (connection) => {
  const { _pull_doc_json: pull, _repull_session_doc: repull, session } = connection, { document, handle } = session
  let buffers
  session.handle = (message) => { if (!link.behind || message.msgtype() !== "PATCH-DOC") handle.call(session, message) }
  document.on_message("mklviz-whole", ({ known }) => {
    for (const [model, attributes] of known) model.setv(attributes, { sync: false })
  })
  document.replace_with_json = (json) => {
    if (json.roots.some(({ id }) => !document.get_model_by_id(id))) return end()  // the session has been built anew
    const msg_data = news(json, document)
    document.apply_json_patch({ events: [{ kind: "MessageSent", msg_type: "mklviz-whole", msg_data }] }, buffers)
    link.refusals = 0
    link.behind = false
    unsay()
  }
  connection._pull_doc_json = async () => {
    const again = [...link.untold.values()]
    link.untold.clear()
    link.repeats = true  // once: what the server does not take would be sent for ever
    for (const [header, , content] of again) {
      for (const part of [header, `{"again": true}`, content]) connection.socket.send(part)  // or it was answered in vain
    }
    link.repeats = false
    const pulled = await pull.call(connection)
    buffers = pulled.buffers
    return pulled
  }
  connection._repull_session_doc = (resolve, reject) => repull.call(connection, resolve, (error) => {
    if (connection.socket) drop(connection.socket)
    reject(error)
  })
  connection.whole = true
}

const comeBack = async () => {
  const status = await ask(), connection = link.event.connection.deref()
  if (!link.lost || link.over || connection === undefined || status >= NO_SERVER && status < 600) return
  if (NOT_HERE.includes(status)) return startAgain()
  if (link.refusals++ >= MOST_REFUSALS) return end()
  link.lost = false
  link.heard = Date.now()
  if (!connection.whole) whole(connection)
  link.event.reconnect()  // if it fails, the connection is lost once more
}

const lost = ({ detail: event }) => {
  link.event = event
  link.lost = link.behind = true
  // BokehJS would take the first message of the next connection for the rest of a message that was cut off
  const connection = event.connection.deref()
  if (connection) connection._receiver = new connection._receiver.constructor()
  if (link.over) return
  say(LOST)
  if (!link.refusals) comeBack()
}

// A browser takes a minute to close a connection that leads nowhere, as it waits for an answer
const drop = (socket) => {
  const closed = socket.onclose
  socket.onclose = socket.onerror = socket.onmessage = null
  socket.close()
  closed?.call(socket, new CloseEvent("close", { code: 1006 }))
}

// A network that fails silently leaves a connection that looks open, or one that never opens
const listen = async () => {
  const socket = link.event?.connection.deref()?.socket ?? link.socket
  const open = () => [WebSocket.CONNECTING, WebSocket.OPEN].includes(socket?.readyState)
  const silent = () => !link.over && !link.lost && open() && Date.now() - link.heard >= SILENT
  if (!silent()) return
  if (socket.readyState === WebSocket.OPEN) {
    for (const part of [`{"msgid": "${Date.now()}", "msgtype": "SERVER-INFO-REQ"}`, "{}", "{}"]) socket.send(part)
  }
  setTimeout(() => silent() && say(SLOW), SOON)
  const status = await ask()
  await new Promise((done) => setTimeout(done, SOON))  // a server that was busy answers on the connection as well
  if (silent() && status < NO_SERVER) drop(socket)
}

const heard = () => {
  link.heard = Date.now()
  if (!link.over && link.banner?.dataset.text === SLOW) unsay()
}

// BokehJS tells nobody which socket it uses, and forgets what it has sent: here each change stays until the server has
// answered it
const hear = ({ data }) => {
  heard()
  const answered = typeof data === "string" && data.length < 1000 && /"reqid": ?"([^"]+)"/.exec(data)
  if (answered) link.untold.delete(answered[1])
}

const note = (socket, data) => {
  if (socket !== link.socket) socket.addEventListener("message", hear)
  link.socket = socket
  if (link.repeats) return
  const begun = data.length < 1000 && /^\{.*"PATCH-DOC"/.test(data) && /"msgid": ?"([^"]+)"/.exec(data)
  if (begun) link.untold.set(begun[1], link.parts = [data])
  else if (link.parts?.length < 3) link.parts.push(data)
}

if (!link.known) {
  link.known = true
  const send = WebSocket.prototype.send
  WebSocket.prototype.send = function (data) {
    if (this.protocol === "bokeh") note(this, data)
    return send.call(this, data)
  }
  window.addEventListener("mklviz-lost", lost)
  window.addEventListener("online", () => link.lost && comeBack())
  setInterval(() => link.lost ? comeBack() : listen(), EVERY)
}

export function render({ model }) {
  const address = () => { if (model.query) history.replaceState(history.state, "", model.query) }
  model.on("query", address)
  model.on("beat", () => {
    heard()
    model.heard = model.beat
  })
  heard()
  if (link.page && link.page !== model.page_id) return end()
  link.page = model.page_id
  link.session = model.session
  link.refusals = 0
  unsay()
  address()
}
