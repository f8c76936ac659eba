// The figures of a race with a cursor, what each solver did at the step chosen, and the results as of that step.

const FRAMES = 100, FRAME_MS = 200 // from the first step to the last, and between two of them

// an element with markup that was made in Python, where all that came from elsewhere was escaped
function marked(name, html, attributes = {}) {
  const made = tag(name, attributes)
  made.innerHTML = html
  return made
}

// put markup where other markup was: the same again would cost a browser as much
function write(node, html) {
  if (node.written !== html) node.innerHTML = node.written = html
}

function card(...parts) { return tag("section", { class: "card" }, ...parts) }
function why(text, more = "") { return tag("p", { class: "why", title: more }, text) }

function button(text, act, attributes = {}) {
  const made = tag("button", { type: "button", ...attributes }, text)
  made.addEventListener("click", act)
  return made
}

function table(attributes, heads, body) {
  const cells = heads.map(([name, why]) => tag("th", { scope: "col", title: why ?? "" }, name))
  return tag("div", { class: "scroll" }, tag("table", attributes, tag("thead", {}, tag("tr", {}, ...cells)), body))
}

const LARGE = ["objective", "gap", "step"]
const count = (value) => inLanguage(value.toLocaleString("en-US"))

class RaceView {
  // `place` is filled with the figures, and `bar` with the cursor
  constructor(place, bar) {
    this.place = place
    this.bar = bar
    this.runs = "" // of which the parts of the page are
    this.state = { x: "iteration", log: false, above: null, cursor: null, playing: null, hidden: new Set() }
  }

  // show a recording, or what it has grown to; a cursor at the end stays at the end
  show(data) {
    const runs = JSON.stringify(data.runs.map((run) => run.key))
    this.data = data
    this.last = Math.max(...data.runs.map((run) => run.iteration.at(-1)))
    this.tables = Object.fromEntries([["stop", data.stop], ...data.runs.map((run) => [run.table, run])])
    if (runs !== this.runs) this.build()
    this.runs = runs
    this.draw()
  }

  get cursor() { return this.state.cursor ?? this.last }
  get above() { return this.state.above ?? this.data.squashed }
  large(name) { return this.data.charts[name === "objective" && this.above ? "above" : name] }
  get shown() { return this.data.runs.filter((run) => !this.state.hidden.has(run.key)) }

  // where a run stood at the step chosen: the last one kept that is not later
  standing(run) {
    let low = 0, high = run.iteration.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (run.iteration[middle] <= this.cursor) low = middle
      else high = middle - 1
    }
    return low
  }

  horizontal(runs) { // of the figures of some runs: the weights of one are as wide as it is long
    const { x, log } = this.state
    const values = (runs.length ? runs : [this.data.runs[0]]).flatMap((run) => run[x])
    return { ...this.data.axes[x], values, log }
  }

  // what a chart shows now of some runs: its marks with their columns, and a line and a marker where each run stands
  drawn(chart, runs) {
    const { tables, state, data: { colours } } = this
    const some = new Set(["stop", ...runs.map((run) => run.table)])
    const known = chart.marks.filter((mark) => some.has(mark.table) && mark.column in tables[mark.table])
    const marks = known.map((mark) => ({ ...mark, x: tables[mark.table][state.x], y: tables[mark.table][mark.column] }))
    const places = runs.map((run) => {
      const at = this.standing(run), mark = marks.find((each) => each.table === run.table && each.marker)
      const begun = this.cursor >= run.iteration[0]  // a branch stands nowhere before
      return { x: begun ? run[state.x][at] : null, y: mark?.y[at], line: this.cursor < this.last, marker: mark?.marker,
        look: `stroke: ${colours[run.key]}`, fill: `fill: ${colours[run.key]}` }
    })
    return { marks: [...this.behind(known), ...marks], places, x: this.horizontal(runs), y: { ...chart.y, ...this.vertical(marks) } }
  }

  behind() { return [] } // marks drawn faintly, of those of a chart
  vertical() { return {} } // numbers that a vertical axis has room for, where these are not those drawn alone

  // -- the parts of the page

  build() {
    this.figures = []
    this.titles = LARGE.map(() => tag("div", {}))
    this.weightsTitle = tag("div", {})
    this.deedsTitle = tag("h3", {})
    this.deeds = tag("dl", { class: "deeds" })
    this.leftOut = tag("span", {})
    this.place.replaceChildren(...this.parts())
    this.bar.replaceChildren(...this.scrubber())
  }

  parts() {
    return [this.toolbar(), this.largeFigures(),
      card(this.deedsTitle, this.deeds), this.multiples(),
      this.results(), tag("p", { class: "why foot" }, "Arrow keys go from step to step, the space bar plays. Point into a"
        + " figure to go to a place in it. ", this.leftOut)]
  }

  plot(spec, label) {
    const figure = new Figure(spec, (x) => this.choose(x), label)
    this.figures.push(figure)
    return figure.root
  }

  menu(label, options, value, change) {
    const select = tag("select", {}, ...Object.entries(options).map(([key, text]) => tag("option", { value: key }, text)))
    select.value = value
    select.addEventListener("change", () => { change(select.value); this.draw() })
    return tag("label", {}, label, select)
  }

  toolbar() {
    const { state, data } = this
    const chips = data.runs.map((run) => {
      const chip = button("", () => {
        if (!state.hidden.delete(run.key)) state.hidden.add(run.key)
        chip.setAttribute("aria-pressed", String(!state.hidden.has(run.key)))
        this.draw()
      }, { class: "chip", title: tr("Hide or show"), "aria-pressed": String(!state.hidden.has(run.key)) })
      chip.innerHTML = data.names[run.key]
      return chip
    })
    const log = tag("input", { type: "checkbox" })
    log.checked = state.log
    log.addEventListener("change", () => { state.log = log.checked; this.draw() })
    const columns = Object.fromEntries(Object.entries(data.axes).map(([column, axis]) => [column, tr(axis.label)]))
    const axes = this.menu(tr("Horizontal axis"), columns, state.x, (value) => { state.x = value })
    const ways = { objective: tr("as it is"), above: tr("above the best bound") }
    const which = this.menu(tr("Objective"), ways, this.above ? "above" : "objective", (value) => {
      state.above = value === "above"
    })
    this.which = which.querySelector("select")
    which.hidden = data.boundless
    return tag("div", { class: "row" }, tag("div", { role: "group", "aria-label": tr("Solvers shown") }, ...chips),
      tag("div", {}, which, axes, tag("label", {}, log, tr("log x"))))
  }

  largeFigures() {
    const figures = LARGE.map((name, place) => card(this.titles[place], this.plot(() => this.drawn(this.large(name),
      this.shown), `${this.data.charts[name].title} of each solver, step by step`)))
    return tag("div", { class: "grid" }, ...figures)
  }

  multiples() {
    this.heads = this.data.weights.map(() => tag("div", { class: "head" }))
    const cells = this.data.weights.map((chart, place) => tag("div", { class: "multiple" }, this.heads[place],
      this.plot(() => this.drawn(this.data.weights[place], [this.data.runs[place]]), tr("Largest weights of {name}", { name: chart.title }))))
    return card(this.weightsTitle, tag("div", { class: "grid" }, ...cells))
  }

  results() {
    const { heads, way, way_heads } = this.data
    this.tableTitle = why("")
    this.rows = tag("tbody", {})
    this.milestones = tag("tbody", {})
    return card(this.tableTitle,
      table({ class: "results", "aria-label": "Results of the solvers" }, heads, this.rows), why(...way),
      table({ class: "results milestones", "aria-label": "Milestones of the solvers" }, way_heads.map((head) => [head]), this.milestones))
  }

  row(run) {
    const { data, state } = this
    const at = this.standing(run), ended = this.cursor >= run.iteration.at(-1), begun = this.cursor >= run.iteration[0]
    return tag("tr", { class: state.hidden.has(run.key) ? "hidden-run" : "" }, this.head(run),
      marked("td", ended ? run.status : begun ? data.past : data.later, { title: ended ? run.reason : "" }),
      ...run.cells[at].split("\t").map((text) => tag("td", {}, begun ? text : "")))
  }

  head(run) { return marked("th", this.data.names[run.key], { scope: "row" }) }

  deed(run) {
    const [before, after] = run.outside
    const words = this.cursor < run.iteration[0] ? before : this.cursor > run.iteration.at(-1) ? after
      : run.narration[this.standing(run)] ?? ""
    return [marked("dt", this.data.names[run.key]), tag("dd", {}, words)]
  }

  // -- the cursor

  scrubber() {
    this.slider = tag("input", { type: "range", min: 0, max: this.last, "aria-label": tr("Step") })
    this.where = tag("output", {})
    this.playButton = button(tr("Play"), () => this.play(), { class: "play" })
    this.slider.addEventListener("input", () => { this.hold(); this.go(Number(this.slider.value)) })
    const by = (way) => () => { this.hold(); this.go(this.nextKept(way)) }
    return [tag("div", {}, this.playButton, button(tr("Back"), by(-1)), button(tr("On"), by(1)), this.slider, this.where)]
  }

  // the next step at which something is known
  nextKept(way) {
    const { cursor } = this
    const known = this.data.runs.flatMap((run) => run.iteration.filter((at) => way * (at - cursor) > 0))
    return known.length ? cursor + way * Math.min(...known.map((at) => way * (at - cursor))) : cursor
  }

  hold() {
    clearInterval(this.state.playing)
    this.state.playing = null
    this.playButton.textContent = tr("Play")
  }

  // what plays: where it stands and ends, what goes to a place, how far each time, and after how many milliseconds
  get motion() {
    return { at: this.cursor, end: this.last, to: (step) => this.go(step), by: Math.ceil(this.last / FRAMES), ms: FRAME_MS }
  }

  play() {
    if (this.state.playing !== null) { this.hold(); return }
    if (this.motion.at >= this.motion.end) this.motion.to(0)
    this.playButton.textContent = tr("Hold")
    this.state.playing = setInterval(() => {
      const { at, by, to } = this.motion
      to(at + by)
      if (this.motion.at >= this.motion.end) this.hold()
    }, this.motion.ms)
  }

  // a place on the horizontal axis was pointed at: the latest step that any shown run had reached there
  choose(x) {
    this.hold()
    const reached = this.shown.map((run) => {
      const along = run[this.state.x]
      const after = along.findIndex((value) => value > x)
      return run.iteration[after < 0 ? along.length - 1 : Math.max(after - 1, 0)]
    })
    this.go(this.state.x === "iteration" ? Math.round(x) : Math.max(0, ...reached))
  }

  go(step) {
    this.state.cursor = step < this.last ? Math.max(step, 0) : null // at the end, wherever that will be
    this.tell()
    for (const figure of this.figures) figure.mark()
  }

  keys() {
    return { ArrowLeft: () => this.go(this.nextKept(-1)), ArrowRight: () => this.go(this.nextKept(1)),
      Home: () => this.go(0), End: () => this.go(this.last) }
  }

  // go where a key says, unless it is meant for a control
  key(event) {
    const at = event.composedPath()[0], inField = at.matches("input, select, button")
    const keys = this.keys()
    if (event.ctrlKey || event.altKey || event.metaKey || at.matches("select")) return
    if (event.key === " " && !inField) this.play()
    else if (event.key in keys) { this.hold(); keys[event.key]() }
    else return
    event.preventDefault()
  }

  // say in the bar where the cursor is
  moved() {
    this.slider.max = this.last
    this.slider.value = this.cursor
    this.where.textContent = tr("step {k} of {n}", { k: this.cursor, n: this.last })
    this.slider.setAttribute("aria-valuetext", this.where.textContent)
  }

  tell() {
    const { data, cursor, last } = this
    this.moved()
    this.deedsTitle.textContent = `What each solver did at step ${count(cursor)}`
    this.deeds.replaceChildren(...this.shown.flatMap((run) => this.deed(run)))
    const end = data.ended ? "At the end of each run." : "So far."
    this.tableTitle.textContent = cursor < last ? `As of step ${count(cursor)}.` : end
    this.rows.replaceChildren(...data.runs.map((run) => this.row(run)))
  }

  // what is written around the figures, all of which may change as a race goes on
  name() {
    const { data } = this
    this.which.value = this.above ? "above" : "objective"
    LARGE.forEach((name, place) => { write(this.titles[place], this.large(name).heading) })
    write(this.weightsTitle, data.weights_heading)
    data.runs.forEach(({ key, pills }, place) => {
      write(this.heads[place], `<span class="name">${data.names[key]}</span>${pills}`)
    })
    this.milestones.replaceChildren(...data.runs.map((run) => tag("tr", {}, this.head(run),
      ...run.way.map((text) => tag("td", {}, text)))))
    this.leftOut.textContent = data.left_out
  }

  draw() {
    this.name()
    for (const figure of this.figures) figure.draw()
    this.tell()
  }
}

// the text of an element that holds data, and a view that has a page of its own, where keys count anywhere
const textOf = (name) => document.querySelector(name).textContent
function wholePage(View, ...given) {
  const bar = tag("div", { class: "scrubber" })
  document.body.append(bar)
  const view = new View(document.getElementById("race"), bar, ...given)
  document.addEventListener("keydown", (event) => view.key(event))
  return view
}
