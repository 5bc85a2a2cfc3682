"""Metrics from pairs: the pairs, the programs that need no general solver, kernels."""

from sdpdr.families.metric.choose import ClassPairs, choose_pairs, pairs_from_labels
from sdpdr.families.metric.fantope import (
    MetricAnswer,
    closed_form,
    components_of,
    factor_of,
    frobenius_form,
    trimmed,
)
from sdpdr.families.metric.pairs import Pairs, pairs_from_points
from sdpdr.families.metric.plain import ShareChoice, choose_share, mixed
from sdpdr.families.metric.roots import Ascent, answer_of, ascend, root_bound, solve_xing
from sdpdr.families.metric.whiten import KernelCoordinates, Whitened, kernel_coordinates, whiten

__all__ = [
    "Ascent",
    "ClassPairs",
    "KernelCoordinates",
    "MetricAnswer",
    "Pairs",
    "ShareChoice",
    "Whitened",
    "answer_of",
    "ascend",
    "choose_pairs",
    "choose_share",
    "closed_form",
    "components_of",
    "factor_of",
    "frobenius_form",
    "kernel_coordinates",
    "mixed",
    "pairs_from_labels",
    "pairs_from_points",
    "root_bound",
    "solve_xing",
    "trimmed",
    "whiten",
]
