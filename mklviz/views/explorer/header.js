// Turns the page between what stands in its HTML, Start, Lessons and Claims, and what the server builds. A link that is
// opened in another tab or window, or before the page is loaded, is an ordinary link.
const STANDING = ["start", "lessons", "curve", "claims"]
const WORDS = ["scenario", "claim", "own"]

function navigation({ model, el }) {
  const pages = new BroadcastChannel("mklviz-keep")  // to those of this browser
  const front = document.getElementById("mklviz-front")
  const nav = make("nav", "", { ariaLabel: tr("Pages") })
  const links = Object.fromEntries(model.rows.map(([name, textContent, href]) => {
    const link = make("a", "", { textContent, href })
    link.dataset.page = name
    nav.append(link)
    return [name, link]
  }))
  if (model.shared) {
      const invite = make("a", "class", { target: "_blank", title: tr("Address and code for a class") }, tr("Class"))
      const lead = () => { invite.href = `./class${model.room}` }
      lead()
      model.on("room", lead)
      nav.append(invite)
  }

  const mark = (section) => {
    const open = section === "curve" || section === "explore" && model.lesson ? "lessons" : section
    for (const [name, link] of Object.entries(links)) {
      name === open ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current")
    }
  }
  let asked = model.answered, byKey = false
  window.mklvizTurning = false  // a page whose question was cut off asks again, or not
  const show = (section) => {
    mark(section)
    if (!front) return
    const left = front.contains(document.activeElement)
    front.removeAttribute("aria-busy")
    front.dataset.open = section
    if (left && !STANDING.includes(section)) byKey ? links[section].focus() : document.activeElement.blur()  // for the keys of the race
    front.dispatchEvent(new CustomEvent("mklviz-section"))
  }
  const turn = (section, words = {}) => {
    const before = words.scenario || words.claim || section === "curve" ? "start" : section  // what an address without words opens
    document.cookie = `mklviz-page=${before}; path=/; max-age=31536000; samesite=lax`
    if (STANDING.includes(section)) {
      show(section)
      front.querySelector(".scroll").scrollTop = 0
    } else {
      mark(section)
      if (front?.dataset.open !== section) front?.setAttribute("aria-busy", "true")
    }
    window.mklvizTurning = true  // until it is answered, the server's address is that of another page
    model.send_msg({ section, turn: ++asked, ...words })
  }
  const pressed = (event) => {
    const link = event.composedPath().find((node) => node.dataset?.page)
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    byKey = event.detail === 0
    if (link === links.explore && model.section === "explore" && model.lesson) {
      model.lesson = false  // what is left is this section, and the page writes its address
      return
    }
    history.pushState({}, "", link.getAttribute("href"))
    turn(link.dataset.page, Object.fromEntries(WORDS.filter((name) => link.dataset[name]).map((name) => [name, link.dataset[name]])))
  }
  const back = () => {
    const words = new URLSearchParams(location.search)
    const section = words.get("page") ?? (words.has("scenario") || words.has("claim") ? "explore" : "start")
    if (section in links || STANDING.includes(section)) turn(section)
  }

  const kept = () => {
    document.cookie = `mklviz-keep=${model.keeps ? "yes" : "no"}; path=/; max-age=31536000; samesite=lax`
    pages.postMessage(model.keeps)
  }
  pages.onmessage = ({ data }) => { if (model.keeps !== data) model.keeps = data }

  nav.addEventListener("click", pressed)
  front?.addEventListener("click", pressed)
  addEventListener("popstate", back)
  model.on("keeps", kept)
  // the answer comes when the views of what was asked for stand; what was asked for before is nobody's wish any more
  const answered = () => {
    if (model.answered !== asked) return
    window.mklvizTurning = false
    dispatchEvent(new CustomEvent("mklviz-turned"))
    show(model.section)
  }
  for (const name of ["section", "answered"]) model.on(name, answered)
  model.on("lesson", () => { if (model.answered === asked) mark(model.section) })
  model.on("remove", () => {
    front?.removeEventListener("click", pressed)
    removeEventListener("popstate", back)
    window.mklvizTurning = false
    pages.close()
  })
  el.append(nav)
  front?.querySelector(".bar")?.remove()  // which the links have taken the place of
  show(model.section)
}

// The list of what keys do, in a dialog. Being on every page, it also tells what covers one of its colours.
const typing = (target) => ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) && target.type !== "range"
  && target.type !== "checkbox" && target.type !== "radio" || target.isContentEditable

function keyHelp({ model, el }) {
  const opener = make("button", "open", { type: "button", title: tr("What the keys do (?)"), ariaHasPopup: "dialog" }, tr("Keys"))
  const close = make("button", "close", { type: "button", autofocus: true }, tr("Close"))
  const list = make("dl", "", {}, ...model.rows.flatMap(([keys, does]) => [
    make("dt", "", {}, ...keys.split(/( |, )/).map((key) => key.trim() && key !== ", " ? make("kbd", "", {}, key) : key)),
    make("dd", "", {}, does),
  ]))
  const dialog = make("dialog", "", {}, make("h2", "", { id: "keys-title" }, tr("Keys")), list, close)
  dialog.setAttribute("aria-labelledby", "keys-title")
  const open = () => { if (!dialog.open) dialog.showModal() }
  opener.addEventListener("click", open)
  close.addEventListener("click", () => dialog.close())
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close() })  // beside it
  const pressed = (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || typing(event.composedPath()[0])) return
    event.preventDefault()
    open()
  }
  document.addEventListener("keydown", pressed)
  model.on("remove", () => document.removeEventListener("keydown", pressed))
  el.append(opener, dialog)

  const front = document.getElementById("mklviz-front")  // covers the page, or is Start
  const painted = () => {
    if (!front) return
    front.dataset.projected = model.projected ? "yes" : "no"
    if (!front.dataset.dark && mklvizDark && !model.dark) return  // the server's figures are still light
    front.dataset.dark = model.dark ? "yes" : "no"
  }
  for (const name of ["dark", "projected"]) model.on(name, painted)
  painted()
}
