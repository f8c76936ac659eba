// What pictures in SVG are made of, a handle in one, and the mixes of kernels with the paths of runs over them.
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
const MOST_DOTS = 40, BANDS = 12 // steps of a path with a dot for each; shades of the objective
// The part of a triangle whose height, linear between its corners, is above a level.
const areaAbove = (corners, level) => {
  const kept = corners.flatMap((one, k) => {
    const other = corners[(k + 1) % 3], share = (level - one.height) / (other.height - one.height), above = one.height > level
    const meets = above === other.height > level ? [] : [one.place.map((value, axis) => value + share * (other.place[axis] - value))]
    return above ? [one.place, ...meets] : meets
  })
  return kept.length ? `${svgLine(kept)}Z` : ""
}

// The mixes of kernels as a polygon, a corner for each kernel, the paths of runs over it, and a start that is dragged.
//
//     place of d = sum of d_k c_k,   c_k the corners;   d of a place p = the mix nearest to  1/m + (C' (C C')^+ p)_k
class MixPicture {
  // `begin` is called before each drag of the start, `to` with the mix that it leads to
  constructor(picture, { begin, to }) { Object.assign(this, { picture, begin, to, names: "" }) }

  // -- where a mix is drawn

  lay(m) {
    const turn = m === 3 ? Math.PI * 7 / 6 : m === 4 ? Math.PI * 5 / 4 : m === 2 ? Math.PI : -Math.PI / 2 // a side lies below
    this.radius = m === 3 ? 260 : 180
    this.corners = Array.from({ length: m }, (_, k) => {
      const angle = m === 3 || m === 4 ? -turn - 2 * Math.PI * k / m : turn + 2 * Math.PI * k / m
      return [this.radius * Math.cos(angle), this.radius * Math.sin(angle)]
    })
  }

  place(mix) { return [0, 1].map((axis) => mix.reduce((total, share, k) => total + share * this.corners[k][axis], 0)) }

  mixAt([x, y]) {
    const m = this.corners.length, [across, up] = [0, 1].map((axis) => this.corners.reduce((total, corner) => total + corner[axis] ** 2, 0))
    return nearestMix(this.corners.map(([cx, cy]) => 1 / m + x * cx / across + (up > 1 ? y * cy / up : 0)))
  }

  // -- drawing

  // `kernels` have a name, a title and maybe a colour; a `step` between two is on the way; `best` is null where it is not
  // drawn, `heights` are the objective on a lattice of the triangle, row by row from its foot
  show({ kernels, start, runs, paths, step, best, heights, ghosts }) {
    const names = kernels.map(({ title }) => title).join("\n")
    if (names !== this.names) this.build(kernels)
    this.names = names
    this.start = start
    if (kernels.length < 2) return
    this.shade(heights)
    const alike = ghosts.filter(({ path }) => path[0]?.length === kernels.length) // those of other kernels have no place here
    this.words.style.display = ghosts.length ? "none" : ""
    this.past.replaceChildren(...alike.map(({ path, colour }) =>
      svgPart("path", { d: svgLine(path.map((mix) => this.place(mix))), style: `stroke: ${colour}`, "stroke-width": 2 })))
    this.layer.replaceChildren(...runs.flatMap((run) => this.path(paths[run.key] ?? [], step, run)))
    this.star.style.display = best ? "" : "none"
    if (best) this.star.setAttribute("transform", `translate(${this.place(best)})`)
    this.handle.setAttribute("transform", `translate(${this.place(start)})`)
    this.handle.setAttribute("aria-valuetext", kernels.map(({ name }, k) => `${name} ${Math.round(100 * start[k])} %`).join(", "))
    this.handle.setAttribute("aria-valuenow", Math.round(100 * start.at(-1)))
  }

  path(mixes, step, { colour, dash }) {
    const points = mixes.map((mix) => this.place(mix)), whole = Math.min(Math.floor(step), points.length - 1), next = points[whole + 1]
    const shown = points.slice(0, whole + 1), style = `stroke: ${colour}`
    if (next) shown.push(points[whole].map((value, axis) => value + (step - whole) * (next[axis] - value)))
    const d = svgLine(shown), [cx, cy] = shown.at(-1) ?? []
    const dots = points.slice(1, whole + 1).slice(points.length <= MOST_DOTS ? 0 : next ? whole : -1) // at least one at the end
    const parts = [svgPart("path", { class: "seam", d }), svgPart("path", { class: "line", d, style, "stroke-dasharray": dash || "none" }),
      ...dots.map(([cx, cy]) => svgPart("circle", { class: "dot", r: 4, cx, cy, style }))]
    return next ? [...parts, svgPart("circle", { class: "running", r: 6, cx, cy, style: `fill: ${colour}` })] : parts
  }

  build(kernels) {
    const three = kernels.length === 3
    this.shaded = null
    this.picture.replaceChildren()
    this.lay(kernels.length)
    this.picture.setAttribute("viewBox", three ? "-290 -290 580 456" : "-260 -216 520 432")
    if (kernels.length < 2) {
      svgPart("text", { class: "corner", "text-anchor": "middle" }, this.picture).textContent = tr("Two kernels or more make mixes")
      return
    }
    const points = this.corners.map((corner) => corner.map((value) => value.toFixed(1)).join()).join(" ")
    svgPart("polygon", { class: "ground", points }, this.picture)
    this.area = svgPart("g", {}, this.picture)
    svgPart("polygon", { class: "side", points }, this.picture)
    this.corners.forEach(([x, y], k) => {
      const side = Math.abs(x) < 1 || kernels.length === 2 ? 0 : Math.sign(x), wide = kernels.length > 4 ? side : three ? -side : 0
      const text = svgPart("text", { class: "corner", x: three ? x + 60 * side : wide ? x * 1.06 : x, y: y + (y > 1 ? 26 : -12) }, this.picture)
      text.setAttribute("text-anchor", ["end", "middle", "start"][wide + 1])
      text.textContent = kernels[k].title
      text.style.fill = kernels[k].colour ?? ""
    })
    this.past = svgPart("g", { class: "ghosts" }, this.picture)
    this.layer = svgPart("g", { class: "paths" }, this.picture)
    this.star = svgPart("path", { class: "best", d: STAR }, this.picture)
    this.hold()
  }

  hold() {
    let begun = false
    const move = (mix) => {
      if (apart(mix, this.start) < 1e-9) return  // held against a corner or a side
      if (!begun) this.begin()
      begun = true
      this.start = mix
      this.to(mix)
    }
    Object.assign(this, svgHandle(this.picture, tr("Start of the solvers: arrow keys move it"), {
      begin: () => { begun = false },
      to: ({ x, y }) => move(this.mixAt([x, y])),
      by: (along, up) => {
        const [x, y] = this.place(this.start)
        move(this.mixAt([x + 1.5 * along * this.radius, y - 1.5 * up * this.radius]))
      },
    }))
  }

  // areas where the objective is above a level, levels closer together near the lowest; they darken one another
  shade(heights) {
    if (heights === this.shaded) return
    this.shaded = heights
    this.area.replaceChildren()
    if (!heights?.length) return
    const sides = (Math.sqrt(8 * heights.length + 1) - 3) / 2, low = Math.min(...heights), high = Math.max(...heights), triangles = []
    const node = (up, along) => ({ height: heights[up * (2 * sides + 3 - up) / 2 + along], place: this.place([sides - up - along, along, up].map((part) => part / sides)) })
    for (let up = 0; up < sides; up++) for (let along = 0; along < sides - up; along++) {
      triangles.push([node(up, along), node(up, along + 1), node(up + 1, along)])
      if (along + 1 < sides - up) triangles.push([node(up, along + 1), node(up + 1, along + 1), node(up + 1, along)])
    }
    for (let k = 1; k < BANDS; k++) {
      const level = low + (high - low) * (k / BANDS) ** 2
      svgPart("path", { class: "shade", d: triangles.map((corners) => areaAbove(corners, level)).join("") }, this.area)
    }
  }
}
// The mixes of three kernels in a figure: plays recorded paths, and draws those from another start.
const playTriangle = (figure, { runs, kernels, paths, best, heights, problem, recorded }, solver) => {
  const [svg, play, status, hint, undo, clear] = ["svg.mixes", ".play", ".said", ".hint", ".undo", ".clear"].map((name) => figure.querySelector(name))
  const STEPS_A_SECOND = 2, STILL = matchMedia("(prefers-reduced-motion: reduce)")
  const corners = kernels.map((name, k) => ({ name, title: tr("kernel {k}: {title}", { k: k + 1, title: name }) }))
  let now = { start: kernels.map(() => 1 / kernels.length), paths, words: hint.textContent, recorded }, former = [], ghosts = []
  let step = 0, playing = false, last = 0, turn = 0  // turned by undoing: answers to what was asked before come too late
  const longest = () => Math.max(...Object.values(now.paths).map((path) => path.length - 1))
  const show = () => {
    const ended = step >= longest()
    picture.show({ kernels: corners, runs, heights, start: now.start, paths: now.paths, step, ghosts, best: ended ? best : null })
    play.textContent = playing ? tr("Pause") : ended ? tr("Play again") : tr("Play")
    const state = playing ? tr("playing") : ended ? tr("up to step {n}", { n: longest() }) : tr("paused")
    status.textContent = now.recorded ? `${now.recorded}; ${state}` : ""
    hint.textContent = now.words
    undo.hidden = !former.length
    clear.hidden = !ghosts.length
  }
  const picture = new MixPicture(svg, {
    begin: () => {  // the paths so far stay as ghosts, once for each drag
      former.push(now)
      ghosts = [...ghosts, ...runs.map(({ key, colour }) => ({ path: now.paths[key] ?? [], colour }))]
    },
    to: (start) => {
      now = { ...now, start }
      playing = false
      show()
      solve(start, turn)
    },
  })
  const solve = solvedPaths({ solver, problem, runs }, ({ about, solved }) => {
    if (about !== turn) return  // they begin where the handle was before
    const paths = Object.fromEntries(runs.map(({ key }) => [key, solved[key].map(({ weights }) => weights)]))
    now = { ...now, paths, words: toldPaths(runs, solved), recorded: "" }
    step = longest()
    show()
    performance.mark("mklviz-paths-drawn")
  })
  undo.addEventListener("click", () => {
    now = former.pop()
    ghosts = ghosts.slice(0, -runs.length)
    turn += 1
    step = longest()
    show()
  })
  clear.addEventListener("click", () => {
    ghosts = []
    former = []
    show()
  })

  // -- playing

  const frame = (time) => {
    if (!playing) return
    if (last === 0 && step === 0) performance.mark("mklviz-path-moves")
    step = Math.min(step + (last ? Math.min(time - last, 100) : 16) / 1000 * STEPS_A_SECOND, longest())
    last = time
    playing = step < longest()
    show()
    requestAnimationFrame(frame)
  }
  const turnPlay = () => {
    playing = !playing
    if (playing && step >= longest()) step = 0
    last = 0
    show()
    requestAnimationFrame(frame)
  }
  play.hidden = false
  play.addEventListener("click", turnPlay)
  if (STILL.matches) step = longest()
  else playing = true
  show()
  requestAnimationFrame(frame)
}
