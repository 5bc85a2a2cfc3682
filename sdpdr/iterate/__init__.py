"""Drivers that solve a sequence of programs: convex iteration towards a low rank, and its users."""

from sdpdr.iterate.constrained import RankConstrained, rank_constrained
from sdpdr.iterate.convex import ConvexIteration
from sdpdr.iterate.directions import Direction, LogDet, Schur, Trailing
from sdpdr.iterate.purify import Purified, polish, reduce_rank
from sdpdr.iterate.records import IterationStatus, Record, State
from sdpdr.iterate.volume import minimum_volume, volume_iteration

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
