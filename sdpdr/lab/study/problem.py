"""The problems of a study: cards, members of families, and programs in SDPA's files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from sdpdr.base.errors import CardError, FileFormatError
from sdpdr.base.files import SDPA_ENDINGS
from sdpdr.lab.library.card import Card, Expectation
from sdpdr.lab.library.vocabulary import METHODS, TomlTable, relation
from sdpdr.model import Model
from sdpdr.program import SDP, Status, read_sdpa

if TYPE_CHECKING:
    import cvxpy

# Entries of tables of optimal values, about the pair of SDPA's format, and our status for each.
_WITHOUT_ANSWER = {"dual infeasible": Status.INFEASIBLE, "primal infeasible": Status.UNBOUNDED}
_OPEN = Expectation(
    source="The formulation is a variant, whose answer is not known beforehand.",
    provenance="certified",
)


@dataclass(frozen=True, eq=False)
class Problem:
    """A problem of a study: a card, a member of a family, or a file.

    ``optimal`` is the optimal value of a file in SDPA's convention, or the word that a table has in
    its place.
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
        """Return the problem of a card, or of the member of a family."""
        source = "family" if family else "card"
        return cls(card.name, source, card=card, family=family, tags=card.tags)

    @classmethod
    def of_file(cls, path: str | Path, optimal: str = "") -> Problem:
        """Return the problem of a program in a file."""
        path = Path(path)
        suffix = next((end for end in reversed(SDPA_ENDINGS) if path.name.endswith(end)), None)
        if suffix is None:
            raise FileFormatError(f"{path}: expected a file called {' or '.join(SDPA_ENDINGS)}.")
        if not path.is_file():
            raise FileFormatError(f"{path}: there is no such file. Check its name.")
        name = path.name.removesuffix(suffix)
        return cls(name, "file", path=path.resolve(), optimal=optimal, tags=("file",))

    def varied(self, variant: str, changes: Mapping[str, Any]) -> Problem:
        """Return the same data under another formulation.

        The changes are arguments of the recipe, or its ``name``, as cards write them. Where they
        say what the card says already, what is known of its answer stays known.
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

    def build(self) -> Model | SDP | cvxpy.Problem:
        """Build the model, or read the program of a file."""
        if self.card is not None:
            return self.card.build()
        assert self.path is not None
        return read_sdpa(self.path)

    def known(self, sdp: SDP | None = None) -> Expectation:
        """Return what is known of the answer, for a file given its program."""
        if self.card is not None:
            return self.card.expect
        table = Expectation("the table beside the file", "paper", status="")
        if not self.optimal or sdp is None:
            return replace(table, provenance="none")
        if self.optimal in _WITHOUT_ANSWER:
            return replace(table, status=_WITHOUT_ANSWER[self.optimal].name)
        value = (1.0 if sdp.maximize else -1.0) * (float(self.optimal) - sdp.constant)
        rtol = _last_digit(self.optimal)
        return replace(table, status=Status.SOLVED.name, value=value, rtol=rtol)

    @cached_property
    def digest(self) -> str:
        """Digest of all that makes the program what it is; not of what is known of its answer."""
        if self.path is not None:
            return hashlib.sha256(self.path.read_bytes()).hexdigest()
        assert self.card is not None
        content = [dict(self.card.data), dict(self.card.graph), dict(self.card.method)]
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def read_optimal_values(path: str | Path) -> dict[str, str]:
    """Read a CSV with the columns ``name`` and ``optimal_value`` that comes with files."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)[["name", "optimal_value"]]
    except (OSError, ValueError, KeyError) as error:
        raise FileFormatError(
            f"table of optimal values {path} cannot be read: {error}. It is a CSV file with the "
            "columns name and optimal_value."
        ) from None
    for name, value in table.itertuples(index=False, name=None):
        if not name or not (value in _WITHOUT_ANSWER or _is_number(value)):
            raise FileFormatError(
                f"{path}: expected a name and a number, or one of {', '.join(_WITHOUT_ANSWER)}; "
                f"got {name!r}, {value!r}."
            )
    return dict(table.itertuples(index=False, name=None))


def _as_written(method: Mapping[str, Any]) -> str:
    return json.dumps({"isometry": "inequality", **method}, sort_keys=True, default=str)


def _last_digit(number: str) -> float:
    """Return one unit in the last written digit, relative to the number."""
    mantissa = number.lower().partition("e")[0].strip("+-")
    decimals = len(mantissa.partition(".")[2])
    return float(10.0**-decimals / max(abs(float(mantissa)), 10.0**-decimals))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
