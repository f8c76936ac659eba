"""All that the views know of the insides of Panel, Bokeh, Tornado and Jupyter; ``tests/test_host.py`` tests it."""
