const gestures = Bokeh.index.find_one(cb_obj.origin)?.canvas_view?.ui_event_bus?.ui_gestures
if (gestures?._start_timeout) gestures._start_timeout = () => {}
