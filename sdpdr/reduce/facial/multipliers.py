r"""Multipliers of the original program, from those of the program on a face.

On a face the dual slack S need not be positive semidefinite any more: only :math:`V^T S V` is. What
a step of facial reduction exposes is a combination of rows whose adjoint W is positive semidefinite
on the face before it, and zero on the one after, and whose right side is zero. So a multiple of the
step's own multipliers may be added to all of them, and the dual objective stays what it is. From
the last step to the first, with S = S(y) on the face before,

.. math::  S + t W = \begin{pmatrix} S_{11} & S_{12} \\ S_{21} & S_{22} + t W_{22}\end{pmatrix}

with :math:`S_{11} \succeq 0` and :math:`W_{22} \succ 0`. Scalars, and inequalities that became
equations, need a division. Matrices have a t where the range of :math:`S_{12}` lies in that of
:math:`S_{11}` (Schur's complement). Where none serves, the program need not have multipliers with
this value, and the rows of the step get nan: zero would be a false statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix, from_places
from sdpdr.linalg.exact import Symmetric
from sdpdr.linalg.svec import svec_pairs
from sdpdr.program.echelon import Echelon
from sdpdr.program.face import null_vectors
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.exposure import Exposure
from sdpdr.reduce.facial.faces import Combination, Faces, Multiplier

Duals: TypeAlias = "dict[str, Array]"
# Multiples that are tried, of the slack's size over that of what is added.
_SIZES = tuple(2.0**k for k in range(18))
# Negative eigenvalues up to this, relative to the slack, are those of a solver's answer.
_NEGATIVE = 1e-7


def completed(sdp: SDP, steps: Sequence[Exposure], duals: Mapping[str, Array]) -> Duals:
    """Multipliers whose slack is in the cone, where multiples of the exposing rows make it so.

    Parameters
    ----------
    sdp : SDP
        The original program.
    steps : sequence of Exposure
        All of them, in their order.
    duals : mapping from label to array
        Multipliers that serve on the last face; of all rows.

    Returns
    -------
    dict from label to array
        With nan in every row of a step for which no multiple serves.
    """
    faces, rounds = Faces(sdp), list[_Round]()
    known = 0
    for _, group in groupby(steps, key=lambda step: len(step.after)):
        together = tuple(group)
        faces.absorb_all(step.proved for step in steps[known : len(together[0].after)])
        known = len(together[0].after)
        rounds.append(_Round(faces, together))
    full = {label: np.array(y, dtype=float) for label, y in duals.items()}
    lost = [step for one in reversed(rounds) for step in one.add_to(full)]
    for label, place, _ in (row for step in lost for row in step.multipliers):
        _lose(sdp, full, label, place)
    return full


def _lose(sdp: SDP, duals: Duals, label: str, place: int) -> None:
    if any(lmi.label == label for lmi in sdp.lmis):
        i, j = svec_pairs(place)
        duals[label][i, j] = duals[label][j, i] = np.nan
    else:
        duals[label][place] = np.nan


class _Round:
    """Steps that lean on the same face, and what they add on it."""

    def __init__(self, faces: Faces, steps: Sequence[Exposure]) -> None:
        self._sdp, self._steps = faces.sdp, steps
        self._added = [_required(faces, step.multipliers) for step in steps]
        self._bases = {
            name: _basis(faces.sdp, name, faces.echelons[name])
            for name in {name for added in self._added for name in added.matrices}
        }
        self._left = {
            lmi.label: np.setdiff1d(np.arange(lmi.order), sorted(faces.vanishing[lmi.label]))
            for lmi in faces.sdp.lmis
        }

    def add_to(self, duals: Duals) -> list[Exposure]:
        """Add a multiple of each step; those for which none serves."""
        self._of_scalars(duals)
        lost: set[int] = set()
        for slack, pieces in self._of_matrices(duals):
            t = _multiple(slack, sum(pieces.values(), np.zeros_like(slack)))
            if t is None:
                lost |= pieces.keys()
                continue
            for k in pieces if t else ():
                _add(duals, self._steps[k].multipliers, t)
        return [self._steps[k] for k in sorted(lost)]

    def _of_scalars(self, duals: Duals) -> None:
        """What scalars that vanish, and inequalities that became equations, ask for."""
        slacks = {
            v.name: np.array(self._sdp.dual_slack(v.name, duals), dtype=float)
            for v in self._sdp.vector_variables
        }
        for step, added in zip(self._steps, self._added, strict=True):
            asked = [
                (slacks[name][k], float(s))
                for name, scalars in added.scalars.items()
                for k, s in scalars.items()
            ]
            asked += [
                (duals[label][e], float(y))
                for label, e, y in step.multipliers
                if (label, e) in added.strict and duals[label].ndim == 1
            ]
            t = max((-have / more for have, more in asked), default=0.0)
            if t > 0.0:
                _add(duals, step.multipliers, t)
                for name, scalars in added.scalars.items():
                    for k, s in scalars.items():
                        slacks[name][k] += t * float(s)

    def _of_matrices(self, duals: Duals) -> Iterator[tuple[Array, dict[int, Array]]]:
        """Slacks on the face, and what each step adds to them: of matrices, and of inequalities.

        One after the other: what is added for one variable may reach the next.
        """
        for name, (V, within) in self._bases.items():
            pieces = {}
            for k, added in enumerate(self._added):
                if added.matrices.get(name):
                    W = _dense(added.matrices[name], V.shape[0])
                    pieces[k] = within.T @ W @ within
            if pieces:
                yield _restricted(self._sdp.dual_slack(name, duals), V @ within), pieces
        for label, left in self._left.items():
            order, diagonals = np.shape(duals[label])[0], {}
            for k, step in enumerate(self._steps):
                zeta = np.zeros(order)
                for owner, place, y in step.multipliers:
                    i, j = svec_pairs(place)
                    if owner == label and i == j:
                        zeta[i] += float(y)
                if np.any(zeta[left]):
                    diagonals[k] = np.diag(zeta[left])
            if diagonals:
                yield duals[label][np.ix_(left, left)], diagonals


def _required(faces: Faces, multipliers: Sequence[Multiplier]) -> Combination:
    added = faces.combination(multipliers)
    assert added is not None  # or the step would have proved nothing
    return added


def _basis(sdp: SDP, name: str, echelon: Echelon) -> tuple[sp.csr_array, Array]:
    """Columns that span a face: V of the null vectors known, of shape (n, n), zero at pivots.

    Beside it columns within V, for rows K u = 0 are not among the steps, and their multipliers
    are completed elsewhere.
    """
    n = sdp.cost(name).shape[0]
    entries = ((i, j, value) for i in range(n) for j, value in echelon.row(i).items())
    V = from_places(entries, (n, n))
    kept = [i for i in range(n) if i not in echelon.vectors]
    within = np.eye(n)[:, kept]
    stated = (V @ within).T @ null_vectors(sdp, name).toarray()
    if stated.size and np.any(stated):
        within = within @ sl.null_space(stated.T)
    return V, within


def _dense(matrix: Symmetric, n: int) -> Array:
    dense = np.zeros((n, n))
    for (i, j), value in matrix.items():
        dense[i, j] = dense[j, i] = float(value)
    return dense


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


def _add(duals: Duals, multipliers: Sequence[Multiplier], t: float) -> None:
    for label, place, y in multipliers:
        if duals[label].ndim == 1:
            duals[label][place] += t * float(y)
            continue
        i, j = svec_pairs(place)
        # A place beside the diagonal counts over the root of two, in svec, and twice in a matrix.
        duals[label][i, j] += t * float(y) * (1.0 if i == j else 0.5)
        if i != j:
            duals[label][j, i] = duals[label][i, j]
