"""The search for places of latent variables: of samples, by a map of the data, of new rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics.pairwise import nan_euclidean_distances

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.families.unfold.baselines.process import Process, gplvm_objective, groups_of

# The least noise, relative to the mean square of the data: below it K cannot be factored well.
_LEAST = 1e-6
_FIRST_NOISE = 0.1
# And the largest signal, for the same reason.
_MOST = 1e6
# Two searches, and the better end is kept: one with all noise allowed at once, and one with noise
# that may not fall below these, one after the other, each for a tenth of the steps that are left.
# The first has all the time: of 700 points it does not come to an end in 30 seconds.
# Neither is better everywhere. Of five draws of 85 in 100 points each, without noise, the second
# ended 183 to 358 nats higher on S-curves and rolls after 2000 or 4000 steps, and 43 to 71 on noisy
# circles in two components; on iris from 68 lower to 6 higher, and within 11 on digits, wine and
# breast cancer. Of curves with folds, in one component, chance decides.
_FLOORS = (0.1, 0.01, 1e-3, 1e-4)
# Pairs of steps and slopes that each remembers: 30 took about half of the steps of 10 on circles
# and waves; of curves with folds neither found the better end more often.
_MEMORIES = (10, 30)
# Steps whose gain is told where the search ends before its end.
_LAST = 10
# Eigenvalues of the back constraint's kernel, relative to the largest, that are rounding.
_ZERO = 1e-10
# Noise that new rows are first given more, shrunk by so much from the squares that they miss the
# nearest sample's place by, until it is less than the noise. Without it the log-likelihood of 30 of
# 150 points held back was 14 421 lower on an S-curve, 10 009 on a roll, 49 on 60 points of a curve,
# and the same on digits and iris.
_SHRUNK = 0.1
# Nearest samples from whose places a row is sought. Of a quarter held back, the likelihoods of rows
# ended 21 nats higher from 2 than from 1 on a helix, 5 on a knot, 90 on a roll, and 139 from 5; 12
# on iris (from 3), 18 on wine and 46 on breast cancer; 5 took four to six times as long as 1.
_STARTS = 5


@dataclass(frozen=True, eq=False)
class BackMap:
    r"""Smooth features of the data, of which places are a linear map.

    They span the functions :math:`\sum_j a_j e^{-|y - y_j|^2 / 2 w^2}`, less their mean over the
    samples.

    Attributes
    ----------
    samples : array of shape (n, D)
    width : float
        w.
    centre : array of shape (n,)
        Means of the kernel over the samples.
    loadings : array of shape (n, r)
        What the kernel is multiplied by.
    """

    samples: Array
    width: float
    centre: Array
    loadings: Array

    @classmethod
    def of(cls, samples: Array, width: float) -> BackMap:
        """With a width in medians of the distances between different samples."""
        lengths = pdist(samples)
        width *= float(np.median(lengths[lengths > 0.0])) if lengths.any() else 1.0
        gram = _kernel(samples, samples, width)
        values, vectors = np.linalg.eigh(gram)
        kept = values > _ZERO * values[-1]
        loadings = vectors[:, kept] / np.sqrt(values[kept])
        return cls(samples, width, gram.mean(axis=0), loadings)

    def __call__(self, data: Array) -> Array:
        """Features of data, shape (m, r)."""
        return (_kernel(data, self.samples, self.width) - self.centre) @ self.loadings


def _kernel(data: Array, samples: Array, width: float) -> Array:
    return np.asarray(np.exp(-0.5 * np.square(cdist(data, samples) / width)))


@dataclass(frozen=True, eq=False)
class _End:
    """Where a search ended; fields as of `Found`."""

    point: Array
    value: float
    steps: int
    gradient: float
    gain: float
    converged: bool
    stopped: bool


@dataclass(frozen=True, eq=False)
class Found(_End):
    """Places of samples, and how they were found.

    Attributes
    ----------
    point : array
        What was sought: logarithms of the signal and of the noise, and the coefficients.
    places : array of shape (n, q)
    coefficients : array of shape (n or r, q)
        The places themselves, or what features are multiplied by.
    signal, noise, value : float
        The last is the objective for each entry of the data.
    steps : int
    gradient, gain : float
        Largest entry of the first in the end, and what the last ten steps took off the value.
    converged, stopped : bool
        Whether the gradient was small in the end, or the time was over before.
    """

    places: Array
    coefficients: Array
    signal: float
    noise: float


def search(
    data: Array,
    q: int,
    kernel: str,
    features: Array | None,
    *,
    tol: float,
    max_iter: int,
    deadline: Deadline,
) -> Found:
    """Minimise over places, or coefficients of features, and over logarithms of variances.

    With the rbf kernel there are two searches; the second has the time that is left.

    Parameters
    ----------
    data : array of shape (n, D)
        Centred, of unit size, with NaN for what is missing.
    q : int
    kernel : {"rbf", "linear"}
    features : array of shape (n, r) or None
    tol : float
        Largest entry of the gradient in the end.
    max_iter : int
    deadline : Deadline
    """
    groups = groups_of(data)
    size = int(np.sum(~np.isnan(data)))
    fixed = kernel == "linear"

    def places_of(point: Array) -> Array:
        free = point[2:].reshape(-1, q)
        return free if features is None else features @ free

    def objective(point: Array) -> tuple[float, Array]:
        signal, noise = np.exp(point[:2])
        value, slope, pair = gplvm_objective(places_of(point), signal, noise, data, kernel, groups)
        slope = slope if features is None else features.T @ slope
        return value / size, np.concatenate([pair, slope.ravel()]) / size

    scores = _components(data, q, fixed)
    if features is not None:
        scores = np.asarray(np.linalg.lstsq(features, scores)[0])
    start = np.concatenate([[0.0, np.log(_FIRST_NOISE)], scores.ravel()])
    bounds = np.tile([-np.inf, np.inf], (start.size, 1))
    bounds[0] = (0.0, 0.0) if fixed else (-np.inf, np.log(_MOST))
    ways: list[tuple[float, ...]] = [(_LEAST,)] if fixed else [(_LEAST,), (*_FLOORS, _LEAST)]
    ends: list[_End] = []
    for floors, memory in zip(ways, _MEMORIES, strict=False):
        if not (ends and deadline.is_over()):
            descent = _Downhill(objective, bounds, memory, tol, deadline)
            ends.append(descent.down(start, floors, max_iter))
    best = min(ends, key=lambda end: end.value)
    signal, noise = np.exp(best.point[:2]).tolist()
    places, free = places_of(best.point), best.point[2:].reshape(-1, q)
    return Found(**vars(best), places=places, coefficients=free, signal=signal, noise=noise)


@dataclass(frozen=True, eq=False)
class _Downhill:
    """L-BFGS of an objective of logarithms of the signal and of the noise, and of others."""

    objective: Callable[[Array], tuple[float, Array]]
    bounds: Array
    memory: int
    tol: float
    deadline: Deadline

    def down(self, point: Array, floors: tuple[float, ...], max_iter: int) -> _End:
        """Down to one floor of the noise after the other, the last of which is the end."""
        left = max_iter
        for floor in floors[:-1]:
            if left >= 10 and not self.deadline.is_over():
                end = self._to(point, floor, left // 10)
                point, left = end.point, left - end.steps
        end = self._to(point, floors[-1], left)
        return replace(end, steps=end.steps + max_iter - left)

    def _to(self, point: Array, floor: float, max_iter: int) -> _End:
        """To one floor; once more from the end, with nothing remembered, if a step led nowhere."""
        end = self._once(point, floor, max_iter)
        if end.converged or end.stopped or end.steps >= max_iter:
            return end
        again = self._once(end.point, floor, max_iter - end.steps)
        return replace(again, steps=end.steps + again.steps)

    def _once(self, point: Array, floor: float, max_iter: int) -> _End:
        bounds, values = self.bounds.copy(), [self.objective(point)[0]]
        bounds[1, 0] = np.log(floor)

        def note(intermediate_result: OptimizeResult) -> None:
            values.append(float(intermediate_result.fun))
            if self.deadline.is_over():
                raise StopIteration

        found = minimize(
            self.objective, point, jac=True, method="L-BFGS-B", callback=note, bounds=bounds,
            options={
                "maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": self.tol, "ftol": 0.0,
                "maxcor": self.memory,
            },
        )  # fmt: skip
        stopped = not found.success and self.deadline.is_over()
        # Of what bounds leave of it.
        gradient = np.abs(np.clip(found.x - found.jac, *bounds.T) - found.x).max()
        gain = values[-1 - _LAST :][0] - values[-1]
        return _End(
            found.x, float(found.fun), int(found.nit), float(gradient), float(gain),
            bool(gradient <= self.tol), stopped,
        )  # fmt: skip


def _components(data: Array, q: int, fixed: bool) -> Array:
    """Where the search begins: principal components, with gaps at the means."""
    n, D = data.shape
    left, singular, _ = np.linalg.svd(np.nan_to_num(data), full_matrices=False)
    # Columns of variance one are some widths of the kernel across.
    return np.asarray(left[:, :q] * (singular[:q] / np.sqrt(D) if fixed else np.sqrt(n)))


def placed(
    process: Process,
    samples: Array,
    rows: Array,
    *,
    tol: float,
    max_iter: int,
    deadline: Deadline,
) -> tuple[Array, int]:
    """Places where new rows are likeliest, each found from those of the nearest samples.

    Parameters
    ----------
    process : Process
    samples : array of shape (n, D)
        Of the process, with NaN for what is missing, as in the rows.
    rows : array of shape (m, D)
    tol : float
        Largest entry of the gradient in the end, of minus the log-likelihood for each known entry.
    max_iter : int
        For each row.
    deadline : Deadline

    Returns
    -------
    places : array of shape (m, q)
    count : int
        Rows for which there was time; all others are where the nearest sample is.
    """
    options = {"maxiter": max_iter, "gtol": tol, "ftol": 0.0}
    lengths = np.nan_to_num(nan_euclidean_distances(rows, samples), nan=np.inf)
    near = np.argsort(lengths, axis=1, kind="stable")[:, :_STARTS]
    found = process.places[near[:, 0]].copy()
    for k, row in enumerate(rows):
        if deadline.is_over():
            return found, k
        starts = process.places[near[k]]
        ends = [_annealed(process, place, row, options) for place in starts]
        found[k] = min(ends, key=lambda end: end[1])[0]
    return found, len(rows)


def _annealed(
    process: Process, place: Array, row: Array, options: dict[str, Any]
) -> tuple[Array, float]:
    """Where a row is likeliest, downhill from a place while its noise shrinks; and how unlikely."""
    more = float(np.nanmean(np.square(row - process.expected(place[None])[0])))
    while more > process.noise:
        place = _moved(process, place, row, more, options)[0]
        more *= _SHRUNK
    return _moved(process, place, row, 0.0, options)


def _moved(
    process: Process, place: Array, row: Array, more: float, options: dict[str, Any]
) -> tuple[Array, float]:
    known = int(np.sum(~np.isnan(row)))

    def objective(point: Array) -> tuple[float, Array]:
        value, slope = process.surprise(point, row, more)
        return value / known, slope / known

    found = minimize(objective, place, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x), float(found.fun)
