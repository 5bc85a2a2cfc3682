r"""Backward errors: the least change of the data for which a point is exactly feasible.

`Measured` computes the measures of a point when they are first read: after a small solve they would
take as long as the proofs, and no decision depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array, Index, Matrix, largest
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.linalg.magnitudes import diagonal_magnitude
from sdpdr.linalg.smallest import smallest_eigenvalue
from sdpdr.program.face import null_vectors, stated_labels
from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.residuals import (
    Residuals,
    dimacs_errors,
    multipliers_in_cones,
    variables_in_cones,
)
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import row_norms


@dataclass(frozen=True, eq=False)
class Measured:
    """Measures of a point and its multipliers, each computed when it is first read.

    Parameters
    ----------
    sdp : SDP, optional
        None if there is nothing to measure.
    point : Point
    on_face : Measured, optional
        Measures of the same point in the program that was solved in place of this one, whose
        multipliers need not be a dual point of this one: the residuals are those.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.mvu(graphs.path([1.0, 1.0]), "equality").to_sdp()
    >>> measured = Measured(sdp, sdp.zero_point())
    >>> measured.backward_error
    1.0
    """

    sdp: SDP | None = None
    point: Point = field(default_factory=Point)
    on_face: Measured | None = None

    @cached_property
    def residuals(self) -> Residuals:
        """The six DIMACS errors."""
        if self.on_face is not None:
            return self.on_face.residuals
        return Residuals.unknown() if self.sdp is None else dimacs_errors(self.sdp, self.point)

    @cached_property
    def slacks(self) -> dict[str, Array]:
        """As of `relative_slacks`."""
        return {} if self.sdp is None else relative_slacks(self.sdp, self.point.values)

    @cached_property
    def backward_error(self) -> float:
        """As of `backward_error`."""
        if self.sdp is None:
            return float("nan")
        return backward_error(self.sdp, self.point.values, self.slacks)

    @cached_property
    def edges(self) -> dict[str, Index]:
        """The edges of rows that are squared lengths alone, of the first matrix, by label."""
        if self.sdp is None:
            return {}
        first = next((v.name for v in self.sdp.psd_variables), "")
        maps = {r.label: r.lhs.get(first) for r in self.sdp.rows}
        return {k: a.edges for k, a in maps.items() if isinstance(a, SquaredEdgeLengths)}

    def __getstate__(self) -> dict[str, Any]:
        """All measures, without the program."""
        names = ("residuals", "slacks", "backward_error", "edges")
        known = {name: getattr(self, name) for name in names}
        return {"sdp": None, "point": Point(), "on_face": None, **known}


def backward_error(
    sdp: SDP, values: Mapping[str, Value], slacks: Mapping[str, Array] | None = None
) -> float:
    r"""Largest relative change of a right side that makes a point feasible.

    Where the right side b_e of a row vanishes, its coefficients move instead, relative to their
    own size: the residual is divided by :math:`\|A_e\|` times the largest entry of the point.
    Negative eigenvalues of a matrix, and negative scalars, count relative to its largest ones.
    For an unfolding that preserves lengths this is the largest :math:`|q_e / d_e - 1|`, the
    relative error of a squared length: the point is the exact answer for lengths q.

    Parameters
    ----------
    sdp : SDP
    values : mapping from variable name to array or Factor
    slacks : mapping from label to array, optional
        Those of `relative_slacks`, where they are known.

    Returns
    -------
    float
        ``nan`` if a variable has no value.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.program.point import Factor
    >>> sdp = methods.mvu(graphs.path([1.0, 1.0]), "equality").to_sdp()
    >>> too_long = Factor(np.array([[-1.1], [0.0], [1.1]]))
    >>> round(backward_error(sdp, {"K": too_long}), 9)
    0.21
    """
    if not sdp.is_point(values):
        return float("nan")
    if slacks is None:
        slacks = relative_slacks(sdp, values)
    missed = [float(np.max(-slack, initial=0.0)) for slack in slacks.values()]
    return max([0.0, *missed, *map(_negative_part, variables_in_cones(sdp, values))])


def relative_slacks(sdp: SDP, values: Mapping[str, Value]) -> dict[str, Array]:
    """How far a point is from missing each row, relative to the row's right side.

    Where the right side of a row vanishes, relative to the size that `backward_error` takes.

    Parameters
    ----------
    sdp : SDP
    values : mapping from variable name to array or Factor

    Returns
    -------
    dict from label to array
        Zero where a row binds, negative where it is missed, as equations are on either side,
        positive where there is room. For a matrix inequality, the eigenvalues of its matrix,
        ascending, over the largest in size. Empty where a variable has no value.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.program.point import Factor
    >>> sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
    >>> slacks = relative_slacks(sdp, {"K": Factor(np.array([[-1.0], [0.0], [1.0]]))})
    >>> slacks["isometry"]
    array([0.  , 0.75])
    """
    if not sdp.is_point(values):
        return {}
    slacks = {}
    for r in sdp.rows:
        slack = -sdp.missed(r, values) if r.relation == "==" else sdp.slack(r, values)
        slacks[r.label] = _over(slack, _row_scales(r, values))
    for lmi in sdp.lmis:
        spectrum = np.asarray(np.linalg.eigvalsh(sdp.lmi_value(lmi, values)), dtype=float)
        slacks[lmi.label] = _over(spectrum, np.max(np.abs(spectrum), initial=0.0))
    return slacks


def dual_backward_error(sdp: SDP, duals: Mapping[str, Array]) -> float:
    r"""Largest relative change of costs that makes multipliers feasible.

    The negative part of the slack of a variable, for a matrix of its lowest eigenvalue on the face,
    relative to the terms that it is the sum of: :math:`|C| + \sum_e |y_e| |A_e|`, at the largest
    diagonal entry of a matrix.

    Parameters
    ----------
    sdp : SDP
    duals : mapping from label to array

    Returns
    -------
    float
        ``nan`` if a row has no multiplier.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.linalg import InnerProduct, Trace
    >>> from sdpdr.program.point import PsdVariable
    >>> rows = Rows("trace", "==", {"X": Trace(2)}, np.ones(1))
    >>> sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct(np.eye(2))}, (rows,))
    >>> dual_backward_error(sdp, {"trace": np.array([-3.0])})  # 1 - 3, beside 1 + 3
    0.5
    """
    if not sdp.is_dual_point(duals):
        return float("nan")
    errors, hidden = [0.0], stated_labels(sdp)
    seen = {label: y for label, y in duals.items() if label not in hidden}
    if any(np.any(np.isnan(y)) for y in seen.values()):
        return float("nan")
    for v in sdp.psd_variables:
        slack = sdp.dual_slack(v.name, seen)
        lowest = smallest_eigenvalue(slack, null_vectors(sdp, v.name))[0]
        size = float(np.max(_sizes(sdp, v.name, seen), initial=0.0))
        errors.append(_share(max(0.0, -lowest), size))
    for w in sdp.vector_variables:
        if w.curvature is not None:
            continue
        left = np.asarray(sdp.dual_slack(w.name, duals))
        missed = np.maximum(-left, 0.0) if w.nonnegative else np.abs(left)
        sizes = _sizes(sdp, w.name, duals)
        errors += [_share(float(a), float(b)) for a, b in zip(missed, sizes, strict=True)]
    return max([*errors, *map(_negative_part, multipliers_in_cones(sdp, duals))])


def _sizes(sdp: SDP, name: str, duals: Mapping[str, Array]) -> Array:
    """Sizes of the terms that a variable's dual slack is the sum of; of a matrix, its diagonal."""
    total = np.abs(_diagonal(sdp.cost(name)))
    for linear_map, y in sdp.column(name, duals):
        total = total + diagonal_magnitude(linear_map, y)
    return np.asarray(total)


def _diagonal(entries: Matrix) -> Array:
    return np.asarray(entries if entries.ndim == 1 else entries.diagonal())


def _share(part: float, whole: float) -> float:
    return 0.0 if part == 0.0 else part / whole if whole > 0.0 else float("inf")


def _negative_part(numbers: Array) -> float:
    lowest = float(np.min(numbers, initial=0.0))
    return -lowest / float(np.max(np.abs(numbers))) if lowest < 0.0 else 0.0


def _row_scales(rows: Rows, values: Mapping[str, Value]) -> Array:
    """The scales of slacks of rows: right-hand sides, or the largest terms where these vanish."""
    size = np.abs(rows.rhs)
    if size.all():
        return size
    norms = sum(
        row_norms(a) * largest(x.diagonal() if isinstance(x := values[name], Factor) else x)
        for name, a in rows.lhs.items()
    )
    return np.where(size == 0.0, norms, size)


def _over(slack: Array, scale: Array | float) -> Array:
    """A slack over its scale; zero where it is zero itself."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(slack == 0.0, 0.0, slack / scale)
