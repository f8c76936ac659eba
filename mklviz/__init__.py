"""mklviz: see how multiple kernel learning solvers behave."""
