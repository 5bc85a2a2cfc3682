"""A basis of a few columns on the face of a matrix, and the rows that vanish in its span."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse.linalg as spl
from numpy.typing import NDArray
from scipy.linalg import orth

from sdpdr.base.arrays import Array
from sdpdr.base.errors import NotAcceptedError
from sdpdr.linalg import BilinearForms, LinearMap, VectorMap
from sdpdr.linalg.maps.combine import some_of_rows
from sdpdr.program.face import onto_face
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import row_norms

# Singular values of a basis below this share of the largest are rounding.
_RANK = 1e-7
# Norms after a projection, relative to those before, that are rounding.
_VANISHED = 1e-12


def on_face(sdp: SDP, basis: Array) -> Array:
    """Orthonormal basis, shape (n, k), of columns projected onto the face of the only matrix.

    Raises
    ------
    NotAcceptedError
        All projected columns are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.mvu(graphs.path([1.0])).to_sdp()
    >>> bool(np.allclose(np.abs(on_face(sdp, np.eye(2))), 0.5**0.5))
    True
    """
    given, name = np.linalg.norm(basis, axis=0), sdp.psd_variables[0].name
    basis = onto_face(sdp, name, basis)
    sizes = np.linalg.norm(basis, axis=0)
    left = sizes > _VANISHED * given
    if not left.any():
        raise NotAcceptedError(
            f"no column of the basis is left on the face of {name!r}: constraints {name} u = 0 "
            "make all of them zero, as centring does with constant columns. Pass columns that "
            "differ between points."
        )
    return np.asarray(orth(basis[:, left] / sizes[left], _RANK))


def vanishes(rows: Rows, basis: Array) -> NDArray[np.bool_]:
    """Which rows vanish, up to rounding, in the span of an orthonormal basis.

    A form f^T X g is tested by f and g, since the product of their norms may be tiny and exact.
    """
    parts = [
        row_norms(a) == 0.0
        if isinstance(a, VectorMap)
        else ~some_of_rows(a, partial(_is_left, basis=basis))
        for a in rows.lhs.values()
    ]
    return np.logical_and.reduce([np.ones(rows.m, dtype=bool), *parts])


def _is_left(linear_map: LinearMap, basis: Array) -> NDArray[np.bool_]:
    """Which rows do not vanish, up to rounding, in the span of a basis."""
    if isinstance(linear_map, BilinearForms):
        sides = {id(f): f for f in (linear_map.left, linear_map.right)}
        small = [
            np.linalg.norm(f @ basis, axis=1) <= _VANISHED * spl.norm(f, axis=1)
            for f in sides.values()
        ]
        return ~np.logical_or.reduce(small)
    before, after = row_norms(linear_map), row_norms(linear_map.congruence(basis))
    return ~np.asarray(after <= _VANISHED * before)
