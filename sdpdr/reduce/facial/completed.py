r"""Multipliers of the original program, from those of the program on a face.

On a face the dual slack S need not be positive semidefinite: only :math:`V^T S V` is. The row of a
step of facial reduction has a matrix W that is positive semidefinite on the face before the step
and zero on the face after it, and its right-hand side is zero. So a multiple of the step's
multiplier may be added without a change of the dual objective. From the last round of steps to the
first, with S on the face before,

.. math::  S + t W = \begin{pmatrix} S_{11} & S_{12} \\ S_{21} & S_{22} + t W_{22}\end{pmatrix}

with :math:`S_{11} \succeq 0` and :math:`W_{22} \succ 0`. There is such a t if the range of
:math:`S_{12}` lies in that of :math:`S_{11}` (Schur's complement). If no t suffices, the program
need not have multipliers with this value, and the rows of the step get nan: zero would be false.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array, Matrix
from sdpdr.program.face import null_vectors
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.exposure import Exposure
from sdpdr.reduce.facial.faces import Faces, Multiplier

# Multiples that are tried, in units of the norm of the slack divided by that of the added matrix:
# beyond the last, multipliers would have lost a third of their digits.
_SIZES = tuple(2.0**k for k in range(18))
# Negative eigenvalues that a solver's answer may have, relative to the slack.
_NEGATIVE = 1e-7


def completed(
    sdp: SDP, exposures: Sequence[Exposure], duals: Mapping[str, Array]
) -> dict[str, Array]:
    """Multipliers whose slack is in the cone, by multiples of the exposing rows.

    Parameters
    ----------
    sdp : SDP
        The original program.
    exposures : sequence of Exposure
    duals : mapping from label to array
        Multipliers of all rows, valid on the last face.

    Returns
    -------
    dict from label to array
        With nan in the row of every step for which no multiple suffices.
    """
    full = {label: np.array(y, dtype=float) for label, y in duals.items()}
    lost = list[Multiplier]()
    rounds = [list(steps) for _, steps in groupby(exposures, lambda step: len(step.after))]
    for steps in reversed(rounds):
        added = dict(sdp.zero_point().duals)
        for step in steps:
            for label, e, y in step.multipliers:
                added[label][e] += float(y)
        faces = Faces(sdp, (one.proved for one in steps[0].after))
        multiples = dict(_multiples(faces, steps, full, added))
        for step in steps:
            t = [multiples[name] for name in step.proved.owners]
            for label, e, y in step.multipliers:
                if None in t:
                    lost.append((label, e, y))
                else:
                    full[label][e] += max(filter(None, t), default=0.0) * float(y)
    for label, e, _ in lost:
        full[label][e] = np.nan
    return full


def _multiples(
    faces: Faces, steps: Sequence[Exposure], duals: dict[str, Array], added: dict[str, Array]
) -> Iterator[tuple[str, float | None]]:
    """Yield the name of each matrix and the multiple that it needs; None if none suffices."""
    sdp = faces.sdp
    for name in dict.fromkeys(name for step in steps for name in step.proved.owners):
        V = _within(faces, name)
        slack = _restricted(sdp.dual_slack(name, duals), V)
        yield name, _multiple(slack, _restricted(sdp.weighted(name, added), V))


def _within(faces: Faces, name: str) -> Array:
    """Columns that span the face before a step, within the face that rows K u = 0 state.

    Those rows expose no step; `sdpdr.program.face.complete_multipliers` finds their multipliers.
    """
    V = faces.basis(name)
    stated = V.T @ null_vectors(faces.sdp, name).toarray()
    return V @ sl.null_space(stated.T) if np.any(stated) else V.toarray()


def _restricted(slack: Matrix, V: Array) -> Array:
    found = np.asarray(V.T @ np.asarray(slack @ V))
    return (found + found.T) / 2.0


def _multiple(slack: Array, added: Array) -> float | None:
    """The least t tried for which S + t W has no negative eigenvalue; None if there is none."""
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
