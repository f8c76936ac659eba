"""How kernels are made from samples: checked, normalised, decomposed, and kept in the way that suits them."""
