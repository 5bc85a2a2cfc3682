r"""From a matrix that is nearly of a rank to one that is, exactly.

Interior-point answers carry small eigenvalues to the end. `polish` cuts them off and moves the
remaining factor until the constraints hold again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import least_squares

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, NotAcceptedError
from sdpdr.base.keywords import checks_keywords
from sdpdr.linalg import LinearMap
from sdpdr.linalg.spectral import factor_spectrum
from sdpdr.linalg.svec import slopes
from sdpdr.program import SDP
from sdpdr.program.face import exposing_rows, null_vectors
from sdpdr.program.point import Value, leading_factor, spectrum_of
from sdpdr.program.rows import Rows
from sdpdr.program.sizes import row_norms
from sdpdr.solving.iterate.programs import matrices_of

# Steps of the repair, which takes a dozen where the rows can hold.
_STEPS = 200


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


@checks_keywords
def polish(program: SDP, value: Value, rank: int, variable: str | None = None) -> Purified:
    r"""Cut a matrix down to a rank and move its factor until the constraints hold again.

    .. math::

        \min_{R \in R^{n \times r}} \sum_e \left(\frac{\langle A_e, R R^T\rangle - b_e}{|b_e|}
        \right)^2

    over the equalities and, of the inequalities, the violated part, from the leading eigenvectors
    by `scipy.optimize.least_squares`. Where the constraints can hold at that rank nearby it
    converges quadratically; where not, the residual says so. Constraints with other variables
    (penalized slack) are left out.

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
    >>> import numpy as np
    >>> from sdpdr.iterate import polish
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> program = methods.isometric(graphs.path([1.0, 2.0])).to_sdp()
    >>> bent = np.array([[-1.0, 0.1], [0.0, -0.1], [1.9, 0.0]])
    >>> polish(program, sdpdr.program.Factor(bent), rank=1).held()
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


def _repaired(rows: _Violations, factor: Array) -> tuple[Array, int]:
    """The factor where the rows are violated least, and the number of steps."""
    shape = factor.shape
    found = least_squares(
        lambda x: rows.values(x.reshape(shape)),
        factor.ravel(),
        lambda x: rows.slopes(x.reshape(shape)),
        # Without J^T J, which one dense row fills.
        tr_solver="lsmr",
        # Where the rows can hold, the sum of squares falls by far more than this in every step.
        ftol=1e-7,
        xtol=np.finfo(float).eps,
        gtol=np.finfo(float).eps,
        max_nfev=_STEPS,
    )
    return found.x.reshape(shape), int(found.nfev)


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
        # Equations say how large the matrix is; limits may never act.
        equations = [r for r in found if r.relation == "==" and np.any(r.rhs)] or found
        sizes = [np.abs(r.rhs) / row_norms(r.lhs[name]) for r in equations]
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
