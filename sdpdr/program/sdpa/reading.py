"""Programs are read from the SDPA sparse format."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import ALLOWED, Array, Index, is_admissible, is_written_admissibly
from sdpdr.base.errors import FileFormatError
from sdpdr.program.entries import FileEntries
from sdpdr.program.point import PsdVariable, Variable, VectorVariable
from sdpdr.program.rows import Expression, Rows
from sdpdr.program.sdp import SDP

_PUNCTUATION = str.maketrans(",{}()", "     ")
# In names, a d between digits is a letter.
_FORTRAN_EXPONENT = re.compile(
    r"""(?P<named>^\s*["*]\s*sdpdr\s+(?:block|rows)\s.*$)|(?<=[\d.])[dD](?=[+-]?\d)""", re.MULTILINE
)
# Entries of larger blocks have no number of 64 bits.
_LARGEST_ORDER = 2**31 - 1
_WHOLE = re.compile(r"[+-]?\d+")
# People edit files: blanks, case, spelling and the mark of a comment may differ from what we write.
_NOTE = re.compile(r"""\s*["*][\s"*]*(?P<words>sdpdr\s*:.*)""", re.IGNORECASE)
_SENSE = re.compile(
    r"sdpdr\s*:\s*(?P<sense>max|min)imi[sz]e\s*,\s*constant\s+(?P<constant>\S+)\s*", re.IGNORECASE
)
_NAME = re.compile(r"""\s*["*]\s*sdpdr\s+(?P<what>block|rows)\s+(?P<k>\d+)\s+(?P<name>".*")\s*""")


def read_sdpa(path: str | os.PathLike[str]) -> SDP:
    r"""Read a program in SDPA sparse format.

    Comments (lines that begin with ``*`` or ``"``, wherever they stand), punctuation among the
    numbers of the first lines, words after the first numbers, Fortran exponents, entries in the
    lower triangle (or in both, if they agree) and zeros are accepted. An entry given twice is not,
    because solvers disagree on what it means; nor is a number beyond the range of
    `sdpdr.base.arrays`, 1e-100 to 1e100 in size.

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
        that begins with ``sdpdr:`` has another sense, in lower or upper case, with s or z. Comments
        may stand anywhere.

    Raises
    ------
    FileFormatError
        With the name of the file, the line, and what was expected there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> text = "2\n2\n2 -1\n1.0 0.0\n0 1 1 2 0.5\n1 1 1 1 1.0\n1 1 2 2 1.0\n2 2 1 1 1.0\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.dat-s")
    ...     _ = path.write_text(text)
    ...     read_sdpa(path)
    SDP(tiny; matrices [Y1: 2x2], 1 scalars, 2 rows, 0 matrix inequalities)
    """
    path = Path(path)
    source = _Source(path.name, _text(path).replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    maximize, constant = source.sense()
    m = source.count("the number of rows (mDIM)", least=0)
    sizes = source.sizes(source.count("the number of blocks (nBLOCK)", least=1))
    rhs = source.vector(m)
    entries = source.entries(m, sizes)
    names, groups = source.names(len(sizes), m)
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
    if path.suffix == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(
                f"{path.name}: expected a complete gzip file, by its name ({error}). Fetch it "
                "again, or drop .gz from the name of a plain file."
            ) from None
    # Editors put the mark of UTF-8 first, which is no part of the program.
    return _FORTRAN_EXPONENT.sub(
        lambda found: found["named"] or "e", data.removeprefix(codecs.BOM_UTF8).decode("latin-1")
    )


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


@dataclass
class _Source:
    """Lines of a file, taken one after the other, and errors that name them."""

    name: str
    lines: list[str]
    taken: int = 0

    def fail(self, line: int, expected: str) -> NoReturn:
        raise FileFormatError(f"{self.name}, line {line}: expected {expected}.")

    def sense(self) -> tuple[bool, float]:
        """Whether it is a maximisation, and its constant, as `write_sdpa` may have noted."""
        found: tuple[bool, float] | None = None
        for line, text in enumerate(self.lines, start=1):
            noted = _NOTE.match(text)
            if noted is None:
                continue
            told = self._told(line, noted["words"].strip())
            if found not in (None, told):
                self.fail(line, f"one sense and constant; found another note, {text.strip()!r}")
            found = told
        return found or (True, 0.0)

    def _told(self, line: int, words: str) -> tuple[bool, float]:
        """What a note says, which nobody would miss if it were passed over as a comment."""
        noted = _SENSE.fullmatch(words)
        if noted is None:
            form = "'sdpdr: minimise, constant 0.0' or 'sdpdr: maximise, constant 0.0'"
            self.fail(line, f"a note like {form}; found {words!r}")
        constant = self.numbers([noted["constant"]], np.array([line]))
        return noted["sense"].lower() == "max", float(constant[0])

    def names(self, n_blocks: int, m: int) -> tuple[list[str], list[tuple[str, int]]]:
        """Names of the blocks, and of the rows with how many there are, as noted or by default."""
        blocks = [f"Y{b}" for b in range(1, n_blocks + 1)]
        groups: list[tuple[str, int]] = []
        line = 0
        for line_, text in enumerate(self.lines, start=1):
            noted = _NAME.fullmatch(text)
            if noted is None:
                continue
            line, k = line_, int(noted["k"])
            try:
                name = json.loads(noted["name"])
            except json.JSONDecodeError:
                self.fail(line, f"a name between quotation marks; found {noted['name']}")
            if noted["what"] == "rows":
                groups.append((name, k))
            elif 1 <= k <= n_blocks:
                blocks[k - 1] = name
            else:
                self.fail(line, f"a block from 1 to {n_blocks}; found a name of block {k}")
        labels = [label for label, _ in groups]
        if len(set(blocks)) < n_blocks or len(set(labels)) < len(labels):
            self.fail(line, "names that differ; found one of them twice")
        if groups and sum(size for _, size in groups) != m:
            self.fail(line, f"names of {m} rows; found {sum(size for _, size in groups)}")
        return blocks, groups or ([("rows", m)] if m else [])

    def words(self, expected: str) -> list[str]:
        """Words of the next line that is neither blank nor a comment."""
        words: list[str] = []
        while not words:
            if self.taken == len(self.lines):
                self.fail(self.taken, f"{expected}, but the file ends")
            words = _words(self.lines[self.taken])
            self.taken += 1
        return words

    def count(self, what: str, least: int) -> int:
        """First number of a line; what follows it is remark."""
        word = self.words(what)[0]
        if not word.isdecimal() or int(word) < least:
            self.fail(self.taken, f"{what}, a whole number of at least {least}; found {word!r}")
        return int(word)

    def sizes(self, n_blocks: int) -> Index:
        """The sizes of the blocks; what follows them is remark."""
        expected = f"{n_blocks} sizes of blocks (bLOCKsTRUCT), whole numbers other than 0"
        words = self.words(expected)
        sizes = [int(word) for word in takewhile(_WHOLE.fullmatch, words)]
        if any(abs(size) > _LARGEST_ORDER for size in sizes):
            self.fail(self.taken, f"sizes up to {_LARGEST_ORDER}; found {max(map(abs, sizes))}")
        if len(sizes) != n_blocks or 0 in sizes:
            self.fail(self.taken, f"{expected}, all on one line; found {' '.join(words)[:60]!r}")
        return np.array(sizes, dtype=np.int64)

    def vector(self, m: int) -> Array:
        """Numbers of the vector c."""
        if m == 0:
            return np.zeros(0)
        expected = f"the {m} numbers of c, all on one line"
        words = self.words(expected)
        if len(words) != m:
            self.fail(self.taken, f"{expected}; found {len(words)}")
        return self.numbers(words, np.full(m, self.taken))

    def numbers(self, words: list[str], line: Index, every: int = 1) -> Array:
        """Finite numbers, where word k stands on ``line[k]``; the last of ``every`` are data."""
        try:
            values = _floats(words)
        except ValueError:
            bad = next(k for k, word in enumerate(words) if not _is_number(word))
            self.fail(int(line[bad]), f"a number; found {words[bad]!r}")
        for k in np.flatnonzero(~np.isfinite(values)):
            # 1e400 is a number, but not one that can be read.
            kind = "a finite number" if words[k].lower().strip("+-")[:1] in ("i", "n") else ALLOWED
            self.fail(int(line[k]), f"{kind}; found {words[k]!r}")
        unclear = (values == 0.0) | ~is_admissible(values)
        for k in every - 1 + every * np.flatnonzero(unclear[every - 1 :: every]):
            if words[k] != "0" and not is_written_admissibly(words[k]):
                self.fail(int(line[k]), f"{ALLOWED}; found {words[k]!r}")
        return values

    def entries(self, m: int, sizes: Index) -> FileEntries:
        """Everything that is left: lines of matrix, block, row, column, value."""
        form = "five numbers: matrix, block, row, column, value"
        remark = '; a comment begins with * or " and has a line of its own'
        rest = [_words(line) for line in self.lines[self.taken :]]
        count = np.array([len(words) for words in rest], dtype=np.int64)
        for bad in np.flatnonzero((count != 0) & (count != 5)):
            found = f"{form}; found {count[bad]} words"
            self.fail(self.taken + bad + 1, found if _are_numbers(rest[bad]) else found + remark)
        line = self.taken + 1 + np.flatnonzero(count)
        table = self.numbers(list(chain.from_iterable(rest)), np.repeat(line, 5), every=5)
        table = table.reshape(-1, 5)

        def insist(holds: NDArray[np.bool_], expected: str) -> None:
            for bad in np.flatnonzero(~holds):
                found = " ".join(f"{x:g}" for x in table[bad])
                self.fail(int(line[bad]), f"{expected}; found the entry {found}")

        where = table[:, :4]
        insist((where == np.floor(where)).all(axis=1), "whole numbers for matrix, block and place")
        matrix, block, i, j = where.T
        insist((matrix >= 0) & (matrix <= m), f"a matrix from 0 to {m}")
        insist((block >= 1) & (block <= len(sizes)), f"a block from 1 to {len(sizes)}")
        size = sizes[block.astype(np.int64) - 1]
        inside = (np.minimum(i, j) >= 1) & (np.maximum(i, j) <= np.abs(size))
        insist(inside, "row and column from 1 to the size of the block")
        insist((size > 0) | (i == j), "an entry on the diagonal, as the block has a negative size")
        entries, clash = FileEntries(where.T.astype(np.int64), table[:, 4]).upper()
        insist(~clash, "each entry once, or alike in both triangles")
        return entries


def _is_comment(line: str) -> bool:
    return line.lstrip()[:1] in ('"', "*")


def _words(line: str) -> list[str]:
    return [] if _is_comment(line) else line.translate(_PUNCTUATION).split()


def _are_numbers(words: list[str]) -> bool:
    return all(map(_is_number, words))


def _is_number(word: str) -> bool:
    try:
        _floats([word])
    except ValueError:
        return False
    return True


def _floats(words: list[str]) -> Array:
    # Python reads 1_0 as ten; in a file it is a slip.
    if any("_" in word for word in words):
        raise ValueError("an underscore is no part of a number")
    return np.array(words, dtype=float)
