// What pictures in SVG are made of, and a handle in one.
const svgPart = (tag, properties = {}, parent = null) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag)
  for (const [name, value] of Object.entries(properties)) node.setAttribute(name, value)
  parent?.append(node)
  return node
}
const STAR = "M0-11l2.6 7.1 7.6.3-6 4.6 2.1 7.3L0 4.1l-6.3 4.2 2.1-7.3-6-4.6 7.6-.3z"
const svgLine = (points) => points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("")
// A handle that mouse, finger and arrow keys move. `begin`: before each drag; `to`: where the pointer is; `by`: along and up;
// `within`: where it can be taken hold of.
const svgHandle = (svg, label, { begin, to, by }, hint = tr("drag the start"), within = { x: -32, y: -32, width: 64, height: 64 }) => {
  const handle = svgPart("g", { class: "handle", role: "slider", tabindex: 0, "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 100 }, svg)
  svgPart("circle", { class: "knob", r: 9 }, handle)
  const words = svgPart("text", { x: 17, y: 5 }, handle)
  words.textContent = hint
  const reach = document.createElement("div")  // on top, as touch-action does nothing on what is not HTML
  reach.className = "reach"
  svgPart("foreignObject", within, handle).append(reach)
  const place = ({ clientX, clientY }) => new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse())
  draggable(handle, { begin, to: (event) => to(place(event)), by })
  return { handle, words }
}
// The triangle of three kernels in a figure: plays recorded paths, and draws those from another start.
const playTriangle = (figure, data, solver) => {
  const find = (name) => figure.querySelector(name)
  const { left, foot, side, runs } = data
  const STEPS_A_SECOND = 2, STILL = matchMedia("(prefers-reduced-motion: reduce)")
  const at = ([, second, third]) => [left + side * (second + third / 2), foot - side * Math.sqrt(0.75) * third]
  const percent = (share) => `${Math.round(100 * share)} %`

  // -- the paths

  const layer = find(".paths"), ghosts = find(".ghosts")
  const drawn = runs.map(({ key, dash, colour: hue }) => {
    const colour = `stroke: ${hue}`
    return { key, seam: svgPart("path", { class: "seam" }, layer), line: svgPart("path", { class: "line", style: colour, "stroke-dasharray": dash }, layer),
      dots: svgPart("g", { style: colour }, layer), head: svgPart("circle", { class: "running", r: 6, style: `fill: ${hue}` }, layer) }
  })
  const best = svgPart("path", { class: "best", d: STAR }, layer)
  let paths = data.paths, recorded = true
  const longest = () => Math.max(...Object.values(paths).map((path) => path.length - 1))
  const until = (points, step) => {
    const whole = Math.min(Math.floor(step), points.length - 1), rest = step - whole, kept = points.slice(0, whole + 1)
    if (rest > 0 && whole + 1 < points.length) kept.push(points[whole].map((value, k) => value + rest * (points[whole + 1][k] - value)))
    return kept
  }
  const draw = (step) => {
    for (const run of drawn) {
      const points = (paths[run.key] ?? []).map(at), shown = until(points, step), d = svgLine(shown)
      run.seam.setAttribute("d", d)
      run.line.setAttribute("d", d)
      run.dots.replaceChildren(...points.slice(1, Math.floor(step) + 1).map(([cx, cy]) => svgPart("circle", { class: "dot", r: 4, cx, cy })))
      const end = shown.at(-1), runs_on = end !== undefined && step < points.length - 1
      run.head.style.display = runs_on ? "" : "none"
      if (runs_on) { run.head.setAttribute("cx", end[0]); run.head.setAttribute("cy", end[1]) }
    }
    best.setAttribute("transform", `translate(${at(data.best)})`)
    best.style.display = step >= longest() ? "" : "none"
  }

  // -- playing

  const play = find(".play"), status = find(".said")
  let step = 0, playing = false, last = 0
  const say = () => {
    play.textContent = playing ? tr("Pause") : step >= longest() ? tr("Play again") : tr("Play")
    const now = playing ? tr("playing") : step >= longest() ? tr("up to step {n}", { n: longest() }) : tr("paused")
    status.textContent = recorded ? `${data.recorded}; ${now}` : ""
  }
  const frame = (now) => {
    if (!playing) return
    if (last === 0 && step === 0) performance.mark("mklviz-path-moves")
    step = Math.min(step + (last ? Math.min(now - last, 100) : 16) / 1000 * STEPS_A_SECOND, longest())
    last = now
    draw(step)
    if (step < longest()) return void requestAnimationFrame(frame)
    stop()
  }
  const stop = () => { playing = false; say() }
  const start = () => {
    if (step >= longest()) step = 0
    playing = true
    last = 0
    say()
    requestAnimationFrame(frame)
  }
  play.hidden = false
  play.addEventListener("click", () => playing ? stop() : start())
  if (STILL.matches) { step = longest(); draw(step); say() } else start()

  // -- the start is dragged

  const clear = find(".clear"), undo = find(".undo"), hint = find(".hint")
  const middle = [1 / 3, 1 / 3, 1 / 3]
  let begins = middle, former = [], turn = 0  // turned by undoing: answers to what was asked before come too late
  const { handle, words } = svgHandle(layer.ownerSVGElement, tr("Start of the solvers: arrow keys move it"), {
    begin: () => keep(),
    to: ({ x, y }) => {
      const third = (foot - y) / (side * Math.sqrt(0.75)), second = (x - left) / side - third / 2
      move(nearestMix([1 - second - third, second, third]))
    },
    by: (along, up) => move(nearestMix([-along - up / 2, along - up / 2, up].map((change, k) => begins[k] + change))),
  })
  const place = () => {
    handle.setAttribute("transform", `translate(${at(begins)})`)
    handle.setAttribute("aria-valuenow", Math.round(100 * begins[2]))
    handle.setAttribute("aria-valuetext", data.kernels.map((name, k) => `${name} ${percent(begins[k])}`).join(", "))
  }
  const tidy = () => {
    undo.hidden = former.length === 0
    clear.hidden = ghosts.childElementCount === 0
    words.style.display = former.length ? "none" : ""
  }
  const keep = () => {  // the paths so far stay as ghosts, once for each drag
    former.push({ begins, paths, recorded, hint: hint.textContent })
    for (const { key, colour } of runs) svgPart("path", { d: svgLine((paths[key] ?? []).map(at)), style: `stroke: ${colour}`, "stroke-width": 2 }, ghosts)
    tidy()
  }
  const move = (shares) => {
    begins = shares
    place()
    if (playing) stop()
    solve(begins, turn)
  }
  undo.addEventListener("click", () => {
    const before = former.pop()
    for (const _ of runs) ghosts.lastElementChild?.remove()
    ;({ begins, paths, recorded } = before)
    turn += 1
    hint.textContent = before.hint
    step = longest()
    draw(step)
    place()
    tidy()
    say()
  })
  clear.addEventListener("click", () => { ghosts.replaceChildren(); former = []; tidy() })
  const solve = solvedPaths({ solver, problem: data.problem, runs }, ({ about, found }) => {
    if (about !== turn) return  // they begin where the handle was before
    hint.textContent = toldPaths(runs, found)
    paths = Object.fromEntries(runs.map(({ key }) => [key, found[key].map(({ weights }) => weights)]))
    recorded = false
    step = longest()
    draw(step)
    say()
    performance.mark("mklviz-paths-drawn")
  })
  place()
  tidy()
}
