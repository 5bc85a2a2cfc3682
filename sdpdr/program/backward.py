r"""How far the data of a program would have to move for a point to be exactly feasible."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdpdr.linalg.svec import Array
from sdpdr.program.point import Factor, Value
from sdpdr.program.sdp import SDP, Rows
from sdpdr.program.sizes import row_norms


def backward_error(sdp: SDP, values: Mapping[str, Value]) -> float:
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

    Returns
    -------
    float
        ``nan`` if a variable has no value.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.program import Factor
    >>> sdp = methods.mvu(graphs.path([1.0, 1.0]), "equality").to_sdp()
    >>> too_long = Factor(np.array([[-1.1], [0.0], [1.1]]))
    >>> round(backward_error(sdp, {"K": too_long}), 9)
    0.21
    """
    if not all(v.name in values for v in sdp.variables):
        return float("nan")
    errors = [0.0, *(_row_error(sdp, r, values) for r in sdp.rows)]
    for v in sdp.psd_variables:
        value = values[v.name]
        if not isinstance(value, Factor):
            errors.append(_negative_part(_eigenvalues(value)))
    for w in sdp.vector_variables:
        if w.nonnegative:
            errors.append(_negative_part(np.asarray(values[w.name])))
    for lmi in sdp.lmis:
        errors.append(_negative_part(_eigenvalues(sdp.lmi_value(lmi, values))))
    return max(errors)


def _eigenvalues(matrix: Array) -> Array:
    return np.asarray(np.linalg.eigvalsh(matrix), dtype=float)


def _negative_part(numbers: Array) -> float:
    lowest = float(np.min(numbers, initial=0.0))
    return -lowest / float(np.max(np.abs(numbers))) if lowest < 0.0 else 0.0


def _largest(value: Value) -> float:
    """Largest entry; of a positive semidefinite matrix, on its diagonal."""
    if isinstance(value, Factor):
        return float(np.max(np.sum(np.square(value.factor), axis=1), initial=0.0))
    return float(np.max(np.abs(np.asarray(value)), initial=0.0))


def _row_error(sdp: SDP, rows: Rows, values: Mapping[str, Value]) -> float:
    slack = sdp.slack(rows, values)
    missed = np.abs(slack) if rows.relation == "==" else np.maximum(-slack, 0.0)
    size = np.abs(rows.rhs)
    homogeneous = size == 0.0
    if np.any(homogeneous & (missed > 0.0)):
        norms = sum(row_norms(a) * _largest(values[name]) for name, a in rows.lhs.items())
        size = np.where(homogeneous, norms, size)
    off = missed > 0.0
    with np.errstate(divide="ignore"):
        return float(np.max(missed[off] / size[off], initial=0.0))
