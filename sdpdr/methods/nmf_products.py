"""Non-negative factorization by small cones, one for each product."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.blocks.products import ProductSums, Scalarised, SmallProducts
from sdpdr.errors import ShapeError
from sdpdr.linalg.svec import Array
from sdpdr.model import Model
from sdpdr.nonnegative.inputs import nonnegative_matrix, number_of_components


def nmf_products(
    X: ArrayLike,
    n_components: int,
    *,
    left: ArrayLike | float = 0.0,
    right: ArrayLike | float = 0.0,
) -> Model:
    r"""Non-negative matrix factorization with every product lifted on its own.

    .. math::

        \min\ \sum_{il} T_{il} + \sum_{lj} S_{lj} - \langle C_W, W\rangle - \langle C_H, H\rangle
        \quad\text{s.t.}\quad \sum_l V_{ijl} = x_{ij},\quad
        \begin{pmatrix} 1 & W_{il} & H_{lj} \\ \cdot & T_{il} & V_{ijl} \\ \cdot & \cdot & S_{lj}
        \end{pmatrix} \succeq 0,\quad W, H \ge 0 .

    What is minimised is convex, and what is wanted, :math:`T = W^2` and :math:`S = H^2`, is not.
    With weights that are alike for all terms, zero or any number, some optimum has k equal columns,
    a factorization of rank one: the program does not change when terms are exchanged. Weights
    :math:`C_W = 2 W_t`, :math:`C_H = 2 H_t` from a point without that symmetry majorise
    :math:`\sum (T - W^2) + \sum (S - H^2)`; `sdpdr.factorize.nmf` iterates them.

    Parameters
    ----------
    X : array_like of shape (n, m)
        Non-negative.
    n_components : int
        k, from 1 to min(n, m).
    left : array_like of shape (n, k) or number, default 0
        :math:`C_W`.
    right : array_like of shape (k, m) or number, default 0
        :math:`C_H`.

    Returns
    -------
    Model

    Raises
    ------
    DataError, ShapeError

    References
    ----------
    Vasiloglou thesis, (2.55)-(2.60), whose second form, of order two, is not linear.

    Examples
    --------
    >>> import sdpdr
    >>> model = nmf_products([[1.0, 2.0], [3.0, 4.0]], 1)
    >>> model
    SmallProducts + ProductSums + Scalarised
    >>> sdpdr.solve(model, tol=1e-7).certified(1e-5)
    True
    """
    matrix = nonnegative_matrix(X)
    k = number_of_components(n_components, matrix.shape)
    n, m = matrix.shape
    blocks = (
        SmallProducts(n, m, k),
        ProductSums(matrix, k),
        Scalarised(_weights("left", left, (n, k)), _weights("right", right, (k, m))),
    )
    return Model(blocks, name="nmf_products", maximize=False)


def _weights(name: str, given: ArrayLike | float, shape: tuple[int, int]) -> Array:
    try:
        return np.broadcast_to(np.asarray(given, dtype=float), shape).copy()
    except ValueError:
        raise ShapeError(f"{name} must have shape {shape}; it has {np.shape(given)}.") from None
