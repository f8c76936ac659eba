"""Words of the trade in a sentence each, for the page of the glossary."""

from __future__ import annotations

from mklviz.glossary import GLOSSARY

__all__ = ["terms"]

WORDS = {
    "bank": "All kernels of a problem on the same samples.",
    "iterate": "What a solver shows of one step: weights, dual variables, bounds and facts.",
    "moved": "How often the whole weight was moved from some kernels to others.",
    "oscillates": "Weights that move to and fro after their first steps, to no end.",
    "recipe": "Everything that defines a race, as one value: data, kernels, problem, solvers, stop rules.",
    "trace": "The recording of one run, step by step.",
}


def terms() -> dict[str, str]:
    """Return every term with its sentence: the library's own glossary, and what only these pages say."""
    return {**GLOSSARY, **WORDS}
