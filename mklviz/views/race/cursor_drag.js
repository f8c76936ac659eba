// Tells where the mouse is dragged to.
if (cb_obj.origin.toolbar.gestures.pan.active == null) say({ x: [cb_obj.x] })
