// One convex curve, and how SILP and Level look for its lowest point by its tangents, step by step, from a start and with
// a level that are dragged. Stands behind the scripts of the triangle, in the same block.

// Solves in a worker, to which its text goes as Panel has compiled it: no ?. and no ??, whose helpers would stay behind.
// With two kernels in place of a curve x is the weight of the first, which has all of it on the right.
const solveCurve = ({ data }) => {
  const { name, start, lambda, most = 40, places = 160 } = data
  const curves = {
    square: { ends: [-4, 4], value: (x) => x * x, slope: (x) => 2 * x },
    kink: { ends: [-4, 4], value: (x) => 4 * Math.abs(x - 0.5), slope: (x) => 4 * Math.sign(x - 0.5) },
    flat: { ends: [-4, 4], value: (x) => x ** 4 / 16, slope: (x) => x ** 3 / 4 },
    wall: { ends: [-4, 4], value: (x) => (x - 1) ** 2 / 4 + Math.exp(5 * (x - 3.4)), slope: (x) => (x - 1) / 2 + 5 * Math.exp(5 * (x - 3.4)) },
  }
  class Curve extends Oracle {
    solve(weights) {
      const { ends: [low, high], value, slope } = curves[name], x = low * weights[0] + high * weights[1], height = value(x)
      const cut = [low, high].map((end) => height + slope(x) * (end - x))
      this.solves++
      return { weights, primal: height, value: height, cut, bound: least(cut) }
    }
  }
  const oracle = () => Object.assign(name in curves ? new Curve({ kernels: [], y: [], C: 0 }) : new Oracle({ ...problem, kernels: [...problem.kernels].reverse() }), { lambda })
  const heights = () => Array.from({ length: places + 1 }, (_, k) => oracle.at.solve([1 - k / places, k / places]).primal)
  oracle.at = oracle()
  self.drawn = self.drawn || {}
  const curve = self.drawn[name] = self.drawn[name] || { ends: name in curves ? curves[name].ends : [0, 1], heights: heights() }
  const enough = 2e-3 * (largest(curve.heights) - least(curve.heights))
  const solved = ["silp", "level"].map((solver) => {
    const taken = []
    for (const step of SOLVERS[solver](oracle(), [1 - start, start])) {
      const { objective: height, cut, bound } = step, before = taken.at(-1)
      const best = before ? Math.min(height, before.best) : height, known = before ? Math.max(bound, before.bound) : bound
      taken.push({ share: step.weights[1], height, cut, best, bound: known, level: lambda * best + (1 - lambda) * known })
      if (best - known <= enough || taken.length > most) break
    }
    return taken
  })
  postMessage({ ...data, curve, solved, enough })
}

// `first`: the curve at first. Keys of the whole document count, or of the `page` where that is a part of another. Returns
// what ends the worker.
const playCurve = (page, { problem, names, lambda: usual = 0.9 }, solver, first = "square") => {
  const WIDE = 600, LEFT = 16, RIGHT = 446, BESIDE = RIGHT + 12, KNOB = 0.54, TOP = 12, FOOT = 248, STRIP = [288, 352], SECONDS = 1.1, MOVES = 0.6, DEEPEST = 2.5
  const STILL = matchMedia("(prefers-reduced-motion: reduce)"), find = (name) => page.querySelector(name)
  const MOST = 0.95, state = { name: "square", start: 0.125, lambda: Math.min(usual, MOST) }  // of λ
  let curve = null, solved = null, lambda = null, enough = 0, step = 0, goal = 0, playing = false, last = 0, dragged = false, asking = find(".ask") !== null

  const number = (value, digits) => inLanguage(value.toLocaleString("en-US", { maximumFractionDigits: digits })).replace(/^-0$/, "0").replace("-", "−")
  const range = () => Math.max(...curve.heights) - Math.min(...curve.heights)
  const told = (value) => number(value, Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0)
  const x = (share) => curve.ends[0] + share * (curve.ends[1] - curve.ends[0])
  const where = (share) => `x\u00a0=\u00a0${number(x(share), 2)}`  // never broken across lines
  const across = (share) => LEFT + share * (RIGHT - LEFT)
  const on = (share) => {  // the height of the curve, between its known points
    const at = share * (curve.heights.length - 1), k = Math.min(Math.floor(at), curve.heights.length - 2)
    return curve.heights[k] + (at - k) * (curve.heights[k + 1] - curve.heights[k])
  }
  const below = ({ cut }, share) => cut[0] + share * (cut[1] - cut[0])
  const model = (path, t, share) => Math.max(...path.slice(0, t + 1).map((each) => below(each, share)))

  const drag = () => { dragged = true; tell() }
  let heights = [0, 1]  // of the bound and of the best in the picture, and what they were when the level was taken hold of
  const levelHandle = (svg) => {
    let held = heights
    const to = (lambda) => {
      state.lambda = Math.min(Math.max(lambda, 0), MOST)
      begin(state.start)
    }
    const moves = { begin: () => { drag(); held = heights }, to: ({ y }) => to((y - held[0]) / (held[1] - held[0])), by: (along, up) => to(state.lambda + along + up) }
    const within = { x: -KNOB * (RIGHT - LEFT), y: -16, width: RIGHT - LEFT, height: 32 }  // all along the line
    const made = svgHandle(svg, tr("Level, by λ: arrow keys move it"), moves, tr("drag the level"), within)
    made.handle.setAttribute("aria-valuemax", 100 * MOST)
    return made
  }
  const panels = ["silp", "level"].map((key) => {
    const svg = svgPart("svg", { viewBox: `0 0 ${WIDE} 360`, role: "group", class: key }), words = document.createElement("p")
    const box = svgPart("clipPath", { id: `one-${key}` }, svg)
    svgPart("rect", { x: LEFT, y: TOP - 6, width: RIGHT - LEFT, height: FOOT - TOP + 12 }, box)
    const ground = svgPart("g", {}, svg), inside = svgPart("g", { "clip-path": `url(#one-${key})` }, svg), over = svgPart("g", {}, svg)
    const level = key === "level" ? levelHandle(svg) : null
    const { handle, words: hint } = svgHandle(svg, tr("Start of both: arrow keys move it"), {
      begin: drag,
      to: (point) => begin((point.x - LEFT) / (RIGHT - LEFT)),
      by: (along, up) => begin(state.start + along + up),
    })
    words.setAttribute("aria-live", "polite")
    find(`.panel.${key}`).append(svg, words)
    return { key, svg, ground, inside, over, handle, hint, words, level }
  })

  const draw = () => {
    const whole = Math.floor(step), rest = step - whole
    const shown = solved.map((path) => Math.min(whole, path.length - 1))
    const lowest = (t) => Math.min(...solved.map((path) => path[Math.min(t, path.length - 1)].bound))
    const top = Math.max(...curve.heights), deepest = Math.min(...curve.heights) - DEEPEST * range()
    const risen = Math.max(rest - MOVES, 0) / (1 - MOVES)  // once the points are where they go
    const floor = Math.max(lowest(whole) + risen * (lowest(whole + 1) - lowest(whole)), deepest)
    const free = (value) => FOOT - (value - floor) / (top - floor) * (FOOT - TOP), up = (value) => free(Math.max(value, floor))
    panels.forEach((panel, k) => drawPanel(panel, solved[k], shown[k], shown[k] === solved[k].length - 1 ? 0 : rest, up, free))
  }
  const drawPanel = ({ key, ground, inside, over, handle, hint, words, level }, path, t, rest, up, free) => {
    const here = path[t], next = path[t + 1], line = (share, value) => [across(share), up(value)]
    for (const part of [ground, inside, over]) part.replaceChildren()
    const rule = (name, value) => svgPart("path", { class: name, d: svgLine([line(0, value), line(1, value)]) }, inside)
    const dot = (name, share, value, r) => svgPart("circle", { class: name, cx: across(share), cy: up(value), r }, over)
    svgPart("rect", { class: "gap", x: LEFT, y: up(here.best), width: RIGHT - LEFT, height: Math.max(up(here.bound) - up(here.best), 0) }, inside)
    for (const each of path.slice(0, t + 1)) svgPart("path", { class: each === here ? "cut new" : "cut", d: svgLine([0, 1].map((share) => [across(share), free(each.cut[share])])) }, inside)
    svgPart("path", { class: "curve", d: svgLine(curve.heights.map((value, k) => line(k / (curve.heights.length - 1), value))) }, inside)
    svgPart("path", { class: "model", d: svgLine(Array.from({ length: 301 }, (_, k) => [across(k / 300), free(model(path, t, k / 300))])) }, inside)
    rule("bound", here.bound)
    rule("best", here.best)
    const labels = [["best", here.best], ["gap", (here.best + here.bound) / 2], ["bound", here.bound]]
    if (key === "level" && next) {
      rule("level", here.level)
      labels.splice(here.level > labels[1][1] ? 1 : 2, 0, ["level", here.level])
    }
    for (const [share, value] of path.slice(0, t).map((each) => [each.share, each.height])) dot("former", share, value, 3.5)
    let share = here.share, value = here.height
    if (level) {
      heights = [free(here.bound), free(here.best)]
      level.handle.style.display = next ? "" : "none"
      level.handle.setAttribute("transform", `translate(${across(KNOB)} ${up(here.level)})`)
      level.handle.setAttribute("aria-valuenow", Math.round(100 * state.lambda))
      level.handle.setAttribute("aria-valuetext", `λ = ${number(state.lambda, 2)}`)
      level.words.style.display = dragged ? "none" : ""
      find("output").textContent = `λ = ${number(state.lambda, 2)}`
    }
    if (next && !asking) {
      const target = key === "level" ? Math.min(here.level, model(path, t, next.share)) : here.bound
      svgPart("path", { class: "way", d: svgLine([line(next.share, target), line(next.share, next.height)]) }, over)
      dot("target", next.share, target, 7)
      const along = Math.min(rest / MOVES, 1), rise = Math.max(rest - MOVES, 0) / (1 - MOVES)
      share += along * (next.share - share)
      value += along * (target - value) + rise * (next.height - target)
    }
    dot("point", share, value, 7)
    writeLabels(over, labels.map(([name, at]) => [name, at, up(at)]), here)
    axes(ground, over, path, t + rest)
    handle.setAttribute("transform", `translate(${across(state.start)} ${up(on(state.start))})`)
    handle.setAttribute("aria-valuenow", Math.round(100 * state.start))
    handle.setAttribute("aria-valuetext", where(state.start))
    hint.style.display = dragged ? "none" : ""
    if (rest === 0) words.textContent = sentence(key, path, t)
  }
  const writeLabels = (layer, labels, { best, bound }) => {  // spread, so that none lies over another
    const size = parseFloat(getComputedStyle(page).getPropertyValue("--mk-label")) || 15
    const places = labels.map(([, , y]) => y)
    for (let k = 1; k < places.length; k++) places[k] = Math.max(places[k], places[k - 1] + size + 2)
    const over = Math.max(0, places.at(-1) - FOOT - Math.min(4, 22 - size))  // clear of the axis
    for (let k = places.length - 1, most = places.at(-1) - over; k >= 0; k--, most -= size + 2) places[k] = Math.min(places[k], most)
    labels.forEach(([name, value], k) => {
      const text = svgPart("text", { class: `label ${name}`, x: BESIDE + 10, y: places[k] + size / 3 }, layer)
      text.textContent = `${tr(name)} ${told(name === "gap" ? best - bound : value)}`
    })
    const [high, low] = [labels[0][2], labels.at(-1)[2]]  // as a bracket, unless that would read as a minus
    if (low - high > 5) svgPart("path", { class: "bracket", d: `M${BESIDE} ${high}h5V${low}h-5` }, layer)
  }
  const axes = (ground, over, path, t) => {
    const [high, low] = STRIP, rows = Math.max(longest(), 6), y = (k) => high + k * (low - high) / rows
    svgPart("path", { class: "axis", d: `M${LEFT} ${FOOT}H${RIGHT}M${LEFT} ${high - 6}V${low + 6}M${RIGHT} ${high - 6}V${low + 6}` }, ground)
    for (let k = 0; k <= 4; k++) {
      svgPart("text", { class: "tick", x: across(k / 4), y: FOOT + 24, "text-anchor": "middle" }, ground).textContent = number(x(k / 4), 2)
    }
    const whole = Math.floor(t), trail = path.slice(0, whole + 1).map(({ share }, k) => [across(share), y(k)])
    svgPart("path", { class: "trail", d: svgLine(trail) }, over)
    for (const [cx, cy] of trail) svgPart("circle", { class: "former", cx, cy, r: 3.5 }, over)
    const moved = path.slice(1, whole + 1).reduce((total, each, k) => total + Math.abs(x(each.share) - x(path[k].share)), 0)
    for (const [words, y] of [["x", FOOT + 24], [tr("moved {much}", { much: number(moved, 1) }), (high + low) / 2]]) {
      svgPart("text", { class: "tick", x: RIGHT + 20, y }, over).textContent = words
    }
  }
  // After how many steps the curve was where the cuts had promised, and the bound where it was: λ of the gap is left.
  const onTheCuts = (path) => path.slice(1).filter(({ best, bound }, k) => Math.abs(best - bound - lambda * (path[k].best - path[k].bound)) <= 1e-6 * range()).length
  const sentence = (key, path, k) => {
    const here = path[k], next = path[k + 1], goes = next && where(next.share)
    if (!next) {
      const spared = key === "level" ? onTheCuts(path) : 0, silp = solved[0].length - 1
      const why = 2 * spared > k && silp < k
        ? tr("In {n} steps the curve lay on the cuts, but Level stops at its level: each left {part} % of the gap. SILP goes to the bound: {silp} steps.", { n: spared, part: number(100 * lambda, 0), silp })
        : tr("The best height found is {best}, and the curve is nowhere below {bound}.", { best: told(here.best), bound: told(here.bound) })
      return `${tr(here.best - here.bound <= enough ? "Step {k}: done." : "Step {k}, the last one drawn.", { k })} ${why}`
    }
    if (asking) return ""
    if (key === "level") return tr("Step {k}: the level is {part} % of the way from bound to best. Level goes to the nearest point below it: {goes}.", { k, part: number(100 * lambda, 0), goes })
    if (!k) return tr("Step 0: the tangent at the start is the first cut. SILP goes where its cuts are lowest: {goes}.", { goes })
    const values = { k, promised: told(path[k - 1].bound), height: told(here.height), goes }
    return tr("Step {k}: the cuts promised {promised} here, but the curve is at {height}. SILP goes where its cuts are lowest: {goes}.", values)
  }

  // -- steps

  const longest = () => Math.max(...solved.map((path) => path.length)) - 1
  const [back, forth, play] = [".back", ".forth", ".play"].map(find)
  const show = () => {
    draw()
    back.disabled = goal <= 0
    forth.disabled = goal >= longest()
    play.textContent = playing ? tr("Pause") : tr("Play")
  }
  const go = (to) => {
    if (!solved) return
    const still = STILL.matches || to < goal
    tell()
    goal = Math.min(Math.max(to, 0), longest())
    if (still) step = goal
    else if (step < goal) { step = Math.max(step, goal - 1); last = 0; requestAnimationFrame(frame) }
    show()
  }
  const frame = (now) => {
    if (step >= goal) return
    step = Math.min(step + (last ? Math.min(now - last, 100) / 1000 / SECONDS : 0), goal)
    last = now
    show()
    if (step < goal) return void requestAnimationFrame(frame)
    if (playing && goal < longest()) setTimeout(() => playing && go(goal + 1), 500)
    else { playing = false; show() }
  }
  const turn = () => {
    playing = !playing
    if (playing) { if (goal >= longest()) { step = goal = 0 }; go(goal + 1) }
    if (STILL.matches) { playing = false; go(longest()) }
    show()
  }
  const ask = newestFirst(solvingText(solver, problem, solveCurve), (answer) => {
    if (answer.name !== state.name) return
    ;({ curve, solved, lambda, enough } = answer)  // its steps are those of its own λ: the hand may be elsewhere by now
    goal = Math.min(goal, longest())
    if (step > goal || dragged) step = goal
    show()
    page.dataset.drawn = answer.name
  })
  const begin = (share) => {
    state.start = Math.min(Math.max(share, 0), 1)
    playing = false
    ask({ ...state })
  }

  // -- what is chosen

  const choices = [...page.querySelectorAll("[data-curve]")], guesses = [...page.querySelectorAll("[data-guess]")]
  const tell = (words = "") => {  // the picture gives the answer away once it moves
    if (!asking || !solved) return
    asking = false
    find(".told").textContent = words
    for (const guess of guesses) guess.disabled = true
  }
  const choose = (name) => {
    tell()
    for (const choice of choices) choice.setAttribute("aria-pressed", choice.dataset.curve === name)
    const between = { one: tr(names[0]), other: tr(names[1]) }, of = first === "data"  // a race's own kernels, by their names
      ? tr("x is the weight of {one}, 1 − x that of {other}. The curve is the objective of the SVM.", between)
      : tr("x is the weight of the kernel on {one}, 1 − x of that on {other}. The curve is the objective of the SVM.", between)
    find(".of").textContent = name === "data" ? of : ""
    state.name = name
    step = goal = 0
    begin(state.start)
  }
  for (const choice of choices) choice.addEventListener("click", () => choose(choice.dataset.curve))
  for (const guess of guesses) guess.addEventListener("click", () => {
    guess.setAttribute("aria-pressed", true)
    tell(tr("You said {guess}. It was {right}, the lowest point of the only cut.", { guess: guess.textContent, right: where(solved[0][1].share) }))
    show()
  })
  back.addEventListener("click", () => go(goal - 1))
  forth.addEventListener("click", () => { playing = false; go(goal + 1) })
  play.addEventListener("click", turn)
  const KEYS = { ArrowRight: () => go(goal + 1), ArrowLeft: () => go(goal - 1), s: () => go(goal + 1), " ": turn, Home: () => go(0), End: () => go(longest()) }
  const whole = page.getRootNode() === document ? document : page
  whole.addEventListener("keydown", (event) => {
    const busy = event.target.matches?.("input, [role=slider]") || (event.key === " " && event.target.matches?.("button, a"))
    if (page.offsetParent === null || busy || !KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    event.stopPropagation()
    KEYS[event.key]()
  })
  choose(first)
  return ask.end
}

// The picture of the first lesson over the two kernels of a race; its keys count within it alone.
const curveCard = ({ model, el }) => {
  let end = () => {}
  const draw = () => {
    end()
    el.innerHTML = model.figure
    end = playCurve(el, model.pair, model.solver, "data")
  }
  if (model.pair.problem) draw()
  model.on("pair", draw)
  model.on("remove", () => end())
}
