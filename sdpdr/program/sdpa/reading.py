"""Programs are read from the SDPA sparse format."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import ALLOWED, Array, Index, is_admissible, is_written_admissibly
from sdpdr.base.errors import FileFormatError, RelaxedWarning, warn
from sdpdr.base.files import has_ending
from sdpdr.program.entries import FileEntries
from sdpdr.program.point import PsdVariable, Variable, VectorVariable
from sdpdr.program.rows import Expression, Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sdpa.other_formats import dense_size, recognized

# SDPA reads these as blanks; "2=mDIM" is the number 2 and a remark.
_SEPARATORS = str.maketrans(",{}()[]=;:", "          ")
# In the names that `write_sdpa` notes, a d between digits is a letter.
_FORTRAN_EXPONENT = re.compile(
    r"""(?P<name>^\s*["*]\s*sdpdr\s+(?:block|rows)\s.*$)|(?<=[\d.])[dD](?=[+-]?\d)""", re.MULTILINE
)
_END_OF_DOS_FILE = "\x1a"
# Entries of larger blocks have no number of 64 bits.
_LARGEST_ORDER = 2**31 - 1
_WHOLE = re.compile(r"[+-]?\d+")
# Users edit files: blanks, case, spelling and the mark of a comment may differ from what we write.
_NOTE = re.compile(r"""\s*["*][\s"*]*(?P<words>sdpdr\s*:.*)""", re.IGNORECASE)
_SENSE = re.compile(
    r"sdpdr\s*:\s*(?P<sense>max|min)imi[sz]e\s*,\s*constant\s+(?P<constant>\S+)\s*", re.IGNORECASE
)
_NAME = re.compile(r"""\s*["*]\s*sdpdr\s+(?P<what>block|rows)\s+(?P<k>\d+)\s+(?P<name>".*")\s*""")
_RELAXED = re.compile(r"""\s*["*][\s"*]*(INTEGER|RANK1)\b(?P<rest>.*)""", re.IGNORECASE)
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
        With the name of the file, the line, and what was expected there; or with the format that
        the file seems to have.

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
    text = _text(path)
    other = recognized(path.name, text)
    if other:
        raise FileFormatError(f"{path.name}: this looks like {other}; SDPA sparse files are read.")
    source = _Source(path.name, text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    maximize, constant = source.sense()
    m = source.count("the number of rows (mDIM)", least=0)
    sizes = source.sizes(source.count("the number of blocks (nBLOCK)", least=1))
    rhs = source.vector(m)
    entries = source.entries(m, sizes)
    names, groups = source.names(len(sizes), m)
    source.warn_of_relaxation()
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


@dataclass
class _Source:
    """Lines of a file, from which numbers are taken in order; errors name the line."""

    name: str
    lines: list[str]
    taken: int = 0  # lines

    def fail(self, line: int, expected: str) -> NoReturn:
        raise FileFormatError(f"{self.name}, line {line}: expected {expected}.")

    def refuse_dense(self) -> NoReturn:
        raise FileFormatError(
            f"{self.name}: this looks like an SDPA dense file; SDPA sparse files are read."
        )

    # -- numbers -----------------------------------------------------------------------------

    def next_words(self, expected: str) -> list[str]:
        """Words of the next line that is neither blank nor a comment."""
        words: list[str] = []
        while not words:
            if self.taken == len(self.lines):
                self.fail(self.taken, f"{expected}, but the file ends")
            words = _words(self.lines[self.taken])
            self.taken += 1
        return words

    def count(self, what: str, least: int) -> int:
        """The number that begins the next line; the rest of the line is a remark."""
        expected = f"{what}, a whole number of at least {least}"
        word, *rest = self.next_words(expected)
        if not _WHOLE.fullmatch(word) or int(word) < least:
            self.fail(self.taken, f"{expected}; found {word!r}")
        if rest and _is_number(rest[0]):
            self.fail(self.taken, f"{expected}, alone on its line; found {rest[0]!r} after it")
        return int(word)

    def numbers_over_lines(self, n: int, expected: str) -> tuple[list[str], list[int]]:
        """The next numbers, and their lines; after the last one a remark may end its line."""
        found: list[str] = []
        lines: list[int] = []
        while len(found) < n:
            words = self.next_words(expected)
            numeric = [_is_number(word) for word in words]
            many = numeric.index(False) if False in numeric else len(words)
            found += words[:many]
            lines += [self.taken] * many
            if len(found) < n and many < len(words):
                self.fail(self.taken, f"{expected}, each a number; found {words[many]!r}")
            if len(found) > n:
                self.fail(self.taken, f"{expected}; found more")
            if any(numeric[many:]):
                self.fail(self.taken, f"{expected}; found numbers in the remark behind them")
        return found, lines

    def sizes(self, n_blocks: int) -> Index:
        """The sizes of the blocks."""
        expected = f"{n_blocks} sizes of blocks (bLOCKsTRUCT), whole numbers other than 0"
        words, lines = self.numbers_over_lines(n_blocks, expected)
        for word, line in zip(words, lines, strict=True):
            if not _WHOLE.fullmatch(word) or int(word) == 0:
                self.fail(line, f"{expected}; found {word!r}")
            if abs(int(word)) > _LARGEST_ORDER:
                self.fail(line, f"sizes up to {_LARGEST_ORDER}; found {word}")
        return np.array([int(word) for word in words], dtype=np.int64)

    def vector(self, m: int) -> Array:
        """Numbers of the vector c."""
        words, lines = self.numbers_over_lines(m, f"the {m} numbers of c")
        return self.numbers(words, np.array(lines, dtype=np.int64))

    def numbers(self, words: Sequence[str], line: Index, every: int = 1) -> Array:
        """Finite numbers, where word k stands on ``line[k]``; the last of ``every`` are data."""
        values = np.array(words, dtype=float)
        for k in np.flatnonzero(~np.isfinite(values)).tolist():
            # 1e400 is a number, but not one that can be read.
            kind = "a finite number" if words[k].lower().strip("+-")[:1] in ("i", "n") else ALLOWED
            self.fail(int(line[k]), f"{kind}; found {words[k]!r}")
        unclear = (values == 0.0) | ~is_admissible(values)
        for k in (every - 1 + every * np.flatnonzero(unclear[every - 1 :: every])).tolist():
            if words[k] != "0" and not is_written_admissibly(words[k]):
                self.fail(int(line[k]), f"{ALLOWED}; found {words[k]!r}")
        return values

    def entries(self, m: int, sizes: Index) -> FileEntries:
        """Everything that is left, five numbers each."""
        by_line = [_words(line) for line in self.lines[self.taken :]]
        words = list(chain.from_iterable(by_line))
        if not _are_numbers(words):
            by_line = self.without_remarks(by_line)
            words = list(chain.from_iterable(by_line))
        count = np.array([len(found) for found in by_line], dtype=np.int64)
        seems_dense = len(words) == dense_size(m, sizes) and (
            5 not in count or has_ending(self.name, ".dat", ".dat.gz")
        )
        if len(words) % 5:
            if seems_dense:
                self.refuse_dense()
            bad = int(np.flatnonzero(count % 5)[-1])
            self.fail(self.taken + bad + 1, f"{_ENTRY}; found {count[bad]}")
        line = np.repeat(self.taken + 1 + np.arange(count.size), count)
        table = self.numbers(words, line, every=5).reshape(-1, 5)
        line = line[::5]

        def insist(holds: NDArray[np.bool_], expected: str) -> None:
            if holds.all():
                return
            if seems_dense:
                self.refuse_dense()
            bad = int(np.argmin(holds))
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

    def without_remarks(self, by_line: list[list[str]]) -> list[list[str]]:
        """The numbers of each line; words may only follow a complete entry and end their line."""
        found, count = [], 0
        for k, words in enumerate(by_line):
            numeric = [_is_number(word) for word in words]
            many = numeric.index(False) if False in numeric else len(words)
            count += many
            if many < len(words):
                line, word = self.taken + k + 1, words[many]
                if count % 5:
                    self.fail(line, f"{_ENTRY}, each a number; found {word!r}")
                if any(numeric[many:]):
                    self.fail(line, f"{_ENTRY}; found numbers in the remark {word!r} behind them")
            found.append(words[:many])
        return found

    # -- comments ----------------------------------------------------------------------------

    def sense(self) -> tuple[bool, float]:
        """Whether it is a maximisation, and its constant, as `write_sdpa` may have noted."""
        found: tuple[bool, float] | None = None
        for line, text in enumerate(self.lines, start=1):
            noted = _NOTE.match(text)
            if noted is None:
                continue
            read = self.read_sense(line, noted["words"].strip())
            if found not in (None, read):
                self.fail(line, f"one sense and constant; found another note, {text.strip()!r}")
            found = read
        return found or (True, 0.0)

    def read_sense(self, line: int, words: str) -> tuple[bool, float]:
        """Read a note; a misspelt one is refused, since ignoring it would change the program."""
        noted = _SENSE.fullmatch(words)
        if noted is None:
            form = "'sdpdr: minimise, constant 0.0' or 'sdpdr: maximise, constant 0.0'"
            self.fail(line, f"a note like {form}; found {words!r}")
        if not _is_number(noted["constant"]):
            self.fail(line, f"a number; found {noted['constant']!r}")
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

    def warn_of_relaxation(self) -> None:
        """Warn of sections that restrict the program beyond what is solved."""
        # Titles above the numbers may begin with these words; a section is below the first number.
        first = next(k for k, text in enumerate(self.lines) if _words(text))
        found = [
            match[1].upper()
            for k, text in enumerate(self.lines)
            if (match := _RELAXED.fullmatch(text)) and (k > first or not match["rest"].strip())
        ]
        if found:
            sections = " and ".join(f"*{section}" for section in dict.fromkeys(found))
            warn(
                f"{self.name} has a section {sections}, which is ignored: the relaxation is read, "
                "and its optimum is a bound on that of the program.",
                RelaxedWarning,
            )


def _words(line: str) -> list[str]:
    return [] if line.lstrip()[:1] in ('"', "*") else line.translate(_SEPARATORS).split()


def _are_numbers(words: list[str]) -> bool:
    try:
        np.array(words, dtype=float)
    except ValueError:
        return False
    # Python reads 1_0 as ten; in a file it is a slip.
    return not any("_" in word for word in words)


def _is_number(word: str) -> bool:
    return _are_numbers([word])
