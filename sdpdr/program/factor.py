"""A positive semidefinite matrix kept as a factor, read as the array that it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import DTypeLike

from sdpdr.base.arrays import Array, as_real

# Methods of an array that write to it, those about its memory, and all others, which only read.
_WRITES = frozenset(
    {"byteswap", "fill", "itemset", "partition", "put", "resize", "setfield", "setflags", "sort"}
)
_MEMORY = frozenset({"base", "ctypes", "data", "flags", "getfield", "nbytes", "strides", "view"})
_READ = frozenset(name for name in dir(np.ndarray) if name[0] != "_") - _WRITES - _MEMORY


@dataclass(frozen=True, eq=False, repr=False)
class Factor(NDArrayOperatorsMixin):
    """A positive semidefinite matrix K = R R^T kept as R.

    It is read like an array of shape (n, n). Entries, rows, blocks, sums and products with ``@``
    are computed from R. All other attributes of an array (``max``, ``round``, ``reshape``), and
    functions of NumPy, form `dense` first, with n^2 numbers; so does SciPy if a sparse array A is
    on the left of ``@``, where ``(K @ A.T).T`` avoids it. It cannot be written to.

    Parameters
    ----------
    factor : array of shape (n, r)

    Examples
    --------
    >>> from sdpdr.program import Factor
    >>> import numpy as np
    >>> K = Factor(np.array([[1.0], [2.0], [3.0]]))
    >>> K
    Factor(K = R R^T, 3 x 3, rank <= 1)
    >>> K[0], float(K[-1, -1]), K[:2, [0, 2]]
    (array([1., 2., 3.]), 9.0, array([[1., 3.],
           [2., 6.]]))
    >>> K @ np.ones(3), K.trace(), 4.0 * K
    (array([ 6., 12., 18.]), 14.0, Factor(K = R R^T, 3 x 3, rank <= 1))
    >>> K - np.eye(3)
    array([[0., 2., 3.],
           [2., 3., 6.],
           [3., 6., 8.]])
    """

    factor: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", as_real(self.factor))

    @classmethod
    def of(cls, value: Any, share: float = 1e-10) -> Factor:
        """A matrix as a factor; what is negative in it, or rounding, is dropped.

        Parameters
        ----------
        value : array of shape (n, n) or Factor
        share : float, default 1e-10
            Eigenvalues up to this share of the largest are rounding.

        Examples
        --------
        >>> import numpy as np
        >>> from sdpdr.program import Factor
        >>> Factor.of(np.diag([4.0, 0.0])).factor
        array([[2.],
               [0.]])
        """
        if isinstance(value, Factor):
            return value
        spectrum, vectors = np.linalg.eigh((value + value.T) / 2.0)
        kept = spectrum > share * float(np.max(spectrum, initial=0.0))
        return cls((vectors[:, kept] * np.sqrt(spectrum[kept]))[:, ::-1])

    # -- what an array has --------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, n) of the matrix that the factor stands for."""
        return (len(self.factor), len(self.factor))

    @property
    def ndim(self) -> int:
        """Two, as of any matrix."""
        return 2

    @property
    def size(self) -> int:
        """Number of entries, n^2."""
        return len(self.factor) ** 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of R: doubles."""
        return self.factor.dtype

    @property
    def T(self) -> Factor:
        """The matrix itself, which is symmetric."""
        return self

    def dense(self) -> Array:
        """The matrix R R^T."""
        return np.asarray(self.factor @ self.factor.T)

    def diagonal(self) -> Array:
        """The diagonal of R R^T."""
        return np.asarray(np.sum(np.square(self.factor), axis=1))

    def trace(self) -> float:
        """The trace of R R^T."""
        return float(np.sum(np.square(self.factor)))

    def sum(self, axis: int | tuple[int, ...] | None = None, **options: Any) -> Any:
        """Sum of all entries, or along an axis.

        Parameters
        ----------
        axis : int or tuple of int, optional
        **options
            Those of `numpy.sum`, which go to the dense matrix.

        Examples
        --------
        >>> import numpy as np
        >>> from sdpdr.program import Factor
        >>> K = Factor(np.array([[1.0], [2.0]]))
        >>> float(K.sum()), K.sum(axis=0)
        (9.0, array([3., 6.]))
        """
        if any(option is not None for option in options.values()):
            return self.dense().sum(axis=axis, **options)
        if axis is None:
            return np.sum(np.square(self.factor.sum(axis=0)))
        if isinstance(axis, int) and -2 <= axis < 2:
            return self.factor @ self.factor.sum(axis=0)
        return self.dense().sum(axis=axis)

    def __getattr__(self, name: str) -> Any:
        if name in _READ:
            return getattr(self.dense(), name)
        hint = "; it is not written to: numpy.array(K) makes an array of it"
        raise AttributeError(
            f"'Factor' object has no attribute {name!r}{hint if name in _WRITES else ''}"
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_READ})

    def __len__(self) -> int:
        return len(self.factor)

    def __iter__(self) -> Iterator[Array]:
        return (self.factor @ row for row in self.factor)

    def __getitem__(self, key: Any) -> Any:
        """Entries, rows, columns or blocks, for every index that NumPy supports."""
        parts = key if isinstance(key, tuple) else (key,)
        if _is_block(parts):
            rows, columns = (self.factor[part] for part in (*parts, slice(None))[:2])
            return np.tensordot(rows, columns, axes=(-1, -1))[()]
        i, j = _places(key, len(self.factor))
        if max(i.size, j.size) >= self.size:
            return self.dense()[key]
        return np.einsum("...k,...k->...", self.factor[i], self.factor[j])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("a Factor has no array of its entries to share: they are computed.")
        return np.asarray(self.dense(), dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if any(isinstance(out, Factor) for out in options.get("out", ())):
            raise TypeError("a Factor is not written to; np.asarray makes an array of it.")
        if method == "__call__" and not options:
            if ufunc is np.matmul:
                return _product(*inputs)
            if (scaled := _scaled(ufunc, *inputs)) is not None:
                return scaled
        dense = [x.dense() if isinstance(x, Factor) else x for x in inputs]
        return getattr(ufunc, method)(*dense, **options)

    # The mixin's ``==`` compares entries, which removes the default hash; keys need identity.
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        n, columns = self.factor.shape
        return f"Factor(K = R R^T, {n} x {n}, rank <= {min(n, columns)})"


def _is_line(part: Any) -> bool:
    """Whether a part of an index is a number or a slice."""
    whole = isinstance(part, (int, np.integer)) and not isinstance(part, bool)
    return whole or isinstance(part, slice)


def _is_block(parts: tuple[Any, ...]) -> bool:
    """Whether an index chooses rows and columns independently, so a product has the entries."""
    if not 1 <= len(parts) <= 2:
        return False
    lists = [part for part in parts if not _is_line(part)]
    return len(lists) <= 1 and all(np.ndim(part) == 1 for part in lists)


def _places(key: Any, n: int) -> Any:
    """Rows and columns of the entries that an index chooses, which broadcast to its shape."""
    if isinstance(key, tuple) and len(key) == 2 and all(map(_is_list, key)):
        return key
    rows, columns = np.indices((n, n), sparse=True)
    return [np.broadcast_to(view, (n, n))[key] for view in (rows, columns)]


def _is_list(part: Any) -> bool:
    return isinstance(part, np.ndarray) and np.issubdtype(part.dtype, np.integer)


def _product(left: Any, right: Any) -> Any:
    """A product with a factor on one side, without forming R R^T."""
    if isinstance(left, Factor):
        return left.factor @ (left.factor.T @ right)
    return (left @ right.factor) @ right.factor.T


def _scaled(ufunc: np.ufunc, *inputs: Any) -> Factor | None:
    """A factor times or divided by a positive number, as a factor; None for other operations."""
    if ufunc is np.multiply and isinstance(inputs[0], Real):
        inputs = inputs[::-1]
    if ufunc not in (np.multiply, np.divide) or not isinstance(inputs[1], Real):
        return None
    by = float(inputs[1])
    if not 0.0 < by < np.inf:
        return None
    return Factor(ufunc(inputs[0].factor, np.sqrt(by)))
