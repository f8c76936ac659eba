// Stands before a script that draws paths from a start: solves them in a worker, one start at a time, the newest next.
const nearestMix = (shares) => {  // the nearest shares that sum to one, none of them negative
  let total = 0, shift = 0
  ;[...shares].sort((one, other) => other - one).forEach((value, k) => {
    total += value
    if (value > (total - 1) / (k + 1)) shift = (total - 1) / (k + 1)
  })
  return shares.map((value) => Math.max(value - shift, 0))
}
// Returns what takes a start, and words that come back with its paths to `drawn`, before the next picture.
const solvedPaths = ({ solver, problem, runs }, drawn) => {
  const answer = ({ data: { start, about } }) => {  // within the worker
    const GAP = 1e-3, MOST = 60, LONGEST = 100, found = {}  // a smaller gap moves no path by a pixel
    for (const { key, solver } of runs) {
      const path = [], until = performance.now() + LONGEST
      for (const step of steps(solver, { ...problem, start })) {
        if (path.push(step) > MOST || step.gap <= GAP || performance.now() > until) break
      }
      found[key] = path
    }
    postMessage({ start, about, found })
  }
  // no module: browsers load none from a page on the disk
  const source = `${solver.replace(/^export /m, "")}
    const { kernels, y, C } = ${JSON.stringify(problem)}, n = y.length, runs = ${JSON.stringify(runs)}
    const whole = ({ of, values }) => {
      const packed = new Float64Array(Uint8Array.from(atob(values), (sign) => sign.charCodeAt(0)).buffer)
      const entry = (i, j) => packed[i < j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j]
      return Float64Array.from({ length: n * n }, (_, at) => entry(of[Math.floor(at / n)], of[at % n]))
    }
    const problem = { kernels: kernels.map(whole), y, C }
    onmessage = ${answer}`
  let worker = null, solving = false, newest = null, latest = null
  const next = () => {
    if (solving || newest === null) return
    solving = true
    worker ??= begun()
    worker.postMessage(newest)
    newest = null
  }
  const begun = () => {
    const made = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })))
    made.onmessage = ({ data }) => {
      solving = false
      next()
      if (latest === null) requestAnimationFrame(() => { drawn(latest); latest = null })
      latest = data
    }
    return made
  }
  const ask = (start, about) => { newest = { start, about }; next() }
  ask.end = () => worker?.terminate()
  return ask
}
const movedWeight = (path) => path.slice(1).reduce((total, { weights }, t) =>
  total + weights.reduce((part, value, k) => part + Math.abs(value - path[t].weights[k]) / 2, 0), 0)
// Says how many SVMs each run has solved, and how often it moved all the weight.
const toldPaths = (runs, found) => {
  const ways = runs.map(({ key, label }, k) => {
    const times = Math.round(movedWeight(found[key]))
    return `${label}: ${found[key].at(-1).solves}${k ? "" : " solves"}${times > 1 ? `, moved all the weight about ${times} times` : ""}`
  })
  const gap = 100 * Math.max(...runs.map(({ key }) => found[key].at(-1).gap))
  return `${ways.join("; ")}. Each ends within ${gap.toPrecision(1)}\u00a0% of the lowest.`
}
