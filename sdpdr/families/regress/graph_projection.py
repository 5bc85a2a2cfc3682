"""The base of linear maps that solve a graph's pencil as well as linear functions can."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.estimators import as_precise, checked
from sdpdr.base.labels import UNKNOWN, as_vector, require_classes, warn_of_mark
from sdpdr.base.parameters import flag_or_word
from sdpdr.families.regress.classes import class_responses
from sdpdr.families.regress.directions import (
    SAMPLES,
    choose_number,
    completed,
    most_tried,
    orthonormal,
    some_of_each,
    spans_quickly,
)
from sdpdr.families.regress.linear import linear_embedding
from sdpdr.families.regress.penalties import ALPHA, choose_ridge, is_quickly_left_out, require_ridge
from sdpdr.families.regress.respond import (
    LABELLED,
    OF_CLASSES,
    Responding,
    Responses,
    checked_target,
    default_dimension,
    kind_of,
)
from sdpdr.families.regress.ridge import LinearMapping, ridge

WAYS = ("regression", "direct")


@dataclass(eq=False, repr=False)
class GraphProjection(Responding):
    r"""Base of linear maps that solve a graph's pencil as well as linear functions can.

    .. math:: X^T W X a = \lambda\, (X^T D X + \gamma I)\, a

    is solved directly (``way="direct"``), or replaced by its responses and a ridge
    (``"regression"``). For labels alone the two find the same columns, of lengths of their own; for
    others they differ as the solutions y of the pencil differ from linear functions. Solutions of
    `LSDA` are far from linear ones, concentrated where classes meet, so that it is solved directly
    unless asked otherwise.

    Parameters
    ----------
    n_components : int, optional
        One less than there are classes for `LDA` and `SDA`, whose pencils have no more. Of the
        others two where there are no labels. With labels `LSDA`, `LPP` and `NPE` choose among one,
        two, four, ... leading directions, at most 64 (those of equal eigenvalues together), and all
        that the data spread along: the largest number with which the nearest other sample is of the
        same class as often as with
        any, up to one standard error. By the labels of at most 2000 samples, two or more of each
        class; the map of these is found twice. `IsoProjection`, which heeds no labels, then keeps
        all. Never more than X has columns.
    n_neighbors : int, default 5
        Of `LSDA`, None: ten, or all others where there are fewer. Of fewer other points, or
        fewer of a class, all are taken, with a ``FewPointsWarning``.
    metric : {"euclidean", "cosine"}, default "euclidean"
        Of the search for neighbours, as for `sdpdr.graphs.knn`.
    weights : {"binary", "heat", "cosine"}, default "binary"
        Of the edges, as for `sdpdr.graphs.edge_weights`: of `LPP`, `SDA` and `LSDA`. The others
        are not made of weights of edges, and refuse any but the default.
    bandwidth : float, optional
        Of ``"heat"``; by default from the lengths of the edges.
    connect : {"none", "mst", "bridges"}, default "none"
        What to do with a graph of several parts: leave it, or add edges between them, as
        `sdpdr.graphs.knn` does. `IsoProjection` needs all points joined: default "bridges".
    alpha : float, "loo" or "auto", default "auto"
        The ridge of either way. ``"loo"`` chooses it by exact leave-one-out: of the regression on
        the responses, or, of the pencil solved directly, of that on the classes, in units of the
        mean degree. Where there is none (a pencil without labels) it is 0.1. ``"auto"`` does so for
        data of up to 2000 samples or columns and ten million entries, and is 0.1 for more.
    smoothing : float, default 0.1
        `SDA`: price of differing from neighbours. `LSDA`: share of repulsion.
    way : {"regression", "direct"}, default "regression"
        Of `LSDA`, "direct". The two differ for `SDA` too, whose responses follow neighbours.
    orthonormal : bool or "auto", default "auto"
        Whether components are made orthonormal, one by one, so that no distance is longer than in
        the data. ``"auto"``: where the number of directions is chosen, since all of them then are a
        turn of the data, and in `IsoProjection`. Otherwise they have the lengths of the pencil, or
        of what the ridge makes of its responses. No class that `LDA` and `SDA` predict depends on
        it.
    random_state : int, RandomState or Generator, default 0
        Of iterations, and of the samples by which the number of directions is chosen.

    Attributes
    ----------
    components_ : array of shape (d, m)
    intercept_ : array of shape (d,)
    eigenvalues_ : array of shape (d,)
        Of the samples' pencil, or of that among linear functions; nan of directions that were not
        solved for, where all are kept.
    n_components_ : int
        Directions kept, d.
    tried_ : tuple of (number, share)
        Where the number was chosen, the shares of samples whose nearest other one is of their
        class. The last is that of the data, if components are orthonormal and all that the data
        spread along are ten million numbers at most; else of all directions solved for. Where
        none was chosen, empty.
    alpha_ : float
        As used.
    n_features_in_ : int

    Raises
    ------
    DataError, ShapeError, DisconnectedGraphError, UnknownNameError
        From `fit`.

    References
    ----------
    Cai thesis, sections 2.2 and 3.1.
    """

    _: KW_ONLY
    alpha: float | str = "auto"
    way: str = "regression"
    orthonormal: bool | str = "auto"

    kind: ClassVar[str]
    # How many directions labels leave where none are asked for: as many as are "chosen" by them,
    # one less than there are "classes", since the pencil has no more, or "all" of the data.
    by_labels: ClassVar[Literal["chosen", "classes", "all"]] = "chosen"

    def fit(self, X: Any, y: Any = None) -> GraphProjection:
        """Learn the map.

        Parameters
        ----------
        X : array_like or sparse array of shape (n, m)
            Sparse data are never made dense: their mean is taken off in products.
        y : array_like of shape (n,), optional
            Labels. `LPP` and `NPE` search neighbours within the classes then.

        Returns
        -------
        self
        """
        return self._learn(X, y)

    def _learn(self, X: Any, y: Any, weights: Array | None = None) -> GraphProjection:
        """`fit`, of samples that may have weights."""
        validate.choice("way", self.way, WAYS)
        self._check_graph()
        require_ridge(self.alpha)
        flag_or_word("orthonormal", self.orthonormal, ("auto",))
        near = self.kind != "classes" and self.metric == "euclidean"
        options: dict[str, Any] = {"accept_sparse": "csr", "ensure_min_samples": 3}
        X = validate.varying(checked(self, X, by_distance=near, **options))
        y = None if y is None else as_vector(y)
        labels = checked_target(y, X.shape[0], instead=self._instead)
        kind_of(labels, self.kind)
        if labels is not None and self.kind != "geodesic":
            require_classes(labels)
        if labels is not None and self.kind in OF_CLASSES:
            warn_of_mark(labels, type(self).__name__)
        self.tried_: tuple[tuple[int, float], ...] = ()
        number = self._number(X, labels)
        self._solve(X, labels, self._tried(X, labels) if number is None else number, weights)
        if self._turns(labels):
            self._turn(X, weights, complete=number is None)
        self.n_components_ = len(self.components_)
        return self

    @property
    def _instead(self) -> str:
        """What to do about labels that are not known."""
        if self.kind == "semisupervised":
            return "mark unknown labels by -1, None, nan or a blank"
        return "drop those samples, or take sdpdr.SDA, which learns of them too"

    def _turns(self, y: np.ndarray | None) -> bool:
        """Whether components are made orthonormal."""
        if not isinstance(self.orthonormal, str):
            return bool(self.orthonormal)
        return self.by_labels == "all" or self._chooses(y)

    def _chooses(self, y: np.ndarray | None) -> bool:
        """Whether the number of directions is to be found by labels."""
        return self.n_components is None and y is not None and self.by_labels == "chosen"

    def _number(self, X: Matrix, y: np.ndarray | None) -> int | None:
        """How many directions are to be kept; None stands for all that the data spread along."""
        if self.n_components is not None:
            return validate.positive_integer("n_components", self.n_components)
        if y is None:
            return default_dimension(None)
        if self.by_labels == "classes":
            known = y[y != UNKNOWN] if self.kind == "semisupervised" else y
            return max(np.unique(known).size - 1, 1)
        return self._choose(X, y) if self._chooses(y) else None

    def _choose(self, X: Matrix, y: np.ndarray) -> int | None:
        """The number that tells labels best, on a part of the samples."""
        rows = some_of_each(y, SAMPLES, validate.seed(self.random_state))
        some, part = X[rows], copy(self)
        most = self._tried(some, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are told of all samples
            part._solve(some, y[rows], most)
        turns = self._turns(y)
        basis, values = part.components_, np.asarray(part.eigenvalues_)
        if turns:
            basis, kept = orthonormal(basis)
            values = values[kept]
        # Where fewer than asked for are independent there are no others.
        total = len(basis) if len(basis) < most else min(some.shape[1], some.shape[0] - 1)
        everything = (some, total) if turns and spans_quickly(X) else None
        found = choose_number(np.asarray(some @ basis.T), y[rows], everything, values)
        self.tried_ = found.tried
        is_all = everything is not None and found.number == total
        return None if is_all else found.number

    def _tried(self, X: Matrix, y: np.ndarray | None) -> int:
        return most_tried(X.shape, default_dimension(y))

    def _solve(
        self, X: Matrix, y: np.ndarray | None, number: int, weights: Array | None = None
    ) -> None:
        """Find so many directions, in the lengths of the pencil."""
        if self.way == "direct":
            self._directly(X, y, number, weights)
            return
        if self.by_labels == "classes":
            found = self._responses(X, y, self.kind, weights)
        else:
            found = self._of_pencil(self._pencil(X, y, self.kind), X, y, number)
        self.alpha_ = self._ridge(X, found.vectors, weights)
        mapping = ridge(X, found.vectors, self.alpha_, weights=found.masses, sample_weight=weights)
        self._keep(X, found, mapping)

    def _keep(self, X: Matrix, found: Responses, mapping: LinearMapping) -> None:
        """Keep what fits the responses found."""
        self.components_, self.intercept_ = mapping.coef.T, mapping.intercept
        self.eigenvalues_ = found.eigenvalues

    def _directly(
        self, X: Matrix, y: np.ndarray | None, number: int, weights: Array | None
    ) -> None:
        pencil, classes = self._pencil(X, y, self.kind, weights), None
        if y is not None and self.kind != "semisupervised":
            classes = class_responses(y, weights)
        total = pencil.n if weights is None else weights.sum()
        self.alpha_ = self._ridge(X, classes, weights, float(pencil.totals.sum() / total))
        found = linear_embedding(X, pencil, self.n_components, self.alpha_, most=number)
        self.components_, self.intercept_ = found.coef.T, -found.mean @ found.coef
        self.eigenvalues_ = found.eigenvalues

    def _turn(self, X: Matrix, weights: Array | None, *, complete: bool) -> None:
        """Make components orthonormal, and those left out by them where all are to be kept."""
        basis, kept = orthonormal(self.components_)
        if self.n_components is not None:
            most, why = len(basis), "since no more of the directions found are independent"
            validate.positive_integer("n_components", len(kept), at_most=most, why=why)
        values = np.asarray(self.eigenvalues_)[kept]
        if complete:
            basis = completed(basis, X)
            values = np.append(values, np.full(len(basis) - values.size, np.nan))
        self.components_, self.eigenvalues_ = basis, values
        share = np.ones(X.shape[0]) if weights is None else weights
        self.intercept_ = -basis @ np.asarray(X.T @ (share / share.sum())).ravel()

    def _ridge(
        self, X: Matrix, responses: Array | None, weights: Array | None, unit: float = 1.0
    ) -> float:
        if not isinstance(self.alpha, str):
            return float(self.alpha)
        chosen = self.alpha == "loo" or is_quickly_left_out(X)
        if responses is None or not chosen:
            return ALPHA
        return unit * choose_ridge(X, responses, sample_weight=weights).alpha

    def transform(self, X: Any) -> Array:
        """Places of points, shape (q, n_components)."""
        check_is_fitted(self, "components_")
        points = checked(self, X, accept_sparse="csr", reset=False)
        return as_precise(points @ self.components_.T + self.intercept_, X)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.kind in LABELLED
        return tags
