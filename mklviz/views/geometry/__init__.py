"""The geometry of a race in numbers: where weights lie on a map, how high the objective is there, what cuts leave."""
