r"""Solutions of programs in SDPA's format, as CSDP, SDPA and SDPLR write them.

All three hold a pair x, Y in the letters of `sdpdr.program.sdpa`: Y is a matrix for each block, and
x are the multipliers of the rows :math:`\langle F_i, Y\rangle = c_i`. Names and signs differ:

======  ==============================  ==============================  =======================
writer  x                               Y                               what it calls primal
======  ==============================  ==============================  =======================
CSDP    the first line                  entries ``2 block i j value``   Y
SDPA    after ``xVec``                  after ``yMat``                  x
SDPLR   minus ``dual variable``         R R^T, of ``primal variable``   Y
======  ==============================  ==============================  =======================
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.base.errors import FileFormatError
from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.sdp import SDP

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:nan|inf)", re.IGNORECASE)
# The first words of a solution of SDPLR, and the name of x in a result of SDPA.
_SDPLR, _SDPA = ["dual", "variable"], "xVec ="
# Orders of blocks that a message lists.
_LISTED = 8
# Asymmetry, relative to the largest entry, that printed digits may cause.
_DIGITS = 1e-6


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


def read_solution(path: Path, sdp: SDP) -> tuple[Point, str]:
    r"""The point in a solution file of CSDP, SDPA or SDPLR, and which of them wrote it.

    Parameters
    ----------
    path : Path
    sdp : SDP
        The program that it is a solution of, as `read_sdpa` read it.

    Raises
    ------
    FileFormatError
        If the file is not complete, or belongs to another program.

    Examples
    --------
    >>> import tempfile
    >>> from sdpdr.program.sdpa import read_sdpa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file, solution = Path(folder, "one.dat-s"), Path(folder, "one.sol")
    ...     _ = file.write_text("1\n1\n-1\n2.0\n0 1 1 1 1.0\n1 1 1 1 1.0\n")
    ...     _ = solution.write_text("1.0\n1 1 1 1 1e-9\n2 1 1 1 2.0\n")
    ...     point, writer = read_solution(solution, read_sdpa(file))
    >>> writer, point.values["Y1"].tolist(), point.duals["rows"].tolist()
    ('csdp', [2.0], [1.0])
    """
    text = path.read_text(encoding="latin-1")
    try:
        if text.split(maxsplit=2)[:2] == _SDPLR:
            writer, answer = "sdplr", read_factors(path, sdp)
        elif _SDPA in text:
            writer, answer = "sdpa", read_sdpa_result(text, sdp)
        else:
            writer, answer = "csdp", read_csdp_solution(path, sdp)
    except FileFormatError as error:
        orders = [str(shape[0]) for shape in _shapes(sdp)]
        listed = ", ".join(orders[:_LISTED]) + ", ..." * (len(orders) > _LISTED)
        raise FileFormatError(
            f"{path.name}: {error}. Pass a whole solution of this program, as CSDP, SDPA or SDPLR "
            f"wrote it: with {sdp.n_rows} multipliers and blocks of order {listed}."
        ) from None
    values = dict(zip((v.name for v in sdp.variables), answer.blocks, strict=True))
    parts = np.split(answer.x, np.cumsum([r.m for r in sdp.rows])[:-1]) if sdp.rows else []
    return Point(values, dict(zip((r.label for r in sdp.rows), parts, strict=True))), writer


def read_csdp_solution(path: Path, program: SDP) -> Answer:
    """The solution file of CSDP: x on one line, then entries of the slack (1) and of Y (2).

    Raises
    ------
    FileFormatError
        Where it is not complete: the matrices of an interior point have whole diagonals.
    """
    first, _, rest = path.read_text(encoding="latin-1").partition("\n")
    shapes = _shapes(program)
    x = _numbers(first.split(), program.n_rows, "line 1, the scalars x")
    if not rest.endswith("\n"):
        raise FileFormatError("its last line is not whole")
    lines = [line.split() for line in rest.splitlines()]
    for number, words in enumerate(lines, start=2):
        if len(words) not in (0, 5):
            expected = "lines of five numbers: matrix, block, row, column, value"
            raise FileFormatError(f"line {number}: expected {expected}; found {len(words)}")
    filled = np.array([k for k, words in enumerate(lines, start=2) if words], dtype=np.intp)
    words = [word for words in lines for word in words]
    table = _numbers(words, len(words), "the entries").reshape(-1, 5)

    def insist(holds: NDArray[np.bool_], words: str) -> None:
        if not holds.all():
            raise FileFormatError(f"line {filled[np.argmin(holds)]}: {words}")

    sizes = [shape[0] for shape in shapes]
    places = table[:, :4]
    insist((places == np.floor(places)).all(axis=1), "matrix, block and place are no whole numbers")
    matrix, block, i, j = places.T.astype(np.intp)
    inside = np.isin(matrix, (1, 2)) & (block >= 1) & (block <= len(sizes))
    order = np.array(sizes)[np.where(inside, block - 1, 0)]
    inside &= (np.minimum(i, j) >= 1) & (np.maximum(i, j) <= order)
    insist(inside, "an entry lies outside of the matrices")
    is_diagonal = np.array([len(shape) == 1 for shape in shapes])
    insist(~is_diagonal[block - 1] | (i == j), "an entry off the diagonal of a diagonal block")
    for side in (1, 2):
        if np.count_nonzero((matrix == side) & (i == j)) != sum(sizes):
            raise FileFormatError("the diagonals are not all there")
    blocks = []
    for b, shape in enumerate(shapes, start=1):
        own = (matrix == 2) & (block == b)
        dense = np.zeros((shape[0], shape[0]))
        dense[i[own] - 1, j[own] - 1] = dense[j[own] - 1, i[own] - 1] = table[own, 4]
        blocks.append(dense if len(shape) == 2 else np.diag(dense).copy())
    return Answer(x, tuple(blocks))


def read_sdpa_result(text: str, program: SDP) -> Answer:
    """The result of SDPA's program: x after ``xVec``, and Y, row by row, after ``yMat``.

    Raises
    ------
    FileFormatError
        Where it is not complete.
    """
    before, mark, after = text.partition("yMat =")
    _, other_mark, vector = before.partition(_SDPA)
    body, last_mark, _ = after.partition("main loop time")
    if not (mark and other_mark and last_mark):
        raise FileFormatError("it lacks xVec, yMat or the times at its end")
    x = _numbers(_NUMBER.findall(vector.partition("xMat =")[0]), program.n_rows, "the scalars x")
    shapes = _shapes(program)
    counts = [int(np.prod(shape)) for shape in shapes]
    flat = _numbers(_NUMBER.findall(body), sum(counts), "the entries of Y")
    parts = np.split(flat, np.cumsum(counts)[:-1])
    blocks = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
    if any(np.any(np.abs(y - y.T) > _DIGITS * np.max(np.abs(y))) for y in blocks):
        raise FileFormatError("a block of Y is not symmetric")
    return Answer(x, tuple((y + y.T) / 2.0 for y in blocks))


def read_factors(path: Path, program: SDP) -> Answer:
    """The solution file of SDPLR: multipliers, then a factor of every block, column by column.

    Its multipliers have the sign of the other convention. A diagonal block holds the roots of its
    entries, or is the diagonal of a matrix with a factor.

    Raises
    ------
    FileFormatError
        Where it is not complete.
    """
    lines = path.read_text(encoding="latin-1").splitlines()
    if not lines or lines[0].split()[:2] != _SDPLR:
        raise FileFormatError("it does not begin with the multipliers")
    kinds = {1: ("s", "d"), 2: ("s",)}
    at = 1 + program.n_rows
    x, blocks = _numbers(lines[1:at], program.n_rows, "the multipliers"), list[Value]()
    for number, shape in enumerate(_shapes(program), start=1):
        words = lines[at].split() if at < len(lines) else []
        head = ["primal", "variable", str(number), *words[3:4], str(shape[0])]
        if len(words) != 7 or words[:5] != head or words[3] not in kinds[len(shape)]:
            raise FileFormatError(f"line {at + 1}: block {number} is not there")
        rank = _rank(words[6], at + 1) if words[3] == "s" else 1
        end = at + 1 + shape[0] * rank
        root = _numbers(lines[at + 1 : end], shape[0] * rank, f"block {number}")
        factor = Factor(root.reshape(rank, shape[0]).T)
        blocks.append(factor if len(shape) == 2 else np.square(factor.factor).sum(axis=1))
        at = end
    # If no line follows, the last number may be truncated.
    if at >= len(lines):
        raise FileFormatError("its end is missing")
    return Answer(-x, tuple(blocks))


def _shapes(program: SDP) -> list[tuple[int, ...]]:
    """Shapes of the blocks of a file: (n, n), and (k,) for a diagonal one."""
    return [v.extents for v in program.variables if v.size]


def _rank(word: str, line: int) -> int:
    """The number of columns of a factor."""
    if word.isdecimal():
        return int(word)
    raise FileFormatError(f"line {line}: expected the rank, a whole number; found {word!r}")


def _numbers(words: list[str], expected: int, what: str) -> Array:
    """Finite numbers, as many as expected."""
    if len(words) != expected:
        raise FileFormatError(f"{what}: expected {expected} numbers, found {len(words)}")
    try:
        found = np.array(words, dtype=float)
    except ValueError as error:
        raise FileFormatError(f"{what}: {error}") from None
    for place in np.flatnonzero(~np.isfinite(found)):
        raise FileFormatError(f"{what}: number {place + 1} is {words[place]}, which is not finite")
    return found
