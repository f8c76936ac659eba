// In the worker of the playground: the kernels of points in the plane, the solvers' paths, and what a step decides.

const GAP = 1e-3, MOST_STEPS = 150, LONGEST = 250  // where a path ends: gap, steps; and milliseconds to an answer
const AXES = { both: [0, 1], x: [0], y: [1] }
const valueOf = {
  gaussian: (width, p, q, axes) => Math.exp(-0.5 * axes.reduce((total, a) => total + (p[a] - q[a]) ** 2, 0) / width ** 2),
  laplacian: (width, p, q, axes) => Math.exp(-axes.reduce((total, a) => total + Math.abs(p[a] - q[a]), 0) / width),
  polynomial: (degree, p, q, axes) => (1 + axes.reduce((total, a) => total + p[a] * q[a], 0)) ** degree,
  linear: (_, p, q, axes) => axes.reduce((total, a) => total + p[a] * q[a], 0),
}

// a kernel on the points, of trace one, and by what it was divided
const kernelOf = ({ family, on, value }, points) => {
  const n = points.length, K = new Float64Array(n * n), of = valueOf[family], axes = AXES[on]
  let trace = 0
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) K[i * n + j] = K[j * n + i] = of(value, points[i], points[j], axes)
    trace += K[i * n + i]
  }
  return { matrix: K.map((entry) => entry / trace), trace }
}

// kernels stay what they are as long as their points and their value do
let pointsNow = "", built = new Map()
const kernelsOf = ({ kernels, points }) => {
  const text = JSON.stringify(points)
  if (text !== pointsNow) built = new Map()
  pointsNow = text
  return kernels.map((kernel) => {
    const name = JSON.stringify(kernel)
    if (!built.has(name)) built.set(name, kernelOf(kernel, points))
    return built.get(name)
  })
}

// goes on with a path, as far as it comes until the answer is due
const goOn = (run) => {
  const until = performance.now() + LONGEST
  while (!run.ended && performance.now() <= until) {
    const { value: step, done } = run.left.next()
    run.ended = done || run.path.push(step) > MOST_STEPS || step.gap <= GAP
  }
}

// the decision at a lattice of places over the picture, row by row from its top
const surfaceOf = ({ points, kernels, reach, places }, scales, { weights, b, bias }) => {
  const held = [...b.keys()].filter((i) => b[i] !== 0), used = kernels.flatMap((kernel, k) => weights[k] > 1e-6
    ? [{ ...kernel, axes: AXES[kernel.on], share: weights[k] / scales[k] }] : [])
  const at = (k) => reach * (2 * k / (places - 1) - 1)
  return Float32Array.from({ length: places * places }, (_, index) => {
    const place = [at(index % places), -at(Math.floor(index / places))]
    let total = bias
    for (const { family, value, axes, share } of used) {
      const of = valueOf[family]
      let part = 0
      for (const i of held) part += b[i] * of(value, points[i], place, axes)
      total += share * part
    }
    return total
  })
}

// the objective on a lattice of the triangle of three kernels, row by row from its foot
const groundOf = (problem, sides) => {
  const oracle = new Oracle(problem), heights = []
  for (let up = 0; up <= sides; up++) for (let along = 0; along <= sides - up; along++) {
    heights.push(oracle.solve([sides - up - along, along, up].map((part) => part / sides)).primal)
  }
  return heights
}

let asked = null, runs = [], posed = "", ground = null
onmessage = ({ data }) => {
  const built = kernelsOf(data), problem = { ...data, kernels: built.map(({ matrix }) => matrix) }
  const anew = data.asked !== asked
  if (anew) runs = data.solvers.map((solver) => ({ solver, path: [], left: steps(solver, problem) }))
  if (anew || data.rests) runs.forEach(goOn)
  asked = data.asked
  const found = Object.fromEntries(runs.map(({ solver, path }) => [solver, path])), whole = runs.every(({ ended }) => ended)
  const path = found[data.seen.solver], step = path[Math.min(data.seen.step, path.length - 1)]
  const pose = JSON.stringify([data.points, data.y, data.C, data.kernels])
  if (pose !== posed) ground = null
  posed = pose
  if (data.rests && data.kernels.length === 3) ground ??= groundOf(problem, data.sides)
  postMessage({ asked, found, whole, surface: surfaceOf(data, built.map(({ trace }) => trace), step), held: step.b, ground })
}
