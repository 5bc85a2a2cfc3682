r"""Points of the central path, both sides at once.

Newton's method minimises :math:`c^T x + \mu F(s)` under the equations of the program. For each
cone it begins with the pair on the path that belongs to the solver's :math:`s - t z`. If the local
norm of a step is below one, the point after it lies in the interior, and so do its multipliers.
The equations of both sides then hold up to rounding, and the gap is :math:`\nu \mu`.

If whole cones are variables (s = -a x), the unknowns are the multipliers of all other rows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import (
    Array,
    Index,
    Matrix,
    chosen_rows,
    light,
    placed,
    row_of_each,
    rows_as_they_are,
    scaled,
    transposed,
)
from sdpdr.certify.cones import Cone, Scaling
from sdpdr.certify.flat import FlatProgram
from sdpdr.certify.symmetric_cones import Congruence, Nonnegative, Semidefinite
from sdpdr.linalg.congruent import BlockColumns

# Unknowns of a dense Newton system: a step of so many takes about a second.
LARGEST = 2600
# Shares of a unit diagonal that are added until a factorization succeeds; refinement corrects it.
_JITTERS = (1e-15, 1e-13, 1e-11, 1e-9)
# Refinements of a step, and the share of the residual that one may leave: if more is left, it is
# rounding.
_REFINEMENTS, _LEFT = 4, 0.5
# Unknowns up to which no unknown is eliminated first: the factorization takes milliseconds, and an
# elimination loses digits if one inequality outweighs all others.
_AT_ONCE = 500
_SINGULAR = "the Newton matrix is not positive definite"
# Multiplications of a dense product in the time of one of a sparse product, and in the time of the
# calls for a single matrix.
_SPARSE_FACTOR, _MATRIX_CALLS = 32.0, 1e5
# Most steps, the length above which a step is useless, and the length below which it is the last.
_STEPS, _FAR, _NEAR = 25, 30.0, 0.5
# Steps after which the length must have fallen to a share: outside of the region of convergence of
# Newton's method it may stay the same for a few steps.
_PATIENCE, _SHORTER = 6, 0.9


class TooLargeError(Exception):
    """A dense Newton system would take too long."""


class _Step:
    """The state of one Newton step: residuals, gradients and scalings at a point."""

    def __init__(self, path: Path, x: Array, s: Array, w: Array, mu: float) -> None:
        program = path.program
        self.x, self.s, self.w, self.mu = x, s, w, mu
        self.gradient = program.each(lambda cone, v: cone.gradient(v), s)
        self.scalings: list[Scaling] = [cone.scaling(v) for cone, (v,) in program.points(s)]
        self.missed = program.b - path.A @ x - s
        self.missed_equations = program.f - path.E @ x
        self._program = program

    def hessian(self, v: Array) -> Array:
        """The Hessian of the barrier times a vector."""
        found = np.empty_like(v)
        for scaling, (_, rows) in zip(self.scalings, self._program.cones, strict=True):
            found[rows] = scaling.hessian(v[rows])
        return found

    def inverse(self, v: Array) -> Array:
        """The inverse Hessian times a vector."""
        found = np.empty_like(v)
        for scaling, (_, rows) in zip(self.scalings, self._program.cones, strict=True):
            found[rows] = scaling.inverse_hessian(v[rows])
        return found

    def length(self, ds: Array) -> float:
        """The local norm of a step."""
        return float(np.sqrt(max(float(ds @ self.hessian(ds)), 0.0)))


class Path:
    """The central path of a program.

    Parameters
    ----------
    program : FlatProgram
    is_late : callable
        Whether the time is up.

    Raises
    ------
    TooLargeError
    """

    def __init__(self, program: FlatProgram, is_late: Callable[[], bool]) -> None:
        self.program, self._is_late, self.why = program, is_late, ""
        self.A, self.E = light(program.A), light(program.E)
        self.A_T, self.E_T = self.A.T, self.E.T
        self._blocks = [chosen_rows(program.A, rows) for _, rows in program.cones]
        self.own_rows, self.own_columns, self.own_entries = self._whole_cones()
        self.other_rows: Index = np.setdiff1d(np.arange(program.b.size), self.own_rows)
        unknowns = program.c.size
        if self.own_rows.size:
            unknowns = min(unknowns, program.f.size + self.other_rows.size)
        if unknowns > LARGEST:
            raise TooLargeError(f"{unknowns} unknowns are too many for a dense Newton system")
        is_whole = bool(self.own_rows.size) or unknowns <= _AT_ONCE
        self._alone = np.zeros(0, dtype=np.intp) if is_whole else self._seen_alone()
        # Rows of each cone on the unknowns, or on the multipliers of other rows.
        seen = self._seen_by_others() if self.own_rows.size else self._blocks
        self._columns = [np.unique(A.indices) for A in seen]
        pairs = zip(seen, self._columns, strict=True)
        self._seen = [light(_of_columns(A, columns)) for A, columns in pairs]
        self._matrices = [
            self._as_matrices(cone, A) for (cone, _), A in zip(program.cones, seen, strict=True)
        ]

    def _seen_by_others(self) -> list[sp.csr_array]:
        """Columns of other rows for each whole cone, in units of its slack; empty for the rest."""
        program, others = self.program, chosen_rows(self.program.A, self.other_rows)
        m, n = program.f.size, program.c.size
        rows = placed([(0, 0, program.E), (m, 0, others)], (m + others.shape[0], n))
        self._others, inverse = light(rows), np.empty(n)
        self._others_T = self._others.T
        inverse[self.own_columns] = 1.0 / self.own_entries
        turned = scaled(transposed(rows), inverse)
        place = np.full(program.b.size, -1)
        place[self.own_rows] = np.arange(self.own_rows.size)
        own = chosen_rows(turned, self.own_columns)
        return [chosen_rows(own, place[part[place[part] >= 0]]) for _, part in program.cones]

    def _whole_cones(self) -> tuple[Index, Index, Array]:
        """Rows ``s = -a x`` of whole cones that see every variable once, their columns and -a."""
        program = self.program
        rows, columns, entries = list[Index](), list[Index](), list[Array]()
        taken = np.zeros(program.c.size, dtype=bool)
        # Large cones first: entries of a matrix may also be limited one by one.
        cones = zip(program.cones, self._blocks, strict=True)
        for (_, part), A in sorted(cones, key=lambda one: -one[0][1].size):
            if not np.all(np.diff(A.indptr) == 1) or np.any(taken[A.indices]):
                continue
            if np.unique(A.indices).size == part.size:
                rows.append(part)
                columns.append(A.indices.astype(np.intp))
                entries.append(A.data)
                taken[A.indices] = True
        others = program.b.size - sum(part.size for part in rows)
        if not np.all(taken) or program.f.size + others > program.c.size:
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0)
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(entries)

    def _seen_alone(self) -> Index:
        """Unknowns that are in inequalities only, and never two of them in one inequality.

        The Hessian of the barrier is diagonal on them. Examples are bounds on absolute values.
        """
        program = self.program
        n = program.c.size
        # An unknown in no row has no Hessian.
        is_alone = np.bincount(program.A.indices, minlength=n) > 0
        is_alone &= np.bincount(program.E.indices, minlength=n) == 0
        for (cone, _), A in zip(program.cones, self._blocks, strict=True):
            if not isinstance(cone, Nonnegative):
                is_alone[A.indices] = False
        for (cone, _), A in zip(program.cones, self._blocks, strict=True):
            if isinstance(cone, Nonnegative):
                counts = np.bincount(row_of_each(A), is_alone[A.indices], A.shape[0])
                is_alone[A.indices[counts[row_of_each(A)] > 1.0]] = False
        return np.flatnonzero(is_alone)

    def _as_matrices(self, cone: Cone, seen: sp.csr_array) -> list[BlockColumns]:
        """The rows of each matrix of a cone; empty if one product for all is faster."""
        if not seen.shape[0] or not isinstance(cone, Semidefinite):
            return []
        together = seen.shape[0] * float(np.unique(seen.indices).size) ** 2
        if cone.count > 1 and cone.count * _MATRIX_CALLS > together:
            return []
        root = np.tile(np.sqrt(cone.weight), cone.count)
        # Multipliers of entries beside the diagonal belong to both.
        seen = scaled(seen, 1.0 / root if self.own_rows.size else root)
        rows = np.arange(seen.shape[0]).reshape(cone.count, cone.dim)
        return [BlockColumns.of(cone.order, chosen_rows(seen, one)) for one in rows]

    def centre(self, x: Array, s: Array, z: Array, mu: float) -> tuple[Array, Array] | None:
        """A point and multipliers near those of mu on the path; None with a reason in ``why``.

        Parameters
        ----------
        x, s, z : arrays
            The answer of a solver; z has multipliers of equations and cones.
        mu : float
        """
        program, m = self.program, self.program.f.size
        w, x = z[:m].copy(), x.copy()
        try:
            s = program.each(lambda cone, a, b: cone.pair(a, b, mu)[0], s, z[m:])
        except np.linalg.LinAlgError as error:
            self.why = str(error)
            return None
        lengths = list[float]()
        for _ in range(_STEPS):
            if self._is_late():
                self.why = "the time is up"
                return None
            try:
                dx, found, ds, length = self._step(x, s, w, mu)
            except (np.linalg.LinAlgError, ValueError) as error:
                self.why = str(error)
                return None
            if not np.isfinite(length) or length > _FAR:
                self.why = f"a step of length {length:.0e}"
                return None
            if length < _NEAR:
                return x + dx, found
            lengths.append(length)
            if len(lengths) > _PATIENCE and length > _SHORTER * lengths[-1 - _PATIENCE]:
                self.why = "steps do not get shorter: a side may have no interior"
                return None
            share = 1.0
            while share > 1e-4 and not program.all_inside(s + share / 0.95 * ds):
                share *= 0.7
            x, s, w = x + share * dx, s + share * ds, w + share * (found[:m] - w)
        self.why = f"no point within {_STEPS} steps"
        return None

    def _step(self, x: Array, s: Array, w: Array, mu: float) -> tuple[Array, Array, Array, float]:
        """The step of x, multipliers, the step of s, and its length in the local norm."""
        here = _Step(self, x, s, w, mu)
        return self._by_multipliers(here) if self.own_rows.size else self._by_points(here)

    def _by_points(self, here: _Step) -> tuple[Array, Array, Array, float]:
        program, mu, A, E = self.program, here.mu, self.A, self.E
        pulled = here.gradient + here.hessian(here.missed)
        slope = -(program.c + self.E_T @ here.w - mu * (self.A_T @ pulled))
        G = self._hessian_of_points(here)
        d = 1.0 / np.sqrt(np.maximum(G.diagonal(), 1e-14 * np.max(G.diagonal(), initial=1e-300)))
        G *= d
        G *= d[:, None]
        own = scaled(program.E, columns=d)
        sizes = np.bincount(row_of_each(own), np.square(own.data), program.f.size)
        rows = 1.0 / np.sqrt(np.maximum(sizes, 1e-300))
        own = scaled(own, rows)
        # In directions that no cone sees, the equations make the matrix definite.
        if own.shape[0]:
            G += _gram(own)
        factor = _Arrow(G, self._alone)
        own = light(own)
        schur = factor.schur(_dense(own))
        dx, dw, missed = np.zeros_like(here.x), np.zeros_like(here.w), np.inf
        for _ in range(_REFINEMENTS):
            left = d * (slope - mu * (self.A_T @ here.hessian(A @ dx)) - self.E_T @ dw)
            right = rows * (here.missed_equations - E @ dx)
            before, missed = missed, float(np.hypot(np.linalg.norm(left), np.linalg.norm(right)))
            if not missed < _LEFT * before:
                break
            u = factor.solve(left + own.T @ right)
            if schur is not None:
                v = _solved(schur, own @ u - right)
                u, dw = u - factor.solve(own.T @ v), dw + rows * v
            dx = dx + d * u
        ds = here.missed - A @ dx
        z = -mu * (here.gradient + here.hessian(ds))
        return dx, np.concatenate([here.w + dw, z]), ds, here.length(ds)

    def _hessian_of_points(self, here: _Step) -> Array:
        """The Hessian of the barrier by the unknowns."""
        G = np.zeros((self.program.c.size,) * 2)
        for scaling, seen, columns, matrices in zip(
            here.scalings, self._seen, self._columns, self._matrices, strict=True
        ):
            if matrices:
                for one, R in zip(matrices, _of_inverse(scaling), strict=True):
                    G[np.ix_(one.at, one.at)] += one.product(R)
                continue
            part = scaling.times(seen)
            product = _dense(part.T @ part)
            if columns.size == G.shape[0]:
                G += product
            else:
                G[np.ix_(columns, columns)] += product
        G *= here.mu
        return G

    def _by_multipliers(self, here: _Step) -> tuple[Array, Array, Array, float]:
        """The same step where s = -a x on whole cones: a system in multipliers of other rows."""
        program, mu, A, E = self.program, here.mu, self.A, self.E
        rows, columns, entries = self.own_rows, self.own_columns, self.own_entries
        others, m = self.other_rows, program.f.size
        M = self._schur_of_multipliers(here)
        d = 1.0 / np.sqrt(np.maximum(M.diagonal(), 1e-300))
        factor = _cholesky(M * d[:, None] * d)
        dx, dw, ds = np.zeros_like(here.x), np.zeros_like(here.w), np.zeros_like(here.s)
        z, missed = -mu * here.gradient, np.inf
        for _ in range(_REFINEMENTS):
            slope = -(program.c + self.E_T @ (here.w + dw) + self.A_T @ z)
            given = np.zeros(program.b.size)
            given[rows] = slope[columns] / entries
            answer = -here.inverse(given) / mu
            apart = here.missed - A @ dx - ds
            move = np.zeros(program.c.size)
            move[columns] = (apart[rows] - answer[rows]) / entries
            right = np.concatenate([here.missed_equations - E @ dx, apart[others]])
            right = right - self._others @ move
            before, missed = missed, float(np.linalg.norm(d * right))
            if not missed < _LEFT * before:
                break
            v = -d * _solved(factor, d * right)
            change = np.zeros(program.b.size)
            change[others] = v[m:]
            change[rows] = (slope - self._others_T @ v)[columns] / entries
            dw, z = dw + v[:m], z + change
            ds = ds - here.inverse(change) / mu
            dx[columns] += (here.missed - A @ dx - ds)[rows] / entries
        return dx, np.concatenate([here.w + dw, z]), ds, here.length(ds)

    def _schur_of_multipliers(self, here: _Step) -> Array:
        m, size = self.program.f.size, self._others.shape[0]
        M = np.zeros((size, size))
        for scaling, seen, columns, matrices, (_, part) in zip(
            here.scalings,
            self._seen,
            self._columns,
            self._matrices,
            self.program.cones,
            strict=True,
        ):
            if matrices:
                for one, R in zip(matrices, _of_matrix(scaling), strict=True):
                    M[np.ix_(one.at, one.at)] += one.product(R)
            elif seen.shape[0]:
                half = scaling.back_transposed(seen)
                M[np.ix_(columns, columns)] += _dense(half.T @ half)
            else:
                at, R = m + np.searchsorted(self.other_rows, part), scaling.back(np.eye(part.size))
                M[np.ix_(at, at)] += R @ R.T
        return M / here.mu


def _of_matrix(scaling: Scaling) -> Array:
    """R of each matrix S = R^T R of a scaling."""
    assert isinstance(scaling, Congruence)
    return scaling.roots


def _of_inverse(scaling: Scaling) -> Array:
    """The same of their inverses."""
    assert isinstance(scaling, Congruence)
    return scaling.inverse_roots


def _gram(E: sp.csr_array) -> Array:
    """E^T E, by a sparse product where that takes less time."""
    counts = np.diff(E.indptr)
    if _SPARSE_FACTOR * float(counts @ counts) >= E.shape[0] * float(E.shape[1]) ** 2:
        dense = E.toarray()
        return np.asarray(dense.T @ dense)
    return _dense(E.T @ E)


def _dense(matrix: Matrix) -> Array:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix)


def _of_columns(A: sp.csr_array, columns: Index) -> sp.csr_array:
    """The columns of a matrix that are not empty."""
    indices = np.searchsorted(columns, A.indices)
    return rows_as_they_are(A.data, indices, A.indptr, (A.shape[0], columns.size))


class _Arrow:
    """A positive definite matrix, some of whose rows see each other on the diagonal only.

    Parameters
    ----------
    G : array of shape (n, n)
    alone : array of int
        Those rows, which are eliminated first, and take no time.

    Raises
    ------
    numpy.linalg.LinAlgError
    """

    def __init__(self, G: Array, alone: Index) -> None:
        self._alone, self._rest = alone, np.setdiff1d(np.arange(len(G)), alone)
        if alone.size:
            self._diagonal = G[alone, alone]
            if not np.all(self._diagonal > 0.0):
                raise np.linalg.LinAlgError(_SINGULAR)
            self._beside = sp.csr_array(G[np.ix_(self._rest, alone)])
            taken = scaled(self._beside, columns=1.0 / self._diagonal) @ self._beside.T
            G = G[np.ix_(self._rest, self._rest)] - taken.toarray()
        self._factor = _cholesky(G)

    def solve(self, v: Array) -> Array:
        """The solution of a system with the matrix."""
        if not self._alone.size:
            return _solved(self._factor, v)
        found, first = np.empty_like(v), v[self._alone] / self._diagonal
        found[self._rest] = _solved(self._factor, v[self._rest] - self._beside @ first)
        found[self._alone] = first - self._beside.T @ found[self._rest] / self._diagonal
        return found

    def schur(self, E: Array) -> Any:
        """A factor of E G^-1 E^T, where E sees none of the rows that are alone; None of nothing."""
        if not E.shape[0]:
            return None
        upper, is_lower = self._factor
        transposed = "N" if is_lower else "T"
        half = sl.solve_triangular(upper, E[:, self._rest].T, trans=transposed, lower=is_lower)
        S = half.T @ half
        least = 1e-13 * max(1.0, float(np.trace(S)) / S.shape[0])
        return sl.cho_factor(S + least * np.eye(S.shape[0]), check_finite=False)


def _solved(factor: Any, v: Array) -> Array:
    return np.asarray(sl.cho_solve(factor, v, check_finite=False))


def _cholesky(G: Array) -> Any:
    diagonal = G.diagonal().copy()
    for jitter in _JITTERS:
        np.fill_diagonal(G, diagonal + jitter)
        with suppress(np.linalg.LinAlgError):
            return sl.cho_factor(G, check_finite=False)
    raise np.linalg.LinAlgError(_SINGULAR)
