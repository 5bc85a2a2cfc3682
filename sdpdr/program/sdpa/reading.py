"""Read programs in SDPA sparse format."""

from __future__ import annotations

import codecs
import gzip
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import ALLOWED, Array, Index, is_admissible, is_written_admissibly
from sdpdr.base.errors import FileFormatError
from sdpdr.base.files import has_ending
from sdpdr.program.entries import FileEntries
from sdpdr.program.point import PsdVariable, Variable, VectorVariable
from sdpdr.program.rows import Expression, Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sdpa.notes import is_number, read_names, read_sense, warn_of_relaxation

# SDPA reads these as blanks; "2=mDIM" is the number 2 and a remark.
_SEPARATORS = str.maketrans(",{}()[]=;:", "          ")
# In the names that `write_sdpa` notes, a d between digits is a letter.
_FORTRAN_EXPONENT = re.compile(
    r"""(?P<name>^\s*["*]\s*sdpdr\s+(?:block|rows)\s.*$)|(?<=[\d.])[dD](?=[+-]?\d)""", re.MULTILINE
)
_END_OF_DOS_FILE = "\x1a"
# The number of an entry of a larger block may not fit into 64 bits.
_LARGEST_ORDER = 2**31 - 1
_WHOLE = re.compile(r"[+-]?\d+")
# A file begins with two counts; remarks after these may contain numbers.
_COUNTS = 2
_ENTRY = "five numbers: matrix, block, row, column, value"


def read_sdpa(path: str | os.PathLike[str]) -> SDP:
    r"""Read a program in SDPA sparse format.

    Numbers are separated by white space, commas, braces, parentheses or equality signs, as SDPA
    reads them. Block sizes, costs and entries may continue on the next line, and entries may share
    one. Remarks are accepted after the first two numbers and after complete sizes, costs and
    entries, unless they contain numbers. Comments (lines that begin with ``*`` or ``"``) may stand
    anywhere, as may Fortran exponents and entries in the lower triangle (or in both, if they
    agree). An entry given twice is refused, because solvers disagree on what it means; so is a
    number beyond the range of `sdpdr.base.arrays`, 1e-100 to 1e100 in absolute value.

    Parameters
    ----------
    path : str or path
        Compressed if the name ends in ``.gz``.

    Returns
    -------
    SDP
        Over variables ``Y1, Y2, ...``, one per block, with one group of rows, ``rows``, unless
        `write_sdpa` noted their names: in comments like ``* sdpdr block 1 "K"`` and
        ``* sdpdr rows 5 "centred"``, for the next five rows. It is a maximisation, unless a comment
        that begins with ``sdpdr:`` has another sense, in lower or upper case, with s or z.

    Raises
    ------
    FileFormatError
        With the name of the file, the line, and what was expected there.

    Warns
    -----
    RelaxedWarning
        Below the first number of the file, the word INTEGER or RANK1 begins a comment, as the head
        of a section, which is ignored.

    Examples
    --------
    >>> from sdpdr.program import read_sdpa
    >>> import pathlib, tempfile
    >>> text = "2\n2\n2 -1\n1.0 0.0\n0 1 1 2 0.5\n1 1 1 1 1.0\n1 1 2 2 1.0\n2 2 1 1 1.0\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.dat-s")
    ...     _ = path.write_text(text)
    ...     read_sdpa(path)
    SDP(tiny; matrices [Y1: 2x2], 1 scalars, 2 rows, 0 matrix inequalities)
    """
    path = Path(path)
    text = _text(path).replace("\r\n", "\n").replace("\r", "\n")
    file = _Numbers(path.name, text.split("\n"))
    maximize, constant = read_sense(file)
    m = file.count("the number of rows (mDIM), with which SDPA sparse files begin", least=0)
    sizes = file.sizes(file.count("the number of blocks (nBLOCK)", least=1))
    rhs = file.values(*file.take(m, f"the {m} numbers of c"))
    entries = file.entries(m, sizes)
    names, groups = read_names(file, len(sizes), m)
    warn_of_relaxation(file, file.line[0])
    variables = tuple(_variable(names[b], int(size)) for b, size in enumerate(sizes))
    objective, lhs = {}, {}
    for v, part in zip(variables, entries.by_block(len(sizes)), strict=True):
        in_cost = part.place[0] == 0
        if in_cost.any():
            objective[v.name] = (-part.take(in_cost)).linear_map(v, 1)
        if not in_cost.all():
            lhs[v.name] = part.take(~in_cost).linear_map(v, m)
    return SDP(
        variables=variables,
        objective=objective,
        rows=tuple(_groups(groups, lhs, rhs)),
        constant=constant,
        maximize=maximize,
        name=path.name.removesuffix(".gz").removesuffix(".dat-s"),
    )


def _text(path: Path) -> str:
    data = path.read_bytes()
    if has_ending(path, ".gz"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(
                f"{path.name}: expected a complete gzip file, by its name ({error}). Fetch it "
                "again, or drop .gz from the name of a plain file."
            ) from None
    # Some editors write the mark of UTF-8 first, which is no part of the program.
    text = data.removeprefix(codecs.BOM_UTF8).decode("latin-1")
    while text.rstrip().endswith(_END_OF_DOS_FILE):
        text = text.rstrip()[:-1]
    return _FORTRAN_EXPONENT.sub(lambda found: found["name"] or "e", text)


def _variable(name: str, size: int) -> Variable:
    if size > 0:
        return PsdVariable(name, size)
    return VectorVariable(name, -size, nonnegative=True)


def _groups(groups: list[tuple[str, int]], lhs: Expression, rhs: Array) -> Iterator[Rows]:
    """The rows, in groups of some size each."""
    start = 0
    for label, size in groups:
        here = np.arange(start, start + size)
        start += size
        taken = {name: a if size == rhs.size else a.take(here) for name, a in lhs.items()}
        yield Rows(label, "==", {n: a for n, a in taken.items() if a.matrix().nnz}, rhs[here])


class _Numbers:
    """The numbers of a file, taken in order; errors name the line.

    Parameters
    ----------
    name : str
    lines : sequence of str

    Attributes
    ----------
    words : list of str
        The numbers as they are written.
    line : list of int
        Where each stands, from 1.
    remarks : list of (int, int, list of str)
        After how many numbers a line goes on in words, its number, and the words.
    """

    def __init__(self, name: str, lines: Sequence[str]) -> None:
        self.name, self.lines, self._taken = name, lines, 0
        self.words, self.line = list[str](), list[int]()
        self.remarks = list[tuple[int, int, list[str]]]()
        for number, text in enumerate(lines, start=1):
            if text.lstrip()[:1] in ('"', "*"):
                continue
            words = text.translate(_SEPARATORS).split()
            found = list(takewhile(is_number, words))
            self.words += found
            self.line += [number] * len(found)
            if len(found) < len(words):
                self.remarks.append((len(self.words), number, words[len(found) :]))

    def refuse(self, line: int, expected: str) -> FileFormatError:
        """The error that says what was expected on a line."""
        return FileFormatError(f"{self.name}, line {line}: expected {expected}.")

    def take(self, n: int, expected: str, every: int | None = None) -> tuple[list[str], Index]:
        """The next numbers, and their lines, on which no others stand.

        A remark may follow the last number on its line, or the last of each group of ``every``
        numbers. Only remarks after the two counts that begin a file may contain numbers.
        """
        start, end = self._taken, self._taken + n
        for place, line, words in self.remarks:
            is_apart = place == 0 or self.line[place - 1] != line
            # A remark on a line of its own belongs to the next numbers, if there are any.
            is_later = is_apart and place == end < len(self.words)
            if not start <= place <= end or is_later:
                continue
            if is_apart or (place - start) % (every or max(n, 1)):
                raise self.refuse(line, f"{expected}, each a number; found {words[0][:40]!r}")
            if place > _COUNTS and any(map(is_number, words)):
                behind = f"found numbers in the remark {words[0][:40]!r} behind them"
                raise self.refuse(line, f"{expected}; {behind}")
        if end > len(self.words):
            raise self.refuse(len(self.lines), f"{expected}, but the file ends")
        if n and self.line[end - 1] in self.line[end : end + 1]:
            raise self.refuse(self.line[end], f"{expected}; found more, {self.words[end]!r}")
        self._taken = end
        return self.words[start:end], np.array(self.line[start:end], dtype=np.intp)

    def count(self, what: str, least: int) -> int:
        """A number that stands alone on its line."""
        expected = f"{what}, a whole number of at least {least}"
        (word,), (line,) = self.take(1, expected)
        if not _WHOLE.fullmatch(word) or int(word) < least:
            raise self.refuse(int(line), f"{expected}; found {word!r}")
        return int(word)

    def sizes(self, n_blocks: int) -> Index:
        """The sizes of the blocks."""
        expected = f"{n_blocks} sizes of blocks (bLOCKsTRUCT), whole numbers other than 0"
        words, lines = self.take(n_blocks, expected)
        for word, line in zip(words, lines.tolist(), strict=True):
            if not _WHOLE.fullmatch(word) or int(word) == 0:
                raise self.refuse(line, f"{expected}; found {word!r}")
            if abs(int(word)) > _LARGEST_ORDER:
                raise self.refuse(line, f"sizes up to {_LARGEST_ORDER}; found {word}")
        return np.array([int(word) for word in words], dtype=np.intp)

    def values(self, words: Sequence[str], line: Index, every: int = 1) -> Array:
        """Finite numbers; the last of each ``every`` is data, and its size is checked."""
        values = np.array(words, dtype=float)
        for k in np.flatnonzero(~np.isfinite(values)).tolist():
            # 1e400 is a number, but not one that can be read.
            kind = "a finite number" if words[k].lower().strip("+-")[:1] in ("i", "n") else ALLOWED
            raise self.refuse(int(line[k]), f"{kind}; found {words[k]!r}")
        unclear = (values == 0.0) | ~is_admissible(values)
        for k in (every - 1 + every * np.flatnonzero(unclear[every - 1 :: every])).tolist():
            if words[k] != "0" and not is_written_admissibly(words[k]):
                raise self.refuse(int(line[k]), f"{ALLOWED}; found {words[k]!r}")
        return values

    def entries(self, m: int, sizes: Index) -> FileEntries:
        """Everything that is left, five numbers each."""
        on_lines = np.bincount(np.array(self.line[self._taken :], dtype=np.intp))
        dense = (m + 1) * int(np.where(sizes > 0, sizes * sizes, -sizes).sum())
        if len(self.words) - self._taken == dense and (
            5 not in on_lines or has_ending(self.name, ".dat", ".dat.gz")
        ):
            raise FileFormatError(
                f"{self.name}: this looks like an SDPA dense file; SDPA sparse files are read."
            )
        words, line = self.take(len(self.words) - self._taken, _ENTRY, every=5)
        if len(words) % 5:
            count = np.bincount(line)
            bad = int(np.flatnonzero(count % 5)[-1])
            raise self.refuse(bad, f"{_ENTRY}; found {count[bad]}")
        table = self.values(words, line, every=5).reshape(-1, 5)

        def insist(holds: NDArray[np.bool_], expected: str) -> None:
            if not holds.all():
                bad = int(np.argmin(holds))
                found = " ".join(f"{x:g}" for x in table[bad])
                raise self.refuse(int(line[5 * bad]), f"{expected}; found the entry {found}")

        where = table[:, :4]
        insist((where == np.floor(where)).all(axis=1), "whole numbers for matrix, block and place")
        matrix, block, i, j = where.T
        insist((matrix >= 0) & (matrix <= m), f"a matrix from 0 to {m}")
        insist((block >= 1) & (block <= len(sizes)), f"a block from 1 to {len(sizes)}")
        size = sizes[block.astype(np.intp) - 1]
        inside = (np.minimum(i, j) >= 1) & (np.maximum(i, j) <= np.abs(size))
        insist(inside, "row and column from 1 to the size of the block")
        insist((size > 0) | (i == j), "an entry on the diagonal, as the block has a negative size")
        entries, clash = FileEntries(where.T.astype(np.intp), table[:, 4]).upper()
        insist(~clash, "each entry once, or alike in both triangles")
        return entries
