"""Stochastic proximity embedding: one random pair at a time is moved towards its distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.families.unfold.baselines.stress import OfDistances, plain_distances, spe_stress

# Rate of the first and of the last cycle, and what keeps a step between coinciding points finite.
RATES = (2.0, 0.1)
_NEAR = 1e-9


def spe(
    X: ArrayLike,
    n_components: int = 2,
    *,
    cutoff: float = np.inf,
    metric: str = "euclidean",
    cycles: int = 100,
    steps: int | None = None,
    seed: int = 0,
) -> Array:
    r"""Stochastic proximity embedding.

    A random pair with :math:`d_{ij} \le r_c`, or closer together in the embedding than in the data,
    is moved by

    .. math::

        y_i \leftarrow y_i + \frac{\ell}{2} \frac{d_{ij} - d'_{ij}}{d'_{ij}} (y_i - y_j),
        \qquad y_j \text{ opposite},

    while the rate :math:`\ell` falls from 2 to 0.1. Pairs are drawn as matchings, of which no two
    share a point, so that they move at once as they would one by one. There is no convergence and
    no certificate: a baseline. Distances are plain, not squared.

    Parameters
    ----------
    X : array_like of shape (n, D), or distances (n, n) if ``metric="precomputed"``
    n_components : int, default 2
    cutoff : float, default inf
        Radius r_c of neighbourhoods.
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
    cycles : int, default 100
        Numbers of rates.
    steps : int, optional
        Pairs tried at each rate; 50 n by default.
    seed : int, default 0

    Returns
    -------
    array of shape (n, n_components)
        Centred.

    Raises
    ------
    DataError
        The data, the cutoff or a count cannot be used.
    UnknownNameError
        For another metric.

    References
    ----------
    Vasiloglou thesis, section 3.4; D. K. Agrafiotis and H. Xu, PNAS 99(25), 2002.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(10, 2))
    >>> Y = spe(X, 2, cycles=50)
    >>> distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    >>> spe_stress(distances, Y) < 1e-4
    True
    """
    D = plain_distances(X, metric)
    n = len(D)
    cutoff = validate.price("cutoff", cutoff)
    width = validate.positive_integer("n_components", n_components)
    steps = 50 * n if steps is None else validate.positive_integer("steps", steps)
    cycles = validate.positive_integer("cycles", cycles)
    rng = np.random.default_rng(seed)
    scale = float(np.median(D[D > 0.0]))
    Y = scale * rng.uniform(size=(n, width))
    for rate in np.linspace(*RATES, cycles):
        for i, j in matchings(n, steps, rng):
            apart, wanted = Y[i] - Y[j], D[i, j]
            now = np.sqrt(np.einsum("pk,pk->p", apart, apart))
            pull = 0.5 * rate * (wanted - now) / (now + _NEAR * scale)
            pull[(wanted > cutoff) & (now >= wanted)] = 0.0
            move = pull[:, None] * apart
            Y[i] += move
            Y[j] -= move
    return np.asarray(Y - Y.mean(axis=0))


def matchings(n: int, pairs: int, rng: np.random.Generator) -> Iterator[tuple[Index, Index]]:
    """So many random pairs of points, those that come together without a point in common.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> [first.size for first, second in matchings(7, 8, rng)]
    [3, 3, 2]
    """
    half = n // 2
    while pairs > 0:
        order, m = rng.permutation(n), min(half, pairs)
        yield order[:m], order[half : half + m]
        pairs -= m


@dataclass(eq=False, repr=False)
class SPE(OfDistances):
    """Stochastic proximity embedding as an estimator; see `spe`. A baseline.

    Parameters
    ----------
    n_components : int, default 2
    cutoff : float, default inf
    metric : {"euclidean", "cosine", "precomputed"}, default "euclidean"
    cycles : int, default 100
    steps : int, optional
    random_state : int, RandomState or Generator, default 0

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    stress_ : float
    n_features_in_ : int

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(10, 2))
    >>> SPE(cycles=10).fit_transform(X).shape
    (10, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    cutoff: float = np.inf
    metric: str = "euclidean"
    cycles: int = 100
    steps: int | None = None
    random_state: int = 0

    def _embedded(self, D: Array) -> Array:
        places = spe(
            D,
            self.n_components,
            cutoff=self.cutoff,
            metric="precomputed",
            cycles=self.cycles,
            steps=self.steps,
            seed=validate.seed(self.random_state),
        )
        self.stress_ = spe_stress(D, places, self.cutoff)
        return places
