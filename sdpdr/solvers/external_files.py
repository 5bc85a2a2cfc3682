"""Programs as files in SDPA sparse format, and solutions of such files as points.

A file holds a program over matrices Y and its dual over scalars x at once, and the work of an
interior-point method grows with the number of scalars. So either the program or its dual plays the
part of Y, whichever leaves fewer scalars: a Gram matrix with few rows and the matrix inequality
that is its dual become the same file. All diagonal blocks are one, and the last, since there are
programs that take no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import FileFormatError
from sdpdr.linalg.svec import smat
from sdpdr.program.point import Point, PsdVariable, Value, Variable
from sdpdr.program.sdp import SDP
from sdpdr.program.sdpa_file import write_sdpa
from sdpdr.program.standard import equality_rows, to_equality_form, with_one_vector
from sdpdr.reduce import Composed, Dual
from sdpdr.reduce.base import Reduced

# Of a proof that there is no solution: its error beside what it gains.
_RAY = 1e-4
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:nan|inf)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solution file says.

    Attributes
    ----------
    x : array of shape (m,)
        Multipliers of the file's rows.
    blocks : tuple of array
        Y, block by block: shape (n, n), or (n,) for the diagonal one.
    """

    x: Array
    blocks: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class FiledProgram:
    """A program in the layout of a file, and the way back.

    Attributes
    ----------
    given, reduced : SDP, Reduced
        The program, and what plays the part of Y: itself, or its dual.
    equality, written : SDP
        That over cones alone, and with its scalars as one vector, as it is written.
    is_dual : bool
    """

    given: SDP
    reduced: Reduced
    equality: SDP
    written: SDP
    is_dual: bool

    @property
    def blocks(self) -> list[Variable]:
        """What the blocks of the file stand for."""
        return [v for v in self.written.variables if v.size]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the blocks of Y: (n, n), and (k,) for the diagonal one, which comes last."""
        return [(v.n, v.n) if isinstance(v, PsdVariable) else (v.size,) for v in self.blocks]

    @property
    def n_rows(self) -> int:
        """Number of scalars x."""
        return self.equality.n_rows

    def write(self, path: Path) -> None:
        """Write the file."""
        write_sdpa(self.written, path)

    def value(self, objective: float) -> float:
        """A value of the file's maximisation as one of the minimisation given."""
        return self.reduced.lift_value(self.equality.constant - objective)

    def shows_infeasible(self, answer: Answer) -> bool:
        r"""Whether x is a proof that there is no Y of any size.

        With c'x = -1 and sum_i x_i F_i >= -e I, a feasible Y has a trace of 1 / e at least.
        """
        x = self._rows(answer.x)
        gain = -float(sum(r.rhs @ x[r.label] for r in self.equality.rows))
        costless = replace(self.written, objective={})
        least = min(_least(costless.dual_slack(v.name, x)) for v in self.blocks)
        return bool(gain > 0.0 and least >= -_RAY * gain)

    def shows_unbounded(self, answer: Answer) -> bool:
        """Whether Y is a direction in which the objective gains and the rows hardly change."""
        y = {v.name: np.zeros(0) for v in self.written.variables}
        y |= dict(zip((v.name for v in self.blocks), answer.blocks, strict=True))
        gain = -float(self.written.evaluate(self.written.objective, y, 1)[0])
        moved = [self.written.evaluate(r.lhs, y, r.m) for r in self.written.rows]
        worst = float(np.abs(np.concatenate(moved)).max(initial=0.0))
        least = min(_least(y[v.name]) for v in self.blocks)
        return bool(gain > 0.0 and worst <= _RAY * gain and least >= -_RAY * gain)

    def _found(self, answer: Answer) -> dict[str, Array]:
        matrices = [v.name for v in self.equality.psd_variables if v.size]
        vectors = self.equality.vector_variables
        last = answer.blocks[-1] if len(answer.blocks) > len(matrices) else np.zeros(0)
        parts = np.split(last, np.cumsum([v.size for v in vectors])[:-1])
        found = dict(zip(matrices, answer.blocks, strict=False))
        return found | {v.name: part for v, part in zip(vectors, parts, strict=False)}

    def _rows(self, x: Array) -> dict[str, Array]:
        ends = np.cumsum([r.m for r in self.equality.rows])[:-1]
        split = np.split(x, ends)
        return {r.label: part for r, part in zip(self.equality.rows, split, strict=True)}

    def point(self, answer: Answer) -> Point:
        """A solution of the file as a point of the program given."""
        found = self._found(answer)
        parts = iter(self.equality.variables)
        source = self.reduced.sdp
        values = {v.name: _value(v, parts, found) for v in source.variables}
        x = self._rows(answer.x)
        duals = {r.label: x[r.label] for r in source.rows}
        duals |= {lmi.label: -smat(x[lmi.label]) for lmi in source.lmis}
        return self.reduced.lift(Point(values, duals))


def filed(sdp: SDP) -> FiledProgram:
    """Lay a program out so that the file has as few rows as possible, but at least one.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
    >>> filed(sdp).n_rows, filed(Dual().apply(sdp).sdp).n_rows
    (5, 5)
    """
    itself, dual = Composed(()).apply(sdp), Dual().apply(sdp)
    chosen = min((itself, dual), key=lambda r: (equality_rows(r.sdp) == 0, equality_rows(r.sdp)))
    equality = to_equality_form(chosen.sdp)
    return FiledProgram(sdp, chosen, equality, with_one_vector(equality), chosen is dual)


def _value(variable: Variable, parts: Iterator[Variable], found: dict[str, Array]) -> Value:
    """A variable's value from those that stand for it in equality form, which follow in order."""

    def next_part() -> Array:
        return found.get(next(parts).name, np.zeros(0))

    if isinstance(variable, PsdVariable) or variable.nonnegative:
        return next_part()
    if variable.curvature is not None:
        return np.array([next_part()[0, 1] for _ in range(variable.size)])
    return next_part() - next_part()


# -- solution files -----------------------------------------------------------------------------


def read_csdp_solution(path: Path, program: FiledProgram) -> Answer:
    """The solution file of CSDP: x on one line, then entries of the slack (1) and of Y (2).

    Raises
    ------
    FileFormatError
        Where it is not complete: the matrices of an interior point have whole diagonals.
    """
    first, _, rest = path.read_text(encoding="latin-1").partition("\n")
    x = _numbers(first.split(), program.n_rows, "the scalars x")
    if not rest.endswith("\n"):
        raise FileFormatError("its last line is not whole")
    words = rest.split()
    table = _numbers(words, 5 * max(1, len(words) // 5), "lines of five").reshape(-1, 5)
    sizes = [shape[0] for shape in program.shapes]
    matrix, block, i, j = table[:, :4].T.astype(np.int64)
    inside = np.isin(matrix, (1, 2)) & (block >= 1) & (block <= len(sizes))
    order = np.array(sizes)[np.where(inside, block - 1, 0)]
    if not (inside & (np.minimum(i, j) >= 1) & (np.maximum(i, j) <= order)).all():
        raise FileFormatError("an entry lies outside of the matrices")
    for side in (1, 2):
        if np.count_nonzero((matrix == side) & (i == j)) != sum(sizes):
            raise FileFormatError("the diagonals are not all there")
    blocks = []
    for b, shape in enumerate(program.shapes, start=1):
        own = (matrix == 2) & (block == b)
        dense = np.zeros((shape[0], shape[0]))
        dense[i[own] - 1, j[own] - 1] = dense[j[own] - 1, i[own] - 1] = table[own, 4]
        blocks.append(dense if len(shape) == 2 else np.diag(dense).copy())
    return Answer(x, tuple(blocks))


def read_sdpa_result(text: str, program: FiledProgram) -> Answer:
    """The result of SDPA's program: x after ``xVec``, and Y, row by row, after ``yMat``.

    Raises
    ------
    FileFormatError
        Where it is not complete.
    """
    before, mark, after = text.partition("yMat =")
    _, other_mark, vector = before.partition("xVec =")
    body, last_mark, _ = after.partition("main loop time")
    if not (mark and other_mark and last_mark):
        raise FileFormatError("it lacks xVec, yMat or the times at its end")
    x = _numbers(_NUMBER.findall(vector.partition("xMat =")[0]), program.n_rows, "the scalars x")
    counts = [int(np.prod(shape)) for shape in program.shapes]
    flat = _numbers(_NUMBER.findall(body), sum(counts), "the entries of Y")
    parts = np.split(flat, np.cumsum(counts)[:-1])
    blocks = (part.reshape(shape) for part, shape in zip(parts, program.shapes, strict=True))
    return Answer(x, tuple((y + y.T) / 2.0 for y in blocks))


def _least(value: Matrix) -> float:
    """The least eigenvalue of a matrix, or entry of a vector; -inf if there are no numbers."""
    dense = np.asarray(value.toarray() if sp.issparse(value) else value, dtype=float)
    if not np.isfinite(dense).all():
        return -np.inf
    return float((np.linalg.eigvalsh(dense) if dense.ndim == 2 else dense).min(initial=np.inf))


def _numbers(words: list[str], expected: int, what: str) -> Array:
    if len(words) != expected:
        raise FileFormatError(f"{what}: expected {expected} numbers, found {len(words)}")
    try:
        return np.array(words, dtype=float)
    except ValueError as error:
        raise FileFormatError(f"{what}: {error}") from None
