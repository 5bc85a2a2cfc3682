"""Drivers that solve a sequence of programs: convex iteration towards a low rank, folding first."""

from sdpdr.base.gather import names as _names
from sdpdr.families.unfold.iterated import RankConstrained as RankConstrained
from sdpdr.families.unfold.iterated import minimum_volume as minimum_volume
from sdpdr.families.unfold.iterated import rank_constrained as rank_constrained
from sdpdr.families.unfold.loocv_by_fold import solve_loocv as solve_loocv
from sdpdr.solving.iterate.convex import ConvexIteration as ConvexIteration
from sdpdr.solving.iterate.directions import Direction as Direction
from sdpdr.solving.iterate.directions import LogDet as LogDet
from sdpdr.solving.iterate.directions import Schur as Schur
from sdpdr.solving.iterate.directions import Trailing as Trailing
from sdpdr.solving.iterate.purify import Purified as Purified
from sdpdr.solving.iterate.purify import polish as polish
from sdpdr.solving.iterate.records import IterationStatus as IterationStatus
from sdpdr.solving.iterate.records import Record as Record
from sdpdr.solving.iterate.records import State as State

__all__ = _names(vars())
