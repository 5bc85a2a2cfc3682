"""Discriminant analysis: projections learned from classes, and the class of the nearest mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin
from sklearn.metrics import pairwise_distances_argmin

from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError
from sdpdr.base.labels import (
    UNKNOWN,
    as_vector,
    marked,
    require_classes,
    require_known,
    unknown,
    warn_of_many,
    warn_of_signs,
)
from sdpdr.base.weights import weighing
from sdpdr.families.regress.projections import GraphProjection
from sdpdr.families.regress.respond import Responses
from sdpdr.families.regress.ridge import LinearMapping

# Share of the variance that the spread within classes has at least, where lengths are told by it.
_SPREAD = 1e-9


def _coded(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of labels, and what each stands for; what is not known has -1."""
    known = ~unknown(y)
    codes = np.full(y.size, UNKNOWN)
    codes[known], found = pd.factorize(y[known], sort=True)
    names = np.array(found.tolist())  # of the type of what is known
    if names.size < 2:
        raise DataError(
            f"labels of {names.size} class are known, besides those that are missing or -1, which "
            "is one that is not known, too; it takes two to tell them apart."
        )
    return codes, names


class Discriminant(ClassifierMixin, GraphProjection):  # type: ignore[misc]  # as elsewhere
    """Base of maps learned from classes, which are told by the nearest mean in the embedding."""

    def _keep(self, X: Matrix, found: Responses, mapping: LinearMapping) -> None:
        self.eigenvalues_, turn = self._ordered(found, mapping(X))
        turned = mapping.turned(turn)
        self.components_, self.intercept_ = turned.coef.T, turned.intercept

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Discriminant:
        """Learn the map, and where the classes are.

        Parameters
        ----------
        X : array_like of shape (n, m)
        y : array_like of shape (n,)
            Labels.
        sample_weight : array_like of shape (n,), optional
            How much each sample counts, 0 or more: two is as if it were there twice, and 0 as if it
            were not. Neighbours are joined as they are.

        Returns
        -------
        self
        """
        with weighing(X, y, sample_weight) as (X, y, weights):
            return self._classify(X, y, weights)

    def _classify(self, X: Any, y: Any, weights: Array | None) -> Discriminant:
        names = None
        if y is not None:
            y = as_vector(y)
            require_classes(y)
            warn_of_many(y)
            if self.kind == "semisupervised":
                warn_of_signs(y)
            # Where -1 is not all that is unknown, or one of two classes is called so.
            if self.kind == "semisupervised" and not np.array_equal(unknown(y), marked(y)):
                y, names = _coded(y)
            require_known(y, self._instead)
        self._learn(X, y, weights)
        labels = np.asarray(y)
        known = np.ones(labels.size, dtype=bool)
        if self.kind == "semisupervised" and unknown(labels).any():
            known = labels != UNKNOWN
        classes, codes = np.unique(labels[known], return_inverse=True)
        self.classes_ = classes if names is None else names
        places = np.asarray(self.transform(X), dtype=float)[known]
        each = np.ones(len(places)) if weights is None else weights[known]
        own = [codes == c for c in range(len(classes))]
        self.means_ = np.array([np.average(places[k], axis=0, weights=each[k]) for k in own])
        # Lengths in units of the spread within classes; where there is none, as they are.
        least = _SPREAD * max(float(places.var()), np.finfo(float).tiny)
        away = (places - self.means_[codes]).T
        within = np.atleast_2d(np.cov(away, bias=True, aweights=each))
        self._units = np.linalg.inv(np.linalg.cholesky(within + least * np.eye(len(within)))).T
        return self

    def predict(self, X: Any) -> Any:
        """The class of the nearest mean, in units of the spread within classes; shape (q,)."""
        places = np.asarray(self.transform(X))
        return self.classes_[
            pairwise_distances_argmin(places @ self._units, self.means_ @ self._units)
        ]


@dataclass(eq=False, repr=False)
class LDA(Discriminant):
    """Linear discriminant analysis, regularised: samples of a class attract.

    Columns come in the order of how well they separate classes: each has the largest spread between
    classes, for its spread in all and the ridge, of what those before it leave. ``eigenvalues_``
    are these shares, up to one.

    Attributes are those of `sdpdr.estimators.GraphProjection`, and ``classes_`` and ``means_`` of
    the classes in the embedding, the nearest of which `predict` tells.

    Parameters
    ----------
    n_components, alpha, way, orthonormal, random_state
        As for `sdpdr.estimators.GraphProjection`.
    n_neighbors, metric, connect, smoothing
        As for `sdpdr.estimators.GraphProjection`; without effect, since no neighbours are searched.
    weights, bandwidth
        As for `sdpdr.estimators.GraphProjection`; refused, but for their defaults.

    References
    ----------
    Cai thesis, (2.10)-(2.19).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> LDA().fit_transform(*load_iris(return_X_y=True)).shape
    (150, 2)
    """

    kind = "classes"
    by_labels = "classes"


@dataclass(eq=False, repr=False)
class SDA(Discriminant):
    r"""Semi-supervised discriminant analysis: labels, and neighbours of all samples.

    Labels are -1 (or None, nan, or a blank) where they are not known; where there are but two, and
    none is missing, one of them may be -1. Attributes are those of `LDA`; both spreads are those of
    labelled samples, and neighbours are those of all.

    ``way="direct"`` solves (2.25) of the thesis, with ``smoothing`` for its :math:`\alpha`, twice
    that of (2.19), since (2.21) leaves out a factor of two. ``way="regression"`` solves the pencil
    of samples, (3.2), and fits linear functions to its solutions, which follow neighbours and are
    no linear functions. Planes of the two are up to 0.14 rad apart where all labels of iris or
    scaled wine are known, and 0.19 where half are.

    Parameters
    ----------
    n_components, n_neighbors, metric, weights, bandwidth, connect
        As for `sdpdr.estimators.GraphProjection`.
    alpha, smoothing, way, orthonormal, random_state
        As for `sdpdr.estimators.GraphProjection`.

    References
    ----------
    D. Cai, X. He and J. Han, "Semi-supervised discriminant analysis", ICCV 2007; Cai thesis,
    (2.20)-(2.25).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> y[::2] = -1
    >>> SDA(n_neighbors=8).fit(X, y).transform(X).shape
    (150, 2)
    """

    kind = "semisupervised"
    by_labels = "classes"
