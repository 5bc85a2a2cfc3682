"""Linear maps of the graph-embedding family: projections, and discriminants among them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

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
from sdpdr.families.regress.graph_projection import GraphProjection
from sdpdr.families.regress.respond import Responses
from sdpdr.families.regress.ridge import LinearMapping

# Share of the variance that the spread within classes has at least, where lengths are told by it.
_SPREAD = 1e-9


@dataclass(eq=False, repr=False)
class LPP(GraphProjection):
    """Locality preserving projections: neighbours attract.

    With labels neighbours are searched within classes. Where each class holds together, its
    responses are those of `LDA`; but their mean weighs samples by their numbers of neighbours, so
    that as many directions are turned a little (3e-4 rad on iris, 4e-3 on scaled wine), and not at
    all where all of a class are neighbours. Solved directly they differ. Attributes are those of
    `sdpdr.estimators.GraphProjection`.

    Parameters
    ----------
    n_components, n_neighbors, metric, weights, bandwidth, connect
        As for `sdpdr.estimators.GraphProjection`.
    alpha, smoothing, way, orthonormal, random_state
        As for `sdpdr.estimators.GraphProjection`.

    References
    ----------
    X. He and P. Niyogi, "Locality preserving projections", NIPS 2003; Cai thesis, (2.7).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> LPP(n_components=2).fit_transform(load_iris().data).shape
    (150, 2)
    """

    kind = "laplacian"


@dataclass(eq=False, repr=False)
class NPE(GraphProjection):
    """Neighbourhood preserving embedding: samples follow their neighbours.

    Attributes are those of `sdpdr.estimators.GraphProjection`.

    Parameters
    ----------
    n_components, n_neighbors, metric, connect
        As for `sdpdr.estimators.GraphProjection`.
    weights, bandwidth
        As for `sdpdr.estimators.GraphProjection`; refused, but for their defaults: edges have the
        weights that reconstruct samples.
    alpha, smoothing, way, orthonormal, random_state
        As for `sdpdr.estimators.GraphProjection`.

    References
    ----------
    X. He, D. Cai, S. Yan and H.-J. Zhang, "Neighborhood preserving embedding", ICCV 2005; Cai
    thesis, (2.2).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> NPE(n_components=2).fit_transform(load_wine().data).shape
    (178, 2)
    """

    kind = "reconstruction"


@dataclass(eq=False, repr=False)
class IsoProjection(GraphProjection):
    """Isometric projection: distances along the graph, by a linear map.

    Components are orthonormal, in the order in which distances spread along them, so that no
    distance is longer than in the data. Where there are labels all directions are kept by default,
    which are a turn of the data: the leading ones by distances along the graph, others by variance.
    Attributes are those of `sdpdr.estimators.GraphProjection`.

    Parameters
    ----------
    n_components, n_neighbors, metric
        As for `sdpdr.estimators.GraphProjection`.
    connect : {"none", "mst", "bridges"}, default "bridges"
        What to do with a graph of several parts; here all points have to be joined.
    weights, bandwidth
        As for `sdpdr.estimators.GraphProjection`; refused, but for their defaults: edges have their
        lengths.
    alpha, smoothing, way, orthonormal, random_state
        As for `sdpdr.estimators.GraphProjection`.

    References
    ----------
    D. Cai, X. He and J. Han, "Isometric projection", AAAI 2007; Cai thesis, (2.4).

    Examples
    --------
    >>> import sdpdr
    >>> X, _ = sdpdr.datasets.s_curve(100, seed=0)
    >>> IsoProjection(n_components=2).fit_transform(X).shape
    (100, 2)
    """

    _: KW_ONLY
    connect: str = "bridges"

    kind: ClassVar[str] = "geodesic"
    by_labels = "all"


@dataclass(eq=False, repr=False)
class LSDA(GraphProjection):
    """Locality sensitive discriminant analysis: neighbours of a class against all others.

    A sample none of whose neighbours is of its class would weigh nothing. It is joined to the
    nearest sample of its class, with a warning that names it; the only one of a class to itself.
    So is, with ``weights="cosine"``, one at right angles to all such neighbours, by angles; one at
    right angles to all others of its class, as a text that has no word in common with them, is
    refused. Attributes are those of `sdpdr.estimators.GraphProjection`.

    Parameters
    ----------
    n_components, metric, weights, bandwidth, connect
        As for `sdpdr.estimators.GraphProjection`.
    n_neighbors : int, optional
        By default ten, or all others where there are fewer.
    way : {"regression", "direct"}, default "direct"
        Its solutions, concentrated where classes meet, are far from linear functions.
    alpha, smoothing, orthonormal, random_state
        As for `sdpdr.estimators.GraphProjection`.

    Warns
    -----
    AddedEdgesWarning
        Samples have no neighbour of their class that weighs anything.
    FewPointsWarning
        Classes have one sample.

    References
    ----------
    D. Cai, X. He, K. Zhou, J. Han and H. Bao, "Locality sensitive discriminant analysis", IJCAI
    2007; Cai thesis, (2.26)-(2.33).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LSDA(n_components=2, n_neighbors=8).fit(X, y).transform(X).shape
    (150, 2)
    """

    _: KW_ONLY
    n_neighbors: int | None = None
    way: str = "direct"

    kind: ClassVar[str] = "contrast"


# -- of classes ---------------------------------------------------------------------------------


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
