"""Statistics of a study: pure functions of the frame of its rows. Needs pandas."""

from sdpdr.lab.study.measures.contestants import best_form, label, matrix, ratios_to_best, times
from sdpdr.lab.study.measures.failures import (
    claims,
    contradictions,
    disagreements,
    failure_map,
    outcome_counts,
)
from sdpdr.lab.study.measures.frame import frame_of, runs_by_median, seconds_of
from sdpdr.lab.study.measures.growth import Growth, fit_growth, growth
from sdpdr.lab.study.measures.means import (
    Profile,
    accuracy_profile,
    means,
    not_installed,
    performance_profile,
    shifted_geometric_mean,
    time_profile,
)
from sdpdr.lab.study.measures.regret import Regret, holm, noise_of, regret_of
from sdpdr.lab.study.measures.structure import best_by_structure, forms_by_solver, size_class
from sdpdr.lab.study.measures.versus import Versus, versus

__all__ = [
    "Growth",
    "Profile",
    "Regret",
    "Versus",
    "accuracy_profile",
    "best_by_structure",
    "best_form",
    "claims",
    "contradictions",
    "disagreements",
    "failure_map",
    "fit_growth",
    "forms_by_solver",
    "frame_of",
    "growth",
    "holm",
    "label",
    "matrix",
    "means",
    "noise_of",
    "not_installed",
    "outcome_counts",
    "performance_profile",
    "ratios_to_best",
    "regret_of",
    "runs_by_median",
    "seconds_of",
    "shifted_geometric_mean",
    "size_class",
    "time_profile",
    "times",
    "versus",
]
