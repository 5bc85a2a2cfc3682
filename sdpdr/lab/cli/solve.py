"""``sdpdr solve``: a problem of the library, solved, graded, and compared with its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rich.table import Table

from sdpdr.base.errors import FileFormatError, SdpdrError
from sdpdr.base.files import Writer
from sdpdr.lab.cli.command import command
from sdpdr.lab.cli.options import (
    AS_JSON,
    CARD,
    PATH,
    Exit,
    exit_of_status,
    given_solver_options,
    option,
    solver_options,
)
from sdpdr.lab.cli.outputs import coordinate_names, figure_writer, record_writer, write_all
from sdpdr.lab.cli.terminal import echo, echo_json, grid, table
from sdpdr.lab.library.card import Card, Finding
from sdpdr.lab.library.problem import find_card
from sdpdr.lab.tables.files import write_table
from sdpdr.program import Solution, Status
from sdpdr.program.report import facts

COMPONENTS = 2


@command(
    "solve",
    "sdpdr solve swiss-roll-100\n"
    "sdpdr solve swiss-roll-100 --solver sdpa --form lmi --time-limit 20\n"
    "sdpdr solve swiss-roll-1000 --out results",
    CARD,
    option("-o/--out DIR", "Write the record, the embedding and its figure there.", type=PATH),
    AS_JSON,
    solver_options(),
)
def solve_command(args: SimpleNamespace) -> int:
    """Solve a problem of the library, grade the answer, and compare it with the expected one.

    CARD is a name from `sdpdr list`, FAMILY@SIZE, or a TOML file.
    """
    if args.card.endswith((".dat-s", ".dat-s.gz")):
        raise FileFormatError(f"{args.card} is an SDPA file, not a card: use `sdpdr sdp` for it.")
    card = find_card(args.card)
    if args.out is not None and args.out.exists() and not args.out.is_dir():
        raise FileFormatError(f"{args.out} is a file. Give --out a directory.")
    try:
        solution = card.solve(**given_solver_options(args))
    except SdpdrError as error:
        findings = card.check(error)
        if not all(finding.holds for finding in findings):
            raise
        _report_error(card, error, findings, args.json)
        return Exit.OK
    findings = card.check(solution)
    record = solution.record() | {"card": card.name, "findings": _comparison_record(findings)}
    if args.out is not None:
        _write(args.out, card, solution, record)
    if args.json:
        echo_json(record)
    else:
        echo(f"{card.title}\n")
        echo(grid(facts(solution)))
        echo()
        echo(_comparison(findings))
    return _exit(solution, findings)


def _exit(solution: Solution, findings: list[Finding]) -> int:
    """As expected is OK, also where no answer is expected."""
    if solution.status is Status.INTERRUPTED:
        return Exit.INTERRUPTED
    if all(finding.holds for finding in findings):
        return Exit.OK
    return exit_of_status(solution.status) or Exit.UNCERTIFIED


def _report_error(card: Card, error: SdpdrError, findings: list[Finding], as_json: bool) -> None:
    if as_json:
        record = {"card": card.name, "error": type(error).__name__, "message": str(error)}
        echo_json(record | {"findings": _comparison_record(findings)})
        return
    echo(f"{card.title}\n\nThe error expected: {error}\n")
    echo(_comparison(findings))


def _write(folder: Path, card: Card, solution: Solution, record: dict[str, Any]) -> None:
    files: dict[Path, Writer] = {folder / f"{card.name}.json": record_writer(record)}
    if solution.values and card.graph:
        graph, sample = card.neighbor_graph, card.points
        placed = graph.index >= 0
        Y = solution.embedding(COMPONENTS)[graph.index[placed]]
        colour = None if sample is None else sample[1][placed]
        names = coordinate_names(COMPONENTS)
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
