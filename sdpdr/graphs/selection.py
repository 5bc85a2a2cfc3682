"""The number of neighbours, chosen by leave-one-out errors of their means or of a density."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, UnknownNameError
from sdpdr.base.keywords import checks_keywords
from sdpdr.graphs.blocks import BLOCK, blocks
from sdpdr.graphs.data import make_space
from sdpdr.graphs.pairs import from_table, smallest_k
from sdpdr.graphs.space import Space
from sdpdr.linalg.walks import spanning_forest

# Largest number of neighbours that is tried by default.
K_MAX = 15
# Share by which the error of means may exceed its minimum, chosen among 0, 1, 2, 3, 5, 7 and 10 %.
# With 3 %, 46 of 160 rolls of 300 to 600 points have edges between layers; with the minimum, 41;
# with six neighbours, 86; and with 5 % more have them than with 3 % on rolls of other seeds.
_LEVEL = 0.03
# What each rule makes least.
_COLUMNS = {"means": "error of means", "density": "-log-likelihood"}


@dataclass(frozen=True, eq=False)
class ChoiceOfK:
    """A number of neighbours and why it was chosen; prints as a table.

    Attributes
    ----------
    n_neighbors : int
        The number to use: the larger of `best` and `connecting`.
    best : int
        The number by the errors alone.
    connecting : int
        Smallest k whose graph is connected.
    k : ndarray of int
        The numbers tried.
    parts : ndarray of int
        For each k the number of components of its graph.
    errors : ndarray of float
        For each k the error of means, or minus the mean log-likelihood of ``rule="density"``.
    reason : str
        The reason of the choice, as text.
    rule : str
        The rule.
    """

    n_neighbors: int
    best: int
    connecting: int
    k: Index
    parts: Index
    errors: Array
    reason: str
    rule: str = "means"

    @property
    def column(self) -> str:
        """What the rule makes least."""
        return _COLUMNS[self.rule]

    def __str__(self) -> str:
        rows = [
            f"{k:>4}{parts:>16}{error:>16.6g}" + ("   <- chosen" if k == self.n_neighbors else "")
            for k, parts, error in zip(self.k, self.parts, self.errors, strict=True)
        ]
        return "\n".join([f"{'k':>4}{'parts':>16}{self.column:>16}", *rows, self.reason])


@checks_keywords
def choose_k(
    X: ArrayLike,
    *,
    k_max: int | None = None,
    metric: str = "euclidean",
    rule: Literal["means", "density"] = "means",
    dimension: int = 2,
) -> ChoiceOfK:
    r"""Choose the number of neighbours of a graph.

    With :math:`N_k(i)` the k nearest of the n distinct points, it is the k where the leave-one-out
    error of the mean of the neighbours, :math:`\sum_i |x_i - \tfrac1k \sum_{j \in N_k(i)} x_j|^2`,
    is least, or a larger one, up to which the error stays within 3 % of that: on a plateau, more
    neighbours cost nothing. It is never smaller than the smallest k whose graph is connected.

    With ``rule="density"``, which the Vasiloglou thesis uses, it is the k of largest leave-one-out
    likelihood of a Gaussian density in d dimensions,

    .. math:: \prod_i \frac1{n-1} \sum_{j \ne i} (2\pi h_j^2)^{-d/2} e^{-|x_i - x_j|^2 / 2h_j^2} ,

    with :math:`h_j` the distance of :math:`x_j` to its k-th neighbour. It takes time
    :math:`n^2 k`, and has several maxima on swiss rolls.

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
    k_max : int, optional
        Largest number that is tried; by default 15, or n - 1 if there are fewer points.
    metric
        As for `sdpdr.graphs.knn`.
    rule : {"means", "density"}, default "means"
    dimension : int, default 2
        d, that of the manifold, for ``"density"``.

    Returns
    -------
    ChoiceOfK

    Raises
    ------
    DataError
        X cannot be used, or ``k_max`` is out of range.

    References
    ----------
    Vasiloglou thesis, section 3.5.1, on the choice of k; the likelihood is that of Vasiloglou, Gray
    and Anderson, "Parameter estimation for manifold learning, through density estimation", MLSP
    2006, to which it refers.

    Examples
    --------
    >>> from sdpdr.graphs import choose_k
    >>> from sdpdr import datasets
    >>> X, _ = datasets.swiss_roll(200, seed=0)
    >>> choice = choose_k(X, k_max=6)
    >>> choice.n_neighbors
    4
    >>> print(choice)
       k           parts  error of means
       1              58         611.389
       2              17          510.39
       3               3         461.147
       4               1         491.353   <- chosen
       5               1          518.25
       6               1         566.636
    The error of means is least at k = 3, but the graph is connected from k = 4 on only.
    """
    validate.choice("rule", rule, _COLUMNS)
    dimension = validate.positive_integer("dimension", dimension)
    everything = make_space(X, metric)
    space = everything.take(np.unique(everything.representatives()))
    limit = min(_checked_limit(k_max, space.n), space.fewest)
    table, connecting = space.nearest(limit), smallest_k(space)
    by_means = rule == "means"
    errors = _mean_errors(space, table) if by_means else _unlikeliness(space, table, dimension)
    least = best = int(np.argmin(errors)) + 1
    if by_means:
        higher = np.flatnonzero(errors[least - 1 :] > (1.0 + _LEVEL) * errors[least - 1])
        best = least + int(higher[0]) - 1 if higher.size else limit
    return ChoiceOfK(
        n_neighbors=max(best, connecting),
        best=best,
        connecting=connecting,
        k=np.arange(1, limit + 1),
        parts=_parts(table),
        errors=errors,
        reason=_reason(rule, least, best, connecting, limit),
        rule=rule,
    )


def _reason(rule: str, least: int, best: int, connecting: int, limit: int) -> str:
    """The reason of the choice, as text."""
    level = f", and within {_LEVEL:.0%} of that up to k = {best}" if best > least else ""
    last = ", the last one tried" if best == limit > 1 else ""
    connected = f"the graph is connected from k = {connecting} on"
    rest = f", but {connected} only." if connecting > best else f"; {connected}."
    return f"The {_COLUMNS[rule]} is least at k = {least}{level}{last}{rest}"


def resolve_n_neighbors(n_neighbors: int | str, X: ArrayLike, *, metric: str = "euclidean") -> int:
    """Return a number of neighbours as passed; ``"auto"`` is chosen by `choose_k`."""
    if not isinstance(n_neighbors, str):
        return n_neighbors
    if n_neighbors != "auto":
        raise UnknownNameError("n_neighbors", n_neighbors, ("auto", "a whole number"))
    with catch_warnings():
        # The caller's search repeats the warnings about the data.
        simplefilter("ignore")
        return choose_k(X, metric=metric).n_neighbors


def _checked_limit(k_max: int | None, n: int) -> int:
    """The largest number to try."""
    if k_max is None:
        return min(K_MAX, n - 1)
    limit = validate.positive_integer("k_max", k_max)
    if limit >= n:
        raise DataError(f"k_max={limit} but there are {n} distinct points: choose 1 to {n - 1}.")
    return limit


def _parts(table: Index) -> Index:
    """Return the number of components of the graph of k neighbours, for every k."""
    n, limit = table.shape
    k = np.arange(1.0, limit + 1.0)
    joined = np.sort(spanning_forest(from_table(table, k)).data)
    return np.asarray(n - np.searchsorted(joined, k, side="right"))


def _mean_errors(space: Space, table: Index) -> Array:
    """Sum of squared distances to the mean of the k nearest, for every k, from distances alone."""
    n, limit = table.shape
    k = np.arange(1, limit + 1)
    errors = np.zeros(limit)
    for rows in blocks(np.arange(n), max(1, BLOCK // limit**2)):
        near = table[rows]
        own = np.cumsum(space.sqdist(rows[:, None], near), axis=1)
        between = space.sqdist(near[:, :, None], near[:, None, :])
        mutual = np.diagonal(between.cumsum(axis=1).cumsum(axis=2), axis1=1, axis2=2)
        errors += (own / k - mutual / (2.0 * k**2)).sum(axis=0)
    return errors


def _unlikeliness(space: Space, table: Index, dimension: int) -> Array:
    """Minus the mean leave-one-out log-likelihood, for every k; widths are k-th distances."""
    n, limit = table.shape
    here, total = np.arange(n), np.zeros(limit)
    widths = space.sqdist(here[:, None], table)
    for rows in blocks(here, max(1, BLOCK // n)):
        sqdist = space.sqdist(rows[:, None], here)
        sqdist[np.arange(len(rows)), rows] = np.inf  # of the point itself, which is left out
        for k, width in enumerate(widths.T):
            logs = -sqdist / (2.0 * width) - 0.5 * dimension * np.log(2.0 * np.pi * width)
            total[k] += logsumexp(logs, axis=1).sum()
    return np.log(n - 1) - total / n
