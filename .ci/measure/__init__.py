"""What developers of mklviz measure and try; what users run is ``mklviz bench``.

``python .ci/measure NAME ...`` runs a module of this folder: the dashboard's visits and races by
``sessions`` and ``streaming``, solvers by ``fuzz``, ``which``, ``recent`` and ``once``, what is kept by ``store`` and
``sweeps``. What the papers counted, ``mklviz reproduce`` measures. All print tables by `measure.report`; ``--help``
says what there is to choose.
"""
