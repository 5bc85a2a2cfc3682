"""Distances kept by least squares: metric and non-metric scaling, Sammon's map, SPE, stress."""

from __future__ import annotations

from collections.abc import Callable
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
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.unfold.completion import classically_scaled
from sdpdr.graphs.data import make_space
from sdpdr.linalg.spectral import on_principal_axes

# Rate of the first and of the last cycle of SPE, and a small length that keeps steps of coinciding
# points finite.
_RATES, _NEAR = (2.0, 0.1), 1e-9


def stress(distances: ArrayLike, embedding: ArrayLike) -> float:
    r"""Raw stress :math:`\sum_{i<j} (d_{ij} - |y_i - y_j|)^2` (review, (2.13), counts pairs twice).

    Parameters
    ----------
    distances : array_like of shape (n, n)
        Plain, not squared.
    embedding : array_like of shape (n, r)

    Examples
    --------
    >>> from sdpdr.baselines import stress
    >>> stress([[0.0, 2.0], [2.0, 0.0]], [[0.0], [1.0]])
    1.0
    """
    wanted, now = _pairs(distances, embedding)
    return float(np.sum((wanted - now) ** 2))


def kruskal_stress(distances: ArrayLike, embedding: ArrayLike) -> float:
    r"""Kruskal's stress: 0 if the embedding has the order of the distances, at most 1.

    .. math::

        \min_{\hat d}\ \Bigl( \frac{\sum_{i<j} (\hat d_{ij} - |y_i - y_j|)^2}
                                  {\sum_{i<j} |y_i - y_j|^2} \Bigr)^{1/2}
        \quad\text{over } \hat d_{ij} \le \hat d_{kl} \text{ wherever } d_{ij} < d_{kl} .

    Pairs at one distance may differ in the embedding, Kruskal's primary treatment of ties
    [Psychometrika 29, 1964].

    Parameters
    ----------
    distances, embedding
        As for `stress`.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.baselines import kruskal_stress
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


@checks_keywords
def spe_stress(distances: ArrayLike, embedding: ArrayLike, cutoff: float = np.inf) -> float:
    r"""The stress that Sammon's map and stochastic proximity embedding minimise.

    .. math:: \frac{\sum (d'_{ij} - d_{ij})^2 / d_{ij}}{\sum d_{ij}}

    over the pairs with :math:`d_{ij} \le r_c`, and those further apart whose embedded distance
    :math:`d'_{ij}` is the smaller one; pairs at distance zero do not count (Vasiloglou thesis,
    (4.26), with the denominators in their right places).

    Parameters
    ----------
    distances, embedding
        As for `stress`.
    cutoff : float, default inf
        The radius r_c.

    Examples
    --------
    >>> from sdpdr.baselines import spe_stress
    >>> spe_stress([[0.0, 2.0], [2.0, 0.0]], [[0.0], [1.0]])
    0.25
    """
    d, now = _pairs(distances, embedding)
    counted = (d > 0.0) & ((d <= cutoff) | (now < d))
    d, now = d[counted], now[counted]
    return float(np.sum(np.square(now - d) / d) / np.sum(d))


def _pairs(distances: ArrayLike, embedding: ArrayLike) -> tuple[Array, Array]:
    """Given and embedded distances of the pairs i < j."""
    D, Y = np.asarray(distances, dtype=float), np.asarray(embedding, dtype=float)
    if Y.ndim != 2 or D.shape != (Y.shape[0],) * 2:
        raise ShapeError(
            f"distances have shape {D.shape}, the embedding {Y.shape}; they must be (n, n) and "
            "(n, r)."
        )
    return D[np.triu_indices(len(D), 1)], pdist(Y)


# -- scaling ---------------------------------------------------------------------------------------


@checks_keywords
def metric_mds(
    X: ArrayLike,
    n_components: int = 2,
    *,
    metric: str = "euclidean",
    max_iter: int = 300,
    tol: float = 1e-6,
) -> Array:
    r"""Metric multidimensional scaling: the `stress` of an embedding, minimised by majorization.

    scikit-learn's ``smacof``, starting at classical scaling. The problem is not convex
    [review, (2.13); de Leeuw, "Applications of convex analysis to multidimensional scaling", 1977].

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
    n_components : int, default 2
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
        With ``"precomputed"`` X holds PLAIN distances.
    max_iter : int, default 300
    tol : float, default 1e-6
        Stop at a step that lowers the stress by a smaller share of the squared distances.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.baselines import metric_mds, stress
    >>> X = np.random.default_rng(0).random((12, 2))
    >>> D = np.linalg.norm(X[:, None] - X[None], axis=2)
    >>> stress(D, metric_mds(X)) < 1e-12
    True
    """
    return _scaled(plain_distances(X, metric), n_components, max_iter, tol, by_order=False)


@checks_keywords
def nonmetric_mds(
    X: ArrayLike,
    n_components: int = 2,
    *,
    metric: str = "euclidean",
    max_iter: int = 300,
    tol: float = 1e-6,
) -> Array:
    r"""Non-metric multidimensional scaling: preserves the order of the distances.

    scikit-learn's ``smacof``, which alternates monotone regression and a step of majorization. The
    unit is arbitrary, and zero dissimilarities count as unknown [Kruskal, Psychometrika 29, 1964].

    Parameters
    ----------
    X, n_components, metric, max_iter, tol
        As for `metric_mds`; precomputed dissimilarities need not be distances.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.baselines import kruskal_stress, nonmetric_mds
    >>> X = np.random.default_rng(0).random((12, 2))
    >>> D = np.linalg.norm(X[:, None] - X[None], axis=2)
    >>> Y = nonmetric_mds(D**1.5, metric="precomputed")
    >>> kruskal_stress(D, Y) < 0.02
    True
    """
    if metric == "precomputed":
        # Dissimilarities need not be distances, so the triangle inequality is not checked.
        D = squared_distances(X, squared=True, at_least=2)
        if np.isinf(D).any():
            raise DataError(
                "scaling needs all dissimilarities, and some are not known. Complete distances "
                "with sdpdr.DistanceCompletion."
            )
    else:
        D = plain_distances(X, metric)
    return _scaled(D, n_components, max_iter, tol, by_order=True)


def _scaled(D: Array, n_components: int, max_iter: int, tol: float, *, by_order: bool) -> Array:
    """Scaling by ``smacof``, on principal axes."""
    first = _classical_start(D, n_components)
    # smacof fits scikit-learn's own regression, which respects the output set for transformers.
    with config_context(transform_output="default"):
        found, _ = smacof(
            D,
            metric=not by_order,
            n_components=first.shape[1],
            init=first,
            n_init=1,
            max_iter=validate.positive_integer("max_iter", max_iter),
            eps=validate.positive_number("tol", tol),
            normalized_stress=False,
        )
    return on_principal_axes(np.asarray(found))


def _classical_start(D: Array, n_components: int) -> Array:
    """Classical scaling, after a check of the number of components."""
    why = f"one less, of {len(D)} points"
    width = validate.positive_integer("n_components", n_components, at_most=len(D) - 1, why=why)
    return classically_scaled(D, width)


def plain_distances(X: ArrayLike, metric: str) -> Array:
    """Plain distances of all pairs, shape (n, n)."""
    return np.asarray(np.sqrt(make_space(X, metric, at_least=2).sqdist_to_all()))


# -- Sammon's map, and stochastic proximity embedding ----------------------------------------------


class OfDistances(Embedding):
    """Base of embeddings that need all distances, of points or precomputed."""

    metric: str
    _embedded: Callable[[Array], Array]

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


def sammon_slope(distances: Array, embedding: Array) -> tuple[float, Array]:
    """Sammon's stress and its gradient, to which coinciding pairs do not contribute."""
    d, now = squareform(distances, checks=False), pdist(embedding)
    shares = np.zeros_like(now)
    np.divide(now - d, d * now, out=shares, where=(d > 0.0) & (now > 0.0))
    share = squareform(shares)
    slope = (2.0 / d.sum()) * (share.sum(axis=1)[:, None] * embedding - share @ embedding)
    return spe_stress(distances, embedding), slope


@dataclass(eq=False, repr=False)
class Sammon(OfDistances):
    r"""Sammon's map: preserves distances relative to their size, so short ones count. A baseline.

    .. math::

        \min_Y\ \frac{\sum_{i<j} (d_{ij} - |y_i - y_j|)^2 / d_{ij}}{\sum_{i<j} d_{ij}}

    by L-BFGS with exact gradients, from classical scaling to a stationary point. Coinciding points
    stay together.

    Parameters
    ----------
    n_components : int, default 2
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
        With ``"precomputed"`` X holds PLAIN distances.
    max_iter : int, default 500
    tol : float, default 1e-6
        Largest entry of the gradient at which to stop, for distances of mean one and n times the
        objective.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        Centred, on its principal axes.
    stress_ : float
        The minimised stress, which has no unit.
    n_iter_ : int
    converged_ : bool
        Whether it ended before ``max_iter``.
    n_features_in_ : int

    References
    ----------
    Review of dimensionality reduction, (2.14); J. W. Sammon, IEEE Transactions on Computers 18
    (1969), whose steps are diagonal Newton steps.

    Examples
    --------
    >>> from sdpdr.baselines import Sammon
    >>> from sdpdr import datasets
    >>> fitted = Sammon().fit(datasets.s_curve(60)[0])
    >>> fitted.embedding_.shape, fitted.converged_, 0.0 < fitted.stress_ < 0.1
    ((60, 2), True, True)
    """

    n_components: int = 2
    _: KW_ONLY
    metric: str = "euclidean"
    max_iter: int = 500
    tol: float = 1e-6

    def _embedded(self, D: Array) -> Array:
        n, unit = len(D), float(D.sum() / (D.size - len(D)))
        scaled = D / unit
        first = _classical_start(scaled, self.n_components)

        def objective(flat: Array) -> tuple[float, Array]:
            value, slope = sammon_slope(scaled, flat.reshape(first.shape))
            return n * value, n * slope.ravel()

        options = {
            "maxiter": validate.positive_integer("max_iter", self.max_iter),
            "maxfun": 20 * self.max_iter,
            "gtol": validate.positive_number("tol", self.tol),
            "ftol": 0.0,
        }
        found = minimize(objective, first.ravel(), jac=True, method="L-BFGS-B", options=options)
        # Status 1 is the limit of steps; 2 is a line search ended by rounding.
        self.n_iter_, self.converged_ = int(found.nit), found.status != 1
        places = unit * on_principal_axes(found.x.reshape(first.shape))
        self.stress_ = spe_stress(D, places)
        return places


@dataclass(eq=False, repr=False)
class SPE(OfDistances):
    r"""Stochastic proximity embedding: random pairs are moved towards their distances. A baseline.

    A random pair with :math:`d_{ij} \le r_c`, or closer together in the embedding than in the data,
    is moved by

    .. math::

        y_i \leftarrow y_i + \frac{\ell}{2} \frac{d_{ij} - d'_{ij}}{d'_{ij}} (y_i - y_j),
        \qquad y_j \text{ opposite},

    while the rate :math:`\ell` falls from 2 to 0.1. At each rate 50 n pairs are drawn, in
    matchings: pairs that share no point can be moved at the same time.

    Parameters
    ----------
    n_components : int, default 2
    cutoff : float, default inf
        Radius r_c of neighbourhoods.
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
        With ``"precomputed"`` X holds PLAIN distances.
    cycles : int, default 100
        Number of rates.
    random_state : int, RandomState or Generator, default 0

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        Centred.
    stress_ : float
        The `spe_stress` of the embedding.
    n_features_in_ : int

    References
    ----------
    Vasiloglou thesis, section 3.4; D. K. Agrafiotis and H. Xu, PNAS 99(25), 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.baselines import SPE
    >>> X = np.random.default_rng(0).uniform(size=(10, 2))
    >>> SPE(cycles=10).fit_transform(X).shape
    (10, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    cutoff: float = np.inf
    metric: str = "euclidean"
    cycles: int = 100
    random_state: int = 0

    def _embedded(self, D: Array) -> Array:
        n, half = len(D), len(D) // 2
        cutoff = validate.positive_or_infinite("cutoff", self.cutoff)
        width = validate.positive_integer("n_components", self.n_components)
        cycles = validate.positive_integer("cycles", self.cycles)
        rng = np.random.default_rng(validate.seed(self.random_state))
        scale = float(np.median(D[D > 0.0]))
        Y = scale * rng.uniform(size=(n, width))
        for rate in np.linspace(*_RATES, cycles):
            for drawn in range(0, 50 * n, half):
                order, m = rng.permutation(n), min(half, 50 * n - drawn)
                i, j = order[:m], order[half : half + m]
                apart, wanted = Y[i] - Y[j], D[i, j]
                now = np.sqrt(np.einsum("pk,pk->p", apart, apart))
                pull = 0.5 * rate * (wanted - now) / (now + _NEAR * scale)
                pull[(wanted > cutoff) & (now >= wanted)] = 0.0
                move = pull[:, None] * apart
                Y[i] += move
                Y[j] -= move
        places = np.asarray(Y - Y.mean(axis=0))
        self.stress_ = spe_stress(D, places, cutoff)
        return places
