"""The search for places of latent variables: of samples, by a map of the data, of new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
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
# Eigenvalues of the back constraint's kernel, relative to the largest, that are rounding.
_ZERO = 1e-10
# Noise that new rows are first given more, shrunk by so much from the squares that they miss the
# nearest sample's place by, until it is less than the noise. Without it the log-likelihood of 30 of
# 150 points held back was 14 421 lower on an S-curve, 10 009 on a roll, 49 on 60 points of a curve,
# and the same on digits and iris.
_SHRUNK = 0.1


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
class Found:
    """Places of samples, and how they were found.

    Attributes
    ----------
    places : array of shape (n, q)
    coefficients : array of shape (n or r, q)
        The places themselves, or what features are multiplied by.
    signal, noise, value : float
        The last is the objective for each entry of the data.
    steps : int
    converged, stopped : bool
        Whether the gradient was small in the end, or the time was over before.
    """

    places: Array
    coefficients: Array
    signal: float
    noise: float
    value: float
    steps: int
    converged: bool
    stopped: bool


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

    def stop(_: Array) -> None:
        if deadline.is_over():
            raise StopIteration

    scores = _components(data, q, fixed)
    if features is not None:
        scores = np.asarray(np.linalg.lstsq(features, scores)[0])
    limits = [(0.0, 0.0) if fixed else (None, np.log(_MOST)), (np.log(_LEAST), None)]
    found = minimize(
        objective,
        np.concatenate([[0.0, np.log(_FIRST_NOISE)], scores.ravel()]),
        jac=True,
        method="L-BFGS-B",
        callback=stop,
        bounds=limits + [(None, None)] * scores.size,
        options={"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": 0.0},
    )
    stopped = not found.success and deadline.is_over()
    signal, noise = np.exp(found.x[:2]).tolist()
    return Found(
        places_of(found.x), found.x[2:].reshape(-1, q), signal, noise, float(found.fun),
        int(found.nit), found.status != 1 and not stopped, stopped,
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
    unit: float,
    tol: float,
    max_iter: int,
    deadline: Deadline,
) -> tuple[Array, int]:
    """Places where new rows are likeliest, each found from that of the nearest sample.

    Parameters
    ----------
    process : Process
    samples : array of shape (n, D)
        Of the process, with NaN for what is missing, as in the rows.
    rows : array of shape (m, D)
    unit : float
        Of the places.
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
    lengths = nan_euclidean_distances(rows, samples)
    found = process.places[np.argmin(np.nan_to_num(lengths, nan=np.inf), axis=1)].copy()
    for k, row in enumerate(rows):
        if deadline.is_over():
            return found, k
        more = float(np.nanmean(np.square(row - process.expected(found[k : k + 1])[0])))
        while more > process.noise:
            found[k] = _moved(process, found[k], row, more, unit, options)
            more *= _SHRUNK
        found[k] = _moved(process, found[k], row, 0.0, unit, options)
    return found, len(rows)


def _moved(
    process: Process, place: Array, row: Array, more: float, unit: float, options: dict[str, Any]
) -> Array:
    """Where a row is likeliest, downhill from a place."""
    known = int(np.sum(~np.isnan(row)))

    def objective(point: Array) -> tuple[float, Array]:
        value, slope = process.surprise(unit * point, row, more)
        return value / known, unit * slope / known

    found = minimize(objective, place / unit, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(unit * found.x)
