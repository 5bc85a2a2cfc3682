r"""Multipliers of the original program, from those of the program on a face.

On a face the dual slack S need not be positive semidefinite any more: only :math:`V^T S V` is. What
a step of facial reduction exposes is a combination of rows whose adjoint W is positive semidefinite
on the face before it, and zero on the one after, and whose right side is zero. So a multiple of the
step's own multipliers may be added, and the dual objective stays what it is. From the last round of
steps to the first, with S on the face before,

.. math::  S + t W = \begin{pmatrix} S_{11} & S_{12} \\ S_{21} & S_{22} + t W_{22}\end{pmatrix}

with :math:`S_{11} \succeq 0` and :math:`W_{22} \succ 0`. Scalars, and inequalities that became
equations, need a division. Matrices have a t where the range of :math:`S_{12}` lies in that of
:math:`S_{11}` (Schur's complement). Where none serves, the program need not have multipliers with
this value, and the rows of the step get nan: zero would be a false statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg.svec import svec_pairs
from sdpdr.program.face import null_vectors
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.narrowed import Consequences, Multiplier, Narrowed, add_to

Steps = Sequence[tuple[Sequence[Multiplier], Consequences]]
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
        The face before a round, and multipliers and consequences of each of its steps.
    duals : mapping from label to array
        Multipliers of all rows that serve on the last face.

    Returns
    -------
    dict from label to array
        With nan in every row of a step for which no multiple serves.
    """
    full = {label: np.array(y, dtype=float) for label, y in duals.items()}
    lost = list[Multiplier]()
    for now, steps in reversed(rounds):
        added = dict(sdp.zero_point().duals)
        for multipliers, _ in steps:
            _add(added, multipliers, 1.0)
        multiples = dict(_multiples(now, steps, full, added))
        for multipliers, proved in steps:
            t = [multiples[name] for name in proved.owners if name in multiples]
            if None in t:
                lost += multipliers
            else:
                _add(full, multipliers, max(filter(None, t), default=0.0))
    for label, e, _ in lost:
        if full[label].ndim == 2:
            i, j = svec_pairs(e)
            full[label][i, j] = full[label][j, i] = np.nan
        else:
            full[label][e] = np.nan
    return full


def _add(duals: dict[str, Array], multipliers: Sequence[Multiplier], t: float) -> None:
    for label, e, y in multipliers:
        add_to(duals[label], e, t * float(y))


def _multiples(
    now: Narrowed, steps: Steps, duals: dict[str, Array], added: dict[str, Array]
) -> Iterator[tuple[str, float | None]]:
    """The multiple that each variable, group of rows and matrix inequality asks for."""
    sdp = now.original
    confined = {name for _, proved in steps for name, _ in proved.vectors}
    for v in sdp.psd_variables:
        if v.name in confined:
            V = _within(now, v.name)
            slack = _restricted(sdp.dual_slack(v.name, duals), V)
            yield v.name, _multiple(slack, _restricted(sdp.weighted(v.name, added), V))
    for name in {name for _, proved in steps for name, _ in proved.zeros}:
        slack = np.asarray(sdp.dual_slack(name, duals))
        more = np.asarray(sdp.dual_slack(name, added)) - np.asarray(sdp.cost(name))
        at = [k for _, proved in steps for owner, k in proved.zeros if owner == name]
        yield name, float(np.max(-slack[at] / more[at], initial=0.0))
    for name in {name for _, proved in steps for name, _ in proved.tight}:
        at = [e for _, proved in steps for owner, e in proved.tight if owner == name]
        yield name, float(np.max(-duals[name][at] / added[name][at], initial=0.0))
    for name in {name for _, proved in steps for name, _ in proved.vanishing}:
        left = np.ix_(now.left[name], now.left[name])
        yield name, _multiple(duals[name][left], added[name][left])


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
