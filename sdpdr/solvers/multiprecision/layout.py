"""Which of a program and its dual is put to the method, and the way back for answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg.svec import svec_pairs
from sdpdr.program.face import complete_multipliers, null_vectors
from sdpdr.program.point import Point, PsdVariable, Value, Variable
from sdpdr.program.sdp import SDP
from sdpdr.program.standard import equality_rows, to_equality_form
from sdpdr.reduce import Composed, Dual
from sdpdr.reduce.base import Reduced


@dataclass(frozen=True, eq=False)
class Layout:
    """A program in equality form, and the way back.

    Attributes
    ----------
    reduced : Reduced
        The program given, or its dual.
    equality : SDP
        The same over equalities, PSD matrices, and scalars that are non-negative or free.
    is_dual : bool
    """

    reduced: Reduced
    equality: SDP
    is_dual: bool

    def known_null_vectors(self) -> list[sp.csr_array]:
        """For every matrix of the equality form, vectors that its rows are known to map to zero."""
        source = self.reduced.sdp
        own = {v.name for v in source.psd_variables}
        return [
            null_vectors(source, v.name) if v.name in own else sp.csr_array((v.n, 0))
            for v in self.equality.psd_variables
        ]

    def inequalities(self) -> dict[str, int]:
        """Orders of the matrix inequalities that rows of the equality form stand for."""
        return {lmi.label: lmi.order for lmi in self.reduced.sdp.lmis}

    def values(self, found: Mapping[str, Array]) -> dict[str, Value]:
        """Values of the program that was put to the method, from those of its equality form."""
        parts = iter(self.equality.variables)
        return {v.name: _value(v, parts, found) for v in self.reduced.sdp.variables}

    def multipliers(self, y: Array) -> dict[str, Array]:
        """Multipliers of its rows and matrix inequalities; y has the sign of `sdpdr.program.sdp`.

        Rows of a matrix inequality are those of its entries, without the sqrt 2 of ``svec``.
        """
        source = self.reduced.sdp
        ends = np.cumsum([r.m for r in self.equality.rows])[:-1]
        parts = np.split(y, ends) if self.equality.rows else []
        by_label = {r.label: part for r, part in zip(self.equality.rows, parts, strict=True)}
        duals = {r.label: by_label[r.label] for r in source.rows}
        duals |= {lmi.label: _spread(-by_label[lmi.label], lmi.order) for lmi in source.lmis}
        return duals

    def point(self, found: Mapping[str, Array], y: Array) -> Point:
        """Values and multipliers of the program given."""
        duals = complete_multipliers(self.reduced.sdp, self.multipliers(y))
        return self.reduced.lift(Point(self.values(found), duals))


def laid_out(sdp: SDP, *, itself: bool = False) -> Layout:
    """The program or its dual, whichever has fewer rows in equality form.

    Parameters
    ----------
    sdp : SDP
    itself : bool, default False
        Take the program itself, however many rows it has.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.reduce import Dual
    >>> sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
    >>> laid_out(sdp).is_dual, laid_out(Dual().apply(sdp).sdp).is_dual
    (False, True)
    """
    best, dual = Composed(()).apply(sdp), Dual().apply(sdp)
    if not itself:
        best = min((best, dual), key=lambda r: equality_rows(r.sdp))
    return Layout(best, to_equality_form(best.sdp, keep_free=True), best is dual)


def _spread(entries: Array, order: int) -> Array:
    """The symmetric Z with <Z, G> = sum of entries times those of the upper triangle of G."""
    i, j = svec_pairs(np.arange(entries.size))
    half = np.zeros((order, order))
    half[i, j] = entries / 2.0
    return half + half.T


def _value(variable: Variable, parts: Iterator[Variable], found: Mapping[str, Array]) -> Value:
    """A variable's value from those that stand for it in equality form, which follow in order."""
    if isinstance(variable, PsdVariable) or variable.curvature is None:
        return found[next(parts).name]
    return np.array([found[next(parts).name][0, 1] for _ in range(variable.size)])
