"""Metrics from pairs: the pairs, the programs that need no general solver, kernels."""

from sdpdr.metric.answer import MetricAnswer, components_of, factor_of, trimmed
from sdpdr.metric.fantope import closed_form, frobenius_form
from sdpdr.metric.kernel import KernelCoordinates, kernel_coordinates
from sdpdr.metric.pairs import Pairs, choose_pairs, pairs_from_labels, pairs_from_points
from sdpdr.metric.roots import Ascent, answer_of, ascend, root_bound, solve_xing
from sdpdr.metric.whiten import Whitened, whiten

__all__ = [
    "Ascent",
    "KernelCoordinates",
    "MetricAnswer",
    "Pairs",
    "Whitened",
    "answer_of",
    "ascend",
    "choose_pairs",
    "closed_form",
    "components_of",
    "factor_of",
    "frobenius_form",
    "kernel_coordinates",
    "pairs_from_labels",
    "pairs_from_points",
    "root_bound",
    "solve_xing",
    "trimmed",
    "whiten",
]
