"""Statistics of a study: pure functions of the frame of its rows. Needs pandas."""

from sdpdr.base.gather import names as _names
from sdpdr.lab.study.measures.contestants import best_form as best_form
from sdpdr.lab.study.measures.contestants import label as label
from sdpdr.lab.study.measures.contestants import matrix as matrix
from sdpdr.lab.study.measures.contestants import ratios_to_best as ratios_to_best
from sdpdr.lab.study.measures.contestants import times as times
from sdpdr.lab.study.measures.failures import claims as claims
from sdpdr.lab.study.measures.failures import contradictions as contradictions
from sdpdr.lab.study.measures.failures import disagreements as disagreements
from sdpdr.lab.study.measures.failures import failure_map as failure_map
from sdpdr.lab.study.measures.failures import outcome_counts as outcome_counts
from sdpdr.lab.study.measures.frame import frame_of as frame_of
from sdpdr.lab.study.measures.frame import runs_by_median as runs_by_median
from sdpdr.lab.study.measures.frame import seconds_of as seconds_of
from sdpdr.lab.study.measures.growth import Growth as Growth
from sdpdr.lab.study.measures.growth import fit_growth as fit_growth
from sdpdr.lab.study.measures.growth import growth as growth
from sdpdr.lab.study.measures.means import Profile as Profile
from sdpdr.lab.study.measures.means import accuracy_profile as accuracy_profile
from sdpdr.lab.study.measures.means import means as means
from sdpdr.lab.study.measures.means import not_installed as not_installed
from sdpdr.lab.study.measures.means import performance_profile as performance_profile
from sdpdr.lab.study.measures.means import shifted_geometric_mean as shifted_geometric_mean
from sdpdr.lab.study.measures.means import time_profile as time_profile
from sdpdr.lab.study.measures.regret import Regret as Regret
from sdpdr.lab.study.measures.regret import holm as holm
from sdpdr.lab.study.measures.regret import noise_of as noise_of
from sdpdr.lab.study.measures.regret import regret_of as regret_of
from sdpdr.lab.study.measures.structure import best_by_structure as best_by_structure
from sdpdr.lab.study.measures.structure import forms_by_solver as forms_by_solver
from sdpdr.lab.study.measures.structure import size_class as size_class
from sdpdr.lab.study.measures.versus import Versus as Versus
from sdpdr.lab.study.measures.versus import versus as versus

__all__ = _names(vars())
