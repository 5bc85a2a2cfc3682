"""Factorization through a polynomial of inner products, as lifts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ModelError
from sdpdr.base.estimators import as_numbers
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.factor.nonnegative.inputs import number_of_components, partial_matrix
from sdpdr.families.factor.polynomial.lifts import Layers, Moments
from sdpdr.model import Affine, Block, Equal, Minimize, Model, Penalize
from sdpdr.model.blocks.expressions import Stated

Lift = Literal["layers", "moments"]
# A matrix of powers of a higher degree is beyond what solvers can do in double precision.
_DEGREE = 8


@checks_keywords
def polynomial_factorization(
    X: ArrayLike,
    coefficients: Sequence[float] | None = (1.0,),
    n_components: int = 1,
    *,
    lift: Lift = "layers",
    nonnegative: bool = True,
    regularization: float | None = None,
    degree: int = 2,
) -> Model:
    r"""Factors W, H with :math:`V_{ij} = g(W_i \cdot H_j)` for a polynomial g, without the rank.

    .. math::

        g(t) = c_1 t + c_2 t^2 + \dots + c_D t^D .

    With ``lift="layers"`` the program is

    .. math::

        \begin{split}
        \text{find}\quad & Z = \begin{pmatrix} I_k & W^T & H^T \\ W & \mathcal W & T \\
        H & T^T & \mathcal H \end{pmatrix} \succeq 0,\quad
        M^{ij} = \begin{pmatrix} 1 & t_{ij} & \cdots \\ t_{ij} & s_{ij} & \\ \vdots & & \ddots
        \end{pmatrix} \succeq 0, \\
        & c_1 t_{ij} + c_2 s_{ij} + \dots = V_{ij} \text{ for every known entry},\quad
        \text{a scale of } W,
        \end{split}

    in which ranks k of Z and 1 of all :math:`M^{ij}` make W and H exact factors. With
    ``lift="moments"`` a single matrix of rank one holds the products of monomials of W and H. No
    rank, no restriction: the program alone says little. `sdpdr.factorize.polynomial` searches for
    the ranks.

    With a ``regularization`` :math:`\lambda` the program is a relaxation with an optimum instead,

    .. math::

        \min\ \tfrac12 \sum_{ij} \bigl(g(W_i \cdot H_j) - V_{ij}\bigr)^2
        + \tfrac\lambda2 \bigl(|W|_F^2 + |H|_F^2\bigr),

    and its bound holds for all factors: of any number of components with "layers", where only a
    linear g gives more than zero; of ``n_components`` with "moments". There a matrix of rank one
    is a global optimum.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V. Entries that are ``nan`` are unknown.
    coefficients : sequence of float, default (1.0,)
        :math:`c_1, \dots, c_D`. None looks for :math:`c_2, \dots, c_D` too, with
        :math:`c_1 = 1`, without which W and g could trade their scales; needs "layers" and no
        regularization.
    n_components : int, default 1
        k.
    lift : {"layers", "moments"}, default "layers"
    nonnegative : bool, default True
        Factors, and unknown coefficients, are not negative.
    regularization : float, optional
        :math:`\lambda > 0`. By default V is met exactly, and the scale is fixed: for k = 1 an
        entry of W is 1; for k > 1 the columns of W have mean one if they are not negative. With
        signs free, nothing fixes the basis of the k columns.
    degree : int, default 2
        D of unknown coefficients.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        An entry is infinite, none is known, or none differs from zero; one is negative where
        factors and coefficients are not; ``n_components`` or a coefficient is out of range.
    ModelError
        Unknown coefficients with "moments" or a regularization; a regularization that is not
        positive.
    UnknownNameError

    References
    ----------
    Vasiloglou thesis, (3.115)-(3.119) and (4.120), without the equalities that make them true.

    Examples
    --------
    >>> from sdpdr.methods import polynomial_factorization
    >>> polynomial_factorization([[0.945, 1.92], [0.41125, 0.78]], (1.0, 0.5), lift="moments")
    MomentMatrix + NonNegative + Fits
    """
    return parts_of(X, coefficients, n_components, lift, nonnegative, regularization, degree)[-1]


def parts_of(
    X: ArrayLike, coefficients: Sequence[float] | None, n_components: int, lift: str,
    nonnegative: bool, regularization: float | None, degree: int,
) -> tuple[Array, Array | None, Layers | Moments, Model]:  # fmt: skip
    """V and c, the matrices that hold the factors, and the program over them."""
    V, c, k, D = checked_input(X, coefficients, n_components, nonnegative, degree)
    is_exact = regularization is None
    validate.choice("lift", lift, ("layers", "moments"))
    if c is None and (lift == "moments" or not is_exact):
        raise ModelError(
            "unknown coefficients need lift='layers' and no regularization: their products with "
            "powers of t have a matrix of their own there."
        )
    # For one component the row of W that belongs to the largest entries of V is fixed. For several,
    # with signs free, k rows could be the identity, but starts are then so unlike the factors that
    # the iteration needs several times as many programs.
    anchor = int(np.argmax(np.nansum(V**2, axis=1))) if k == 1 and is_exact else None
    pairs = np.argwhere(~np.isnan(V))
    n, m = V.shape
    held: Layers | Moments = Layers(n, m, pairs, k, D, anchor, unknown=c is None)
    if lift == "moments":
        held = Moments(n, m, pairs, k, D, anchor, misfit=not is_exact)
    blocks, targets = held.blocks(nonnegative), V[tuple(pairs.T)]
    if regularization is not None:
        weight = validate.positive_number("regularization", regularization)
        blocks += _costs(held, c, targets, weight, nonnegative)
    else:
        if anchor is None and nonnegative:
            blocks.append(_fits(held.sums(), np.full(k, float(len(V)))))
        blocks.append(_fits(held.fitted(c), targets))
    return V, c, held, Model(tuple(blocks), name="polynomial_factorization")


def _fits(values: Affine, targets: Array) -> Stated:
    return Stated("fits", [Equal(values, targets, symbol="v_ij")])


def _costs(
    held: Layers | Moments, c: Array | None, targets: Array, weight: float, nonnegative: bool
) -> list[Block]:
    """The blocks of half the squared misfit and the penalty on size."""
    cost = 0.5 * weight * held.size()
    if isinstance(held, Layers):
        misfit = Penalize(held.fitted(c), targets, "square", 1.0, symbol="v_ij")
        return [Stated("fits", [misfit]), Stated("costs", [Minimize(cost)])]
    assert c is not None
    cost = cost + 0.5 * held.misfits(c, targets)
    if held.n_components == 1:
        cost = _definite(cost, held, targets, nonnegative)
    return [Stated("costs", [Minimize(cost)])]


def _definite(cost: Affine, held: Moments, targets: Array, nonnegative: bool) -> Affine:
    """The same cost by positive definite matrices, if some are found: bounds become provable.

    The smallest eigenvalue is as large as possible relative to the addition to the corner.
    """

    def matrix(expression: Affine) -> Any:
        return expression.maps[held.matrix.gram].adjoint(np.ones(1)) @ np.eye(held.matrix.order)

    whole, names = matrix(cost), ("corner", "pure", "mixed", "sign")
    parts = [matrix(held.nothing(**{name: 1.0})) for name in names]
    size, found, most = float(targets @ targets), cost, 0.0
    signs = (0.1, 0.03, 0.01, 0.003, 1e-3, 3e-4, 1e-4) if nonnegative and held.signs else (0.0,)
    for corner, pure, sign in product((0.1, 1.0, 10.0), (0.3, 0.1, 0.03, 0.01, 0.003), signs):
        weights = (corner * size, pure, pure**2, sign)
        shifted = whole + sum(w * part for w, part in zip(weights, parts, strict=True))
        least = float(np.linalg.eigvalsh(shifted)[0])
        least = min(least, sign or least) / (1.0 + corner)
        if least > most:
            found, most = cost + held.nothing(*weights), least
    return found


# -- checks ----------------------------------------------------------------------------------------


def checked_input(
    X: ArrayLike, coefficients: Sequence[float] | None, n_components: int, nonnegative: bool,
    degree: int,
) -> tuple[Array, Array | None, int, int]:  # fmt: skip
    """V, c or None if it is unknown, k and D."""
    V = partial_matrix(X, nonnegative=False)
    c = None if coefficients is None else _checked_coefficients(coefficients)
    k = number_of_components(n_components, V.shape)
    _check_signs(V, c, nonnegative)
    return V, c, k, _degree(degree) if c is None else c.size


def _checked_coefficients(coefficients: Any) -> Array:
    """The coefficients as an array, the last one not zero."""
    c = np.atleast_1d(as_numbers("coefficients", coefficients))
    if c.ndim != 1 or not c.size or not np.all(np.isfinite(c)) or c[-1] == 0.0:
        raise DataError(
            "coefficients must be finite numbers c_1, ..., c_D of g(t) = c_1 t + ... + c_D t^D, "
            f"the last one not zero (leave it out then); they are {coefficients!r}."
        )
    _degree(c.size)
    return c


def _degree(degree: int) -> int:
    if validate.positive_integer("degree", degree) > _DEGREE:
        raise DataError(f"g may have degree {_DEGREE} at most; it has {degree}.")
    return degree


def _check_signs(V: Array, c: Array | None, nonnegative: bool) -> None:
    """Refuse negative entries where neither factors nor coefficients may be negative."""
    if nonnegative and (c is None or np.all(c >= 0.0)) and np.nanmin(V) < 0.0:
        i, j = np.argwhere(V < 0.0)[0]
        raise DataError(
            f"Negative values in data: X[{i}, {j}] = {V[i, j]:g}, but no polynomial with these "
            "coefficients is negative where the factors are not. Pass nonnegative=False."
        )
