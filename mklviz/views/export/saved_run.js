// A run from a file, and what figures and tables show of it; as `Trace`, `Motion`, `Reference` and `milestones` have it.

const COLUMNS = ["objective", "lower_bound", "step", "seconds", "svm_solves", "dual_bound"]
const NEEDED = ["objective", "lower_bound", "step", "seconds", "svm_solves", "weights"]
const ARCHIVED = [...COLUMNS, "dual", "weights"]

const below = (value, other) => value < other || (Number.isNaN(other) && !Number.isNaN(value))
const apart = (upper, lower) => (upper - lower) / Math.max(Math.abs(upper), 2 ** -1022)
const finite = (values) => values.filter(Number.isFinite)

class SavedRun {
  // `key`: its name in the file, "" where it has none
  constructor(key, header, archived) {
    if (!KIT.final.includes(header.status)) { // saved while it went on
      Object.assign(header, { status: "stopped", reason: KIT.cut_off })
    }
    this.header = header
    this.length = header.facts.length
    if (!this.length || NEEDED.some((name) => !archived[name])) throw new Error("the run has no steps")
    for (const [name, { shape }] of Object.entries(archived)) {
      if (shape[0] !== this.length && name !== "dual") throw new Error(`${name} is not one for each step`)
    }
    this.columns = Object.fromEntries(COLUMNS.map((name) => [name, archived[name]?.values]))
    this.kernels = archived.weights.shape[1]
    this.weights = archived.weights.values
    this.duals = archived.dual
    this.key = key || header.solver
    const own = key === "" || key === header.solver || (header.origin && key === header.label.replaceAll(" ", "-"))
    this.label = own ? header.label : key
    this.firstStep = header.origin?.step ?? 0
    this.recipe = header.recipe ? JSON.parse(header.recipe) : null
    this.follow()
    this.measure()
  }

  row(t) { return this.weights.subarray(t * this.kernels, (t + 1) * this.kernels) }

  // what a row of weights adds up to, and which kernels are in use
  active(t) { return this.row(t).reduce((count, weight) => count + (weight > KIT.active), 0) }

  // whether the function at a step is zero, which knows nothing of the samples
  isZero(t) {
    const size = (this.duals?.values.length ?? 0) / this.length
    return !this.duals || this.duals.values.subarray(t * size, (t + 1) * size).every((value) => value === 0)
  }

  // after each step the solution, as `Trace.descends` says, and the gap by the best bounds, which never rises on the way down
  follow() {
    const { objective, lower_bound: lower } = this.columns
    const descends = this.header.descends ?? !KIT.choosing.includes(this.header.solver)
    let best = 0, bound = 0
    this.bests = []
    this.gaps = []
    for (let t = 0; t < this.length; t++) {
      const leftZero = this.isZero(best) && !this.isZero(t)
      if (leftZero || !descends || below(objective[t], objective[best])) best = t
      if (below(-lower[t], -lower[bound])) bound = t
      const gap = apart(objective[best], lower[bound])
      this.bests.push(best)
      this.gaps.push(t && descends && this.gaps[t - 1] < gap ? this.gaps[t - 1] : gap)
    }
    this.best = best
    this.bound = lower[bound]
  }

  // -- how the weights have moved

  distance(one, other) {
    const first = this.row(one), second = this.row(other)
    let sum = 0
    for (let k = 0; k < this.kernels; k++) sum += Math.abs(first[k] / this.totals[one] - second[k] / this.totals[other])
    return sum / 2
  }

  measure() {
    this.totals = Array.from({ length: this.length }, (_, t) => this.row(t).reduce((sum, weight) => sum + weight, 0) || 1)
    this.moved = [0]
    this.back = [0]
    let before = 0
    for (let t = 1; t < this.length; t++) {
      const step = this.distance(t, t - 1)
      const taken = t > 1 ? Math.max(0, before + step - this.distance(t, t - 2)) / 2 : 0
      this.moved.push(this.moved[t - 1] + step)
      this.back.push(this.back[t - 1] + taken)
      before = step
    }
  }

  inVain(from, to) { return Math.max(0, this.moved[to] - this.moved[from] - this.distance(from, to)) }

  get verdict() {
    const rule = KIT.motion, steps = this.length - 1, moved = this.moved[steps]
    if (steps < rule.shortest || !Number.isFinite(moved)) return ""
    const begin = Math.floor((2 * steps) / 3), third = steps - begin
    const late = this.inVain(Math.floor(steps / 5), steps), last = this.inVain(begin, steps)
    const back = moved > 0 ? this.back[steps] / moved : 0, vain = this.inVain(0, steps)
    const calm = last < Math.max(rule.last, rule.tremor * third)
    if (!calm && (late >= rule.late || (late >= rule.late_back && back >= rule.back))) return "oscillates"
    return (2 * last) / third <= vain / steps && vain >= rule.search ? "settles" : "stable"
  }

  // -- what is shown

  // what had been spent when the least objective had come so large a part of the way down to `least`
  milestone(part, least) {
    const { objective, svm_solves: solves, seconds } = this.columns
    const goal = least + (1 - part) * (objective[0] - least)
    const at = objective.findIndex((value) => value <= goal)
    if (at < 0 || !Number.isFinite(objective[0])) return "–"
    const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`
    return [counted(this.firstStep + at, "step"), counted(solves[at], "SVM solve"), `${seconds[at].toFixed(2)} s`].join(" · ")
  }

  // the columns of the figures at some steps; `known`: the best bound and the least objective of all runs
  data(steps, kernels, { bound, least }) {
    const { objective, lower_bound: lower, dual_bound: own, step, seconds, svm_solves } = this.columns
    const drawn = (values) => values.map((value) => (Math.abs(value) <= KIT.largest ? value : null))
    const at = (value) => drawn(steps.map(value))
    const gap = (t) => (Number.isNaN(this.gaps[t]) && objective[t]
      ? (this.header.facts[t].projected_gradient ?? NaN) / Math.abs(objective[t]) : this.gaps[t])
    return {
      iteration: at((t) => this.firstStep + t), svm_solves: at((t) => svm_solves[t]), seconds: at((t) => seconds[t]),
      objective: at((t) => objective[t]), above: at((t) => (objective[t] - bound) / Math.abs(least)), gap: at(gap),
      own_gap: at((t) => apart(objective[t], Number.isFinite(own?.[t]) ? own[t] : lower[t])),
      step: at((t) => step[t]), least: at((t) => objective[this.bests[t]]), kept: at((t) => this.active(this.bests[t])),
      moved: at((t) => this.moved[t]), vain: at((t) => (this.moved[t] > 0 ? this.inVain(0, t) / this.moved[t] : 0)),
      ...Object.fromEntries(kernels.map((kernel, slot) => [`w${slot}`, at((t) => this.row(t)[kernel])])),
    }
  }
}
