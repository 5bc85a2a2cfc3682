r"""Multipliers of the original program, from those of the program on a face.

On a face the dual slack S need not be positive semidefinite any more: only :math:`V^T S V` is. What
a step of facial reduction exposes is a row whose matrix W is positive semidefinite on the face
before it, and zero on the one after, and whose right side is zero. So a multiple of the step's own
multiplier may be added, and the dual objective stays what it is. From the last round of steps to
the first, with S on the face before,

.. math::  S + t W = \begin{pmatrix} S_{11} & S_{12} \\ S_{21} & S_{22} + t W_{22}\end{pmatrix}

with :math:`S_{11} \succeq 0` and :math:`W_{22} \succ 0`. There is such a t if the range of
:math:`S_{12}` lies in that of :math:`S_{11}` (Schur's complement). If none serves, the program need
not have multipliers with this value, and the rows of the step get nan: zero would be a false
statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array, Matrix
from sdpdr.program.face import null_vectors
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.narrowed import Consequences, Multiplier, Narrowed

Steps = Sequence[tuple[Multiplier, Consequences]]
# Multiples that are tried, of the slack's size over that of what is added: beyond the last,
# multipliers would have lost a third of their digits.
_SIZES = tuple(2.0**k for k in range(18))
# Negative eigenvalues up to this, relative to the slack, are those of a solver's answer.
_NEGATIVE = 1e-7


def completed(
    sdp: SDP, rounds: Sequence[tuple[Narrowed, Steps]], duals: Mapping[str, Array]
) -> dict[str, Array]:
    """Multipliers whose slack is in the cone, where multiples of the exposing rows make it so.

    Parameters
    ----------
    sdp : SDP
        The original program.
    rounds : sequence of (Narrowed, steps)
        The face before a round, and the multiplier and consequences of each of its steps.
    duals : mapping from label to array
        Multipliers of all rows that serve on the last face.

    Returns
    -------
    dict from label to array
        With nan in the row of every step for which no multiple serves.
    """
    full = {label: np.array(y, dtype=float) for label, y in duals.items()}
    lost = list[Multiplier]()
    for now, steps in reversed(rounds):
        added = dict(sdp.zero_point().duals)
        for (label, e, y), _ in steps:
            added[label][e] += float(y)
        multiples = dict(_multiples(now, steps, full, added))
        for multiplier, proved in steps:
            t = [multiples[name] for name in proved.owners]
            label, e, y = multiplier
            if None in t:
                lost.append(multiplier)
            else:
                full[label][e] += max(filter(None, t), default=0.0) * float(y)
    for label, e, _ in lost:
        full[label][e] = np.nan
    return full


def _multiples(
    now: Narrowed, steps: Steps, duals: dict[str, Array], added: dict[str, Array]
) -> Iterator[tuple[str, float | None]]:
    """The multiple that each matrix asks for."""
    sdp = now.original
    for name in dict.fromkeys(name for _, proved in steps for name in proved.owners):
        V = _within(now, name)
        slack = _restricted(sdp.dual_slack(name, duals), V)
        yield name, _multiple(slack, _restricted(sdp.weighted(name, added), V))


def _within(now: Narrowed, name: str) -> Array:
    """Columns that span the face known before, and that rows K u = 0 state.

    Multipliers of those rows are no steps; they are completed elsewhere.
    """
    V = now.bases[name]
    stated = V.T @ null_vectors(now.original, name).toarray()
    return V @ sl.null_space(stated.T) if np.any(stated) else V.toarray()


def _restricted(slack: Matrix, V: Array) -> Array:
    found = np.asarray(V.T @ np.asarray(slack @ V))
    return (found + found.T) / 2.0


def _multiple(slack: Array, added: Array) -> float | None:
    """The least t tried for which S + t W has no negative eigenvalue; None where none serves."""
    size = max(float(np.linalg.norm(slack)), np.finfo(float).tiny)
    unit = size / max(float(np.linalg.norm(added)), np.finfo(float).tiny)
    allowed = _NEGATIVE * size * np.eye(slack.shape[0])
    for t in (0.0, *(unit * k for k in _SIZES)):
        try:
            np.linalg.cholesky(slack + t * added + allowed)
        except np.linalg.LinAlgError:
            continue
        return t
    return None
