"""The cards and families that are shipped, and how to find them by name.

A family is a card whose size varies, for plots of how time and memory grow; its members are
ordinary cards. The keys of a family's file are described in ``problems/README.md``.
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
from sdpdr.base.errors import CardError, UnknownNameError
from sdpdr.base.files import has_ending
from sdpdr.lab.library.card import PROVENANCES, Card, Expectation, Size, described
from sdpdr.lab.library.vocabulary import TomlTable, read_toml


def shelf(*inside: str) -> dict[str, Path]:
    """Return the TOML files of a folder of problems by name, sorted with numbers by value.

    Examples
    --------
    >>> list(shelf("families"))[:2]
    ['apart-roll', 'colored-swiss-roll']
    """
    # Problems lie inside an installed package, and beside it in a checkout.
    package = Path(str(files("sdpdr")))
    installed = package / "lab" / "library" / "problems"
    folder = installed if installed.is_dir() else package.parent / "problems"
    found = sorted(folder.joinpath(*inside).glob("*.toml"), key=lambda path: _natural(path.stem))
    return {path.stem: path for path in found}


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in name.split("-")]


def on_shelf(kind: str, name: str, folder: str) -> Path:
    """Return the path of a file in a folder of problems by its name, or of any TOML file."""
    if has_ending(name, ".toml"):
        return Path(name)
    known = shelf(folder)
    choice(kind, name, known)
    return known[name]


# -- families -------------------------------------------------------------------------------------

FORMULAS: Mapping[str, Callable[[int], float]] = MappingProxyType(
    {
        # Variances of n points: at distance one along a line, of the polygon of sides one, and at
        # equal steps around a circle of radius one.
        "straight_path": lambda n: n * (n * n - 1) / 12.0,
        "regular_polygon": lambda n: n / (4.0 * sin(pi / n) ** 2),
        "points_on_unit_circle": float,
    }
)
_UNREFERENCED = "Nothing is known of this size but that there is an optimum."


@dataclass(frozen=True, eq=False)
class References:
    """Optimal values of members of a family: of single sizes, or of all by a formula."""

    values: Mapping[int, float]
    formula: Callable[[int], float] | None = None
    provenance: str = "none"
    source: str = _UNREFERENCED

    @classmethod
    def read(cls, table: TomlTable) -> References:
        """Read the table ``[references]``, which may be empty."""
        table.allow("provenance", "source", "formula", "values")
        if not table.content:
            return cls({})
        if ("formula" in table) == ("values" in table):
            raise table.error("values", "expected one of formula, values")
        by_formula, values = "formula" in table, table.table("values", optional=True)
        for key in values.content:
            if not (key.isascii() and key.isdecimal() and int(key) >= 1):
                raise values.error(key, "is no size: write a whole number above 0 as the key")
        return cls(
            values={int(key): values.number(key) for key in values.content},
            formula=FORMULAS[table.choice("formula", tuple(FORMULAS))] if by_formula else None,
            provenance=table.choice("provenance", PROVENANCES),
            source=table.text("source"),
        )

    def at(self, size: int) -> Expectation:
        """Return what is expected of a member: its value where it is known, else an optimum."""
        value = self.values.get(size) if self.formula is None else self.formula(size)
        if value is None:
            return Expectation(source=_UNREFERENCED, provenance="none")
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
        Suggested ones, rising; any other is possible.
    slow_from : int or None
        Size from which a member takes minutes rather than seconds.
    references : object
        Optimal values; ``references.at(size)`` says what is expected of a member.
    pattern : Card
        The member of the first suggested size.

    Examples
    --------
    >>> from sdpdr.lab.library.problem import find_family
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
        sizes = growth.list_of("sizes", "whole numbers above 0", int)
        if sizes[0] < 1 or any(first >= second for first, second in pairwise(sizes)):
            raise growth.error("sizes", f"expected rising numbers above 0, got {sizes!r}")
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
        slow_from = growth.count("slow_from") if "slow_from" in growth else None
        about = (name, first.title, first.reference, first.tags)
        return cls(*about, varies, tuple(sizes), slow_from, references, first)

    @property
    def method(self) -> Mapping[str, Any]:
        """The method of all members, with the size of the first where it varies."""
        return self.pattern.method

    def at(self, size: int) -> Card:
        """Return the member of a size: ``n`` nodes of the graph, or points where there is none.

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
        tables = {name: dict(getattr(pattern, name)) for name in ("data", "graph", "method")}
        for key in self.varies:
            table, _, word = key.partition(".")
            tables[table][word] = size
        slow = self.slow_from is not None and size >= self.slow_from
        return replace(
            pattern,
            name=f"{self.name}@{size}",
            title=f"{self.title}, n = {size}",
            expect=self.references.at(size),
            size=replace(pattern.size, n=size),
            run=replace(pattern.run, slow=slow),
            data=tables["data"],
            graph=tables["graph"],
            method=tables["method"],
        )


def families() -> Mapping[str, Family]:
    """Return all families shipped, by name.

    Examples
    --------
    >>> from sdpdr.lab.library.problem import families
    >>> "swiss-roll" in families()
    True
    """
    return MappingProxyType({name: Family.load(path) for name, path in shelf("families").items()})


def find_family(name: str) -> Family:
    """Return a family of the library by its name, or any other by the path of its file.

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

    Examples
    --------
    >>> from sdpdr.lab.library.problem import find_family
    >>> find_family("signs").varies
    ('data.n', 'data.m')
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
            words = f"got {key!r}; expected a key of data, graph or method, as in 'data.n'"
            raise growth.error("varies", words)
    return keys


def _with_size(file: TomlTable, growth: TomlTable, varies: tuple[str, ...], size: int) -> TomlTable:
    """Return the file as that of a card, with a size for the keys that vary."""
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


# -- cards ----------------------------------------------------------------------------------------


def library() -> Mapping[str, Card]:
    """Return all cards shipped, by name.

    Examples
    --------
    >>> from sdpdr.lab.library.problem import library
    >>> "swiss-roll-100" in library()
    True
    """
    return MappingProxyType({name: Card.load(path) for name, path in shelf().items()})


def find_card(name: str) -> Card:
    """Return a card by its name or the path of its file, or a member of a family.

    Parameters
    ----------
    name : str
        A path if it ends in ``.toml``; ``FAMILY@SIZE`` for a member of a family, where FAMILY is
        a name or a path.

    Raises
    ------
    UnknownNameError
        Offering the nearest name.
    FileFormatError, CardError
        As `Card.load`; or what follows the @ is not a size, or the name of a family has none.

    Examples
    --------
    >>> from sdpdr.lab.library.problem import find_card
    >>> find_card("swiss-roll-100").size
    Size(n=100, edges=249)
    >>> find_card("swiss-roll@400").size
    Size(n=400, edges=None)
    """
    family, at, size = name.rpartition("@")
    if at:
        if not (size.isascii() and size.isdecimal()):
            raise CardError(f"{name!r}: {size!r} is no size; write a number, as in {family}@100.")
        return find_family(family).at(int(size))
    if has_ending(name, ".toml"):
        return Card.load(name)
    known = shelf()
    if name in known:
        return Card.load(known[name])
    if name in shelf("families"):
        first = find_family(name).sizes[0]
        raise CardError(f"{name!r} is a family of problems; choose a size, as in {name}@{first}.")
    raise UnknownNameError("card", name, known)
