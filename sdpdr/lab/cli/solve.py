"""``sdpdr solve``: a problem of the library, solved, graded, and compared with its answer."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from rich.table import Table

from sdpdr.base.errors import FileFormatError, SdpdrError
from sdpdr.base.files import Writer
from sdpdr.lab.cli.console import (
    figure_writer,
    grid,
    record_writer,
    say,
    say_json,
    table,
    write_all,
)
from sdpdr.lab.cli.options import (
    Exit,
    add_argument,
    add_card,
    add_command,
    add_solver_options,
    of_status,
    solver_options,
)
from sdpdr.lab.library.card import Card
from sdpdr.lab.library.expectation import Finding
from sdpdr.lab.library.problem import find_card
from sdpdr.lab.tables.files import write_table
from sdpdr.program import Solution, Status
from sdpdr.program.report import facts

COMPONENTS = 2


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "solve",
        run,
        "sdpdr solve swiss-roll-100\n"
        "sdpdr solve swiss-roll-100 --solver sdpa --form lmi --time-limit 20\n"
        "sdpdr solve swiss-roll-1000 --out results",
    )
    add_card(parser)
    words = "write CARD.json (the record), CARD.csv (the embedding) and CARD.svg there"
    add_argument(parser, "-o/--out DIR", words, type=Path)
    add_solver_options(parser)


def run(args: Namespace) -> Exit:
    """Solve a card."""
    if args.card.endswith((".dat-s", ".dat-s.gz")):
        raise FileFormatError(f"{args.card} is an SDPA file, not a card: use `sdpdr sdp` for it.")
    card = find_card(args.card)
    if args.out is not None and args.out.exists() and not args.out.is_dir():
        raise FileFormatError(f"{args.out} is a file. Give --out a directory.")
    try:
        solution = card.solve(**solver_options(args))
    except SdpdrError as error:
        findings = card.check(error)
        if not all(finding.holds for finding in findings):
            raise
        _tell_error(card, error, findings, args.json)
        return Exit.OK
    findings = card.check(solution)
    record = solution.record() | {"card": card.name, "findings": _comparison_record(findings)}
    if args.out is not None:
        _write(args.out, card, solution, record)
    if args.json:
        say_json(record)
    else:
        say(f"{card.title}\n")
        say(grid(facts(solution)))
        say()
        say(_comparison(findings))
    return _exit(solution, findings)


def _exit(solution: Solution, findings: list[Finding]) -> Exit:
    """As expected is OK, even if what is expected is that there is no answer."""
    if solution.status is Status.INTERRUPTED:
        return Exit.INTERRUPTED
    if all(finding.holds for finding in findings):
        return Exit.OK
    return of_status(solution.status) or Exit.UNCERTIFIED


def _tell_error(card: Card, error: SdpdrError, findings: list[Finding], as_json: bool) -> None:
    if as_json:
        record = {"card": card.name, "error": type(error).__name__, "message": str(error)}
        say_json(record | {"findings": _comparison_record(findings)})
        return
    say(f"{card.title}\n\nThe error expected: {error}\n")
    say(_comparison(findings))


def _write(folder: Path, card: Card, solution: Solution, record: dict[str, Any]) -> None:
    files: dict[Path, Writer] = {folder / f"{card.name}.json": record_writer(record)}
    if solution.values and card.graph:
        graph, sample = card.neighbor_graph, card.points
        placed = graph.index >= 0
        Y = solution.embedding(COMPONENTS)[graph.index[placed]]
        colour = None if sample is None else sample[1][placed]
        names = [f"y{k + 1}" for k in range(COMPONENTS)]
        files[folder / f"{card.name}.csv"] = partial(write_table, Y=Y, names=names)
        files[folder / f"{card.name}.svg"] = figure_writer(Y, colour, card.title)
    folder.mkdir(parents=True, exist_ok=True)
    write_all(files)


def _comparison(findings: Sequence[Finding]) -> Table:
    """Expected beside found."""
    rows = [(f.key, f.expected, f.found, "yes" if f.holds else "NO") for f in findings]
    return table(("", "expected", "found", "holds"), rows)


def _comparison_record(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The same for JSON."""
    return [asdict(finding) for finding in findings]
