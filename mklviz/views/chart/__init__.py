"""Charts: axes, lines and columns of numbers, drawn live by Bokeh or still as SVG."""
