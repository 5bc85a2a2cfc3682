"""The lowest eigenvalues of a dual slack, and what a dense method takes for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.smallest import lowest_eigenpairs, smallest_eigenvalues
from sdpdr.solvers.lowrank.general.forms import DualSlack
from sdpdr.solvers.lowrank.general.lagrangian import Layout

# Up to this order all eigenvalues are found by a dense method, which takes about a second; and up
# to this one where there is no time.
_DENSE, QUICK = 1500, 300
# Seconds of a dense method, over the cube of the order, on a slow machine.
_SLOWEST = 1e-9
# Full columns beside a sparse factor up to which it is still the faster way: plain Lanczos does not
# converge in 600 restarts where unfoldings of thousands of points have their lowest eigenvalues.
BESIDE = 40
# Eigenvectors looked at, hence columns added at once.
_DIRECTIONS = 6
# From a slack, a face and a factor to lowest eigenvalues, ascending, and their vectors.
Look = Callable[[DualSlack, Array, Array], tuple[Array, Array]]
# Trace that a matrix may still come to have if it is zero at present, in scaled units.
_TRACE = 0.1


def dense_seconds(orders: Iterable[int]) -> float:
    """Most that the dense method is expected to take for matrices of such orders.

    Examples
    --------
    >>> dense_seconds([100]) < 0.01 < dense_seconds([1500]), dense_seconds([2000])
    (True, 0.0)
    """
    return sum((_SLOWEST * float(n) ** 3 for n in orders if n <= _DENSE), start=0.0)


def lowest(
    slack: DualSlack,
    face: Array,
    count: int,
    seed: int,
    *,
    quick: bool = False,
    dense: int = _DENSE,
) -> tuple[Array, Array]:
    """The smallest eigenvalues, ascending, and their vectors, orthogonal to the face.

    Dense for moderate orders, by shifted Lanczos for sparse matrices, with few columns of a part of
    low rank beside them, and by plain Lanczos where these are many.

    Parameters
    ----------
    slack : DualSlack
    face : array of shape (n, p)
        Orthonormal columns to leave out.
    count : int
    seed : int
    quick : bool, default False
        Use the dense method for small orders only, and look for one eigenvalue elsewhere.
    dense : int
        Order up to which the dense method is used.

    Returns
    -------
    values : array of shape (k,), k <= count
    vectors : array of shape (n, k)

    Examples
    --------
    >>> from sdpdr.solvers.lowrank.general.forms import DualSlack
    >>> none = np.zeros((0, 2))
    >>> lowest(DualSlack(np.diag([1.0, -2.0]), np.zeros(0), none, none), np.zeros((2, 0)), 1, 0)[0]
    array([-2.])
    """
    if slack.n <= (QUICK if quick else dense):
        return dense_lowest(slack.toarray(), face, count)
    apart = slack.apart(BESIDE)
    if apart is not None:
        with suppress(ArithmeticError):
            return smallest_eigenvalues(apart, sp.csr_array(face), 1 if quick else count)
    return _lanczos(slack, face, count, seed)


def dense_lowest(matrix: Array, face: Array, count: int) -> tuple[Array, Array]:
    """The smallest eigenvalues of a dense matrix beside a face, and vectors, as of `lowest`."""
    n, p = face.shape
    if p:
        matrix = matrix - face @ (face.T @ matrix)
        matrix = matrix - (matrix @ face) @ face.T
        # Beyond the rest of the spectrum, so that the face itself never comes first.
        matrix += (1.0 + float(np.abs(matrix).sum(axis=1).max())) * (face @ face.T)
    last = min(count, n - p) - 1
    if last < 0:
        return np.zeros(0), np.zeros((n, 0))
    return lowest_eigenpairs((matrix + matrix.T) / 2.0, last + 1)


def _lanczos(slack: DualSlack, face: Array, count: int, seed: int) -> tuple[Array, Array]:
    def project(vector: Array) -> Array:
        return np.asarray(vector - face @ (face.T @ vector))

    def product(vector: Array) -> Array:
        return project((slack @ project(np.ravel(vector))[:, None])[:, 0])

    operator = spl.LinearOperator((slack.n, slack.n), matvec=product, dtype=float)
    start = project(np.random.default_rng(seed).standard_normal(slack.n))
    try:
        values, vectors = spl.eigsh(operator, count, which="SA", v0=start, tol=1e-6, maxiter=600)
    except spl.ArpackNoConvergence as partial:
        values, vectors = partial.eigenvalues, partial.eigenvectors
    order = np.argsort(values)
    vectors = project(vectors[:, order])
    size = np.linalg.norm(vectors, axis=0)
    kept = size > 0.5  # the others lie in the face, where the operator vanishes
    return np.asarray(values[order][kept]), np.asarray(vectors[:, kept] / size[kept])


def negative_part(
    layout: Layout,
    vector: Array,
    slacks: list[DualSlack],
    scale: float,
    seed: int,
    *,
    quick: bool,
    look: Look | None = None,
) -> tuple[float, list[tuple[Array, Array]]]:
    """What negative eigenvalues of the dual slacks add to the gap, and the low ends themselves."""
    factors, _ = layout.split(vector)
    negativity, lows = 0.0, []
    for block, slack, factor in zip(layout.problem.blocks, slacks, factors, strict=True):
        if block.scalar:
            diagonal = slack.diagonal()
            order = np.argsort(diagonal)[:_DIRECTIONS]
            low = diagonal[order], unit_vectors(block.n, order)
            trace = float(np.max(np.square(factor), initial=0.0))
        else:
            if look is None:
                low = lowest(slack, block.face, _DIRECTIONS, seed, quick=quick)
            else:
                low = look(slack, block.face, factor)
            trace = float(np.sum(np.square(factor)))
        lows.append(low)
        least = float(np.min(low[0], initial=0.0))
        negativity += -least * max(trace, _TRACE) / scale
    return negativity, lows


def unit_vectors(n: int, places: Index) -> Array:
    """Some columns of an identity, which may itself be far too large.

    Examples
    --------
    >>> unit_vectors(3, np.array([2])).tolist()
    [[0.0], [0.0], [1.0]]
    """
    columns = np.zeros((n, len(places)))
    columns[places, np.arange(len(places))] = 1.0
    return columns
