// A sentence in the language of the page, which has it by the English one in its HTML; what is in braces is filled in.
function tr(sentence, values = {}) {
  tr.words ??= JSON.parse(document.querySelector("script.mklviz-words")?.textContent ?? "{}")
  const written = (value) => typeof value === "number" ? inLanguage(value.toLocaleString("en-US")) : value
  return (tr.words[sentence] ?? sentence).replace(/\{(\w+)\}/g, (_, name) => written(values[name]))
}
// English numbers in a text as the language of the page writes them.
function inLanguage(text) {
  return text.replace(/(?<=\d)[,.](?=\d)/g, (sign) => tr("1,234.5").at(sign === "," ? 1 : -2))
}
