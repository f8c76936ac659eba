// A page that loses its connection says so and is dimmed. It goes on where it was as soon as the server answers and still
// has its session. Otherwise it offers to start again from its address, which has the set-up.
const EVERY = 2000, MOST_REFUSALS = 3, SILENT = 12000, ANSWER = 10000, SOON = 2000
const HERE = 204, GONE = 410, NO_SERVER = 502
const LOST = "The connection is lost. This page goes on as soon as the server answers."
const SLOW = "The server has not answered for a while. This page goes on as soon as it does."
const OVER = "The server no longer has this page, as it was away for too long or the server was started again."

const link = window.mklvizConnection ??= { page: "", session: "", heard: Date.now(), refusals: 0, event: null, socket: null, over: false, behind: false, known: false, asks: false }

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

// Ask whether the server can be reached, and whether it has this session
const ask = async () => {
  try {
    const settings = { cache: "no-store", signal: AbortSignal.timeout(ANSWER) }
    const path = location.pathname.replace(/\/$/, "")
    return (await fetch(`${path}/alive?session=${link.session}`, settings)).status
  } catch { return NO_SERVER }
}

// BokehJS 3.9 reads the document of a second connection without the arrays that come with it, and gives up. It also
// applies changes that come meanwhile to the former document, which may lack the models concerned; the new one has them
const whole = (connection) => {
  const pull = connection._pull_doc_json, session = connection.session
  if (session) {
    const handle = session.handle
    session.handle = (message) => { if (!link.behind || message.msgtype() !== "PATCH-DOC") handle.call(session, message) }
  }
  connection._pull_doc_json = async () => {
    const pulled = await pull.call(connection), document = connection.session?.document
    if (document !== undefined) {
      document.replace_with_json = (json) => document.constructor.from_json(json, [], pulled.buffers).destructively_move(document)
    }
    link.behind = false
    return pulled
  }
  connection.whole = Boolean(session)
}

const reconnect = async () => {
  const connection = link.event.connection.deref()
  if (connection === undefined || link.over) return
  const status = await ask()
  if (status === GONE) return end()
  if (status >= NO_SERVER && status < 600) return void setTimeout(reconnect, EVERY)
  if (link.refusals++ >= MOST_REFUSALS && status !== HERE) return end()
  link.heard = Date.now()
  if (!connection.whole) whole(connection)
  link.event.reconnect()  // if it fails, the connection is lost once more
}

const lost = ({ detail: event }) => {
  link.event = event
  link.behind = true
  // BokehJS would take the first message of the next connection for the rest of a message that was cut off
  const connection = event.connection.deref()
  if (connection) connection._receiver = new connection._receiver.constructor()
  if (link.over) return
  say(LOST)
  setTimeout(reconnect, link.refusals ? EVERY : 200)
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
  const silent = () => !link.over && open() && Date.now() - link.heard >= SILENT
  if (link.asks || !silent()) return
  link.asks = true
  const soon = setTimeout(() => silent() && say(SLOW), SOON)
  const status = await ask()
  clearTimeout(soon)
  // a server that was busy answers this question before it sends its next sign of life
  if (silent() && status < NO_SERVER) await new Promise((done) => setTimeout(done, SOON))
  link.asks = false
  if (!silent()) return
  say(SLOW)
  if (status < NO_SERVER) drop(socket)
}

const heard = () => {
  link.heard = Date.now()
  if (!link.over && link.banner?.dataset.text === SLOW) unsay()
}

if (!link.known) {
  link.known = true
  const send = WebSocket.prototype.send
  WebSocket.prototype.send = function (data) {  // BokehJS tells nobody which socket it uses
    if (this.protocol === "bokeh") link.socket = this
    return send.call(this, data)
  }
  window.addEventListener("mklviz-lost", lost)
  setInterval(listen, 3000)
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
