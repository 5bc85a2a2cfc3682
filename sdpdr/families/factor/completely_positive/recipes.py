"""Completely positive factorization as a matrix of low rank, and copositive cuts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Index
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.factor.nonnegative.copositive import obvious_certificate
from sdpdr.families.factor.nonnegative.inputs import symmetric_matrix
from sdpdr.linalg import Entries
from sdpdr.linalg.svec import SQRT2, selection, svec, svec_index, svec_size
from sdpdr.model import Affine, AtMost, Equal, Maximize, Minimize, Model, Var
from sdpdr.model.blocks.entries import NonNegative
from sdpdr.model.blocks.expressions import Stated
from sdpdr.model.blocks.lift import FactorLift, Known
from sdpdr.model.terms import Term
from sdpdr.program.point import PsdVariable, Variable, VectorVariable


@checks_keywords
def cp_lift(X: ArrayLike, n_components: int) -> Model:
    r"""Nonnegative factors of a symmetric matrix, but for the rank.

    .. math::

        \max_{B \ge 0}\ \sum_{il} B_{il} \quad\text{s.t.}\quad
        Z = \begin{pmatrix} I_k & B^T \\ B & A \end{pmatrix} \succeq 0,
        \quad\text{that is}\quad B B^T \preceq A .

    A has a nonnegative factor with k columns exactly if some feasible Z has rank k, and exactly if
    :math:`|B|_F^2` reaches tr A. With :math:`\langle B_t, B\rangle` of the last step as the
    objective, `sdpdr.iterate.ConvexIteration` with ``direction="schur"`` raises :math:`|B|_F^2`.
    The trace of Z is constant, so it cannot serve as the first objective. The optimum along ones is
    :math:`(k\, \mathbf 1^T A \mathbf 1)^{1/2}`, which a B of equal columns attains.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A: symmetric, without negative entries or eigenvalues.
    n_components : int
        k.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError
        A is not symmetric, or is not doubly nonnegative, so there is no such B.

    References
    ----------
    Vasiloglou thesis, (2.74)-(2.79), which does not say that the lower right block is A: without
    that, every B is feasible.

    Examples
    --------
    >>> from sdpdr.methods import cp_lift
    >>> import sdpdr
    >>> model = cp_lift([[2.0, 1.0], [1.0, 2.0]], 2)
    >>> model
    FactorLift + Known + NonNegative + Along
    >>> round(sdpdr.solve(model).value, 5), round(12**0.5, 5)
    (3.4641, 3.4641)
    """
    A = symmetric_matrix(X)
    k = validate.positive_integer("n_components", n_components)
    if obvious_certificate(A) is not None:
        raise DataError(
            "X has a negative entry or eigenvalue, so it has no nonnegative factor: it is not "
            "completely positive. `sdpdr.factorize.completely_positive` returns the certificate."
        )
    lift = FactorLift(k, len(A))
    i, j = np.triu_indices(len(A))
    # Negative entries, and entries in rows with a zero diagonal, are rounding errors here.
    used = np.diag(A) > 0.0
    values = np.where(used[:, None] & used, np.maximum(A, 0.0), 0.0)[i, j]
    blocks = (
        lift,
        Known(lift.order, k + np.column_stack([i, j]), values, lift.gram),
        NonNegative(lift.order, lift.left(), lift.gram),
        Stated("along", [Maximize(np.ones((1, len(A) * k)) @ lift.entries(lift.left()))]),
    )
    return Model(blocks, name="cp_lift")


@checks_keywords
def copositive_cut(X: ArrayLike, level: int = 1) -> Model:
    r"""A copositive M with the least :math:`\langle M, A\rangle`.

    .. math::

        \min_M\ \langle M, A\rangle \quad\text{s.t.}\quad M \in \mathcal K_1,\quad
        \operatorname{tr} M \le n,\quad M_{ij} \le n / 2 ,

    where :math:`\mathcal K_1` is Parrilo's cone of level one: there are :math:`P_i \succeq 0`, one
    for each i, such that the cubic :math:`(\sum x_i)\, x^T M x - \sum_i x_i\, x^T P_i x` has no
    negative coefficient, and none at all at :math:`x_i^3`. So M is copositive. A value below zero
    proves that A is not completely positive. Zero, which M = 0 has, proves nothing from order five
    on. The last constraint matters where :math:`a_{ij} = 0`, since :math:`M_{ij}` is then free
    upwards. No copositive M of trace n needs more, because entries above
    :math:`(M_{ii} M_{jj})^{1/2}` can be lowered to it.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A, symmetric.
    level : {1, 0}, default 1
        At level 0 M is the sum of a positive semidefinite and a nonnegative matrix; the value is
        then zero for every doubly nonnegative A.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError
        A is not symmetric, or another level.

    References
    ----------
    P. Parrilo, PhD thesis, California Institute of Technology, 2000, section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.methods import copositive_cut
    >>> import sdpdr
    >>> cycle = np.roll(np.eye(5), 1, axis=0)
    >>> solution = sdpdr.solve(copositive_cut(1.8 * np.eye(5) + cycle + cycle.T))
    >>> round(solution.value, 5)
    -1.0
    """
    A = symmetric_matrix(X)
    n = len(A)
    if level not in (0, 1):
        raise DataError(f"level must be 0 or 1; it is {level!r}.")
    M, size = Var("M"), svec_size(n)
    terms: list[Term] = [
        Minimize(svec(A)[None, :] @ M),
        AtMost(svec(np.eye(n))[None, :] @ M, float(n), "trace"),
    ]
    if n > 1:
        pick = selection(svec_index(*np.triu_indices(n, 1)), size, 1.0 / SQRT2)
        terms.append(AtMost(pick @ M, n / 2.0, "cap", "c"))
    cone = level_one(n) if level else _level_zero(n)
    return Model((cone, Stated("cut", terms)), name="copositive_cut", maximize=False)


def level_one(n: int) -> Stated:
    r"""A symmetric M in Parrilo's cone of level one, with its parts :math:`P_i`.

    With :math:`N^i = M - P_i` the coefficients of the cubic are

    .. math::

        N^i_{ii} = 0, \qquad N^i_{jj} + 2 N^j_{ij} \ge 0, \qquad
        N^i_{jk} + N^j_{ik} + N^k_{ij} \ge 0 .
    """
    places = np.arange(n)
    ordered = [(i, j, j) for i in range(n) for j in range(n) if i != j]
    mixed = np.array(ordered, dtype=np.intp).reshape(-1, 3)
    apart = np.array(list(combinations(range(n), 3)), dtype=np.intp).reshape(-1, 3)
    terms: list[Term] = [Equal(_coefficients(n, np.column_stack([places] * 3)), 0.0, "cube")]
    for name, triples in (("square", mixed), ("product", apart)):
        if len(triples):
            terms.append(AtMost(-_coefficients(n, triples), 0.0, name))
    variables: list[Variable] = [VectorVariable("M", svec_size(n))]
    variables += [PsdVariable(f"P{i}", n) for i in range(n)]
    return Stated("copositive", terms, variables)


def _coefficients(n: int, triples: Index) -> Affine:
    """The mean of N^i_jk over the three choices of i, for triples (i, j, k)."""
    m = len(triples)
    owner, first, second = (
        np.concatenate([triples[:, (c + shift) % 3] for c in range(3)]) for shift in range(3)
    )
    row = np.tile(np.arange(m), 3)
    weight = np.where(first == second, 1.0, 1.0 / SQRT2) / 3.0
    places = (row, svec_index(first, second))
    total = sp.csr_array((weight, places), shape=(m, svec_size(n))) @ Var("M")
    for i in range(n):
        own = np.flatnonzero(owner == i)
        pairs = np.column_stack([first[own], second[own]])
        thirds = (np.full(own.size, -1.0 / 3.0), (row[own], np.arange(own.size)))
        pick = sp.csr_array(thirds, shape=(m, own.size))
        total = total + (pick @ Entries(n, pairs)) @ Var(f"P{i}")
    return total


def _level_zero(n: int) -> Stated:
    """A symmetric M = P + N, P positive semidefinite and N nonnegative."""
    i, j = np.triu_indices(n)
    pick = selection(svec_index(i, j), svec_size(n), np.where(i == j, 1.0, 1.0 / SQRT2))
    inside = Entries(n, np.column_stack([i, j])) @ Var("P")
    variables = (VectorVariable("M", svec_size(n)), PsdVariable("P", n))
    return Stated("split_copositive", [AtMost(inside - pick @ Var("M"), 0.0)], variables)
