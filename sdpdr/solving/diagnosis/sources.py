"""Views of what users have: models, programs, cvxpy problems and files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataTypeError
from sdpdr.certify.answer import is_small
from sdpdr.certify.standard import Standard, as_stated, standard
from sdpdr.model import Block, Model
from sdpdr.model.language.statements import Statement, is_symmetric

from sdpdr.model.terms import Penalize
from sdpdr.program.sdp import SDP
from sdpdr.program.sdpa import read_sdpa
from sdpdr.solving.diagnosis.view import Named, View


def view_of(program: Any, deadline: Deadline) -> View:
    """The view of a model, a program, a cvxpy problem or a file.

    Raises
    ------
    DataTypeError
        If it is none of these.
    """
    if isinstance(program, (str, os.PathLike)):
        return _of_sdp(read_sdpa(Path(program)), deadline)
    if isinstance(program, Block):
        program = Model((program,))
    if isinstance(program, Model):
        return _of_model(program, deadline)
    if isinstance(program, SDP):
        return _of_sdp(program, deadline)
    raise DataTypeError(
        f"there is no program in {type(program).__name__!r}: pass a Model, an SDP, a cvxpy.Problem "
        "or the name of a file in SDPA's sparse format."
    )


def _of_sdp(sdp: SDP, deadline: Deadline) -> View:
    stated, solved = as_stated(sdp), standard(sdp)
    return View(
        _named(stated),
        _named(solved),
        solved.values,
        sdp.maximize,
        is_small=is_small(sdp),
        deadline=deadline,
    )


def _named(form: Standard) -> Named:
    return Named(form.flat, form.labels, {block.name: block.places for block in form.blocks})


def _of_model(model: Model, deadline: Deadline) -> View:
    view = _of_sdp(model.to_sdp(), deadline)
    return replace(
        view,
        of_model=True,
        entrywise=tuple(_entrywise(model)),
        penalized={
            label: tuple(f"{label}.{side}" for side in ("over", "under"))
            for label, term in model.labelled_terms()
            if isinstance(term, Penalize) and term.penalty != "square"
        },
    )


def _entrywise(model: Model) -> Iterator[str]:
    """Labels of comparisons of symmetric matrices entry by entry."""
    for block in model.blocks:
        if isinstance(block, Statement) and block.relation in ("<=", ">="):
            difference = block.left - block.right
            if len(difference.shape) == 2 and difference.shape[0] > 1 and is_symmetric(difference):
                yield block.label
