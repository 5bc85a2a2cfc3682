"""Drivers that solve a sequence of programs: convex iteration towards a low rank, and its users."""

from sdpdr.families.unfold.iterated import (
    RankConstrained,
    minimum_volume,
    rank_constrained,
    volume_iteration,
)
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
    "minimum_volume",
    "polish",
    "rank_constrained",
    "reduce_rank",
    "volume_iteration",
]
