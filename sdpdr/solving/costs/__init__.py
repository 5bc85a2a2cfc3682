"""What each solver would cost in each form: predicted from sizes, cliques and fill."""

from sdpdr.solving.costs.candidates import Candidate, Candidates
from sdpdr.solving.costs.prediction import Cost, predict, priority
from sdpdr.solving.costs.structure import Structure

__all__ = ["Candidate", "Candidates", "Cost", "Structure", "predict", "priority"]
