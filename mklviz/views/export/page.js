// The page of a recorded race.

const bar = tag("div", { class: "scrubber" })
document.body.append(bar)
const view = new RaceView(document.getElementById("race"), bar)
view.show(JSON.parse(document.getElementById("data").textContent))
document.addEventListener("keydown", (event) => view.key(event))
