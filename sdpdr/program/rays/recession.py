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

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.magnitudes import is_written_exactly, least_share
from sdpdr.linalg.svec import svec
from sdpdr.program.dual import dual_of
from sdpdr.program.point import PsdVariable, Value, Variable, as_dense
from sdpdr.program.rays.farkas import prove_infeasible
from sdpdr.program.rays.ray import Kind, Ray, whole_direction
from sdpdr.program.sdp import SDP

# What must be left of the terms of a coefficient for it to be more than their rounding.
_CLEARLY = 1e-6
# What is taken for nothing, relative to the largest entry of a direction.
_DUST = 1e-7


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
    dense = {v.name: as_dense(values[v.name]) for v in sdp.variables if v.name in values}
    if not all(np.isfinite(x).all() for x in dense.values()):
        return "the direction is not finite"
    found = whole_direction(sdp, dense)
    if found is not None:
        words = "a direction of whole numbers, verified without rounding"
        return Ray(kind, _margin(sdp, found), words, rigorous=True, values=found)
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
        sdp.objective[v.name].matrix().multiply(_coordinates(v, direction[v.name])[None, :]).data
        for v in sdp.variables
        if v.name in sdp.objective
    ]
    stacked = np.concatenate(terms)
    return min(1.0, -float(stacked.sum()) / float(np.abs(stacked).sum()))


def _coordinates(v: Variable, value: Array) -> Array:
    return svec(value) if isinstance(v, PsdVariable) else value
