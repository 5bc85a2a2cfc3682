"""The objective of a program on edges: variance, spread of pairs, side information."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import NotAcceptedError
from sdpdr.linalg import (
    Combined,
    InnerProduct,
    LinearMap,
    QuadraticForms,
    SquaredEdgeLengths,
    VectorMap,
    lengths_of,
)
from sdpdr.linalg.maps import Summed
from sdpdr.program.face import null_vectors
from sdpdr.program.sdp import SDP
from sdpdr.solvers.lowrank.edge.program import Objective

_EQUAL_TO = 1e-12  # relative difference up to which coefficients count as equal


def read_objective(sdp: SDP, name: str) -> tuple[Array, Objective]:
    """The masses that centre the points, and the form that is maximised.

    Raises
    ------
    NotAcceptedError
        With the reason, in words.
    """
    mass = _mass(sdp, name)
    n = mass.size
    diagonal, pairs, pull, side = np.zeros(n), [], [], []
    for weights, linear_map in _parts(sdp.objective[name]) if name in sdp.objective else ():
        lengths = lengths_of(linear_map)
        if lengths is not None:
            pairs.append(lengths[0])
            pull.append(-weights * lengths[1])
        elif isinstance(linear_map, QuadraticForms):
            if np.any(weights > 0.0):
                raise NotAcceptedError("the objective subtracts a quadratic form")
            side.append((np.sqrt(-weights)[:, None] * linear_map.vectors.toarray()).T)
        elif isinstance(linear_map, InnerProduct):
            own, edges, force = _graph(-weights[0] * sp.csr_array(linear_map.coefficients))
            diagonal += own
            pairs.append(edges)
            pull.append(force)
    variance = _multiple(diagonal, mass) if np.any(diagonal) else 0.0
    edges, force = _merged(n, pairs, pull)
    columns = np.column_stack(side) if side else None
    if columns is not None:
        # Points are centred, so moving F along the masses changes nothing.
        columns = columns - np.outer(mass, columns.sum(axis=0) / mass.sum())
        columns = columns if np.any(columns) else None
    if variance == 0.0 and edges.size == 0 and columns is None:
        raise NotAcceptedError("nothing is maximised that stretches edges (block Variance)")
    return mass, Objective(mass, variance, edges, force, columns)


def _parts(
    linear_map: LinearMap | VectorMap, weights: Array | None = None
) -> Iterator[tuple[Array, LinearMap]]:
    """The map as a sum over simple maps, each with weights on its rows."""
    weights = np.ones(1) if weights is None else weights
    if isinstance(linear_map, Summed):
        for part in linear_map.maps:
            yield from _parts(part, weights)
    elif isinstance(linear_map, Combined):
        yield from _parts(linear_map.inner, np.asarray(linear_map.weights.T @ weights))
    elif isinstance(linear_map, (SquaredEdgeLengths, QuadraticForms, InnerProduct)):
        yield weights, linear_map
    else:
        raise NotAcceptedError("the objective is not a variance, spread of pairs or quadratic form")


def _mass(sdp: SDP, name: str) -> Array:
    null = null_vectors(sdp, name)
    if null.shape[1] != 1:
        raise NotAcceptedError("the points are not centred by rows K c = 0 (block Centered)")
    mass: Array = null.toarray().ravel()
    if not np.all(mass > 0.0):
        raise NotAcceptedError("the points are centred with weights that are not positive")
    return mass


def _graph(cost: sp.csr_array) -> tuple[Array, Index, Array]:
    """A matrix as a diagonal and the Laplacian of pulls on pairs."""
    upper = sp.triu(cost, k=1).tocoo()
    kept = upper.data != 0.0
    pairs = np.column_stack([upper.row, upper.col])[kept].astype(np.intp)
    return np.asarray(cost.sum(axis=1)).ravel(), pairs, -upper.data[kept]


def _multiple(diagonal: Array, mass: Array) -> float:
    """The t with diagonal = t mass."""
    t = float(diagonal.sum() / mass.sum())
    size = np.abs(diagonal).max()
    if np.abs(diagonal - t * mass).max() > _EQUAL_TO * size:
        raise NotAcceptedError("centre and variance weigh the points differently")
    if t < -_EQUAL_TO * size:
        raise NotAcceptedError("the objective is not a variance (block Variance)")
    return max(t, 0.0)


def _merged(n: int, pairs: list[Index], pull: list[Array]) -> tuple[Index, Array]:
    """Every pair once, i < j, with the sum of its pulls."""
    if not pairs:
        return np.empty((0, 2), dtype=np.intp), np.empty(0)
    ends, force = np.sort(np.concatenate(pairs), axis=1), np.concatenate(pull)
    keys, inverse = np.unique(ends[:, 0] * n + ends[:, 1], return_inverse=True)
    total = np.asarray(np.bincount(inverse, force, keys.size), dtype=float)
    if np.any(total < 0.0):
        raise NotAcceptedError("the objective pushes some pair of points together")
    kept = total > 0.0
    return np.column_stack([keys // n, keys % n])[kept].astype(np.intp), total[kept]
