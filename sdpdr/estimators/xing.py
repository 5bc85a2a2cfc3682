"""Xing's metric with scikit-learn's face."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sdpdr.estimators.metric import MetricLearner
from sdpdr.methods import xing
from sdpdr.metric import MetricAnswer, Pairs, answer_of, factor_of, root_bound, solve_xing, whiten
from sdpdr.program import as_dense


class XingMetric(MetricLearner):
    r"""Xing's metric (MMC): similar pairs as near as possible, dissimilar ones apart.

    .. math::  \min_{A \succeq 0} \sum_{S} d_A^2(x_i, x_j) \quad\text{s.t.}\quad
               \sum_{D} d_A(x_i, x_j) \ge 1,

    solved exactly, with a bound that says how exactly; see `sdpdr.methods.xing`.

    Parameters
    ----------
    diagonal : bool, default False
        Learn weights of the features only.
    ridge : float, default 0
        Relative ridge on the scatter of similar pairs; needed where they span fewer directions
        than dissimilar ones (more features than points, or a kernel).
    n_pairs : int, optional
        Of labelled points: so many random pairs of each kind instead of all. All dissimilar pairs
        of some thousand points fill gigabytes.
    kernel : str or callable, optional
        A name of `sklearn.metrics.pairwise.pairwise_kernels`, ``"precomputed"``, or a function.
    kernel_params : dict, optional
    kernel_components : int, optional
        Use so many leading kernel principal coordinates only.
    solver : str or Solver, default "ascent"
        ``"ascent"`` is the iteration of `sdpdr.metric.ascend`; any other is one of `sdpdr.solve`,
        for some hundred dissimilar pairs.
    tol : float, optional
        Relative gap aimed at; by default that of a configured solver, or 1e-6.
    max_iter : int, default 10000
        Of the ascent.
    random_state : int, optional
        Seed; by default that of a configured solver, or 0.

    Attributes
    ----------
    components_ : array of shape (k, D), or (k, n) with a kernel
        L, with :math:`A = L^T L`; rows by falling length.
    value_, bound_, gap_, argument_
        The sum of squared distances of similar pairs, what it cannot fall below, their relative
        difference, and why.
    solution_ : Solution or None
        Of the semidefinite program in whitened coordinates, where `sdpdr.solve` was used.
    pairs_ : Pairs
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of str

    Raises
    ------
    DataError, InfeasibleError
        From `fit`, see `sdpdr.metric.choose_pairs` and `sdpdr.metric.whiten`.

    References
    ----------
    Xing, Ng, Jordan, Russell, "Distance metric learning, with application to clustering with
    side-information", NIPS 15, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import sdpdr
    >>> X, y = load_iris(return_X_y=True)
    >>> learned = sdpdr.XingMetric().fit(X, y)
    >>> learned.gap_ <= 1e-6
    True
    >>> learned.transform(X[:2]).shape[0], learned.get_mahalanobis_matrix().shape
    (2, (4, 4))
    """

    def __init__(
        self,
        *,
        diagonal: bool = False,
        ridge: float = 0.0,
        n_pairs: int | None = None,
        kernel: Any = None,
        kernel_params: Mapping[str, Any] | None = None,
        kernel_components: int | None = None,
        solver: Any = "ascent",
        tol: float | None = None,
        max_iter: int = 10_000,
        random_state: int | None = None,
    ) -> None:
        self.diagonal = diagonal
        self.ridge = ridge
        self.n_pairs = n_pairs
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.kernel_components = kernel_components
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _learn(self, pairs: Pairs) -> MetricAnswer:
        options: dict[str, Any] = {"diagonal": self.diagonal, "ridge": self.ridge}
        if isinstance(self.solver, str) and self.solver == "ascent":
            return solve_xing(pairs, **options, tol=self.tol_, max_iter=self.max_iter)
        model = xing(pairs.points, similar=pairs.similar, dissimilar=pairs.dissimilar, **options)
        # The gap of 1 / g^2 is twice that of g.
        solution = self._solved(model, 0.25)
        white = whiten(pairs, **options)
        r = white.basis.shape[1]
        factor = factor_of(as_dense(solution.values["Z"])[:r, :r])
        lengths = np.linalg.norm(white.differences @ factor, axis=1)
        # Any positive weights give a bound, but a rough solution may have distances of zero.
        weights = np.maximum(lengths, 1e-9 * lengths.max())
        bound = root_bound(white.differences, weights, diagonal=self.diagonal)
        argument = "weights of the dissimilar pairs and one eigenvalue (Cauchy-Schwarz)"
        if solution.bound is not None and solution.bound < bound:
            bound, argument = solution.bound, solution.argument
        return answer_of(white, factor, bound, argument)
