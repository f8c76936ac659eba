// Runs from files as the data of the figures; as `Recorded.page_data` makes them of traces.

function recording(runs) {
  const bound = Math.max(...finite(runs.map((run) => run.bound)))
  const least = Math.min(...finite(runs.map((run) => run.columns.objective[run.best])))
  const bounded = Number.isFinite(bound) && Number.isFinite(least) && least !== 0
  const kernels = largest(runs), most = Math.max(Math.min(KIT.most_steps, Math.floor(KIT.most_in_all / runs.length)), KIT.fewest)
  const shown = styled(runs).map(({ run, style }) => ({
    ...style, key: run.key, table: `run-${run.key}`, label: run.label, verdict: run.verdict, narration: [],
    status: { ...KIT.statuses[run.header.status], name: run.header.status, reason: run.header.reason },
    milestones: KIT.parts.map((part) => run.milestone(part, least)),
    ...run.data(kept(run.length, most), kernels, bounded ? { bound, least } : { bound: NaN, least: NaN }),
  }))
  const tops = shown.map((run) => Math.max(0, ...kernels.flatMap((_, slot) => run[`w${slot}`])))
  shown.forEach((run, place) => { // each is drawn as high as its figure
    const times = tops[place] > 0 ? Math.max(...tops) / tops[place] : 1
    Object.assign(run, { top: [tops[place]], enlarged: times >= KIT.enlarged ? `zoom ${times.toFixed(0)}×` : "" })
  })
  const { recipe, header } = runs[0], signed = shown.some((run) => run.objective.some((value) => value !== null && value <= 0))
  const goal = bounded ? recipe?.stop.gap : recipe?.stop.projected_gradient
  const noun = recipe?.kernels.combination === "polynomial" ? "parameter" : "kernel"
  return {
    noun, ended: true, boundless: !bounded, parts: KIT.parts, runs: shown, stop: { y: [goal ?? null] },
    squashed: bounded && !signed && squashed(shown.map((run) => run.objective)),
    left_out: leftOut(runs, most), kernels: kernels.map((kernel) => header.kernel_names[kernel] ?? `kernel ${kernel + 1}`),
    weights_title: KIT.weights_titles[noun][Number(kernels.length < runs[0].kernels)],
    ...charts(shown, KIT.charts[Number(signed)][Number(!bounded)], goal),
  }
}

// the kernels of largest weight at the solutions
function largest(runs) {
  const score = runs[0].row(runs[0].best).map((_, k) => Math.max(...runs.map((run) => run.row(run.best)[k])))
  return Array.from(score.keys()).sort((one, other) => score[other] - score[one]).slice(0, KIT.kernels)
}

function kept(length, most) {
  const stride = Math.ceil(length / most)
  const chosen = Array.from({ length: Math.ceil(length / stride) }, (_, place) => place * stride)
  return chosen.at(-1) === length - 1 ? chosen : [...chosen, length - 1]
}

function leftOut(runs, most) {
  const longest = runs.reduce((one, other) => (other.length > one.length ? other : one))
  const shown = kept(longest.length, most).length
  return shown < longest.length
    ? `Of ${count(longest.length)} steps of ${longest.header.label} this page keeps ${count(shown)}.` : ""
}

// each solver in its own colour, dash and marker; one that enters again in others
function styled(runs) {
  const seen = new Map()
  return runs.map((run) => {
    const before = seen.get(run.header.solver) ?? 0, styles = KIT.styles[run.header.solver] ?? KIT.styles[""]
    seen.set(run.header.solver, before + 1)
    const style = styles[before % styles.length]
    return { run, style: run.header.origin ? { ...style, dash: KIT.branch_dash } : style }
  })
}

function charts(runs, described, goal) {
  const { table, colour } = KIT.placeholder
  const own = (mark, run) => ({ ...mark, table: run.table, ...(mark.colour === colour ? { colour: run.colour } : {}),
    ...(mark.marker ? { dash: run.dash, marker: run.marker } : {}) })
  const all = (chart) => ({ ...chart,
    marks: chart.marks.flatMap((mark) => (mark.table === table ? runs.map((run) => own(mark, run)) : [mark])) })
  const named = Object.fromEntries(Object.entries(described.charts).map(([name, chart]) => [name, all(chart)]))
  const [weights] = described.weights
  return { axes: described.axes,
    charts: { ...named, gap: { ...named.gap, beside: goal ? `stop at ${NUMBERS.percent(goal)}` : "" } },
    weights: runs.map((run) => ({ ...weights, title: run.label, marks: weights.marks.map((mark) => own(mark, run)) })) }
}

// whether most curves of objectives lie too flat to be told apart
function squashed(curves) {
  const heights = curves.map((curve) => curve.filter((value) => value > 0).map(Math.log))
  const spread = (values) => (values.length ? Math.max(...values) - Math.min(...values) : Infinity)
  if (Math.max(...heights.map((values) => values.length)) < KIT.squashed.fewest) return false
  const axis = spread(heights.flat())
  const flat = heights.filter((values) => spread(values.slice(values.length >> 1)) < KIT.squashed.flat * axis)
  return 2 * flat.length > heights.length
}
