r"""Completion of a matrix that is known on the cliques of a chordal pattern.

Both completions walk the clique tree from its roots to its leaves. With U what a clique shares
with its parent, R the rest of it and P all indices met before, the one of largest determinant sets
X_PR = X_PU X_UU^+ X_UR; its inverse vanishes off the pattern. The one of least rank keeps a factor
Y of what it has met, X = Y Y^T: the clique's own factor [F_U; F_R] is turned by the orthogonal
matrix Q that brings F_U onto Y_U, and Y_R = F_R Q. Its rank is that of the clique of largest rank.

References
----------
Vandenberghe, Andersen, Chordal Graphs and Semidefinite Optimization, Found. Trends Optim. 1(4),
2015. Sun, Decomposition methods for semidefinite optimization, PhD thesis, UCLA, 2015 (least rank).
Schönemann, A generalized solution of the orthogonal Procrustes problem, Psychometrika 31(1), 1966.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ShapeError
from sdpdr.linalg.cliques import CliqueTree

# Eigenvalues below this fraction of the largest one in any clique are rounding.
NOISE = 1e-14


def complete_max_det(tree: CliqueTree, blocks: Sequence[Array]) -> Array:
    """The positive semidefinite completion of largest determinant.

    Parameters
    ----------
    tree : CliqueTree
    blocks : sequence of arrays
        Positive semidefinite blocks on the cliques, which agree where the cliques overlap.

    Returns
    -------
    array of shape (n, n)

    Raises
    ------
    ShapeError
        If the blocks do not have the orders of the cliques.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.linalg.cliques import clique_tree
    >>> tree = clique_tree(3, [(0, 1), (1, 2)])
    >>> complete_max_det(tree, [np.array([[1.0, 0.5], [0.5, 1.0]])] * 2).round(3)
    array([[1.  , 0.5 , 0.25],
           [0.5 , 1.  , 0.5 ],
           [0.25, 0.5 , 1.  ]])
    """
    _check(tree, blocks)
    matrix = np.zeros((tree.n, tree.n))
    met = np.zeros(tree.n, dtype=bool)
    for clique, shared, block in zip(tree.cliques, tree.separators, blocks, strict=True):
        own = np.isin(clique, shared, invert=True)
        rest = clique[own]
        before = np.flatnonzero(met)
        if shared.size:
            steps = sl.lstsq(block[~own][:, ~own], block[~own][:, own], cond=NOISE)[0]
            cross = matrix[np.ix_(before, shared)] @ steps
            matrix[np.ix_(before, rest)] = cross
            matrix[np.ix_(rest, before)] = cross.T
            matrix[np.ix_(shared, rest)] = block[~own][:, own]
            matrix[np.ix_(rest, shared)] = block[own][:, ~own]
        matrix[np.ix_(rest, rest)] = block[own][:, own]
        met[rest] = True
    return matrix


def complete_min_rank(tree: CliqueTree, blocks: Sequence[Array]) -> Array:
    """A factor of a positive semidefinite completion of least rank.

    Parameters
    ----------
    tree : CliqueTree
    blocks : sequence of arrays
        Positive semidefinite blocks on the cliques, which agree where the cliques overlap.
        Negative eigenvalues count as zeros.

    Returns
    -------
    array of shape (n, r)
        With r the largest rank of a block.

    Raises
    ------
    ShapeError
        If the blocks do not have the orders of the cliques.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.linalg.cliques import clique_tree
    >>> tree = clique_tree(3, [(0, 1), (1, 2)])
    >>> factor = complete_min_rank(tree, [np.ones((2, 2))] * 2)
    >>> (factor @ factor.T).round(3)
    array([[1., 1., 1.],
           [1., 1., 1.],
           [1., 1., 1.]])
    """
    _check(tree, blocks)
    spectra = [np.linalg.eigh(block) for block in blocks]
    largest = max((w[-1] for w, _ in spectra), default=0.0)
    rank = max((int(np.sum(w > NOISE * largest)) for w, _ in spectra), default=0)
    factor = np.zeros((tree.n, rank))
    for clique, shared, (w, v) in zip(tree.cliques, tree.separators, spectra, strict=True):
        own = np.isin(clique, shared, invert=True)
        first = max(0, clique.size - rank)
        alone = np.zeros((clique.size, rank))
        alone[:, : clique.size - first] = v[:, first:] * np.sqrt(np.maximum(w[first:], 0.0))
        if shared.size:
            left, _, right = np.linalg.svd(alone[~own].T @ factor[shared])
            alone = alone @ (left @ right)
        factor[clique[own]] = alone[own]
    return factor


def _check(tree: CliqueTree, blocks: Sequence[Array]) -> None:
    orders = [block.shape for block in blocks]
    expected = [(c.size, c.size) for c in tree.cliques]
    if orders != expected:
        raise ShapeError(
            f"a completion needs one block for every clique, of orders "
            f"{[k for k, _ in expected]}; it was given shapes {orders}."
        )
