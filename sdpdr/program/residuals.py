r"""The six DIMACS error measures, computed from a program and a point alone.

With the largest absolute entry as the norm of b and C (the original definition), they are

====  ====================  ===============================================================
 no.  field                 what it measures
====  ====================  ===============================================================
  1   primal_rows           violation of the rows, over 1 + \|b\|
  2   primal_cone           negative eigenvalues of X and of the LMIs, negative scalars,
                            over 1 + \|b\|
  3   dual_rows             stationarity in the free scalars, over 1 + \|C\|
  4   dual_cone             negative eigenvalues of S and Z, negative multipliers of
                            inequalities, over 1 + \|C\|
  5   duality_gap           (primal - dual) / (1 + \|primal\| + \|dual\|), sign kept
  6   complementarity       sum of all products of a variable with its slack, over the same
====  ====================  ===============================================================

Where equality rows confine a matrix to a face (K u = 0), S is measured on that face: the
multipliers of those rows can always complete the rest. The rows themselves are measured relative
to the entries of K where these exceed one, because rounding grows with them and b = 0 does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from sdpdr.base.arrays import Array, Matrix, largest
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.smallest import smallest_eigenvalue
from sdpdr.program.face import exposing_rows, null_vectors, stated_labels
from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.sdp import SDP


@dataclass(frozen=True)
class Residuals:
    """The six DIMACS errors (see the module's text); ``nan`` where the solver gave no values.

    Attributes
    ----------
    primal_rows, primal_cone, dual_rows, dual_cone, duality_gap, complementarity : float
    """

    primal_rows: float
    primal_cone: float
    dual_rows: float
    dual_cone: float
    duality_gap: float
    complementarity: float

    @classmethod
    def unknown(cls) -> Residuals:
        """Residuals that were not measured: six times ``nan``."""
        return cls(*[float("nan")] * 6)

    def worst(self) -> float:
        """The largest of the six in size; ``inf`` where one could not be computed."""
        errors = np.abs(list(asdict(self).values()))
        return float("inf") if np.isnan(errors).any() else float(errors.max())

    def primal(self) -> float:
        """The larger of the two primal errors; ``inf`` if they are not known."""
        errors = np.array([self.primal_rows, self.primal_cone])
        return float("inf") if np.isnan(errors).any() else float(errors.max())


def dimacs_errors(sdp: SDP, point: Point) -> Residuals:
    """Grade a point of a program.

    Parameters
    ----------
    sdp : SDP
    point : Point
        Either part may be missing; what cannot be computed is ``nan``.

    Returns
    -------
    Residuals
    """
    has_primal, has_dual = sdp.is_point(point.values), sdp.is_dual_point(point.duals)
    primal = _primal_errors(sdp, point) if has_primal else (np.nan, np.nan)
    slacks = _dual_slacks(sdp, point) if has_dual else {}
    dual = _dual_errors(sdp, point, slacks) if has_dual else (np.nan, np.nan)
    gap = complementarity = np.nan
    if has_primal and has_dual:
        p, d = sdp.primal_value(point.values), sdp.dual_value(point.duals)
        scale = 1.0 + abs(p) + abs(d)
        gap, complementarity = (p - d) / scale, _products(sdp, point, slacks) / scale
    return Residuals(*primal, *dual, float(gap), float(complementarity))


def _primal_errors(sdp: SDP, point: Point) -> tuple[float, float]:
    rows, scale = [0.0], 1.0
    exposing = {r.label: v.name for v in sdp.psd_variables for r in exposing_rows(sdp, v.name)}
    for r in sdp.rows:
        missed = sdp.missed(r, point.values)
        if r.label in exposing:
            # The largest entry of a positive semidefinite matrix lies on its diagonal.
            missed = missed / max(1.0, _largest(point.values[exposing[r.label]].diagonal()))
        rows.append(float(np.linalg.norm(missed)))
        scale = max(scale, 1.0 + float(np.max(np.abs(r.rhs), initial=0.0)))
    cone = max([0.0, *(-_lowest(part) for part in _in_cones(sdp, point.values))])
    return float(np.linalg.norm(rows)) / scale, cone / scale


def variables_in_cones(sdp: SDP, values: Mapping[str, Value]) -> Iterator[Array]:
    """What must not be negative of a point: scalars, and eigenvalues of matrices.

    Those of a factor never are, and are left out.
    """
    for v in sdp.psd_variables:
        value = values[v.name]
        if not isinstance(value, Factor):
            yield _eigenvalues(value)
    yield from (np.asarray(values[w.name]) for w in sdp.vector_variables if w.nonnegative)


def _in_cones(sdp: SDP, values: Mapping[str, Value]) -> Iterator[Array]:
    """What must not be negative at a point, matrix inequalities among it."""
    yield from variables_in_cones(sdp, values)
    yield from (_eigenvalues(sdp.lmi_value(lmi, values)) for lmi in sdp.lmis)


def multipliers_in_cones(sdp: SDP, duals: Mapping[str, Array]) -> Iterator[Array]:
    """What must not be negative of multipliers, those of inequalities and eigenvalues."""
    yield from (duals[r.label] for r in sdp.rows if r.relation == "<=")
    yield from (_eigenvalues(duals[lmi.label]) for lmi in sdp.lmis)


def _eigenvalues(matrix: Array) -> Array:
    return np.asarray(np.linalg.eigvalsh(matrix), dtype=float)


def _dual_slacks(sdp: SDP, point: Point) -> dict[str, Matrix]:
    """S_k (without the rows that expose a face) and s, by variable."""
    hidden = stated_labels(sdp)
    kept = {label: y for label, y in point.duals.items() if label not in hidden}
    return {v.name: sdp.dual_slack(v.name, kept) for v in sdp.variables}


def _dual_errors(sdp: SDP, point: Point, slacks: dict[str, Matrix]) -> tuple[float, float]:
    scale = 1.0 + max((_largest(sdp.cost(v.name)) for v in sdp.variables), default=0.0)
    free, cone = [0.0], [0.0]
    for v in sdp.psd_variables:
        cone.append(-smallest_eigenvalue(slacks[v.name], null_vectors(sdp, v.name))[0])
    for w in sdp.vector_variables:
        s = np.asarray(slacks[w.name])
        if w.nonnegative:
            cone.append(-_lowest(s))
        elif w.is_free:
            free.append(float(np.linalg.norm(s)))
    cone += [-_lowest(part) for part in multipliers_in_cones(sdp, point.duals)]
    return float(np.linalg.norm(free)) / scale, max(cone) / scale


def _products(sdp: SDP, point: Point, slacks: dict[str, Matrix]) -> float:
    total = 0.0
    for v in sdp.psd_variables:
        total += _inner(slacks[v.name], point.values[v.name])
    for w in sdp.vector_variables:
        z, s = np.asarray(point.values[w.name]), np.asarray(slacks[w.name])
        if w.curvature is not None:
            total += float(np.sum(np.square(w.curvature * z + s) / (2.0 * w.curvature)))
        elif w.nonnegative:
            total += float(z @ s)
    for r in sdp.rows:
        if r.relation == "<=":
            total += float(sdp.slack(r, point.values) @ point.duals[r.label])
    for lmi in sdp.lmis:
        total += float(np.sum(sdp.lmi_value(lmi, point.values) * point.duals[lmi.label]))
    return total


def _lowest(numbers: Array) -> float:
    return float(np.min(numbers, initial=0.0))


def _largest(matrix: Matrix) -> float:
    return matrix.largest() if isinstance(matrix, Outer) else largest(matrix)


def _inner(slack: Matrix, value: Value) -> float:
    if isinstance(value, Factor):
        return float(np.sum(value.factor * (slack @ value.factor)))
    return float((slack * np.asarray(value)).sum())
