"""Descent on factors: rounds of L-BFGS, of a bound, and of columns that pay, until both agree.

See ``factors`` for the program.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize, minimize_scalar
from sklearn.utils.extmath import randomized_svd

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.families.factor.margin.factors import MORE, Completion, Program, Proof
from sdpdr.families.factor.margin.norms import aligned, dual_norm, evened, principal

_STEPS = 300
# Share of the tolerance by which a step must lower the value, and pairs of the limited memory: to
# the end, as kinks need it, and where many smooth programs are compared. Of a hundred columns, as
# for MovieLens 100k, these pairs are half of the work.
_FINE, _ROUGH = (1e-5, 10), (3e-4, 5)
# The parabola that rounds off a kink is this wide at first, and narrowed by this factor.
_WIDTH, _NARROWED = 0.25, 0.5
# Rounds without a better gap after which no more is hoped for.
_PATIENCE = 15
# Part of the norm that new columns bring.
_NEW = 0.05
# Widths of the parabola where rows are folded in, each from where the last ended. Scores were off
# by up to 1.7 of the last on planted signs, by 7 of a tenth of it, where descent ends too early.
FOLDED = (1e-2, 1e-3, 1e-4)


def improved(
    program: Program,
    at: Completion,
    width: float,
    tol: float,
    deadline: Deadline,
    *,
    rough: bool = False,
) -> Completion:
    """A minimum over factors with as many columns as there are."""
    p, q = program.entries.shape
    n, has_factors, shared = p + q, at.U.shape[1] > 0, program.loss.n_shared

    def decoded(x: Array) -> tuple[Completion, float, Array]:
        tail = n + shared
        head = x[: x.size - tail]
        F, size = program.factors.decode(head, n) if has_factors else (np.zeros((n, 0)), 0.0)
        offsets = program.unit * x[x.size - tail : x.size - shared]
        thresholds = program.shared_unit * x[x.size - shared :]
        point = replace(at, U=F[:p], V=F[p:], rows=offsets[:p], columns=offsets[p:])
        return replace(point, shared=thresholds), size, head

    def value(x: Array) -> tuple[float, Array]:
        point, size, head = decoded(x)
        total, slope, pulled, thresholds = program.slopes(point, width)
        F = np.vstack([point.U, point.V])
        factors = program.factors.pull(head, F, slope) if has_factors else head
        rest = (program.unit * pulled, program.shared_unit * thresholds)
        return size + total, np.concatenate([factors, *rest])

    def stop(_: Array) -> None:
        if deadline.is_over():
            raise StopIteration

    # Without a ridge there are no offsets: their unit is zero.
    unit = np.where(program.unit > 0.0, program.unit, 1.0)
    head = program.factors.encode(np.vstack([at.U, at.V])) if has_factors else np.zeros(0)
    first = np.concatenate([head, at.offsets / unit, at.shared / program.shared_unit])
    fall, pairs = _ROUGH if rough else _FINE
    options = {"maxiter": _STEPS, "ftol": fall * tol, "gtol": 0.0, "maxcor": pairs}
    found = minimize(value, first, jac=True, method="L-BFGS-B", callback=stop, options=options)
    point = decoded(found.x)[0]
    U, V, size = principal(point.U, point.V, program.factors.name)
    return replace(point, U=U, V=V, size=size)


def folded(program: Program, at: Completion) -> Completion:
    """The best factors and offsets of new rows, those of the columns being what they are."""
    n, k = len(program.unit) - len(at.V), at.V.shape[1]
    fixed = [] if program.factors.name == "trace" else [np.log(max(at.size, 1e-300))]
    unit = program.unit[:n]

    def decoded(x: Array) -> tuple[Completion, float, Array]:
        head = np.append(x[:-n], fixed)
        U, size = program.factors.decode(head, n)
        return replace(at, U=U, rows=unit * x[-n:]), size, head

    def value(x: Array, width: float) -> tuple[float, Array]:
        point, size, head = decoded(x)
        total, slope, pulled, _ = program.slopes(point, width)
        factors = program.factors.pull(head, point.U, slope[:n])[: x.size - n]
        return size + total, np.append(factors, unit * pulled[:n])

    zero = program.factors.encode(np.zeros((n, k)))
    x = np.append(zero[: zero.size - len(fixed)], np.zeros(n))
    options = {"maxiter": 50 * _STEPS, "ftol": 1e-14, "gtol": 1e-9}
    for width in FOLDED:
        x = minimize(value, x, (width,), "L-BFGS-B", jac=True, options=options).x
    return decoded(x)[0]


def least_price(program: Program) -> float:
    """The price up to which the best matrix is zero; a loss with a kink gives about that.

    It is infinite where offsets and thresholds alone leave nothing to pay for.
    """
    program = program.priced(1.0 / program.i.size)
    proof = program.proof(improved(program, program.start(), FOLDED[0], 1e-3, ENDLESS), FOLDED[0])
    size = dual_norm(proof.P, program.factors.name, proof.scales)
    return program.c / size if size > 0.0 else np.inf


def complete(
    program: Program,
    *,
    tol: float = 1e-3,
    max_iter: int = 50,
    deadline: Deadline = ENDLESS,
    start: Completion | None = None,
    rough: bool = False,
) -> Completion:
    """Rounds of descent, bound and new columns until value and bound agree.

    Parameters
    ----------
    program : Program
    tol : float, default 1e-3
        Of the relative gap.
    max_iter : int, default 50
        Rounds.
    deadline : Deadline, optional
    start : Completion, optional
        Such as the answer for another price.
    rough : bool, default False
        End each descent early, for a smooth loss whose answers are compared only.
    """
    point = program.start() if start is None else start
    nothing = np.zeros(program.i.size)
    best, width, history = replace(point, value=np.inf, bound=0.0, weights=nothing), _WIDTH, []
    for _ in range(max_iter):
        point = improved(program, point, width, tol, deadline, rough=rough)
        valued, proof = program.valued(point), program.proof(point, width)
        best = best.better(valued, proof)
        history.append(best.record(deadline, width=width, columns=point.U.shape[1]))
        stalled = len(history) > _PATIENCE and best.gap > 0.99 * history[-_PATIENCE]["gap"]
        if best.gap <= tol or deadline.is_over() or stalled:
            break
        smoothed = point.size + program.slopes(point, width)[0]
        rounded = valued.value - smoothed
        before = point
        if rounded <= 0.2 * (valued.value - proof.bound) or not point.U.shape[1]:
            point = grown(program, point, proof, tol)
        if point is before and rounded > 0.0:
            width *= _NARROWED
    return replace(best, history=tuple(history))


def grown(program: Program, at: Completion, proof: Proof, tol: float) -> Completion:
    """New columns in the directions of the largest singular values above one."""
    if not np.any(proof.P.data):
        # Every rounded margin is met: no direction pays.
        return at
    k = at.U.shape[1]
    if not k and program.factors.name == "max":
        V = program.random.standard_normal((proof.P.shape[1], MORE))
        return _sized(program, at, *aligned(proof.P, V))
    sides = [np.ones(n) for n in proof.P.shape]
    if proof.scales is not None:
        sides = [evened(scale) ** -0.5 for scale in proof.scales]
    scaled = sp.csr_array(sp.diags_array(sides[0]) @ proof.P @ sp.diags_array(sides[1]))
    room = min(max(MORE, k), *scaled.shape)
    left, sizes, right = randomized_svd(scaled, room, n_iter=4, random_state=program.random)
    pays = sizes > 1.0 + 0.1 * tol
    # From zero, where rounded kinks hide what pays, also what comes near. With what does not pay
    # beside it, the best multiple of what does may be zero, where descent stays.
    new = pays if k or pays.any() else sizes > 0.3 * sizes[0]
    if not np.any(new):
        return at
    U, V = sides[0][:, None] * left[:, new], sides[1][:, None] * right[new].T
    if not k:
        return _sized(program, at, U, V)
    root = np.sqrt(_NEW * at.size / principal(U, V, program.factors.name)[2])
    return replace(at, U=np.hstack([at.U, root * U]), V=np.hstack([at.V, root * V]))


def _sized(program: Program, at: Completion, U: Array, V: Array) -> Completion:
    """Factors of the best multiple of a product."""
    norm = principal(U, V, program.factors.name)[2]

    def value(t: float) -> float:
        root = np.sqrt(t / norm)
        return t + program.slopes(replace(at, U=root * U, V=root * V), _WIDTH)[0]

    most = value(0.0)
    root = np.sqrt(minimize_scalar(value, bounds=(0.0, most), method="bounded").x / norm)
    return replace(at, U=root * U, V=root * V)
