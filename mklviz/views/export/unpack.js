// A file of runs as bytes: a zip archive of arrays as NumPy writes them, or of such archives. Nothing in it is trusted:
// whatever does not fit throws, and no more is unpacked than a member declares.

const ARRAYS = { "<f8": Float64Array, "<i8": BigInt64Array, "<i4": Int32Array, "|u1": Uint8Array }
const DIGITS = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1
  return byte
})

const text = (bytes) => new TextDecoder("utf-8", { fatal: true }).decode(bytes)
const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)

function checksum(bytes) {
  let sum = 0xffffffff
  for (const byte of bytes) sum = DIGITS[(sum ^ byte) & 255] ^ (sum >>> 8)
  return ~sum >>> 0
}

// the members of a zip archive by their names, as they are packed
function members(bytes) {
  const view = viewOf(bytes), found = new Map()
  let end = bytes.length - 22
  while (view.getUint32(end, true) !== 0x06054b50) end--
  let at = view.getUint32(end + 16, true)
  for (let left = view.getUint16(end + 10, true); left; left--) {
    const [sum, packed, size] = [16, 20, 24].map((place) => view.getUint32(at + place, true))
    const [name, extra, comment] = [28, 30, 32].map((place) => view.getUint16(at + place, true))
    const local = view.getUint32(at + 42, true)
    const begin = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true)
    found.set(text(bytes.subarray(at + 46, at + 46 + name)),
      { size, sum, stored: view.getUint16(at + 10, true) === 0, packed: bytes.subarray(begin, begin + packed) })
    at += 46 + name + extra + comment
  }
  return found
}

async function unpacked({ size, sum, stored, packed }) {
  const whole = stored ? packed : new Uint8Array(size)
  if (!stored) {
    let at = 0
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      whole.set(part.value, at) // throws where there is more than was declared
      at += part.value.length
    }
  }
  if (whole.length !== size || checksum(whole) !== sum) throw new Error("a member is damaged")
  return whole
}

// an array of NumPy's format: its shape and its numbers, row by row
function array(bytes) {
  if (!text(bytes.subarray(1, 6)).startsWith("NUMPY")) throw new Error("a member is no array")
  const begin = bytes[6] > 1 ? 12 + viewOf(bytes).getUint32(8, true) : 10 + viewOf(bytes).getUint16(8, true)
  const said = text(bytes.subarray(10, begin))
  const kind = /'descr': '([^']+)'/.exec(said)[1]
  const shape = /'shape': \(([\d, ]*)\)/.exec(said)[1].split(",").filter((size) => size.trim()).map(Number)
  if (/'fortran_order': True/.test(said)) throw new Error("an array is not written row by row")
  const content = bytes.slice(begin).buffer
  if (kind.startsWith("<U")) return { shape, values: new Uint32Array(content) } // words of files from before
  const values = new ARRAYS[kind](content)
  if (values.length !== shape.reduce((whole, size) => whole * size, 1)) throw new Error("an array is cut off")
  return { shape, values: kind === "<i8" ? Float64Array.from(values, Number) : values }
}

// the arrays of an archive that are asked for; those that it does not have are left out
async function arrays(archive, names) {
  const known = names.filter((name) => archive.has(`${name}.npy`))
  const found = await Promise.all(known.map(async (name) => [name, array(await unpacked(archive.get(`${name}.npy`)))]))
  return Object.fromEntries(found)
}

// what a run says of itself in words; JSON of Python has numbers that JSON has not
function words({ values }) {
  const json = values instanceof Uint8Array ? text(values) : Array.from(values, (sign) => String.fromCodePoint(sign)).join("")
  const plain = json.replace(/"(?:[^"\\]|\\.)*"|NaN|-?Infinity/g, (part) => (part[0] === '"' ? part : "null"))
  return JSON.parse(plain)
}
