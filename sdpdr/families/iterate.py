"""Drivers that solve a sequence of programs: convex iteration towards a low rank, folding first."""

from sdpdr.families.unfold.iterated import (
    RankConstrained,
    minimum_volume,
    rank_constrained,
    volume_iteration,
)
from sdpdr.families.unfold.loocv_by_fold import loocv_of_fold, solve_loocv
from sdpdr.solving.iterate.convex import ConvexIteration
from sdpdr.solving.iterate.directions import Direction, LogDet, Schur, Trailing
from sdpdr.solving.iterate.purify import Purified, polish, reduce_rank
from sdpdr.solving.iterate.records import IterationStatus, Record, State

__all__ = [
    "ConvexIteration",
    "Direction",
    "IterationStatus",
    "LogDet",
    "Purified",
    "RankConstrained",
    "Record",
    "Schur",
    "State",
    "Trailing",
    "loocv_of_fold",
    "minimum_volume",
    "polish",
    "rank_constrained",
    "reduce_rank",
    "solve_loocv",
    "volume_iteration",
]
