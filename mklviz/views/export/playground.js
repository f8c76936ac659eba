// The playground: data, kernels, C, λ and the start are under the hand, and a worker solves anew at every touch.

const REST_MS = 250, LEAST_C = 0, MOST_C = 4, MOST_LAMBDA = 0.95  // the powers of ten that C has
const SIDES = 14  // places of the objective along a side of the triangle
const PACES = Object.fromEntries([2, 5, 10, 20].map((n) => [n, tr("{n} steps a second", { n })]))
const percent = (share) => inLanguage(`${(100 * share).toPrecision(2).replace(/\.0$/, "")}\u00a0%`)
const rounded = (value) => String(Number(value.toPrecision(3)))
const nameOf = ({ title, value, slider }) => slider ? `${tr(title)} ${inLanguage(rounded(value))}` : tr(title)

class PlaygroundView extends RaceView {
  constructor(place, bar, given, worker) {
    super(place, bar)
    this.given = given
    this.asked = 0
    this.pace = 5
    this.surfaceOf = "level"
    this.former = [] // set-ups that Undo leads back to
    this.drag = null // the set-up before the drag that goes on
    this.pressed = false // whether a pointer holds something, which may pause and still be one drag
    addEventListener("pointerdown", ({ button, target }) => { this.pressed = button === 0 && !target.closest?.("select") }, true)
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => this.released(), true)
    this.points = new PointPicture((points, ended) => this.change({ data: "own", points }, ended))
    this.ghosts = []
    this.mixes = new MixPicture(svgPart("svg", { role: "group", "aria-label": tr("The mixes of the kernels in use") }), {
      begin: () => { if (this.paths) this.ghosts = this.data.runs.map(({ key }) => ({ path: this.paths[key], colour: this.data.colours[key] })) },
      to: (start) => this.change({ start }, false),
    })
    this.solve = newestFirst(worker, (answer) => this.answered(answer))
    this.set = readAddress(location.hash, given)
    this.show({ ...given.words, ended: true, runs: Object.keys(given.words.names).map((key) => this.run(key, [])) })
    this.ask()
  }

  // -- what is set, and what is asked of the worker

  // the kernels in use, with their places in the list
  get used() { return this.given.kernels.flatMap((kernel, k) => this.set.kernels[k].on ? [{ ...kernel, k, value: this.set.kernels[k].value }] : []) }

  get start() {
    const m = this.used.length, { start } = this.set
    return start?.length === m ? start : Array(m).fill(1 / m)
  }

  change(what, ended = true) {
    this.drag ??= this.set
    this.set = { ...this.set, ...what }
    this.ask()
    this.restAfter(ended ? 0 : REST_MS)
  }

  restAfter(milliseconds) {
    clearTimeout(this.resting)
    this.resting = setTimeout(() => this.rest(), milliseconds)
  }

  released() {
    this.pressed = false
    if (this.drag) this.restAfter(0)
  }

  // a drag has ended: it can be undone, and the address tells what is set
  rest() {
    if (this.pressed) return
    if (this.drag) this.former.push(this.drag)
    this.drag = null
    this.undo.disabled = !this.former.length
    location.replace(`#${addressOf(this.set, this.given)}`)
    this.request(true)
  }

  ask() {
    this.asked++
    this.hold()
    this.state.cursor = null
    this.controls()
    this.request(false)
  }

  request(rests) {
    const { points, C, lambda } = this.set
    this.solve({ asked: this.asked, rests, C, lambda, start: this.start, solvers: this.data.runs.map(({ key }) => key),
      points: points.map(([x, y]) => [x, y]), y: points.map(([, , label]) => label), reach: REACH, places: PLACES_SHOWN, sides: SIDES,
      kernels: this.used.map(({ family, on, value }) => ({ family, on, value })), seen: { solver: this.surfaceOf, step: this.cursor } })
  }

  // -- what comes back

  answered({ asked, solved, whole, surface, held, ground, grounds }) {
    this.points.decided(surface, held)
    if (grounds !== this.grounds) Object.assign(this, { ground, grounds }) // the same again would be drawn anew
    if (asked !== this.shownFor || !this.whole) {
      this.shownFor = asked
      this.whole = whole
      this.solved = solved
      this.bound = Math.max(...Object.values(solved).map((path) => path.at(-1).objective * (1 - path.at(-1).gap)))
      this.paths = Object.fromEntries(Object.entries(solved).map(([key, path]) => [key, path.map(({ weights }) => weights)]))
      this.show({ ...this.data, weights_heading: this.legend(), runs: Object.entries(solved).map(([key, path]) => this.run(key, path)) })
      performance.mark("mklviz-paths-drawn")
    } else this.drawMixes()
    if (!this.begun) this.begin()
    else if (!whole && !this.drag) this.request(true) // where a machine is slow, paths go on while the hand rests
  }

  // the first race plays by itself, where motion is not unwanted
  begin() {
    this.begun = true
    this.request(true)
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.play()
  }

  // a run in the columns that figures draw
  run(key, path) {
    const least = Math.min(...path.map(({ objective }) => objective)), span = [0]
    path.slice(1).forEach(({ weights }, t) => { span.push(span[t] + apart(weights, path[t].weights)) })
    let best = Infinity
    const columns = { iteration: path.map((_, t) => t), svm_solves: path.map(({ solves }) => solves), gap: path.map(({ gap }) => gap),
      objective: path.map(({ objective }) => objective), least: path.map(({ objective }) => best = Math.min(best, objective)),
      above: path.map(({ objective }) => (objective - this.bound) / least),
      own_gap: path.map(({ objective, bound }) => (objective - bound) / objective) }
    const places = this.used.map(({ k }) => k)
    const weights = Object.fromEntries(places.map((k, at) => [`w${k}`, path.length ? path.map((step) => step.weights[at]) : [null]]))
    const empty = path.length ? columns : Object.fromEntries(Object.keys(columns).map((name) => [name, [null]]))
    return { key, table: `run-${key}`, ...empty, iteration: path.length ? columns.iteration : [0], ...weights, moved: span,
      undone: span.map((moved, t) => path.length ? moved - apart(path[t].weights, path[0].weights) : 0) }
  }

  // -- the parts of the page

  parts() {
    this.sentence = tag("p", { class: "told", "aria-live": "polite" })
    this.rows = tag("tbody", {})
    const heads = [[tr("Solver")], [tr("Solves"), tr("SVMs solved so far")], [tr("Moved"), tr("1 is all the weight, moved once")],
      [tr("Undone"), tr("the share of it that led nowhere")], [tr("Gap"), tr("certified")]]
    const cost = tag("label", { title: tr("what a point on the wrong side costs") }, tr("C, cost of errors"))
    this.rowC = sliderRow(cost, "C", { least: LEAST_C, most: MOST_C, step: 0.05 },
      (power) => this.change({ C: Number((10 ** power).toPrecision(3)) }, false))
    const near = tag("label", { title: tr("0: as far as SILP; near 1: close to where it is") }, tr("λ of Level"))
    this.rowLambda = sliderRow(near, tr("λ of Level"), { least: 0, most: MOST_LAMBDA, step: 0.05 },
      (lambda) => this.change({ lambda }, false))
    const parts = {
      points: card(this.dataRow(), this.points.root, this.pointsRow()),
      mixes: card(tag("div", { class: "head" }, tag("h3", {}, tr("Start and paths")), this.undo = button(tr("Undo"), () => this.goBack())), tag("figure", { class: "map" }, this.mixes.picture),
        this.rowC.root, this.rowLambda.root),
      objective: card(this.titles[0], this.plot(() => this.drawn(this.large("objective"), this.shown), tr("Objective of each solver, step by step"))),
      kernels: card(tag("h3", {}, tr("Kernels")), ...this.given.kernels.map((kernel, k) => this.kernelRow(kernel, k))),
      numbers: card(tag("h3", {}, tr("At this step")), table({ class: "results", "aria-label": tr("Solvers at this step") }, heads, this.rows)),
      weights: this.multiples(),
      gap: card(this.titles[1], this.plot(() => this.drawn(this.data.charts.gap, this.shown), tr("Duality gap of each solver, step by step"))),
    }
    for (const [name, part] of Object.entries(parts)) part.classList.add("part", name)
    this.undo.disabled = true
    return [this.toolbar(), this.sentence, tag("div", { class: "board" }, ...Object.values(parts))]
  }

  dataRow() {
    const names = { ...Object.fromEntries(Object.entries(this.given.data).map(([key, { title }]) => [key, tr(title)])), own: tr("own points") }
    const menu = tag("select", { "aria-label": tr("Data") }, ...Object.entries(names).map(([key, title]) => tag("option", { value: key }, title)))
    menu.addEventListener("change", () => this.change({ data: menu.value,
      points: menu.value === "own" ? OWN : this.given.data[menu.value].points }))
    this.dataMenu = menu
    return tag("div", { class: "head" }, tag("h3", {}, tr("Data")), menu, this.axesNames = tag("span", { class: "why" }))
  }

  pointsRow() {
    const adds = this.menu(tr("Adds"), { 1: tr("a square"), "-1": tr("a circle") }, 1, (value) => { this.points.adds = Number(value) })
    const seen = this.menu(tr("Surface of"), this.given.words.labels, this.surfaceOf, (value) => { this.surfaceOf = value; this.request(true) })
    adds.title = tr("A click on an empty place adds one, a double-click removes one")
    seen.title = tr("What this solver's weights decide at the step shown; bold points are its support vectors")
    return tag("div", { class: "head" }, adds, seen)
  }

  kernelRow(kernel, k) {
    const on = tag("input", { type: "checkbox" }), { slider } = kernel
    const put = (changes, ended) => {
      this.ghosts = []
      this.change({ kernels: this.set.kernels.with(k, { ...this.set.kernels[k], ...changes }), ...("on" in changes ? { start: null } : {}) }, ended)
    }
    on.addEventListener("change", () => put({ on: on.checked }))
    const name = tag("label", {}, on, tag("i", { style: `background: ${kernel.colour}` }), tr(kernel.title))
    const row = sliderRow(name, slider ? tr("{what} of kernel {k}", { what: tr(slider.title), k: k + 1 }) : "", slider ?? {},
      (value) => put({ value: slider.powers ? 2 ** value : value }, false))
    row.range.hidden = !slider
    this.kernelRows[k] = { ...row, on }
    return row.root
  }

  get kernelRows() { return this.rowsOfKernels ??= [] }

  // controls say what is set
  controls() {
    const { data, points, kernels, C, lambda } = this.set
    this.points.show(points)
    this.dataMenu.value = data
    this.axesNames.textContent = tr(this.given.data[data]?.axes ?? "")
    kernels.forEach(({ on, value }, k) => {
      const { slider } = this.given.kernels[k], row = this.kernelRows[k]
      row.on.checked = on
      row.on.disabled = on && this.used.length === 1
      row.range.value = slider?.powers ? Math.log2(value) : value
      row.value.textContent = slider ? `${tr(slider.title)} ${inLanguage(rounded(value))}` : ""
      row.range.disabled = !on
    })
    this.rowC.range.value = Math.log10(C)
    this.rowC.value.textContent = inLanguage(rounded(C))
    this.rowLambda.range.value = lambda
    this.rowLambda.value.textContent = inLanguage(rounded(lambda))
  }

  goBack() {
    this.set = this.former.pop()
    this.ghosts = []
    this.drag = null
    this.ask()
    this.rest()
  }

  legend() {
    const names = this.used.map((kernel) => `<span><i style="background:${kernel.colour}"></i>${nameOf(kernel)}</span>`)
    return `<div class="title"><h3>${tr("Kernel weights")}</h3><span class="legend">${names.join("")}</span></div>`
  }

  // -- what is written and drawn

  multiples() {
    const part = super.multiples()
    this.heads.forEach((head, place) => { head.innerHTML = `<span class="name">${this.data.names[this.data.runs[place].key]}</span>` })
    return part
  }

  name() {
    this.which.value = this.above ? "above" : "objective"
    write(this.titles[0], `<h3>${tr(this.large("objective").title)}</h3>`)
    write(this.titles[1], `<h3>${tr(this.data.charts.gap.title)}</h3>`)
    write(this.weightsTitle, this.data.weights_heading)
  }

  tell() {
    this.moved()
    const named = this.data.runs.map(({ key }) => ({ key, label: this.given.words.labels[key] }))
    this.sentence.textContent = this.solved ? toldPaths(named, this.solved) : tr("Solving …")
    this.rows.replaceChildren(...this.data.runs.map((run) => tag("tr",
      { class: this.state.hidden.has(run.key) ? "hidden-run" : "" }, this.head(run), ...this.cells(run).map((text) => tag("td", {}, text)))))
    this.drawMixes()
  }

  // what a row of the table says of a run at the step shown
  cells(run) {
    if (!this.solved) return ["", "", "", ""]
    const at = this.standing(run), moved = run.moved[at], undone = moved > 0.05 ? run.undone[at] / moved : 0
    return [count(run.svm_solves[at]), inLanguage(moved.toFixed(1)), percent(undone), percent(run.gap[at])]
  }

  drawMixes() {
    if (!this.solved) return
    const runs = this.shown.map(({ key }) => ({ key, colour: this.data.colours[key], dash: this.given.words.dashes[key] }))
    const ends = Object.values(this.solved).flat(), best = ends.reduce((one, other) => other.objective < one.objective ? other : one).weights
    const kernels = this.used.map((kernel) => ({ colour: kernel.colour, name: nameOf(kernel), title: nameOf(kernel) }))
    if (kernels.length !== best.length) return // what was asked since has not been answered
    this.mixes.show({ kernels, start: this.start, runs, paths: this.paths, step: this.cursor, best, heights: this.ground, ghosts: this.ghosts })
  }

  go(step) {
    super.go(step)
    this.request(false)
  }

  // -- pace

  scrubber() {
    const bar = super.scrubber()
    bar[0].append(this.menu(tr("Pace"), PACES, this.pace, (value) => {
      const plays = this.state.playing !== null
      this.pace = Number(value)
      this.hold()
      if (plays) this.play()
    }))
    return bar
  }

  get motion() { return { ...super.motion, by: 1, ms: 1000 / this.pace } }
}

// a control with its name, a slider and its value in words
const sliderRow = (name, spoken, { least = 0, most = 0, step = 1 }, put) => {
  const range = tag("input", { type: "range", min: least, max: most, step, "aria-label": spoken }), value = tag("output", {})
  range.addEventListener("input", () => put(Number(range.value)))
  return { root: tag("div", { class: "kernel" }, name, range, value), range, value }
}

const OWN = [[-1, -0.6, -1], [-0.4, 0.9, -1], [-1.6, 0.4, -1], [0.9, 0.5, 1], [0.5, -1, 1], [1.6, -0.3, 1]]

// -- the address holds what is set; what cannot be read is left as it is at first

const addressOf = ({ data, points, kernels, C, lambda, start }, given) => {
  const words = new URLSearchParams({ data, C, lambda })
  words.set("kernels", kernels.flatMap(({ on, value }, k) => on ? [given.kernels[k].slider ? `${k}:${rounded(value)}` : k] : []).join(","))
  if (start) words.set("start", start.map((share) => share.toFixed(3)).join(","))
  if (data === "own") words.set("points", points.map(([x, y, label]) =>
    [Math.round(100 * x), Math.round(100 * y), Number(label > 0)].join()).join(";"))
  const part = new URLSearchParams(location.hash.slice(1)).get("part")
  if (part) words.set("part", part)
  return words
}

const readAddress = (hash, given) => {
  const words = new URLSearchParams(hash.slice(1)), set = { ...given.usual }
  const number = (name, least, most) => {
    const value = Number.parseFloat(words.get(name))
    if (value >= least && value <= most) set[name] = value
  }
  number("C", 10 ** LEAST_C, 10 ** MOST_C)
  number("lambda", 0, MOST_LAMBDA)
  const name = words.get("data"), own = (words.get("points") ?? "").split(";").map((point) => point.split(",").map(Number))
    .filter(([x, y, label]) => Math.abs(x) <= 100 * REACH && Math.abs(y) <= 100 * REACH && (label === 0 || label === 1))
    .slice(0, MOST_POINTS).map(([x, y, label]) => [x / 100, y / 100, label ? 1 : -1])
  if (name === "own" && new Set(own.map(([, , label]) => label)).size === 2) Object.assign(set, { data: name, points: own })
  else if (Object.hasOwn(given.data, name)) set.data = name
  if (set.data !== "own") set.points = given.data[set.data].points
  const listed = (words.get("kernels") ?? "none").split(",").filter((word) => /^\d/.test(word))
    .map((word) => word.split(":").map(Number)).filter(([k]) => given.kernels[k])
  if (listed.length) {
    set.kernels = set.kernels.map(({ value }, k) => {
      const entry = listed.find(([index]) => index === k), { slider } = given.kernels[k]
      const at = slider?.powers ? Math.log2(entry?.[1]) : entry?.[1]
      return { on: entry !== undefined, value: at >= slider?.least && at <= slider.most ? entry[1] : value }
    })
  }
  const shares = (words.get("start") ?? "").split(",").map(Number), total = shares.reduce((sum, share) => sum + share, 0)
  const fits = shares.length === set.kernels.filter(({ on }) => on).length
  if (fits && total > 0 && shares.every((share) => share >= 0)) set.start = shares.map((share) => share / total)
  return set
}

const alone = new URLSearchParams(location.hash.slice(1)).get("part")
if (["points", "mixes", "objective", "gap", "weights"].includes(alone)) document.body.dataset.part = alone
const playground = wholePage(PlaygroundView, JSON.parse(textOf("#data")), `${textOf(".solver").replace(/^export /m, "")}\n${textOf(".worker")}`)
