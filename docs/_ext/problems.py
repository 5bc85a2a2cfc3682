"""Directives that make the index of problems from the cards, so that it cannot be stale.

``problem-counts``, ``problem-finder``, ``problem-index``, and ``family-table``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from docutils import nodes
from listtable import list_table, parsed
from sphinx.util.docutils import SphinxDirective

from sdpdr.errors import SdpdrError
from sdpdr.lab.library.card import Card
from sdpdr.lab.library.problem import families, library
from sdpdr.lab.library.vocabulary import METHODS
from sdpdr.program import PsdVariable

LARGE = 1000


class _Written(SphinxDirective, ABC):
    """Content that is written as reStructuredText, sections included."""

    @abstractmethod
    def lines(self) -> Iterable[str]:
        """The text."""

    def run(self) -> list[nodes.Node]:
        return parsed(self, self.lines())


class Counts(_Written):
    """How many problems there are, in one sentence."""

    def lines(self) -> Iterator[str]:
        cards = _cards()
        sizes = [card.size.n for card in cards]
        values = [card for card in cards if card.expect.value is not None]
        methods = {card.method["name"] for card in cards}
        yield (
            f"{len(cards)} problems of {len(methods)} methods, from {min(sizes)} to "
            f"{max(sizes):,} points; {len(values)} have a reference value, and {len(families())} "
            "families have as many members as you like."
        )


class Finder(_Written):
    """Where to look: cards by what is special about them."""

    def lines(self) -> Iterator[str]:
        kinds = {
            "Infeasible": [card for card in _cards() if card.expect.status == "INFEASIBLE"],
            "Unbounded": [card for card in _cards() if card.expect.status == "UNBOUNDED"],
            "Refused before anything is solved": [c for c in _cards() if c.expect.error],
            "Degenerate": _tagged("degenerate"),
            "Ill-conditioned": _tagged("ill-conditioned"),
            "With a closed form": [
                card
                for card in _cards()
                if card.expect.provenance == "analytic" and card.expect.value is not None
            ],
            "With real data": [card for card in _cards() if card.data.get("generator") == "digits"],
            f"Large, {LARGE:,} points and more": [c for c in _cards() if c.size.n >= LARGE],
        }
        for words, cards in kinds.items():
            yield f"{words} ({len(cards)})"
            yield "   " + ", ".join(_link(card) for card in cards)
            yield ""


class Index(_Written):
    """A section for each method: a table of its cards, and how each answer is known."""

    head = ("Card", "Title", "Points", "Order", "Rows", "Expected", "Known", "Tags")
    widths = (22, 34, 8, 8, 8, 18, 12, 20)

    def lines(self) -> Iterator[str]:
        for method in METHODS:
            cards = [card for card in _cards() if card.method["name"] == method]
            if not cards:
                continue
            yield from (f"``{method}``", "-" * (len(method) + 4), "")
            yield f"{_summary(method)} See `sdpdr.methods.{method}`."
            yield ""
            yield from list_table(self.head, map(_row, cards), self.widths)
            yield from (".. dropdown:: How each answer is known", "")
            for card in cards:
                yield f"   ``{card.name}``"
                yield f"      {_plain(card.expect.source)} *{_plain(card.reference)}.*"
                yield ""


class FamilyTable(_Written):
    """The families."""

    head = ("Family", "Title", "Method", "Size is", "Suggested sizes", "Value known of")
    widths = (20, 40, 18, 14, 24, 20)

    def lines(self) -> Iterator[str]:
        yield from list_table(self.head, map(self._row, families().values()), self.widths)

    def _row(self, family: Any) -> Sequence[str]:
        known = [n for n in family.sizes if family.references.at(n).value is not None]
        words = _numbers(known) or "none"
        if tuple(known) == family.sizes:
            words = "all of these" if family.references.formula is None else "every size"
        varies = ", ".join(f"``{key}``" for key in family.varies)
        return (
            f"``{family.name}``",
            _plain(family.title),
            f"``{family.method['name']}``",
            varies,
            _numbers(family.sizes),
            f"{words}, {family.references.provenance}",
        )


def _row(card: Card) -> Sequence[str]:
    expect = card.expect
    order, rows = _shape(card)
    accuracy = "" if expect.value is None else f", {_power(expect.rtol)}"
    return (
        f".. _problem-{card.name}:\n\n``{card.name}``",
        _plain(card.title),
        f"{card.size.n:,}",
        order,
        rows,
        f"``{expect.describe()}``",
        f"{expect.provenance}{accuracy}",
        _plain(", ".join(card.tags)),
    )


@cache
def _cards() -> tuple[Card, ...]:
    return tuple(library().values())


def _tagged(tag: str) -> list[Card]:
    return [card for card in _cards() if tag in card.tags]


def _shape(card: Card) -> tuple[str, str]:
    """Order of the largest matrix and number of rows, of the program as written."""
    try:
        sdp = card.build().to_sdp()
    except SdpdrError:
        return "–", "–"
    orders = [v.n for v in sdp.variables if isinstance(v, PsdVariable)]
    orders += [lmi.order for lmi in sdp.lmis]
    return (f"{max(orders):,}" if orders else "–"), f"{sdp.n_rows:,}"


def _summary(method: str) -> str:
    """The first sentence of a docstring."""
    first = (METHODS[method].__doc__ or "").strip().splitlines()[0]
    return first.partition(": ")[0].rstrip(".") + "."


def _link(card: Card) -> str:
    return f":ref:`{card.name} <problem-{card.name}>`"


def _numbers(numbers: Iterable[int]) -> str:
    return ", ".join(f"{n:,}" for n in numbers)


def _power(number: float) -> str:
    mantissa, _, exponent = f"{number:.0e}".partition("e")
    return f"{'' if mantissa == '1' else mantissa + '·'}10\\ :sup:`{int(exponent)}`"


def _plain(text: str) -> str:
    """Words of a card, none of which means anything in reStructuredText."""
    return re.sub(r"([\\*`|_<>])", r"\\\1", " ".join(text.split()))


def setup(app: Any) -> dict[str, bool]:
    """Register the directives, and the script that searches the page."""
    app.add_js_file("problems.js", loading_method="defer")
    app.add_directive("problem-counts", Counts)
    app.add_directive("problem-finder", Finder)
    app.add_directive("problem-index", Index)
    app.add_directive("family-table", FamilyTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
