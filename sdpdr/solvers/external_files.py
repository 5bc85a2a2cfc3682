"""Programs as files in SDPA sparse format, and solutions of such files as points.

A file holds a program over matrices Y and its dual over scalars x at once, and the work of an
interior-point method grows with the number of scalars. So either the program or its dual plays the
part of Y, whichever leaves fewer scalars: a Gram matrix with few rows and the matrix inequality
that is its dual become the same file. All diagonal blocks are one, and the last, since there are
programs that take no other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import FileFormatError
from sdpdr.program.point import Factor, Point, Value, Variable, as_dense
from sdpdr.program.sdp import SDP
from sdpdr.program.sdpa import write_sdpa
from sdpdr.program.standard import with_one_vector
from sdpdr.solvers.equality import EqualityForm, equality_form, equality_rows_of_both

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
    blocks : tuple of array or Factor
        Y, block by block: shape (n, n), or (n,) for the diagonal one.
    """

    x: Array
    blocks: tuple[Value, ...]


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


def read_factors(path: Path, program: FiledProgram) -> Answer:
    """The solution file of SDPLR: multipliers, then a factor of every block, column by column.

    Its multipliers have the sign of the other convention. A diagonal block holds the roots of its
    entries, or is the diagonal of a matrix with a factor.

    Raises
    ------
    FileFormatError
        Where it is not complete.
    """
    lines = path.read_text(encoding="latin-1").splitlines()
    if not lines or lines[0].split()[:2] != ["dual", "variable"]:
        raise FileFormatError("it does not begin with the multipliers")
    kinds = {1: ("s", "d"), 2: ("s",)}
    at = 1 + program.n_rows
    x, blocks = _numbers(lines[1:at], program.n_rows, "the multipliers"), list[Value]()
    for number, shape in enumerate(program.shapes, start=1):
        words = lines[at].split() if at < len(lines) else []
        head = ["primal", "variable", str(number), *words[3:4], str(shape[0])]
        if len(words) != 7 or words[:5] != head or words[3] not in kinds[len(shape)]:
            raise FileFormatError(f"block {number} is not there")
        rank = int(words[6]) if words[3] == "s" else 1
        end = at + 1 + shape[0] * rank
        root = _numbers(lines[at + 1 : end], shape[0] * rank, f"block {number}")
        factor = Factor(root.reshape(rank, shape[0]).T)
        blocks.append(factor if len(shape) == 2 else np.square(factor.factor).sum(axis=1))
        at = end
    # Without what follows, the last number may be half of one.
    if at >= len(lines):
        raise FileFormatError("its end is missing")
    return Answer(-x, tuple(blocks))


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
