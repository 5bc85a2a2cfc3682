"""Problems with one face: cards, members of families, and programs in SDPA's files."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sdpdr.base.errors import CardError, FileFormatError, UnknownNameError
from sdpdr.lab.library.card import Card
from sdpdr.lab.library.expectation import Expectation, KnownAnswer
from sdpdr.lab.library.families import find_family, shelf
from sdpdr.lab.library.fields import TomlTable
from sdpdr.lab.library.vocabulary import METHODS, relation
from sdpdr.model import Model
from sdpdr.program import SDP, Status, read_sdpa

__all__ = ["Card", "find_card", "library"]


def library() -> Mapping[str, Card]:
    """All cards shipped, by name.

    Examples
    --------
    >>> "swiss-roll-100" in library()
    True
    """
    return MappingProxyType({name: Card.load(path) for name, path in shelf().items()})


def find_card(name: str) -> Card:
    """A card of the library by its name, any other by the path of its file, or one of a family.

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
    if name.endswith(".toml"):
        return Card.load(name)
    known = shelf()
    if name in known:
        return Card.load(known[name])
    if name in shelf("families"):
        first = find_family(name).sizes[0]
        raise CardError(f"{name!r} is a family of problems; choose a size, as in {name}@{first}.")
    raise UnknownNameError("card", name, known)


SUFFIXES = (".dat-s", ".dat-s.gz")
# What tables of optimal values write of the pair that SDPA's format means, and what it is of ours.
_WITHOUT_ANSWER = {"dual infeasible": Status.INFEASIBLE, "primal infeasible": Status.UNBOUNDED}


@dataclass(frozen=True, eq=False)
class Problem:
    """Something that a study can have solved.

    Attributes
    ----------
    name : str
    source : {"card", "family", "file"}
    card : Card or None
        Of cards and members of families.
    path : Path or None
        Of files.
    family, variant : str
        Empty if there is none.
    optimal : str
        Of a file: its optimal value in SDPA's convention, or the word that a table has in its
        place; empty if it is not known.

    Examples
    --------
    >>> from sdpdr.library import find_card
    >>> problem = Problem.of_card(find_card("swiss-roll-100"))
    >>> problem.method, problem.n
    ('mvu', 100)
    >>> problem.build()
    Gram + Centered + Lengths + Variance
    """

    name: str
    source: str
    card: Card | None = None
    path: Path | None = None
    family: str = ""
    variant: str = ""
    optimal: str = ""
    tags: tuple[str, ...] = field(default=())

    @classmethod
    def of_card(cls, card: Card, family: str = "") -> Problem:
        """A card, or the member of a family."""
        source = "family" if family else "card"
        return cls(card.name, source, card=card, family=family, tags=card.tags)

    @classmethod
    def of_file(cls, path: str | Path, optimal: str = "") -> Problem:
        """A program in a file.

        Raises
        ------
        FileFormatError
            There is no such file, or it has another suffix.
        """
        path = Path(path)
        suffix = next((end for end in reversed(SUFFIXES) if path.name.endswith(end)), None)
        if suffix is None:
            raise FileFormatError(f"{path}: expected a file called {' or '.join(SUFFIXES)}.")
        if not path.is_file():
            raise FileFormatError(f"{path}: there is no such file. Check its name.")
        name = path.name.removesuffix(suffix)
        return cls(name, "file", path=path.resolve(), optimal=optimal, tags=("file",))

    def varied(self, variant: str, changes: Mapping[str, Any]) -> Problem:
        """The same data under another formulation.

        Parameters
        ----------
        variant : str
            What to call it.
        changes : mapping
            Arguments of the recipe, or its ``name``, as cards write them. Where they say what the
            card says already, what is known of its answer stays known.

        Raises
        ------
        CardError
            The recipe does not know the argument, or the problem comes from a file.
        """
        if self.card is None:
            raise CardError(f"{self.name} is a file: it has no recipe that could be varied.")
        method = {**self.card.method, **changes}
        table = TomlTable(f"{self.name} as {variant!r}", "method", method)
        table.call("name", METHODS)
        if "isometry" in table:
            table.attempt("isometry", relation)
        card = self.card
        if _as_written(method) != _as_written(card.method):
            card = replace(card, method=method, expect=_OPEN)
        return replace(self, card=card, variant=variant)

    @property
    def method(self) -> str:
        """Name of the recipe; ``"file"`` for a file."""
        return "file" if self.card is None else str(self.card.method["name"])

    @property
    def n(self) -> int | None:
        """Size as the card states it; None for a file."""
        return None if self.card is None else self.card.size.n

    @property
    def is_program(self) -> bool:
        """Whether building it gives a program rather than an error."""
        return self.card is None or self.card.expect.error is None

    def build(self) -> Model | SDP:
        """The model, or the program of a file."""
        if self.card is not None:
            return self.card.build()
        assert self.path is not None
        return read_sdpa(self.path)

    def known(self, sdp: SDP | None = None) -> KnownAnswer:
        """What is known of the answer.

        Parameters
        ----------
        sdp : SDP, optional
            Of a file: its program, whose constant relates its value to the table's.
        """
        if self.card is not None:
            return self.card.expect.known
        if not self.optimal or sdp is None:
            return KnownAnswer()
        if self.optimal in _WITHOUT_ANSWER:
            return KnownAnswer(_WITHOUT_ANSWER[self.optimal])
        shown = float(self.optimal)
        value = (1.0 if sdp.maximize else -1.0) * (shown - sdp.constant)
        return KnownAnswer(Status.SOLVED, value, value, _last_digit(self.optimal))

    @cached_property
    def digest(self) -> str:
        """Of all that makes the program what it is; not of what is known of its answer."""
        if self.path is not None:
            return hashlib.sha256(self.path.read_bytes()).hexdigest()
        assert self.card is not None
        content = [dict(self.card.data), dict(self.card.graph), dict(self.card.method)]
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


_OPEN = Expectation(
    source="The formulation is a variant, whose answer nobody knows beforehand.",
    provenance="certified",
)


def read_optimal_values(path: str | Path) -> dict[str, str]:
    """A table of optimal values that comes with files, by name.

    Parameters
    ----------
    path : str or Path
        CSV with the columns ``name`` and ``optimal_value``: a number as SDPA prints it, or
        ``dual infeasible`` or ``primal infeasible`` of the pair that its format means.

    Raises
    ------
    FileFormatError
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"table of optimal values {path} cannot be read: {error}.") from None
    values: dict[str, str] = {}
    for line, row in enumerate(rows, start=2):
        name, value = row.get("name"), row.get("optimal_value")
        if not name or value is None or not (value in _WITHOUT_ANSWER or _is_number(value)):
            raise FileFormatError(
                f"{path}, line {line}: expected the columns name and optimal_value, the latter a "
                f"number or one of {', '.join(_WITHOUT_ANSWER)}; got {row!r}."
            )
        values[name] = value
    return values


def _as_written(method: Mapping[str, Any]) -> str:
    return json.dumps({"isometry": "inequality", **method}, sort_keys=True, default=str)


def _last_digit(number: str) -> float:
    """Relative size of one unit in the last digit that is written.

    Examples
    --------
    >>> round(_last_digit("5.66517e-01"), 9)
    1.765e-06
    """
    mantissa = number.lower().partition("e")[0].strip("+-")
    decimals = len(mantissa.partition(".")[2])
    return float(10.0**-decimals / max(abs(float(mantissa)), 10.0**-decimals))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
