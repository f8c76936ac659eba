const {x_range, document} = cb_obj.origin ?? cb_obj
for (const model of document.all_models) if (model.x_range === x_range) model.reset.emit()
