r"""Norms of a matrix by its best factorization: the trace norm and the max-norm.

.. math::

    |X|_{\mathrm{tr}} = \min_{X = U V^T} \tfrac12 (|U|_F^2 + |V|_F^2), \qquad
    |X|_{\max} = \min_{X = U V^T} \max_{i, a} \max(|u_i|^2, |v_a|^2),

with rows :math:`u_i, v_a`. Both are linear in the matrix of all products
:math:`Z = \begin{pmatrix} U \\ V \end{pmatrix}\begin{pmatrix} U \\ V \end{pmatrix}^T`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import ShapeError
from sdpdr.linalg import Diagonal, Entries, InnerProduct, Trace
from sdpdr.model.affine import Affine, Var
from sdpdr.model.block import Declaration
from sdpdr.model.blocks.expressions import Sized, Topped
from sdpdr.model.blocks.lift import grid
from sdpdr.model.terms import AtMost, Equal, Term
from sdpdr.program.point import PsdVariable, Value, Variable

Shape = tuple[int, int]


@dataclass(frozen=True, eq=False)
class ProductLift(Declaration):
    r"""Declares a matrix X together with the Gram matrices of factors :math:`X = U V^T`.

    .. math::

        Z = \begin{pmatrix} A & X \\ X^T & B \end{pmatrix} \succeq 0, \qquad
        A = U U^T,\ B = V V^T .

    Every positive semidefinite Z is such a product, with as many columns as its rank, so X alone
    is not restricted. `TraceNorm` and `MaxNorm` constrain the diagonal of Z.

    Parameters
    ----------
    shape : tuple of int
        (p, q), of X.
    gram : str, default "Z"
        Name of the matrix, of order p + q.

    References
    ----------
    Tong thesis, appendix D, lemma 2.

    Examples
    --------
    >>> from sdpdr.blocks import ProductLift
    >>> lift = ProductLift((2, 3))
    >>> lift.order, lift.entries([(1, 2)]).m
    (5, 1)
    """

    shape: Shape
    gram: str = "Z"

    @property
    def order(self) -> int:
        """P + q."""
        return sum(self.shape)

    def entries(self, places: Index | list[Shape] | None = None) -> Affine:
        """Entries :math:`X_{ia}` at pairs (i, a); by default all of X, row by row."""
        pairs = product_pairs(self.shape)
        if places is not None:
            i, a = np.asarray(places, dtype=np.int64).reshape(-1, 2).T
            pairs = pairs[np.ravel_multi_index((i, a), self.shape)]
        return Entries(self.order, pairs) @ Var(self.gram)

    def variables(self) -> Iterable[PsdVariable]:
        """The matrix of all products."""
        yield PsdVariable(self.gram, self.order)

    def read(self, value: Value) -> Array:
        """X as it stands in a matrix Z, of shape (p, q)."""
        p = self.shape[0]
        return np.asarray(value[:p, p:], dtype=float)


@dataclass(frozen=True, eq=False)
class _FactorNorm(Sized):
    """A norm of a matrix expression through a lift."""

    of: Affine | str
    shape: Shape
    gram: str = "T"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.of, Affine):
            require_entries(self.of, self.shape)

    @property
    def lift(self) -> ProductLift:
        """The matrix of all products, which this block declares if `of` is an expression."""
        return ProductLift(self.shape, self.of if isinstance(self.of, str) else self.gram)

    def variables(self) -> Iterable[Variable]:
        """The lift of an expression."""
        if isinstance(self.of, Affine):
            yield from self.lift.variables()

    def _linked(self) -> Iterable[Term]:
        """The entries of the lift equal those of an expression."""
        if isinstance(self.of, Affine):
            yield Equal(self.lift.entries() - self.of, 0.0, "entries")


@dataclass(frozen=True, eq=False)
class TraceNorm(_FactorNorm):
    r"""Penalizes or bounds the trace norm, the sum of the singular values of X.

    .. math:: |X|_{\mathrm{tr}} = \min_{A, B} \tfrac12 (\operatorname{tr} A + \operatorname{tr} B)
              \quad\text{s.t.}\quad \begin{pmatrix} A & X \\ X^T & B \end{pmatrix} \succeq 0 .

    With :math:`X = U \Sigma V^T` the best are :math:`A = U \Sigma U^T`, :math:`B = V \Sigma V^T`.
    It is the dual of the spectral norm: the maximum of :math:`\langle X, Y \rangle` over
    :math:`|Y|_2 \le 1`; and the largest convex function below the rank on :math:`|X|_2 \le 1`.

    Parameters
    ----------
    of : Affine or str
        The entries of X, row by row; or the name of the `ProductLift` that holds X.
    shape : tuple of int
        (p, q), of X.
    limit : float, optional
        Upper bound of the norm; without it the norm is penalized.
    weight : float, default 1
        Weight of the norm in the objective.
    gram : str, default "T"
        Name of the lift, which this block declares if `of` is an expression.

    Raises
    ------
    ModelError
        The limit or the weight is not positive.
    ShapeError
        The expression does not have p q values.

    References
    ----------
    Tong thesis, appendix D, (D.1); Fazel, Hindi, Boyd, "A rank minimization heuristic with
    application to minimum order system approximation", American Control Conference, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.blocks import ProductLift, TraceNorm
    >>> lift = ProductLift((2, 2))
    >>> model = lift + TraceNorm("Z", (2, 2))
    >>> model.objective({"Z": np.ones((4, 4))})
    2.0
    """

    def terms(self) -> Iterable[Term]:
        """Half the trace of the lift."""
        yield from self._linked()
        halves = np.full(self.lift.order, 0.5)
        yield self._measured(Trace(self.lift.order, halves) @ Var(self.lift.gram))


@dataclass(frozen=True, eq=False)
class MaxNorm(Topped, _FactorNorm):
    r"""Penalizes or bounds the max-norm: the largest squared row norm that factors of X need.

    .. math:: |X|_{\max} = \min_{A, B} t \quad\text{s.t.}\quad
              \begin{pmatrix} A & X \\ X^T & B \end{pmatrix} \succeq 0,\
              A_{ii} \le t,\ B_{aa} \le t .

    It lies between the largest absolute entry of X and the trace norm, and
    :math:`|X|_{\mathrm{tr}} \le \sqrt{p q}\, |X|_{\max}`. Also
    :math:`|X|_{\max} = \max |D_u X D_v|_{\mathrm{tr}}` over diagonal matrices of unit vectors
    u and v.

    Parameters
    ----------
    of, shape, limit, weight, gram
        As for `TraceNorm`.
    top : str, default "t"
        Name of the scalar t above a penalized norm, which this block declares.

    Raises
    ------
    ModelError, ShapeError
        As for `TraceNorm`.

    References
    ----------
    Tong thesis, section 2.3.4; Srebro and Shraibman, "Rank, trace-norm and max-norm", COLT, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.blocks import MaxNorm, ProductLift
    >>> model = ProductLift((2, 2)) + MaxNorm("Z", (2, 2))
    >>> model.violations({"Z": np.ones((4, 4)), "t": np.array([0.75])})["max_norm.diagonal"]
    0.25
    """

    def terms(self) -> Iterable[Term]:
        """Every entry of the diagonal is at most t."""
        yield from self._linked()
        n = self.lift.order
        diagonal = Diagonal(n) @ Var(self.lift.gram)
        if self.limit is not None:
            yield AtMost(diagonal, self.limit, "diagonal")
        else:
            yield AtMost(diagonal - self._top(np.ones(n)), 0.0, "diagonal")
        yield from self._priced_top()


def product_pairs(shape: Shape) -> Index:
    """Pairs of indices of the entries of X in its lift, row by row, shape (p q, 2).

    Examples
    --------
    >>> product_pairs((1, 2)).tolist()
    [[0, 1], [0, 2]]
    """
    return grid(np.arange(shape[0]), shape[0] + np.arange(shape[1]))


def crossed(values: Array) -> InnerProduct:
    """The inner product of values with the upper right block of a matrix."""
    half = sp.csr_array(0.5 * values)
    return InnerProduct(sp.block_array([[None, half], [half.T, None]], format="csr"))


def require_entries(values: Affine, shape: Shape) -> None:
    """Raise an error unless an expression has one value for every entry of a matrix.

    Raises
    ------
    ShapeError
    """
    if values.m != shape[0] * shape[1]:
        raise ShapeError(
            f"a matrix of shape {tuple(shape)} has {shape[0] * shape[1]} entries, row by row; the "
            f"expression has {values.m} values."
        )
