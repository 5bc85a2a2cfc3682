"""Distances kept by least squares: metric and non-metric scaling, Sammon's map, their stress."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.spatial.distance import pdist, squareform
from sklearn import config_context
from sklearn.isotonic import isotonic_regression
from sklearn.manifold import smacof

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.distances import squared_distances
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.estimators import Embedding, as_precise, note_columns
from sdpdr.families.unfold.completion import classically_scaled
from sdpdr.graphs.space import make_space
from sdpdr.linalg.spectral import on_principal_axes


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


def spe_stress(distances: ArrayLike, embedding: ArrayLike, cutoff: float = np.inf) -> float:
    r"""Stress that stochastic proximity embedding lowers.

    .. math::

        \frac{\sum (d'_{ij} - d_{ij})^2 / d_{ij}}{\sum d_{ij}}

    over the pairs with :math:`d_{ij} \le r_c`, and those further apart whose embedded distance
    :math:`d'_{ij}` is the smaller one. Distances are plain, not squared.

    Parameters
    ----------
    distances : array_like of shape (n, n)
    embedding : array_like of shape (n, r)
    cutoff : float, default inf
        The radius r_c.

    Returns
    -------
    float

    References
    ----------
    Vasiloglou thesis, (4.26), whose denominators are misplaced; D. K. Agrafiotis and H. Xu,
    "A self-organizing principle for learning nonlinear manifolds", PNAS 99(25), 2002.

    Examples
    --------
    >>> spe_stress([[0.0, 2.0], [2.0, 0.0]], [[0.0], [1.0]])
    0.25
    """
    D, Y = np.asarray(distances, dtype=float), np.asarray(embedding, dtype=float)
    if D.shape != (Y.shape[0],) * 2:
        raise ShapeError(f"distances have shape {D.shape}, the embedding {Y.shape[0]} rows.")
    return stress_of_pairs(squareform(D, checks=False), pdist(Y), cutoff)


def stress_of_pairs(d: Array, now: Array, cutoff: float = np.inf) -> float:
    """`spe_stress` of distances and embedded distances that are listed, one for each pair."""
    counted = d > 0.0
    if np.isfinite(cutoff):
        counted &= (d <= cutoff) | (now < d)
    if not counted.all():
        d, now = d[counted], now[counted]
    return float(np.sum(np.square(now - d) / d) / np.sum(d))


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
    # smacof fits scikit-learn's own regression, which heeds the output asked of transformers.
    with config_context(transform_output="default"):
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
    """Classical scaling of plain distances, in a number of dimensions that is checked."""
    n = len(D)
    why = f"one less, of {n} points"
    width = validate.positive_integer("n_components", n_components, at_most=n - 1, why=why)
    return classically_scaled(D, width)


def sammon(
    X: ArrayLike,
    n_components: int = 2,
    *,
    metric: str = "euclidean",
    max_iter: int = 500,
    tol: float = 1e-6,
) -> Array:
    r"""Sammon's map: distances kept relatively, so that short ones count.

    .. math::

        \min_Y\ \frac{\sum_{i<j} (d_{ij} - |y_i - y_j|)^2 / d_{ij}}{\sum_{i<j} d_{ij}}

    by L-BFGS with exact gradients, from classical scaling; `spe_stress` is the objective. The
    problem is not convex, so that the end is a stationary point.

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
        Points that coincide stay together; their pair does not count.
    n_components : int, default 2
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
        With ``"precomputed"`` X holds PLAIN distances.
    max_iter : int, default 500
    tol : float, default 1e-6
        Largest entry of the gradient at which to stop, with distances of mean one and the
        objective times n.

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
    Review of dimensionality reduction, (2.14); J. W. Sammon, "A nonlinear mapping for data
    structure analysis", IEEE Transactions on Computers 18 (1969), whose steps are diagonal Newton
    steps.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((12, 2))
    >>> D = np.linalg.norm(X[:, None] - X[None], axis=2)
    >>> spe_stress(D, sammon(X)) < 1e-9
    True
    """
    return _sammon(plain_distances(X, metric), n_components, max_iter, tol)[0]


def sammon_slope(distances: Array, embedding: Array) -> tuple[float, Array]:
    r"""Sammon's stress (`spe_stress`) and its gradient in the embedding, shape (n, r).

    .. math:: \frac{\partial E}{\partial y_i} = \frac{2}{\sum_{k<l} d_{kl}} \sum_{j \ne i}
              \frac{|y_i - y_j| - d_{ij}}{d_{ij}\, |y_i - y_j|} (y_i - y_j)

    Where two points of the embedding coincide there is no gradient; their pair is left out of it.
    """
    d, now = squareform(distances, checks=False), pdist(embedding)
    shares = np.zeros_like(now)
    np.divide(now - d, d * now, out=shares, where=(d > 0.0) & (now > 0.0))
    share = squareform(shares)
    slope = (2.0 / d.sum()) * (share.sum(axis=1)[:, None] * embedding - share @ embedding)
    return stress_of_pairs(d, now), slope


def plain_distances(X: ArrayLike, metric: str) -> Array:
    """Plain distances of all pairs, shape (n, n)."""
    return np.asarray(np.sqrt(make_space(X, metric, at_least=2).sqdist_to_all()))


class OfDistances(Embedding):
    """Base of embeddings made of all distances, between points or as they are passed."""

    metric: str

    @abstractmethod
    def _embedded(self, D: Array) -> Array:
        """Places of points at these distances."""

    def fit(self, X: Any, y: Any = None) -> OfDistances:
        """Learn the embedding of the rows of X; y is not used."""
        D = plain_distances(X, self.metric)
        note_columns(self, X)
        self.embedding_ = as_precise(self._embedded(D), X)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric != "precomputed"
        return tags


@dataclass(eq=False, repr=False)
class Sammon(OfDistances):
    """Sammon's map as an estimator; see `sammon`. A baseline, without new points.

    For metric and non-metric scaling scikit-learn has ``sklearn.manifold.MDS``.

    Parameters
    ----------
    n_components : int, default 2
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
    max_iter : int, default 500
    tol : float, default 1e-6

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    stress_ : float
        Sammon's stress, 0 or more and without a unit.
    n_iter_ : int
    converged_ : bool
        Whether the gradient fell to ``tol`` before ``max_iter``, or no step lowers the stress.
    n_features_in_ : int

    Examples
    --------
    >>> from sdpdr import datasets
    >>> X, _ = datasets.s_curve(60)
    >>> fitted = Sammon().fit(X)
    >>> fitted.embedding_.shape, fitted.converged_, 0.0 < fitted.stress_ < 0.1
    ((60, 2), True, True)
    """

    n_components: int = 2
    _: KW_ONLY
    metric: str = "euclidean"
    max_iter: int = 500
    tol: float = 1e-6

    def _embedded(self, D: Array) -> Array:
        places, self.n_iter_, self.converged_ = _sammon(
            D, self.n_components, self.max_iter, self.tol
        )
        self.stress_ = spe_stress(D, places)
        return places


def _sammon(D: Array, n_components: int, max_iter: int, tol: float) -> tuple[Array, int, bool]:
    """Embedding, steps, and whether they ended by themselves."""
    unit = float(D.sum() / (D.size - len(D)))
    scaled = D / unit
    first = classical_start(scaled, n_components)
    n = len(D)

    def objective(flat: Array) -> tuple[float, Array]:
        value, slope = sammon_slope(scaled, flat.reshape(first.shape))
        return n * value, n * slope.ravel()

    options = {
        "maxiter": validate.positive_integer("max_iter", max_iter),
        "maxfun": 20 * max_iter,
        "gtol": validate.positive_number("tol", tol),
        "ftol": 0.0,
    }
    found = minimize(objective, first.ravel(), jac=True, method="L-BFGS-B", options=options)
    # 1 is the limit; 2 is a line search that rounding ended.
    return unit * on_principal_axes(found.x.reshape(first.shape)), int(found.nit), found.status != 1
