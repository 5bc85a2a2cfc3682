"""Letters for the arrays of a formula, so that what is printed says which rows it means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np

from sdpdr.base.arrays import Index

_PLACES, _NUMBERS, _VECTORS, _MATRICES = "ijklpqrs", "badfgh", "cuvxyz", "CABDEFG"

Words = tuple[str, str]
"""A piece of mathematics as plain text and as LaTeX."""


@dataclass(frozen=True, eq=False)
class Letters:
    """Gives each array of a formula a letter: the same array, the same letter."""

    where: dict[str, Any] = field(default_factory=dict)
    rows: Index | None = None
    taken: frozenset[str] = frozenset()
    known: Mapping[str, Any] = field(default_factory=dict)

    def at(self, rows: Index) -> Letters:
        """The same letters, where only some rows of the arrays are meant."""
        return replace(self, rows=rows if self.rows is None else rows[self.rows])

    def inside(self) -> Letters:
        """The same letters inside a sum, which has rows of its own."""
        return replace(self, rows=None)

    def places(self, index: Any) -> str:
        """The letter of an array of indices, or the index where all are one."""
        array = self._meant(index)
        if array.size and np.ptp(array) == 0:
            return str(array.flat[0])
        return self._letter(array, _PLACES)

    def numbers(self, values: Any) -> str:
        """The letter of an array with a number for each row, or the number where all are one."""
        array = self._meant(values)
        if array.size and np.ptp(array) == 0.0:
            return f"{array.flat[0]:g}"
        return f"{self._letter(array, _NUMBERS)}_e"

    def data(self, values: Any) -> str:
        """The letter of a matrix or vector of data, all of it."""
        return self._letter(values, _MATRICES if values.ndim == 2 else _VECTORS)

    def matrix_of_rows(self, values: Any) -> str:
        """The letter of a matrix of data with a row for each row of the formula."""
        return self._letter(values if self.rows is None else values[self.rows], _MATRICES)

    def stack(self, values: Any) -> str:
        """The letter of matrices of data behind each other, of shape (q, n, n)."""
        return self._letter(values, _MATRICES)

    def symbol(self, name: str, values: Any) -> str:
        """A letter that is chosen, with a mark behind it where it means something else."""
        while name in self.known and not _same(self.known[name], values):
            name += "'"
        self.where[name] = values
        return name

    def rows_of(self, linear_map: Any) -> str:
        """The letter of the matrices of a map's rows."""
        return self._letter(
            linear_map if self.rows is None else linear_map.take(self.rows), _MATRICES
        )

    def within(self, words: Words) -> Words:
        """A vector's words, with an index where only some of its values are meant."""
        if self.rows is None:
            return words
        e = self.places(np.arange(int(self.rows.max(initial=0)) + 1))
        return f"({words[0]})_{e}", f"({words[1]})_{{{e}}}"

    def _meant(self, values: Any) -> Any:
        array = np.asarray(values)
        return array if self.rows is None else array[self.rows]

    def _letter(self, array: Any, alphabet: str) -> str:
        meant = {**self.known, **self.where}
        for letter, known in meant.items():
            if letter.rstrip("'") in alphabet and _same(known, array):
                self.where[letter] = known
                return letter
        free = (letter + "'" * k for k in count() for letter in alphabet)
        letter = next(x for x in free if x not in meant and x not in self.taken)
        self.where[letter] = array
        return letter


def _same(a: Any, b: Any) -> bool:
    return a is b or (
        isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    )


def subscripted(name: str, *places: str) -> Words:
    """A name with indices."""
    if not places:
        return name, name
    index = ("" if all(p.isalpha() for p in places) else ",").join(places)
    return f"{name}_{index}", f"{name}_{{{index}}}"


def times(factor: str, words: Words) -> Words:
    """A multiple; sums get parentheses, one and minus one are not written."""
    if factor == "1":
        return words
    plain, latex = (closed(part) for part in words)
    if factor == "-1" and plain == f"({words[0]})" and closed(words[0][1:]) == words[0][1:]:
        return words[0][1:], words[1][1:]
    if factor == "-1":
        return f"−{plain}", f"-{latex}"
    return f"{factor} {plain}".replace("-", "−", factor.startswith("-")), f"{factor} {latex}"


def summed(parts: Iterable[Words]) -> Words:
    """A sum; what begins with a minus is subtracted."""
    plain, latex = (" + ".join(part) for part in zip(*parts, strict=True))
    return plain.replace("+ −", "− "), latex.replace("+ -", "- ")


def closed(words: str) -> str:
    """Words in parentheses, if they are a sum."""
    depth, within = 0, False
    for k, letter in enumerate(words):
        depth += (letter in "({[⟨") - (letter in ")}]⟩")
        within ^= letter == "|"
        if depth == 0 and not within and words[k : k + 3] in (" + ", " − ", " - "):
            return f"({words})"
    return f"({words})" if words[:1] in ("−", "-") else words
