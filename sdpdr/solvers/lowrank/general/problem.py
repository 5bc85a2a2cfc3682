r"""A standard-form program over factors, with its rows and its objective scaled.

.. math::

    \min\ & f(x) = v_0(x) + \tfrac12 z^T Q z, \qquad
      v(x) = \textstyle\sum_k \mathcal A_k(R_k R_k^T) + B z, \\
    \text{s.t. } & h(x) = v_{1:m}(x) - b \ (=, \le)\ 0, \qquad P_k R_k = R_k .

Non-negative scalars are matrices that are only read on the diagonal, so their factor has a single
column t with z = t^2. A matrix inequality gets a matrix of its own as slack. Rows that confine a
matrix to a face (K u = 0) become the projection P_k of its factor, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ShapeError
from sdpdr.linalg.svec import smat, svec
from sdpdr.program.face import complete_multipliers, exposing_rows
from sdpdr.program.point import Factor, Point, Value, VectorVariable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.solvers.lowrank.general.forms import Forms


@dataclass(frozen=True, eq=False)
class FactorBlock:
    """One matrix variable of the scaled program.

    Attributes
    ----------
    name : str
    n : int
    forms : Forms
    face : array of shape (n, p)
        Orthonormal columns u with K u = 0.
    scalar : bool
        Whether only the diagonal counts, so that one column is all there is.
    """

    name: str
    n: int
    forms: Forms
    face: Array
    scalar: bool

    @property
    def largest_rank(self) -> int:
        """Most columns that a factor can use."""
        return 1 if self.scalar else self.n - self.face.shape[1]

    @property
    def has_cost(self) -> bool:
        """Whether the objective reads the matrix itself."""
        return bool(self.forms.matrix[[0]].nnz or self.forms.weights[[0]].nnz)

    def project(self, factor: Array) -> Array:
        """The part of a factor in the face."""
        if not self.face.shape[1]:
            return factor
        return np.asarray(factor - self.face @ (self.face.T @ factor))


@dataclass(frozen=True, eq=False)
class Units:
    """What one unit of the scaled program is: of the unknowns, the objective and each row."""

    unknown: float
    objective: float
    rows: Array


@dataclass(frozen=True, eq=False)
class FactorProblem:
    """A program over factors, scaled; see the module's text.

    Attributes
    ----------
    sdp : SDP
        Where it came from.
    blocks : tuple of FactorBlock
    free : sparse array of shape (m + 1, q)
        Coefficients of the free scalars; row 0 is their cost.
    curvature : array of shape (q,)
    rhs : array of shape (m,)
    equal : array of bool, shape (m,)
    slices : mapping from row label to the rows
    units : Units
    """

    sdp: SDP
    blocks: tuple[FactorBlock, ...]
    free: sp.csr_array
    curvature: Array
    rhs: Array
    equal: NDArray[np.bool_]
    slices: Mapping[str, slice]
    units: Units

    @property
    def m(self) -> int:
        """Number of rows."""
        return int(self.rhs.size)

    def fit(self, left: Array) -> float:
        """The multiple of left sides that comes nearest to the right ones."""
        square = float(left @ left)
        return float(left @ self.rhs) / square if square > 0.0 else 1.0

    def alone(self, k: int) -> NDArray[np.bool_]:
        """Rows that have no part but entries of the k-th block."""
        others = [block.forms.weights for block in self.blocks]
        others += [b.forms.matrix for place, b in enumerate(self.blocks) if place != k]
        counts = [np.diff(sp.csr_array(other[1:]).indptr) for other in (self.free, *others)]
        return np.asarray(sum(counts) == 0)

    def free_values(self, start: Point, default: Array) -> Array:
        """Free scalars of a point in scaled units, the default where the point has none."""
        parts, first = [np.zeros(0)], 0
        for v in free_vectors(self.sdp):
            part, value = default[first : first + v.size], start.values.get(v.name)
            if value is not None:
                part = np.asarray(value, dtype=float) / self.units.unknown
            if part.shape != (v.size,) or not np.isfinite(part).all():
                raise ShapeError(f"start: {v.name!r} must be {v.size} finite numbers.")
            parts.append(part)
            first += v.size
        return np.concatenate(parts)

    def multipliers_of(self, start: Point) -> Array:
        """Multipliers of a point in scaled units, zero where the point has none."""
        y, orders = np.zeros(self.m), {lmi.label: lmi.order for lmi in self.sdp.lmis}
        for label, part in self.slices.items():
            value = start.duals.get(label)
            if value is None:
                continue
            given = -svec(value) if label in orders else np.asarray(value, dtype=float)
            if given.shape != (part.stop - part.start,) or not np.isfinite(given).all():
                raise ShapeError(
                    f"start: multipliers of {label!r} must be {part.stop - part.start} finite "
                    f"numbers; they have shape {given.shape}."
                )
            y[part] = given
        y = y * self.units.rows / self.units.objective
        return np.where(self.equal, y, np.maximum(y, 0.0))

    def to_point(self, factors: tuple[Array, ...], free: Array, multipliers: Array) -> Point:
        """Unknowns and multipliers in the program's own names and units."""
        root, unit = np.sqrt(self.units.unknown), self.units.unknown
        values: dict[str, Value] = {}
        for block, factor in zip(self.blocks, factors, strict=True):
            known = block.name in {v.name for v in self.sdp.variables}
            if known and block.scalar:
                values[block.name] = unit * np.square(factor[:, 0])
            elif known:
                values[block.name] = Factor(root * factor)
        start = 0
        for v in free_vectors(self.sdp):
            values[v.name] = unit * free[start : start + v.size]
            start += v.size
        y = self.units.objective * multipliers / self.units.rows
        duals = {label: y[part] for label, part in self.slices.items()}
        for lmi in self.sdp.lmis:
            duals[lmi.label] = -smat(duals[lmi.label])
        hidden = {r.label: np.zeros(r.m) for r in hidden_rows(self.sdp)}
        return Point(values, complete_multipliers(self.sdp, duals | hidden))


def free_vectors(sdp: SDP) -> list[VectorVariable]:
    """The scalars without a sign."""
    return [v for v in sdp.vector_variables if not v.nonnegative]


def hidden_rows(sdp: SDP) -> list[Rows]:
    """The rows that state a face, which a projection of the factor keeps."""
    return [r for v in sdp.psd_variables for r in exposing_rows(sdp, v.name)]
