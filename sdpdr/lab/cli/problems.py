"""Commands about the problem library and about solvers, and those for files in SDPA's format."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict
from inspect import signature
from math import isfinite
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from sdpdr import __version__, graphs, minimize, psd, sum_squares
from sdpdr.base.arrays import Array
from sdpdr.base.checks import choice
from sdpdr.base.errors import FileFormatError, SdpdrError
from sdpdr.base.files import SDPA_ENDINGS, has_ending
from sdpdr.base.rows import counted
from sdpdr.families import methods
from sdpdr.lab.cli import app, terminal
from sdpdr.lab.cli.app import (
    AS_JSON,
    CARD,
    PATH,
    VERBOSE,
    Exit,
    command,
    exit_of_status,
    option,
)
from sdpdr.lab.cli.terminal import echo, echo_json, grid, info, table
from sdpdr.lab.library.card import Card
from sdpdr.lab.library.problem import Family, families, find_card, library
from sdpdr.lab.library.vocabulary import METHODS
from sdpdr.lab.study.schema import installed
from sdpdr.program import SDP, Factor, Solution, Status, read_sdpa, write_sdpa
from sdpdr.program.ray import listed
from sdpdr.program.run import shown
from sdpdr.reduce import Composed, Scale
from sdpdr.solvers import SolverInfo, find
from sdpdr.solvers import table as solver_table
from sdpdr.solving.candidate import reductions_for
from sdpdr.solving.plan import plan
from sdpdr.solving.solve import solve

PACKAGES = ("numpy", "scipy", "cvxpy", "scikit-learn", "qdldl", "matplotlib", "pandas", "pyarrow")
FORMS = ("gram", "lmi", "plain")


# -- doctor ---------------------------------------------------------------------------------------


@command("doctor", "sdpdr doctor\nsdpdr doctor --json", AS_JSON)
def doctor_command(args: SimpleNamespace) -> int:
    """Show what is installed, licensed, and works.

    A small problem is solved with every solver that can run.
    """
    from rich.console import Console

    solvers = solver_table()
    tested: dict[str, Solution] = {}
    with Console(stderr=True).status("testing solvers") as status:
        for found in solvers:
            if found.usable:
                status.update(f"testing {found.name}")
                tested[found.name] = _self_test(found.name)
    versions = {"sdpdr": __version__, "python": platform.python_version()}
    versions |= dict.fromkeys(PACKAGES, "not installed") | installed(PACKAGES)
    if args.json:
        records = {name: solution.record() for name, solution in tested.items()}
        listed = [asdict(found) | {"self_test": records.get(found.name)} for found in solvers]
        echo_json({"versions": versions, "solvers": listed})
    else:
        echo(grid(versions))
        heads = ("solver", "version", "licence", "forms", "self-test", "our gap", "seconds")
        rows = [_solver_row(found, tested.get(found.name)) for found in solvers]
        echo()
        echo(table(heads, rows, right=("our gap", "seconds")))
        if unusable := {found.name: found.reason for found in solvers if not found.usable}:
            echo()
            echo(grid(unusable))
    return Exit.OK if any(s.certified() for s in tested.values()) else Exit.NO_SOLVER


def _self_test(name: str) -> Solution:
    # The unfolding of five points on a line is known, and found in a fraction of a second.
    model = methods.mvu(graphs.path([1.0, 2.0, 1.0, 3.0]))
    if find(name).is_special:
        K = psd("K", 3)
        model = minimize(sum_squares(K + 1.0)) + (K.diagonal() == 1.0)
    return solve(model, name, progress=False)


def _solver_row(found: SolverInfo, solution: Solution | None) -> tuple[str, ...]:
    head = (found.name, found.version or "-", found.licence, ", ".join(found.forms))
    if solution is None:
        return (*head, "unlicensed" if found.installed else "not installed", "", "")
    passed = "passed" if solution.certified() else solution.status.name
    return (*head, passed, f"{solution.gap:.0e}", f"{sum(solution.timings.values()):.2f}")


# -- list -----------------------------------------------------------------------------------------


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
    chosen = _chosen(list((families() if args.families else library()).values()), args)
    if args.json:
        echo_json([_record(one) for one in chosen])
        return Exit.OK
    heads = ("family", "title", "sizes", "method", "known", "tags")
    if not args.families:
        heads = ("card", "title", "n", "method", "expected", "tags")
    echo(table(heads, map(_row, chosen), right=("n",)))
    return Exit.OK


def _chosen(given: Sequence[Card | Family], args: SimpleNamespace) -> list[Card | Family]:
    """Return those with all tags and of the method, in the requested order."""
    for tag in args.tag:
        choice("tag", tag, {tag for one in given for tag in one.tags})
    if args.method is not None:
        choice("method", args.method, METHODS)
    if args.sort == "n":
        given = sorted(given, key=lambda c: c.size.n if isinstance(c, Card) else c.sizes[-1])
    return [
        one
        for one in given
        if set(args.tag) <= set(one.tags) and args.method in (None, one.method["name"])
    ]


def _method(card: Card | Family) -> str:
    if "isometry" not in signature(METHODS[card.method["name"]]).parameters:
        return str(card.method["name"])
    relation = card.method.get("isometry", "inequality")
    if isinstance(relation, dict):
        first, *_ = relation
        relation = f"{first}:{relation[first]:g}"
    return f"{card.method['name']} {relation}"


def _row(one: Card | Family) -> tuple[object, ...]:
    if isinstance(one, Card):
        size, known = str(one.size.n), one.expect.describe()
    else:
        size, values = ", ".join(map(str, one.sizes)), list(_values(one))
        known = f"up to {max(values)}" if values else "none"
        if one.references.formula is not None:
            known = "all, by a formula"
        elif len(values) == len(one.sizes):
            known = "all of these"
    return one.name, one.title, size, _method(one), known, ", ".join(one.tags)


def _record(one: Card | Family) -> dict[str, Any]:
    about = {"name": one.name, "title": one.title, "method": dict(one.method)}
    about |= {"tags": list(one.tags)}
    if isinstance(one, Card):
        expected = {"expected": one.expect.describe(), "provenance": one.expect.provenance}
        return about | expected | {"n": one.size.n, "edges": one.size.edges, "slow": one.run.slow}
    return about | {
        "varies": list(one.varies),
        "sizes": list(one.sizes),
        "references": {str(size): value for size, value in _values(one).items()},
        "provenance": one.references.provenance,
    }


def _values(family: Family) -> dict[int, float]:
    """Known optimal values, by size."""
    values = {size: family.references.at(size).value for size in family.sizes}
    return {size: value for size, value in values.items() if value is not None}


# -- show and solve -------------------------------------------------------------------------------


@command(
    "show",
    "sdpdr show swiss-roll-100\nsdpdr show swiss-roll@400\nsdpdr show my-problem.toml",
    CARD,
)
def show_command(args: SimpleNamespace) -> int:
    """Show a problem in mathematics, what is expected of it, and the plan to solve it.

    CARD is a name from `sdpdr list`, FAMILY@SIZE, or a TOML file.
    """
    card = find_card(args.card)
    try:
        model = card.build()
        words, planned = (
            model.describe(),
            plan(model, card.run.solver, card.run.form, tol=card.run.tol).explain(),
        )
    except SdpdrError as error:
        if type(error).__name__ != card.expect.error:
            raise
        words, planned = f"There is no model, as expected: {error}", ""
    echo(f"{card.title}\n\n{words}\n")
    echo(grid(_facts(card)))
    echo(f"\n{planned}" if planned else "")
    return Exit.OK


def _facts(card: Card) -> dict[str, str]:
    expect = card.expect
    known = "" if expect.provenance == "none" else f", {expect.provenance}"
    facts = {"expected": f"{expect.describe()}{known}: {expect.source}"}
    if expect.value is not None:
        facts["within"] = f"{expect.rtol:.0e}, relative"
    if expect.gap is not None:
        facts["gap"] = f"at most {expect.gap:.0e}"
    if expect.rank is not None:
        facts["rank"] = str(expect.rank)
    facts["data"] = _call(card.data) or "none: the graph is known in advance"
    facts["size"] = counted(card.size.n, "point")
    if card.graph:
        facts["graph"] = _call(card.graph)
        if card.size.edges is not None:
            facts["size"] += f", {counted(card.size.edges, 'edge')}"
    return facts | {"reference": card.reference, "tags": ", ".join(card.tags)}


def _call(named: Any) -> str:
    return ", ".join(
        str(v) if k in ("generator", "kind") else f"{k} = {v}" for k, v in named.items()
    )


@command(
    "solve",
    "sdpdr solve swiss-roll-100\n"
    "sdpdr solve swiss-roll-100 --solver sdpa --form lmi --time-limit 20",
    CARD,
    AS_JSON,
    VERBOSE,
    app.solver_options(),
    app.GAP_SCALE,
)
def solve_command(args: SimpleNamespace) -> int:
    """Solve a problem of the library, grade the answer, and compare it with the expected one.

    CARD is a name from `sdpdr list`, FAMILY@SIZE, or a TOML file.
    """
    if has_ending(args.card, *SDPA_ENDINGS):
        raise FileFormatError(f"{args.card} is an SDPA file, not a card: use `sdpdr sdp` for it.")
    if Path(args.card).is_file() and not has_ending(args.card, ".toml"):
        raise FileFormatError(
            f"{args.card} is not a card: cards are .toml files. For a table, use `sdpdr embed`."
        )
    card = find_card(args.card)
    answer: Solution | SdpdrError
    try:
        answer = card.solve(**app.given_solver_options(args))
    except SdpdrError as error:
        answer = error
    findings = card.check(answer)
    is_expected = all(finding.holds for finding in findings)
    if isinstance(answer, SdpdrError):
        if not is_expected:
            raise answer
        record: dict[str, Any] = {"error": type(answer).__name__, "message": str(answer)}
        code = Exit.OK
    else:
        record = answer.record()
        # An expected outcome is OK, also if no answer is expected.
        code = Exit.OK if is_expected else exit_of_status(answer.status) or Exit.UNCERTIFIED
        code = Exit.INTERRUPTED if answer.status is Status.INTERRUPTED else code
    record |= {"card": card.name, "findings": [asdict(finding) for finding in findings]}
    if args.json:
        echo_json(record)
        return code
    echo(f"{card.title}\n")
    if isinstance(answer, SdpdrError):
        echo(f"The error expected: {answer}")
    else:
        app.print_answer(answer, args)
    echo()
    rows = [(f.key, f.expected, f.found, "yes" if f.holds else "NO") for f in findings]
    echo(table(("", "expected", "found", "holds"), rows))
    return code


# -- export and sdp -------------------------------------------------------------------------------


@command(
    "export",
    "sdpdr export path-graph --to path.dat-s\n"
    "sdpdr export swiss-roll-100 --form plain --to swiss-roll.dat-s.gz",
    CARD,
    option("--to PATH", ".dat-s, or .dat-s.gz (compressed).", type=PATH, required=True),
    option(
        "--form",
        "gram: on the face that centring leaves, with an interior; lmi: its dual; plain: as "
        "written.",
        type=click.Choice(FORMS),
        default=FORMS[0],
        show_default=True,
    ),
)
def export_command(args: SimpleNamespace) -> int:
    """Write a problem in SDPA sparse format, which most solvers read.

    CARD is a name from `sdpdr list`, FAMILY@SIZE, or a TOML file.
    """
    terminal.check_targets([(args.to, (".dat-s", ".gz"))])
    program = reduced(find_card(args.card).build().to_sdp(), args.form)
    write_sdpa(program, args.to)
    info(f"wrote {args.to}: {program!r}")
    return Exit.OK


def reduced(sdp: SDP, form: str) -> SDP:
    """Return the program in a form, in its own units, so that optimal values are the same."""
    if form == "plain":
        return sdp
    steps = [step for step in reductions_for(form, sdp) if not isinstance(step, Scale)]
    return Composed(steps).apply(sdp).sdp


@command(
    "sdp",
    "sdpdr sdp theta1.dat-s\nsdpdr sdp path.dat-s --solver clarabel --form lmi --json\n"
    "sdpdr sdp theta1.dat-s --out theta1.json --proof theta1.proof",
    click.argument("file", metavar="FILE", type=PATH),
    option("-o/--out PATH", "The grade, the point and its multipliers: .json.", type=PATH),
    option("--proof PATH", "What proves the answer, for `sdpdr check`: .proof.", type=PATH),
    AS_JSON,
    VERBOSE,
    app.solver_options(),
    app.GAP_SCALE,
)
def sdp_command(args: SimpleNamespace) -> int:
    """Solve and grade any program in SDPA sparse format.

    FILE is called .dat-s, or .dat-s.gz if it is compressed.
    """
    targets = [(args.out, (".json",)), (args.proof, (".proof",))]
    terminal.check_targets([(path, endings) for path, endings in targets if path is not None])
    if args.file.is_dir():
        raise FileFormatError(f"{args.file} is a directory. Name a file in it.")
    if not args.file.is_file():
        raise FileFormatError(f"{args.file}: there is no such file. Check its name.")
    sdp = read_sdpa(args.file)
    solution = solve(sdp, **app.given_solver_options(args))
    in_sdpa = {name: _in_sdpa(sdp, getattr(solution, name)) for name in ("value", "bound")}
    record = solution.record() | {"sdpa": in_sdpa}
    if args.out is not None:
        point = {name: _listed(value) for name, value in solution.values.items()}
        multipliers = {label: _listed(dual) for label, dual in solution.duals.items()}
        whole = record | {"point": point, "multipliers": multipliers}
        terminal.write_all({args.out: terminal.record_writer(whole)})
    if args.proof is not None:
        for claim, why in solution.write_proof(args.proof).missing.items():
            info(f"{args.proof} does not hold the {claim}: {why}")
    if args.json:
        echo_json(record)
        return exit_of_status(solution.status)
    app.print_answer(solution, args)
    echo(f"\n{sdp!r}\nin SDPA's convention")
    echo(grid({f"  {name}": shown(number) for name, number in in_sdpa.items()}))
    return exit_of_status(solution.status)


def _listed(value: Array | Factor) -> Any:
    """Nested lists, row by row; R of a matrix R R^T that is kept so."""
    if isinstance(value, Factor):
        return {"factor": value.factor.tolist()}
    return listed(value)


def _in_sdpa(sdp: SDP, value: float | None) -> float | None:
    """A value or bound as SDPA prints it, which maximizes and has no constant."""
    if value is None or not isfinite(value):
        return None
    return sdp.constant + (value if sdp.maximize else -value)
