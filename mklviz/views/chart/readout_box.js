// one box for all figures, in the colours and the type of the page
const EDGE = 8  // pixels between it and the edges of the window
function readoutBox() {
  const known = document.getElementById("mk-readout")
  if (known !== null) return known
  const box = Object.assign(document.createElement("div"), {id: "mk-readout", ariaHidden: "true"})
  document.body.append(box)
  return box
}
function showReadout(box, view, event, look) {
  box.style.cssText = `position: fixed; z-index: 2000; pointer-events: none; padding: 6px 10px; border-radius: 6px;
    left: 0; top: 0; max-width: calc(100vw - 16px);
    font: ${font}; color: ${text}; background: ${card}; border: 1px solid ${border};
    box-sizing: border-box; box-shadow: 0 2px 8px rgba(0, 0, 0, 0.18); ${look}`
  const frame = view.el.getBoundingClientRect(), x = frame.left + event.sx, y = frame.top + event.sy
  const { offsetWidth: width, offsetHeight: height } = box
  const room = innerWidth - width - EDGE, low = innerHeight - height - EDGE
  const beside = [x + 16, x - 16 - width].find((left) => left >= EDGE && left <= room)
  const under = y + 24 <= low ? y + 24 : Math.max(y - 24 - height, EDGE)  // or above, where neither side has room, as on a phone
  box.style.left = `${beside ?? Math.max(room, EDGE)}px`
  box.style.top = `${beside === undefined ? under : Math.max(Math.min(y + 12, low), EDGE)}px`
}
const number = (value, digits) => value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)
  ? power(value, 2) : value.toLocaleString("en-US", {maximumSignificantDigits: digits})
