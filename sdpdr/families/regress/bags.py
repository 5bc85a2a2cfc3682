r"""Bags of points: a density for each, and the bags that a new one resembles.

Every bag has a density :math:`p(x) = \sum_j \alpha_j\, 1[|x - c_j| \le \rho]` over common centres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.rows import listed


class MixtureWeights(NamedTuple):
    """Weights of a mixture on the simplex, their log-likelihood and a bound on any."""

    weights: Array
    value: float
    bound: float
    iterations: int


@checks_keywords
def mixture_weights(
    kernel: Any,
    prior: Array | None = None,
    strength: float = 0.0,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> MixtureWeights:
    r"""Maximum-likelihood weights of a mixture with given components.

    .. math:: \max_{\alpha \ge 0,\ \mathbf 1^T\alpha = 1}\
              \sum_i \log \sum_j \kappa_{ij} \alpha_j + \lambda \sum_j g_j \log \alpha_j ,

    which is concave, by expectation maximization. With the gradient d at any weights, others are
    better by at most :math:`\max_j d_j - n - \lambda`, and without a prior by at most
    :math:`n \log(\max_j d_j / n)`. One step from equal weights (``max_iter=2``) is
    :math:`\alpha_j = (\lambda g_j + \sum_i \kappa_{ij} / \sum_l \kappa_{il}) / (n + \lambda)`.

    Parameters
    ----------
    kernel : array or sparse array of shape (n, N)
        :math:`\kappa \ge 0`; every point has a component that covers it.
    prior : array of shape (N,), optional
        g on the simplex, for :math:`\lambda` > 0; even weights by default.
    strength : float, default 0.0
        :math:`\lambda`.
    tol : float, default 1e-6
        Target gap for each point.
    max_iter : int, default 10,000

    Returns
    -------
    tuple of weights, (N,), value, bound and iterations
        The log-likelihood, and an upper bound of that of any weights.

    Raises
    ------
    DataError
        A point that no component covers, or a negative strength.

    References
    ----------
    Tong thesis, (5.4) and (5.7)-(5.10), where (5.4) runs over the simplex.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import mixture_weights
    >>> found = mixture_weights(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    >>> found.weights.round(4), found.bound - found.value < 1e-5
    (array([0.5, 0.5]), True)
    """
    K = sp.csr_array(kernel, dtype=float)
    n, N = K.shape
    covered = np.asarray(K.sum(axis=1)).ravel()
    if not np.all(covered > 0.0):
        bare = listed(np.flatnonzero(~(covered > 0.0)))
        raise DataError(f"points {bare} are covered by no component. Leave them out.")
    strength = validate.non_negative("strength", strength)
    g = np.full(N, 1.0 / N) if prior is None else np.asarray(prior, dtype=float)
    if g.shape != (N,) or np.any(g < 0.0) or not np.isclose(g.sum(), 1.0):
        raise DataError(f"prior must be {N} nonnegative weights with sum one.")
    total, alpha, iteration, drawn = n + strength, np.full(N, 1.0 / N), 0, g > 0.0
    while True:
        iteration += 1
        mixed = K @ alpha
        slope = np.asarray(K.T @ (1.0 / mixed))
        value = float(np.sum(np.log(mixed)))
        # log t <= log s + t/s - 1 in every term; without a prior, by the mean of logarithms.
        bound = value + total * float(np.log(np.max(slope) / total))
        if strength > 0.0:
            value += strength * float(g[drawn] @ np.log(alpha[drawn]))
            slope[drawn] += strength * g[drawn] / alpha[drawn]
            bound = value + float(np.max(slope)) - total
        if bound - value <= tol * total or iteration == max_iter:
            return MixtureWeights(alpha, value, max(bound, value), iteration)
        alpha = slope * alpha / total


@dataclass(eq=False, repr=False)
class BagIndex:
    r"""Retrieval among bags of points by the likelihood of a query under each bag's density.

    A bag is ranked by

    .. math:: \sum_{q} \log\Bigl(1 + \frac{n_i}{\lambda}
              \frac{\sum_l \alpha^i_l \kappa(q, c_l)}{\sum_l \alpha^g_l \kappa(q, c_l)}\Bigr)
              + m \log\frac{\lambda}{n_i + \lambda}

    over the m points of the query that a centre covers, with the weights :math:`\alpha^i` of the
    bag after one step of `mixture_weights`, and their mean :math:`\alpha^g` over all bags. Only
    bags that share a centre with the query are scored, by an
    inverted list.

    Parameters
    ----------
    n_centers : int, default 1000
        Points drawn from the bags as centres.
    radius : float, optional
        :math:`\rho`; by default 0.6 times the mean distance of random pairs of points.
    strength : float, optional
        :math:`\lambda`; by default ten times the mean number of points in a bag.
    seed : int, default 0

    Attributes
    ----------
    weights_ : sparse array of shape (bags, centres)
    background_ : array of shape (centres,)
    centers_ : array of shape (centres, D)
    radius_, strength_ : float
    sizes_ : array of int
        Points of each bag that a centre covers.

    References
    ----------
    Tong thesis, chapter 5. With the last term a bag that shares nothing with the query but has few
    points may outrank one that does: the list is the best of those that share a centre, not always
    of all; theorem 5.2 leaves that out.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import BagIndex
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.standard_normal((30, 2)) + 6.0 * k for k in range(5)]
    >>> index = BagIndex(50, seed=0).fit(bags)
    >>> index.query(rng.standard_normal((10, 2)) + 12.0, 1)[0]
    array([2])
    """

    n_centers: int = 1000
    _: KW_ONLY
    radius: float | None = None
    strength: float | None = None
    seed: int = 0

    def fit(self, bags: Sequence[Any]) -> BagIndex:
        """Compute the weights of all bags, a sequence of arrays (n_i, D)."""
        points = _checked(bags)
        count = np.array([len(bag) for bag in points])
        everything = np.vstack(points)
        rng = np.random.default_rng(self.seed)
        wanted = min(validate.positive_integer("n_centers", self.n_centers), len(everything))
        self.centers_ = everything[np.sort(rng.choice(len(everything), wanted, replace=False))]
        i, j = rng.integers(len(everything), size=(2, 1000))
        apart = np.linalg.norm(everything[i] - everything[j], axis=1)
        radius, strength = self.radius, self.strength
        if radius is None:
            radius = 0.6 * float(apart[i != j].mean()) if np.any(apart > 0.0) else 1.0
        if strength is None:
            strength = 10.0 * float(count.mean())
        self.radius_ = validate.positive_number("radius", radius)
        self.strength_ = validate.positive_number("strength", strength)
        # Products with the few centres take less time than a tree, in any dimension.
        search = NearestNeighbors(radius=self.radius_, algorithm="brute").fit(self.centers_)
        self._search = search
        kernel = sp.csr_array(search.radius_neighbors_graph(everything))
        bag = np.repeat(np.arange(count.size), count)
        covered = np.diff(kernel.indptr)
        self.sizes_ = np.bincount(bag[covered > 0], minlength=count.size)
        share = np.divide(1.0, covered, out=np.zeros(covered.size), where=covered > 0)
        gathered = sp.csr_array((share, (bag, np.arange(bag.size)))) @ kernel
        self.weights_ = sp.csr_array(sp.diags_array(1.0 / np.maximum(self.sizes_, 1)) @ gathered)
        self.background_ = np.asarray(self.weights_.mean(axis=0)).ravel()
        self._by_center = sp.csr_array(self.weights_.T)
        return self

    def query(self, points: Any, n_best: int = 10) -> tuple[Index, Array]:
        """The bags most similar to a new one, of those that share a centre with it.

        Parameters
        ----------
        points : array_like of shape (m, D)
        n_best : int, default 10

        Returns
        -------
        bags : array of int, shape (k,)
            Best first; fewer than ``n_best`` if fewer share a centre with the query.
        scores : array of shape (k,)
        """
        n_best = validate.positive_integer("n_best", n_best)
        if not hasattr(self, "weights_"):
            raise DataError("the index is empty. Call fit with the bags first.")
        (query,) = _checked([points])
        if query.shape[1] != self.centers_.shape[1]:
            raise ShapeError(
                f"points has {query.shape[1]} columns; expected {self.centers_.shape[1]}."
            )
        kernel = sp.csr_array(self._search.radius_neighbors_graph(query))
        behind = kernel @ self.background_
        covered = np.flatnonzero(behind > 0.0)
        own = (kernel[covered] @ self._by_center).toarray()
        bags = np.flatnonzero(own.any(axis=0))
        size = self.sizes_[bags]
        ratios = (size / self.strength_) * own[:, bags] / behind[covered, None]
        length = covered.size * np.log(self.strength_ / (size + self.strength_))
        scores = np.log1p(ratios).sum(axis=0) + length
        order = np.argsort(-scores, kind="stable")[:n_best]
        return bags[order], scores[order]


def _checked(bags: Sequence[Any]) -> list[Array]:
    if not len(bags):
        raise DataError("there are no bags. Pass a list of arrays of shape (n_i, D).")
    points = [np.asarray(bag, dtype=float) for bag in bags]
    for i, bag in enumerate(points):
        if bag.ndim != 2 or bag.shape[1] != points[0].shape[-1]:
            raise ShapeError(
                f"bag {i} has shape {bag.shape}; expected (n_i, {points[0].shape[-1]})."
            )
        if not len(bag) or not np.isfinite(bag).all():
            raise DataError(f"bag {i} is empty, or holds nan or infinite numbers.")
    return points
