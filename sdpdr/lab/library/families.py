"""Families of problems: a card with a hole for its size, and what is known for every size.

The members of a family are ordinary cards, for plots of how time and memory grow. The keys of a
family's file are described in ``problems/README.md``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import pairwise
from math import pi, sin
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sdpdr.base.checks import choice
from sdpdr.base.errors import CardError
from sdpdr.lab.library.card import Card, described
from sdpdr.lab.library.expectation import PROVENANCES, Expectation, Size
from sdpdr.lab.library.fields import TomlTable, read_toml


def straight_path(n: int) -> float:
    """Variance of n points at distance one along a line.

    Examples
    --------
    >>> straight_path(3)
    2.0
    """
    return n * (n * n - 1) / 12.0


def regular_polygon(n: int) -> float:
    """Variance of the regular polygon of n sides of length one.

    Examples
    --------
    >>> round(regular_polygon(4), 12)
    2.0
    """
    return n / (4.0 * sin(pi / n) ** 2)


def points_on_unit_circle(n: int) -> float:
    """Variance of n points at equal steps around a circle of radius one.

    Examples
    --------
    >>> points_on_unit_circle(100)
    100.0
    """
    return float(n)


FORMULAS: Mapping[str, Callable[[int], float]] = MappingProxyType(
    {
        formula.__name__: formula
        for formula in (straight_path, regular_polygon, points_on_unit_circle)
    }
)
"""Formulas by name."""


def shelf(*inside: str) -> dict[str, Path]:
    """The TOML files of a folder of problems, by name, numbers inside names by their size.

    Parameters
    ----------
    *inside : str
        Names of folders; none for the cards themselves.

    Examples
    --------
    >>> list(shelf("families"))[:2]
    ['apart-roll', 'colored-swiss-roll']
    """
    found = _folder().joinpath(*inside).glob("*.toml")
    return {path.stem: path for path in sorted(found, key=lambda path: _natural(path.stem))}


def on_shelf(kind: str, name: str, folder: str) -> Path:
    """The path of what a folder of problems has under a name, or that of a file.

    Raises
    ------
    UnknownNameError
        Offering the nearest name; ``kind`` says what it is a name of.
    """
    if name.endswith(".toml"):
        return Path(name)
    known = shelf(folder)
    choice(kind, name, known)
    return known[name]


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in name.split("-")]


def _folder() -> Path:
    """Problems lie inside an installed package, and beside it in a checkout."""
    package = Path(str(files("sdpdr")))
    inside = package / "lab" / "library" / "problems"
    return inside if inside.is_dir() else package.parent / "problems"


UNREFERENCED = "Nothing is known of this size but that there is an optimum."


@dataclass(frozen=True, eq=False)
class References:
    """Optimal values of members of a family.

    Attributes
    ----------
    values : mapping from int to float
        Of single sizes.
    formula : callable or None
        Of every size, instead.
    provenance, source : str
        As of `sdpdr.lab.library.expectation.Expectation`.
    """

    values: Mapping[int, float]
    formula: Callable[[int], float] | None = None
    provenance: str = "none"
    source: str = UNREFERENCED

    @classmethod
    def read(cls, table: TomlTable) -> References:
        """From the table ``[references]``, which may be empty.

        Raises
        ------
        CardError
        """
        table.allow("provenance", "source", "formula", "values")
        if not table.content:
            return cls({})
        if ("formula" in table) == ("values" in table):
            raise table.error("values", "expected one of formula, values")
        by_formula = "formula" in table
        return cls(
            values=_values(table.table("values", optional=True)),
            formula=FORMULAS[table.choice("formula", tuple(FORMULAS))] if by_formula else None,
            provenance=table.choice("provenance", PROVENANCES),
            source=table.text("source"),
        )

    def at(self, size: int) -> Expectation:
        """What is expected of a member: its value where it is known, else an optimum."""
        value = self.values.get(size) if self.formula is None else self.formula(size)
        if value is None:
            return Expectation(source=UNREFERENCED, provenance="none")
        return Expectation(source=self.source, provenance=self.provenance, value=value, gap=1e-6)


@dataclass(frozen=True, eq=False)
class Family:
    """Problems that differ in one number.

    Attributes
    ----------
    name : str
        Name of the file without its suffix.
    title, reference : str
    tags : tuple of str
    varies : tuple of str
        Keys that take the size, such as ``"data.n"``.
    sizes : tuple of int
        Suggested ones, rising. Any other may be asked for.
    slow_from : int or None
        Size from which a member takes minutes rather than seconds.
    references : References
    pattern : Card
        The member of the first suggested size.

    Examples
    --------
    >>> family = find_family("swiss-roll")
    >>> family.varies, family.sizes[:3]
    (('data.n',), (50, 100, 200))
    >>> card = family.at(50)
    >>> card.name, card.expect.provenance
    ('swiss-roll@50', 'certified')
    >>> all(finding.holds for finding in card.check(card.solve()))
    True
    """

    name: str
    title: str
    reference: str
    tags: tuple[str, ...]
    varies: tuple[str, ...]
    sizes: tuple[int, ...]
    slow_from: int | None
    references: References
    pattern: Card

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Family:
        """Read and validate a family.

        Raises
        ------
        FileFormatError
            The file cannot be read or is not TOML.
        CardError
            A key is missing, unknown or has a value that is not allowed.
        """
        file = read_toml(path, "family")
        file.allow("about", "family", "data", "graph", "method", "references", "run")
        growth = file.table("family")
        growth.allow("varies", "sizes", "slow_from")
        varies = tuple(_keys(growth))
        sizes = tuple(_sizes(growth))
        if "run" in file:
            file.table("run").allow("solver", "form", "tol")
        parts = described(_with_size(file, growth, varies, sizes[0]))
        references = References.read(file.table("references", optional=True))
        name = Path(path).stem
        first = Card(
            name=f"{name}@{sizes[0]}",
            expect=references.at(sizes[0]),
            size=Size(sizes[0], edges=None if parts["graph"] else 0),
            **parts,
        )
        return cls(
            name=name,
            title=first.title,
            reference=first.reference,
            tags=first.tags,
            varies=varies,
            sizes=sizes,
            slow_from=growth.count("slow_from") if "slow_from" in growth else None,
            references=references,
            pattern=first,
        )

    @property
    def method(self) -> Mapping[str, Any]:
        """The method of all members, with the size of the first where it varies."""
        return self.pattern.method

    def at(self, size: int) -> Card:
        """The member of a size: ``n`` nodes of the graph, or points where there is none.

        Parameters
        ----------
        size : int

        Returns
        -------
        Card
            It expects the reference value of that size, or, where none is known, an optimum.

        Raises
        ------
        CardError
            The size is not a whole number of at least one.
        """
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise CardError(
                f"family {self.name}: a size is a whole number of at least 1; got {size!r}."
            )
        pattern = self.pattern
        slow = self.slow_from is not None and size >= self.slow_from
        return replace(
            pattern,
            name=f"{self.name}@{size}",
            title=f"{self.title}, n = {size}",
            data=self._sized("data", size),
            graph=self._sized("graph", size),
            method=self._sized("method", size),
            expect=self.references.at(size),
            size=replace(pattern.size, n=size),
            run=replace(pattern.run, slow=slow),
        )

    def _sized(self, table: str, size: int) -> Mapping[str, Any]:
        taken = [key.partition(".")[2] for key in self.varies if key.startswith(f"{table}.")]
        content: Mapping[str, Any] = getattr(self.pattern, table)
        return {**content, **dict.fromkeys(taken, size)}


def families() -> Mapping[str, Family]:
    """All families shipped, by name.

    Examples
    --------
    >>> "swiss-roll" in families()
    True
    """
    return MappingProxyType({name: Family.load(path) for name, path in shelf("families").items()})


def find_family(name: str) -> Family:
    """A family of the library by its name, or any other by the path of its file.

    Parameters
    ----------
    name : str
        A path if it ends in ``.toml``.

    Raises
    ------
    UnknownNameError
        Offering the nearest name.
    FileFormatError, CardError
        As `Family.load`.
    """
    return Family.load(on_shelf("family", name, "families"))


def _keys(growth: TomlTable) -> list[str]:
    """The keys that take the size, as table.key."""
    given = growth.content.get("varies")
    keys = [given] if isinstance(given, str) else growth.texts("varies")
    if not keys:
        raise growth.error("varies", 'is empty: write a key, such as "data.n"')
    for key in keys:
        table, dot, word = key.partition(".")
        if table not in ("data", "graph", "method") or not dot or not word:
            raise growth.error(
                "varies", f"got {key!r}; expected a key of data, graph or method, as in 'data.n'"
            )
    return keys


def _sizes(growth: TomlTable) -> list[int]:
    sizes = growth.list_of("sizes", "whole numbers above 0", int)
    if sizes[0] < 1 or any(first >= second for first, second in pairwise(sizes)):
        raise growth.error("sizes", f"expected rising numbers above 0, got {sizes!r}")
    return sizes


def _with_size(file: TomlTable, growth: TomlTable, varies: tuple[str, ...], size: int) -> TomlTable:
    """The file as that of a card, with the size where it varies."""
    content = {
        key: dict(value) if isinstance(value, dict) else value
        for key, value in file.content.items()
        if key not in ("family", "references")
    }
    for key in varies:
        table, _, word = key.partition(".")
        if table not in content:
            raise growth.error("varies", f"got {key!r}, but there is no [{table}]")
        if word in content[table]:
            raise growth.error("varies", f"{key} takes the size, and is given as well: drop it")
        content[table][word] = size
    return replace(file, content=content)


def _values(table: TomlTable) -> Mapping[int, float]:
    for key in table.content:
        if not (key.isascii() and key.isdecimal() and int(key) >= 1):
            raise table.error(key, "is no size: write a whole number above 0 as the key")
    return {int(key): table.number(key) for key in table.content}
