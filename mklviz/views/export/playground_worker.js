// In the worker of the playground: the kernels of points in the plane, the solvers' paths, and what a step decides.

const GAP = 1e-3, MOST_STEPS = 150, LONGEST = 250  // where a path ends: gap, steps; and milliseconds to an answer
const AXES = { both: [0, 1], x: [0], y: [1] }
const valueOf = {
  gaussian: (width, p, q, axes) => Math.exp(-0.5 * axes.reduce((total, a) => total + (p[a] - q[a]) ** 2, 0) / width ** 2),
  laplacian: (width, p, q, axes) => Math.exp(-axes.reduce((total, a) => total + Math.abs(p[a] - q[a]), 0) / width),
  polynomial: (degree, p, q, axes) => (1 + axes.reduce((total, a) => total + p[a] * q[a], 0)) ** degree,
  linear: (_, p, q, axes) => axes.reduce((total, a) => total + p[a] * q[a], 0),
}

// a kernel between points, of trace one on them, and, once it is asked for, between a lattice over the picture and points
const kernelOf = ({ family, on, value }, points) => {
  const n = points.length, K = new Float64Array(n * n), of = valueOf[family], axes = AXES[on]
  let trace = 0, over = null
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) K[i * n + j] = K[j * n + i] = of(value, points[i], points[j], axes)
    trace += K[i * n + i]
  }
  const beside = (lattice) => {
    const values = new Float32Array(lattice.length * n)
    for (let at = 0, l = 0; l < lattice.length; l++) for (let i = 0; i < n; i++) values[at++] = of(value, points[i], lattice[l], axes) / trace
    return values
  }
  return { matrix: K.map((entry) => entry / trace), over: (lattice) => over ??= beside(lattice) }
}

// kernels stay what they are as long as their points and their value do
let pointsNow = "", built = new Map()
const kernelsOf = ({ kernels, points }) => {
  const text = JSON.stringify(points), former = text === pointsNow ? built : new Map(), names = kernels.map((kernel) => JSON.stringify(kernel))
  pointsNow = text
  built = new Map(names.map((name, k) => [name, former.get(name) ?? kernelOf(kernels[k], points)]))
  return names.map((name) => built.get(name))
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
const surfaceOf = ({ points, reach, places }, built, { weights, b, bias }) => {
  const at = (k) => reach * (2 * k / (places - 1) - 1), n = points.length, held = [...b.keys()].filter((i) => b[i] !== 0)
  const lattice = Array.from({ length: places * places }, (_, index) => [at(index % places), -at(Math.floor(index / places))])
  const surface = new Float32Array(lattice.length).fill(bias)
  built.forEach((kernel, k) => {
    if (weights[k] <= 1e-6) return
    const values = kernel.over(lattice)
    for (let index = 0; index < lattice.length; index++) {
      let part = 0
      for (const i of held) part += b[i] * values[index * n + i]
      surface[index] += weights[k] * part
    }
  })
  return surface
}

// the objective on a lattice of the triangle of three kernels, row by row from its foot
const groundOf = (problem, sides) => {
  const oracle = new Oracle(problem), heights = []
  for (let up = 0; up <= sides; up++) for (let along = 0; along <= sides - up; along++) {
    heights.push(oracle.solve([sides - up - along, along, up].map((part) => part / sides)).primal)
  }
  return heights
}

let asked = null, runs = [], posed = "", ground = null, grounds = 0 // grounds so far, by which a copy is known
onmessage = ({ data }) => {
  const built = kernelsOf(data), problem = { ...data, kernels: built.map(({ matrix }) => matrix) }
  const anew = data.asked !== asked
  if (anew) runs = data.solvers.map((solver) => ({ solver, path: [], left: steps(solver, problem) }))
  if (anew || data.rests) runs.forEach(goOn)
  asked = data.asked
  const solved = Object.fromEntries(runs.map(({ solver, path }) => [solver, path])), whole = runs.every(({ ended }) => ended)
  const path = solved[data.seen.solver], step = path[Math.min(data.seen.step, path.length - 1)]
  const pose = JSON.stringify([data.points, data.y, data.C, data.kernels]), former = ground
  if (pose !== posed) ground = null
  posed = pose
  if (data.rests && data.kernels.length === 3) ground ??= groundOf(problem, data.sides)
  if (ground !== former) grounds++
  postMessage({ asked, solved, whole, surface: surfaceOf(data, built, step), held: step.b, ground, grounds })
}
