r"""Landmark reduction: K = Q L Q^T with few columns, and only some of the inequalities.

A narrower cone makes a maximum smaller, and rows left out make it larger, so the value of the
reduced program says nothing alone. If the lifted point satisfies the rows left out as well, it is
optimal among all K = Q L Q^T.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.program.face import complete_multipliers, null_vectors, visible_rows
from sdpdr.program.point import Factor, Point, PsdVariable, Value, Variable, VectorVariable
from sdpdr.program.rows import Expression, Lmi, Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.base import Reduced, Reduction
from sdpdr.reduce.bases import into_bases
from sdpdr.reduce.kept import narrowed, spread
from sdpdr.reduce.subspace import on_face, vanishes

# Share of a negative cost that neither rounding nor the error of a solver leaves.
_RAISED = 0.5


@dataclass(frozen=True, eq=False)
class Landmark(Reduction):
    r"""Restrict the one matrix variable to K = T M T^T, T an orthonormal basis of few columns.

    T spans the columns of ``basis`` after they have been moved onto the face that rows K u = 0
    confine K to. A constant is added to each column where that is enough, which leaves
    differences between points, hence lengths of edges, as they were.

    Parameters
    ----------
    basis : array of shape (n, m)
        Q. Columns that depend on the others are dropped.
    rows : mapping from label to array of int, optional
        The rows of a group that are in force, by number; all rows of groups that are not named.
        Scalars that appear in no row in force are zero.

    Notes
    -----
    The reduced program is not equivalent to the given one: its cone is a part of the cone, and
    rows may be missing. A value is attained in the given program as well, and a bound is not one
    of the given program. So ``sdpdr.solve(reduced.sdp)`` proves the optimum among all K = Q L Q^T,
    and ``sdpdr.solve(model, via=[Landmark(Q)])`` the value of its point.

    Multipliers of missing rows are lifted as zeros. None are lifted if they leave more than half
    of a negative cost on the diagonal of the dual slack: they prove no bound of the given program,
    and hold for no data nearby.

    If two points have equal coordinates in every column, their distance is zero for every M, and
    the coefficients of their row are rounding. Such rows are left out if zero satisfies them.

    References
    ----------
    Weinberger, Packer and Saul, "Nonlinear dimensionality reduction by semidefinite programming
    and kernel matrix factorization", AISTATS 2005; Tong thesis 2.2.4.

    Examples
    --------
    >>> from sdpdr.reduce import Landmark
    >>> import numpy as np
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.mvu(graphs.path([1.0, 1.0, 1.0])).to_sdp()
    >>> reduced = Landmark(np.array([[0.0], [1.0], [2.0], [3.0]])).apply(sdp)
    >>> reduced.sdp
    SDP(mvu; matrices [K: 1x1], 0 scalars, 3 rows, 0 matrix inequalities)
    >>> reduced.lift(reduced.sdp.zero_point()).values["K"].shape
    (4, 4)
    """

    name: ClassVar[str] = "landmark"
    is_narrower: ClassVar[bool] = True
    basis: Array
    rows: Mapping[str, Index] = field(default_factory=dict)

    def accepts(self, sdp: SDP) -> str | None:
        """Programs over one matrix whose order is the number of the basis' rows."""
        if len(sdp.psd_variables) != 1:
            return f"it takes one matrix variable, and there are {len(sdp.psd_variables)}"
        n, shape = sdp.psd_variables[0].n, np.shape(self.basis)
        if len(shape) != 2 or shape[0] != n or shape[1] < 1:
            return f"the basis must have shape ({n}, m); it has {shape}"
        if not np.isfinite(self.basis).all():
            return "the basis holds numbers that are not finite"
        return None

    def _reduce(self, sdp: SDP) -> Reduced:
        name = sdp.psd_variables[0].name
        basis = on_face(sdp, np.asarray(self.basis, dtype=float))
        seen = visible_rows(sdp)
        force = {r.label: self._in_force(r, basis) for r in seen}
        kept = [r.take(force[r.label]) for r in seen]
        scalars = {v.name: _used(v, kept, sdp) for v in sdp.vector_variables}

        def restrict(expression: Expression) -> Expression:
            return {
                key: a.congruence(basis) if isinstance(a, LinearMap) else _columns(a, scalars[key])
                for key, a in expression.items()
            }

        reduced = replace(
            sdp,
            variables=tuple(_restricted(v, basis.shape[1], scalars) for v in sdp.variables),
            objective=restrict(sdp.objective),
            rows=tuple(replace(r, lhs=restrict(r.lhs)) for r in kept if r.m),
            lmis=tuple(replace(lmi, lhs=restrict(lmi.lhs)) for lmi in sdp.lmis),
        )

        def lift(point: Point) -> Point:
            values: dict[str, Value] = {}
            for v in sdp.variables:
                if v.name == name and name in point.values:
                    values[name] = Factor(basis @ Factor.of(point.values[name]).factor)
                elif v.name in point.values:
                    full = np.zeros(v.size)
                    full[scalars[v.name]] = np.asarray(point.values[v.name])
                    values[v.name] = full
            duals = complete_multipliers(sdp, spread(sdp, force, point.duals))
            return Point(values, duals if _may_hold(sdp, name, duals) else {})

        def push(point: Point) -> Point:
            values = into_bases(point.values, {name: basis})
            for key, used in scalars.items():
                if key in values:
                    values[key] = np.asarray(values[key])[used]
            return Point(values, narrowed(reduced, force, point.duals))

        return Reduced(reduced, lift, push=push)

    def _in_force(self, rows: Rows, basis: Array) -> Index:
        """The requested rows that say something about K = T M T^T."""
        chosen = np.asarray(self.rows.get(rows.label, np.arange(rows.m)), dtype=np.intp)
        some = rows.take(chosen)
        return chosen[~(some.hold_at_zero & vanishes(some, basis))]


def _may_hold(sdp: SDP, name: str, duals: Mapping[str, Array]) -> bool:
    """Whether multipliers of the narrower program may prove a bound of the given one.

    The dual slack S must be positive semidefinite on the face, P S P for the projection P onto it,
    so no entry of its diagonal may be negative.
    """
    if not duals:
        return True
    null = null_vectors(sdp, name)
    Q = np.linalg.qr(null.toarray())[0] if null.shape[1] else np.zeros(null.shape)
    before, after = (
        _projected_diagonal(matrix, Q) for matrix in (sdp.cost(name), sdp.dual_slack(name, duals))
    )
    return not np.any((before < 0.0) & (after < _RAISED * before))


def _projected_diagonal(matrix: Matrix, Q: Array) -> Array:
    """The diagonal of (I - Q Q^T) A (I - Q Q^T)."""
    image = np.asarray(matrix @ Q)
    products = np.sum(Q * (2.0 * image - Q @ (Q.T @ image)), axis=1)
    return np.asarray(matrix.diagonal() - products)


def _used(variable: VectorVariable, rows: list[Rows], sdp: SDP) -> Index:
    """Scalars that some row in force, or a matrix inequality, reads."""
    parts: list[Rows | Lmi] = [*rows, *sdp.lmis]
    maps = [part.lhs[variable.name].matrix() for part in parts if variable.name in part.lhs]
    seen = [sp.csr_array(a).indices for a in maps]
    return np.unique(np.concatenate([np.empty(0, dtype=np.intp), *seen]))


def _columns(linear_map: VectorMap, used: Index) -> VectorMap:
    """A map on the scalars that are used."""
    return linear_map if used.size == linear_map.n else VectorMap(linear_map.matrix()[:, used])


def _restricted(variable: Variable, order: int, scalars: Mapping[str, Index]) -> Variable:
    """The variable of the reduced program."""
    if isinstance(variable, PsdVariable):
        return replace(variable, n=order)
    used = scalars[variable.name]
    curvature = None if variable.curvature is None else variable.curvature[used]
    return replace(variable, size=used.size, curvature=curvature)
