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
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import ShapeError
from sdpdr.families.sopca.bases import (
    Bases,
    Pair,
    is_tied,
    leading,
    projected,
    spans,
    squares,
    trace_norm,
    weighted_outer,
)
from sdpdr.families.sopca.inputs import matrices, numbers_of_components
from sdpdr.families.sopca.runs import RunStatus, RunStep, follow
from sdpdr.linalg.spectral import fix_signs

Scatter = Callable[[Array], Array]
Turn = Callable[[Array, Pair], Pair]


def alternating(
    X: ArrayLike,
    n_components: int | Sequence[int] = 2,
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
    time_limit: float | None = None,
) -> Bases:
    r"""Algorithm 1 of the Tong thesis, for :math:`\max \sum_i |A^T M_i B|_{\mathrm{tr}}`.

    It begins at the first k columns of the identity, or at the leading eigenvectors of
    :math:`\sum M_i M_i^T` if the first k rows of all matrices are zero.

    Parameters
    ----------
    X : array_like of shape (n, p, q)
    n_components : int or pair of int, default 2
        k, of both sides or of each.
    tol : float, default 1e-6
        Relative change of the objective at which the search is done.
    max_iter : int, default 100
        Sweeps.
    time_limit : float, optional
        Seconds.

    Returns
    -------
    Bases
        The best of all sweeps, since the objective may fall; ``value`` is the objective.

    Raises
    ------
    DataError, ShapeError
        X is no stack of matrices, or ``n_components`` is out of range.

    References
    ----------
    Tong thesis, algorithm 1, (4.9) and (4.10).

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> round(alternating(X).value, 4)
    15.1542
    """
    stack = matrices(X)
    ks = numbers_of_components(n_components, stack.shape)
    turn = partial(_by_eigenvectors, _root_scatter, ks)
    sweeps = partial(_sweeps, turn, trace_norm, [_first(stack, ks[0])], tol)
    return _searched(stack, ks, sweeps, _root_scatter, (tol, max_iter, time_limit))


def ascent(
    X: ArrayLike,
    n_components: int | Sequence[int] = 2,
    *,
    start: tuple[ArrayLike, ArrayLike] | None = None,
    tol: float = 1e-9,
    max_iter: int = 1000,
    time_limit: float | None = None,
) -> Bases:
    r"""Monotone ascent of :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`, by polar factors.

    Parameters
    ----------
    X, n_components, tol, max_iter, time_limit
        As for `alternating`.
    start : pair of array_like, optional
        (A, B) of orthonormal columns, which are improved; by default the bases after one sweep of
        `alternating`.

    Returns
    -------
    Bases
        With the objective as ``value``; the history never falls.

    Raises
    ------
    DataError, ShapeError
        As `alternating`, or the start has another shape.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> round(ascent(X).value, 4)
    15.2837
    """
    stack = matrices(X)
    (_, p, q), ks = stack.shape, numbers_of_components(n_components, stack.shape)
    if start is None:
        pair = _by_eigenvectors(_root_scatter, ks, stack, _first(stack, ks[0]))
    else:
        pair = np.asarray(start[0], dtype=float), np.asarray(start[1], dtype=float)
        if (pair[0].shape, pair[1].shape) != ((p, ks[0]), (q, ks[1])):
            raise ShapeError(
                f"start must be a pair of shapes ({p}, {ks[0]}) and ({q}, {ks[1]}); it has "
                f"{pair[0].shape} and {pair[1].shape}."
            )
    sweeps = partial(_sweeps, _by_polar_factors, trace_norm, [pair], tol)
    return _searched(stack, ks, sweeps, None, (tol, max_iter, time_limit))


def glram(
    X: ArrayLike,
    n_components: int | Sequence[int] = 2,
    *,
    n_starts: int = 1,
    seed: int = 0,
    tol: float = 1e-6,
    max_iter: int = 100,
    time_limit: float | None = None,
) -> Bases:
    r"""Generalized low rank approximations, :math:`\min \sum_i |M_i - A D_i B^T|_F^2`.

    The best :math:`D_i` are :math:`A^T M_i B`, so this is :math:`\max \sum_i |A^T M_i B|_F^2`, by
    eigenvectors of :math:`\sum M_i^T A A^T M_i` and of :math:`\sum M_i B B^T M_i^T` in turn.

    Parameters
    ----------
    X, n_components, tol, time_limit
        As for `alternating`.
    n_starts : int, default 1
        The first as that of `alternating`, the others random.
    seed : int, default 0
        Of random starts.
    max_iter : int, default 100
        Sweeps, over all starts.

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
    stack = matrices(X)
    ks = numbers_of_components(n_components, stack.shape)
    n_starts, rng = validate.positive_integer("n_starts", n_starts), np.random.default_rng(seed)
    rows, none = _first(stack, ks[0])
    starts = [(rows, none)]
    for _ in range(n_starts - 1):
        starts.append((np.linalg.qr(rng.standard_normal(rows.shape))[0], none))
    turn = partial(_by_eigenvectors, _square_scatter, ks)
    sweeps = partial(_sweeps, turn, squares, starts, tol)
    return _searched(stack, ks, sweeps, _square_scatter, (tol, max_iter, time_limit))


def _searched(
    stack: Array,
    ks: tuple[int, int],
    sweeps: Callable[[Array, Array], Iterator[RunStep[Pair]]],
    scatter: Scatter | None,
    limits: tuple[float, int, float | None],
) -> Bases:
    """The best bases of all sweeps; B is sought in the span of the rows of all matrices.

    They are unique unless eigenvalues of the ``scatter`` are tied.
    """
    inside = spans(stack, ks)[1]
    stack = stack @ inside
    run = follow(sweeps(stack, inside), *limits)
    rows, columns = run.point
    unique = scatter is None or not (
        is_tied(scatter(stack @ columns), ks[0])
        or is_tied(scatter(stack.transpose(0, 2, 1) @ rows), ks[1])
    )
    rows, columns = fix_signs(rows), fix_signs(inside @ columns)
    return Bases(rows, columns, run.value, run.status, run.history, unique)


def _sweeps(
    turn: Turn,
    measure: Callable[[Array], float],
    starts: list[Pair],
    tol: float,
    stack: Array,
    inside: Array,
) -> Iterator[RunStep[Pair]]:
    """Bases after each sweep, from one start after the other; the status comes with the last."""
    for number, (rows, columns) in enumerate(starts, 1):
        pair = rows, inside.T @ columns
        before, settled = -np.inf, False
        while not settled:
            pair = turn(stack, pair)
            value = measure(projected(stack, *pair))
            settled = abs(value - before) <= tol * value
            last = settled and number == len(starts)
            yield RunStep(pair, value, status=RunStatus.CONVERGED if last else None)
            before = value


def _by_eigenvectors(scatter: Scatter, ks: tuple[int, int], stack: Array, pair: Pair) -> Pair:
    columns = leading(scatter(stack.transpose(0, 2, 1) @ pair[0]), ks[1])
    return leading(scatter(stack @ columns), ks[0]), columns


def _by_polar_factors(stack: Array, pair: Pair) -> Pair:
    rows, columns = pair
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


def _first(stack: Array, k: int) -> Pair:
    """The default start; B is empty."""
    _, p, q = stack.shape
    # The first k rows of all pictures may be blank; the turn would then be arbitrary.
    blank = not np.any(stack[:, :k])
    rows = leading(_square_scatter(stack), k) if blank else np.eye(p)[:, :k]
    return rows, np.zeros((q, 0))
