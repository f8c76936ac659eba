// Stands before a script that draws paths from a start: solves them in a worker, one start at a time, the newest next.
const nearestMix = (shares) => {  // the nearest shares that sum to one, none of them negative
  let total = 0, shift = 0
  ;[...shares].sort((one, other) => other - one).forEach((value, k) => {
    total += value
    if (value > (total - 1) / (k + 1)) shift = (total - 1) / (k + 1)
  })
  return shares.map((value) => Math.max(value - shift, 0))
}
// Lets mouse and finger drag a node (`to`: the place of an event; `end`: it is let go), and keys move it (`by`: along,
// up). Returns what says whether it is held.
const draggable = (node, { begin = () => {}, to, by, end = () => {}, may = () => true }) => {
  const KEY = 0.02, TOWARDS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
    Home: [-100, 0], End: [100, 0],  // to the side, whatever the scale
    PageUp: [0, 5], PageDown: [0, -5] }
  let held = null, dragged = false  // where the pointer was pressed
  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !may()) return
    event.preventDefault()
    event.stopPropagation()
    node.focus({ preventScroll: true })
    node.setPointerCapture(event.pointerId)
    held = { x: event.clientX, y: event.clientY }
  })
  node.addEventListener("pointermove", (event) => {
    if (held === null || (!dragged && event.clientX === held.x && event.clientY === held.y)) return
    if (!dragged) begin()  // a click alone moves nothing
    dragged = true
    to(event)
  })
  const release = () => { if (dragged) end(); held = null; dragged = false }
  for (const name of ["pointerup", "pointercancel"]) node.addEventListener(name, release)
  node.addEventListener("keydown", (event) => {
    const towards = TOWARDS[event.key]
    if (!towards || !may() || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    event.stopPropagation()
    if (!event.repeat) begin()
    by(...towards.map((way) => KEY * (event.shiftKey ? 5 : 1) * way))
  })
  return () => held !== null
}
// The text of a worker that solves a problem: the solvers, the `problem` and what answers each message.
const solvingText = (solver, { kernels, y, C }, answer) => {  // no module: browsers load none from a page on the disk
  const whole = (n, { of, values }) => {
    const packed = new Float64Array(Uint8Array.from(atob(values), (sign) => sign.charCodeAt(0)).buffer)
    const entry = (i, j) => packed[i < j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j]
    return Float64Array.from({ length: n * n }, (_, at) => entry(of[Math.floor(at / n)], of[at % n]))
  }
  return `${solver.replace(/^export /m, "")}
    const whole = ${whole}, packed = ${JSON.stringify({ kernels, y, C })}
    const problem = { ...packed, kernels: packed.kernels.map((kernel) => whole(packed.y.length, kernel)) }
    onmessage = ${answer}`
}
const MOST_WAIT = 400 // milliseconds for the hand between two answers
// Returns what asks a worker of this text, the newest message next; answers come to `drawn` before a next picture.
const newestFirst = (text, drawn) => {
  let worker = null, solving = false, newest = null, free = 0
  const next = () => {
    if (solving || newest === null) return
    solving = true
    worker ??= begun()
    worker.postMessage(newest)
    newest = null
  }
  const begun = () => {
    const made = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })))
    made.onmessage = ({ data }) => requestAnimationFrame(() => draw(data))
    return made
  }
  // after an answer, as long as its drawing took belongs to the hand
  const draw = (answer) => {
    const began = performance.now()
    if (began < free) { requestAnimationFrame(() => draw(answer)); return }
    solving = false
    next()
    requestAnimationFrame(() => { free = Math.min(2 * performance.now() - began, performance.now() + MOST_WAIT) })
    drawn(answer)
  }
  return Object.assign((message) => { newest = message; next() }, { end: () => worker?.terminate() })
}
// Returns what takes a start, and words that come back with its paths to `drawn`.
const solvedPaths = ({ solver, problem, runs }, drawn) => {
  const answer = ({ data: { start, about } }) => {  // within the worker
    const GAP = 1e-3, MOST = 60, LONGEST = 100, solved = {}  // a smaller gap moves no path by a pixel
    for (const { key, solver } of runs) {
      const path = [], until = performance.now() + LONGEST
      for (const step of steps(solver, { ...problem, start })) {
        if (path.push(step) > MOST || step.gap <= GAP || performance.now() > until) break
      }
      solved[key] = path
    }
    postMessage({ start, about, solved })
  }
  const told = `${solver}\nconst runs = ${JSON.stringify(runs)}`
  const newest = newestFirst(solvingText(told, problem, answer), drawn)
  return Object.assign((start, about) => newest({ start, about }), { end: newest.end })
}
const apart = (one, other) => one.reduce((total, value, k) => total + Math.abs(value - other[k]) / 2, 0)  // weight moved
// Says how many SVMs each run has solved, and how often it moved all the weight.
const toldPaths = (runs, solved) => {
  const ways = runs.map(({ key, label }, k) => {
    const path = solved[key], times = Math.round(path.slice(1).reduce((total, { weights }, t) => total + apart(weights, path[t].weights), 0))
    const n = path.at(-1).solves, solves = k ? `${label}: ${n}` : tr("{label}: {n} solves", { label, n })
    return solves + (times > 1 ? tr(", moved all the weight about {times} times", { times }) : "")
  })
  const gap = 100 * Math.max(0, ...runs.map(({ key }) => solved[key].at(-1).gap))
  const unit = 10 ** Math.floor(Math.log10(gap || 1)), up = Math.ceil(gap / unit) * unit  // it is certified
  const bound = up.toLocaleString("en-US", { maximumSignificantDigits: 1 })
  return tr("{ways}. Each ends within {gap} of the lowest.", { ways: ways.join("; "), gap: inLanguage(`${bound}\u00a0%`) })
}
