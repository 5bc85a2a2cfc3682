"""Local norms of small programs, triangles of columns measured in them, and insides of cones.

Small eigenvalues are lifted for a norm, by as little as a proof needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array
from sdpdr.linalg.rounding import UNIT
from sdpdr.program.attain.dense import ColumnProducts, DenseProgram
from sdpdr.program.attain.newton import finite

# A multiplier that all but vanishes counts as so large beside the largest.
_LEAST = 0.01
# Roundings of an eigenvalue, for every row of a matrix.
_ROUNDINGS = 16.0
# Shares of the largest eigenvalues that small ones are lifted to, over the tolerance. Finer ones
# are for where the first of them proves too little: what is lifted counts times the eigenvalues of
# the other side, which may be large beside the optimum.
SHARES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
FINER = (1e-6, 1e-5)
_FURTHEST = len(SHARES) - 1
# Times that a share of the way to an inside is doubled.
_DOUBLINGS = 7
# How far outside a point may lie, over what is lifted.
_OUTSIDE = 0.1
# What is lifted over how far outside a point lies, below which nothing is tried: of four textbook
# programs that came to that three were not proved, and the fourth was at a hundred times as much.
_HOPELESS = 0.01
# Numbers in columns that are measured at once, and from which on none are reflected.
_FEW, _MANY = 30_000, 500_000
# A pivot beside the largest that rounding may be all of.
_SINGULAR = 1e-13
_Proof = TypeVar("_Proof")


class Metric:
    """The local norm at a point of the cone with its small eigenvalues lifted, or its square.

    Attributes
    ----------
    lifted : array of shape (k,)
    largest : array of shape (k,)
        For every entry of the cones, the largest eigenvalue of its matrix.
    roots : list
        By group, what its matrices are put between.
    scalars : array
        What half-lines are multiplied by.
    """

    def __init__(
        self,
        program: DenseProgram,
        s: Array,
        share: float,
        *,
        inverse: bool = False,
        squared: bool = False,
    ) -> None:
        self._program = program
        spectra = [group.spectra(finite(s)) for group in program.cones]
        tops = [np.max(np.abs(values), axis=1) for values, _ in spectra]
        scalars = s[program.linear]
        whole = _largest(scalars, tops)
        self.lifted, self.largest = np.zeros(s.size), np.zeros(s.size)
        self.roots: list[Any] = []
        power = (-0.5 if inverse else 0.5) * (2.0 if squared else 1.0)
        for group, (values, frame), top in zip(program.cones, spectra, tops, strict=True):
            values = np.maximum(values, share * np.maximum(top, _LEAST * whole)[:, None])
            self.roots.append(group.root(values**power, frame))
            entries = self.lifted[group.part] = group.entries(values, frame)
            self.largest[group.part] = np.repeat(values[:, -1], entries.size // group.count)
        scalars = np.maximum(scalars, share * np.maximum(np.abs(scalars), _LEAST * whole))
        self.lifted[program.linear] = self.largest[program.linear] = scalars
        self.scalars = scalars ** (2.0 * power)

    def applied(self, columns: Array) -> Array:
        """The norm's square root on vectors of s, or of one; the norm's square if it is squared."""
        if columns.ndim == 1:
            return self.applied(columns[:, None])[:, 0]
        found = np.empty(columns.shape)
        for group, root in zip(self._program.cones, self.roots, strict=True):
            found[group.part] = group.between(root, columns[group.part])
        linear = self._program.linear
        found[linear] = self.scalars[:, None] * columns[linear]
        return found


def _largest(scalars: Array, tops: list[Array]) -> float:
    return float(np.max(np.abs(np.concatenate([scalars, *tops])), initial=0.0)) or 1.0


class Turned:
    """Columns measured in a local norm, found one combination at a time.

    All of them at once take longer than their products with each other, where few entries are not
    zero.

    Parameters
    ----------
    metric : Metric
    columns : ColumnProducts
    """

    def __init__(self, metric: Metric, columns: ColumnProducts) -> None:
        self._metric, self._products, self._columns = metric, columns, columns.columns

    def at(self, x: Array) -> Array:
        """The combination with coefficients x."""
        return self._metric.applied(self._columns @ x)

    def with_each(self, right: Array) -> Array:
        """Products of the columns with a vector."""
        return np.asarray(self._columns.T @ self._metric.applied(right))

    def triangle(self, least: float) -> Array:
        """As `triangle` finds it.

        Raises
        ------
        numpy.linalg.LinAlgError
            Also where reflections would take longer than to try a norm that lifts more.
        """
        metric = self._metric
        if self._columns.size <= _FEW:
            return triangle(metric.applied(self._columns), least)
        products = finite(self._products.between(metric.roots, metric.scalars))
        many = self._columns.size > _MANY
        # Steps are refined: where reflections are no choice, fewer digits have to do.
        upper = _upper(products, 0.1 * least if many else least)
        if upper is not None:
            return upper
        if many:
            raise np.linalg.LinAlgError("columns all but depend on each other in this norm")
        return reflected(metric.applied(self._columns))


def is_inside(program: DenseProgram, s: Array, error: Array) -> bool:
    """Whether all points whose entries are as near as the errors lie in the cone."""
    if not np.isfinite(s).all() or not np.isfinite(error).all():
        return False
    for group in program.cones:
        values = group.eigenvalues(s)
        away = np.linalg.norm(error[group.part].reshape(group.count, -1), axis=1)
        away += _ROUNDINGS * group.order * UNIT * np.max(np.abs(values), axis=1)
        if np.any(values[:, 0] <= 1.01 * away):
            return False
    return bool(np.all(s[program.linear] >= 1.01 * error[program.linear]))


def depth(program: DenseProgram, s: Array, *, signed: bool = False) -> float:
    """How far a point lies outside the cones, each beside its largest eigenvalue.

    Inside of all of them it is zero, or signed, less than that.
    """
    values = [group.eigenvalues(finite(s)) for group in program.cones]
    tops = [np.max(np.abs(one), axis=1) for one in values]
    scalars = s[program.linear]
    whole = _largest(scalars, tops)
    found = [] if signed else [0.0]
    if scalars.size:
        found.append(float(np.max(-scalars / (np.abs(scalars) + _LEAST * whole))))
    for one, top in zip(values, tops, strict=True):
        found.append(float(np.max(-one[:, 0] / np.maximum(top, _LEAST * whole))))
    return max(found, default=0.0)


def triangle(rows: Array, least: float) -> Array:
    """R with R^T R = A^T A, of tall columns A.

    It is found from the products of columns, which takes a third of the time, where the columns
    are so far from depending on each other that this loses nothing, and else by reflections.

    Raises
    ------
    numpy.linalg.LinAlgError
        If they depend on each other.
    """
    upper = _upper(finite(rows.T @ rows), least)
    return reflected(rows) if upper is None else upper


def _upper(products: Array, least: float) -> Array | None:
    """The factor of products; None where a column all but depends on those before it."""
    upper, broken = sl.lapack.dpotrf(products)
    if broken:
        return None
    apart = np.diagonal(upper) / np.sqrt(np.diagonal(products))
    return np.asarray(upper) if np.min(apart, initial=1.0) > least else None


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


def searched(prove: Callable[[float], _Proof | None], outside: float) -> Iterator[_Proof]:
    """What shares prove, where who asks for more wants it nearer to the optimum.

    What is lifted further is proved more easily, and lies further from the optimum. The search
    begins with what is lifted by about as much as a point lies outside, and goes on from there;
    where that is too far, those before are tried from the least on, or finer ones where there are
    none before.

    Parameters
    ----------
    prove : callable
        Given a share; None where nothing is proved.
    outside : float
        How far a point lies outside, over the tolerance.

    Examples
    --------
    >>> tried = []
    >>> found = searched(lambda share: tried.append(share) or (share if share > 1e-3 else None), 0)
    >>> list(found), tried
    ([0.01], [0.0001, 0.001, 0.01])
    >>> list(searched(lambda share: share if share > 3e-6 else None, 0))
    [0.0001, 1e-05]
    """
    first = next((k for k, share in enumerate(SHARES) if share >= _OUTSIDE * outside), _FURTHEST)
    before = tuple(share for share in SHARES[:first] if share >= _HOPELESS * outside)
    for place in range(first, len(SHARES)):
        found = prove(SHARES[place])
        if found is not None:
            yield found
            before = before if place else FINER
            break
    for share in before:
        if (found := prove(share)) is not None:
            yield found
            return


def first_inside(prove: Callable[[float], _Proof | None], outside: float) -> Iterator[_Proof]:
    """What the least share proves, on the way to an inside, that proves anything.

    A try takes less than a millisecond, and what is lifted twice as far costs twice as much.
    """
    least = max(SHARES[0], outside)
    for k in range(_DOUBLINGS):
        if (found := prove(least * 2.0**k)) is not None:
            yield found
            return
