"""Descent on factors for the squared loss, and for new users and least penalties under any loss.

Each round takes steps of L-BFGS on the factors, computes a bound, and adds columns that lower the
objective, until value and bound agree. See ``program`` for the program.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.extmath import randomized_svd

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.families.factor.mmmf.entries import Observed
from sdpdr.families.factor.mmmf.program import (
    LinearTerms,
    MarginFactorization,
    Program,
    Proof,
    spectral_norm,
)
from sdpdr.families.factor.quasi_newton import minimized

# Steps of L-BFGS in a round, columns that are added at once or as many as there are, and rounds
# without a better gap after which the search ends.
_STEPS, _MORE, _PATIENCE = 300, 20, 15
# Widths of the parabola that rounds off the kink of a hinge for new rows, each from the end of the
# last. On planted signs scores were off by up to 1.7 times the last width; by 7 times a tenth of
# it, with which descent ends too early.
FOLDED = (1e-2, 1e-3, 1e-4)
_OFFSETS = ("rows", "columns")


def descend(
    program: Program,
    at: MarginFactorization,
    parts: tuple[str, ...],
    width: float,
    *,
    ftol: float = 1e-14,
    gtol: float = 1e-9,
    steps: int = 50 * _STEPS,
    deadline: Deadline = ENDLESS,
) -> MarginFactorization:
    """The least objective near a matrix over some of its parts, with a smoothed loss."""
    # Units in which the curvature of offsets is about one.
    units: dict[str, Any] = {"U": 1.0, "V": 1.0}
    counts = program.sums(np.ones(program.i.size))
    for name, n in zip(("rows", "columns"), counts, strict=True):
        units[name] = 1.0 / np.sqrt(program.c * (n + program.ridge))
    first = {k: getattr(at, k) for k in parts if program.has_offsets or k not in _OFFSETS}
    x = np.concatenate([(part / units[k]).ravel() for k, part in first.items()] or [np.zeros(0)])
    if not x.size:
        return at
    ends = np.cumsum([part.size for part in first.values()])[:-1]

    def decoded(x: Array) -> MarginFactorization:
        pieces = zip(first.items(), np.split(x, ends), strict=True)
        return replace(at, **{k: units[k] * piece.reshape(old.shape) for (k, old), piece in pieces})

    def objective(x: Array) -> tuple[float, Array]:
        total, slopes = program.slopes(decoded(x), width)
        return total, np.concatenate([(units[k] * slopes[k]).ravel() for k in first])

    x = minimized(objective, x, deadline=deadline, maxiter=steps, ftol=ftol, gtol=gtol)
    return decoded(x)


class SquaredProgram(Program):
    r"""The program of the loss :math:`\tfrac12 \sum (r_{ia} - f_{ia})^2` of ratings.

    Targets r are ratings less a mean, by default their own; multipliers are penalized residuals.
    """

    def __init__(
        self, entries: Observed, c: float, ridge: float, mean: float | None = None
    ) -> None:
        super().__init__(entries, c, ridge)
        self.mean = float(np.mean(entries.values)) if mean is None else mean
        self.targets = entries.values - self.mean

    def loss(self, scores: Array, width: float = 0.0) -> tuple[float, Array]:
        """Half the squared errors, and the errors; there is no kink."""
        missed = scores - self.targets
        return 0.5 * float(missed @ missed), missed

    def linear_terms(self, multipliers: Array) -> LinearTerms:
        """Linear terms of any multipliers P."""
        P, rounding = multipliers, multipliers.size * np.finfo(float).eps
        linear = float(P @ self.targets - rounding * (np.abs(P) @ np.abs(self.targets)))
        return LinearTerms(P, linear, float(P @ P) / (2.0 * self.c), np.inf)

    def solve(self, tol: float, max_iter: int, deadline: Deadline) -> MarginFactorization:
        """Take rounds until value and bound agree."""
        at, best, history = self.start(), self.start(), []
        for count in range(1, max_iter + 1):
            at = descend(
                self, at, ("U", "V", *_OFFSETS), 0.0,
                ftol=1e-5 * tol, gtol=0.0, steps=_STEPS, deadline=deadline,
            )  # fmt: skip
            proof = self.proof(self.c * (self.targets - at.scores_at(self.i, self.a)))
            best = best.better(self.valued(at), proof)
            history.append(best.record(count, deadline))
            stalled = count > _PATIENCE and best.gap > 0.99 * history[-_PATIENCE]["gap"]
            if best.gap <= tol or deadline.is_over() or stalled:
                break
            at = self._grown(at, proof, tol, count)
        return replace(best, history=tuple(history), iterations=count)

    def _grown(
        self, at: MarginFactorization, proof: Proof, tol: float, seed: int
    ) -> MarginFactorization:
        """New columns in the directions of the largest singular values above one."""
        room = min(max(_MORE, at.U.shape[1]), *proof.P.shape)
        left, sizes, right = randomized_svd(proof.P, room, n_iter=4, random_state=seed)
        # A direction that does not lower the objective must not be added: its best multiple
        # together with one that does may be zero, where descent stays.
        new = sizes > 1.0 + 0.1 * tol
        if not np.any(new):
            return at
        U, V = left[:, new], right[new].T
        # The best multiple of the new columns: the objective is a parabola along it.
        curvature = self.c * np.sum(replace(at, U=U, V=V).products(self.i, self.a) ** 2)
        root = np.sqrt(float(np.sum(sizes[new] - 1.0)) / curvature)
        return replace(at, U=np.hstack([at.U, root * U]), V=np.hstack([at.V, root * V]))


def folded(program: Program, at: MarginFactorization) -> MarginFactorization:
    """The best factors and offsets of new rows; those of the columns are fixed."""
    p = program.entries.shape[0]
    at = replace(at, U=np.zeros((p, at.V.shape[1])), rows=np.zeros(p))
    for width in FOLDED:
        at = descend(program, at, ("U", "rows"), width)
    return at


def least_penalty(program: Program) -> float:
    """The penalty up to which the best matrix is zero; for a loss with a kink, about that.

    It is infinite where offsets alone leave no loss.
    """
    at = descend(program, program.start(), _OFFSETS, FOLDED[0])
    slope = program.loss(at.scores_at(program.i, program.a), FOLDED[0])[1]
    size = spectral_norm(program.entries.spread(slope))
    return 1.0 / size if size > 0.0 else np.inf
