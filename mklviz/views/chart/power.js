const power = (value, digits) => {
  const [factor, exponent] = value.toExponential(digits).split("e")
  const raised = [...String(+exponent)].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("")
  return (+factor === 1 ? "" : `${+factor}×`) + `10${raised}`
}
