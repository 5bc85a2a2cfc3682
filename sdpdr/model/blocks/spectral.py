"""Largest singular values and eigenvalues, and their sums, as matrix inequalities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.errors import ModelError
from sdpdr.base.keywords import checks_keywords
from sdpdr.linalg import Diagonal, Entries, SvecMap, Trace
from sdpdr.linalg.svec import order_of, svec, svec_size
from sdpdr.model.affine import Affine, Var
from sdpdr.model.block import Block
from sdpdr.model.blocks.expressions import Sized, Topped
from sdpdr.model.blocks.factor_norms import ProductLift, Shape, product_pairs, require_entries
from sdpdr.model.terms import Equal, InCone, Term
from sdpdr.program.point import PsdVariable, Variable, VectorVariable


@checks_keywords
def dilation(of: Affine | str, shape: Shape) -> Affine:
    r"""The symmetric matrix :math:`\begin{pmatrix} 0 & X \\ X^T & 0 \end{pmatrix}`, as svec.

    Its eigenvalues are the singular values of X, their negatives, and zeros.

    Parameters
    ----------
    of : Affine or str
        The entries of X, row by row; or the name of a `ProductLift`, whose X is meant.
    shape : tuple of int
        (p, q), of X.

    Raises
    ------
    ShapeError
        The expression has not p q values.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.blocks import dilation
    >>> from sdpdr.model import Affine
    >>> from sdpdr.linalg import smat
    >>> smat(dilation(Affine({}, np.array([3.0])), (1, 1)).constant)
    array([[0., 3.],
           [3., 0.]])
    """
    values = ProductLift(shape, of).entries() if isinstance(of, str) else of
    require_entries(values, shape)
    # Row e of this map is an svec coordinate over sqrt 2, so twice its transpose inserts entries.
    return (2.0 * Entries(sum(shape), product_pairs(shape)).matrix().T) @ values


@dataclass(frozen=True, eq=False)
class SpectralNorm(Topped):
    r"""Penalizes or bounds the largest singular value of X.

    .. math:: |X|_2 \le t \quad\Longleftrightarrow\quad
              \begin{pmatrix} t I & X \\ X^T & t I \end{pmatrix} \succeq 0 .

    It is the dual of the trace norm: the maximum of :math:`\langle X, Y \rangle` over
    :math:`|Y|_{\mathrm{tr}} \le 1`.

    Parameters
    ----------
    of : Affine or str
        The entries of X, row by row; or the name of a `ProductLift`, whose X is meant.
    shape : tuple of int
        (p, q), of X.
    limit : float, optional
        Upper bound of the norm; without it the norm is penalized.
    weight : float, default 1
        Weight of the norm in the objective.
    top : str, default "t"
        Name of the scalar t above a penalized norm, which this block declares.

    Raises
    ------
    ModelError
        The limit or the weight is not positive.
    ShapeError
        The expression has not p q values.

    References
    ----------
    Tong thesis, (2.27), where it limits the multipliers of `sdpdr.methods.mmmf`.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.blocks import SpectralNorm
    >>> from sdpdr.model import Var
    >>> x = np.eye(4) @ Var("x")
    >>> ball = SpectralNorm(x, (2, 2), limit=1.0)
    >>> [(term.cone, term.lhs.m) for term in ball.terms()]
    [('psd', 10)]
    """

    of: Affine | str
    shape: Shape

    def terms(self) -> Iterable[Term]:
        """The matrix inequality."""
        identity = svec(np.eye(sum(self.shape)))
        yield InCone(dilation(self.of, self.shape) + self._top(identity), "psd")
        yield from self._priced_top()


@dataclass(frozen=True, eq=False)
class DualMaxNorm(Sized):
    r"""Penalizes or bounds the dual of the max-norm.

    .. math:: |P|_{\max}^* = \max_{|X|_{\max} \le 1} \langle P, X \rangle
              = \min_{a, b}\ \tfrac12 (\mathbf 1^T a + \mathbf 1^T b) \quad\text{s.t.}\quad
              \begin{pmatrix} \operatorname{diag} a & P \\ P^T & \operatorname{diag} b
              \end{pmatrix} \succeq 0 .

    It lies between the spectral norm and :math:`\sqrt{p q}` times that, and exceeds the largest
    sum of the entries with signs :math:`u_i v_a` by Grothendieck's constant at most.

    Parameters
    ----------
    of, shape, limit, weight
        As for `SpectralNorm`.
    scales : str, default "d"
        Name of the vector (a, b), of p + q values, which this block declares.

    Raises
    ------
    ModelError, ShapeError
        As for `SpectralNorm`.

    References
    ----------
    Srebro and Shraibman, "Rank, trace-norm and max-norm", COLT, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.blocks import DualMaxNorm
    >>> from sdpdr.model import Affine
    >>> import sdpdr
    >>> from sdpdr.model.model import Model
    >>> P = Affine({}, np.array([1.0, 1.0, 1.0, -1.0]))
    >>> round(sdpdr.solve(Model((DualMaxNorm(P, (2, 2)),)), "clarabel").value, 5)
    2.82843
    """

    of: Affine | str
    shape: Shape
    scales: str = "d"

    def variables(self) -> Iterable[Variable]:
        """The two diagonals, one after the other."""
        yield VectorVariable(self.scales, sum(self.shape))

    def terms(self) -> Iterable[Term]:
        """The matrix inequality, and half the sum of the diagonals."""
        n = sum(self.shape)
        diagonal = Diagonal(n).matrix().T @ Var(self.scales)
        yield InCone(diagonal + dilation(self.of, self.shape), "psd")
        yield self._measured(np.full((1, n), 0.5) @ Var(self.scales))


@dataclass(frozen=True, eq=False)
class KyFan(Sized):
    r"""Penalizes or bounds the sum of the k largest eigenvalues of S, or singular values of X.

    .. math:: \lambda_1 + \dots + \lambda_k = \min_{P, s}\ k s + \operatorname{tr} P
              \quad\text{s.t.}\quad P \succeq 0,\ P + s I - S \succeq 0 .

    It is also the maximum of :math:`\langle S, F \rangle` over the Fantope
    (:math:`0 \preceq F \preceq I`, :math:`\operatorname{tr} F = k`), whose F are the multipliers
    of the inequality. A rectangular X enters through its `dilation`. With k = 1 this is the
    largest eigenvalue, or `SpectralNorm`; with all singular values, `TraceNorm`.

    Parameters
    ----------
    of : Affine or str
        S in svec coordinates; with a shape, X as for `SpectralNorm`.
    k : int
        At least 1, at most the order of S or the smaller side of X.
    shape : tuple of int, optional
        (p, q), of X.
    excess : str, default "P"
        Name of the matrix P, which this block declares.
    level : str, default "s"
        Name of the scalar s, which this block declares.
    limit, weight
        As for `SpectralNorm`; the bound of eigenvalues may be negative.

    Raises
    ------
    ModelError
        k is out of range, the bound is not finite, or the weight or the bound of singular values
        is not positive.
    ShapeError
        The expression is not an svec, or does not have p q values.

    References
    ----------
    Fan, "On a theorem of Weyl concerning eigenvalues of linear transformations", PNAS 35, 1949;
    Overton and Womersley, "On the sum of the largest eigenvalues of a symmetric matrix", SIAM J.
    Matrix Anal. Appl. 13(1), 1992. Tong thesis, appendix D and theorem 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.blocks import KyFan
    >>> from sdpdr.linalg.svec import svec
    >>> from sdpdr.model import Affine
    >>> S = Affine({}, svec(np.diag([3.0, 2.0, -1.0])))
    >>> import sdpdr
    >>> round(sdpdr.solve(KyFan(S, 2) + KyFan(S, 1, excess="R", level="r"), "clarabel").value, 5)
    8.0
    """

    of: Affine | str
    k: int
    shape: Shape | None = None
    excess: str = "P"
    level: str = "s"

    def __post_init__(self) -> None:
        self._require("weight", 0.0)
        if self.limit is not None:
            # Eigenvalues may add up to anything, singular values may not.
            self._require("limit", -np.inf if self.shape is None else 0.0)
        largest = self._order if self.shape is None else min(self.shape)
        if not 1 <= self.k <= largest:
            kind = "eigenvalues" if self.shape is None else "singular values"
            raise ModelError(f"k must lie in 1..{largest}, the number of {kind}; it is {self.k}.")

    @property
    def _symmetric(self) -> Affine:
        if self.shape is not None:
            return dilation(self.of, self.shape)
        if isinstance(self.of, str):
            raise ModelError(f"the name {self.of!r} of a lift needs the shape of its X.")
        return self.of

    @property
    def _order(self) -> int:
        size = self._symmetric.m
        try:
            return order_of(size)
        except ValueError as error:
            raise ModelError(f"the expression is not a symmetric matrix: {error}") from None

    def variables(self) -> Iterable[Variable]:
        """The matrix P of excesses over the level, and the level."""
        yield PsdVariable(self.excess, self._order)
        yield VectorVariable(self.level, 1)

    def terms(self) -> Iterable[Term]:
        """The matrix inequality, and the sum."""
        n = self._order
        identity = svec(np.eye(n))[:, None]
        every = SvecMap(n, sp.eye_array(svec_size(n), format="csr"))
        above = every @ Var(self.excess) + identity @ Var(self.level)
        yield InCone(above - self._symmetric, "psd")
        level = np.full((1, 1), float(self.k)) @ Var(self.level)
        yield self._measured(Trace(n) @ Var(self.excess) + level)


@dataclass(frozen=True, eq=False)
class Fantope(Block):
    r"""Declares a matrix of the Fantope, :math:`0 \preceq F \preceq I` with trace k.

    The Fantope is the convex hull of the projections of rank k, so the largest
    :math:`\langle S, F \rangle` is the sum of the k largest eigenvalues of S.

    Parameters
    ----------
    n : int
        Order.
    k : int
        In 1..n.
    gram : str, default "F"
        Name of the matrix.

    Raises
    ------
    ModelError
        k is out of range.

    References
    ----------
    Overton and Womersley, SIAM J. Matrix Anal. Appl. 13(1), 1992.

    Examples
    --------
    >>> from sdpdr.blocks import Fantope
    >>> from sdpdr.model.model import Model
    >>> print(Model((Fantope(3, 2),)).describe())
    minimise    0
    over        F ∈ S^3, F ⪰ 0
    subject to  tr F = 2          fantope.trace, 1 row
                −F + I ⪰ 0        fantope.cap, psd cone, 6 entries
    """

    n: int
    k: int
    gram: str = "F"

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.n:
            raise ModelError(f"k must lie in 1..{self.n}, the order; it is {self.k}.")

    def variables(self) -> Iterable[Variable]:
        """The matrix."""
        yield PsdVariable(self.gram, self.n)

    def terms(self) -> Iterable[Term]:
        """The trace, and the matrix inequality I - F."""
        yield Equal(Trace(self.n) @ Var(self.gram), float(self.k), "trace")
        every = SvecMap(self.n, sp.eye_array(svec_size(self.n), format="csr"))
        yield InCone(-every @ Var(self.gram) + svec(np.eye(self.n)), "psd", "cap")
