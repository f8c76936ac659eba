// A handle on a figure, which tells where it is let go; small problems are solved here as it moves (`solvedPaths`).
export function render({ model, el }) {
  const REST = 700  // milliseconds after the last key, by when a move by keys has ended
  const handle = document.createElement("button")
  handle.type = "button"
  handle.setAttribute("role", "slider")
  handle.setAttribute("aria-roledescription", tr("handle in two directions"))
  handle.setAttribute("aria-valuemin", "0")
  handle.setAttribute("aria-valuemax", "100")
  let view = null, at = [], resting = 0, undo = () => {}

  const figure = () => window.Bokeh.index.query_one((one) => one.model.id === model.figure)
  const inside = (value, { start, end }) => Math.min(Math.max(value, Math.min(start, end)), Math.max(start, end))

  const lay = () => {
    const frame = view?.frame, shown = at.length === 2 && frame !== undefined && view.el.isConnected
    handle.hidden = !shown
    if (!shown) return
    const [x, y] = [frame.x_scale.compute(at[0]), frame.y_scale.compute(at[1])]
    const box = view.el.getBoundingClientRect(), base = el.getBoundingClientRect()
    handle.hidden = !Number.isFinite(x + y) || !frame.bbox.contains(x, y)
    handle.style.transform = `translate(${box.left - base.left + x}px, ${box.top - base.top + y}px)`
  }
  const soon = () => requestAnimationFrame(() => setTimeout(lay, 0))

  const attach = () => {
    undo()
    view = model.figure === "" ? null : figure()
    if (view === null) {
      handle.hidden = true
      const again = setTimeout(attach, 100)
      undo = () => clearTimeout(again)
      return
    }
    const watched = [view.model, view.model.x_range, view.model.y_range]
    const sizes = new ResizeObserver(soon)
    sizes.observe(view.el)
    for (const one of watched) one.change.connect(soon)
    undo = () => { sizes.disconnect(); for (const one of watched) one.change.disconnect(soon) }
    lay()
    soon()
  }

  // -- the paths that are solved here

  let given = null, solve = null, moving = false, drags = 0, asked = 0, kept = 0, past = 0, start = [], settled = []
  const former = [], told = document.createElement("p"), back = document.createElement("button")
  const beside = document.createElement("div")
  const REST_OF_MAP = ["ghosts", "here", "numbers", "trials", "level-set", "edges"]
  const table = (name) => view.model.renderers.map(({ data_source }) => data_source).find((one) => one.name === `map-${name}`)
  const columns = ({ data }) => data instanceof Map ? Object.fromEntries(data) : data
  const put = (name, data) => table(name).setv({ data }, { sync: false, check_eq: false })
  const times = (A, x, shift) => shift.map((value, i) => x.reduce((total, each, k) => total + A[i][k] * each, value))
  const words = (weights) => weights.map((weight, k) => [weight, given.names[k]]).sort(([one], [other]) => other - one)
    .slice(0, 3).map(([weight, name]) => `${name} ${weight.toFixed(2)}`).join(", ")
  const keep = () => {  // what was drawn before this drag stays as ghosts
    const names = [...given.runs.map(({ key }) => `path-${key}`), ...REST_OF_MAP]
    former.push({ start: settled, words: told.textContent, tables: names.map((name) => [name, columns(table(name))]) })
    const { along, up, colour } = columns(table("ghosts")), paths = given.runs.map(({ key }) => columns(table(`path-${key}`)))
    put("ghosts", { along: [...along, ...paths.map((path) => path.along)], up: [...up, ...paths.map((path) => path.up)],
      colour: [...colour, ...given.runs.map((run) => run.colour)] })
    for (const name of REST_OF_MAP.slice(1)) {
      put(name, Object.fromEntries(Object.keys(columns(table(name))).map((column) => [column, []])))
    }
  }
  const draw = ({ about, solved }) => {
    if (about <= past) return  // undone, or of another map
    if (about !== kept) keep()
    kept = about
    for (const { key, label } of given.runs) {
      const places = solved[key].map(({ weights }) => times(given.flat[0], weights, given.flat[1]))
      put(`path-${key}`, { along: places.map(([x]) => x), up: places.map(([, y]) => y),
        title: places.map((_, step) => tr("{label}, step {step}", { label, step })), weights: solved[key].map(({ weights }) => words(weights)),
        objective: solved[key].map(({ objective }) => objective.toLocaleString("en-US", { maximumSignificantDigits: 6 }).replace("-", "−")) })
    }
    told.textContent = toldPaths(given.runs, solved)
    back.hidden = !given.undo
    handle.dataset.hint = ""
    handle.setAttribute("aria-valuetext", tr("Start: {mix}", { mix: words(start) }))
  }
  const solveHere = () => {
    start = nearestMix(times(given.flat[2], at, given.flat[3]))
    if (!moving) settled = start  // let go before the problem was here
    else if (drags !== asked && apart(start, settled) < 1e-9) return  // held against a corner or a side
    asked = drags
    solve(start, drags)
  }
  back.textContent = tr("Undo")
  back.hidden = true
  back.addEventListener("click", () => {
    const before = former.pop()
    past = drags
    for (const [name, data] of before.tables) put(name, data)
    start = settled = before.start
    at = start.length ? times(given.flat[0], start, given.flat[1]) : model.place
    told.textContent = before.words
    back.hidden = !former.length
    lay()
  })
  model.on("msg:custom", (message) => {
    if (given && message.problem) return  // asked for twice
    given = message.problem ? message : null
    solve?.end()
    solve = given && solvedPaths(given, draw)
    former.length = 0
    if (given && drags > Math.max(kept, past)) solveHere()
  })

  const move = (place, ended) => {
    at = place
    if (!moving) drags += 1
    if (ended || !(given || moving)) model.send_msg({ at: place, ended })  // at first to ask for the problem
    moving = !ended
    if (given && moving) solveHere()
    if (given && ended) { settled = start; at = times(given.flat[0], start, given.flat[1]) }
    lay()
  }
  const place = (event) => {
    const { frame, model: shown } = view, box = view.el.getBoundingClientRect()
    return [inside(frame.x_scale.invert(event.clientX - box.left), shown.x_range),
      inside(frame.y_scale.invert(event.clientY - box.top), shown.y_range)]
  }

  const by = (along, up) => {  // shares of the frame
    const { x_range, y_range } = view.model
    move([inside(at[0] + along * (x_range.end - x_range.start), x_range),
      inside(at[1] + up * (y_range.end - y_range.start), y_range)], false)
    clearTimeout(resting)
    resting = setTimeout(() => move(at, true), REST)
  }
  const held = draggable(handle, { to: (event) => move(place(event), false), by, end: () => move(at, true), may: () => view !== null })

  const describe = () => {
    handle.setAttribute("aria-label", model.label)
    handle.setAttribute("aria-valuetext", model.position)
    handle.setAttribute("aria-valuenow", String(model.share))
    handle.dataset.hint = model.hint
  }
  const stand = () => {
    if (held() || moving) return
    at = model.place
    past = drags
    told.textContent = ""
    back.hidden = true
    if (former.length && given.undo) put("ghosts", former[0].tables.find(([name]) => name === "ghosts")[1])  // which the server knows
    former.length = 0
    lay()
  }
  describe()
  attach()
  stand()
  model.on("figure", attach)
  model.on("place", stand)
  for (const name of ["label", "position", "share", "hint"]) model.on(name, describe)
  model.on("remove", () => { undo(); solve?.end(); clearTimeout(resting) })
  beside.append(told, back)
  el.append(handle, beside)
}
