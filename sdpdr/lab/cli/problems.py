"""``sdpdr list`` and ``sdpdr show``: the problem library."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import signature
from types import SimpleNamespace
from typing import Any, TypeVar

import click

from sdpdr.base.checks import choice
from sdpdr.base.errors import SdpdrError
from sdpdr.base.rows import counted
from sdpdr.lab.cli.command import command
from sdpdr.lab.cli.options import AS_JSON, CARD, Exit, option
from sdpdr.lab.cli.terminal import echo, echo_json, grid, table
from sdpdr.lab.library.card import Card
from sdpdr.lab.library.problem import Family, families, find_card, library
from sdpdr.lab.library.vocabulary import METHODS
from sdpdr.model import Model
from sdpdr.solving.planning import plan


@command(
    "list",
    "sdpdr list\nsdpdr list --tag quick --tag noise\nsdpdr list --method mfnu --sort n\n"
    "sdpdr list --families",
    option("--tag TAG", "Only those with this tag; repeat it for several at once.", multiple=True),
    option("--method NAME", "Only those of this method."),
    option("--sort", "Order.", type=click.Choice(("name", "n")), default="name", show_default=True),
    option("--families", "List families instead; FAMILY@SIZE is a card like any other."),
    AS_JSON,
)
def list_command(args: SimpleNamespace) -> int:
    """List the problem library."""
    if args.families:
        heads = ("family", "title", "sizes", "method", "known", "tags")
        found = _chosen(families().values(), args, lambda family: family.sizes[-1])
        rows, records = map(_family_row, found), map(_family_record, found)
    else:
        heads = ("card", "title", "n", "method", "expected", "tags")
        cards = _chosen(library().values(), args, lambda card: card.size.n)
        rows, records = map(_row, cards), map(_record, cards)
    if args.json:
        echo_json(list(records))
    else:
        echo(table(heads, rows, right=("n",)))
    return Exit.OK


Listed = TypeVar("Listed", Card, Family)


def _chosen(
    given: Iterable[Listed], args: SimpleNamespace, size: Callable[[Listed], int]
) -> list[Listed]:
    """Those with all tags and of the method, in the order requested."""
    listed = list(given)
    tags = {tag for one in listed for tag in one.tags}
    for tag in args.tag:
        choice("tag", tag, tags)
    if args.method is not None:
        choice("method", args.method, METHODS)
    if args.sort == "n":
        listed.sort(key=size)
    return [
        one
        for one in listed
        if set(args.tag) <= set(one.tags) and args.method in (None, one.method["name"])
    ]


@command(
    "show",
    "sdpdr show swiss-roll-100\nsdpdr show path-graph --latex\nsdpdr show swiss-roll@400\n"
    "sdpdr show my-problem.toml",
    CARD,
    option("--latex", "Only the mathematics, in LaTeX."),
)
def show_command(args: SimpleNamespace) -> int:
    """Show a problem in mathematics, what is expected of it, and the plan to solve it.

    CARD is a name from `sdpdr list`, FAMILY@SIZE, or a TOML file.
    """
    card = find_card(args.card)
    built = _build(card)
    if args.latex:
        if isinstance(built, SdpdrError):
            raise built
        echo(built.describe("latex"))
        return Exit.OK
    echo(card.title)
    echo()
    if isinstance(built, SdpdrError):
        echo(f"There is no model, as expected: {built}")
    else:
        echo(built.describe())
    echo()
    echo(grid(_facts(card)))
    if not isinstance(built, SdpdrError):
        echo()
        echo(plan(built, card.run.solver, card.run.form, tol=card.run.tol).explain())
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
    known = "" if expect.provenance == "none" else f", {expect.provenance}"
    facts = {"expected": f"{expect.describe()}{known}: {expect.source}"}
    if expect.value is not None or expect.lower is not None:
        facts["within"] = f"{expect.rtol:.0e}, relative"
    if expect.gap is not None:
        facts["gap"] = f"at most {expect.gap:.0e}"
    if expect.rank is not None:
        facts["rank"] = str(expect.rank)
    facts["data"] = _call(card.data)
    facts["size"] = counted(card.size.n, "point")
    if card.graph:
        facts["graph"] = _call(card.graph)
        if card.size.edges is not None:
            facts["size"] += f", {counted(card.size.edges, 'edge')}"
    facts |= {"reference": card.reference, "tags": ", ".join(card.tags)}
    return facts


def _call(named: Any) -> str:
    words = [str(v) if k == "generator" or k == "kind" else f"{k} = {v}" for k, v in named.items()]
    return ", ".join(words) or "none: the graph is known in advance"


def _method(card: Card | Family) -> str:
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


def _family_row(family: Family) -> tuple[object, ...]:
    sizes = ", ".join(map(str, family.sizes))
    tags = ", ".join(family.tags)
    return family.name, family.title, sizes, _method(family), _known(family), tags


def _known(family: Family) -> str:
    """Of which sizes the value is known."""
    known = [size for size in family.sizes if family.references.at(size).value is not None]
    if family.references.formula is not None:
        return "all, by a formula"
    if len(known) == len(family.sizes):
        return "all of these"
    return f"up to {max(known)}" if known else "none"


def _family_record(family: Family) -> dict[str, Any]:
    return {
        "name": family.name,
        "title": family.title,
        "varies": list(family.varies),
        "sizes": list(family.sizes),
        "method": dict(family.method),
        "references": {
            str(size): family.references.at(size).value
            for size in family.sizes
            if family.references.at(size).value is not None
        },
        "provenance": family.references.provenance,
        "tags": list(family.tags),
    }
