// A page that loses its connection says so and is dimmed. It goes on where it was as soon as the server answers and still
// has its session. Otherwise it starts again from its address, which has the set-up and the key of its race.
const EVERY = 600, ANSWER = 3000
const QUIET = 900, SILENT = 2000, SOON = 700, SLOW_AFTER = 7000, STUCK_AFTER = 10000, MOST_REFUSALS = 5
const BUSY = 202, NOT_HERE = [403, 410], NO_SERVER = 502
const LOST = "The connection is lost. This page goes on as soon as the server answers."
const SLOW = "The server has not answered for a while. This page goes on as soon as it does."
const OVER = "The server no longer has this page, as it was away for too long or the server was started again."

const link = window.mklvizConnection ??= { page: "", session: "", heard: Date.now(), refusals: 0, connection: window.mklvizLine, sentence: "", asking: false, asked: 0, over: false, lost: false, behind: false, untold: new Map() }

const say = (text, button) => {
  if (link.sentence === text) return
  if (link.sentence) {
    link.banner.remove()
  } else {
    link.focused = document.activeElement  // which loses it
    while (link.focused?.shadowRoot?.activeElement) link.focused = link.focused.shadowRoot.activeElement
  }
  link.sentence = text
  link.banner = mklvizBanner("mklviz-connection", text, button)
  link.veil ??= document.createElement("div")
  link.veil.style.cssText = "position: fixed; inset: 0; z-index: 99999; background: #8889"
  for (const node of document.body.children) node.inert = node.tagName !== "SCRIPT"
  document.body.append(link.veil, link.banner)
}

const unsay = () => {
  if (!link.sentence) return
  link.banner.remove()
  link.veil.remove()
  link.sentence = ""
  for (const node of document.body.children) node.inert = false
  link.focused?.focus({ preventScroll: true })
}

const end = () => {
  link.over = true
  say(OVER, "Start again")
}

// Only once the page is looked at: a server that was started again has enough to do
const startAgain = () => {
  end()
  if (document.visibilityState === "visible") location.reload()
  else document.addEventListener("visibilitychange", () => location.reload())
}

// Ask whether the server can be reached, and whether it has this session; once at a time, as it may be slow
const ask = async () => {
  if (link.asking) return NO_SERVER
  link.asking = true
  try {
    const settings = { cache: "no-store", signal: AbortSignal.timeout(ANSWER) }
    const path = location.pathname.replace(/\/$/, "")
    return (await fetch(`${path}/alive?session=${link.session}`, settings)).status
  } catch { return NO_SERVER } finally { link.asking = false }
}

// What the server's document says of the models that the page has. Those that it lacks stand where they are met first
const news = (json, document) => {
  const models = new Map(), written = new Set()
  const collect = (value) => {
    if (value === null || typeof value !== "object") return
    if (value.type === "object" && value.id) models.set(value.id, value)
    Object.values(value).forEach(collect)
  }
  const write = (value) => {
    if (Array.isArray(value)) return value.map(write)
    if (value === null || typeof value !== "object") return value
    const model = models.get(value.id)
    if (!model) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, write(inner)]))
    if (written.has(model.id) || document.get_model_by_id(model.id)) return { id: model.id }
    written.add(model.id)
    return { ...model, attributes: write(model.attributes ?? {}) }
  }
  collect([json.config, json.roots])
  return [...models.values()].filter(({ id }) => document.get_model_by_id(id))
    .map(({ id, attributes }) => [{ id }, { type: "map", entries: Object.entries(write(attributes ?? {})) }])
}

// Send what has not been sent on this socket, and may have been answered in vain on another
const tell = (socket) => {
  for (const [id, message] of link.untold) {
    if (message.socket === socket) continue
    message.socket = socket
    for (const part of [message.parts[0], `{"again": true}`, message.parts[2]]) socket.send(part)
    if (++message.times > MOST_REFUSALS) link.untold.delete(id)  // what the server does not take
  }
}

// A property that may follow data is told as a plain value and held as an object: to BokehJS the two differ, and it would
// draw all figures anew
const same = (told, held) => (Object(told) !== told || Array.isArray(told)) && held?.constructor === Object
  && !held.transform && JSON.stringify(held) === JSON.stringify({ value: told })

// BokehJS brings a page back by the document that the server has: it builds all views anew, without the arrays that come
// with it, and sends all of it back. This page takes over what differs instead. Changes that come before the document
// are in it
const whole = (connection) => {
  const { _pull_doc_json: pull, _repull_session_doc: repull, session } = connection, { document, handle } = session
  let buffers
  session.handle = (message) => { if (!link.behind || message.msgtype() !== "PATCH-DOC") handle.call(session, message) }
  document.on_message("mklviz-whole", (known) => {
    for (const [model, attributes] of known) {
      try {
        const other = Object.entries(attributes).filter(([name, value]) => !same(value, model[name]))
        model.setv(Object.fromEntries(other), { sync: false })
      } catch (error) { console.error(error) }  // of a view, which must not keep the rest of the page
    }
  })
  const take = (json) => {
    try {
      const msg_data = news(json, document)
      document.apply_at_once({ events: [{ kind: "MessageSent", msg_type: "mklviz-whole", msg_data }] }, buffers)
      link.refusals = 0
      unsay()
      window.document.querySelector("#loader.error")?.remove()  // which covers for good a page that was cut off while it was loaded
    } catch (error) {
      console.error(error)
      if (connection.socket) drop(connection.socket)
    }
  }
  document.replace_with_json = (json) => {
    // the session has been built anew, by a server that was started again perhaps with the same numbers of its models
    const page = JSON.stringify(json).match(/"page_id":"(\w+)"/)?.[1] ?? link.page
    if (page !== link.page || json.roots.some(({ id }) => !document.get_model_by_id(id))) return startAgain()
    document.forget_waiting()
    document.in_turn(() => take(json))
    link.behind = false
    tell(connection.socket)
  }
  connection._pull_doc_json = async () => {
    tell(connection.socket)
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
  const status = await ask(), { connection } = link
  if (!link.lost || link.over || status >= NO_SERVER && status < 600) return
  if (NOT_HERE.includes(status)) return startAgain()
  if (link.refusals++ >= MOST_REFUSALS) return end()
  link.lost = false
  link.heard = Date.now()
  if (!connection.whole) whole(connection)
  connection.reconnect()  // if it fails, the connection is lost once more
}

const lost = () => {
  link.lost = link.behind = true
  // BokehJS would take the first message of the next connection for the rest of a message that was cut off
  link.connection._receiver = new link.connection._receiver.constructor()
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

// A network that fails silently leaves a connection that looks open, or one that never opens: where the server answers
// elsewhere and not on it, another one is opened
const listen = async () => {
  const socket = link.connection?.socket
  const silent = (since) => !link.over && !link.lost && socket && Date.now() - link.heard >= since
  if (silent(QUIET) && link.asked < link.heard && socket.readyState === WebSocket.OPEN) {
    link.asked = Date.now()
    for (const part of [`{"msgid": "${Date.now()}", "msgtype": "SERVER-INFO-REQ"}`, "{}", "{}"]) socket.send(part)
  }
  if (silent(SLOW_AFTER)) say(SLOW)
  if (!silent(SILENT)) return
  const status = await ask()
  await new Promise((done) => setTimeout(done, SOON))  // a server that was busy answers on the connection as well
  if (socket !== link.connection.socket || status >= NO_SERVER) return
  if (silent(status === BUSY ? STUCK_AFTER : SILENT)) drop(socket)
}

const heard = () => {
  link.heard = Date.now()
  if (!link.over && link.sentence === SLOW) unsay()
}

// BokehJS forgets what it has sent, and loses what changes without a connection: here each change stays until the server
// has answered it
const watch = (connections) => {
  const { send, _on_message: receive } = connections
  connections.send = function (message) {
    if (message.msgtype() !== "PATCH-DOC") return send.call(this, message)
    const parts = []
    message.send({ send: (part) => parts.push(part) })
    const socket = !link.behind && this.socket?.readyState === WebSocket.OPEN ? this.socket : null
    link.untold.set(message.msgid(), { parts, socket, times: 0 })
    parts.forEach((part) => socket?.send(part))
  }
  connections._on_message = function (event) {
    heard()
    const answered = typeof event.data === "string" && event.data.length < 1000 && /"reqid": ?"([^"]+)"/.exec(event.data)
    if (answered) link.untold.delete(answered[1])
    receive.call(this, event)
  }
  window.addEventListener("mklviz-lost", lost)
  window.addEventListener("online", () => link.lost && comeBack())
  setInterval(() => link.lost ? comeBack() : listen(), EVERY)
}

if (!link.watched) {
  link.watched = true
  const style = Object.assign(document.createElement("style"), { textContent: ".notyf__disconnect { display: none !important }" })
  document.head.append(style)  // Panel would say once more that the connection is lost
  watch(Bokeh.require("client/connection").ClientConnection.prototype)
}

export function render({ model }) {
  const address = () => { if (model.query && !window.mklvizTurning) history.replaceState(history.state, "", model.query) }
  model.on("query", address)
  addEventListener("mklviz-turned", address)
  model.on("remove", () => removeEventListener("mklviz-turned", address))
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
