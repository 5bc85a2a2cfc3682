"""The face of the cone that a program's equality rows confine a matrix variable to."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg import Combined, LinearMap, Products, QuadraticForms, Stacked
from sdpdr.program.echelon import Span, exact_columns
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP, remembered


def exposing_rows(sdp: SDP, name: str) -> tuple[Rows, ...]:
    """Groups of rows that hold exactly when the variable lies on a face.

    They are equalities with a right side of zeros, on this variable alone, whose map knows
    vectors u with K u = 0. On the face their adjoint vanishes, so their multipliers are free.
    """
    return _exposing(sdp).get(name, ())


@remembered
def _exposing(sdp: SDP) -> dict[str, tuple[Rows, ...]]:
    """The groups of rows that expose a face, by variable."""
    found: dict[str, tuple[Rows, ...]] = {}
    for rows in sdp.rows:
        name = next(iter(rows.lhs), "")
        if rows.relation != "==" or len(rows.lhs) != 1 or np.any(rows.rhs):
            continue
        linear_map = rows.lhs[name]
        if not isinstance(linear_map, LinearMap) or not _says_face(linear_map):
            continue
        if linear_map.null_vectors(rows.rhs).shape[1]:
            found[name] = (*found.get(name, ()), rows)
    return found


def stated_labels(sdp: SDP) -> set[str]:
    """Labels of all groups of rows that state a face of some variable."""
    return {r.label for groups in _exposing(sdp).values() for r in groups}


def visible_rows(sdp: SDP) -> list[Rows]:
    """Rows whose multipliers matter: all but those that merely state a face."""
    hidden = stated_labels(sdp)
    return [r for r in sdp.rows if r.label not in hidden]


def _says_face(linear_map: LinearMap) -> bool:
    """Whether every row, with a right side of zero, says no more than its null vectors do."""
    if isinstance(linear_map, Stacked):
        return all(map(_says_face, linear_map.maps))
    if isinstance(linear_map, Combined):
        return linear_map.determining is not None and _says_face(linear_map.inner)
    return isinstance(linear_map, (Products, QuadraticForms))


def null_vectors(sdp: SDP, name: str) -> sp.csr_array:
    """Vectors u, as independent columns of shape (n, p), with K u = 0 for every feasible K."""
    stacked = _stated(sdp, name)
    if stacked is None:
        n = sdp.variable(name).n  # type: ignore[union-attr]  # exposing rows are on matrices only
        return sp.csr_array((n, 0))
    return stacked if stacked.shape[1] == 1 else _independent(stacked)


def onto_face(sdp: SDP, name: str, columns: Array) -> Array:
    """Columns moved onto the face of a matrix.

    Where that says what the centre of all points is, all are moved by one vector, so that lengths
    of edges stay as they are.
    """
    null = null_vectors(sdp, name).toarray()
    if null.shape[1] == 0:
        return columns
    if null.shape[1] == 1 and np.all(null > 0.0):
        return np.asarray(columns - (null.T @ columns) / float(null.sum()))
    q = np.linalg.qr(null)[0]
    return np.asarray(columns - q @ (q.T @ columns))


def _stated(sdp: SDP, name: str) -> sp.csr_array | None:
    """All null vectors that rows state, as columns."""
    columns = []
    for rows in exposing_rows(sdp, name):
        linear_map = rows.lhs[name]
        assert isinstance(linear_map, LinearMap)
        columns.append(linear_map.null_vectors(rows.rhs))
    return sp.hstack(columns, format="csr") if columns else None


def is_face_known(sdp: SDP, name: str) -> bool:
    """Whether `null_vectors` state the whole face, and not only up to rounding.

    Vectors that nearly depend on others are left out there, which makes bounds weaker, but would
    make a proof that a point is feasible false. Here those that are left out must follow exactly.
    """
    columns = _stated(sdp, name)
    if columns is None or columns.shape[1] == 1:
        return True
    known = null_vectors(sdp, name).shape[1]
    if known == columns.shape[1]:
        return True
    span, vectors = Span(), exact_columns(columns)
    return vectors is not None and sum(map(span.insert, vectors)) == known


def complete_multipliers(sdp: SDP, duals: Mapping[str, Array]) -> dict[str, Array]:
    """Add multipliers of the rows K u = 0 that make the dual slack satisfy S u = 0.

    The adjoint of multipliers v is (u v^T + v u^T) / 2; with g the product of the remaining slack
    and u, and s = -(u.g) / |u|^2, the solution is v = -(2 g + s u) / |u|^2. Rows that expose a
    face in another way get zeros.
    """
    full = dict(duals)
    if not full:
        return full
    exposing = {r.label: (name, r) for name, groups in _exposing(sdp).items() for r in groups}
    rest = {label: y for label, y in full.items() if label not in exposing}
    for label, (name, rows) in exposing.items():
        linear_map = rows.lhs[name]
        combined = linear_map if isinstance(linear_map, Combined) else None
        products = linear_map if combined is None else combined.inner
        full[label] = np.zeros(rows.m)
        if isinstance(products, Products):
            u = products.vector
            g = np.asarray(sdp.dual_slack(name, rest) @ u)
            s = -float(u @ g) / float(u @ u)
            v = -(2.0 * g + s * u) / float(u @ u)
            full[label] = v if combined is None else combined.outer_multipliers(v)
    return full


def _independent(columns: sp.csr_array) -> sp.csr_array:
    dense = columns.toarray()
    # A choice among the columns, so that they stay null vectors exactly.
    upper, order = sl.qr(dense, mode="r", pivoting=True)
    pivots = np.abs(np.diagonal(upper))
    rank = int(np.sum(pivots > 1e-12 * pivots[0]))
    return columns if rank == dense.shape[1] else columns[:, np.sort(order[:rank])]
