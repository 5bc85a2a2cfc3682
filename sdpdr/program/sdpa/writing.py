"""Programs are written in the SDPA sparse format."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np

from sdpdr.base.arrays import ALLOWED, is_admissible
from sdpdr.base.errors import ModelError
from sdpdr.base.files import has_ending, write_file
from sdpdr.base.keywords import checks_keywords
from sdpdr.program.entries import entries_of
from sdpdr.program.point import PsdVariable
from sdpdr.program.sdp import SDP
from sdpdr.program.sdpa.notes import notes_of
from sdpdr.program.standard import to_equality_form


@checks_keywords
def write_sdpa(sdp: SDP, path: str | os.PathLike[str], *, names: bool = True) -> None:
    """Write a program in SDPA sparse format.

    The program is brought to equality form first (see `sdpdr.program.standard`). Comments note its
    sense, constant and names, which the format has no place for and `read_sdpa` understands.
    Numbers are written so that they are read back without change; a program that came from a
    file is written with the same data. The file appears complete or not at all.

    Parameters
    ----------
    sdp : SDP
    path : str or path
        Compressed if the name ends in ``.gz``.
    names : bool, default True
        Whether to note the names of variables and rows, where they are not those that `read_sdpa`
        gives by default.

    Raises
    ------
    ModelError
        If the program has a number that is not finite, or beyond what `read_sdpa` takes.
    """
    path = Path(path)
    data = _render(to_equality_form(sdp), names).encode("ascii")
    if has_ending(path, ".gz"):
        data = gzip.compress(data, mtime=0)
    write_file(path, lambda beside: beside.write_bytes(data))


def _render(sdp: SDP, names: bool) -> str:
    variables = [v for v in sdp.variables if v.size]
    rhs = np.concatenate([np.zeros(0), *(r.rhs for r in sdp.rows)])
    entries = entries_of(sdp, variables)
    if not np.isfinite(np.concatenate([[sdp.constant], rhs, entries.value])).all():
        raise ModelError(
            f"{sdp!r} cannot be written: it holds numbers that are not finite. Look at its rows, "
            "their right sides, its objective and its constant."
        )
    numbers = np.concatenate([[sdp.constant], rhs, entries.value])
    for number in numbers[~is_admissible(numbers)]:
        raise ModelError(
            f"{sdp!r} cannot be written: it holds {number:g}, and a file may hold {ALLOWED}. "
            "Choose other units."
        )
    sizes = (str(v.n if isinstance(v, PsdVariable) else -v.size) for v in variables)
    placed = zip(*entries.place.tolist(), entries.value.tolist(), strict=True)
    lines = [
        *notes_of(sdp, variables, names=names),
        str(rhs.size),
        str(len(variables)),
        " ".join(sizes),
        " ".join(map(repr, rhs.tolist())),
        *(f"{k} {b} {i} {j} {value!r}" for k, b, i, j, value in placed),
    ]
    return "\n".join(lines) + "\n"
