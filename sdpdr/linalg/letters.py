"""Letters for the arrays of a printed formula, so that readers can tell the arrays apart."""

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
    """Gives each array of a formula a letter, and equal arrays the same letter.

    Attributes
    ----------
    where : dict from letter to array
        The letters used so far.
    rows : array of int or None
        The rows of the arrays that a formula refers to; None for all.
    taken : frozenset of str
        Letters that must not be used.
    known : mapping from letter to array
        Letters of other formulas, which keep their meaning.
    """

    where: dict[str, Any] = field(default_factory=dict)
    rows: Index | None = None
    taken: frozenset[str] = frozenset()
    known: Mapping[str, Any] = field(default_factory=dict)

    def at(self, rows: Index) -> Letters:
        """The same letters, for some rows of the arrays."""
        return replace(self, rows=rows if self.rows is None else rows[self.rows])

    def inside(self) -> Letters:
        """The same letters inside a sum, which has its own rows."""
        return replace(self, rows=None)

    def places(self, index: Any) -> str:
        """The letter of an array of indices, or the index if all are equal."""
        array = self._meant(index)
        if array.size and np.ptp(array) == 0:
            return str(array.flat[0])
        return self._letter(array, _PLACES)

    def numbers(self, values: Any) -> str:
        """The letter of an array with a number for each row, or the number if all are equal."""
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
        """The letter of an array of matrices, of shape (q, n, n)."""
        return self._letter(values, _MATRICES)

    def symbol(self, name: str, values: Any) -> str:
        """The given letter, with a prime if the letter already has another meaning."""
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
        """The formula of a vector, with an index if it refers to some of its values."""
        if self.rows is None:
            return words
        e = self.places(np.arange(int(self.rows.max(initial=0)) + 1))
        return f"({words[0]})_{e}", f"({words[1]})_{{{e}}}"

    def _meant(self, values: Any) -> Any:
        """The rows of an array that the formula refers to."""
        array = np.asarray(values)
        return array if self.rows is None else array[self.rows]

    def _letter(self, array: Any, alphabet: str) -> str:
        """The letter of an equal array, or the first free letter of the alphabet."""
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
    """Whether both are one object, or equal arrays."""
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
    """A multiple of a formula; sums get parentheses, and a factor of one is not written."""
    if factor == "1":
        return words
    plain, latex = (closed(part) for part in words)
    if factor == "-1" and plain == f"({words[0]})" and closed(words[0][1:]) == words[0][1:]:
        return words[0][1:], words[1][1:]
    if factor == "-1":
        return f"−{plain}", f"-{latex}"
    return f"{factor} {plain}".replace("-", "−", factor.startswith("-")), f"{factor} {latex}"


def summed(parts: Iterable[Words]) -> Words:
    """A sum of formulas; a formula that begins with a minus is subtracted."""
    plain, latex = (" + ".join(part) for part in zip(*parts, strict=True))
    return plain.replace("+ −", "− "), latex.replace("+ -", "- ")


def closed(words: str) -> str:
    """A formula, in parentheses if it is a sum or begins with a minus."""
    depth, within = 0, False
    for k, letter in enumerate(words):
        depth += (letter in "({[⟨") - (letter in ")}]⟩")
        within ^= letter == "|"
        if depth == 0 and not within and words[k : k + 3] in (" + ", " − ", " - "):
            return f"({words})"
    return f"({words})" if words[:1] in ("−", "-") else words
