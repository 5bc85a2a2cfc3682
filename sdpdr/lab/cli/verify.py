"""``sdpdr verify``: prove a solution file that another program wrote."""

from __future__ import annotations

from types import SimpleNamespace

import click

from sdpdr.base.errors import DataError
from sdpdr.lab.cli import terminal
from sdpdr.lab.cli.app import AS_JSON, PATH, POSITIVE, Exit, command, exit_of_status, option
from sdpdr.lab.cli.terminal import echo, echo_json, grid, info
from sdpdr.program import Solution
from sdpdr.program.run import shown
from sdpdr.solving.verify.verify import verify


@command(
    "verify",
    "sdpdr verify theta1.dat-s theta1.sol\n"
    "sdpdr verify theta1.dat-s theta1.sol --no-repair --json\n"
    "sdpdr verify theta1.dat-s theta1.sol --proof theta1.proof",
    click.argument("program", metavar="PROGRAM", type=PATH),
    click.argument("answer", metavar="SOLUTION", type=PATH),
    option("--tol T", "Relative gap to reach (default: 1e-6).", type=POSITIVE, default=1e-6),
    option("--seconds S", "CPU seconds of proofs (default: 60).", type=POSITIVE),
    option("--no-repair", "Prove the point as it stands, or say by how much it is missed."),
    option("--proof PATH", "What proves the answer, for `sdpdr check`: .proof.", type=PATH),
    AS_JSON,
)
def verify_command(args: SimpleNamespace) -> int:
    """Prove a solution that CSDP, SDPA or SDPLR wrote, without solving again.

    PROGRAM is called .dat-s, or .dat-s.gz if it is compressed; SOLUTION is what the solver wrote.
    """
    if args.proof is not None:
        terminal.check_targets([(args.proof, (".proof",))], [args.program, args.answer])
    solution = verify(
        args.program,
        args.answer,
        tol=args.tol,
        seconds=args.seconds,
        repair=not args.no_repair,
    )
    if args.json:
        echo_json(solution.record() | {"is_refuted": solution.is_refuted})
    else:
        echo(grid(_facts(solution)))
    is_written = args.proof is None or _write_proof(solution, args)
    return exit_of_status(solution.status) or (Exit.OK if is_written else Exit.UNCERTIFIED)


def _facts(solution: Solution) -> dict[str, str]:
    """Return the claim, what is proved, and advice, for a table."""
    verdict = "refuted" if solution.is_refuted else "nothing contradicts it"
    claim, where = solution.claimed, f"{solution.solver}, {solution.claimed.status}"
    facts = {
        "claimed": f"{shown(claim.value)} ({where}): {verdict}",
        "proved": f"{shown(solution.attained)} is attained by a point ({solution.attained_by})",
        "": f"{shown(solution.bound)} is a bound ({solution.argument})",
        "gap": f"{shown(solution.gap, '.1e')}, {solution.tol:.0e} requested",
        "moved": f"the point by {shown(solution.moved, '.1e')} of its length",
        "note": claim.message,
        "status": f"{solution.status.name}. {solution.advice}".rstrip(". "),
    }
    if claim.value is None:
        facts["claimed"] = f"no value ({where})"
    if not solution.moved:
        facts["moved"] = ""
    if solution.attained is None:
        facts["proved"] = f"no value: {solution.attained_by}"
    if solution.bound is None:
        facts[""] = f"no bound: {solution.argument}"
    if solution.ray is not None:
        facts["proved"] = f"{solution.ray.kind}: {solution.ray.argument}"
        facts[""] = facts["gap"] = facts["moved"] = ""
    return {name: text for name, text in facts.items() if text}


def _write_proof(solution: Solution, args: SimpleNamespace) -> bool:
    """Write the proof, and return whether anything is proved that a file could hold."""
    try:
        written = solution.write_proof(args.proof)
    except DataError as error:
        info(f"{args.proof} was not written: {error}")
        return False
    for claim, why in written.missing.items():
        info(f"{args.proof} does not hold the {claim}: {why}")
    return True
