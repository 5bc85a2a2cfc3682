r"""Rays at the boundary of what they prove, and the face on which they have room.

A ray may have to be singular: multipliers that must vanish, matrices of dual slack whose range is
a line. No factorization confirms these, and a solver's are never so to the last digit. But a
slack :math:`S = U M U^T` proves as much as a positive semidefinite one if M is positive definite,
since it is what remains of the program with the variable free but for
:math:`U^T X U \succeq 0`: a relaxation, whatever the numbers of U. Where S is to vanish the
variable is free altogether. What is left of the ray lies inside its cones, and its equations are
solved by Newton steps from those of a solver, whose accuracy of 1e-8 they square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TypeAlias

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg import SvecMap, VectorMap
from sdpdr.linalg.rounding import near_powers
from sdpdr.linalg.svec import smat, svec, svec_size
from sdpdr.program.certificate.free import Duals, columns_of, free_columns, stack, unstack
from sdpdr.program.face import stated_labels
from sdpdr.program.point import PsdVariable, Variable, VectorVariable, side_by_side
from sdpdr.program.rays.relax import Mask, WeakerProgram, congruence
from sdpdr.program.rows import Expression, Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import row_sizes
from sdpdr.program.standard import of_equations, of_program, with_equations

# What counts as zero of a ray, relative to its largest parts.
_SHARES = (1e-4, 1e-6, 1e-2)
# Numbers, and rows, of a program up to which its equations are solved with a dense matrix.
_MOST = 600
_STEPS, _POLISHINGS = 8, 4
# Residuals that are rounding, beside the terms of their equation, and entries of a basis.
_ROUNDING, _CANCELLED = 2.0**-53, 1e-12
# Singular values that are none, and contradictions that are clear, beside the largest numbers.
_DEPENDENT, _CLEAR = 1e-11, 1e-6
# What a solution of equations may be of an entry, beside others, where it must vanish.
_FORCED = 1e-9
# How far equations may be from a solution at first.
_NEAR = 1e-3

Lift: TypeAlias = Callable[[Duals], dict[str, Array]]


def on_faces(sdp: SDP, y: Duals) -> Iterator[WeakerProgram]:
    """Relaxations in which a ray near these multipliers lies inside all cones.

    With an objective, those in which dual feasible multipliers do, and prove a bound.

    Parameters
    ----------
    sdp : SDP
    y : mapping from label to array
        Of all rows and matrix inequalities.
    """
    whole = with_equations(sdp)
    if max(sum(v.size for v in whole.variables), whole.n_rows) > _MOST or stated_labels(whole):
        return
    given, lift = of_equations(sdp, y), partial(of_program, sdp)
    system = _FaceSystem(whole)
    signs = {v.name: np.full(v.size, v.nonnegative) for v in whole.vector_variables}
    seen = {_Faces(signs, {v.name: v.n for v in whole.psd_variables}).key}
    for share in _SHARES:
        faces = system.faces(stack(whole.rows, given), share)
        if faces is None or faces.key in seen:
            continue
        seen.add(faces.key)
        found = system.solved(stack(whole.rows, given), faces)
        if found is not None:
            with suppress(np.linalg.LinAlgError):  # The slack may have lost its rank on the way.
                yield _on_face(whole, unstack(whole.rows, found), faces, lift)


@dataclass(frozen=True)
class _Faces:
    """Which scalars stay in their cones, and the rank of the slack of every matrix."""

    inside: dict[str, Mask]
    ranks: dict[str, int]

    @property
    def key(self) -> tuple[object, ...]:
        """What tells them apart."""
        return (*(mask.tobytes() for mask in self.inside.values()), *self.ranks.values())


class _FaceSystem:
    """The equations of rays of a program of equalities, in units of its rows.

    Parameters
    ----------
    sdp : SDP
    """

    def __init__(self, sdp: SDP) -> None:
        self._sdp = sdp
        sizes = np.concatenate([np.zeros(0), *map(row_sizes, sdp.rows)])
        # Powers of two change no digit.
        self._units = near_powers(sizes)
        self._columns = columns_of(sdp.rows, sdp.variables).toarray() / self._units[:, None]
        costs = (v.coordinates(sdp.cost(v.name)) for v in sdp.variables)
        self._cost = np.concatenate([np.zeros(0), *costs])
        self._is_of_rays = not np.any(self._cost)
        sides = np.concatenate([np.zeros(0), *(r.rhs for r in sdp.rows)])
        self._sides = sides / self._units
        self._places = side_by_side(sdp.variables)

    def faces(self, y: Array, share: float) -> _Faces | None:
        """The faces on which these multipliers seem to lie; None where they are far from a ray."""
        u = self._units * y
        found = _Faces({}, {})
        for v in self._sdp.variables:
            columns = self._columns[:, self._places[v.name]]
            cost = self._cost[self._places[v.name]]
            slack = columns.T @ u + cost
            unit = np.linalg.norm(columns, axis=0) * float(np.max(np.abs(u), initial=0.0))
            unit = np.maximum(unit, np.abs(cost))
            if v.curvature is not None:
                found.inside[v.name] = np.ones(v.size, dtype=bool)
                continue
            if isinstance(v, PsdVariable):
                slack = np.linalg.eigvalsh(smat(slack))
                unit = float(np.max(unit, initial=0.0))
                found.ranks[v.name] = int(np.sum(slack > share * unit))
            else:
                found.inside[v.name] = (slack > share * unit) & v.nonnegative
            wrong = np.abs(slack) if v.is_free else -slack
            if np.any(wrong > _NEAR * unit):
                return None
        return found

    def solved(self, y: Array, faces: _Faces) -> Array | None:
        """Multipliers whose slack lies on the faces up to rounding; None where there are none."""
        u = self._units * y
        value = -float(self._sides @ u)
        for _ in range(_STEPS):
            equations, right, sizes = self._equations(u, faces)
            open_ = self._without_zeros(u, equations)
            residual = equations @ u + right
            terms = sizes @ np.abs(u) + np.abs(right)
            if np.all(np.abs(residual) <= _ROUNDING * (2 + u.size) * terms):
                return u / self._units if self._is_clear(value, u) else None
            matrix, wanted = equations, -residual
            if self._is_of_rays:
                # All may be multiplied by any number.
                matrix = np.vstack([equations, self._sides])
                wanted = np.append(wanted, -value - self._sides @ u)
            u[open_] += np.linalg.lstsq(matrix[:, open_], wanted, rcond=_DEPENDENT)[0]
        return None

    def _is_clear(self, value: float, u: Array) -> bool:
        """Whether a ray contradicts the right sides by more than its errors may be worth."""
        size = float(np.max(np.abs(self._sides), initial=0.0) * np.max(np.abs(u), initial=0.0))
        return not self._is_of_rays or value > _CLEAR * size

    def _equations(self, u: Array, faces: _Faces) -> tuple[Array, Array, Array]:
        """Coefficients and constants of what has to vanish, and the sizes of coefficients."""
        parts, rights, sizes = [np.zeros((0, u.size))], [np.zeros(0)], [np.zeros((0, u.size))]
        for v in self._sdp.variables:
            columns = self._columns[:, self._places[v.name]]
            right = self._cost[self._places[v.name]]
            if isinstance(v, VectorVariable):
                outside = ~faces.inside[v.name]
                part, right = columns[:, outside].T, right[outside]
                size = np.abs(part)
            elif faces.ranks[v.name] == v.n:
                continue
            elif not faces.ranks[v.name]:
                part, size = columns.T, np.abs(columns.T)
            else:
                vectors = np.linalg.eigh(smat(columns.T @ u + right))[1]
                across = congruence(vectors[:, : v.n - faces.ranks[v.name]])
                right = across @ right
                part, size = across @ columns.T, abs(across) @ np.abs(columns.T)
            parts.append(part)
            rights.append(right)
            sizes.append(size)
        return np.vstack(parts), np.concatenate(rights), np.vstack(sizes)

    def _without_zeros(self, u: Array, equations: Array) -> Mask:
        """Set to zero, in place, what the equations leave no other number; and tell the others."""
        _, values, vectors = np.linalg.svd(equations)
        rank = int(np.sum(values > _DEPENDENT * np.max(values, initial=0.0)))
        left = np.linalg.norm(vectors[rank:], axis=0) > _FORCED
        if not self._is_of_rays:
            left |= np.abs(u) > _FORCED * np.max(np.abs(u), initial=0.0)
        u[~left] = 0.0
        return np.asarray(left)


def _on_face(sdp: SDP, y: Duals, faces: _Faces, lift: Lift) -> WeakerProgram:
    """The program whose variables are in their cones on the faces alone."""
    variables: list[Variable] = []
    rows: list[Rows] = []
    changes: list[Callable[[Expression], Expression]] = []
    duals, is_exact = dict(y), True
    for v in sdp.variables:
        if isinstance(v, VectorVariable):
            parts = _parted(v, faces.inside[v.name])
            variables += [part for part, _ in parts]
            changes.append(partial(_split, v.name, parts))
            continue
        rank = faces.ranks[v.name]
        if rank == v.n:
            variables.append(v)
            continue
        variables.append(VectorVariable(v.name, v.size))
        changes.append(partial(_as_scalars, v.name))
        if not rank:
            continue
        basis, inside = _range_of(sdp.dual_slack(v.name, y), rank)
        one = SvecMap(rank, -sp.eye_array(svec_size(rank), format="csr"))
        within, label = f"{v.name}: inside", f"{v.name}: face"
        variables.append(PsdVariable(within, rank))
        lhs: Expression = {v.name: VectorMap(congruence(basis)), within: one}
        rows.append(Rows(label, "==", lhs, np.zeros(svec_size(rank))))
        duals[label] = -svec(inside)
        is_exact &= bool(np.isin(basis, (0.0, 1.0)).all())
    program = sdp.rewritten(partial(reduce, lambda side, change: change(side), changes), variables)
    program = replace(program, rows=(*program.rows, *rows))
    return WeakerProgram(program, _polished(program, duals), lift, is_exact)


def _parted(v: VectorVariable, inside: Mask) -> list[tuple[VectorVariable, Mask]]:
    """The scalars that stay in their cones, and the others, as free ones."""
    if v.curvature is not None or inside.all():
        return [(v, np.ones(v.size, dtype=bool))]
    free = replace(v, size=int((~inside).sum()), nonnegative=False)
    if not inside.any():
        return [(free, ~inside)]
    kept = replace(v, size=int(inside.sum()))
    return [(kept, inside), (replace(free, name=f"{v.name}: free"), ~inside)]


def _split(
    name: str, parts: list[tuple[VectorVariable, Mask]], expression: Expression
) -> Expression:
    if name not in expression or len(parts) == 1:
        return expression
    matrix = expression[name].matrix()
    found = {part.name: VectorMap(matrix[:, np.flatnonzero(mask)]) for part, mask in parts}
    return {**expression, **found}


def _as_scalars(name: str, expression: Expression) -> Expression:
    if name not in expression:
        return expression
    return {**expression, name: VectorMap(expression[name].matrix())}


def _polished(sdp: SDP, y: Duals) -> Duals:
    """Multipliers nearby, each relatively, that satisfy the equations of free scalars."""
    columns, cost = free_columns(sdp, list(sdp.rows))
    matrix, u = columns.T.toarray(), stack(sdp.rows, y)
    for _ in range(_POLISHINGS):
        terms = np.abs(matrix) @ np.abs(u) + np.abs(cost)
        unit = np.where(terms > 0.0, terms, 1.0)
        residual = (matrix @ u + cost) / unit
        if np.all(np.abs(residual) <= _ROUNDING * (2 + (matrix != 0.0).sum(axis=1))):
            break
        step = np.linalg.lstsq(matrix * np.abs(u) / unit[:, None], residual, rcond=_DEPENDENT)[0]
        u = u - np.abs(u) * step
    return unstack(sdp.rows, u)


def _range_of(matrix: Matrix, rank: int) -> tuple[Array, Array]:
    """U with an identity among its rows, and M, such that the slack is U M U^T."""
    slack = np.asarray(matrix @ np.eye(matrix.shape[0]))
    vectors = np.linalg.eigh(slack)[1][:, -rank:]
    pivots = np.sort(sl.qr(vectors.T, mode="r", pivoting=True)[1][:rank])
    inside = slack[np.ix_(pivots, pivots)]
    basis = np.linalg.solve(inside, slack[pivots]).T
    basis = np.where(np.abs(basis) <= _CANCELLED, 0.0, basis)
    basis[pivots] = np.eye(rank)
    return basis, inside
