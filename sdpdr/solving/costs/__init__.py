"""What each solver would cost in each form: predicted from sizes, cliques and fill."""

from sdpdr.solving.costs.candidates import POSSIBLE, Candidate, Candidates
from sdpdr.solving.costs.prediction import (
    Cost,
    crowding,
    method_of,
    patience,
    posed,
    predict,
    priority,
    shares,
)
from sdpdr.solving.costs.structure import Structure

__all__ = [
    "POSSIBLE",
    "Candidate",
    "Candidates",
    "Cost",
    "Structure",
    "crowding",
    "method_of",
    "patience",
    "posed",
    "predict",
    "priority",
    "shares",
]
