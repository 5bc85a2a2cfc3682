"""Small programs whose optimum is known, as proof files, and changes of these files."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

import sdpdr
from sdpdr import graphs, log_det, maximize, methods, minimize, psd, scalar, square
from sdpdr.certify import check_proof
from sdpdr.certify.check_proof import EXPONENTIAL, SECOND_ORDER, System
from sdpdr.certify.proof_file.values import value_at
from sdpdr.solvers import Multiprecision, reference


@dataclass
class Contents:
    """What a file holds."""

    program: dict
    proof: dict

    @classmethod
    def of(cls, path):
        with gzip.open(path) as file:
            return cls(*map(json.loads, file.read().splitlines()))

    def write(self, path, *, hashes=True):
        """Write the file; the hash is that of the program now, unless it is to stay."""
        line = json.dumps(self.program)
        if hashes:
            self.proof["program"] = hashlib.sha256(line.encode()).hexdigest()
        text = line + "\n" + json.dumps(self.proof)
        path.write_bytes(gzip.compress(text.encode()))
        return path


def pentagon():
    """The number of Lovász of the pentagon, the square root of five."""
    X = psd("X", 5)
    edges = [X[i, (i + 1) % 5] == 0.0 for i in range(5)]
    return maximize(X.sum()) + (X.trace() == 1.0) + edges


def unfolding():
    """An unfolding of a path of three points: 1 + 9 + 4, less a third of 16, divided by..."""
    return methods.mvu(graphs.path([1.0, 2.0]))


def triangle():
    """Sides of lengths 1, 1 and 3, which are those of no triangle."""
    K = psd("K", 3)
    sides = ((0, 1, 1.0), (1, 2, 1.0), (0, 2, 9.0))
    return minimize(K.trace()) + [K[i, i] + K[j, j] - 2 * K[i, j] == d for i, j, d in sides]


def downhill():
    """A matrix whose corner may grow for ever."""
    K = psd("K", 2)
    return minimize(-K[0, 0] + K[1, 1]) + (K[1, 1] >= 1.0)


def hidden_face():
    """A corner that is zero, so that the optimum of one is on a face."""
    X = psd("X", 3)
    return minimize(X[2, 2] + X[1, 1]) + (X[0, 0] == 0) + (X[2, 2] + 2 * X[0, 1] == 1)


def no_face():
    """A corner that is zero beside an entry that is not."""
    X = psd("X", 2)
    return minimize(X.trace()) + (X[0, 0] == 0) + (X[0, 1] == 1)


def twice():
    """Equations that are given twice, and that no doubles satisfy; the optimum is two thirds."""
    X = psd("X", 2)
    return minimize(X.trace()) + (3 * X[0, 1] == 1.0).named("a") + (6 * X[0, 1] == 2.0).named("b")


def curved():
    """A quadratic cost: the optimum of (z - 1)^2 + z over z at least 1 is one."""
    z = scalar("z")
    return minimize(square(z - 1.0) + z) + (z >= 1.0)


def inequality():
    """A matrix inequality: t I - C is semidefinite from the largest eigenvalue, three, on."""
    t = scalar("t")
    return minimize(t) + (t * np.eye(2) >> np.array([[2.0, 1.0], [1.0, 2.0]]))


def determinant():
    """A smooth cost, without a standard form: the largest determinant belongs to 2 I."""
    K = psd("K", 2)
    return maximize(log_det(K)) + (K.diagonal() <= 2.0)


def endless():
    """An entry that may fall for ever, though no direction lets it: the dual has no point."""
    K = psd("K", 2)
    return minimize(K[0, 1]) + (K[0, 0] <= 1.0)


MODELS = {
    pentagon: np.sqrt(5.0),
    unfolding: 14.0 / 3.0,
    hidden_face: 1.0,
    twice: 2.0 / 3.0,
    curved: 1.0,
    inequality: 3.0,
    determinant: np.log(4.0),
    triangle: "infeasible",
    no_face: "infeasible",
    downhill: "unbounded",
    endless: "unbounded",
}


def entropy():
    x = cp.Variable(3)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1])


def distance():
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.norm(x - np.array([1.0, 2.0, 3.0]))), [cp.sum(x) == 3.0])


def power():
    x = cp.Variable()
    return cp.Problem(cp.Maximize(cp.power(x, 0.25, approx=False)), [x <= 16.0])


def correlation():
    X = cp.Variable((2, 2), PSD=True)
    return cp.Problem(cp.Minimize(X[0, 1]), [cp.diag(X) == 1])


def no_exponential():
    x = cp.Variable()
    return cp.Problem(cp.Maximize(x), [cp.exp(x) <= -1.0])


def no_limit():
    x = cp.Variable()
    return cp.Problem(cp.Minimize(x), [x <= 1.0])


def laplacian():
    """Weights of a triangle, whose Laplacians share a null vector: the optimum is 3 * 6 / 3."""
    w, t = cp.Variable(3, nonneg=True), cp.Variable()
    edges = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])
    L = sum(w[k] * np.outer(e, e) for k, e in enumerate(edges))
    centred = np.eye(3) - np.ones((3, 3)) / 3.0
    return cp.Problem(cp.Maximize(t), [cp.sum(w) == 6.0, L >> 3.0 * t * centred])


def parabola():
    v = cp.Variable(2)
    return cp.Problem(cp.Maximize(v[0]), [cp.square(v[0]) <= v[1]])


def no_centre():
    """A'P + P A is to be nothing, by a face, and P is to be at least the identity."""
    A = np.array([[0.0, 1.0], [0.0, 0.0]])
    P = cp.Variable((2, 2), symmetric=True)
    return cp.Problem(cp.Minimize(cp.trace(P)), [A.T @ P + P @ A << 0, P >> np.eye(2)])


PROBLEMS = {
    entropy: np.log(3.0),
    distance: np.sqrt(3.0),
    power: 2.0,
    correlation: -1.0,
    no_exponential: "infeasible",
    no_limit: "unbounded",
    laplacian: 2.0,
    parabola: "unbounded",
    no_centre: "infeasible",
}
ALL = {**MODELS, **PROBLEMS}
# Solvers in doubles see points, or limits, where these have none.
DECEIVING = (no_face, endless, parabola, no_centre)


def multipliers(P, y, *, unit=None, a=None):
    """Multipliers of rows as a point of the dual program, with units in which they may move."""
    y = np.array(y, dtype=float)
    s, curved = np.bincount(P.column, P.value * y[P.row], P.E + P.p)[P.E :], np.flatnonzero(P.q)
    if unit is None:
        is_free = np.resize(P.equation, y.size)
        unit = np.where(is_free, max(1.0, np.abs(y).max()), 0.5 * np.abs(y))
        unit[0] = 0.0
    return {
        "z": np.r_[y, s[curved] / P.q[curved]],
        "unit": np.r_[unit, np.ones(curved.size)],
        "a": np.zeros(sum(n * len(U) for n, U in zip(P.n, P.U, strict=True))) if a is None else a,
    }


def upper(P, w, *, ray=False):
    """The value that the checker proves by a point, with the best bound on singular values."""
    return value_at(System(P, w, ray=ray))


def lower_near(P, w, *, ray=False):
    """The bound that the checker proves by multipliers, likewise."""
    return -value_at(check_proof.multipliers(P, w, ray=ray))


def write(make, path):
    """Solve a program and write its proof."""
    found = sdpdr.solve(make()) if make in MODELS else sdpdr.verify(make())
    return found.write_proof(path)


def precise_optimum(d):
    """The optimum of the program of a file in twenty digits; None where it is not found.

    There is none over exponential and power cones, which the solver in many digits does not know,
    and where a program is too near to one without interior.
    """
    if (
        any(kind != SECOND_ORDER for kind, *_ in d["cones"])
        or not Multiprecision.availability().usable
    ):
        return None
    X = [psd(f"X{k}", n) for k, n in enumerate(d["n"])]
    z = [scalar(f"z{j}", nonnegative=j in d["nonnegative"]) for j in range(len(d["q"]))]
    rows = [0.0] * len(d["b"])
    for e, k, i, j, v in zip(*d["A"], strict=True):
        rows[e] = rows[e] + (v if i == j else 2.0 * v) * X[k][i, j]
    for e, j, v in zip(*d["B"], strict=True):
        rows[e] = rows[e] + v * z[j]
    constraints = []
    for k, *u in d["U"]:
        parts = list(zip(*u, strict=True))
        constraints += [sum(v * X[k][i, j] for j, v in parts) == 0 for i in range(d["n"][k])]
    in_cones = {e for _, at, *_ in d["cones"] for e in at}
    for e in set(range(1, len(rows))) - in_cones:
        is_inequality = e in d["inequalities"]
        if isinstance(rows[e], float):
            if d["b"][e] < 0.0 or (d["b"][e] and not is_inequality):
                return np.inf
        else:
            constraints.append(rows[e] <= d["b"][e] if is_inequality else rows[e] == d["b"][e])
    for _, at in d["cones"]:
        head, *body = (d["b"][e] - rows[e] for e in at)
        arrow = (head + 0.0 * z[0]) * np.eye(len(body) + 1)
        for place, r in enumerate(body, start=1):
            E = np.zeros_like(np.eye(len(body) + 1))
            E[0, place] = E[place, 0] = 1.0
            arrow = arrow + (r + 0.0 * z[0]) * E
        constraints.append(arrow >> 0.0)
    cost = rows[0] + sum(q / 2.0 * square(z[j]) for j, q in enumerate(d["q"]) if q)
    sdp = (minimize(cost) + constraints).to_sdp()
    found = reference(sdp, digits=20, time_limit=10.0)
    known = {"infeasible": np.inf, "solved": found.value + d["b"][0]}
    return known.get(found.status)


def optimum(d):
    """The optimum of the program of a file, by cvxpy and Clarabel; infinite without points."""
    X = [cp.Variable((n, n), PSD=True) for n in d["n"]]
    z = cp.Variable(max(len(d["q"]), 1))
    rows = [cp.Constant(0.0)] * len(d["b"])
    for e, k, i, j, v in zip(*d["A"], strict=True):
        rows[e] = rows[e] + v * (X[k][i, j] if i == j else 2.0 * X[k][i, j])
    for e, j, v in zip(*d["B"], strict=True):
        rows[e] = rows[e] + v * z[j]
    constraints = []
    for k, i, v in d["U"]:
        constraints.append(X[k] @ np.bincount(i, v, d["n"][k]) == 0)
    in_cones = {e for _, at, *_ in d["cones"] for e in at}
    for e in set(range(1, len(rows))) - in_cones:
        slack = d["b"][e] - rows[e]
        constraints.append(slack >= 0 if e in d["inequalities"] else slack == 0)
    for kind, at, *exponent in d["cones"]:
        r = [d["b"][e] - rows[e] for e in at]
        if kind == SECOND_ORDER:
            constraints.append(cp.SOC(r[0], cp.hstack(r[1:])))
        elif kind == EXPONENTIAL:
            constraints.append(cp.ExpCone(*r))
        else:
            constraints.append(cp.PowCone3D(*r, *exponent))
    constraints += [z[j] >= 0 for j in d["nonnegative"]]
    squares = [q / 2.0 * cp.square(z[j]) for j, q in enumerate(d["q"]) if q]
    problem = cp.Problem(cp.Minimize(d["b"][0] + rows[0] + sum(squares)), constraints)
    return float(problem.solve(solver=cp.CLARABEL, ignore_dpp=True))
