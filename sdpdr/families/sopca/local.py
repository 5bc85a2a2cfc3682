r"""One local search for two bases, with three ways to take a turn between A and B.

For a stack of matrices :math:`N_i = M_i B`,

- *alternating*, Algorithm 1 of the Tong thesis: A = leading eigenvectors of
  :math:`\sum_i \sqrt{N_i N_i^T}`, which maximize a lower bound of
  :math:`\sum_i |A^T N_i|_{\mathrm{tr}}`. The objective itself may fall.
- *ascent*, which finishes the bases of the others: A = the polar factor of
  :math:`\sum_i N_i W_i^T`, with :math:`W_i` the polar factor of :math:`A^T N_i` for the present A.
  It maximizes :math:`\sum_i \langle W_i, A^T N_i\rangle`, which equals the objective at the present
  A and exceeds it nowhere: the objective never falls.
- *glram*: A = leading eigenvectors of :math:`\sum_i N_i N_i^T`, the best A for this B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import ShapeError
from sdpdr.base.progress import Progress
from sdpdr.families.sopca.bases import (
    Bases,
    is_tied,
    leading,
    projected,
    spans,
    trace_norm,
    weighted_outer,
)
from sdpdr.families.sopca.convex import Pair, Sizes
from sdpdr.families.sopca.inputs import matrices, numbers_of_components
from sdpdr.families.sopca.runs import RunStatus, RunStep, follow
from sdpdr.linalg.spectral import fix_signs

Scatter = Callable[[Array], Array]


def alternating(
    X: ArrayLike,
    n_components: int | Sequence[int] = 2,
    *,
    start: ArrayLike | None = None,
    n_starts: int = 1,
    seed: int = 0,
    tol: float = 1e-6,
    max_iter: int = 100,
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
) -> Bases:
    r"""Algorithm 1 of the Tong thesis, for :math:`\max \sum_i |A^T M_i B|_{\mathrm{tr}}`.

    Parameters
    ----------
    X : array_like of shape (n, p, q)
    n_components : int or pair of int, default 2
        k, of both sides or of each.
    start : array_like of shape (p, k), optional
        A, orthonormal columns; by default the first k columns of the identity, or the leading
        eigenvectors of :math:`\sum M_i M_i^T` if the first k rows of all matrices are zero.
    n_starts : int, default 1
        All but the first are random.
    seed : int, default 0
        Of random starts.
    tol : float, default 1e-6
        Relative change of the objective at which a start is done.
    max_iter : int, default 100
        Sweeps, over all starts.
    time_limit : float, optional
        Seconds.
    progress : bool or callable, optional
        As for `sdpdr.solve`.

    Returns
    -------
    Bases
        The best of all sweeps, since the objective may fall; ``value`` is the objective.

    Raises
    ------
    DataError
        As `matrices` and `numbers_of_components`.
    ShapeError
        The start has another shape.

    References
    ----------
    Tong thesis, algorithm 1, (4.9) and (4.10).

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> round(alternating(X).value, 4)
    15.1542
    """
    search = _Search("alternating", _by_eigenvectors(_root_scatter), trace_norm, _root_scatter)
    limits = {"tol": tol, "max_iter": max_iter, "time_limit": time_limit, "progress": progress}
    return search.run(X, n_components, start, n_starts, seed, limits)


def ascent(
    X: ArrayLike,
    n_components: int | Sequence[int] = 2,
    *,
    start: ArrayLike | None = None,
    n_starts: int = 1,
    seed: int = 0,
    tol: float = 1e-9,
    max_iter: int = 1000,
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
) -> Bases:
    r"""Monotone ascent of :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`, by polar factors.

    Parameters
    ----------
    X, n_components, start, n_starts, seed, tol, max_iter, time_limit, progress
        As for `alternating`. A start may also be a pair (A, B), which is improved.

    Returns
    -------
    Bases
        With the objective as ``value``; within one start the history never falls.

    Raises
    ------
    DataError, ShapeError
        As `alternating`.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> round(ascent(X).value, 4)
    15.2837
    """
    search = _Search("ascent", _by_polar_factors, trace_norm)
    limits = {"tol": tol, "max_iter": max_iter, "time_limit": time_limit, "progress": progress}
    return search.run(X, n_components, start, n_starts, seed, limits)


def glram(
    X: ArrayLike,
    n_components: int | Sequence[int] = 2,
    *,
    start: ArrayLike | None = None,
    n_starts: int = 1,
    seed: int = 0,
    tol: float = 1e-6,
    max_iter: int = 100,
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
) -> Bases:
    r"""Generalized low rank approximations, :math:`\min \sum_i |M_i - A D_i B^T|_F^2`.

    The best :math:`D_i` are :math:`A^T M_i B`, so this is :math:`\max \sum_i |A^T M_i B|_F^2`, by
    eigenvectors of :math:`\sum M_i^T A A^T M_i` and of :math:`\sum M_i B B^T M_i^T` in turn.

    Parameters
    ----------
    X, n_components, start, n_starts, seed, tol, max_iter, time_limit, progress
        As for `alternating`.

    Returns
    -------
    Bases
        With the energy kept as ``value``; within one start the history never falls.

    Raises
    ------
    DataError, ShapeError
        As `alternating`.

    References
    ----------
    Ye, "Generalized low rank approximations of matrices", Machine Learning 61, 2005. Tong thesis,
    (4.1) and (4.6); the text has :math:`B^T B`, the identity, in place of :math:`B B^T`.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> round(glram(X, n_starts=10, max_iter=1000).value, 4)
    36.3212
    """
    search = _Search("GLRAM", _by_eigenvectors(_square_scatter), _energy, _square_scatter)
    limits = {"tol": tol, "max_iter": max_iter, "time_limit": time_limit, "progress": progress}
    return search.run(X, n_components, start, n_starts, seed, limits)


@dataclass(frozen=True)
class _Search:
    """Sweep after sweep from several starts; the best bases of all sweeps are kept.

    ``turn`` gives the next bases from a stack and the present ones, ``measure`` the objective of a
    projected stack. Bases are unique unless eigenvalues of the ``scatter`` are tied.
    """

    what: str
    turn: Callable[[Array, Pair, Sizes], Pair]
    measure: Callable[[Array], float]
    scatter: Scatter | None = None

    def run(
        self,
        X: ArrayLike,
        n_components: int | Sequence[int],
        start: Any,
        n_starts: int,
        seed: int,
        limits: dict[str, Any],
    ) -> Bases:
        """The best bases; A is sought in all of its space, B in the span of the rows."""
        stack = matrices(X)
        ks = numbers_of_components(n_components, stack.shape)
        first = _first(stack, ks[0]) if start is None else _given(start, stack.shape, ks)
        n_starts, rng = validate.positive_integer("n_starts", n_starts), np.random.default_rng(seed)
        others = [rng.standard_normal(first[0].shape) for _ in range(n_starts - 1)]
        inside = spans(stack, ks)[1]
        first = first[0], inside.T @ first[1]
        starts = [first, *((np.linalg.qr(z)[0], first[1][:, :0]) for z in others)]
        stack = stack @ inside
        run = follow(self._sweeps(stack, starts, ks, limits["tol"]), what=self.what, **limits)
        rows, columns = run.point
        unique = self.scatter is None or not (
            is_tied(self.scatter(stack @ columns), ks[0])
            or is_tied(self.scatter(stack.transpose(0, 2, 1) @ rows), ks[1])
        )
        rows, columns = fix_signs(rows), fix_signs(inside @ columns)
        return Bases(rows, columns, run.value, run.status, run.history, unique)

    def _sweeps(
        self, stack: Array, starts: list[Pair], ks: Sizes, tol: float
    ) -> Iterator[RunStep[Pair]]:
        """Bases after each sweep; the status comes with the last."""
        for number, pair in enumerate(starts, 1):
            before, settled = -np.inf, False
            while not settled:
                pair = self.turn(stack, pair, ks)
                value = self.measure(projected(stack, *pair))
                settled = abs(value - before) <= tol * value
                last = settled and number == len(starts)
                yield RunStep(pair, value, status=RunStatus.CONVERGED if last else None)
                before = value


def _by_eigenvectors(scatter: Scatter) -> Callable[[Array, Pair, Sizes], Pair]:
    def turn(stack: Array, pair: Pair, ks: Sizes) -> Pair:
        columns = leading(scatter(stack.transpose(0, 2, 1) @ pair[0]), ks[1])
        return leading(scatter(stack @ columns), ks[0]), columns

    return turn


def _by_polar_factors(stack: Array, pair: Pair, ks: Sizes) -> Pair:
    rows, columns = pair if pair[1].size else _by_eigenvectors(_root_scatter)(stack, pair, ks)
    columns = _polar_step(stack.transpose(0, 2, 1) @ rows, columns)
    return _polar_step(stack @ columns, rows), columns


def _polar_step(images: Array, basis: Array) -> Array:
    """The polar factor of the sum of N_i W_i^T."""
    u, _, vt = np.linalg.svd(basis.T @ images, full_matrices=False)
    total = np.tensordot(images, u @ vt, axes=((0, 2), (0, 2)))
    left, _, right = np.linalg.svd(total, full_matrices=False)
    return np.asarray(left @ right)


def _root_scatter(images: Array) -> Array:
    """The sum of sqrt(N_i N_i^T), by thin singular value decompositions."""
    u, s, _ = np.linalg.svd(images, full_matrices=False)
    return weighted_outer(u, s)


def _square_scatter(images: Array) -> Array:
    """The sum of N_i N_i^T."""
    return np.asarray(np.tensordot(images, images, axes=((0, 2), (0, 2))))


def _energy(stack: Array) -> float:
    return float(np.sum(np.square(stack)))


def _first(stack: Array, k: int) -> Pair:
    """The default start; B is empty."""
    _, p, q = stack.shape
    # The first k rows of all pictures may be blank; the turn would then be arbitrary.
    blank = not np.any(stack[:, :k])
    rows = leading(_square_scatter(stack), k) if blank else np.eye(p)[:, :k]
    return rows, np.zeros((q, 0))


def _given(start: Any, shape: tuple[int, ...], ks: Sizes) -> Pair:
    (_, p, q), (first, second) = shape, ks
    pair = start if isinstance(start, tuple) else (start, np.zeros((q, 0)))
    rows, columns = (np.asarray(basis, dtype=float) for basis in pair)
    if rows.shape != (p, first) or columns.shape not in ((q, second), (q, 0)):
        raise ShapeError(
            f"a start must have shape ({p}, {first}), or be a pair with a second one of "
            f"({q}, {second}); it has {rows.shape}"
            + (f" and {columns.shape}." if columns.size else ".")
        )
    return rows, columns
