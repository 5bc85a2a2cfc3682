r"""Directions along which a program improves without end.

With D in the cones, A(D) = 0 (not above 0 on inequalities), G(D) positive semidefinite and
:math:`\langle C, D\rangle < 0`, a feasible point X stays feasible as X + t D while its objective
falls by :math:`-t \langle C, D\rangle`. The same D are multipliers of the dual program, and prove
it infeasible: what `sdpdr.program.rays.farkas` knows of rays serves here too. Where D must be
singular, and its range no simple one, whole numbers near it are tried, and checked without any
rounding (`sdpdr.program.rays.ray`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.linalg import Combined, LinearMap, VectorMap, lengths_in
from sdpdr.linalg.magnitudes import is_whole, is_written_exactly, least_share
from sdpdr.linalg.walks import connected_components
from sdpdr.program.attain.cone import largest_order
from sdpdr.program.attain.rounding import magnitudes, objective_at, total_size
from sdpdr.program.dual import dual_of
from sdpdr.program.face import null_vectors, visible_rows
from sdpdr.program.point import Factor, Value, as_dense
from sdpdr.program.rays.farkas import prove_infeasible
from sdpdr.program.rays.ray import Kind, Ray, whole_direction
from sdpdr.program.sdp import SDP

# What must be left of the terms of a coefficient for it to be more than their rounding.
_CLEARLY = 1e-6
# What is taken for nothing, relative to the largest entry of a direction.
_DUST = 1e-7
# Order of matrices beyond which no direction is written down entry by entry.
_LARGEST = 4000
# Whole numbers up to which sums are not rounded, by a factor of four.
_EXACT = 2.0**51
_WHOLE = "a direction of whole numbers, verified without rounding"


def prove_unbounded(
    sdp: SDP,
    values: Mapping[str, Value],
    *,
    feasible: bool,
    rigorous: bool = False,
    deadline: Deadline = ENDLESS,
) -> Ray | str:
    """Prove from a nearly improving direction that there is one.

    Parameters
    ----------
    sdp : SDP
    values : mapping from variable name to array or Factor
        The direction, of any scale. Variables that are missing do not move.
    feasible : bool
        Whether the caller has proved that the program has a feasible point. Without one it may
        be infeasible just as well, and the ray is of the kind ``"recession"``.
    rigorous : bool, default False
        Accept a proof only if all rounding is accounted for.
    deadline : Deadline, optional
        As of `sdpdr.program.rays.prove_infeasible`.

    Returns
    -------
    Ray or str
        The ray, or why these values prove nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.linalg import Entries, Trace
    >>> from sdpdr.program.rows import Rows
    >>> from sdpdr.program.sdp import SDP
    >>> from sdpdr.program.point import PsdVariable
    >>> fixed = Rows("corner", "==", {"X": Entries(2, [[0, 0]])}, np.ones(1))
    >>> sdp = SDP((PsdVariable("X", 2),), {"X": -1.0 * Trace(2)}, (fixed,))
    >>> ray = prove_unbounded(sdp, {"X": np.diag([1e-9, 1.0])}, feasible=True)
    >>> ray.kind, ray.margin, ray.rigorous, ray.check(sdp)
    ('unbounded', 1.0, True, True)
    """
    kind: Kind = "unbounded" if feasible else "recession"
    if not any(np.any(_numbers(x)) for x in values.values()):
        return "there is no direction"
    if all(isinstance(values.get(v.name), Factor) for v in sdp.psd_variables):
        margin = _gain_of_factors(sdp, values)
        if margin is not None:
            return Ray(kind, margin, _WHOLE, rigorous=True, values=dict(values))
    if largest_order(sdp) > _LARGEST:
        return f"matrices of order {largest_order(sdp)} are too large for a direction to be proved"
    dense = {v.name: as_dense(values[v.name]) for v in sdp.variables if v.name in values}
    if not all(np.isfinite(x).all() for x in dense.values()):
        return "the direction is not finite"
    found = whole_direction(sdp, dense)
    if found is not None:
        return Ray(kind, _margin(sdp, found), _WHOLE, rigorous=True, values=found)
    # The dual is written with the sums that rows and costs are made of.
    maps = [a for side in sdp.expressions() for a in side.values()]
    exactly = all(map(is_written_exactly, maps))
    if not exactly and (rigorous or any(map(_is_blurred, maps))):
        return "coefficients are sums that rounding changes"
    dual = dual_of(sdp)
    ray = prove_infeasible(dual, _swept(dense), rigorous, deadline)
    if isinstance(ray, str) and not deadline.is_over():
        ray = prove_infeasible(dual, dense, rigorous, deadline)
    if isinstance(ray, str):
        return ray
    ray = replace(ray, rigorous=ray.rigorous and exactly)
    moved = {v.name: ray.duals[v.name] for v in sdp.variables}
    words = f"a direction that improves the objective: {ray.argument}"
    return Ray(kind, ray.margin, words, ray.rigorous, values=moved)


def drifting(sdp: SDP, *, feasible: bool) -> Ray | None:
    """The ray of a program in which parts of the points may move away from each other for ever.

    Parameters
    ----------
    sdp : SDP
    feasible : bool
        As of `prove_unbounded`.

    Examples
    --------
    >>> from sdpdr import blocks
    >>> free = blocks.Gram(3) + blocks.Centered(3) + blocks.Variance(3)
    >>> drifting(free.to_sdp(), feasible=True).values["K"].factor.ravel().tolist()
    [2.0, -1.0, -1.0]
    """
    values = _apart(sdp)
    margin = None if values is None else _gain_of_factors(sdp, values)
    if values is None or margin is None:
        return None
    kind: Kind = "unbounded" if feasible else "recession"
    return Ray(kind, margin, _WHOLE, rigorous=True, values=values)


def _apart(sdp: SDP) -> dict[str, Value] | None:
    """A move of a part that no row joins to the rest, about the centre; None where all are joined.

    Of whole numbers, where the one vector that states a face has such.
    """
    if len(sdp.psd_variables) != 1 or sdp.lmis:
        return None
    variable = sdp.psd_variables[0]
    name, n = variable.name, variable.n
    maps = [r.lhs[name] for r in visible_rows(sdp) if name in r.lhs]
    joined = [_joined(a) for a in maps if isinstance(a, LinearMap)]
    i, j = np.concatenate([np.zeros((0, 2), dtype=np.int64), *joined]).T
    count, part = connected_components(sp.csr_array((np.ones(i.size), (i, j)), shape=(n, n)))
    if count == 1:
        return None
    first = part == part[0]
    null = null_vectors(sdp, name)
    if null.shape[1] > 1:
        return None
    column = 1.0 * first
    if null.shape[1]:
        u = null.toarray().ravel()
        column = np.where(first, float(np.sum(u[~first])), -float(np.sum(u[first])))
    still: dict[str, Value] = {v.name: np.zeros(v.size) for v in sdp.vector_variables}
    return {**still, name: Factor(column[:, None])}


def _joined(linear_map: LinearMap) -> Index:
    """Pairs of points that rows have to do with; of rows that see very many, none."""
    lengths = lengths_in(linear_map)
    if lengths is not None:
        return lengths[0]
    return np.zeros((0, 2), dtype=np.int64) if linear_map.is_wide() else linear_map.pattern()


def _gain_of_factors(sdp: SDP, values: Mapping[str, Value]) -> float | None:
    """What is gained in a direction of matrices of whole numbers, kept as factors; None if nothing.

    Over the size of its terms. Sums of whole numbers that are not too large are not rounded.
    """
    if sdp.lmis or any(np.any(np.asarray(values.get(v.name, 0.0))) for v in sdp.vector_variables):
        return None
    factors = {v.name: Factor.of(values[v.name]).factor for v in sdp.psd_variables}
    if not all(np.array_equal(F, np.round(F)) for F in factors.values()):
        return None
    for r in sdp.rows:
        parts = [(a, factors[name]) for name, a in r.lhs.items() if isinstance(a, LinearMap)]
        if not all(_vanishes(a, F) for a, F in parts):
            return None
    gain = size = 0.0
    for name, F in factors.items():
        value, error = objective_at(sdp, name, F)
        gain -= value + error
        size += total_size(sdp.objective.get(name), F)
    return min(1.0, gain / size) if gain > 0.0 else None


def _vanishes(linear_map: LinearMap, factor: Array) -> bool:
    """Whether all rows are zero at a factor of whole numbers, as is told without rounding."""
    if isinstance(linear_map, Combined):
        used = np.unique(linear_map.weights.indices)
        inner = linear_map.inner
        if _vanishes(inner if used.size == inner.m else inner.take(used), factor):
            return True
    if not is_whole(linear_map) or np.any(linear_map.apply_factor(factor)):
        return False
    return bool(np.all(magnitudes(linear_map, factor) < _EXACT))


def _numbers(value: Value) -> Array:
    return value.factor if isinstance(value, Factor) else np.asarray(value)


def _is_blurred(linear_map: LinearMap | VectorMap) -> bool:
    """Whether an entry may be what rounding leaves of terms that cancel."""
    if is_written_exactly(linear_map) or isinstance(linear_map, VectorMap):
        return False
    return least_share(linear_map) < _CLEARLY


def _swept(direction: Mapping[str, Array]) -> dict[str, Array]:
    """A direction without what solvers leave of zeros; where only zero will do, it must be that."""
    largest = max((float(np.max(np.abs(x), initial=0.0)) for x in direction.values()), default=0.0)
    swept = {}
    for name, x in direction.items():
        # Of a matrix, which has to stay positive semidefinite, all or nothing.
        size = np.abs(x) if x.ndim == 1 else np.max(np.abs(x), initial=0.0)
        swept[name] = np.where(size > _DUST * largest, x, 0.0)
    return swept


def _margin(sdp: SDP, direction: Mapping[str, Array]) -> float:
    """What is gained along a direction, over the size of its terms."""
    terms = [
        sdp.objective[v.name].matrix().multiply(v.coordinates(direction[v.name])[None, :]).data
        for v in sdp.variables
        if v.name in sdp.objective
    ]
    stacked = np.concatenate(terms)
    return min(1.0, -float(stacked.sum()) / float(np.abs(stacked).sum()))
