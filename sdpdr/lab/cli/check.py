"""``sdpdr check``: proof files, by the same checker that stands alone."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from sdpdr.base.errors import FileFormatError
from sdpdr.certify.check_proof import NoProofFileError, NotProvedError, check, describe
from sdpdr.certify.proof_file import hash_of
from sdpdr.lab.cli.app import AS_JSON, PATH, Exit, command, option
from sdpdr.lab.cli.terminal import echo, echo_json
from sdpdr.program import read_sdpa

# The first bytes of every file that gzip wrote.
_COMPRESSED = b"\x1f\x8b"


@command(
    "check",
    "sdpdr check answer.proof\nsdpdr check theta1.proof --program theta1.dat-s",
    click.argument("files", metavar="FILE...", type=PATH, nargs=-1, required=True),
    option("--program SDPA", "The program that the proofs are to be about: .dat-s.", type=PATH),
    AS_JSON,
)
def check_command(args: SimpleNamespace) -> int:
    """Check proof files without solving anything.

    FILE is what `solution.write_proof` or `sdpdr sdp --proof` wrote. The line about each ends with
    the hash of the program that its proof is about.
    """
    wanted = "" if args.program is None else hash_of(read_sdpa(args.program))
    records = [_record(path, wanted) for path in args.files]
    if args.json:
        echo_json(records)
    else:
        for record in records:
            echo(f"{record['file']}: {record['message']}")
    return Exit.OK if all(record["proved"] for record in records) else Exit.UNCERTIFIED


def _record(path: Path, wanted: str) -> dict[str, Any]:
    """Return what a file proves, or why it proves nothing."""
    if not path.exists():
        raise FileFormatError(f"{path}: there is no such file. Check its name.")
    record: dict[str, Any] = {"file": str(path), "proved": False}
    try:
        found = check(path)
    except NotProvedError as why:
        return record | {"message": f"not proved: {why}"}
    except NoProofFileError as why:
        raise FileFormatError(
            f"{path} is no proof file{_why(path, why)}. `sdpdr sdp --proof` and "
            "`solution.write_proof` write them."
        ) from None
    if wanted and found["program"] != wanted:
        return record | {"message": f"about another program: {found['program']}, not {wanted}"}
    message = f"proved: {describe(found)} (program {found['program']})"
    return record | {"proved": True, "message": message, **found}


def _why(path: Path, why: NoProofFileError) -> str:
    """Return why a file is no proof file; proof files are compressed, and most others are not."""
    if path.is_file() and path.read_bytes()[:2] != _COMPRESSED:
        return ""
    return f": {why}"
