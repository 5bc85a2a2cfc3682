r"""Points and multipliers well inside all cones, towards which those near an optimum are moved.

Small eigenvalues are lifted to a share of the largest that is no small one, and what comes nearest
to that in the local norm is found by conjugate gradients: in a norm whose scales are that alike
they need few steps, where a norm at the optimum itself needs a factorization. A part of the way
there lifts small eigenvalues by that part, and costs in value what that part of the way does.

With P the projection onto the vectors with :math:`E d = 0`, and H the inverse of the norm's squares
at a point, or the squares at multipliers, both sides solve equations with
:math:`P M^T H M P`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.program.attain.dense import DenseProgram
from sdpdr.program.attain.metric import Metric, depth
from sdpdr.program.attain.newton import unless_lost

# Shares of the largest eigenvalues that small ones are lifted to, of points and of multipliers, and
# how often points are lifted.
LIFTED, _MORE_LIFTED = 1e-2, 1e-1
_ROUNDS = 2
# Steps at most, and how far they bring what is left: what is moved is put right afterwards. On
# textbook programs points took 2 to 12 where there is an inside of that depth, multipliers 2 to 24.
_STEPS, _MORE_STEPS, _LEFT = 12, 30, 1e-2
# How far inside a point has to lie beside its largest eigenvalues to be worth moving to.
_DEPTH = 1e-4


@unless_lost
def inner_point(program: DenseProgram, v: Array) -> Array | None:
    """A point on the equations, well inside all cones; None where there is none so near.

    Parameters
    ----------
    program : DenseProgram
    v : array of shape (p,)
        On the equations.
    """
    for _ in range(_ROUNDS):
        s = program.M @ v + program.t
        metric = Metric(program, s, LIFTED, inverse=True, squared=True)
        right = program.sparse.T @ _measured(metric, metric.lifted - s)
        v = v + _solved(program, metric, right, _STEPS)
        if depth(program, program.M @ v + program.t, signed=True) <= -_DEPTH:
            return v
    return None


@unless_lost
def inner_multipliers(program: DenseProgram, slack: Array, cost: Array) -> Array | None:
    """Multipliers of all cones, well inside of them, that nearly solve the equations; or None.

    Parameters
    ----------
    program : DenseProgram
    slack : array of shape (k,)
        Multipliers near an optimum, with those of variables.
    cost : array of shape (p,)
    """
    metric = Metric(program, slack, _MORE_LIFTED, squared=True)
    step = _solved(program, metric, cost - program.sparse.T @ metric.lifted, _MORE_STEPS)
    z = metric.lifted + _measured(metric, program.sparse @ step)
    return z if depth(program, z, signed=True) <= -_DEPTH else None


def _measured(metric: Metric, s: Array) -> Array:
    return metric.applied(s[:, None])[:, 0]


def _solved(program: DenseProgram, metric: Metric, right: Array, most: int) -> Array:
    """The d with E d = 0 that nearly solves the equations, by conjugate gradients."""

    def operator(d: Array) -> Array:
        found = program.sparse.T @ _measured(metric, program.sparse @ d)
        return program.without_prices(found)

    return _conjugate(operator, program.without_prices(right), most)


def _conjugate(operator: Callable[[Array], Array], right: Array, most: int) -> Array:
    found, residual = np.zeros(right.size), right
    direction, squared = right, float(right @ right)
    enough = _LEFT**2 * squared
    for _ in range(most):
        if squared <= enough:
            break
        image = operator(direction)
        length = squared / float(direction @ image)
        found = found + length * direction
        residual = residual - length * image
        before, squared = squared, float(residual @ residual)
        direction = residual + (squared / before) * direction
    return found
