"""What the estimators share: a bank of kernels from X, a problem, a solve, and the function it ends with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from mklviz.contract import Iterate, Solver
from mklviz.engine import solve
from mklviz.errors import KernelError, ProblemError
from mklviz.inner.choice import is_solved
from mklviz.kernels import Bank, KernelFamily, Nystrom
from mklviz.kernels.evaluation.checks import checked_weights
from mklviz.kernels.interface import Access, dense, refuse_masked
from mklviz.kernels.storage.disk import dask_table, is_dask
from mklviz.learn._banks import (
    AUTO,
    PRECOMPUTED,
    build_bank,
    kernel_values,
    normalization,
    refuse_list,
    refuse_other_kernels,
    with_names,
)
from mklviz.learn._callbacks import CallbackSupportMixin, Steps, with_steps
from mklviz.learn._function import from_plain, to_plain
from mklviz.learn._progress import Report, warn
from mklviz.numbers import is_whole
from mklviz.problem import Loss, OneAgainstAllHinge, Problem, Regularizer
from mklviz.problem.predict import Function
from mklviz.quoting import table
from mklviz.recipe.words import read_loss, read_regularizer
from mklviz.record import Trace
from mklviz.typing import Array, Indices

if TYPE_CHECKING:
    from mklviz.learn.kernel import LearnedKernel

T = TypeVar("T")

MOST_BLIND = 0.1  # squares off the diagonal, relative to those on it
MOST_SHOWN = 10  # kernels in the HTML representation

PARAMETERS = """kernels : str, KernelFamily, callable, sequence of these or "precomputed"
        Which kernels, in words such as ``"gauss:2^-3...2^6@each poly:1...3"``, as families, such as ``mv.Gaussian()``,
        or "paper": Gaussians 2^-3 ... 2^6 and polynomials 1 ... 3, on all and on each feature. They expect standardized
        features. Functions k(X, Z) of two tables, such as scikit-learn's ``RBF()``, are kernels, too, and all may stand
        in a list. "precomputed": X holds kernel values, (points, training points, kernels), or as `KernelTransformer`
        makes them.
    loss : str or Loss
        In words, such as "logistic" or "epsilon-insensitive:epsilon=0.2", or an object; C takes the place of its own.
    regularizer : str or Regularizer
        Of the kernel weights, in words, such as "simplex" or "lp-ball:p=1.5", or an object.
    solver : str or Solver
        "auto" takes the one that `mv.recommend` names; else a name, with options as in "pgd:spectral=true".
    C : float
        Weight of the loss, as elsewhere in scikit-learn.
    normalize : "auto", "diagonal", "mean-diagonal", "trace" or "none"
        Scaling of each kernel: every entry of its diagonal is one, or their mean, or their sum, as in the papers, where
        C = 100 is what C = 100/n is elsewhere; sample weights count as repetitions. "auto" is "diagonal" for classes
        on features, and "mean-diagonal" for numbers, for precomputed kernels, and where a kernel is zero at the origin,
        as linear ones are.
    approximation : "auto", None or Nystrom
        Whether kernels are approximated by landmarks. "auto" does it on more than 20,000 samples, or if the kernels do
        not fit into memory, and warns; up to there, above some 8,000 samples, kernels are computed row by row.
    repair : "clip", "flip" or "shift", optional
        What is done to negative eigenvalues of precomputed kernels, see `KernelBank.from_grams`.
    tol : float
        Relative certified duality gap to stop at.
    max_iter : int
        Steps to stop at.
    random_state : int, RandomState or None
        Seed of solvers and landmarks that draw; None is 0.
    warm_start : bool
        Whether a fit begins at the solution of the last one, if samples and kernels are as many.
    n_jobs : int or None
        Threads that share long computations on large banks, -1 for all cores; the result is the same bit for bit.
    verbose : int
        1 says how far a fit is, in a terminal or notebook."""


ATTRIBUTES = """weights_ : (m,) array
        Kernel weights.
    kernel_names_ : list of str
    trace_ : Trace
        Every step of the solver.
    dual_coef_ : (1, s) array, or (c, s) array with c > 2 classes
        Signed dual variables of the support vectors.
    support_ : (s,) array of int
        The support vectors' places among the samples.
    support_vectors_ : (s, d) array
        The points there; not of precomputed or approximate kernels, which need none.
    n_support_ : (1,) or (c,) array of int
        Support vectors; of a classifier those of each class.
    kernel : LearnedKernel
        ``kernel(X, Z)`` is the weighted sum of the kernels, also for ``SVC(kernel=...)``, `KernelPCA` and
        `GaussianProcessRegressor`.
    intercept_ : (1,) or (c,) array
    n_iter_ : int
        Steps taken, the start counted.
    notes_ : list of str
        What is to be known of the kernels, such as that they are approximate.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X has names of columns."""


FITTED = (
    *("trace_", "weights_", "kernel_names_", "support_", "n_support_", "dual_coef_", "intercept_", "n_iter_", "notes_"),
    "calibration_",
)


def _blind(problem: Problem, best: Iterate, matrices: bool) -> tuple[str, ...]:
    """Return a warning for a learned kernel that is almost the identity, by its squares over its trace's."""
    if problem.bank.access != "matrix" or not best.weights.any():
        return ()
    K = problem.bank.combine(best.weights)
    if problem.n * float(np.vdot(K, K)) > (1.0 + MOST_BLIND) * float(np.trace(K)) ** 2:
        return ()
    scaled = "standardize the features, as in make_pipeline(StandardScaler(), ...), or take wider kernels"
    what = "The learned kernel finds no two samples alike, so it says next to nothing of new ones"
    return (f"{what}: {'take other kernels' if matrices else scaled}.",)


def _made(given: Any, kind: Any, read: Callable[[str], T], sentence: str) -> T:
    """Return what is given in words or made, or raise `ProblemError`."""
    if isinstance(given, kind):
        made: T = given
        return made
    if not isinstance(given, str):
        raise ProblemError(f"{sentence}, not as {given!r:.80}.")
    return read(given)


@dataclass(eq=False, repr=False)
class _Parameters(BaseEstimator):
    """What every estimator is told; descendants that are told more are dataclasses, too."""

    kernels: str | KernelFamily | Sequence[KernelFamily] = "paper"
    _: KW_ONLY
    loss: str | Loss = "auto"
    regularizer: str | Regularizer = "simplex"
    solver: str | Solver = "auto"
    C: float = 1.0
    normalize: str = "auto"
    approximation: Nystrom | str | None = "auto"
    repair: str | None = None
    tol: float = 1e-2
    max_iter: int = 500
    random_state: Any = None
    warm_start: bool = False
    n_jobs: int | None = None
    verbose: int = 0


class MKLEstimator(CallbackSupportMixin, _Parameters):
    """State, `fit` and decisions of the estimators."""

    _steps: Steps  # while it is being fitted

    _kept: Indices | None = None  # samples with weight, where some have none: the estimator knows only these
    _given: int = 0  # samples of the last fit, those without weight among them

    # -- what the parameters stand for

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == PRECOMPUTED

    def _loss(self, auto: str, C: float) -> Loss:
        """Return the loss with this C, the one called `auto` where none is chosen."""
        loss = auto if self.loss == "auto" else self.loss
        return replace(_made(loss, Loss, read_loss, 'A loss is given in words or made, "logistic" or Logistic()'), C=C)

    def _regularizer(self) -> Regularizer:
        given = 'A regularizer is given in words or made, "lp-ball:p=1.5" or LpBall(1.5)'
        return _made(self.regularizer, Regularizer, read_regularizer, given)

    def _seed(self) -> int:
        if self.random_state is None or is_whole(self.random_state):
            return int(self.random_state or 0)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    # -- fitting

    @with_steps
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from samples `X`, a table with a row per sample, and their classes or values `y`.

        Parameters
        ----------
        X, y
            As above; a detector of outliers does not use y.
        sample_weight : (n,) array or float, optional
            What C is multiplied by for each sample, besides the weight of its class; samples of weight zero are left
            out.

        Raises
        ------
        ProblemError, KernelError, UnknownName
            With a sentence, if the data do not fit the kernels or the loss. All are also `ValueError`.
        """
        X, targets, weights = self._posed(X, y, sample_weight)
        self._learn(X, targets, self._posed_loss(self.C), self._regularizer(), weights)
        return self

    def _calibrate(self, X: Array, targets: Array, weights: Array | None) -> None:
        """Learn probabilities, where they are asked for."""

    def _posed(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
        """Return X, what the loss expects for y, and the weights of the samples that have any."""
        raise NotImplementedError

    def _posed_loss(self, C: float) -> Loss:
        """Return the loss with this C, or say why it does not fit what `_posed` was given."""
        raise NotImplementedError

    def _labels(self, targets: Array) -> Any:
        """Return y from what the loss expects."""
        return targets

    def _coded(self, labels: Any) -> Array:
        """Return what the loss expects for y."""
        return np.asarray(labels)

    def _weighed(self, targets: Array, weights: Array | None) -> Array | None:
        """Return what each sample counts, None where all count alike."""
        return weights

    def _checked(self, X: Any, y: Any = None, **rules: Any) -> Any:
        """Return X, and y where it is given, as arrays of numbers that fit the estimator."""
        if is_dask(X) and not self._precomputed:
            return self._checked_lazily(X, y, **rules)
        if self._precomputed and rules.get("reset", True):
            refuse_list(X)
        if not self._precomputed and len(getattr(X, "shape", ())) == 3:
            raise KernelError(f'X of shape {X.shape} is no table of samples; for kernel values: kernels="precomputed".')
        targets = {} if y is None and rules.get("reset") is False else {"y": y}
        refuse_masked(X, "X")  # scikit-learn drops the mask
        X = with_names(X)
        rules |= {"dtype": np.float64, "order": "C", "allow_nd": self._precomputed, "accept_sparse": "csr"}
        checked = validate_data(self, X, **targets, **rules)
        return (dense(checked[0]), checked[1]) if isinstance(checked, tuple) else dense(checked)

    def _checked_lazily(self, X: Any, y: Any, reset: bool = True, y_numeric: bool = False, **rules: Any) -> Any:
        """Return a Dask array of samples that fits the estimator, no entry of which is read, and y as an array."""
        if y is not None:
            y = validate_data(self, y=np.asarray(y), y_numeric=y_numeric)
        known = X._meta if hasattr(X, "columns") else X
        validate_data(self, known, **({"y": y} if reset else {}), reset=reset, skip_check_array=True)
        table = dask_table(X)
        rules |= {"dtype": None, "ensure_all_finite": False, "input_name": "X", "estimator": self}
        check_array(np.broadcast_to(0.0, table.shape), **rules)  # takes no memory: the shape alone is looked at
        if y is None:
            return table
        check_consistent_length(table, y)
        return table, y

    def _counted(self, X: Array, y: Array, sample_weight: Any) -> tuple[Array, Array, Array | None]:
        """Return the samples that have weight, their targets, and their weights, None where all count alike."""
        weights = checked_weights(sample_weight, len(y))
        self._kept, self._given = None, len(y)
        if weights is None or weights.all():
            return X, y, weights
        self._kept = rows = np.flatnonzero(weights)
        return self._among(X, rows, rows), y[rows], weights[rows]

    def _among(self, X: Array, rows: Indices, columns: Indices) -> Array:
        """Return the samples `rows`, or the kernel values that were given between them and the samples `columns`."""
        if not self._precomputed:
            return X[rows]
        every = kernel_values(X, len(X))
        return np.moveaxis(every[:, rows][:, :, columns], 0, -1)

    def _bank(self, X: Array, weights: Array | None, seed: int, report: Report) -> tuple[Bank, tuple[str, ...]]:
        names = getattr(self, "feature_names_in_", None)
        named = None if names is None else names.tolist()
        auto = isinstance(self.normalize, str) and self.normalize == AUTO
        normalize = normalization(self.kernels, is_classifier(self), X.shape[1]) if auto else self.normalize
        approximation, loss = self.approximation, self._suited(self._posed_loss(1.0), "factors")
        if isinstance(approximation, str) and approximation == AUTO and not is_solved(loss, "factors"):
            approximation = None
        arguments = self.kernels, X, named, normalize, approximation
        return build_bank(*arguments, seed, report.building, weights, self.repair)

    def _suited(self, loss: Loss, access: Access) -> Loss:
        """Return the loss, or, where none was chosen for several classes and K_d is never formed, one against all."""
        if self.loss != AUTO or not loss.multiclass or is_solved(loss, access):
            return loss
        return OneAgainstAllHinge(loss.C)

    def _learn(self, X: Array, targets: Array, loss: Loss, regularizer: Regularizer, weights: Array | None) -> None:
        """Build the kernels, solve the problem and keep what was learned."""
        report, seed, weighed = Report(type(self).__name__, self.verbose), self._seed(), self._weighed(targets, weights)
        bank, notes = self._bank(X, weighed, seed, report)
        if bank.access == "factors" and self.approximation == AUTO:  # a warning says it, once
            warn(" ".join(notes))
        else:
            for note in notes:
                report.ended(note)
        self._calibrate(X, targets, weights)  # before the steps that callbacks are told of
        problem = Problem(bank, targets, self._suited(loss, bank.access), regularizer, weighed)
        start, threads = self._start(problem), effective_n_jobs(self.n_jobs)
        limits: dict[str, Any] = {"gap": self.tol, "max_iter": self.max_iter, "stop": [self._steps]}

        def stepped(trace: Trace) -> None:
            report.solving(trace)
            self._steps.step(trace, lambda: self._learned_by(problem, trace))

        trace = solve(problem, self.solver, seed=seed, progress=stepped, start=start, threads=threads, **limits)
        report.ended(f"{trace.label}: {trace.reason}")
        blind = _blind(problem, trace.best, self._precomputed)
        self._keep(problem, trace, (*notes, *blind))
        for note in blind:
            warn(note)
        if trace.status == "limit":
            gap, at_limit = trace.gap_at(len(trace) - 1), trace.last_step >= self.max_iter
            larger = f" Raise tol above the gap, {gap:.2g}." if np.isfinite(gap) else ""
            helps = " Raise max_iter or tol." if at_limit else f"{larger} Another solver may come closer."
            warn(f"{trace.reason}{helps}", ConvergenceWarning)

    def _learn_quietly(self, X: Array, targets: Array, weights: Array | None) -> None:
        """Learn as a part of a larger fit, which warns and reports; then take arrays without names."""
        weighed, seed = self._weighed(targets, weights), self._seed()
        bank, _ = self._bank(X, weighed, seed, Report("", 0))
        loss = self._suited(self._posed_loss(self.C), bank.access)
        problem = Problem(bank, targets, loss, self._regularizer(), weighed)
        self._keep(problem, solve(problem, self.solver, self.tol, self.max_iter, seed=seed))
        self.__dict__.pop("feature_names_in_", None)

    def _start(self, problem: Problem) -> Iterate | None:
        """Return the last solution if a warm start can use it."""
        if not (self.warm_start and hasattr(self, "trace_")):
            return None
        last = self.trace_.best_start
        fits = len(last.weights) == problem.m and last.dual.shape == problem.loss.dual_shape(problem.y)
        return last if fits else None

    def _learned_by(self, problem: Problem, trace: Trace) -> dict[str, Any]:
        """Return the fitted state that a trace ends with."""
        one = clone(self)
        vars(one).update(self._known("_kept", "classes_", "calibration_"))
        one._keep(problem, trace)
        return one._known("_function", "offset_", *FITTED)

    def _known(self, *names: str) -> dict[str, Any]:
        """Return those of its attributes that it has by now."""
        return {name: vars(self)[name] for name in names if name in vars(self)}

    def _keep(self, problem: Problem, trace: Trace, notes: tuple[str, ...] = ()) -> None:
        """Keep what a trace ends with as the fitted state."""
        best = trace.best
        predictor = problem.predictor(best.weights, best.dual)
        support, self._function = predictor.support, predictor.function
        self.trace_ = trace
        self.weights_ = best.weights
        self.kernel_names_ = list(problem.bank.names)
        self.support_ = support if self._kept is None else self._kept[support]
        self.n_support_ = self._counts(problem.y[support])
        self.dual_coef_ = np.atleast_2d(problem.loss.signed(best.dual, problem.y)[support].T)
        self.intercept_ = np.atleast_1d(np.asarray(predictor.bias, dtype=np.float64))
        self.n_iter_ = len(trace)  # the start, which is solved like the others, counts
        self.notes_ = list(notes)

    def _counts(self, targets: Array) -> Indices:
        """Return how many samples of such targets there are, by class where there are any."""
        return np.array([len(targets)])

    @property
    def support_vectors_(self) -> Array:
        """The support vectors, (s, d)."""
        check_is_fitted(self, "weights_")
        points: Array | None = getattr(self._function.part, "points", None)
        if points is None:
            raise AttributeError("Precomputed and approximate kernels keep no points: take X[estimator.support_].")
        return points

    @property
    def kernel(self) -> LearnedKernel:
        """The learned kernel, a function of two tables of points."""
        from mklviz.learn.kernel import LearnedKernel  # scikit-learn's Gaussian processes take a moment to import

        check_is_fitted(self, "weights_")
        names = getattr(self, "feature_names_in_", None)
        return LearnedKernel(self._function, None if names is None else tuple(names))

    # -- deciding

    def decision_parts(self, X: Any) -> Array:
        """Return what each kernel adds to the learned function at points `X`, (m, n), or (m, n, c) with c classes.

        Their sum and `intercept_` are the learned function.

        Examples
        --------
        >>> import mklviz as mv
        >>> data = mv.load_dataset("iris")
        >>> model = mv.MKLClassifier("gauss:1@each").fit(data.X, data.y)
        >>> model.decision_parts(data.X).shape
        (4, 150, 3)
        """
        new = np.asarray(self._new_points(X), dtype=np.float64)
        return self._function.split(new)

    def kernel_shares(self, X: Any, y: Any = None) -> Array:
        """Return each kernel's share of the learned function at points `X`, (m,), or of a regressor's score there.

        The share of the function is its part's covariance with it over its variance; they sum to one, or are zero where
        the function is constant. With `y` (n,) of a regressor it is the product measure of R², ``f_k'(2 y - f) / y'y``
        with y and f less the mean of y; they and the intercept's sum to `score`. A share below zero is one that others
        make up for.

        Examples
        --------
        >>> import mklviz as mv
        >>> data = mv.load_dataset("iris")
        >>> shares = mv.MKLClassifier("gauss:1@each").fit(data.X, data.y).kernel_shares(data.X)
        >>> round(float(shares.sum()), 6)
        1.0
        """
        parts = self.decision_parts(X)
        if y is not None and not is_regressor(self):
            raise ProblemError("The score of a classifier is no sum over kernels: leave y out for shares of decisions.")
        if y is None:
            parts = parts - parts.mean(axis=1, keepdims=True)
            against = parts.sum(axis=0)
            whole = float(np.vdot(against, against))
        else:
            truth = column_or_1d(y, dtype=np.float64)
            check_consistent_length(X, truth)
            middle = truth.mean()
            truth = truth - middle
            against = 2.0 * truth - (parts.sum(axis=0) + self.intercept_ - middle)
            whole = float(truth @ truth)
        return np.asarray(np.tensordot(parts, against, against.ndim) / (whole or 1.0))

    def _decide(self, X: Any) -> Array:
        """Return the learned function at new points."""
        return self._at(X, Function.__call__)

    def _at(self, X: Any, what: Callable[[Function, Array], Array]) -> Array:
        """Return what is asked of the learned function at new points; those of a Dask array come block by block."""
        new = self._new_points(X)
        if isinstance(new, np.ndarray):
            return what(self._function, new)
        rules: dict[str, Any] = {"dtype": np.float64, "order": "C", "ensure_min_samples": 0}
        blocks = (check_array(block.compute(), **rules, input_name="X", estimator=self) for block in new.blocks)
        return np.concatenate([what(self._function, block) for block in blocks])

    def _new_points(self, X: Any) -> Any:
        """Return new points, or kernel values of them, as the learned function takes them."""
        check_is_fitted(self, "weights_")
        m, n = self._function.part.bank_shape
        count = n if self._kept is None else self._given
        if self._precomputed:
            refuse_other_kernels(X, count, m, getattr(self, "n_features_in_", 0) == count * m)
        new = self._checked(X, reset=False)
        if self._precomputed:
            new = kernel_values(new, count)
            new = new if self._kept is None else new[:, :, self._kept]
        return new

    # -- what others see

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = True
        tags.input_tags.three_d_array = self._precomputed
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Return the state as arrays, words and numbers, so that files of it need no trust in other classes."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "_function" in state:
            state["_function"] = to_plain(state["_function"])
        if isinstance(state.get("trace_"), Trace):
            buffer = BytesIO()
            state["trace_"].save(buffer)
            state["trace_"] = np.frombuffer(buffer.getvalue(), dtype=np.uint8)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "_function" in state:
            state["_function"] = from_plain(state["_function"])
        if isinstance(state.get("trace_"), np.ndarray):
            state["trace_"] = Trace.load(BytesIO(state["trace_"].tobytes()))
        super().__setstate__(state)

    def _html_repr(self) -> str:
        """Return scikit-learn's picture of the estimator, and below it the largest kernel weights."""
        picture = str(super()._html_repr())
        if not hasattr(self, "weights_"):
            return picture
        largest = np.argsort(-self.weights_, kind="stable")[:MOST_SHOWN]
        rows = [(self.kernel_names_[k], f"{self.weights_[k]:.3g}") for k in largest if self.weights_[k] > 0.0]
        in_use = int(np.count_nonzero(self.weights_))
        title = f"{in_use:,} of {len(self.weights_):,} kernels have weight"
        if len(rows) < in_use:
            title += f"; the largest {len(rows)}"
        return picture + table(title, ("kernel", "weight"), rows)
