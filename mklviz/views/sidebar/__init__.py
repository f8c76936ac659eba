"""Where a race is set up: data, kernels, problem, solvers, stop rules, run controls."""
