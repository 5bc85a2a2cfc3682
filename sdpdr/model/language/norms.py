"""Norms of expressions, and squares over what is positive, as matrix inequalities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sdpdr.linalg.svec import smat, svec_pairs
from sdpdr.model.affine import Affine
from sdpdr.model.conic.cones import parts_of
from sdpdr.model.language.pieces import (
    Built,
    Direct,
    Function,
    Limits,
    Point,
    at_most_zero,
    natural,
    placed,
    psd_term,
    scaled_identity,
    unknowns,
)
from sdpdr.model.language.statements import is_symmetric, svec_of
from sdpdr.model.terms import Called, Term


@dataclass(frozen=True, eq=False)
class Length(Direct):
    r"""The Euclidean length of all values; of a matrix, its Frobenius norm.

    .. math:: |v| \le t \quad\Longleftrightarrow\quad
              \begin{pmatrix} t & v^T \\ v & t I \end{pmatrix} \succeq 0,

    an arrow, which solvers that know second-order cones are given as one. More than 512 values are
    split into groups :math:`v_1, v_2, \dots` of sixteen, with a scalar each,

    .. math:: |v| \le t \quad\Longleftrightarrow\quad
              \begin{pmatrix} u_g & v_g^T \\ v_g & t I \end{pmatrix} \succeq 0,\
              \textstyle\sum_g u_g \le t .

    Parameters
    ----------
    of : Affine
        v.

    References
    ----------
    Ben-Tal and Nemirovski, "Lectures on modern convex optimization", SIAM, 2001, section 4.2.

    Examples
    --------
    >>> from sdpdr.model.language import scalar
    >>> _, terms, _ = Length(scalar("v", 3)).above("norm")
    >>> [(term.cone, term.lhs.m) for term in terms]
    [('psd', 10)]
    >>> _, terms, _ = Length(scalar("v", 600)).above("norm")
    >>> len(terms), terms[0].lhs.m, terms[-1].lhs.m
    (39, 153, 1)
    """

    top = "length"

    def called(self) -> Called:
        """The function as it is printed."""
        return Called("norm", (self.of,))

    def value(self, values: Point) -> float:
        """The function at a point."""
        return float(np.linalg.norm(self.of.at(values)))

    def squared(self) -> Any:
        """The sum of all squares."""
        return (self.of**2).sum()

    def below(self, limit: Affine, name: str) -> Limits:
        """One or many inequalities."""
        return squares_below(self.of, limit, limit, name)


@dataclass(frozen=True, eq=False)
class QuadOverLin(Direct):
    r"""A sum of squares over an affine expression, which is thereby not negative.

    .. math:: \frac{|v|^2}{t} \le s,\ t \ge 0 \quad\Longleftrightarrow\quad
              \begin{pmatrix} s & v^T \\ v & t I \end{pmatrix} \succeq 0 ,

    with the same two ways to write it as `Length`.

    Parameters
    ----------
    of : Affine
        v.
    over : Affine
        t, one value.

    Examples
    --------
    >>> from sdpdr.model.language import scalar
    >>> _, terms, _ = QuadOverLin(scalar("v", 3), scalar("t")).above("ratio")
    >>> [(term.cone, term.lhs.m) for term in terms]
    [('psd', 10)]
    """

    over: Affine

    top = "ratio"
    is_size = True

    def called(self) -> Called:
        """The function as it is printed."""
        return Called("quad_over_lin", (self.of, self.over))

    def value(self, values: Point) -> float:
        """The function at a point."""
        return float(np.sum(self.of.at(values) ** 2) / self.over.at(values))

    def below(self, limit: Affine, name: str) -> Limits:
        """One or many inequalities."""
        return squares_below(self.of, self.over, limit, name)


def squares_below(of: Affine, over: Affine, top: Affine, name: str) -> Limits:
    """Keeps the sum of squares of `of` below `over` times `top`, both at least zero.

    Of a symmetric matrix, the inequalities have the upper triangle.

    Parameters
    ----------
    of : Affine
    over, top : Affine
        Of one value each.
    name : str
        Of the part that is kept below.

    Examples
    --------
    >>> from sdpdr.model.language import scalar
    >>> variables, terms = squares_below(scalar("v", 3), Affine.of(1.0), scalar("t"), "ball")
    >>> variables, [term.lhs.m for term in terms]
    ([], [10])
    """
    values = (svec_of(of) if is_symmetric(of) else of).reshape(-1)
    top = top.reshape(1)
    groups = parts_of(values.m)
    if len(groups) == 1:
        return [], [psd_term(_arrow(values, over, top), name, "arrow" if "." in name else "")]
    variable, shares = unknowns(f"{name}.shares", len(groups), nonnegative=True)
    terms: list[Term] = [
        psd_term(_arrow(values[group], over, shares[[k]]), name, f"arrow{k}")
        for k, group in enumerate(groups)
    ]
    terms.append(at_most_zero(shares.sum() - top.reshape(()), name, "shares"))
    return [variable], terms


def _arrow(values: Affine, over: Affine, top: Affine) -> Affine:
    """The matrix ((top, values^T), (values, over I)) in svec coordinates."""
    m = values.m
    neck = placed(m + 1, values, np.arange(1, m + 1), 0)
    return placed(m + 1, top, 0, 0) + neck + scaled_identity(m + 1, over, 1, m + 1)


@dataclass(frozen=True, eq=False)
class Largest(Direct):
    r"""The largest absolute value: :math:`-t \le v_i \le t`.

    Parameters
    ----------
    of : Affine
        v.

    Examples
    --------
    >>> from sdpdr.model.language import scalar
    >>> [term.lhs.m for term in Largest(scalar("v", 3)).above("norm")[1]]
    [3, 3]
    """

    top = "largest"
    is_size = True

    def called(self) -> Called:
        """The function as it is printed."""
        return Called("norm", (self.of, "inf"))

    def value(self, values: Point) -> float:
        """The function at a point."""
        return float(np.max(np.abs(self.of.at(values))))

    def below(self, limit: Affine, name: str) -> Limits:
        """Two rows for each value."""
        values = self.of.reshape(-1)
        return [], [
            at_most_zero(values - limit, name, "over"),
            at_most_zero(-values - limit, name, "under"),
        ]


@dataclass(frozen=True, eq=False)
class Spectral(Direct):
    r"""The largest singular value of a matrix.

    .. math:: |X|_2 \le t \quad\Longleftrightarrow\quad
              \begin{pmatrix} t I & X \\ X^T & t I \end{pmatrix} \succeq 0 .

    Parameters
    ----------
    of : Affine
        X, of shape (p, q).

    Examples
    --------
    >>> from sdpdr.model.language import matrix
    >>> [term.lhs.m for term in Spectral(matrix("X", (2, 3))).above("norm")[1]]
    [15]
    """

    top = "spectral"

    def called(self) -> Called:
        """The function as it is printed."""
        return Called("norm", (self.of, "2"))

    def value(self, values: Point) -> float:
        """The function at a point."""
        return float(np.linalg.norm(self.of.at(values), 2))

    def below(self, limit: Affine, name: str) -> Limits:
        """One inequality of order p + q."""
        n = sum(self.of.shape)
        inside = scaled_identity(n, limit, 0, n) + _corner(self.of)
        return [], [psd_term(inside, name, "spectral" if "." in name else "")]


@dataclass(frozen=True, eq=False)
class Nuclear(Function):
    r"""The sum of the singular values of a matrix, its trace norm.

    .. math:: |X|_{\mathrm{tr}} = \min_{A, B} \tfrac12 (\operatorname{tr} A + \operatorname{tr} B)
              \quad\text{s.t.}\quad \begin{pmatrix} A & X \\ X^T & B \end{pmatrix} \succeq 0 .

    Parameters
    ----------
    of : Affine
        X, of shape (p, q).

    References
    ----------
    Fazel, Hindi, Boyd, "A rank minimization heuristic with application to minimum order system
    approximation", American Control Conference, 2001.

    Examples
    --------
    >>> from sdpdr.model.language import matrix
    >>> variables, terms, _ = Nuclear(matrix("X", (2, 3))).above("norm")
    >>> [v.size for v in variables], [term.lhs.m for term in terms]
    ([3, 6], [15])
    """

    def called(self) -> Called:
        """The function as it is printed."""
        return Called("norm", (self.of, "nuc"))

    def value(self, values: Point) -> float:
        """The function at a point."""
        return float(np.linalg.norm(self.of.at(values), "nuc"))

    def above(self, name: str) -> Built:
        """Two symmetric matrices, and one inequality of order p + q."""
        p, q = self.of.shape
        n, inside, half = p + q, _corner(self.of), Affine.of(0.0)
        variables = []
        for side, start, order in (("left", 0, p), ("right", p, q)):
            i, j = np.triu_indices(order)
            variable, entries = unknowns(f"{name}.{side}", i.size)
            variables.append(variable)
            inside = inside + placed(n, entries, start + i, start + j)
            half = half + 0.5 * entries[np.flatnonzero(i == j)].sum()
        return variables, [psd_term(inside, name, "nuclear")], half


def _corner(matrix: Affine) -> Affine:
    """A matrix as the upper right corner of a symmetric one, in svec coordinates."""
    p, q = matrix.shape
    i, a = np.indices((p, q)).reshape(2, -1)
    return placed(p + q, matrix.reshape(-1), i, p + a)


@dataclass(frozen=True, eq=False)
class MatrixFrac(Function):
    r"""Forms of an inverse, which is thereby of a positive semidefinite matrix.

    .. math:: \operatorname{tr} V^T S^{-1} V = \min_W\ \operatorname{tr} W \quad\text{s.t.}\quad
              \begin{pmatrix} S & V \\ V^T & W \end{pmatrix} \succeq 0 .

    Parameters
    ----------
    of : Affine
        V, of shape (n, q).
    matrix : Affine
        S, symmetric, in svec coordinates.

    Examples
    --------
    >>> from sdpdr.linalg.svec import svec
    >>> from sdpdr.model.language import matrix
    >>> part = MatrixFrac(matrix("V", (3, 2)), Affine.of(svec(np.eye(3))))
    >>> [term.lhs.m for term in part.above("forms")[1]]
    [15]
    """

    matrix: Affine

    def called(self) -> Called:
        """The function as it is printed."""
        return Called("matrix_frac", (self.of, self.matrix), of_matrices=True)

    def value(self, values: Point) -> float:
        """The function at a point."""
        of = self.of.at(values)
        return float(np.sum(of * np.linalg.solve(smat(self.matrix.at(values)), of)))

    def above(self, name: str) -> Built:
        """A symmetric matrix, and one inequality."""
        n, q = self.of.shape
        i, j = svec_pairs(np.arange(self.matrix.m))
        a, b = np.triu_indices(q)
        variable, entries = unknowns(f"{name}.forms", a.size)
        inside = placed(n + q, natural(self.matrix), i, j) + _corner(self.of)
        inside = inside + placed(n + q, entries, n + a, n + b)
        total = entries[np.flatnonzero(a == b)].sum()
        return [variable], [psd_term(inside, name, "inverse")], total
