// Multiple kernel learning on the simplex, in the browser: which mix of up to ten kernels makes the best SVM?
//
//     min over d >= 0, 1'd = 1 of  J(d) = max over b of  y'b - 1/2 b'K_d b,      K_d = sum of d_k K_k
//     over  sum b = 0,  0 <= y_i b_i <= C
//
// SILP, SimpleMKL, Level and SPG take the steps of the Python solvers of these names from the same start, and every step
// is certified alike: P is the SVM's primal objective at the best intercept, D = y'b - 1/2 max_k b'K_k b, or what an
// average of several b proves, and the gap is (P - D) / |P| of the best of both so far. SVMs are always solved as exactly
// as double precision allows, where the Python solvers make them more exact as the gap asks for it.

const EPS = Number.EPSILON
const dot = (x, y) => {
  let total = 0
  for (let i = 0; i < x.length; i++) total += x[i] * y[i]
  return total
}
const within = (x, a, b, count) => {  // the product of two parts of an array; four sums are three times as fast as one
  let one = 0, two = 0, three = 0, four = 0, k = 0
  for (; k + 3 < count; k += 4) {
    one += x[a + k] * x[b + k]
    two += x[a + k + 1] * x[b + k + 1]
    three += x[a + k + 2] * x[b + k + 2]
    four += x[a + k + 3] * x[b + k + 3]
  }
  for (; k < count; k++) one += x[a + k] * x[b + k]
  return one + two + (three + four)
}
const sum = (x) => x.reduce((total, value) => total + value, 0)
const norm = (x) => Math.sqrt(dot(x, x))
const minus = (x, y) => x.map((value, i) => value - y[i])
const largest = (x) => x.reduce((most, value) => Math.max(most, value), -Infinity)
const least = (x) => x.reduce((most, value) => Math.min(most, value), Infinity)
const size = (x) => x.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
const inUnits = (x) => {  // scaled to sum one
  const total = sum(x)
  return x.map((value) => value / total)
}
const argmax = (x) => x.indexOf(largest(x))

// -- the SVM at fixed weights: pair steps (SMO, second order), and Newton steps on the points between their bounds

const FINEST = 1e-12  // violation of the optimality conditions that is allowed, but for rounding
const COARSE = 1e-2, PAIRS = 2, BLOCKS = 8, ROUNDS = 400, RIDGE = 1e-13  // when Newton steps are due

class Svm {
  constructor(y, C) {
    this.n = y.length
    this.y = Float64Array.from(y)
    this.low = this.y.map((label) => label > 0 ? 0 : -C)
    this.high = this.y.map((label) => label > 0 ? C : 0)
    this.b = new Float64Array(this.n)
    this.f = new Float64Array(this.n)  // y - K b
    this.K = new Float64Array(this.n * this.n)
    this.diagonal = new Float64Array(this.n)
    this.factor = new Float64Array(this.n * this.n)
  }

  // Solves for the kernel in `K`, from the last solution.
  solve() {
    for (let i = 0; i < this.n; i++) this.diagonal[i] = this.K[i * (this.n + 1)]
    this.refresh()
    let violation = this.pairs(COARSE, 10 * this.n)
    for (let round = 0; round < ROUNDS && violation > this.allowed(); round++) {
      this.newton()
      this.refresh()
      violation = this.pairs(Math.max(0.1 * this.violation(), FINEST), PAIRS * this.n)
    }
    this.balance()
  }

  allowed() {
    let total = 0
    for (const value of this.b) total += Math.abs(value)
    return Math.max(FINEST, 0.05 * EPS * largest(this.diagonal) * total)
  }

  refresh() {
    const { n, K, b, f, y } = this
    f.set(y)
    for (let j = 0; j < n; j++) if (b[j] !== 0) for (let i = 0, at = j * n; i < n; i++) f[i] -= b[j] * K[at + i]
  }

  // Puts right what rounding has added to the sum of b.
  balance() {
    const { b, low, high } = this
    let best = -1, room = 0
    for (let i = 0; i < this.n; i++) {
      const here = Math.min(b[i] - low[i], high[i] - b[i])
      if (here > room) { best = i; room = here }
    }
    const excess = sum(b)
    if (Math.abs(excess) < room) b[best] -= excess
  }

  violation() {
    const { b, f, low, high } = this
    let top = -Infinity, bottom = Infinity
    for (let i = 0; i < this.n; i++) {
      if (b[i] < high[i] && f[i] > top) top = f[i]
      if (b[i] > low[i] && f[i] < bottom) bottom = f[i]
    }
    return top - bottom
  }

  // Takes pair steps until the violation is at most `tolerance`, or `most` of them; returns the violation.
  pairs(tolerance, most) {
    const { n, K, b, f, low, high, diagonal } = this
    for (let taken = 0; ; taken++) {
      let i = -1, j = -1, top = -Infinity, bottom = Infinity, gain = -1
      for (let k = 0; k < n; k++) if (b[k] < high[k] && f[k] > top) { top = f[k]; i = k }
      if (i < 0) return 0
      const row = i * n
      for (let k = 0; k < n; k++) {
        if (!(b[k] > low[k])) continue
        if (f[k] < bottom) bottom = f[k]
        const ahead = top - f[k]
        if (!(ahead > 0)) continue
        const here = ahead * ahead / Math.max(diagonal[i] + diagonal[k] - 2 * K[row + k], 1e-12 * diagonal[i])
        if (here > gain) { gain = here; j = k }
      }
      if (!(top - bottom > tolerance) || j < 0 || taken >= most) return top - bottom
      const bend = Math.max(diagonal[i] + diagonal[j] - 2 * K[row + j], 1e-12 * diagonal[i])
      const up = high[i] - b[i], down = b[j] - low[j], step = Math.min((top - f[j]) / bend, up, down)
      b[i] = step === up ? high[i] : b[i] + step
      b[j] = step === down ? low[j] : b[j] - step
      for (let k = 0, other = j * n; k < n; k++) f[k] -= step * (K[row + k] - K[other + k])
    }
  }

  // Goes to the solution among the points between their bounds; one that meets its bound on the way stays there.
  newton() {
    const { n, K, b, f, low, high } = this, between = (i) => b[i] > low[i] && b[i] < high[i]
    let free = Array.from(b.keys()).filter(between), known = false
    for (let block = 0, again = 0; block < BLOCKS && again < 2 && free.length > 1;) {
      if (!known) this.factorize(free)
      const move = this.direction(free)
      let step = 1, met = -1
      for (let a = 0; a < free.length; a++) {
        const share = (move[a] > 0 ? high[free[a]] - b[free[a]] : b[free[a]] - low[free[a]]) / Math.abs(move[a])
        if (share < step) { step = share; met = a }
      }
      for (let a = 0; a < free.length; a++) {
        const i = free[a], here = a !== met ? b[i] + step * move[a] : move[a] > 0 ? high[i] : low[i], change = here - b[i]
        b[i] = here
        for (let k = 0, at = i * n; k < n; k++) f[k] -= change * K[at + k]
      }
      known = met < 0
      if (known) again++
      else { block++; free = free.filter(between) }
    }
  }

  // Finds Cholesky's factor of the kernel of the free points, with a ridge.
  factorize(free) {
    const { n, K, diagonal, factor: L } = this, q = free.length
    for (let a = 0; a < q; a++) {
      const row = free[a] * n, own = a * n
      for (let c = 0; c <= a; c++) {
        const other = c * n
        const value = K[row + free[c]] - within(L, own, other, c)
        L[own + c] = c < a ? value / L[other + c] : Math.sqrt(Math.max(value, 0) + RIDGE * diagonal[free[a]])
      }
    }
  }

  // Returns the Newton step of the free points, whose sum is zero.
  direction(free) {
    const { n, f, factor: L } = this, q = free.length
    const ahead = Float64Array.from(free, (i) => f[i]), ones = new Float64Array(q).fill(1), mean = sum(ahead) / q
    for (let a = 0; a < q; a++) ahead[a] -= mean  // the intercept may be far larger than what is left
    for (const x of [ahead, ones]) {
      for (let a = 0; a < q; a++) {
        for (let k = 0; k < a; k++) x[a] -= L[a * n + k] * x[k]
        x[a] /= L[a * n + a]
      }
      for (let a = q - 1; a >= 0; a--) {
        x[a] /= L[a * n + a]
        for (let k = 0; k < a; k++) x[k] -= L[a * n + k] * x[a]
      }
    }
    const shift = sum(ahead) / sum(ones)
    return ahead.map((value, a) => value - shift * ones[a])
  }
}

// -- what an SVM says: value, slopes and bounds

class Oracle {
  constructor({ kernels, y, C, lambda }) {
    Object.assign(this, { kernels, C, lambda, solves: 0, objective: Infinity, bound: -Infinity })
    this.svm = new Svm(y, C)
    this.recent = new Recent()
    this.proved = (point) => {
      this.recent.add(point)
      return this.recent.best()?.bound ?? -Infinity
    }
  }

  solve(weights) {
    const { svm, kernels } = this, { K } = svm
    const used = weights.flatMap((weight, k) => weight ? [[weight, kernels[k]]] : [])
    for (let i = 0; i < svm.n; i++) {
      const row = i * svm.n
      K.fill(0, row, row + i + 1)
      for (const [weight, kernel] of used) for (let at = row; at <= row + i; at++) K[at] += weight * kernel[at]
      for (let j = 0; j < i; j++) K[j * svm.n + i] = K[row + j]
    }
    svm.solve()
    this.solves++
    return new Point(this, weights)
  }

  // Returns what a caller may know of a step.
  step(point) {
    const bound = Math.max(point.bound, this.proved(point))
    this.objective = Math.min(this.objective, point.primal)
    this.bound = Math.max(this.bound, bound)
    const gap = (this.objective - this.bound) / Math.max(Math.abs(this.objective), Number.MIN_VALUE)
    const { b, cut, primal: objective, weights, bias } = point
    return { weights: [...weights], objective, cut, bound, gap, solves: this.solves, b, bias }
  }
}

class Point {
  constructor({ svm, kernels, C }, weights) {
    const { y } = svm, t = stretch(svm, C, weights)
    Object.assign(this, { kernels, C, weights, y, b: svm.b.map((value) => t * value), f: svm.f.map((f, i) => y[i] - t * (y[i] - f)) })
    this.ones = dot(this.y, this.b)  // 1'a
    this.quad = this.ones - dot(this.f, this.b)  // b'K_d b
    this.value = this.ones - 0.5 * this.quad
  }

  get primal() {  // f is also where the intercept begins to satisfy a sample
    const { y, f, bias } = this
    return 0.5 * this.quad + this.C * y.reduce((loss, label, i) => loss + Math.max(label * (f[i] - bias), 0), 0)
  }

  get bias() { return intercept(this.y, this.f) }

  get s() { return this.known ??= squaredNorms(this.kernels, this.b) }  // s_k = b'K_k b
  get cut() { return this.s.map((value) => this.ones - 0.5 * value) }
  get slopes() { return this.s.map((value) => -0.5 * value) }
  get bound() { return least(this.cut) }
}

const intercept = (y, f) => {
  const bends = f.toSorted(), positive = y.reduce((count, label) => count + (label > 0), 0)
  return 0.5 * (bends[positive - 1] + bends[positive])
}

// By how much b is stretched so that all margins hold in spite of rounding.
const stretch = ({ n, y, b, f, K }, C, weights) => {
  const FARTHEST = 0.1, scores = y.map((label, i) => label - f[i]), unit = EPS * (n + Math.sqrt(weights.filter((d) => d).length))
  const short = (t, terms) => {
    const bias = intercept(y, scores.map((score, i) => y[i] - t * score))
    return y.some((label, i) => {
      const decision = t * scores[i] + bias, off = terms ? unit * t * terms[i] + 2 * EPS * Math.abs(decision) : 0
      return label * decision - off < 1
    })
  }
  if (size(b) * (1 + FARTHEST) >= C || short(1 + FARTHEST)) return 1
  const terms = y.map((_, i) => 2 * b.reduce((total, value, j) => total + Math.abs(value) * K[i * n + j], 0))
  let low = Math.log10(EPS), high = Math.log10(FARTHEST)
  for (let k = 0; k < 12; k++) {
    const middle = 0.5 * (low + high)
    if (short(1 + 10 ** middle, terms)) low = middle
    else high = middle
  }
  return 1 + 10 ** high
}

const squaredNorms = (kernels, b) => {
  const n = b.length, held = Int32Array.from(b.keys()).filter((i) => b[i] !== 0)
  return kernels.map((kernel) => {
    let total = 0
    for (const i of held) {
      let part = 0.5 * b[i] * kernel[i * n + i]
      for (let c = 0; held[c] < i; c++) part += b[held[c]] * kernel[i * n + held[c]]
      total += 2 * b[i] * part
    }
    return total
  })
}

// -- the least of the highest cut, a matrix game, by the simplex method

const OPTIMAL = 1e-11, PIVOT = 1e-8  // smaller entries may be what rounding has left of zero

// Returns weights d and multipliers w of  min over d of max_j c_j'd  where rounding hides neither: with values above zero
// d / value  is the largest x >= 0 at which no row of  C x  exceeds one.
const game = (cuts) => {
  const q = cuts.length, m = cuts[0].length, low = least(cuts.map(least)), spread = largest(cuts.map(largest)) - low || 1
  const T = [...cuts.map((cut) => [...cut.map((value) => (value - low) / spread + 1), 1]), [...Array(m).fill(-1), 0]]
  const across = Array.from({ length: m }, (_, k) => k), down = cuts.map((_, j) => m + j)  // the variables of columns and rows
  for (let left = 20 * (m + q); left > 0; left--) {
    const s = argmax(T[q].slice(0, m).map((value) => -value))
    if (T[q][s] > -OPTIMAL) break
    let r = -1
    for (let j = 0; j < q; j++) if (T[j][s] > PIVOT && (r < 0 || T[j][m] * T[r][s] < T[r][m] * T[j][s])) r = j
    if (r < 0) break
    const row = T[r], pivot = row[s]
    row[s] = 1
    for (let k = 0; k <= m; k++) row[k] /= pivot
    for (const other of T) {
      if (other === row) continue
      const share = other[s]
      other[s] = 0
      for (let k = 0; k <= m; k++) other[k] -= share * row[k]
    }
    ;[across[s], down[r]] = [down[r], across[s]]
  }
  const d = Array(m).fill(0), w = Array(q).fill(0)
  down.forEach((name, j) => { if (name < m) d[name] = Math.max(T[j][m], 0) })
  across.forEach((name, k) => { if (name >= m) w[name - m] = Math.max(T[q][k], 0) })
  return { d: inUnits(d), w: inUnits(w) }
}

const mixOf = (cuts, w) => cuts[0].map((_, k) => cuts.reduce((total, cut, j) => w[j] ? total + w[j] * cut[k] : total, 0))

// The cuts so far, max_j c_j'd <= J(d): the cutting plane model of SILP and Level.
class Model {
  constructor() { this.cuts = []; this.theta = -Infinity }

  // Returns the weights where the model is lowest, null where rounding hides them; `theta` is the least that it proves.
  minimize() {
    const { d, w } = game(this.cuts), proved = least(mixOf(this.cuts, w))
    if (!(largest(this.cuts.map((cut) => dot(cut, d))) - proved <= 1e-10 * largest(this.cuts.map(size)))) return null
    this.theta = Math.max(this.theta, proved)
    return d
  }
}

// -- the last solutions: what their average proves, and where they promise least out of a kink

const KEPT = 30

class Recent {
  constructor() { this.cuts = []; this.added = 0; this.newest = null }

  add(point) {
    if (point === this.newest) return
    this.newest = point
    this.cuts[this.added++ % KEPT] = point.cut
  }

  best() {
    if (this.cuts.length < 2) return null
    const { d, w } = game(this.cuts)
    return { bound: least(mixOf(this.cuts, w)), weights: d }
  }
}

class Kink {
  constructor(recent) { this.recent = recent; this.tried = 0 }

  left() { this.tried = 0 }

  promise(value, trial) {
    this.recent.add(trial)
    const best = this.recent.best()
    if (best === null || this.tried >= KEPT || !(value - best.bound > 1e-12 * Math.abs(value))) return null
    this.tried++
    return best
  }
}

// -- SILP: where the cuts so far promise the lowest objective

function* silp(oracle, start) {
  const model = new Model()
  oracle.proved = () => model.theta
  for (let point = oracle.solve(start); ;) {
    model.cuts.push(point.cut)
    const weights = model.minimize()
    if (weights === null) return yield oracle.step(point)
    yield oracle.step(point)
    if (size(minus(weights, point.weights)) === 0) return yield oracle.step(point)
    point = oracle.solve(weights)
  }
}

// -- Level: the nearest weights at which the cuts promise enough

const LAMBDA = 0.8, ROUNDING = 1e-13

function* level(oracle, start) {
  const model = new Model()
  oracle.proved = () => model.theta
  let upper = Infinity, lower = -Infinity
  for (let point = oracle.solve(start); ;) {
    model.cuts.push(point.cut)
    model.minimize()
    upper = Math.min(upper, point.primal)
    lower = Math.max(lower, point.bound, model.theta)
    yield oracle.step(point)
    if (upper - lower <= ROUNDING * Math.abs(upper)) return yield oracle.step(point)
    let weights = null
    for (let lambda = oracle.lambda ?? LAMBDA; weights === null && 1 - lambda > 1e-9; lambda = 0.5 * (1 + lambda)) {
      weights = projected(point.weights, model.cuts, lambda * upper + (1 - lambda) * lower)
    }
    if (weights === null || size(minus(weights, point.weights)) === 0) {
      return yield oracle.step(point)
    }
    point = oracle.solve(weights)
  }
}

// Returns the point of the simplex nearest to `from` where no cut exceeds `level`; null where there is none. Constraints
// join one by one, the most violated first, and leave where their multiplier would fall below zero.
// Reference: Goldfarb, Idnani, A numerically stable dual method for solving strictly convex quadratic programs, 1983.
const projected = (from, cuts, level) => {
  const m = from.length, top = level + 4 * EPS * Math.abs(level)
  const units = cuts.map((cut) => size(cut.map((value) => value - top)) || 1)
  const normals = [...cuts.map((cut, j) => cut.map((value) => (top - value) / units[j])),  // as the weights sum to one
    ...from.map((_, k) => from.map((_, i) => +(i === k)))]
  const one = Array(m).fill(1)
  let x = [...from], active = [], multipliers = []
  for (let round = 0; round < 50 * (m + 2); round++) {
    const slack = normals.map((normal, p) => active.includes(p) ? 0 : dot(normal, x))
    const entering = slack.indexOf(least(slack))
    if (!(slack[entering] < -1e-14)) {
      const kept = x.map((value, k) => active.includes(cuts.length + k) ? 0 : Math.max(value, 0))
      return inUnits(kept)
    }
    for (let own = 0; ;) {
      const { across, along } = split(normals[entering], [one, ...active.map((p) => normals[p])])
      const rates = along.slice(1), length = dot(across, across)
      let step = length > 1e-22 ? -dot(normals[entering], x) / length : Infinity, leaving = -1
      rates.forEach((rate, a) => {
        const limit = multipliers[a] / rate
        if (rate > 0 && limit < step) { step = limit; leaving = a }
      })
      if (step === Infinity) return null
      if (length > 1e-22) x = x.map((value, k) => value + step * across[k])
      multipliers = multipliers.map((value, a) => value - step * rates[a])
      own += step
      if (leaving < 0) { active.push(entering); multipliers.push(own); break }
      active.splice(leaving, 1)
      multipliers.splice(leaving, 1)
    }
  }
  return null
}

// Splits a vector into what is orthogonal to `columns`, by Gram and Schmidt twice, and the weights of the columns.
const split = (vector, columns) => {
  const basis = [], R = []
  const reduced = (x, weights) => {
    for (let pass = 0; pass < 2; pass++) basis.forEach((unit, a) => {
      const share = dot(unit, x)
      weights[a] += share
      x = x.map((value, i) => value - share * unit[i])
    })
    return x
  }
  for (const column of columns) {
    const weights = Array(columns.length).fill(0), rest = reduced(column, weights), length = norm(rest)
    weights[basis.length] = length
    R.push(weights)
    basis.push(rest.map((value) => value / length))
  }
  const along = Array(columns.length).fill(0), across = reduced(vector, along)
  for (let a = columns.length - 1; a >= 0; a--) {
    for (let c = a + 1; c < columns.length; c++) along[a] -= R[c][a] * along[c]
    along[a] /= R[a][a]
  }
  return { across, along }
}

// -- SimpleMKL: the reduced gradient from face to face of the simplex, then golden section

const FIRST_STEP = 0.1, ROUGHEST = 0.1, PRECISE = 1e-8, STILL = 1e-8, SMALLEST = 1e-8, GOLDEN = (Math.sqrt(5) - 1) / 2

function* simplemkl(oracle, start) {
  const kink = new Kink(oracle.recent)
  let point = oracle.solve(start), precision = ROUGHEST, promise = null
  yield oracle.step(point)
  for (;;) {
    const before = point
    let last = point
    const solve = (weights) => last = oracle.solve(weights)
    point = descended(solve, point, promise ? minus(promise, point.weights) : reducedGradient(point), precision)
    promise = null
    let ended = false
    if (size(minus(point.weights, before.weights)) > STILL) {
      kink.left()
      precision = ROUGHEST
    } else {
      promise = kink.promise(point.value, last)?.weights ?? null
      if (promise !== null) precision = Math.max(precision / 3, PRECISE)
      else if (precision <= PRECISE) ended = true  // no weight moves any more
      else precision = Math.max(precision / 10, PRECISE)
    }
    yield oracle.step(point)
    if (ended) return
  }
}

const descended = (solve, here, direction, precision) => {
  let best = here, longest = longestStep(best.weights, direction), step = Math.min(longest, FIRST_STEP)
  while (step > 0) {
    const from = best.weights, toward = direction
    const at = (share) => solve(inUnits(from.map((d, k) => Math.max(d + share * toward[k], 0))))
    const far = at(step)
    if (far.value >= best.value) {
      best = goldenSection(at, best, far, step, precision * longest)
      break
    }
    best = far
    direction = inside(direction, best.weights)
    step = longest = longestStep(best.weights, direction)
  }
  if (best === here) return here
  if (best.weights.some((d) => d > 0 && d < SMALLEST)) best = solve(inUnits(best.weights.map((d) => d < SMALLEST ? 0 : d)))
  return best.value < here.value ? best : here
}

const reducedGradient = ({ weights, slopes }) => {
  const mu = argmax(weights), length = norm(slopes)
  if (length === 0) return weights.map(() => 0)
  const reduced = slopes.map((slope) => (slope - slopes[mu]) / length)
  return balanced(reduced.map((slope, k) => weights[k] > 0 || slope < 0 ? -slope : 0), mu)
}
const balanced = (direction, mu) => {  // kernel mu gives what the others take
  direction[mu] = 0
  direction[mu] = -sum(direction)
  return direction
}
const inside = (direction, weights) =>
  balanced(direction.map((slope, k) => weights[k] <= SMALLEST && slope <= 0 ? 0 : slope), argmax(weights))
const longestStep = (weights, direction) => {
  const steps = weights.map((d, k) => direction[k] < 0 ? -d / direction[k] : Infinity)
  return Number.isFinite(least(steps)) ? least(steps) : 0
}

const goldenSection = (at, near, far, length, precision) => {
  let low = 0, high = length, best = near.value <= far.value ? near : far, left = null, right = null
  while (high - low > Math.max(precision, 1e-15)) {
    const width = GOLDEN * (high - low)
    left ??= at(high - width)
    right ??= at(low + width)
    for (const point of [left, right]) if (point.value < best.value) best = point
    if (left.value <= right.value) [high, left, right] = [low + width, null, left]
    else [low, left, right] = [high - width, right, null]
  }
  return best
}

// -- SPG: spectral projected gradients, which may rise for a while

const TYPICAL = 50, SUFFICIENT = 1e-4, SHORTEST = 1e-14, SHARE = 1e-8, PROMISING = 1e-3, CRAWL = 1e-5

function* spg(oracle, start) {
  const kink = new Kink(oracle.recent)
  let here = oracle.solve(start)
  const unit = here.primal > 0 ? TYPICAL / here.primal : 1
  const bounded = (step) => Math.min(Math.max(step, 1e-30 * unit), 1e10 * unit)
  const natural = () => bounded(Math.max(largest(here.weights), 1e-6) / Math.max(size(here.slopes), 1e-300))
  let reference = { value: here.value, memory: 0.85, mass: 1 }, next = natural(), used = next, crawls = false

  const move = (crawling) => {
    used = next
    const from = here, target = ontoSimplex(from.weights.map((d, k) => d - used * from.slopes[k]))
    const moved = minus(target, from.weights), slope = dot(from.slopes, moved)
    const unproved = from.value - oracle.bound
    crawls = !crawling && unproved < Infinity && -slope < CRAWL * unproved
    if (crawls) return { accepted: null, last: null }
    const search = segment(oracle, from, target, reference.value, SHARE, slope)
    const predicted = -slope - dot(moved, moved) / (2 * used)
    if (predicted > 0 && search.trials) adapt(reference, (from.value - search.firstValue) / predicted)
    if (search.accepted === null) {
      next = Math.min(used, natural())
      return search
    }
    here = search.accepted
    if (!crawling) kink.left()
    const mass = reference.memory * reference.mass + 1
    reference.value = (reference.memory * reference.mass * reference.value + here.value) / mass
    reference.mass = mass
    const way = minus(here.weights, from.weights), curvature = dot(way, minus(here.slopes, from.slopes))
    next = curvature > 100 * EPS * norm(way) * size(here.slopes) ? bounded(dot(way, way) / curvature) : natural()
    return search
  }
  const leaveKink = (failed) => {
    const promise = failed.last && kink.promise(here.value, failed.last)
    if (!promise) return null
    const search = segment(oracle, here, promise.weights, here.value, PROMISING, promise.bound - here.value)
    if (search.accepted !== null) {
      here = search.accepted
      used = 1
      reference = { value: here.value, memory: reference.memory, mass: 1 }
      kink.left()
    }
    return search
  }

  yield oracle.step(here)
  for (;;) {
    let search = move(false)
    while (search.accepted === null && (used <= natural() || crawls)) {
      const further = leaveKink(search)
      if (further === null && crawls) { search = move(true); continue }
      if (further === null) return yield oracle.step(here)
      search = further
      if (search.accepted === null) yield oracle.step(here)
    }
    yield oracle.step(here)
  }
}

const segment = (oracle, here, target, reference, shortest, slope) => {
  const move = minus(target, here.weights), length = size(move), lost = SHORTEST * Math.max(largest(here.weights), largest(target))
  let trials = 0, firstValue = NaN, last = null
  for (let share = 1; share >= shortest && share * length > lost; share *= 0.5) {
    last = oracle.solve(share === 1 ? target : here.weights.map((d, k) => Math.max(d + share * move[k], 0)))
    if (trials++ === 0) firstValue = last.value
    if (last.value <= reference + SUFFICIENT * share * slope) return { accepted: last, last, trials, firstValue }
  }
  return { accepted: null, last, trials, firstValue }
}

const adapt = (reference, agreement) => {
  if (agreement > 0.9) reference.memory = Math.min(reference.memory + 0.025, 1)
  else if (agreement < 0.1) reference.memory = Math.max(reference.memory - 0.025, 0.1)
}

// Returns the nearest point of the simplex.
const ontoSimplex = (weights) => {
  let total = 0, shift = 0
  ;[...weights].sort((one, other) => other - one).forEach((value, k) => {
    total += value
    if (value > (total - 1) / (k + 1)) shift = (total - 1) / (k + 1)
  })
  return weights.map((value) => Math.max(value - shift, 0))
}

const SOLVERS = { silp, simplemkl, level, spg }

// Yields the start, then one step after the other: `weights`, `objective` (P), `bound` (D), `gap` and SVM `solves` so far,
// `b` and `bias` of the SVM. A problem has kernels, n * n entries each row by row, labels y of -1 and +1, C, maybe
// a `start` (by default equal weights) and Level's `lambda`.
export function* steps(name, problem) {
  const m = problem.kernels.length
  const start = inUnits(Array.from(problem.start ?? Array(m).fill(1), (weight) => Math.max(weight, 0)))
  yield* SOLVERS[name](new Oracle(problem), start)
}
