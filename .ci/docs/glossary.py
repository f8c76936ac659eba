"""Words of the trade in a sentence each, for the page of the glossary."""

from __future__ import annotations

from importlib import import_module, util

__all__ = ["terms"]

WORDS = {
    "kernel in use": "A kernel whose weight is above 1e-8.",
    "bank": "All kernels of a problem on the same samples.",
    "certificate": "Feasible dual variables that prove a lower bound of the optimum.",
    "cut": "A plane below the objective that touches it where an SVM was solved.",
    "dual variable": "One number per sample, a in formulas; above zero it belongs to a support vector.",
    "duality gap": "Best upper bound minus best lower bound, relative to the upper one; certified, and never rising.",
    "step taken in vain": "Movement of the weights that led nowhere: what exceeds the way from the first to the last.",
    "iterate": "What a solver shows of one step: weights, dual variables, bounds and facts.",
    "kernel": "A function of two points that acts as an inner product; its matrix over the samples is K.",
    "kernel weight": "The number that a kernel is multiplied by before the kernels are added; d in formulas.",
    "level": "A value between the bounds; the level method goes to the nearest point where the model reaches it.",
    "loss": "What the function pays for its errors on the samples, times C.",
    "bound": "A value that the optimum is proved not to exceed, or not to fall below.",
    "moved": "How often the whole weight was moved from some kernels to others.",
    "objective": "What is minimised; the value shown is a true upper bound of the optimum.",
    "oscillates": "Weights that move to and fro after their first steps, to no end.",
    "recipe": "Everything that defines a race, as one value: data, kernels, problem, solvers, stop rules.",
    "regularizer": "What the kernel weights may be and what they cost.",
    "simplex": "Weights that are not negative and sum to one.",
    "sparse": "With most kernel weights zero.",
    "support vector": "A sample whose dual variable is not zero.",
    "SVM solve": "One support vector machine solved at fixed weights: the unit in which methods are compared.",
    "trace": "The recording of one run, step by step.",
}


def terms() -> dict[str, str]:
    """Return every term with its sentence: the library's own glossary, and what only these pages say."""
    own = import_module("mklviz.glossary").GLOSSARY if util.find_spec("mklviz.glossary") else {}
    known = {term.casefold() for term in own}
    return {**own, **{term: said for term, said in WORDS.items() if term.casefold() not in known}}
