r"""Single rows that confine feasible points to a face, decided over the rationals.

Let :math:`\langle A_e, X\rangle + a_e^T z \le b_e` on the faces known so far, with A_e positive
semidefinite, a_e non-negative and zero on free scalars. If b_e = 0, then A_e X = 0; if b_e < 0,
there is no feasible point. The statement is about the numbers that the program stores.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg import BilinearForms, InnerProduct, LinearMap, SvecMap, VectorMap
from sdpdr.linalg.exact import SMALL, Mask, Vector, range_of, vector_row
from sdpdr.linalg.maps.combine import by_rows
from sdpdr.linalg.svec import selection, svec_pairs
from sdpdr.program.face import exposing_rows
from sdpdr.program.rows import Rows
from sdpdr.reduce.facial.faces import Consequences, Faces, Multiplier

# Columns of `_signs`.
_POSITIVE, _NEGATIVE, _ANY = range(3)


def single_rows(
    faces: Faces, seen: Set[tuple[str, int]] = frozenset(), entries: int = 1_000_000
) -> Iterator[tuple[Multiplier, Consequences]]:
    """The rows that confine something by themselves, and what they prove.

    Parameters
    ----------
    faces : Faces
    seen : set of pairs of label and row
        Rows that led to these faces, of which nothing is left on them.
    entries : int, default 1,000,000
        How many entries of rows are read as fractions, which takes some seconds.
    """
    for rows, e in candidates(faces):
        if (rows.label, e) in seen:
            continue
        # Counted beforehand, on average; no structured map is multiplied out.
        sizes = (
            (a.matrix().nnz if isinstance(a, VectorMap) else a.n_entries, a.m)
            for a in rows.lhs.values()
        )
        entries -= 1 + sum(nnz // m for nnz, m in sizes)
        if entries < 0:
            return
        for y in (1, -1):
            proved = single_row(faces, rows, e, y)
            if proved:
                yield (rows.label, e, Fraction(y)), proved
                break


def single_row(faces: Faces, rows: Rows, e: int, y: int) -> Consequences:
    """What one row, times 1 or -1, proves; nothing (false) if it does not."""
    side = Fraction(float(rows.rhs[e]))
    if (y < 0 and rows.relation != "==") or y * side > 0:
        return Consequences()
    vectors = list[tuple[str, Vector]]()
    for name, a in rows.lhs.items():
        if isinstance(a, VectorMap):
            row = vector_row(a, e)
            if any(not faces.sdp.variable(name).is_signed or y * x < 0 for x in row.values()):
                return Consequences()
            continue
        matrix = faces.matrix(name, a, e)
        columns = None if matrix is None else range_of({at: y * x for at, x in matrix.items()})
        if columns is None:
            return Consequences()
        vectors += [(name, column) for column in columns]
    if side:
        return Consequences(contradiction=True)
    return Consequences(tuple((name, tuple(sorted(vector.items()))) for name, vector in vectors))


def is_silent(faces: Faces, rows: Rows, e: int, *, whole: bool) -> bool:
    """Whether nothing is left of a row that led to the faces, which are the ``whole`` or fewer."""
    return all(
        isinstance(a, LinearMap) and (whole or faces.matrix(name, a, e) == {})
        for name, a in rows.lhs.items()
    )


def candidates(faces: Faces) -> Iterator[tuple[Rows, int]]:
    """Rows whose signs do not rule out that they confine something."""
    sdp = faces.sdp
    stated = {
        r.label
        for v in sdp.psd_variables
        for r in exposing_rows(sdp, v.name)
        # Unit vectors empty rows and columns, from which more may follow.
        if np.any(np.diff(_null(r, v.name).tocsc().indptr) != 1)
    }
    for r in sdp.rows:
        # Upper limits above zero leave room for more than a face.
        may_confine = r.relation == "==" or np.any(r.rhs <= 0.0)
        if may_confine and r.label not in stated and r.m:
            up, down = _semidefinite(faces, r)
            chosen = up & (r.rhs <= 0.0)
            if r.relation == "==":
                chosen |= down & (r.rhs >= 0.0)
            yield from ((r, int(e)) for e in np.flatnonzero(chosen))


def _null(rows: Rows, name: str) -> sp.csr_array:
    a = rows.lhs[name]
    assert isinstance(a, LinearMap)
    return a.null_vectors(rows.rhs)


def _semidefinite(faces: Faces, rows: Rows) -> tuple[Mask, Mask]:
    """Whether rows may be positive, and negative, semidefinite; without multiplying maps out."""
    up, down = np.ones(rows.m, dtype=bool), np.ones(rows.m, dtype=bool)
    for name, a in rows.lhs.items():
        if isinstance(a, LinearMap) and faces.null[name].mixed:
            # Signs in the basis of the face are others.
            continue
        signs = _signs(_without_zeros(faces, name, a))
        if not faces.sdp.variable(name).is_signed:
            signs[:, [_POSITIVE, _NEGATIVE]] = signs[:, [_ANY]]
        # A matrix with entries and no diagonal is neither.
        hollow = signs[:, _ANY] & ~signs[:, _POSITIVE] & ~signs[:, _NEGATIVE]
        up &= ~signs[:, _NEGATIVE] & ~hollow
        down &= ~signs[:, _POSITIVE] & ~hollow
    return up, down


def _without_zeros(faces: Faces, name: str, a: LinearMap | VectorMap) -> LinearMap | VectorMap:
    """A map without rows and columns of a matrix that are zero."""
    if isinstance(a, VectorMap) or not faces.null[name].units:
        return a
    return a.congruence(sp.csr_array(selection(faces.kept(name), a.n).T))


def _signs(a: LinearMap | VectorMap) -> Mask:
    """Whether each row has positive and negative diagonal entries, and any; may name too many."""
    if isinstance(a, VectorMap):
        return _signs_of(a.m, sp.coo_array(a.matrix()))
    return by_rows(a, _signs_of_leaf, lambda parts: np.logical_or.reduce(parts), _combined)


def _signs_of_leaf(a: LinearMap) -> Mask:
    if isinstance(a, BilinearForms):
        found = _signs_of(a.m, sp.coo_array(a.left * a.right))
        found[:, _ANY] = (np.diff(a.left.indptr) > 0) & (np.diff(a.right.indptr) > 0)
        return found
    if isinstance(a, InnerProduct):
        diagonal = np.asarray(a.coefficients.diagonal())
        return np.array([[np.any(diagonal > 0.0), np.any(diagonal < 0.0), True]])
    if a.n > SMALL and not isinstance(a, SvecMap):
        return np.ones((a.m, 3), dtype=bool)
    rows = sp.coo_array(a.matrix())
    i, j = svec_pairs(rows.col)
    on = sp.coo_array((rows.data[i == j], (rows.row[i == j], rows.col[i == j])), shape=rows.shape)
    found = _signs_of(a.m, on)
    found[:, _ANY] = _signs_of(a.m, rows)[:, _ANY]
    return found


def _signs_of(m: int, rows: sp.coo_array) -> Mask:
    found = np.zeros((m, 3), dtype=bool)
    for k, chosen in enumerate((rows.data > 0.0, rows.data < 0.0, rows.data != 0.0)):
        found[rows.row[chosen], k] = True
    return found


def _combined(weights: sp.csr_array, signs: Mask) -> Mask:
    """Signs of combinations of rows."""
    up, down = (sp.csr_array(s * weights).maximum(0.0) for s in (1.0, -1.0))
    swapped = signs[:, [_NEGATIVE, _POSITIVE, _ANY]]
    return np.asarray(up @ signs.astype(float) + down @ swapped.astype(float) > 0.0)
