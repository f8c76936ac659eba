// All mixes of the kernels in use as a polygon, a corner for each kernel, and the solvers' paths over it.
//
//     place of d = sum of d_k c_k,   c_k the corners;   d of a place p = the mix nearest to  1/m + (C' (C C')^+ p)_k

const SIDES = 12  // places of the objective along a side of the triangle
const MIXES = { radius: 178 }

class MixPicture {
  // `moved(mix, begins)` is told where the start is dragged; `begins` with the first move of a drag
  constructor(moved) {
    this.moved = moved
    this.root = tag("figure", { class: "map" })
    this.picture = svgPart("svg", { role: "group", "aria-label": "The mixes of the kernels in use" })
    this.root.append(this.picture)
    this.names = ""
    this.start = []
    this.ghosts = []
  }

  // -- where a mix is drawn

  lay(m) {
    const turn = m === 3 ? Math.PI * 7 / 6 : m === 4 ? Math.PI * 5 / 4 : m === 2 ? Math.PI : -Math.PI / 2 // a side lies below
    this.corners = Array.from({ length: m }, (_, k) => {
      const angle = m === 3 || m === 4 ? -turn - 2 * Math.PI * k / m : turn + 2 * Math.PI * k / m
      return [MIXES.radius * Math.cos(angle), MIXES.radius * Math.sin(angle)]
    })
  }

  place(mix) { return [0, 1].map((axis) => mix.reduce((total, share, k) => total + share * this.corners[k][axis], 0)) }

  mixAt([x, y]) {
    const m = this.corners.length, [across, up] = [0, 1].map((axis) => this.corners.reduce((total, corner) => total + corner[axis] ** 2, 0))
    return nearestMix(this.corners.map(([cx, cy]) => 1 / m + x * cx / across + (up > 1 ? y * cy / up : 0)))
  }

  // -- drawing

  show({ kernels, start, runs, paths, cursor, best, ground }) {
    const names = kernels.map(({ name }) => name).join("\n")
    if (names !== this.names) this.build(kernels)
    this.names = names
    this.start = start
    if (kernels.length < 2) return
    this.shade(ground)
    this.past.replaceChildren(...this.ghosts.map(({ path, colour }) =>
      svgPart("path", { d: svgLine(path.map((mix) => this.place(mix))), style: `stroke: ${colour}`, "stroke-width": 2 })))
    this.layer.replaceChildren(...runs.flatMap(({ key, colour, dash }) => this.path(paths[key].slice(0, cursor + 1), colour, dash)))
    const [x, y] = this.place(best)
    this.star.setAttribute("transform", `translate(${x} ${y})`)
    const [hx, hy] = this.place(start)
    this.handle.setAttribute("transform", `translate(${hx} ${hy})`)
    const told = kernels.map(({ name }, k) => `${name} ${Math.round(100 * start[k])} %`).join(", ")
    this.handle.setAttribute("aria-valuetext", told)
    this.handle.setAttribute("aria-valuenow", Math.round(100 * start[0]))
  }

  path(mixes, colour, dash) {
    const places = mixes.map((mix) => this.place(mix)), d = svgLine(places), [cx, cy] = places.at(-1)
    return [svgPart("path", { class: "seam", d }),
      svgPart("path", { class: "line", d, style: `stroke: ${colour}`, "stroke-dasharray": dash || "none" }),
      svgPart("circle", { class: "running", r: 5, cx, cy, style: `fill: ${colour}` })]
  }

  build(kernels) {
    this.ghosts = []
    this.shaded = null
    this.picture.replaceChildren()
    this.lay(kernels.length)
    this.picture.setAttribute("viewBox", kernels.length === 3 ? "-240 -208 480 332" : "-260 -216 520 432")
    if (kernels.length < 2) {
      svgPart("text", { class: "corner", "text-anchor": "middle" }, this.picture).textContent = "Two kernels or more make mixes"
      return
    }
    const points = this.corners.map((corner) => corner.map((value) => value.toFixed(1)).join()).join(" ")
    svgPart("polygon", { class: "ground", points }, this.picture)
    this.area = svgPart("g", {}, this.picture)
    svgPart("polygon", { class: "side", points }, this.picture)
    this.corners.forEach(([x, y], k) => {
      const away = Math.abs(x) < 1 || kernels.length === 2 ? "middle" : x > 0 ? "start" : "end", wide = kernels.length > 4
      const text = svgPart("text", { class: "corner", x: wide ? x * 1.06 : x, y: y + (y > 1 ? 22 : -12) }, this.picture)
      text.setAttribute("text-anchor", wide ? away : "middle")
      text.textContent = kernels[k].name
      text.style.fill = kernels[k].colour
    })
    this.past = svgPart("g", { class: "ghosts" }, this.picture)
    this.layer = svgPart("g", { class: "paths" }, this.picture)
    this.star = svgPart("path", { class: "best", d: "M0-11l2.6 7.1 7.6.3-6 4.6 2.1 7.3L0 4.1l-6.3 4.2 2.1-7.3-6-4.6 7.6-.3z" }, this.picture)
    this.hold()
  }

  hold() {
    const { handle, words } = svgHandle(this.picture, "Start of the solvers: arrow keys move it", {
      begin: () => { this.begins = true },
      to: ({ x, y }) => this.go(this.mixAt([x, y])),
      by: (along, up) => {
        const [x, y] = this.place(this.start)
        this.go(this.mixAt([x + along * MIXES.radius, y - up * MIXES.radius]))
      },
    })
    this.handle = handle
    this.words = words
  }

  go(mix) {
    this.moved(mix, this.begins)
    this.begins = false
    this.words.style.display = "none"
  }

  // the objective over three kernels: small triangles, the higher the further from the light colour
  shade(heights) {
    if (heights === this.shaded) return
    this.shaded = heights
    this.area.replaceChildren()
    if (!heights) return
    const low = Math.log(Math.min(...heights)), high = Math.log(Math.max(...heights)), rows = []
    for (let up = 0, at = 0; up <= SIDES; up++) rows.push(heights.slice(at, at += SIDES - up + 1))
    const corner = (up, along) => this.place([SIDES - up - along, along, up].map((part) => part / SIDES))
    const add = (...places) => {
      const mean = places.reduce((total, [up, along]) => total + Math.log(rows[up][along]) / 3, 0), share = (mean - low) / (high - low || 1)
      const points = places.map(([up, along]) => corner(up, along).map((value) => value.toFixed(1)).join()).join(" ")
      svgPart("polygon", { points, class: "shade", style: `fill-opacity: ${(0.75 * share).toFixed(2)}`, "shape-rendering": "crispEdges" }, this.area)
    }
    for (let up = 0; up < SIDES; up++) for (let along = 0; along < SIDES - up; along++) {
      add([up, along], [up, along + 1], [up + 1, along])
      if (along + 1 < SIDES - up) add([up, along + 1], [up + 1, along + 1], [up + 1, along])
    }
  }
}
