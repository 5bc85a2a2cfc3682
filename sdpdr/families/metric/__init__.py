"""Metrics from pairs of points: the pairs, and both programs solved without a general solver."""

from sdpdr.families.metric.ghodsi import closed_form
from sdpdr.families.metric.pairs import Pairs, pairs_from_labels
from sdpdr.families.metric.xing import solve_xing, whiten

__all__ = ["Pairs", "closed_form", "pairs_from_labels", "solve_xing", "whiten"]
