"""The operators of expressions, which work as NumPy's if their result is affine."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, as_real
from sdpdr.base.errors import DataTypeError, ModelError, OutOfRangeError, ShapeError
from sdpdr.model.axes import Axes, axes_of, pairs_of, summed_shape, summing
from sdpdr.model.operands import is_two, operator, refused, told

if TYPE_CHECKING:
    from sdpdr.model.affine import Affine
    from sdpdr.model.language.curved import Convex
    from sdpdr.model.language.prices import Priced
    from sdpdr.model.language.statements import Comparison, Statement


class Operators(ABC):
    """Base of everything that converts to an affine expression; adds, scales and compares."""

    __hash__ = object.__hash__

    shape: tuple[int, ...]
    told_as = "an expression"

    # NumPy must leave `array + expression` and `np.mean(expression)` to the methods here.
    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        return operator(ufunc, method, operands)

    def __array_function__(self, called: Any, types: Any, args: Any, options: Any) -> Any:
        from sdpdr.model.language.numpy_functions import function

        return function(called, args, options)

    @abstractmethod
    def affine(self) -> Affine:
        """The expression with all of its values."""

    def at(self, values: Mapping[str, Any]) -> Any:
        """Its numbers at a point, in its shape, with the present values of parameters.

        Parameters
        ----------
        values : mapping from variable name to array
            ``solution[expression]`` is ``expression.at(solution.values)``.

        Raises
        ------
        UnknownNameError
            If the point has no value for a variable.

        Examples
        --------
        >>> import numpy as np
        >>> from sdpdr import psd
        >>> psd("K", 2).diagonal().at({"K": np.diag([1.0, 4.0])})
        array([1., 4.])
        """
        from sdpdr.model.affine import evaluate
        from sdpdr.model.parameters import fixed

        return evaluate(fixed(self.affine()), values).reshape(self.shape)

    def _other(self, operator: str, other: Any) -> Affine:
        """The other operand as an expression; an error that names the operator if it is none."""
        from sdpdr.model.affine import Affine

        try:
            return Affine.of(other)
        except DataTypeError:
            raise DataTypeError(
                f"an expression of shape {self.shape} {operator} a {type(other).__name__} is not "
                f"defined: write numbers, arrays or expressions{hint(other)}."
            ) from None

    # -- sums and products ----------------------------------------------------------------------

    def __add__(self, other: Any) -> Affine:
        if is_curved(other):
            return NotImplemented
        return self.affine()._plus(self._other("+", other))

    __radd__ = __add__

    def __pos__(self) -> Affine:
        return self.affine()

    def __neg__(self) -> Affine:
        whole = self.affine()
        return whole._changed(lambda part: -part, -whole.constant, whole.shape)

    def __sub__(self, other: Any) -> Affine:
        if is_curved(other):
            return NotImplemented
        return self.affine()._plus(-self._other("-", other))

    def __rsub__(self, other: Any) -> Affine:
        return self._other("-", other)._plus(-self)

    def __mul__(self, other: Any) -> Affine:
        if is_curved(other):
            return NotImplemented
        return self.affine()._times(self._other("*", other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Affine:
        divisor = self._other("/", other)
        if not divisor.is_constant:
            refuse_division(divisor)
        if not np.all(divisor.constant):
            raise ModelError("division by zero: every number that divides must differ from zero.")
        return self.affine()._times(_as_constant(1.0 / divisor.constant, divisor.shape))

    __rtruediv__ = refused(
        "numbers over an expression are not linear; if its sign is known, multiply both sides of "
        "the comparison by it instead."
    )

    def __pow__(self, exponent: Any) -> Priced:
        from sdpdr.model.language.prices import square

        if not is_two(exponent):
            raise ModelError(
                f"expression**{exponent!r} is not known here; the square is, as expression**2 or "
                "square(expression)."
            )
        return square(self)

    def __matmul__(self, other: Any) -> Affine:
        if is_curved(other):
            return NotImplemented
        from sdpdr.model.language.numpy_functions import product

        return product(self.affine(), _stack(other))

    def __rmatmul__(self, other: Any) -> Affine:
        from sdpdr.model.language.numpy_functions import product

        return product(_stack(other), self.affine())

    def dot(self, other: Any) -> Affine:
        """The product with numbers: ``@`` for arrays, ``*`` for a single number."""
        made: Affine = np.dot(self, other)  # type: ignore[call-overload]
        return made

    # -- parts ----------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Affine:
        whole = self.affine()
        try:
            return whole.picked(whole.places()[index])
        except IndexError as error:
            raise OutOfRangeError(
                f"no such part of {told(self)}: {str(error).rstrip('.')}; it was given {index!r}."
            ) from None

    # It has no length, so that NumPy and SciPy treat it as a scalar and leave operators to it.
    def __iter__(self) -> Iterator[Affine]:
        if not self.shape:
            raise DataTypeError("a scalar expression has no parts.")
        return (self[k] for k in range(self.shape[0]))

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def T(self) -> Affine:
        """The transpose."""
        whole = self.affine()
        return whole.picked(whole.places().T)

    def reshape(self, *shape: Any) -> Affine:
        """The same values in another shape, row by row."""
        whole = self.affine()
        try:
            return whole.picked(whole.places().reshape(*shape))
        except (TypeError, ValueError):
            raise ShapeError(f"{whole.m} values have no shape {shape}.") from None

    def ravel(self) -> Affine:
        """The values one after another, row by row."""
        return self.reshape(-1)

    flatten = ravel

    def diagonal(self) -> Affine:
        """The diagonal of a matrix."""
        whole = self.affine()
        if len(self.shape) != 2:
            raise ShapeError(f"only a matrix has a diagonal; this has shape {self.shape}.")
        return whole.picked(np.diagonal(whole.places()))

    def trace(self) -> Affine:
        """The sum of the diagonal of a square matrix."""
        if len(self.shape) != 2 or self.shape[0] != self.shape[1]:
            raise ShapeError(f"only a square matrix has a trace; this has shape {self.shape}.")
        return self.diagonal().sum()

    def sum(self, axis: Axes = None, keepdims: bool = False) -> Affine:
        """The sum of all values, or along one axis or several."""
        axes = axes_of(axis, self.shape)
        weights = summing(self.shape, axes)
        return self.affine().combined(weights, summed_shape(self.shape, axes, keepdims))

    def mean(self, axis: Axes = None, keepdims: bool = False) -> Affine:
        """The mean of all values, or along one axis or several."""
        total = self.sum(axis, keepdims)
        if not self.size:
            raise ShapeError(f"no values, of shape {self.shape}, have no mean.")
        return total / (self.size / total.size)

    def max(self, axis: Axes = None) -> Convex:
        """The largest value, which is convex."""
        from sdpdr.model.language.functions import sum_largest

        if len(axes_of(axis, self.shape)) < self.ndim:
            raise ModelError(
                f"the largest values along axis {axis} are several convex functions, of which each "
                "is one number: write [row.max() for row in X] (of X.T for columns)."
            )
        return sum_largest(self.ravel(), 1)

    def min(self, axis: Axes = None) -> Convex:
        """The least value, which is concave."""
        return -(-self).max(axis)

    def quadratic(self, vectors: Any) -> Affine:
        """The form v^T X v for each row v of a matrix, of shape (m,), or for one vector v."""
        v = np.asarray(constant_of(vectors))
        if self.shape != 2 * v.shape[-1:] or v.ndim > 2:
            raise ShapeError(
                f"quadratic(V) of shape {self.shape} needs rows of that length; it was given V of "
                f"shape {v.shape}."
            )
        products = v[..., :, None] * v[..., None, :]
        return self.affine().combined(products.reshape(-1, self.size), v.shape[:-1])

    def distance2(self, i: Any, j: Any = None) -> Affine:
        """X_ii + X_jj - X_ij - X_ji of a square matrix: squared distances if X is a Gram matrix."""
        if self.ndim != 2 or self.shape[0] != self.shape[1]:
            raise ShapeError(f"distance2 is of a square matrix; this has shape {self.shape}.")
        i, j = pairs_of(i, j, self.shape[0])
        return self[i, i] + self[j, j] - self[i, j] - self[j, i]

    def inner(self, coefficients: Any) -> Affine:
        r""":math:`\langle C, X\rangle`, the sum of products with C, which has the same shape."""
        c = sp.csr_array(coefficients) if sp.issparse(coefficients) else constant_of(coefficients)
        if c.shape != self.shape:
            raise ShapeError(f"inner(C) needs C of shape {self.shape}; it was given {c.shape}.")
        return self.affine().combined(c.reshape((1, -1)), ())

    # -- comparisons and penalties ----------------------------------------------------------------

    def _compared(self, relation: Comparison, other: Any) -> Statement:
        """The comparison as a block."""
        from sdpdr.model.language.statements import compare

        return compare(self, relation, other)

    def __le__(self, other: Any) -> Any:
        return NotImplemented if is_curved(other) else self._compared("<=", other)

    def __ge__(self, other: Any) -> Any:
        return NotImplemented if is_curved(other) else self._compared(">=", other)

    def __eq__(self, other: object) -> Any:
        return NotImplemented if is_curved(other) else self._compared("==", other)

    def __rshift__(self, other: Any) -> Statement:
        return self._compared(">>", other)

    def __lshift__(self, other: Any) -> Statement:
        return self._compared("<<", other)

    def __rrshift__(self, other: Any) -> Statement:
        return self._compared("<<", other)

    def __rlshift__(self, other: Any) -> Statement:
        return self._compared(">>", other)

    __lt__ = refused("a strict inequality has no closed set of points; write <= instead of <.")
    __gt__ = refused("a strict inequality has no closed set of points; write >= instead of >.")
    __ne__ = refused("points that differ are no convex set; only ==, <= and >= make rows.")
    __bool__ = refused("an expression is neither true nor false before it is solved.")

    def __abs__(self) -> Priced:
        from sdpdr.model.language.prices import Priced

        return Priced(self.affine(), "absolute")


def refuse_division(divisor: Affine) -> NoReturn:
    """Raise an error that says what to write instead of a division by an expression."""
    names = ", ".join(divisor.declared or divisor.maps)
    if divisor.is_known:
        raise ModelError(
            f"division by parameters ({names}) is not linear in them; make the inverse a parameter "
            "of its own."
        )
    raise ModelError(
        f"division by an expression (in {names}) is not linear; multiply both sides of the "
        "comparison by it instead, if its sign is known."
    )


def constant_of(value: Any) -> Array:
    """Numbers as a dense array of any shape.

    Raises
    ------
    DataTypeError
        If they are not numbers.
    """
    dense = value.toarray() if sp.issparse(value) else value
    if isinstance(dense, (str, bytes)) or dense is None:
        raise DataTypeError(f"coefficients must be numbers; this is {dense!r}.")
    try:
        return np.asarray(as_real(dense))
    except ValueError as error:  # of NumPy, for sequences of unequal length
        if isinstance(error, DataTypeError):
            raise
        raise DataTypeError(f"coefficients must be an array of numbers: {error}") from None


def known_shape(operator: str, one: Affine, other: Affine) -> tuple[int, ...]:
    """The common shape of two operands.

    Raises
    ------
    ShapeError
    """
    try:
        return np.broadcast_shapes(one.shape, other.shape)
    except ValueError:
        raise ShapeError(
            f"shapes {one.shape} {operator} {other.shape} do not fit together: they must be equal, "
            "or broadcast as those of NumPy arrays do."
        ) from None


def _as_constant(values: Array, shape: tuple[int, ...]) -> Affine:
    """Numbers as an expression."""
    from sdpdr.model.affine import Affine

    return Affine({}, values, shape)


def _stack(operand: Any) -> Any:
    """An operand of ``@``: an expression, a matrix, or an array or list of matrices."""
    if isinstance(operand, Operators):
        return operand.affine()
    if sp.issparse(operand):
        return operand
    if isinstance(operand, (list, tuple)) and any(sp.issparse(part) for part in operand):
        return [sp.csr_array(part) for part in operand]
    return constant_of(operand)


def is_curved(other: Any) -> bool:
    """Whether an operand is a penalty or convex function, which has its own operators."""
    from sdpdr.model.language.curved import Curved

    return isinstance(other, Curved)


def hint(other: Any) -> str:
    """Advice for someone who wrote this where an expression or numbers were expected."""
    from sdpdr.model.block import Block

    if isinstance(other, Block):
        return "; blocks and comparisons are added to maximize(...), minimize(...) or other blocks"
    if type(other).__module__.startswith("cvxpy."):
        return (
            "; cvxpy's variables do not mix with those of sdpdr, and its functions are "
            "sdpdr.atom(cvxpy.norm, v)"
        )
    several = other.flat if isinstance(other, np.ndarray) and other.dtype == object else other
    if isinstance(several, (list, tuple, np.flatiter)) and any(
        isinstance(part, Operators) for part in several
    ):
        return "; expressions become one by numpy.hstack, numpy.stack or numpy.block"
    return ""
