"""All that knows the insides of Panel, Bokeh, Tornado and Jupyter: what a page, a frame and a connection are."""
