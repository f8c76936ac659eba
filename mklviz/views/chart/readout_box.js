// one box for all figures, in the colours and the type of the page
function readoutBox() {
  const found = document.getElementById("mk-readout")
  if (found !== null) return found
  const box = Object.assign(document.createElement("div"), {id: "mk-readout", ariaHidden: "true"})
  document.body.append(box)
  return box
}
function showReadout(box, view, event, look) {
  box.style.cssText = `position: fixed; z-index: 2000; pointer-events: none; padding: 6px 10px; border-radius: 6px;
    font: ${font}; color: ${text}; background: ${card}; border: 1px solid ${border};
    box-shadow: 0 2px 8px rgba(0, 0, 0, 0.18); ${look}`
  const frame = view.el.getBoundingClientRect()
  const left = frame.left + event.sx, right = left + 16 + box.offsetWidth > innerWidth
  box.style.left = `${right ? left - 16 - box.offsetWidth : left + 16}px`
  box.style.top = `${Math.min(frame.top + event.sy + 12, innerHeight - box.offsetHeight - 8)}px`
}
const number = (value, digits) => value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)
  ? power(value, 2) : value.toLocaleString("en-US", {maximumSignificantDigits: digits})
