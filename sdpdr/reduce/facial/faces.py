r"""What is known of the face a program's feasible points lie on, and what rows say on it.

Take multipliers y of rows (:math:`y \ge 0` on inequalities) and :math:`\zeta` of entries of matrix
inequalities (:math:`\zeta \ge 0`, on their diagonals). Every feasible point satisfies

.. math::

    \textstyle\sum_k \langle W_k, X_k\rangle + s^T z \le r, \qquad
    W_k = \sum_e y_e A_{ek} - \sum_p \zeta_p G_{pk},

with r what the right sides add up to. Let :math:`V_k^T W_k V_k \succeq 0` on the faces known so
far, s = 0 on free scalars and :math:`s \ge 0` on non-negative ones. If r = 0, each of these terms
vanishes: :math:`V_k^T W_k V_k M_k = 0`, scalars with s > 0 are zero, inequalities with y > 0 are
equations, and rows of matrix inequalities with :math:`\zeta > 0` are zero. If r < 0, there is no
feasible point. All of it is decided over the rationals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TypeAlias

import numpy as np

from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.exact import (
    Mask,
    Symmetric,
    Vector,
    add,
    matrix_row,
    matrix_row_over_root,
    over_root,
    range_of,
    vector_row,
    vector_row_over_root,
)
from sdpdr.linalg.svec import svec_pairs, svec_size
from sdpdr.program.echelon import Echelon
from sdpdr.program.rows import Expression, Lmi, Rows
from sdpdr.program.sdp import SDP

# Label of a group, number of the row (of a matrix inequality: place in svec), multiplier.
Multiplier: TypeAlias = "tuple[str, int, Fraction]"


@dataclass(frozen=True)
class Line:
    """One row on the face known so far, with a right side; of a matrix inequality its negative.

    Attributes
    ----------
    equality : bool
    matrices : mapping from variable to V^T A V
    scalars : mapping from variable to the coefficients of scalars not known to vanish
    side : Fraction
    """

    equality: bool
    matrices: dict[str, Symmetric]
    scalars: dict[str, Vector]
    side: Fraction

    @property
    def is_void(self) -> bool:
        """Whether nothing is left of its left side."""
        return not any(self.matrices.values()) and not any(self.scalars.values())


@dataclass(frozen=True)
class Consequences:
    """What multipliers prove of every feasible point.

    Attributes
    ----------
    vectors : tuple of (variable, null vector), the vector as pairs of place and entry
    zeros : tuple of (variable, number of a scalar that vanishes)
    tight : tuple of (label, number of an inequality that is an equation)
    vanishing : tuple of (label, row of a matrix inequality that is zero)
    contradiction : bool
        There is no feasible point.
    """

    vectors: tuple[tuple[str, tuple[tuple[int, Fraction], ...]], ...] = ()
    zeros: tuple[tuple[str, int], ...] = ()
    tight: tuple[tuple[str, int], ...] = ()
    vanishing: tuple[tuple[str, int], ...] = ()
    contradiction: bool = False

    def __bool__(self) -> bool:
        known = (self.vectors, self.zeros, self.tight, self.vanishing)
        return self.contradiction or any(known)

    def record(self) -> dict[str, object]:
        """What is proved, ready for JSON; what is empty is left out."""
        vectors = [[name, [[k, str(x)] for k, x in vector]] for name, vector in self.vectors]
        told = {
            "vectors": vectors,
            "zeros": [list(zero) for zero in self.zeros],
            "tight": [list(row) for row in self.tight],
            "vanishing": [list(row) for row in self.vanishing],
            "contradiction": self.contradiction,
        }
        return {key: value for key, value in told.items() if value}


@dataclass(frozen=True)
class Combination:
    """What multipliers of rows add up to on the face known so far.

    Attributes
    ----------
    matrices, scalars, side : see `Line`
    strict : tuple of (label, number of a row that is an inequality)
    """

    matrices: dict[str, Symmetric]
    scalars: dict[str, Vector]
    side: Fraction
    strict: tuple[tuple[str, int], ...]


class Faces:
    """The faces proved so far, one for each matrix, and everything else that is settled.

    Parameters
    ----------
    sdp : SDP
    entries : float, default inf
        How many entries of rows may be read; beyond, rows count as not known exactly.
    """

    def __init__(self, sdp: SDP, entries: float = inf) -> None:
        self.sdp = sdp
        self._left = entries
        # Rows of which their own proof leaves nothing.
        self.void: set[tuple[str, int]] = set()
        self._last: tuple[tuple[str, int], Line | None] | None = None
        self.echelons = {v.name: Echelon() for v in sdp.psd_variables}
        self.keep: dict[str, Mask] = {v.name: np.ones(v.n, dtype=bool) for v in sdp.psd_variables}
        self.zeros: dict[str, set[int]] = {v.name: set() for v in sdp.vector_variables}
        self.tight: dict[str, set[int]] = {r.label: set() for r in sdp.rows}
        self.vanishing: dict[str, set[int]] = {lmi.label: set() for lmi in sdp.lmis}
        self._parts: dict[str, Rows | Lmi] = {r.label: r for r in sdp.rows}
        self._parts |= {lmi.label: lmi for lmi in sdp.lmis}

    def places(
        self, rows: Mapping[str, Iterable[int]], zeros: Iterable[tuple[str, int]]
    ) -> dict[str, Mask]:
        """Some rows and columns of the matrices, and some scalars, as masks."""
        found = {v.name: np.zeros(v.extents[0], dtype=bool) for v in self.sdp.variables}
        for name, chosen in rows.items():
            found[name][sorted(chosen)] = True
        for name, k in zeros:
            found[name][k] = True
        return found

    def lost(self, lmi: Lmi) -> Mask:
        """Places, in ``svec``, of a matrix inequality that lie in a row or column of zeros."""
        gone = np.zeros(lmi.order, dtype=bool)
        gone[sorted(self.vanishing[lmi.label])] = True
        i, j = svec_pairs(np.arange(svec_size(lmi.order)))
        return np.asarray(gone[i] | gone[j])

    def line(self, label: str, e: int) -> Line | None:
        """A row on the face; None if its numbers are not known exactly, or it is no row."""
        if self._last is None or self._last[0] != (label, e):
            self._last = (label, e), self._read(label, e)
        return self._last[1]

    def _read(self, label: str, e: int) -> Line | None:
        part = self._parts.get(label)
        if part is None:
            return None
        if isinstance(part, Rows):
            equality = part.relation == "==" or e in self.tight[label]
            return self._line(part.lhs, e, 1, equality, Fraction(float(part.rhs[e])))
        i, j = (int(k) for k in svec_pairs(e))
        equality = bool({i, j} & self.vanishing[label])
        if i == j:
            return self._line(part.lhs, e, -1, equality, Fraction(float(part.constant[e])))
        side = over_root(part.constant[[e]])
        if side is None or not equality:
            return None
        return self._line(part.lhs, e, -1, equality, side[0], beside_diagonal=True)

    def _line(
        self,
        lhs: Expression,
        e: int,
        sign: int,
        equality: bool,
        side: Fraction,
        beside_diagonal: bool = False,
    ) -> Line | None:
        """A row as stored; of a place beside the diagonal of a matrix inequality, over sqrt 2."""
        matrices: dict[str, Symmetric] = {}
        scalars: dict[str, Vector] = {}
        for name, linear_map in lhs.items():
            if isinstance(linear_map, VectorMap):
                row = (vector_row_over_root if beside_diagonal else vector_row)(linear_map, e)
                if row is None:
                    return None
                scalars[name] = {k: sign * b for k, b in row.items() if k not in self.zeros[name]}
                continue
            assert isinstance(linear_map, LinearMap)
            read = matrix_row_over_root if beside_diagonal else matrix_row
            matrix = read(linear_map, e, self.keep[name])
            self._left -= 0 if matrix is None else len(matrix)
            if matrix is None or self._left < 0:
                return None
            if sign < 0:
                matrix = {place: -a for place, a in matrix.items()}
            matrices[name] = self.echelons[name].restrict(matrix)
        return Line(equality, matrices, scalars, side)

    def combination(self, multipliers: Sequence[Multiplier]) -> Combination | None:
        """What rows add up to on the face; None if one is not known, or has the wrong sign."""
        matrices: dict[str, Symmetric] = {}
        scalars: dict[str, Vector] = {}
        side, strict = Fraction(0), []
        for label, e, y in multipliers:
            line = self.line(label, e)
            if line is None or (y < 0 and not line.equality):
                return None
            for name, matrix in line.matrices.items():
                add(matrices.setdefault(name, {}), matrix, y)
            for name, vector in line.scalars.items():
                add(scalars.setdefault(name, {}), vector, y)
            side += y * line.side
            if not line.equality:
                strict.append((label, e))
        return Combination(matrices, scalars, side, tuple(strict))

    def consequences(self, multipliers: Sequence[Multiplier]) -> Consequences:
        """What some multipliers prove beyond what is known; nothing (false) if they do not."""
        total = self.combination(multipliers)
        if total is None:
            return Consequences()
        matrices, scalars, side, strict = total.matrices, total.scalars, total.side, total.strict
        ranges = {name: range_of(matrix) for name, matrix in matrices.items()}
        if side > 0 or not all(self._signed(name, s) for name, s in scalars.items()):
            return Consequences()
        if any(columns is None for columns in ranges.values()):
            return Consequences()
        if side < 0:
            return Consequences(contradiction=True)
        columns = [(name, column) for name, found in ranges.items() for column in found or ()]
        return Consequences(
            tuple((name, tuple(sorted(column.items()))) for name, column in columns),
            tuple((name, k) for name, s in scalars.items() for k in sorted(s)),
            # A row alone vanishes on its face; only what others are needed for has to be kept.
            tuple(p for p in strict if p[0] in self.tight) if len(multipliers) > 1 else (),
            tuple((p[0], int(svec_pairs(p[1])[0])) for p in strict if p[0] in self.vanishing),
        )

    def _signed(self, name: str, coefficients: Vector) -> bool:
        signed = self.sdp.variable(name).is_signed
        return all(signed and s > 0 for s in coefficients.values())

    def absorb(self, proved: Consequences) -> None:
        """Restrict the faces to what was proved."""
        self._last = None
        for name, vector in proved.vectors:
            self.echelons[name].insert(dict(vector))
        for name in {name for name, _ in proved.vectors}:
            self.keep[name][sorted(self.echelons[name].units)] = False
        for name, k in proved.zeros:
            self.zeros[name].add(k)
        for label, e in proved.tight:
            self.tight[label].add(e)
        for label, i in proved.vanishing:
            self.vanishing[label].add(i)

    def absorb_all(self, proved: Iterable[Consequences]) -> None:
        """Restrict the faces to all that was proved."""
        for one in proved:
            self.absorb(one)
