r"""From a matrix that is nearly of a rank to one that is, exactly.

Interior-point answers carry small eigenvalues to the end. `polish` cuts them off and moves the
remaining factor until the constraints hold again; `reduce_rank` removes directions one by one where
there are linear equalities only, and moves no constraint at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, NotAcceptedError
from sdpdr.linalg import LinearMap
from sdpdr.linalg.spectral import factor_spectrum
from sdpdr.linalg.svec import SQRT2, slopes, svec_pairs
from sdpdr.program import SDP, Factor
from sdpdr.program.face import exposing_rows, null_vectors
from sdpdr.program.point import Value, leading_factor, spectrum_of
from sdpdr.program.rows import Rows
from sdpdr.program.sizes import row_norms
from sdpdr.solving.iterate.programs import matrices_of

# The repair: most steps, a sum of squares that rounding leaves, and the least damping and relative
# progress that are worth a step.
_STEPS, _ZERO = 200, 1e-30
_DAMPING, _PROGRESS = 1e-12, 1e-7
# Eigenvalues below this share of the largest are no directions of a matrix.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class Purified:
    """A matrix of exactly some rank, and how well it satisfies the constraints.

    Attributes
    ----------
    factor : array of shape (n, rank)
        R with X = R R^T; columns orthogonal, by falling size, signs fixed.
    residual : float
        Largest violation of a row, relative to its right side (where that is zero, to a typical
        entry).
    truncated : float
        The same before the repair, of the matrix with its trailing eigenvalues cut off.
    steps : int
        Steps that the repair took.
    """

    factor: Array
    residual: float
    truncated: float
    steps: int

    def held(self, tol: float = 1e-9) -> bool:
        """Whether all constraints hold to ``tol``."""
        return self.residual <= tol

    def __repr__(self) -> str:
        n, rank = self.factor.shape
        return (
            f"Purified(rank {rank} of order {n}: residual {self.residual:.1e}, "
            f"{self.truncated:.1e} before)"
        )


def polish(program: SDP, value: Value, rank: int, variable: str | None = None) -> Purified:
    r"""Cut a matrix down to a rank and move its factor until the constraints hold again.

    .. math::

        \min_{R \in R^{n \times r}} \sum_e \left(\frac{\langle A_e, R R^T\rangle - b_e}{|b_e|}
        \right)^2

    over the equalities and, of the inequalities, the violated part; by a damped Gauss-Newton method
    from the leading eigenvectors. Where the constraints can hold at that rank nearby it converges
    quadratically; where not, the residual says so. Constraints with other variables (penalized
    slack) are left out.

    Parameters
    ----------
    program : SDP
    value : array of shape (n, n) or Factor
    rank : int
    variable : str, optional
        Name of the matrix; needed only if there are several.

    Returns
    -------
    Purified

    Raises
    ------
    DataError
        If the rank is not in 1..n.
    NotAcceptedError
        If the program has matrix inequalities.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> program = methods.isometric(graphs.path([1.0, 2.0])).to_sdp()
    >>> bent = np.array([[-1.0, 0.1], [0.0, -0.1], [1.9, 0.0]])
    >>> polish(program, Factor(bent), rank=1).held()
    True
    """
    (name,) = matrices_of(program, variable)
    start = _truncated(value, validate.positive_integer("rank", rank))
    if program.lmis:
        raise NotAcceptedError("polishing knows rows only; the program has matrix inequalities.")
    rows = _Violations.of(program, name)
    start = start - rows.null @ (rows.null.T @ start)
    factor, steps = _repaired(rows, start)
    factor = factor - rows.null @ (rows.null.T @ factor)
    spectrum, vectors = factor_spectrum(factor)
    factor = vectors * np.sqrt(spectrum)
    return Purified(factor, rows.largest(factor), rows.largest(start), steps)


def reduce_rank(program: SDP, value: Value, variable: str | None = None) -> Factor:
    r"""Lower the rank of a feasible matrix as far as counting equalities allows, keeping every row.

    With X = R R^T, R of r columns, a symmetric D orthogonal to all :math:`R^T A_e R` exists while
    r (r + 1) / 2 exceeds the number of rows; :math:`R (I - D / \lambda_{\max}(D))^{1/2}` then
    satisfies the same rows with a column less. The objective counts as a row, so its value is kept
    too. The rank reached has r (r + 1) / 2 at most equal to the number of independent rows; no
    other rank can be asked for.

    Parameters
    ----------
    program : SDP
    value : array of shape (n, n) or Factor
        Inequalities are kept at the values they have.
    variable : str, optional

    Returns
    -------
    Factor

    References
    ----------
    A. Barvinok, Discrete & Computational Geometry 13, 1995; G. Pataki, Mathematics of Operations
    Research 23(2), 1998.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> program = methods.isometric(graphs.path([1.0, 1.0, 1.0])).to_sdp()
    >>> X = np.diag([0.5, 0.5, 0.5, 0.5]) - 0.125
    >>> reduce_rank(program, X).factor.shape
    (4, 2)
    """
    (name,) = matrices_of(program, variable)
    maps = [
        r.lhs[name] for r in program.rows if name in r.lhs and r not in exposing_rows(program, name)
    ]
    maps += [program.objective[name]] if name in program.objective else []
    factor = _truncated(value, program.variable(name).n)  # type: ignore[union-attr]  # a matrix
    size = np.sum(factor**2, axis=0)
    factor = factor[:, size > _NEGLIGIBLE * size[0]]
    while factor.shape[1] > 1:
        rows = [m.congruence(factor).matrix() for m in maps if isinstance(m, LinearMap)]
        dense = sp.vstack(rows, format="csr").toarray()
        free = sl.null_space(dense, rcond=1e-10)
        if not free.shape[1]:
            break
        factor = _shortened(factor, free[:, 0])
    return Factor(factor)


def _repaired(rows: _Violations, factor: Array) -> tuple[Array, int]:
    """Damped Gauss-Newton (Levenberg and Marquardt) on the violations of the rows."""
    away = rows.values(factor)
    size = float(away @ away)
    slopes = rows.slopes(factor)
    scale = float(np.max((slopes * slopes).sum(axis=0), initial=np.finfo(float).tiny))
    damping, step = 1e-3, 0
    while step < _STEPS and size > _ZERO and damping < 1.0 / _DAMPING:
        step += 1
        moved = factor + _step(slopes, away, damping * scale).reshape(factor.shape)
        after = rows.values(moved)
        smaller = float(after @ after)
        if not smaller < size:
            damping *= 10.0
            continue
        idle = size - smaller <= _PROGRESS * size
        factor, away, size = moved, after, smaller
        if idle:
            break
        slopes = rows.slopes(factor)
        damping = max(0.05 * damping, _DAMPING)
    return factor, step


def _step(slopes: sp.csr_array, away: Array, damping: float) -> Array:
    """Minimiser d of |J d + f|^2 + damping |d|^2, without J^T J, which one dense row fills."""
    m, unknowns = slopes.shape
    root = np.sqrt(damping)
    system = sp.block_array(
        [[root * sp.eye_array(m), slopes], [slopes.T, -root * sp.eye_array(unknowns)]],
        format="csc",
    )
    right = np.concatenate([-away, np.zeros(unknowns)])
    return np.asarray(spl.splu(system).solve(right)[m:])


def _shortened(factor: Array, free: Array) -> Array:
    """One column less, in the direction of a symmetric matrix given in ``svec`` coordinates."""
    r = factor.shape[1]
    i, j = svec_pairs(np.arange(free.size))
    D = np.zeros((r, r))
    D[i, j] = D[j, i] = np.where(i == j, free, free / SQRT2)
    values, vectors = np.linalg.eigh(D)
    largest = int(np.argmax(np.abs(values)))
    shrink = np.sqrt(np.maximum(1.0 - values / values[largest], 0.0))
    kept = np.arange(r) != largest
    return np.asarray((factor @ vectors * shrink)[:, kept])


@dataclass(frozen=True, eq=False)
class _Violations:
    """Rows of one matrix as functions of its factor, scaled to their right sides."""

    rows: tuple[tuple[Rows, sp.csr_array, Array], ...]
    null: Array
    name: str

    @classmethod
    def of(cls, program: SDP, name: str) -> _Violations:
        faces = exposing_rows(program, name)
        found = [r for r in program.rows if set(r.lhs) == {name} and r not in faces]
        entries = [row_norms(r.lhs[name]) for r in found]
        sizes = [np.abs(r.rhs) / e for r, e in zip(found, entries, strict=True)]
        known = np.concatenate([np.zeros(0), *sizes])
        typical = float(np.median(known[known > 0.0])) if np.any(known > 0.0) else 1.0
        scaled = []
        for r, norms in zip(found, entries, strict=True):
            scale = np.where(r.rhs != 0.0, np.abs(r.rhs), norms * typical)
            scaled.append((r, r.lhs[name].matrix(), 1.0 / np.where(scale > 0.0, scale, 1.0)))
        null = np.linalg.qr(null_vectors(program, name).toarray())[0]
        return cls(tuple(scaled), null, name)

    def values(self, factor: Array) -> Array:
        parts = [(self.null.T @ factor).ravel()]
        for rows, _, scale in self.rows:
            linear_map = rows.lhs[self.name]
            assert isinstance(linear_map, LinearMap)
            away = (linear_map.apply_factor(factor) - rows.rhs) * scale
            parts.append(away if rows.relation == "==" else np.maximum(away, 0.0))
        return np.concatenate(parts)

    def largest(self, factor: Array) -> float:
        return float(np.max(np.abs(self.values(factor)), initial=0.0))

    def slopes(self, factor: Array) -> sp.csr_array:
        r = factor.shape[1]
        parts = [sp.kron(sp.csr_array(self.null.T), sp.eye_array(r))]
        for rows, matrix, scale in self.rows:
            slope = sp.diags_array(scale) @ slopes(matrix, factor)
            if rows.relation == "<=":
                linear_map = rows.lhs[self.name]
                assert isinstance(linear_map, LinearMap)
                over = linear_map.apply_factor(factor) > rows.rhs
                slope = sp.diags_array(over.astype(float)) @ slope
            parts.append(slope)
        return sp.vstack(parts, format="csr")


def _truncated(value: Value, rank: int) -> Array:
    """The leading part of a factor of a matrix."""
    if rank > value.shape[0]:
        raise DataError(f"rank must lie in 1..{value.shape[0]}; it is {rank}.")
    return leading_factor(*spectrum_of(value), rank)
