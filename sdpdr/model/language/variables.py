"""Variables as expressions: positive semidefinite and symmetric matrices, vectors, scalars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import as_whole
from sdpdr.base.errors import (
    DataTypeError,
    ModelError,
    ShapeError,
)
from sdpdr.base.keywords import checks_keywords
from sdpdr.linalg.svec import svec_index, svec_size
from sdpdr.model.affine import Affine
from sdpdr.model.language.matrices import PsdMatrix
from sdpdr.model.parameters import shape_of
from sdpdr.program.point import PsdVariable, ShapedVariable

T = TypeVar("T")


@checks_keywords
def psd(names: str, n: int) -> Any:
    r"""Positive semidefinite matrices, :math:`K \in S^n,\ K \succeq 0`.

    Parameters
    ----------
    names : str
        A name, or several with blanks or commas between them.
    n : int
        Order.

    Returns
    -------
    PsdMatrix, or tuple of them

    Examples
    --------
    >>> from sdpdr import psd
    >>> K = psd("K", 4)
    >>> K[[0, 1], [2, 3]].shape, K.distance2([(0, 1)]).shape, K.sum(axis=1).shape
    ((2,), (1,), (4,))
    """
    return _named(names, lambda name: PsdMatrix(PsdVariable(name, n)))


@checks_keywords
def symmetric(names: str, n: int) -> Any:
    """Symmetric matrices with eigenvalues of any sign, as expressions of shape (n, n).

    Parameters
    ----------
    names : str
        A name, or several with blanks or commas between them.
    n : int

    Examples
    --------
    >>> from sdpdr import symmetric
    >>> symmetric("S", 3)[0, 1].maps["S"].matrix().toarray()
    array([[0., 1., 0., 0., 0., 0.]])
    """
    order = as_whole("the order of a matrix", n)
    if order < 0:
        raise ModelError(f"symmetric {names!r}: its order must be a whole number; it is {n!r}.")
    i, j = np.indices((order, order))

    def make(name: str) -> Affine:
        return _free(name, svec_size(order), (order, order)).picked(svec_index(i, j))

    return _named(names, make)


@checks_keywords
def scalar(names: str, size: int | None = None, *, nonnegative: bool = False) -> Any:
    """Numbers: one, or a vector of them.

    Parameters
    ----------
    names : str
        A name, or several with blanks or commas between them.
    size : int, optional
        Length of a vector; without it, the expression is a scalar.
    nonnegative : bool, default False

    Examples
    --------
    >>> from sdpdr import scalar
    >>> s, t = scalar("s t")
    >>> w = scalar("w", 5, nonnegative=True)
    >>> s.shape, w.shape, (w.sum() - t).shape
    ((), (5,), ())
    """
    if isinstance(size, tuple):
        raise ShapeError(f"scalar takes a length; write matrix({names!r}, {size}) for two axes.")

    def make(name: str) -> Affine:
        if size is None:
            return _free(name, 1, (), nonnegative).reshape(())
        return _free(name, size, (size,), nonnegative)

    return _named(names, make)


@checks_keywords
def matrix(names: str, shape: tuple[int, int], *, nonnegative: bool = False) -> Any:
    """Rectangular matrices of numbers.

    Parameters
    ----------
    names : str
        A name, or several with blanks or commas between them.
    shape : tuple of two int
    nonnegative : bool, default False

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import matrix
    >>> (np.ones((2, 3)) @ matrix("X", (3, 4))).shape
    (2, 4)
    """
    sides = shape_of(f"matrix({names!r}, shape)", shape)
    if len(sides) != 2:
        raise ShapeError(
            f"matrix takes two lengths, as in matrix({names!r}, (3, 3)); it was given {shape!r}. "
            f"Write scalar({names!r}, 3) for a vector, psd or symmetric for a symmetric matrix."
        )
    rows, columns = sides
    return _named(
        names, lambda name: _free(name, rows * columns, sides, nonnegative).reshape(sides)
    )


def _free(name: str, size: int, shape: tuple[int, ...], nonnegative: bool = False) -> Affine:
    """A vector variable as an expression; its shape is that of values in solutions."""
    variable = ShapedVariable(name, size, nonnegative, shape=shape)
    return Affine.in_variable(sp.eye_array(variable.size, format="csr"), variable)


def _named(names: str, make: Callable[[str], T]) -> T | tuple[T, ...]:
    """One variable for each of the names; a tuple if there are several."""
    if not isinstance(names, str) or not names.replace(",", " ").split():
        raise DataTypeError(f"a variable needs a name, a str; it was given {names!r}.")
    each = names.replace(",", " ").split()
    for k, name in enumerate(each):
        if name in each[:k]:
            raise ModelError(f"two variables of {names!r} are called {name!r}; rename one of them.")
    made = tuple(make(name) for name in each)
    return made[0] if len(made) == 1 else made
