"""Pictures of runs, of what they learned and of sweeps, as HoloViews objects.

    import mklviz as mv

    picture = mv.plot.weights(trace) + mv.plot.gap(race.traces)
    mv.plot.save(picture, "level.svg")

They compose with ``+`` (side by side) and ``*`` (one over the other), take further options by ``.opts``, and stand in
a notebook as the last line of a cell: as SVG, some kilobytes without a script. To have them move under the mouse, drawn
by Bokeh, run ``import holoviews; holoviews.extension("bokeh")`` first.
Solvers have the colours they have on the dashboard, for light pages or, with ``dark=True``, for dark ones.

Examples
--------
>>> trace = mv.solve(mv.Problem(mv.KernelBank.build(np.eye(2), "gauss:1,4"), np.array([1.0, -1.0])))
>>> picture = mv.plot.weights(trace)
"""

from mklviz.views.model.decision_pictures import decision
from mklviz.views.model.kernel_pictures import gram, shares, similarity, weights
from mklviz.views.pictures.export import save, show_in_notebooks
from mklviz.views.pictures.run_pictures import gap, segment, simplex
from mklviz.views.pictures.sweep_pictures import plot_growth as growth
from mklviz.views.pictures.sweep_pictures import profile, spread

__all__ = [
    "decision",
    "gap",
    "gram",
    "growth",
    "profile",
    "save",
    "segment",
    "shares",
    "similarity",
    "simplex",
    "spread",
    "weights",
]

show_in_notebooks()
