"""What the experiments of the SPG-GMKL paper have in common: five folds, the price of the weights, and the stop rules.

Its program ends at a duality gap of 1e-3, which is taken for a relative one here, or, for products of kernels, where
the projected gradient's norm is below 0.04, which is 8e-4 of an objective of 50. C was chosen by validation, and is not
told: it is 100 here, and 10 for products, whose kernels have a diagonal of one.
"""

__all__ = ["FOLDS", "NEW_C", "PAPER", "PRODUCT", "PRODUCT_RULE", "RULE", "SETS", "parts"]

PAPER = "Jain, Vishwanathan, Varma, SPG-GMKL: Generalized multiple kernel learning with a million kernels, KDD 2012"
FOLDS = "split=0...4; train=0.8"
SETS = f"data=australian,liver,sonar,breast,pima,wpbc; {FOLDS}"
PRODUCT = f"{SETS}; combination=product; C=10; solvers=pgd,spg"
RULE = "gap=1e-3; max-iter=200"
PRODUCT_RULE = "gap=none; projected-gradient=8e-4; max-iter=200"
NEW_C = {"C = 1": "C=1", "C = 1000": "C=1000"}  # what validation might have chosen


def parts(nonmonotone: bool, spectral: bool) -> str:
    """Return what a table calls PGD with the parts N and S."""
    options = [name for name, on in (("nonmonotone=true", nonmonotone), ("spectral=true", spectral)) if on]
    return f"pgd:{','.join(options)}" if options else "pgd"
