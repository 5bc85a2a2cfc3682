"""``sdpdr list`` and ``sdpdr show``: the problem library."""

from __future__ import annotations

from argparse import Namespace
from inspect import signature
from typing import Any

from sdpdr.cli.console import grid, say, say_json, table
from sdpdr.cli.exits import Exit
from sdpdr.cli.options import add_command
from sdpdr.errors import SdpdrError, UnknownNameError
from sdpdr.library.cards import Card, find_card, library
from sdpdr.library.vocabulary import METHODS
from sdpdr.model import Model
from sdpdr.plan import plan


def add(commands: Any) -> None:
    """Add both commands."""
    listing = add_command(
        commands,
        "list",
        run_list,
        "the problem library",
        "sdpdr list\nsdpdr list --tag quick --tag noise",
    )
    listing.add_argument(
        "--tag",
        action="append",
        default=[],
        metavar="TAG",
        help="only cards with this tag; repeat it to ask for several at once",
    )
    showing = add_command(
        commands,
        "show",
        run_show,
        "a problem in mathematics, what is expected of it, and the plan to solve it",
        "sdpdr show swiss-roll-100\nsdpdr show path-graph --latex\nsdpdr show my-problem.toml",
        with_json=False,
    )
    showing.add_argument("card", metavar="CARD", help="a name from `sdpdr list`, or a TOML file")
    showing.add_argument("--latex", action="store_true", help="only the mathematics, in LaTeX")


def run_list(args: Namespace) -> Exit:
    """Print the cards."""
    cards = list(library().values())
    tags = {tag for card in cards for tag in card.tags}
    for tag in args.tag:
        if tag not in tags:
            raise UnknownNameError("tag", tag, tags)
    chosen = [card for card in cards if set(args.tag) <= set(card.tags)]
    if args.json:
        say_json([_record(card) for card in chosen])
    else:
        heads = ("card", "title", "n", "method", "expected", "tags")
        say(table(heads, [_row(card) for card in chosen], right=("n",)))
    return Exit.OK


def run_show(args: Namespace) -> Exit:
    """Print a card."""
    card = find_card(args.card)
    built = _build(card)
    if args.latex:
        if isinstance(built, SdpdrError):
            raise built
        say(built.describe("latex"))
        return Exit.OK
    say(card.title)
    say()
    if isinstance(built, SdpdrError):
        say(f"There is no model, as expected: {built}")
    else:
        say(built.describe())
    say()
    say(grid(_facts(card)))
    if not isinstance(built, SdpdrError):
        say()
        say(plan(built, card.run.solver, card.run.form, tol=card.run.tol).explain())
    return Exit.OK


def _build(card: Card) -> Model | SdpdrError:
    """The model, or the error that the card expects instead."""
    try:
        return card.build()
    except SdpdrError as error:
        if type(error).__name__ != card.expect.error:
            raise
        return error


def _facts(card: Card) -> dict[str, str]:
    expect = card.expect
    facts = {"expected": f"{expect.describe()}, {expect.provenance}: {expect.source}"}
    if expect.value is not None:
        facts["within"] = f"{expect.rtol:.0e}, relative"
    if expect.gap is not None:
        facts["gap"] = f"at most {expect.gap:.0e}"
    if expect.rank is not None:
        facts["rank"] = str(expect.rank)
    facts["data"] = _call(card.data)
    facts["size"] = f"{card.size.n} points"
    if card.graph:
        facts["graph"] = _call(card.graph)
        facts["size"] += f", {card.size.edges} edges"
    facts |= {"reference": card.reference, "tags": ", ".join(card.tags)}
    return facts


def _call(named: Any) -> str:
    words = [str(v) if k == "generator" or k == "kind" else f"{k} = {v}" for k, v in named.items()]
    return ", ".join(words) or "none: the graph is known in advance"


def _method(card: Card) -> str:
    if "isometry" not in signature(METHODS[card.method["name"]]).parameters:
        return str(card.method["name"])
    relation = card.method.get("isometry", "inequality")
    if isinstance(relation, dict):
        first, *_ = relation
        relation = f"{first}:{relation[first]:g}"
    return f"{card.method['name']} {relation}"


def _row(card: Card) -> tuple[object, ...]:
    expected = card.expect.describe()
    return card.name, card.title, card.size.n, _method(card), expected, ", ".join(card.tags)


def _record(card: Card) -> dict[str, Any]:
    return {
        "name": card.name,
        "title": card.title,
        "n": card.size.n,
        "edges": card.size.edges,
        "method": dict(card.method),
        "expected": card.expect.describe(),
        "provenance": card.expect.provenance,
        "tags": list(card.tags),
        "slow": card.run.slow,
    }
