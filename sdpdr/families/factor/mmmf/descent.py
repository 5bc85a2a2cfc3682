"""Descent on factors for the squared loss, and for new users and least penalties under any loss.

Rounds of L-BFGS on the factors, of a bound, and of columns that pay, until value and bound agree.
See ``program`` for the program.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize, minimize_scalar
from sklearn.utils.extmath import randomized_svd

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.families.factor.mmmf.norms import aligned, dual_norm, evened, principal
from sdpdr.families.factor.mmmf.program import MORE, FactorModel, Program, Proof

_STEPS = 300
# Rounds without a better gap after which the search ends.
_PATIENCE = 15
# Share of the norm that new columns get.
_NEW = 0.05
# Widths of the parabola that rounds off the kink of a hinge where rows are folded in, each from
# where the last ended. Scores were off by up to 1.7 of the last on planted signs, by 7 of a tenth
# of it, where descent ends too early.
FOLDED = (1e-2, 1e-3, 1e-4)


def complete(
    program: Program, *, tol: float, max_iter: int, deadline: Deadline
) -> tuple[FactorModel, int]:
    """Take rounds until value and bound agree, and return the best of both and the rounds taken.

    Parameters
    ----------
    program : Program
        Whose loss is smooth.
    tol : float
        Relative gap at which to stop.
    max_iter : int
        Rounds.
    deadline : Deadline
    """
    point = program.start()
    best, history = replace(point, value=np.inf), []
    for _ in range(max_iter):
        point = improved(program, point, 0.0, tol, deadline)
        proof = program.proof(point, 0.0)
        best = best.better(program.valued(point), proof)
        history.append(best.record(deadline))
        stalled = len(history) > _PATIENCE and best.gap > 0.99 * history[-_PATIENCE]["gap"]
        if best.gap <= tol or deadline.is_over() or stalled:
            break
        point = _grown(program, point, proof, tol)
    return replace(best, history=tuple(history)), len(history)


def improved(
    program: Program, at: FactorModel, width: float, tol: float, deadline: Deadline
) -> FactorModel:
    """Minimum over factors with as many columns as there are, offsets and thresholds."""
    p, q = program.entries.shape
    n, has_factors, shared = p + q, at.U.shape[1] > 0, program.loss.n_thresholds
    # Units in which the curvature of offsets and thresholds is about one. Without a ridge there
    # are no offsets: their unit is zero.
    unit = 1.0 / np.sqrt(program.c * (program.offsets.counts + program.ridge))
    shared_unit = 1.0 / np.sqrt(program.c * program.i.size)

    def decoded(x: Array) -> tuple[FactorModel, float, Array]:
        head, offsets, thresholds = np.split(x, [x.size - n - shared, x.size - shared])
        F, size = program.factors.decode(head, n) if has_factors else (np.zeros((n, 0)), 0.0)
        rows, columns = program.offsets.sides(unit * offsets)
        point = replace(at, U=F[:p], V=F[p:], rows=rows, columns=columns)
        return replace(point, thresholds=shared_unit * thresholds), size, head

    def value(x: Array) -> tuple[float, Array]:
        point, size, head = decoded(x)
        total, slope, sums, thresholds = program.slopes(point, width)
        F = np.vstack([point.U, point.V])
        factors = program.factors.pull(head, F, slope) if has_factors else head
        return size + total, np.concatenate([factors, unit * sums, shared_unit * thresholds])

    def stop(_: Array) -> None:
        if deadline.is_over():
            raise StopIteration

    head = program.factors.encode(np.vstack([at.U, at.V])) if has_factors else np.zeros(0)
    offsets = at.offsets / np.where(unit > 0.0, unit, 1.0)
    first = np.concatenate([head, offsets, at.thresholds / shared_unit])
    options = {"maxiter": _STEPS, "ftol": 1e-5 * tol, "gtol": 0.0}
    found = minimize(value, first, jac=True, method="L-BFGS-B", callback=stop, options=options)
    point = decoded(found.x)[0]
    U, V, size = principal(point.U, point.V, program.norm)
    return replace(point, U=U, V=V, size=size)


def _grown(program: Program, at: FactorModel, proof: Proof, tol: float) -> FactorModel:
    """New columns in the directions of the largest singular values above one."""
    if not np.any(proof.P.data):
        # The gradient of the loss is zero, so no new column can lower the objective.
        return at
    k = at.U.shape[1]
    if not k and program.norm == "max":
        V = program.random.standard_normal((proof.P.shape[1], MORE))
        return _sized(program, at, *aligned(proof.P, V))
    sides = [np.ones(n) for n in proof.P.shape]
    if proof.scales is not None:
        sides = [evened(scale) ** -0.5 for scale in proof.scales]
    scaled = sp.csr_array(sp.diags_array(sides[0]) @ proof.P @ sp.diags_array(sides[1]))
    room = min(max(MORE, k), *scaled.shape)
    left, sizes, right = randomized_svd(scaled, room, n_iter=4, random_state=program.random)
    # A direction that does not pay must not come along: its best multiple with one that pays may
    # be zero, where descent stays.
    new = sizes > 1.0 + 0.1 * tol
    if not np.any(new):
        return at
    U, V = sides[0][:, None] * left[:, new], sides[1][:, None] * right[new].T
    if not k:
        return _sized(program, at, U, V)
    root = np.sqrt(_NEW * at.size / principal(U, V, program.norm)[2])
    return replace(at, U=np.hstack([at.U, root * U]), V=np.hstack([at.V, root * V]))


def _sized(program: Program, at: FactorModel, U: Array, V: Array) -> FactorModel:
    """Factors of the best multiple of a product."""
    norm = principal(U, V, program.norm)[2]

    def value(t: float) -> float:
        root = np.sqrt(t / norm)
        return t + program.slopes(replace(at, U=root * U, V=root * V), 0.0)[0]

    most = value(0.0)
    root = np.sqrt(minimize_scalar(value, bounds=(0.0, most), method="bounded").x / norm)
    return replace(at, U=root * U, V=root * V)


def folded(program: Program, at: FactorModel) -> FactorModel:
    """The best factors and offsets of new rows, those of the columns being what they are."""
    n, k = program.entries.shape[0], at.V.shape[1]
    unit = 1.0 / np.sqrt(program.c * (program.offsets.counts[:n] + program.ridge))
    # The max-norm lets rows be as long as the longest of the fit, at no cost.
    fixed = [] if program.norm == "trace" else [np.log(max(at.size, 1e-300))]

    def decoded(x: Array) -> tuple[FactorModel, float, Array]:
        head = np.append(x[:-n], fixed)
        U, size = program.factors.decode(head, n)
        return replace(at, U=U, rows=unit * x[-n:]), size, head

    def value(x: Array, width: float) -> tuple[float, Array]:
        point, size, head = decoded(x)
        total, slope, sums, _ = program.slopes(point, width)
        factors = program.factors.pull(head, point.U, slope[:n])[: x.size - n]
        return size + total, np.append(factors, unit * sums[:n])

    zero = program.factors.encode(np.zeros((n, k)))
    x = np.append(zero[: zero.size - len(fixed)], np.zeros(n))
    options = {"maxiter": 50 * _STEPS, "ftol": 1e-14, "gtol": 1e-9}
    for width in FOLDED:
        x = minimize(value, x, (width,), "L-BFGS-B", jac=True, options=options).x
    return decoded(x)[0]


def least_price(program: Program) -> float:
    """The penalty up to which the best matrix is zero; for a loss with a kink, about that.

    It is infinite where offsets and thresholds alone leave no loss.
    """
    program = program.at_penalty(1.0 / program.i.size)
    point = improved(program, program.start(), FOLDED[0], 1e-3, ENDLESS)
    proof = program.proof(point, FOLDED[0])
    size = dual_norm(proof.P, program.norm, proof.scales)
    return program.c / size if size > 0.0 else np.inf
