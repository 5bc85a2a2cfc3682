"""Distances kept by least squares: metric and non-metric scaling."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from sklearn.isotonic import isotonic_regression
from sklearn.manifold import smacof

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.distances import squared_distances
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.unfold.baselines.spe import plain_distances
from sdpdr.linalg.spectral import gram_spectrum, on_principal_axes


def stress(distances: ArrayLike, embedding: ArrayLike) -> float:
    r"""Raw stress :math:`\sum_{i<j} (d_{ij} - |y_i - y_j|)^2`.

    Parameters
    ----------
    distances : array_like of shape (n, n)
        Plain, not squared.
    embedding : array_like of shape (n, r)

    Raises
    ------
    ShapeError

    References
    ----------
    Review of dimensionality reduction, (2.13), which counts each pair twice.

    Examples
    --------
    >>> stress([[0.0, 2.0], [2.0, 0.0]], [[0.0], [1.0]])
    1.0
    """
    wanted, now = _pairs(distances, embedding)
    return float(np.sum((wanted - now) ** 2))


def kruskal_stress(distances: ArrayLike, embedding: ArrayLike) -> float:
    r"""Kruskal's stress of an order of distances.

    .. math::

        \min_{\hat d}\ \Bigl( \frac{\sum_{i<j} (\hat d_{ij} - |y_i - y_j|)^2}
                                  {\sum_{i<j} |y_i - y_j|^2} \Bigr)^{1/2}
        \quad\text{over } \hat d_{ij} \le \hat d_{kl} \text{ wherever } d_{ij} < d_{kl} .

    Only the order of the distances matters, and pairs at one distance may differ in the embedding
    (Kruskal's primary treatment of ties).

    Parameters
    ----------
    distances : array_like of shape (n, n)
        Or dissimilarities: any increasing function of distances has the same stress.
    embedding : array_like of shape (n, r)

    Returns
    -------
    float
        From 0, where the order is kept, to 1.

    Raises
    ------
    ShapeError

    References
    ----------
    J. B. Kruskal, "Multidimensional scaling by optimizing goodness of fit to a nonmetric
    hypothesis", Psychometrika 29 (1964).

    Examples
    --------
    >>> D = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]])
    >>> kruskal_stress(D, [[0.0], [1.0], [3.0]])
    0.0
    """
    wanted, now = _pairs(distances, embedding)
    now = now[np.lexsort((now, wanted))]
    total = float(now @ now)
    if total == 0.0:
        return 0.0
    fitted = np.asarray(isotonic_regression(now))
    return float(np.sqrt(np.sum((fitted - now) ** 2) / total))


def metric_mds(
    X: ArrayLike,
    n_components: int = 2,
    *,
    metric: str = "euclidean",
    start: str = "classical",
    max_iter: int = 300,
    tol: float = 1e-6,
    seed: int = 0,
) -> Array:
    r"""Metric multidimensional scaling: the `stress` of an embedding, lowered by majorization.

    scikit-learn's ``smacof``, which never raises it from where it starts. It is not convex.

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
    n_components : int, default 2
    metric : {"euclidean", "precomputed"}, default "euclidean"
        With ``"precomputed"`` X holds PLAIN distances.
    start : {"classical", "random"}, default "classical"
        Leading eigenvectors as of `classical_mds`, or places drawn with the seed.
    max_iter : int, default 300
    tol : float, default 1e-6
        A step that lowers the stress by a smaller share of the squared distances is the last one.
        More steps may gain more than one: scaled wine ends 5e-4 above the stress of 1e-12.
    seed : int, default 0

    Returns
    -------
    ndarray of shape (n, n_components)
        Centred, on its principal axes.

    Raises
    ------
    DataError
        X cannot be used, or there are too many components.
    UnknownNameError
        For another metric or start.

    References
    ----------
    Review of dimensionality reduction, (2.13); de Leeuw, "Applications of convex analysis to
    multidimensional scaling" (1977).

    Examples
    --------
    >>> X = np.random.default_rng(0).random((12, 2))
    >>> D = np.linalg.norm(X[:, None] - X[None], axis=2)
    >>> stress(D, metric_mds(X)) < 1e-12
    True
    """
    return _scaled(X, n_components, metric, start, max_iter, tol, seed, by_order=False)


def nonmetric_mds(
    X: ArrayLike,
    n_components: int = 2,
    *,
    metric: str = "euclidean",
    start: str = "classical",
    max_iter: int = 300,
    tol: float = 1e-6,
    seed: int = 0,
) -> Array:
    r"""Non-metric multidimensional scaling: the order of the distances, kept as well as can be.

    scikit-learn's ``smacof``: monotone regression of the embedded distances on the given ones,
    then a step of majorization towards it, in turn. `kruskal_stress` tells how well the order is
    kept. The unit is arbitrary, and dissimilarities of zero count as unknown.

    Parameters
    ----------
    X, n_components, metric, start, max_iter, tol, seed
        As for `metric_mds`.

    Returns
    -------
    ndarray of shape (n, n_components)
        Centred, on its principal axes.

    Raises
    ------
    DataError, UnknownNameError
        As of `metric_mds`.

    References
    ----------
    J. B. Kruskal, "Nonmetric multidimensional scaling: a numerical method", Psychometrika 29
    (1964); named in the review of dimensionality reduction, section 2.4.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((12, 2))
    >>> D = np.linalg.norm(X[:, None] - X[None], axis=2)
    >>> Y = nonmetric_mds(D**1.5, metric="precomputed")
    >>> kruskal_stress(D, Y) < 0.02
    True
    """
    return _scaled(X, n_components, metric, start, max_iter, tol, seed, by_order=True)


def _pairs(distances: ArrayLike, embedding: ArrayLike) -> tuple[Array, Array]:
    """Distances wanted and as they are, of the pairs i < j."""
    D, Y = np.asarray(distances, dtype=float), np.asarray(embedding, dtype=float)
    if Y.ndim != 2 or D.shape != (Y.shape[0],) * 2:
        raise ShapeError(
            f"distances have shape {D.shape}, the embedding {Y.shape}; they must be (n, n) and "
            "(n, r)."
        )
    return D[np.triu_indices(len(D), 1)], pdist(Y)


def _scaled(
    X: ArrayLike,
    n_components: int,
    metric: str,
    start: str,
    max_iter: int,
    tol: float,
    seed: int,
    *,
    by_order: bool,
) -> Array:
    validate.choice("start", start, ("classical", "random"))
    if by_order and metric == "precomputed":
        # Dissimilarities need not be distances, so none is said to be too long for one.
        D = squared_distances(X, squared=True, at_least=2)
        if np.isinf(D).any():
            raise DataError(
                "scaling needs all dissimilarities, and some are not known. Complete distances "
                "with sdpdr.DistanceCompletion."
            )
    else:
        D = plain_distances(X, metric)
    first = classical_start(D, n_components)
    found, _ = smacof(
        D,
        metric=not by_order,
        n_components=first.shape[1],
        init=first if start == "classical" else None,
        n_init=1,
        max_iter=validate.positive_integer("max_iter", max_iter),
        eps=validate.positive_number("tol", tol),
        random_state=validate.seed(seed, "seed"),
        normalized_stress=False,
    )
    return on_principal_axes(np.asarray(found))


def classical_start(D: Array, n_components: int) -> Array:
    """Classical scaling of plain distances; no column where an eigenvalue is negative counts."""
    n = len(D)
    why = f"one less, of {n} points"
    width = validate.positive_integer("n_components", n_components, at_most=n - 1, why=why)
    squares = D**2
    mean = squares.mean(axis=0)
    values, vectors = gram_spectrum(-0.5 * (squares - mean - mean[:, None] + mean.mean()))
    return np.asarray(vectors[:, :width] * np.sqrt(np.maximum(values[:width], 0.0)))
