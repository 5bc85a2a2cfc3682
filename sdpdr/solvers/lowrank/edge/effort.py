r"""Prediction of the rank of the answer of an edge program, and of the faster engine.

Points near a surface unfold into few dimensions, points of a noisy table with many columns into
almost as many. The spectrum of a small landmark Isomap distinguishes them: path lengths that are
not Euclidean distances cause negative eigenvalues, and eigenvalues that are not well above the
absolute value of the lowest one are noise of the paths.
"""

from __future__ import annotations

import numpy as np

from sdpdr.linalg.cliques import clique_tree
from sdpdr.solvers.lowrank.edge.newton import graph_fill, newton_fill
from sdpdr.solvers.lowrank.edge.program import EdgeProgram
from sdpdr.solvers.lowrank.edge.start import first_rank, landmark_spectrum
from sdpdr.solvers.lowrank.frame import pataki

# An eigenvalue counts as a direction above this multiple of the lowest one's absolute value. In
# some forty unfoldings (rolls, tables, digits, noise of 3 to 30 columns), estimated with 400
# landmarks, ranks of 8 and more were at most a third off and smaller ranks off by two or three;
# without the multiple, estimates are up to twice as high. Columns of unequal variance, heavy tails
# and sparse counts lead to estimates that are too low.
_DROP = 1.5
# Landmarks of a first estimate, and of a second where the spectrum is spread over more than
# `_SPREAD` eigenvalues, since few landmarks miss directions. In some sixty unfoldings the spread
# was at least 8.1 where the rank was 8 or more; at lower ranks only noise in five dimensions
# reached that.
_RANK_SAMPLE_LEAST, _RANK_SAMPLE_MOST, _SPREAD = 50, 400, 8.0
# Landmarks times points: shortest paths take a second for the first at 100,000 points, and 3 %
# of a solve at 10,000.
_LEAST_LANDMARKS, _PATHS = 20, 400_000
# Rank from which conjugate gradients are faster where a factorization takes so many multiplications
# (of 17 unfoldings all, by 1.1 to 10 times): the edge engine has to grow there, and no long
# sheet makes the equations of conjugate gradients stiff.
NOISY, NOISY_WORK = 8, 5e7
# At all ranks, nonzeros in a column of the factor and multiplications beyond which they are,
# and the rank at which both are counted. At 1112 a cloud of 2,000 points in
# five dimensions took 12 s by factorizations and 30 by conjugate gradients; at 1262 the 9,298
# digits of USPS took 102 s, and had a gap of .5 by conjugate gradients after 60.
EDGE_COLUMN, EDGE_WORK, _TYPICAL_RANK = 2000, 5e9, 6


def why_not_factored(program: EdgeProgram) -> str:
    """Why conjugate gradients are the faster way; empty where factorizations are.

    Examples
    --------
    >>> why_not_factored(EdgeProgram(edges=[[0, 1], [1, 2], [2, 3]], n=4, sqdist=1.0))
    ''
    """
    n, most = program.n, max(1, min(pataki(program.m), program.n - 1))
    # Some answer has no higher rank (Pataki), and no factor more entries than a full triangle.
    if (n * most) ** 3 / 4 <= NOISY_WORK:
        return ""
    rank, typical = expected_rank(program), min(_TYPICAL_RANK, n - 1)
    if rank >= NOISY and program.objective.is_variance and _work(program, rank)[0] > NOISY_WORK:
        return (
            f"The graph looks {rank}-dimensional; at ranks of {NOISY} and more conjugate gradients "
            "are faster than factorizations."
        )
    multiplications, fill = _work(program, typical)
    column = fill / (typical * n)
    if column > EDGE_COLUMN and multiplications > EDGE_WORK:
        return (
            f"The edge engine's Newton factor would hold {column:.0f} nonzeros in a column at "
            f"rank {typical}; beyond {EDGE_COLUMN} conjugate gradients are faster."
        )
    return ""


def expected_rank(program: EdgeProgram) -> int:
    """An estimate of the rank of the answer, from the graph.

    Examples
    --------
    >>> expected_rank(EdgeProgram(edges=[[0, 1], [1, 2]], n=3, sqdist=1.0))
    1
    """
    return program.remembered(_rank)


def _work(program: EdgeProgram, rank: int) -> tuple[float, float]:
    """Multiplications of a factorization at a rank, and numbers in the factor."""
    fill = float(newton_fill(program.remembered(graph_fill), program.n, rank))
    return fill**2 / (rank * program.n), fill


def _rank(program: EdgeProgram) -> int:
    """The estimate of `expected_rank`."""
    few = max(_LEAST_LANDMARKS, min(_RANK_SAMPLE_LEAST, _PATHS // program.n))
    spectrum = landmark_spectrum(program, few)
    rank = _directions(spectrum)
    many = min(_RANK_SAMPLE_MOST, _PATHS // program.n)
    if _spread(spectrum) > _SPREAD and many > few:
        # The first estimate may be higher, because few landmarks include fewer far outliers.
        rank = max(rank, _directions(landmark_spectrum(program, many)))
    # Some answer has no rank beyond r (r + 1) / 2 = m, whatever the graph looks like (Pataki).
    rank = min(max(rank, 1), max(pataki(program.m), 1), program.n - 1)
    if rank >= NOISY:
        rank = min(rank, _room(program, rank))
    if program.m < program.n:
        # A tree has room for all its lengths in few dimensions, and fills nothing in.
        spectrum_of = None if program.has_lower_limits else spectrum
        return min(rank, first_rank(program, spectrum_of))
    return rank


def _room(program: EdgeProgram, rank: int) -> int:
    """Dimensions that the separators of a thin graph leave room for; the rank given for others.

    Some map of largest variance has no more than the tree-width and one (Göring, Helmberg and
    Wappler, 2008), as parts can be turned about what separates them. So a wheel needs four.
    """
    thin = _work(program, 1)[1] < rank * program.n
    return int(clique_tree(program.n, program.edges).sizes.max()) if thin else rank


def _directions(spectrum: np.ndarray) -> int:
    """Eigenvalues, in descending order, that are clearly no noise."""
    return int((spectrum > max(-_DROP * spectrum[-1], 1e-8 * spectrum[0])).sum())


def _spread(spectrum: np.ndarray) -> float:
    """Over how many positive eigenvalues it is spread: squared sum over sum of squares."""
    above = spectrum[spectrum > 0.0]
    return float(above.sum() ** 2 / np.square(above).sum())
