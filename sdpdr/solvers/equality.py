"""A program or its dual in equality form, for solvers that take no other, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg.svec import order_of, smat, svec_pairs
from sdpdr.program.point import Point, Value, Variable, VectorVariable, as_dense
from sdpdr.program.sdp import SDP
from sdpdr.program.standard import equality_rows, to_equality_form
from sdpdr.reduce import Composed, Dual
from sdpdr.reduce.base import Reduced


@dataclass(frozen=True, eq=False)
class EqualityForm:
    """A program over equalities, PSD matrices and scalars, and what it stands for.

    Attributes
    ----------
    reduced : Reduced
        The program given, or its dual.
    equality : SDP
        The same in equality form.
    is_dual : bool
    """

    reduced: Reduced
    equality: SDP
    is_dual: bool

    def inequalities(self) -> dict[str, int]:
        """Orders of the matrix inequalities that rows of the equality form stand for."""
        return {lmi.label: lmi.order for lmi in self.reduced.sdp.lmis}

    def by_label(self, y: Array) -> dict[str, Array]:
        """Multipliers of the rows of the equality form, by label."""
        ends = np.cumsum([r.m for r in self.equality.rows])[:-1]
        parts = np.split(y, ends) if self.equality.rows else []
        return {r.label: part for r, part in zip(self.equality.rows, parts, strict=True)}

    def read(
        self, found: Mapping[str, Value], y: Array, matrix: Callable[[Array], Array] = smat
    ) -> Point:
        """Values and multipliers of the program that was rewritten, before its lift.

        Parameters
        ----------
        found : mapping from name to array or Factor
            Values of the equality form; those that are missing have no entries.
        y : array of shape (m,)
            Multipliers of its rows, by the sign of `sdpdr.program.sdp`.
        matrix : callable, default `sdpdr.linalg.smat`
            What makes a matrix of multipliers of the rows of a matrix inequality; `spread`, where
            these were divided by the sqrt 2 of ``svec``.
        """
        source, rows = self.reduced.sdp, self.by_label(y)
        parts = iter(self.equality.variables)
        values = {v.name: _value(v, parts, found) for v in source.variables}
        duals = {r.label: rows[r.label] for r in source.rows}
        return Point(values, duals | {z.label: matrix(-rows[z.label]) for z in source.lmis})


def equality_form(sdp: SDP, is_dual: bool, *, keep_free: bool) -> EqualityForm:
    """Rewrite a program, or its dual (see `sdpdr.program.standard.to_equality_form`)."""
    chosen = (Dual() if is_dual else Composed(())).apply(sdp)
    return EqualityForm(chosen, to_equality_form(chosen.sdp, keep_free=keep_free), is_dual)


def equality_rows_of_both(sdp: SDP) -> tuple[int, int]:
    """How many rows the equality forms of a program and of its dual have.

    That of the dual has one for every entry of a variable. To make the dual of a large matrix
    takes gigabytes, so they are counted before.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
    >>> equality_rows_of_both(sdp), equality_rows_of_both(Dual().apply(sdp).sdp)
    ((5, 6), (6, 5))
    """
    quadratic = sum(v.size for v in sdp.vector_variables if v.curvature is not None)
    return equality_rows(sdp), sum(v.size for v in sdp.variables) + quadratic


def spread(entries: Array) -> Array:
    """The symmetric Z with <Z, G> = sum of entries times those of the upper triangle of G."""
    i, j = svec_pairs(np.arange(entries.size))
    half = np.zeros((order_of(entries.size),) * 2)
    half[i, j] = entries / 2.0
    return half + half.T


def _value(variable: Variable, parts: Iterator[Variable], found: Mapping[str, Value]) -> Value:
    """A variable's value from those that stand for it in equality form, which follow in order."""

    def value(part: Variable) -> Value:
        return found.get(part.name, np.zeros(0))

    if isinstance(variable, VectorVariable) and variable.curvature is not None:
        return np.array([as_dense(value(next(parts)))[0, 1] for _ in range(variable.size)])
    first = next(parts)
    if first.name == variable.name:
        return value(first)
    return as_dense(value(first)) - as_dense(value(next(parts)))
