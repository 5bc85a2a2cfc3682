"""Sammon's map: distances kept by least squares, the small ones as well as the large."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.spatial.distance import pdist, squareform

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.estimators import Embedding, as_precise, note_columns
from sdpdr.families.unfold.baselines.scaling import classical_start
from sdpdr.families.unfold.baselines.spe import plain_distances, spe_stress, stress_of_pairs
from sdpdr.linalg.spectral import on_principal_axes


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


@dataclass(eq=False, repr=False)
class Sammon(Embedding):
    """Sammon's map with scikit-learn's face; see `sammon`. A baseline, without new points.

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

    def fit(self, X: Any, y: Any = None) -> Sammon:
        """Learn the embedding of the rows of X; y is not used."""
        D = plain_distances(X, self.metric)
        note_columns(self, X)
        places, self.n_iter_, self.converged_ = _sammon(
            D, self.n_components, self.max_iter, self.tol
        )
        self.embedding_, self.stress_ = as_precise(places, X), spe_stress(D, places)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric != "precomputed"
        return tags


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
