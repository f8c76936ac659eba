"""The words of the field, each in one sentence: what the dashboard explains in place, and the documentation lists."""

from __future__ import annotations

__all__ = ["GLOSSARY"]

GLOSSARY = {
    "bandwidth": "How far apart two samples may be for a Gaussian kernel still to call them alike.",
    "bound": "A number that the optimum is proved not to exceed (upper) or not to fall below (lower).",
    "C": "What an error on a training sample costs: the larger it is, the closer the fit.",
    "case": "One data set with one split and one choice of settings, on which a sweep compares solvers.",
    "certificate": "Dual variables that prove a lower bound, wherever they come from and however rough they are.",
    "corner": "Weights that are all on one kernel; a single cut is lowest at one of them.",
    "CPU seconds": "Time that the processor spent inside a solver; pauses and drawing do not count.",
    "cut": "A plane that touches the objective at one point and lies below it everywhere, from one solved SVM.",
    "dual variable": "How hard one training sample pushes on the decision, between 0 and C.",
    "duality gap": (
        "The distance between the best objective and the best lower bound found, relative to the objective:"
        " the optimum is certainly no further away."
    ),
    "epoch": "One pass over all training samples.",
    "free support vector": "A sample whose dual variable lies strictly between 0 and C: it is exactly on the margin.",
    "gradient": "The slopes of the objective, one for each kernel weight: by how much it changes with that weight.",
    "iteration": "One step of a method: new kernel weights, and all it solves to get them; the start is iteration 0.",
    "kernel": "A function that says how alike two samples are; all pairs of samples make its matrix.",
    "kernel in use": "A kernel whose weight is not zero, so that predictions need it.",
    "kernel weight": "How much one kernel counts in the sum; finding these weights is what all the methods do.",
    "kink": "A point where the objective has several slopes, as the SVM there has several solutions.",
    "level": "A value between the two bounds: Level moves to the nearest weights where no cut is higher.",
    "level set": "All weights at which no cut is higher than the level.",
    "line search": "Trying points along one direction until one is good enough; each trial is another SVM.",
    "loss": "What the deviation of one prediction from the truth costs.",
    "margin": "The strip around the decision boundary that an SVM tries to keep free of samples.",
    "minimum": "A point from which every small move leads up; a problem that is not convex can have several.",
    "multiple kernel learning": "Finding the weighted sum of kernels, and the SVM with it, that fit the data best.",
    "objective": (
        "The number to be made small: errors on the training samples, times C, plus the size of the function and the"
        " price of the weights."
    ),
    "partly": (
        "The verdict on a claim where our value is on the side that the paper says, but is too small, or its interval"
        " reaches to the other side."
    ),
    "projected gradient": "The slope that is left when moves to weights that are not allowed are taken out of it.",
    "regularization path": "The solutions for many values of C, or another parameter, one after the other.",
    "regularizer": "The rule or price for the kernel weights: it decides whether few or many kernels are used.",
    "simplex": "All weights that are not negative and sum to one; with three kernels it is a triangle.",
    "sparse": "Having weight on few kernels, and exactly none on the others.",
    "spectral step": "A step size read off how the slopes changed during the last move.",
    "step": "The same as an iteration; a step of a line search, which only tries a point, is called a trial.",
    "step size": "How far a method moves; each one measures it in its own way, so compare shapes and not heights.",
    "support vector": "A training sample with a dual variable above zero: the others could be left out.",
    "SVM solve": "Training one support vector machine at fixed kernel weights: what all methods pay with.",
    "SVM tolerance": "How exactly the SVMs are solved: rougher ones are cheaper, and give slopes a little wrong.",
    "test accuracy": "The share of samples that were kept aside which is classified correctly.",
    "undone movement": "Movement of the weights that later movement takes back, so that it has led nowhere.",
    "warm start": "Beginning at the solution of a similar problem instead of from nothing.",
}
"""Sentences by term, in alphabetical order whatever the case."""
