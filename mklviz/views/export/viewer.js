// A page that shows the runs of files that are chosen or dropped. They are read here, and sent nowhere.

const KIT = JSON.parse(document.getElementById("data").textContent)

class Refusal extends Error {} // a sentence for people

// -- files

// `room`: what all files together may still take
async function runsOf(file, room) {
  try {
    take(room, "bytes", file.size, file)
    const outer = members(new Uint8Array(await file.arrayBuffer()))
    const inside = [...outer].filter(([name]) => name.endsWith(KIT.suffix))
    if (!inside.length && !outer.has("header.npy")) throw new Refusal(`“${file.name}” holds no runs: choose a file that mklviz has saved.`)
    const packed = inside.length ? inside : [[KIT.suffix, null]]
    const size = inside.reduce((whole, [, member]) => whole + member.size, 0)
    take(room, "runs", packed.length, file)
    take(room, "inside", size, file)
    const runs = await Promise.all(packed.map(async ([name, member]) => (
      runOf(file, name.slice(0, -KIT.suffix.length), member ? members(await unpacked(member)) : outer, room))))
    const begun = runs.filter(Boolean)
    if (!begun.length) throw new Refusal(`No run in “${file.name}” has taken a step yet.`)
    return begun
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(`“${file.name}” is no file of runs, or is damaged: choose one that mklviz has saved.`)
  }
}

function take(room, word, amount, file) {
  room[word] -= amount
  if (room[word] >= 0) return
  const whole = room.files > 1 ? "These files hold more together than can be opened here: choose fewer, or keep each"
    : `“${file.name}” holds more than can be opened here: keep it`
  throw new Refusal(`${whole} with mklviz runs import FILE, and open it in the tab Runs.`)
}

async function runOf(file, key, archive, room) {
  const asked = ["header", ...ARCHIVED].map((name) => archive.get(`${name}.npy`)).filter(Boolean)
  take(room, "unpacked", asked.reduce((whole, { size }) => whole + size, 0), file)
  const { header: said, ...columns } = await arrays(archive, ["header", ...ARCHIVED])
  const header = words(said)
  if (header.format !== KIT.format) throw new Refusal(`“${file.name}” was written by another version of mklviz: open it there.`)
  if (!header.facts.length) return null // it ended before its first step
  return Object.assign(new SavedRun(key, header, columns), { file: file.name })
}

// runs of one problem, each with a key and a label of its own
function together(runs) {
  const posed = ({ recipe }) => JSON.stringify(recipe && [recipe.data, recipe.split, recipe.kernels, recipe.problem])
  const recipes = new Set(runs.filter((run) => run.recipe).map(posed))
  if (new Set(runs.map((run) => run.header.problem)).size > 1 || recipes.size > 1) {
    throw new Refusal("These runs solved different problems, and their objectives cannot be compared: choose runs on one"
      + " problem.")
  }
  const alike = (run) => runs.some((other) => other.label === run.label && other.file !== run.file)
  const labels = runs.map((run) => (alike(run) ? `${run.label}, ${run.file.replace(/\.(zip|npz)$/, "")}` : run.label))
  const keys = numbered(runs.map((run) => run.key)), named = numbered(labels)
  return runs.map((run, place) => Object.assign(run, { key: keys[place], label: named[place] }))
}

// the names, with a number where one comes again
function numbered(names) {
  const taken = new Set()
  return names.map((name) => {
    let own = name
    for (let again = 2; taken.has(own); again++) own = `${name} ${again}`
    taken.add(own)
    return own
  })
}

// -- the page

class SavedView extends RaceView {
  parts() { // what a solver says of a step only the solver knows
    return [this.toolbar(), this.largeFigures(), this.multiples(), this.results(),
      tag("p", { class: "why foot" }, "Arrow keys go from step to step, the space bar plays. Point into a figure to go to a"
        + " place in it. To read what each solver did at a step, open the file in mklviz: mklviz desktop FILE. ",
        this.leftOut)]
  }
}

const main = document.getElementById("race")
const bar = tag("div", { class: "scrubber" })
const place = tag("div", {})
const wrong = tag("p", { class: "wrong", role: "alert" })
const chooser = tag("input", { type: "file", multiple: "", accept: ".zip,.npz", "aria-label": "Files of runs" })
const opener = tag("section", { class: "card opener", "aria-label": "Open a file of runs" }, heading("Drop a file of runs here"), tag("label", {}, "or choose it: ", chooser),
  why("What mklviz run --save, the dashboard’s Export or trace.save wrote. Several files on one problem are shown"
    + " together. They are read on this computer, and sent nowhere."), wrong)
let view = null, latest = 0

async function openFiles(files) {
  const turn = ++latest // what was chosen last is shown, however long each takes
  wrong.textContent = ""
  try {
    new DecompressionStream("deflate-raw")
  } catch {
    wrong.textContent = "This browser cannot unpack files: take one of 2023 or later, or open the file with mklviz desktop FILE."
    return
  }
  main.setAttribute("aria-busy", "true")
  try {
    const most = KIT.most_bytes, room = { files: files.length, runs: KIT.most_runs, bytes: most, inside: most, unpacked: most }
    const read = await Promise.all(Array.from(files, (file) => runsOf(file, room)))
    if (turn === latest) show(together(read.flat()))
  } catch (error) {
    if (turn !== latest) return
    wrong.textContent = error instanceof Refusal ? error.message : "This cannot be shown: choose a file that mklviz has saved."
  } finally {
    if (turn === latest) main.removeAttribute("aria-busy")
  }
}

function show(runs) {
  const data = recording(runs), source = runs[0].recipe?.data.source
  view?.hold()
  view = new SavedView(place, bar)
  view.show(data)
  const named = source && !source.includes(":") ? ` on ${source[0].toUpperCase()}${source.slice(1).replaceAll("_", " ")}` : ""
  document.title = document.querySelector("h1").textContent = `${runs.length > 1 ? "A race" : "A run"}${named}`
  document.querySelector("header p").textContent = runs[0].header.problem
  document.body.append(bar)
  opener.classList.add("again")
}

main.replaceChildren(opener, place)
chooser.addEventListener("change", () => {
  const files = [...chooser.files]
  chooser.value = "" // so that the same file can be chosen again when it has changed
  if (files.length) openFiles(files)
})
document.addEventListener("keydown", (event) => view?.key(event))
for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
  document.addEventListener(name, (event) => {
    event.preventDefault()
    document.body.classList.toggle("dropping", name !== "dragleave" && name !== "drop")
  })
}
document.addEventListener("drop", (event) => { if (event.dataTransfer.files.length) openFiles(event.dataTransfer.files) })
