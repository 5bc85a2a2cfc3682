"""Local norms of small programs, triangles of columns measured in them, and insides of cones."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.svec import smat, svec, svec_size
from sdpdr.program.attain.dense import DenseProgram
from sdpdr.program.attain.newton import finite

# A multiplier that all but vanishes counts as so large beside the largest.
_LEAST = 0.01
# Roundings of an eigenvalue, for every row of a matrix.
_ROUNDINGS = 16.0
# A pivot beside the largest that rounding may be all of.
_SINGULAR = 1e-13


class Metric:
    """The local norm at a point of the cone with its small eigenvalues lifted.

    Attributes
    ----------
    lifted : array of shape (k,)
    largest : array of shape (k,)
        For every entry of the cones, the largest eigenvalue of its matrix.
    """

    def __init__(
        self, program: DenseProgram, s: Array, share: float, *, inverse: bool = False
    ) -> None:
        self._program = program
        spectra = [np.linalg.eigh(group.matrices(finite(s))) for group in program.groups]
        scalars = s[program.linear]
        spins = [arrows.spectra(finite(s)) for arrows in program.arrows]
        tops = [np.max(np.abs(values), axis=1) for values, _ in (*spectra, *spins)]
        whole = float(np.max(np.abs(np.concatenate([scalars, *tops])), initial=0.0)) or 1.0
        self.lifted, self.largest = np.zeros(s.size), np.zeros(s.size)
        self._roots: list[Array] = []
        power = -0.5 if inverse else 0.5
        for group, (values, vectors), top in zip(program.groups, spectra, tops, strict=False):
            floor = share * np.maximum(top, _LEAST * whole)
            values = np.maximum(values, floor[:, None])
            turned = vectors.transpose(0, 2, 1)
            self._roots.append((vectors * values[:, None, :] ** power) @ turned)
            self.lifted[group.part] = group.rows((vectors * values[:, None, :]) @ turned)
            self.largest[group.part] = np.repeat(values[:, -1], svec_size(group.order))
        self._spins: list[tuple[Array, Array]] = []
        tops = tops[len(spectra) :]
        for arrows, (values, directions), top in zip(program.arrows, spins, tops, strict=True):
            values = np.maximum(values, (share * np.maximum(top, _LEAST * whole))[:, None])
            self._spins.append((values**power, directions))
            self.lifted[arrows.part] = arrows.heads(values, directions)
            self.largest[arrows.part] = np.repeat(values[:, 1], arrows.order + 1)
        scalars = np.maximum(scalars, share * np.maximum(np.abs(scalars), _LEAST * whole))
        self.lifted[program.linear] = self.largest[program.linear] = scalars
        self._scalars = scalars ** (2.0 * power)

    def applied(self, columns: Array) -> Array:
        """Columns of shape (k, q), each matrix between two roots (inverse ones for points)."""
        found, q = np.empty(columns.shape), columns.shape[1]
        for group, roots in zip(self._program.groups, self._roots, strict=True):
            part = columns[group.part].T.reshape(q, group.count, -1)
            seen = part.any(axis=2)
            if seen.all():
                moved = svec(roots @ smat(part) @ roots)
            else:  # as most columns leave most of several matrices alone
                moved, root = np.zeros(part.shape), roots[np.nonzero(seen)[1]]
                moved[seen] = svec(root @ smat(part[seen]) @ root)
            found[group.part] = moved.reshape(q, -1).T
        for arrows, (roots, directions) in zip(self._program.arrows, self._spins, strict=True):
            found[arrows.part] = arrows.between(roots, directions, columns)
        linear = self._program.linear
        found[linear] = self._scalars[:, None] * columns[linear]
        return found


def is_inside(program: DenseProgram, s: Array, error: Array) -> bool:
    """Whether all points whose entries are as near as the errors lie in the cone."""
    if not np.isfinite(s).all() or not np.isfinite(error).all():
        return False
    for group in program.groups:
        values = np.linalg.eigvalsh(group.matrices(s))
        away = np.linalg.norm(error[group.part].reshape(group.count, -1), axis=1)
        away += _ROUNDINGS * group.order * UNIT * np.max(np.abs(values), axis=1)
        if np.any(values[:, 0] <= 1.01 * away):
            return False
    for arrows in program.arrows:
        values, _ = arrows.spectra(s)
        away = np.linalg.norm(error[arrows.part].reshape(arrows.count, -1), axis=1)
        away += _ROUNDINGS * arrows.order * UNIT * np.max(np.abs(values), axis=1)
        if np.any(values[:, 0] <= 1.01 * away):
            return False
    return bool(np.all(s[program.linear] >= 1.01 * error[program.linear]))


def triangle(rows: Array, least: float) -> Array:
    """R with R^T R = A^T A, of tall columns A.

    It is found from the products of columns, which takes a third of the time, where the columns
    are so far from depending on each other that this loses nothing, and else by reflections.

    Raises
    ------
    numpy.linalg.LinAlgError
        If they depend on each other.
    """
    products = finite(rows.T @ rows)
    upper, broken = sl.lapack.dpotrf(products)
    if not broken:
        apart = np.diagonal(upper) / np.sqrt(np.diagonal(products))
        if np.min(apart, initial=1.0) > least:
            return np.asarray(upper)
    return reflected(rows)


def reflected(rows: Array) -> Array:
    """R of a factorization Q R of tall columns.

    Raises
    ------
    numpy.linalg.LinAlgError
        If they depend on each other.
    """
    upper = np.asarray(np.linalg.qr(finite(rows), mode="r"))
    pivots = np.abs(np.diagonal(upper))
    if upper.shape[0] < upper.shape[1] or (
        pivots.size and not np.min(pivots) > _SINGULAR * np.max(pivots)
    ):
        raise np.linalg.LinAlgError("columns depend on each other")
    return upper


def solved(upper: Array, right: Array) -> Array:
    """The solution of R^T R x = r."""
    return np.asarray(sl.lapack.dpotrs(upper, finite(right)[:, None])[0][:, 0])
