"""NumPy's operators for operands that are not arrays, and messages for undefined operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from sdpdr.base.attributes import OF_EXPRESSIONS, Advising
from sdpdr.base.errors import ModelError

# The method of the left operand, and that of the right operand if the left one is an array.
_OPERATORS: Mapping[np.ufunc, tuple[str, str]] = MappingProxyType(
    {
        np.absolute: ("__abs__", ""),
        np.add: ("__add__", "__radd__"),
        np.equal: ("__eq__", "__eq__"),
        np.greater: ("__gt__", "__lt__"),
        np.greater_equal: ("__ge__", "__le__"),
        np.left_shift: ("__lshift__", "__rlshift__"),
        np.less: ("__lt__", "__gt__"),
        np.less_equal: ("__le__", "__ge__"),
        np.matmul: ("__matmul__", "__rmatmul__"),
        np.multiply: ("__mul__", "__rmul__"),
        np.negative: ("__neg__", ""),
        np.not_equal: ("__ne__", "__ne__"),
        np.positive: ("__pos__", ""),
        np.power: ("__pow__", ""),
        np.right_shift: ("__rshift__", "__rrshift__"),
        np.subtract: ("__sub__", "__rsub__"),
        np.true_divide: ("__truediv__", "__rtruediv__"),
    }
)

_INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        "exp": "sum_exp(v), sum_logistic(v) or log_sum_exp(v)",
        "log": "sum_log(v) or entropy(v)",
        "maximum": (
            "pos(v) for max(v, 0), v.max() for the largest value, or a scalar t with f <= t and "
            "g <= t for the larger of two functions"
        ),
        "minimum": "v.min() for the least value",
        "sqrt": "geo_mean of a value and 1",
        "linalg.det": "log_det(S) or root_det(S)",
        "linalg.eigvalsh": "lambda_max(S), lambda_min(S) or sum_largest(S, k)",
    }
)


def described(operand: Any) -> str:
    """A description of an operand with its shape, for messages.

    Examples
    --------
    >>> from sdpdr import scalar
    >>> described(scalar("w", 3)), described([1.0, 2.0]), described("two")
    ('an expression of shape (3,)', 'numbers of shape (2,)', 'an object of type str')
    """
    word = getattr(operand, "described_as", None)
    if word is not None:
        return f"{word} of shape {operand.shape}"
    numbers = operand if sp.issparse(operand) or isinstance(operand, str) else _array(operand)
    if getattr(numbers, "dtype", np.dtype(object)).kind in "biuf":
        return f"numbers of shape {numbers.shape}"
    return f"an object of type {type(operand).__name__}"


def is_two(exponent: Any) -> bool:
    """Whether an exponent is 2, the only one that is supported.

    Examples
    --------
    >>> is_two(2.0), is_two(3), is_two(np.array([2, 2]))
    (True, False, False)
    """
    return isinstance(exponent, (int, float, np.number)) and bool(exponent == 2)


def _array(operand: Any) -> Any:
    """An operand as an array, or unchanged if it cannot be one."""
    try:
        return np.asarray(operand)
    except ValueError:  # sequences of unequal length
        return operand


def apply_ufunc(ufunc: np.ufunc, method: str, operands: Sequence[Any]) -> Any:
    """The result of a NumPy operator, one of whose operands is an expression or a function.

    Examples
    --------
    >>> from sdpdr import scalar
    >>> w = scalar("w", 2)
    >>> np.multiply([2.0, 3.0], w).maps["w"].matrix().toarray()
    array([[2., 0.],
           [0., 3.]])
    """
    if method == "__call__" and ufunc is np.square:
        return operands[0] ** 2
    if method != "__call__" or ufunc not in _OPERATORS:
        refuse(ufunc.__name__)
    first, *rest = operands
    own, reflected = _OPERATORS[ufunc]
    if hasattr(first, "described_as"):
        made = getattr(first, own)(*rest)
        if made is not NotImplemented:
            return made
    return getattr(rest[0], reflected)(first) if reflected else refuse(ufunc.__name__)


def refuse(name: str) -> NoReturn:
    """Raise an error that a function of NumPy is not supported, and say what to write instead."""
    instead = f"; write {_INSTEAD[name]}" if name in _INSTEAD else ""
    raise ModelError(f"numpy.{name} of an expression is not affine, or not known here{instead}.")


def refused(words: str) -> Any:
    """An operator that raises an error with a message about both of its operands.

    Parameters
    ----------
    words : str
        The message, in which ``{0}`` and ``{1}`` are descriptions of the operands, and ``{2}`` is
        the second operand itself.
    """

    def method(self: Any, other: Any = None) -> NoReturn:
        raise ModelError(words.format(described(self), described(other), other))

    return method


STRICT = (
    "{0} between expressions, which Python's {1} and sorted use too, makes no constraint; write "
    "{0}= for a constraint, and numpy.stack([a, b]).{1}() for {1}(a, b)."
)


_STRICT = (
    "a strict inequality of {0} and {1} has no closed set of points; write f <= limit. The larger "
    "of two functions is a scalar t with f <= t and g <= t."
)
_PRODUCT = "{0} and {1} have no matrix product; write (weights * f).sum() for weighted sums."
_MATRIX = "{0} is not a matrix, and has no matrix inequality with {1}; write <= or >=."


class NoSuchOperator(Advising):
    """Operators that convex and concave functions do not have; errors say what to write instead."""

    elsewhere, has_functions = OF_EXPRESSIONS, True

    __lt__ = __gt__ = refused(_STRICT)
    __matmul__ = __rmatmul__ = refused(_PRODUCT)
    __rshift__ = __lshift__ = __rrshift__ = __rlshift__ = refused(_MATRIX)
    __eq__ = refused("{0} equal to {1} is no convex set; write <=.")
    __ne__ = refused("{0} that differs from {1} is no convex set; write f <= limit.")
    __pow__ = refused(
        "{0} to the power {2!r} is not known here; the squares of norm(v) and abs(v) are, also as "
        "sum_squares(v) and square(v)."
    )
    __rpow__ = refused("{1} to the power of {0} is not known here; write sum_exp(v).")
    __rtruediv__ = refused(
        "{1} over {0} is not convex; quad_over_lin(1.0, t) is the inverse of an expression t."
    )
    __bool__ = refused("{0} is neither true nor false before it is solved.")
    __abs__ = refused(
        "the absolute value of {0} is not known here; norms, abs, pos and squares need none, as "
        "they are never negative."
    )
    __getitem__ = refused(
        "{0} is one number and has no part {2!r}; take parts of the expression that it is of, as "
        "in norm(v[:2])."
    )


_WEIGHED = (
    "blocks and models cannot be multiplied; multiply the expressions in them: minimize(2.0 * f) "
    "for 2.0 * minimize(f), minimize(-f) for -maximize(f)."
)
_COMPARED = (
    "blocks and models cannot be compared. A sum of penalties of several values is a model: bound "
    "a scalar, abs(x).sum() + abs(y).sum() <= b, or each value, abs(x[k]) + abs(y[k]) <= b."
)
_JOINED = "constraints are combined by +, and then all must hold: (a <= x) + (x <= b)."
_LESS = "blocks cannot be subtracted from a model; write a smaller model, and add to it."


class NothingButAdded:
    """Operators that blocks and models do not have; errors say what to write instead."""

    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = refused(_WEIGHED)
    __matmul__ = __rmatmul__ = __pow__ = __rpow__ = refused(_WEIGHED)
    __le__ = __ge__ = __lt__ = __gt__ = refused(_COMPARED)
    __rshift__ = __lshift__ = __rrshift__ = __rlshift__ = refused(_COMPARED)
    __and__ = __or__ = __rand__ = __ror__ = refused(_JOINED)
    __sub__ = __rsub__ = refused(_LESS)
