// The page of recorded runs: figures, what each solver did at the step chosen, and the results as of that step. The
// file after this one says which runs are shown and what the bar below is: `hold` stops it, `moved` is called by `tell`.

const data = JSON.parse(document.getElementById("data").textContent)
const AXES = Object.fromEntries(Object.entries(data.axes).map(([column, axis]) => [column, axis.label]))
const state = { x: data.x ?? "iteration", log: false, above: data.squashed, cursor: 0, hidden: new Set() }
let runs = [], tables = {}, last = 0 // what is shown now, its columns by the names of charts, and its last step
let before = [], everywhere = [] // runs drawn faintly behind, and all runs whose numbers the axes have room for

function show(some) {
  runs = some
  tables = Object.fromEntries([["stop", data.stop], ...runs.map((run) => [run.table, run])])
  last = Math.max(...runs.map((run) => run.iteration.at(-1)))
  state.cursor = last
}

// where a run stood at the step chosen: the last one kept that is not later
function standing(run) {
  let low = 0, high = run.iteration.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (run.iteration[middle] <= state.cursor) low = middle
    else high = middle - 1
  }
  return low
}

function swatch(run) {
  const line = svg("line", { x1: 0, y1: 6, x2: 22, y2: 6, "stroke-width": 2.4, "stroke-dasharray": run.dash })
  line.setAttribute("style", `stroke: ${run.colour}`)
  line.setAttribute("stroke-dashoffset", 8)
  const mark = svg("path", { d: run.marker, style: `fill: ${run.colour}` })
  return svg("svg", { width: 22, height: 12, viewBox: "0 0 22 12", "aria-hidden": "true" }, line, mark)
}

const seen = (run) => !state.hidden.has(run.key)
const shown = () => runs.filter(seen)

function horizontal() { // the same in every figure
  const ended = everywhere.filter((run) => run.status.name !== "limit") // others are as long as they were allowed to be
  const some = ended.length ? ended : runs
  const values = (shown().length ? some.filter(seen) : some).flatMap((run) => run.reach?.[state.x] ?? run[state.x])
  return { ...data.axes[state.x], values, log: state.log }
}

const NEAR = ["above", "gap", "own_gap"] // far below where runs stop nobody looks
// the numbers that a vertical axis has room for, where these are not those drawn alone
function vertical(marks) {
  if (marks.some((mark) => data.apart?.includes(mark.column))) return {}
  const floor = data.stop.y[0] / 10 || 0
  const least = (column) => (value) => (NEAR.includes(column) && value > 0 ? Math.max(value, floor) : value)
  const ends = marks.flatMap((mark) => everywhere.filter((run) => run.table === mark.table && mark.column in run.reach)
    .flatMap((run) => run.reach[mark.column].map(least(mark.column))))
  return ends.length ? { values: [...ends, ...marks.filter((mark) => mark.across).flatMap((mark) => mark.y)] } : {}
}

// what a chart shows now of some runs: its marks with their columns, and a line and a marker where each run stands
function drawn(chart, runs) {
  const some = new Set(["stop", ...runs.map((run) => run.table)])
  const known = chart.marks.filter((mark) => some.has(mark.table) && mark.column in tables[mark.table])
  const lines = (table) => (mark) => ({ ...mark, x: table(mark)[state.x], y: table(mark)[mark.column] })
  const marks = known.map(lines((mark) => tables[mark.table]))
  const former = (mark) => before.find((run) => run.table === mark.table && run !== tables[mark.table])
  const behind = known.filter((mark) => mark.marker && former(mark)).map(lines(former))
  const places = runs.map((run) => {
    const at = standing(run), mark = marks.find((each) => each.table === run.table && each.marker)
    return { x: run[state.x][at], y: mark?.y[at], line: state.cursor < last, marker: mark?.marker,
      look: `stroke: ${run.colour}`, fill: `fill: ${run.colour}` }
  })
  const faint = behind.map((mark) => ({ ...mark, marker: undefined, alpha: 0.35 }))
  return { marks: [...faint, ...marks], places, x: horizontal(), y: { ...chart.y, ...vertical(known.map((mark, place) => (
    { ...mark, y: marks[place].y }))) } }
}

const objective = () => data.charts[state.above ? "above" : "objective"]

// -- the parts of the page

const figures = []
function plot(spec, label) {
  const figure = new Figure(spec, choose, label)
  figures.push(figure)
  return figure.root
}

function menu(label, options, value, change) {
  const select = tag("select", {}, ...Object.entries(options).map(([key, text]) => tag("option", { value: key }, text)))
  select.value = value
  select.addEventListener("change", () => { change(select.value); draw() })
  return tag("label", {}, label, select)
}

function toolbar() {
  const chips = runs.map((run) => {
    const chip = tag("button", { class: "chip", type: "button", "aria-pressed": "true" }, swatch(run), run.label)
    chip.title = "Hide or show"
    chip.addEventListener("click", () => {
      if (!state.hidden.delete(run.key)) state.hidden.add(run.key)
      chip.setAttribute("aria-pressed", String(!state.hidden.has(run.key)))
      draw()
    })
    return chip
  })
  const log = tag("input", { type: "checkbox" })
  log.addEventListener("change", () => { state.log = log.checked; draw() })
  const axes = menu("Horizontal axis", AXES, state.x, (value) => { state.x = value })
  const drawn = { objective: "as it is", above: "above the best bound" }
  const which = menu("Objective", drawn, state.above ? "above" : "objective", (value) => {
    state.above = value === "above"
  })
  const offered = data.boundless ? [] : [which]
  return tag("div", { class: "row" }, tag("div", { role: "group", "aria-label": "Solvers shown" }, ...chips),
    tag("div", {}, ...offered, axes, tag("label", {}, log, "log x")))
}

function card(title, why, plotted, ...beside) {
  return tag("section", { class: "card" }, tag("div", { class: "title" }, title, ...beside), why, plotted)
}

function heading(text) { return tag("h2", {}, text) }
function why(text, more = "") { return tag("p", { class: "why", title: more }, text) }

function largeCard(chart, label) {
  const stop = chart.beside ? [tag("span", { class: "legend" }, tag("span", {}, tag("i", { class: "dashes" }),
    chart.beside))] : []
  const plotted = plot(() => drawn(chart, shown()), label)
  return card(heading(chart.title), why(chart.note, chart.more), plotted, ...stop)
}

const objectiveTitle = heading(""), objectiveWhy = why("")
function largeFigures() {
  const { gap, step } = data.charts
  const plotted = plot(() => drawn(objective(), shown()), "The objective of each solver, step by step")
  return tag("div", { class: "grid" }, card(objectiveTitle, objectiveWhy, plotted),
    largeCard(gap, `${gap.title} of each solver, step by step`), largeCard(step, "Step sizes of each solver"))
}

const heads = data.weights.map(() => tag("div", { class: "head" }))
function headed() {
  data.weights.forEach((chart, place) => {
    const { enlarged, verdict } = runs[place]
    const scale = enlarged ? [tag("span", { class: "pill scale" }, enlarged)] : []
    const said = verdict ? [tag("span", { class: `pill ${verdict}` }, verdict)] : []
    heads[place].replaceChildren(swatch(runs[place]), chart.title, ...scale, ...said)
  })
}

function multiples() {
  const named = data.kernels.map((name, slot) => {
    const patch = tag("i", {})
    patch.style.background = `var(--kernel-${slot})`
    return tag("span", {}, patch, name)
  })
  const cells = data.weights.map((chart, place) => tag("div", { class: "multiple" }, heads[place],
    plot(() => drawn(chart, [runs[place]]), `Largest weights of ${chart.title}`)))
  const names = tag("span", { class: "legend" }, ...named)
  return card(heading(data.weights_title), "", tag("div", { class: "grid" }, ...cells), names)
}

const toldTitle = heading(""), told = tag("dl", { class: "told" })
const tableTitle = why(""), rows = tag("tbody", {})
const Noun = data.noun === "kernel" ? "Kernels" : "Parameters"
const COLUMNS = ["Solver", "Status", "Iterations", "SVM solves", "Time", "Objective", "Gap", `${Noun} kept`,
  "Weight moved", "Undone"]

function results() {
  const head = tag("thead", {}, tag("tr", {}, ...COLUMNS.map((name) => tag("th", { scope: "col" }, name))))
  const table = tag("table", { "aria-label": "Results of the solvers" }, head, rows)
  return tag("section", { class: "card" }, tableTitle, tag("div", { class: "scroll" }, table), ...milestones())
}

const reached = tag("tbody", {})
const milestone = (run) => tag("tr", {}, tag("th", { scope: "row" }, swatch(run), run.label),
  ...run.milestones.map((said) => tag("td", {}, said)))

// what it took to come most of the way down
function milestones() {
  const heads = ["Solver", ...data.parts.map((part) => `${NUMBERS.percent(part)} of the way`)]
  const head = tag("thead", {}, tag("tr", {}, ...heads.map((name) => tag("th", { scope: "col" }, name))))
  const table = tag("table", { class: "milestones", "aria-label": "Milestones of the solvers" }, head, reached)
  return [why("What it took to come down most of the way to the least objective."),
    tag("div", { class: "scroll" }, table)]
}

const count = (value) => value.toLocaleString("en-US")
const number = (value, options, unit = "") => (
  value === null || value === undefined ? "–" : value.toLocaleString("en-US", options) + unit)

function row(run) {
  const at = standing(run), ended = state.cursor >= run.iteration.at(-1)
  const status = ended ? run.status : { word: "at this step", sign: "", name: "past", reason: "", meaning: "" }
  const pill = tag("span", { class: `pill ${status.name}`, title: status.meaning })
  if (status.sign) pill.append(tag("i", { "aria-hidden": "true" }, status.sign))
  pill.append(status.word)
  const said = ["failed", "limit", "rule", "precision"].includes(status.name) ? status.reason : ""
  const cells = [
    count(run.iteration[at]), count(run.svm_solves[at]),
    number(run.seconds[at], { minimumFractionDigits: 2, maximumFractionDigits: 2 }, " s"),
    number(run.least[at], Math.abs(run.least[at]) < 1000 ? { maximumSignificantDigits: 5 }
      : { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
    run.gap[at] === null ? "–" : run.gap[at] > 0 && run.gap[at] < 1e-8 ? "under 0.000001 %"
      : run.gap[at] < 1e-4 ? number(100 * run.gap[at], { maximumSignificantDigits: 2 }, " %")
      : number(100 * run.gap[at], { minimumFractionDigits: 2, maximumFractionDigits: 2 }, " %"),
    count(run.kept[at]), number(run.moved[at], { maximumSignificantDigits: 3 }, "×"),
    number(run.vain[at] === null ? null : 100 * run.vain[at], { maximumFractionDigits: 0 }, " %"),
  ]
  const first = tag("td", { title: status.reason }, pill)
  if (said) first.append(tag("span", { class: "reason" }, said))
  const made = tag("tr", {}, tag("th", { scope: "row" }, swatch(run), run.label), first,
    ...cells.map((text) => tag("td", {}, text)))
  if (state.hidden.has(run.key)) made.className = "quiet"
  return made
}

function deed(run) {
  const at = standing(run), ended = state.cursor > run.iteration.at(-1)
  const later = state.cursor < run.iteration[0] && `Begins at step ${count(run.iteration[0])}.`
  const said = later || (ended ? `Finished at step ${count(run.iteration.at(-1))}.` : run.narration[at] ?? "")
  return [tag("dt", {}, swatch(run), run.label), tag("dd", {}, said)]
}

// a place on the horizontal axis was pointed at: the latest step that any shown run had reached there
function choose(x) {
  hold()
  const arrived = shown().map((run) => {
    const along = run[state.x]
    const after = along.findIndex((value) => value > x)
    return run.iteration[after < 0 ? along.length - 1 : Math.max(after - 1, 0)]
  })
  go(state.x === "iteration" ? Math.round(x) : Math.max(0, ...arrived))
}

function go(step) {
  state.cursor = Math.min(Math.max(step, 0), last)
  tell()
  for (const figure of figures) figure.mark()
}

function tell() {
  toldTitle.textContent = `What each solver did at step ${count(state.cursor)}`
  told.replaceChildren(...shown().flatMap(deed))
  tableTitle.textContent = state.cursor < last ? `As of step ${count(state.cursor)}.` : "At the end of each run."
  rows.replaceChildren(...runs.map(row))
  moved()
}

function draw() {
  objectiveTitle.textContent = objective().title
  objectiveWhy.textContent = objective().note
  objectiveWhy.title = objective().more
  headed()
  reached.replaceChildren(...runs.map(milestone))
  for (const figure of figures) figure.draw()
  tell()
}

function button(text, act, attributes = {}) {
  const made = tag("button", { type: "button", ...attributes }, text)
  made.addEventListener("click", act)
  return made
}

function pressed(event, keys, act) {
  const inField = event.target.matches("input, select, button")
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("select")) return
  if (event.key === " " && !inField) play()
  else if (event.key in keys) act(keys[event.key])
  else return
  event.preventDefault()
}
