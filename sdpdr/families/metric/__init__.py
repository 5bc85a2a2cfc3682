"""Metrics from pairs: the pairs, the programs solved without a general solver, kernels."""

from sdpdr.base.gather import names as _names
from sdpdr.families.metric.answer import MetricAnswer as MetricAnswer
from sdpdr.families.metric.choose import choose_pairs as choose_pairs
from sdpdr.families.metric.choose import pairs_from_labels as pairs_from_labels
from sdpdr.families.metric.ghodsi import closed_form as closed_form
from sdpdr.families.metric.kernel import kernel_coordinates as kernel_coordinates
from sdpdr.families.metric.pairs import Pairs as Pairs
from sdpdr.families.metric.pairs import pairs_from_points as pairs_from_points
from sdpdr.families.metric.whiten import whiten as whiten
from sdpdr.families.metric.xing import answer_of as answer_of
from sdpdr.families.metric.xing import ascend as ascend
from sdpdr.families.metric.xing import root_bound as root_bound
from sdpdr.families.metric.xing import solve_xing as solve_xing

__all__ = _names(vars())
