"""What each solver would cost in each form: predicted from sizes, cliques and fill."""

from sdpdr.costs.predict import Cost, available_memory, is_least, predict, predict_least, priority
from sdpdr.costs.structure import Structure

__all__ = ["Cost", "Structure", "available_memory", "is_least", "predict", "predict_least", "priority"]
