const {start, end} = cb_obj
if (!isFinite(start + end)) return
const {[name]: kept, ...others} = zooms.tags[0] ?? {}
if (cb_obj.have_updated_interactively) zooms.tags = [{...others, [name]: [start, end]}]
else if (kept && !cb_obj.begun && (kept[0] > 0 || cb_obj.scale_hint !== "log")) {
  cb_obj.have_updated_interactively = true
  cb_obj.setv({start: kept[0], end: kept[1]})
} else if (kept) zooms.tags = [others]
cb_obj.begun = true
const zoomed = Object.keys(zooms.tags[0] ?? {}).length > 0
if (zoomed !== told.tags.length > 0) told.tags = zoomed ? ["zoomed"] : []
