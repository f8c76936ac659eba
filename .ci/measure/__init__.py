"""What whoever works on mklviz measures and tries; what users run is ``mklviz bench``.

``python .ci/measure NAME ...`` runs a module of this folder: class and visits of the dashboard by ``crowd`` and
``sessions``, solvers by ``formulations``, ``fuzz``, ``paths``, ``rules``, ``solvers`` and ``which``. All print tables
by `measure.report`; ``--help`` says what there is to choose.
"""
