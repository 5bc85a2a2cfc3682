"""A first point and its multipliers, by stretching the points and cutting edges back in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.solvers.lowrank.edge.newton import BlockLaplacian
from sdpdr.solvers.lowrank.edge.program import EdgeProgram, Matrix, Vector
from sdpdr.solvers.lowrank.frame import Journal, Options

# Pull of an edge that misses its copy by its own length, over the objective per edge. Answers have
# pulls of 1 in the mean; much harder ones let points move slowly. Of 12 to 40, and 8 to 40 rounds,
# the iterations afterwards were alike: of 25 rolls, clouds and images a fifth fewer factorizations
# than from the point alone, of a roll of 100,000 points 29 in place of 40.
_PULL, _ROUNDS = 20.0, 24
# Copies that pull no harder than the objective let the points drift apart without end.
_MARGIN, _HARDER, _TRIES = 2.0, 4.0, 12
_DRIFT = 1e3  # times the objective of a shape by Isomap, beyond which no limit holds it
_BEYOND = 1.6  # over-relaxation


@dataclass(frozen=True, eq=False)
class Stretched:
    """Points that nearly keep upper limits, and how far each edge would like to reach.

    Attributes
    ----------
    R : (n, r) array
    reach : (m,) array
        Of every edge, over the length allowed: beyond 1 where a limit holds it back.
    pull : float
        Multiplier of a relative squared length for twice the part of the reach beyond 1.
    """

    R: Matrix
    reach: Vector
    pull: float


def stretched(program: EdgeProgram, R: Matrix, journal: Journal | None = None) -> Stretched | None:
    r"""Stretch points under upper limits, a few rounds of alternating directions.

    With a copy :math:`p_e` of every difference :math:`\delta_e = R_i - R_j`, scaled multipliers
    :math:`u_e` and weights :math:`\omega_e`, a round is

    .. math:: \Bigl(\sum_e \omega_e (e_i - e_j)(e_i - e_j)^T - C\Bigr) R
              = \sum_e \omega_e (e_i - e_j) (p_e - u_e)^T, \qquad
              p_e = \operatorname{cut}(\delta_e + u_e), \qquad u_e \mathrel{+}= \delta_e - p_e ,

    where cut shortens to the length allowed, or by as much as the price is worth. The matrix does
    not change and has no blocks: its factorization costs a fraction of that of Newton's matrix,
    and a round less than a direction with it.

    Parameters
    ----------
    program : EdgeProgram
        One of `EdgeProgram.only_cuts`.
    R : (n, r) array
    journal : Journal, optional
        Counts factorizations, and says when time is up; no further round is then begun.

    Returns
    -------
    Stretched or None
        None where no pull holds the points together, or they drift apart all the same.

    References
    ----------
    Boyd, Parikh, Chu, Peleato and Eckstein, Distributed optimization and statistical learning via
    the alternating direction method of multipliers (2011); Overby, Brown, Li and Narain, ADMM
    projective dynamics (2017), for points that are joined by springs.

    Examples
    --------
    >>> pair = EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0)
    >>> found = stretched(pair, np.array([[-3.0], [3.0]]))
    >>> 0.9 < float(np.ptp(found.R)) < 1.1
    True
    """
    journal = journal or Journal(Options())
    prepared = _held_together(program, R, journal)
    if prepared is None:
        return None
    matrix, pull = prepared
    first = program.objective.value(R)
    weights = pull / program.sqdist
    difference = program.difference
    adjoint = difference.T.tocsr()
    length = np.sqrt(program.upper)
    least = weights / (weights + program.price)  # of a length, left by a finite price
    copies = difference @ R
    copies *= _cut(copies, length, least)[1][:, None]
    moved = np.zeros_like(copies)
    reach = np.ones(program.m)
    for _ in range(_ROUNDS):
        if journal.late():
            break
        pulled = 2.0 * (adjoint @ (weights[:, None] * (copies - moved)))
        R = np.hstack([matrix.solve(column[:, None]) for column in pulled.T])
        wanted = _BEYOND * (difference @ R) + (1.0 - _BEYOND) * copies + moved
        reach, share = _cut(wanted, length, least)
        copies = share[:, None] * wanted
        moved = wanted - copies
    drifted = not program.objective.value(R) < _DRIFT * first
    return None if drifted else Stretched(program.centred(R), reach, pull)


def _held_together(
    program: EdgeProgram, R: Matrix, journal: Journal
) -> tuple[BlockLaplacian, float] | None:
    """Factors of the matrix of a round, and a pull that makes it positive but for moving all."""
    matrix = BlockLaplacian(program.edges, program.mass, 1, program.objective)
    shift = -2.0 * program.objective.variance
    pull = _PULL * program.objective.value(R) / program.m
    none = np.zeros(program.m)
    for _ in range(_TRIES):
        # Held together by less, they are held together well by the whole.
        matrix.assemble(pull / (_MARGIN * program.sqdist), none, none[:, None])
        journal.factorizations += 1
        if matrix.factorize(shift) == (1 if shift < 0.0 else 0):
            matrix.assemble(pull / program.sqdist, none, none[:, None])
            journal.factorizations += 1
            matrix.factorize(shift)
            return matrix, pull
        pull *= _HARDER
    return None


def _cut(wanted: Matrix, length: Vector, least: Vector) -> tuple[Vector, Vector]:
    """Lengths wanted over those allowed, and the share of each that is left."""
    size = np.sqrt(np.einsum("ij,ij->i", wanted, wanted))
    reach = size / length
    share = np.maximum(1.0 / np.maximum(reach, 1.0), least)
    return reach, np.where(reach > 1.0, share, 1.0)
