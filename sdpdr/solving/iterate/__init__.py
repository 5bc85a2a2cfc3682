"""Drivers that solve a sequence of programs: convex iteration towards a low rank."""

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
    "Record",
    "Schur",
    "State",
    "Trailing",
    "polish",
    "reduce_rank",
]
