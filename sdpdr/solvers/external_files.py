"""Programs as files in SDPA sparse format, and solutions of such files as points of them.

A file holds a program over matrices Y and its dual over scalars x at once, and the work of an
interior-point method grows with the number of scalars. So either the program or its dual plays the
part of Y, whichever leaves fewer scalars: a Gram matrix with few rows and the matrix inequality
that is its dual become the same file. All diagonal blocks are one, and the last, since there are
programs that take no other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Matrix
from sdpdr.program.point import Point, Value, Variable, as_dense
from sdpdr.program.sdp import SDP
from sdpdr.program.sdpa import write_sdpa
from sdpdr.program.sdpa.solutions import Answer
from sdpdr.program.standard import with_one_vector
from sdpdr.solvers.equality import EqualityForm, equality_form, equality_rows_of_both

# Largest error of a ray, relative to its gain, that counts as a proof.
_RAY = 1e-4


@dataclass(frozen=True, eq=False)
class FiledProgram(EqualityForm):
    """A program in the layout of a file, and the way back.

    Attributes
    ----------
    written : SDP
        The equality form with its scalars as one vector, as it is written.
    """

    written: SDP

    @property
    def blocks(self) -> list[Variable]:
        """What the blocks of the file stand for."""
        return [v for v in self.written.variables if v.size]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the blocks of Y: (n, n), and (k,) for the diagonal one, which comes last."""
        return [v.extents for v in self.blocks]

    @property
    def n_rows(self) -> int:
        """Number of scalars x."""
        return self.equality.n_rows

    def write(self, path: Path) -> None:
        """Write the file."""
        write_sdpa(self.written, path, names=False)

    def value(self, objective: float) -> float:
        """A value of the file's maximisation as one of the minimisation given."""
        return self.reduced.lift_value(self.equality.constant - objective)

    def shows_infeasible(self, answer: Answer) -> bool:
        r"""Whether x is a proof that there is no Y of any size.

        With c'x = -1 and sum_i x_i F_i >= -e I, a feasible Y has a trace of 1 / e at least.
        """
        x = self.by_label(answer.x)
        gain = -float(sum(r.rhs @ x[r.label] for r in self.equality.rows))
        costless = replace(self.written, objective={})
        least = min(_least(costless.dual_slack(v.name, x)) for v in self.blocks)
        return bool(gain > 0.0 and least >= -_RAY * gain)

    def shows_unbounded(self, answer: Answer) -> bool:
        """Whether Y is a direction in which the objective gains and the rows hardly change."""
        y = {v.name: np.zeros(0) for v in self.written.variables}
        dense = (as_dense(block) for block in answer.blocks)
        y |= dict(zip((v.name for v in self.blocks), dense, strict=True))
        gain = -float(self.written.evaluate(self.written.objective, y, 1)[0])
        moved = [self.written.evaluate(r.lhs, y, r.m) for r in self.written.rows]
        worst = float(np.abs(np.concatenate(moved)).max(initial=0.0))
        least = min(_least(y[v.name]) for v in self.blocks)
        return bool(gain > 0.0 and worst <= _RAY * gain and least >= -_RAY * gain)

    def _found(self, answer: Answer) -> dict[str, Value]:
        matrices = [v.name for v in self.equality.psd_variables if v.size]
        vectors = self.equality.vector_variables
        last = answer.blocks[-1] if len(answer.blocks) > len(matrices) else np.zeros(0)
        parts = np.split(as_dense(last), np.cumsum([v.size for v in vectors])[:-1])
        found: dict[str, Value] = dict(zip(matrices, answer.blocks, strict=False))
        return found | {v.name: part for v, part in zip(vectors, parts, strict=False)}

    def point(self, answer: Answer) -> Point:
        """A solution of the file as a point of the program given."""
        return self.reduced.lift(self.read(self._found(answer), answer.x))


def filed(sdp: SDP, *, keep_free: bool = False) -> FiledProgram:
    """Lay a program out so that the file has as few rows as possible, but at least one.

    Parameters
    ----------
    sdp : SDP
    keep_free : bool, default False
        For solvers that take free scalars, and no file, which has no place for them.

    Returns
    -------
    FiledProgram

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.reduce import Dual
    >>> sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
    >>> filed(sdp).n_rows, filed(Dual().apply(sdp).sdp).n_rows
    (5, 5)
    """
    own, other = equality_rows_of_both(sdp)
    form = equality_form(sdp, (other == 0, other) < (own == 0, own), keep_free=keep_free)
    written = form.equality if keep_free else with_one_vector(form.equality)
    return FiledProgram(form.reduced, form.equality, form.is_dual, written)


def _least(value: Matrix) -> float:
    """The least eigenvalue of a matrix, or entry of a vector; -inf if there are no numbers."""
    dense = np.asarray(value.toarray() if sp.issparse(value) else value, dtype=float)
    if not np.isfinite(dense).all():
        return -np.inf
    return float((np.linalg.eigvalsh(dense) if dense.ndim == 2 else dense).min(initial=np.inf))
