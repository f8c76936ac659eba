// A page whose connection is lost says so and is dimmed. It goes on where it was as soon as the server answers and still
// has its session; otherwise it offers to start again from its address, which has the set-up.
const EVERY = 2000, MOST_REFUSALS = 3, SILENT = 12000, ANSWER = 10000, SOON = 2000
const HERE = 204, GONE = 410, NO_SERVER = 502
const LOST = "The connection is lost. This page goes on as soon as the server answers."
const SLOW = "The server has not answered for a while. This page goes on as soon as it does."
const OVER = "The server no longer has this page, as it was away for too long or the server was started again."

const line = window.mklvizLine ??= { birth: "", session: "", heard: Date.now(), refusals: 0, event: null, socket: null, over: false, behind: false, known: false, asks: false }

const say = (text, button) => {
  if (line.banner === undefined) {
    line.banner = Object.assign(document.createElement("div"), { id: "mklviz-line" })
    line.banner.setAttribute("role", "alert")
    line.banner.style.cssText = "position: fixed; inset: 0 0 auto 0; z-index: 100000; padding: 14px 20px; background: #8a2b0e;"
      + " color: #fff; font: 600 15px sans-serif; display: flex; gap: 16px; align-items: center; justify-content: center"
    // Panel's own words on the connection would be second ones
    const style = Object.assign(document.createElement("style"), { textContent: ".notyf__disconnect { display: none }" })
    document.head.append(style)
  }
  if (line.banner.dataset.text === text) return
  line.banner.dataset.text = text
  line.banner.replaceChildren(Object.assign(document.createElement("span"), { textContent: text }))
  if (button) {
    const again = Object.assign(document.createElement("button"), { textContent: "Start again" })
    again.style.cssText = "font: inherit; padding: 6px 14px; cursor: pointer"
    again.addEventListener("click", () => location.reload())
    line.banner.append(again)
  }
  document.body.append(line.banner)
  for (const node of document.body.children) {
    if (node === line.banner || node.tagName === "SCRIPT") continue
    node.inert = true
    node.style.opacity = "0.45"
  }
}

const unsay = () => {
  if (!line.banner?.isConnected) return
  line.banner.remove()
  line.banner.dataset.text = ""
  for (const node of document.body.children) {
    node.inert = false
    node.style.opacity = ""
  }
}

const end = () => {
  line.over = true
  say(OVER, true)
}

// Whether the server can be reached, and if it tells, whether it has this session
const ask = async () => {
  try {
    const settings = { cache: "no-store", signal: AbortSignal.timeout(ANSWER) }
    const path = location.pathname.replace(/\/$/, "")
    return (await fetch(`${path}/alive?session=${line.session}`, settings)).status
  } catch { return NO_SERVER }
}

// BokehJS 3.9 reads the document of a second connection without the arrays that come with it, and gives up. And it
// applies what changes meanwhile to the document of before, which may lack what it is about; the one to come has it
const whole = (connection) => {
  const pull = connection._pull_doc_json, session = connection.session
  if (session) {
    const handle = session.handle
    session.handle = (message) => { if (!line.behind || message.msgtype() !== "PATCH-DOC") handle.call(session, message) }
  }
  connection._pull_doc_json = async () => {
    const pulled = await pull.call(connection), document = connection.session?.document
    if (document !== undefined) {
      document.replace_with_json = (json) => document.constructor.from_json(json, [], pulled.buffers).destructively_move(document)
    }
    line.behind = false
    return pulled
  }
  connection.whole = Boolean(session)
}

const reconnect = async () => {
  const connection = line.event.connection.deref()
  if (connection === undefined || line.over) return
  const status = await ask()
  if (status === GONE) return end()
  if (status >= NO_SERVER && status < 600) return void setTimeout(reconnect, EVERY)
  if (line.refusals++ >= MOST_REFUSALS && status !== HERE) return end()
  line.heard = Date.now()
  if (!connection.whole) whole(connection)
  line.event.reconnect()  // where it fails, the connection is lost once more
}

const lost = ({ detail: event }) => {
  line.event = event
  line.behind = true
  // BokehJS would take the first message of the next connection for the rest of the one that was cut in its middle
  const connection = event.connection.deref()
  if (connection) connection._receiver = new connection._receiver.constructor()
  if (line.over) return
  say(LOST)
  setTimeout(reconnect, line.refusals ? EVERY : 200)
}

// Closing a connection that leads nowhere takes a browser a minute, as it waits for an answer
const drop = (socket) => {
  const closed = socket.onclose
  socket.onclose = socket.onerror = socket.onmessage = null
  socket.close()
  closed?.call(socket, new CloseEvent("close", { code: 1006 }))
}

// A network that went away without a word leaves a connection that looks open, or one that never opens
const listen = async () => {
  const socket = line.event?.connection.deref()?.socket ?? line.socket
  const open = () => [WebSocket.CONNECTING, WebSocket.OPEN].includes(socket?.readyState)
  const silent = () => !line.over && open() && Date.now() - line.heard >= SILENT
  if (line.asks || !silent()) return
  line.asks = true
  const soon = setTimeout(() => silent() && say(SLOW), SOON)
  const status = await ask()
  clearTimeout(soon)
  // a server that was busy answers before its next beat is on the way
  if (silent() && status < NO_SERVER) await new Promise((done) => setTimeout(done, SOON))
  line.asks = false
  if (!silent()) return
  say(SLOW)
  if (status < NO_SERVER) drop(socket)
}

const heard = () => {
  line.heard = Date.now()
  if (!line.over && line.banner?.dataset.text === SLOW) unsay()
}

if (!line.known) {
  line.known = true
  const send = WebSocket.prototype.send
  WebSocket.prototype.send = function (data) {  // BokehJS tells nobody which socket it uses
    if (this.protocol === "bokeh") line.socket = this
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
  if (line.birth && line.birth !== model.birth) return end()
  line.birth = model.birth
  line.session = model.session
  line.refusals = 0
  unsay()
  address()
}
