r"""Two bases for a stack of matrices: the preserved part, local searches, and a closed form.

For a stack of matrices :math:`N_i = M_i B`, a search takes A from B and then B from A:

- *alternating*, Algorithm 1 of the Tong thesis: A = leading eigenvectors of
  :math:`\sum_i \sqrt{N_i N_i^T}`, which maximize a lower bound of
  :math:`\sum_i |A^T N_i|_{\mathrm{tr}}`. The objective itself may fall.
- *ascent*: A = the polar factor of :math:`\sum_i N_i W_i^T`, with :math:`W_i` the polar factor of
  :math:`A^T N_i` for the present A. It maximizes :math:`\sum_i \langle W_i, A^T N_i\rangle`, which
  equals the objective at the present A and exceeds it nowhere: the objective never falls.
- *glram*: A = leading eigenvectors of :math:`\sum_i N_i N_i^T`, the best A for this B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import Advised
from sdpdr.families.limits import ROUNDING
from sdpdr.families.sopca.recipe import matrices_and_numbers
from sdpdr.linalg.spectral import fix_signs

Pair = tuple[Array, Array]


class RunStatus(Advised):
    """How an iteration ended; the value of each member is advice."""

    CONVERGED = "The tolerance was reached."
    ITERATION_LIMIT = "The iteration limit was reached; the best point so far is returned."
    TIME_LIMIT = "The time limit was reached; the best point so far is returned."
    INTERRUPTED = "Interrupted; the best point so far is returned."
    STALLED = "No step gains anything in floating point; the best point so far is returned."


@dataclass(frozen=True, eq=False)
class Bases:
    """Orthonormal columns A of shape (p, k) and B of shape (q, k).

    Attributes
    ----------
    rows, columns : array
        A and B.
    value : float
        The objective of the method for these bases.
    status : RunStatus
    history : tuple of float
        The value after each step; empty for the closed form.
    unique : bool
        False if eigenvalues are tied, so that other bases have the same value.
    """

    rows: Array = field(repr=False)
    columns: Array = field(repr=False)
    value: float
    status: RunStatus = RunStatus.CONVERGED
    history: tuple[float, ...] = field(default=(), repr=False)
    unique: bool = True

    def transform(self, stack: ArrayLike) -> Array:
        """The matrices :math:`A^T M_i B`."""
        return projected(np.asarray(stack, dtype=float), self.rows, self.columns)

    def kept(self, stack: ArrayLike) -> float:
        r""":math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`, the objective of (4.9)."""
        return trace_norm(self.transform(stack))


# -- searches ------------------------------------------------------------------------------------


@checks_keywords
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
        Relative change of the objective at which the search ends.
    max_iter : int, default 100
        Sweeps.
    time_limit : float, optional
        Seconds.

    Returns
    -------
    Bases
        ``rows`` A and ``columns`` B of the best sweep, since the objective may fall, with the
        objective as ``value``, the ``status``, the ``history`` of values, and whether the bases are
        ``unique``; ``transform(X)`` gives the matrices :math:`A^T M_i B`.

    Raises
    ------
    DataError, ShapeError
        X is not a stack of matrices, or ``n_components`` is out of range.

    References
    ----------
    Tong thesis, algorithm 1, (4.9) and (4.10).

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.bilinear import alternating
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> round(alternating(X).value, 4)
    15.1542
    """
    stack, ks = matrices_and_numbers(X, n_components)
    starts = [_first(stack, ks)]
    return _search(stack, starts, root_scatter, trace_norm, tol, max_iter, time_limit)


@checks_keywords
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
        As `alternating`; the history never falls.

    Raises
    ------
    DataError, ShapeError
        As `alternating`, or the start has another shape.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.bilinear import ascent
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> round(ascent(X).value, 4)
    15.2837
    """
    stack, ks = matrices_and_numbers(X, n_components)
    if start is None:
        pair = _sweep(stack, _first(stack, ks), _eigenvectors(root_scatter))
    else:
        pair = np.asarray(start[0], dtype=float), np.asarray(start[1], dtype=float)
    shapes = tuple(zip(stack.shape[1:], ks, strict=True))
    if (pair[0].shape, pair[1].shape) != shapes:
        raise ShapeError(
            f"start must be a pair of shapes {shapes[0]} and {shapes[1]}; it has "
            f"{pair[0].shape} and {pair[1].shape}."
        )
    return _search(stack, [pair], None, trace_norm, tol, max_iter, time_limit)


@checks_keywords
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
        Seed of the random starts.
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
    >>> import numpy as np
    >>> from sdpdr.bilinear import glram
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> round(glram(X, n_starts=10, max_iter=1000).value, 4)
    36.3212
    """
    stack, ks = matrices_and_numbers(X, n_components)
    n_starts, rng = validate.positive_integer("n_starts", n_starts), np.random.default_rng(seed)
    starts = [_first(stack, ks)]
    for _ in range(n_starts - 1):
        starts.append((np.linalg.qr(rng.standard_normal(starts[0][0].shape))[0], starts[0][1]))
    return _search(stack, starts, square_scatter, squares, tol, max_iter, time_limit)


@checks_keywords
def two_d_svd(X: ArrayLike, n_components: int | Sequence[int] = 2) -> Bases:
    r"""Two-dimensional singular value decomposition: leading eigenvectors of both covariances.

    .. math:: F = \sum_i (M_i - \bar M)(M_i - \bar M)^T, \qquad
              G = \sum_i (M_i - \bar M)^T (M_i - \bar M) .

    Parameters
    ----------
    X, n_components
        As for `alternating`.

    Returns
    -------
    Bases
        ``value`` is the energy kept of the centred stack.

    Raises
    ------
    DataError, ShapeError
        As `alternating`.

    References
    ----------
    Ding and Ye, "2-dimensional singular value decomposition for 2D maps and images", SIAM
    International Conference on Data Mining, 2005. Tong thesis, section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.bilinear import two_d_svd
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> two_d_svd(X).rows.shape
    (5, 2)
    """
    stack, ks = matrices_and_numbers(X, n_components, center=True)
    covariances = square_scatter(stack), square_scatter(stack.transpose(0, 2, 1))
    unique = not any(is_tied(C, k) for C, k in zip(covariances, ks, strict=True))
    rows, columns = (leading(C, k) for C, k in zip(covariances, ks, strict=True))
    return Bases(rows, columns, squares(projected(stack, rows, columns)), unique=unique)


# A map of the images of the stack under one basis, and the other basis, to a better one.
Rule = Callable[[Array, Array], Array]


def _eigenvectors(scatter: Callable[[Array], Array]) -> Rule:
    """The rule that takes as many leading eigenvectors of a scatter as the basis has."""
    return lambda images, basis: leading(scatter(images), basis.shape[1])


def _polar_factor(images: Array, basis: Array) -> Array:
    """The rule of `ascent`: the polar factor of the sum of N_i W_i^T."""
    u, _, vt = np.linalg.svd(basis.T @ images, full_matrices=False)
    total = np.tensordot(images, u @ vt, axes=((0, 2), (0, 2)))
    left, _, right = np.linalg.svd(total, full_matrices=False)
    return np.asarray(left @ right)


def _sweep(stack: Array, pair: Pair, rule: Rule) -> Pair:
    """A rule for B, and then for A."""
    columns = rule(stack.transpose(0, 2, 1) @ pair[0], pair[1])
    return rule(stack @ columns, pair[0]), columns


def _first(stack: Array, ks: tuple[int, int]) -> Pair:
    """The default start, in which B is zero: the first sweep begins with A alone."""
    # The first k rows of all pictures may be blank; the first step would then be arbitrary.
    blank = not np.any(stack[:, : ks[0]])
    rows = leading(square_scatter(stack), ks[0]) if blank else np.eye(stack.shape[1], ks[0])
    return rows, np.zeros((stack.shape[2], ks[1]))


def _search(
    stack: Array, starts: list[Pair], scatter: Callable[[Array], Array] | None,
    measure: Callable[[Array], float], tol: float, *limits: Any,
) -> Bases:  # fmt: skip
    """The best bases over all sweeps; B is sought in the span of the rows of all matrices.

    Bases are leading eigenvectors of a scatter, or polar factors if there is none.
    """
    inside = span(stack, starts[0][1].shape[1])
    stack = stack @ inside
    rule = _polar_factor if scatter is None else _eigenvectors(scatter)

    def sweeps() -> Iterator[Step]:
        for number, (rows, columns) in enumerate(starts, 1):
            pair = rows, inside.T @ columns
            before, settled = -np.inf, False
            while not settled:
                pair = _sweep(stack, pair, rule)
                value = measure(projected(stack, *pair))
                settled = abs(value - before) <= tol * value
                last = settled and number == len(starts)
                yield pair, value, np.inf, RunStatus.CONVERGED if last else None
                before = value

    (rows, columns), value, _, status, history = follow(sweeps(), tol, *limits)
    unique = scatter is None or not (
        is_tied(scatter(stack @ columns), rows.shape[1])
        or is_tied(scatter(stack.transpose(0, 2, 1) @ rows), columns.shape[1])
    )
    rows, columns = fix_signs(rows), fix_signs(inside @ columns)
    return Bases(rows, columns, value, status, history, unique)


# -- limits --------------------------------------------------------------------------------------


# A point of an iteration, its value, a proved bound, and a status if it is the last one.
Step = tuple[Any, float, float, RunStatus | None]


def follow(
    steps: Iterator[Step], tol: float, max_iter: int, time_limit: float | None
) -> tuple[Any, float, float, RunStatus, tuple[float, ...]]:
    """Take steps until the last one, a gap of at most ``tol``, or a limit.

    Returns the point of largest value, this value, the lowest bound, the status, and all values.
    """
    max_iter = validate.positive_integer("max_iter", max_iter, at_least=0)
    tol = validate.positive_number("tol", tol)
    deadline, history, least, status = Deadline(time_limit), [], np.inf, None
    best: tuple[float, Any] = -np.inf, None
    try:
        while status is None:
            point, value, bound, status = next(steps)
            best = (value, point) if value > best[0] else best
            least = min(least, bound)
            history.append(value)
            if least - best[0] <= tol * best[0]:
                status = RunStatus.CONVERGED
            elif status is None and len(history) > max_iter:
                status = RunStatus.ITERATION_LIMIT
            elif status is None and deadline.is_over():
                status = RunStatus.TIME_LIMIT
    except KeyboardInterrupt:
        if not history:
            raise
        status = RunStatus.INTERRUPTED
    return best[1], best[0], least, status, tuple(history)


# -- matrices ------------------------------------------------------------------------------------


def span(stack: Array, k: int) -> Array:
    """An orthonormal basis, of k + 1 columns at least, whose span holds the rows of all matrices.

    With one direction more than k a tie is seen even if the data have no more than k. No rank is
    determined: the Q of Householder's factorization is orthonormal whatever the rank.
    """
    n, p, q = stack.shape
    if max(n * p, k + 1) >= q:
        return np.eye(q)
    rows = np.zeros((max(n * p, k + 1), q))
    rows[: n * p] = stack.reshape(-1, q)
    return np.linalg.qr(rows.T)[0]


def leading(matrix: Array, k: int) -> Array:
    """Eigenvectors of the k largest eigenvalues, the largest first, each with its sign fixed."""
    return fix_signs(np.linalg.eigh(matrix)[1][:, ::-1][:, :k])


def is_tied(matrix: Array, k: int) -> bool:
    """Whether eigenvalue k equals the next one, so that the leading subspace is a choice."""
    values = np.linalg.eigvalsh(matrix)[::-1]
    size = max(float(np.abs(values).max()), 1e-300)
    return k < values.size and bool(values[k - 1] - values[k] <= ROUNDING * size)


def projected(stack: Array, rows: Array, columns: Array) -> Array:
    """The matrices :math:`A^T M_i B`, shape (n, k, l)."""
    return np.asarray(rows.T @ (stack @ columns))


def trace_norm(stack: Array) -> float:
    r"""The sum of all singular values of all matrices, :math:`\sum_i |M_i|_{\mathrm{tr}}`."""
    return float(np.linalg.svd(stack, compute_uv=False).sum())


def squares(stack: Array) -> float:
    r"""The sum of squares of all entries, :math:`\sum_i |M_i|_F^2`."""
    return float(np.sum(np.square(stack)))


def square_scatter(images: Array) -> Array:
    r"""The matrix :math:`\sum_i N_i N_i^T`."""
    return np.asarray(np.tensordot(images, images, axes=((0, 2), (0, 2))))


def root_scatter(images: Array) -> Array:
    r"""The matrix :math:`\sum_i \sqrt{N_i N_i^T}`, by thin singular value decompositions."""
    u, s, _ = np.linalg.svd(images, full_matrices=False)
    return weighted_outer(u, s)


def weighted_outer(vectors: Array, weights: Array) -> Array:
    r"""The matrix :math:`\sum_i X_i \operatorname{diag}(w_i) X_i^T`."""
    total = np.tensordot(vectors * weights[:, None, :], vectors, axes=((0, 2), (0, 2)))
    return np.asarray(0.5 * (total + total.T))
