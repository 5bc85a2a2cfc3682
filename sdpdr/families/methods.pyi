from sdpdr.families.factor.completely_positive.recipes import copositive_cut as copositive_cut
from sdpdr.families.factor.completely_positive.recipes import cp_lift as cp_lift
from sdpdr.families.factor.isometric.recipe import isometric_nmf as isometric_nmf
from sdpdr.families.factor.isometric.recipe import isometric_nmf_lift as isometric_nmf_lift
from sdpdr.families.factor.mmmf.recipe import mmmf as mmmf
from sdpdr.families.factor.mmmf.recipe import mmmf_dual as mmmf_dual
from sdpdr.families.factor.nmf.recipes import nmf_cones as nmf_cones
from sdpdr.families.factor.nmf.recipes import nmf_dnn as nmf_dnn
from sdpdr.families.factor.nmf.recipes import nmf_lift as nmf_lift
from sdpdr.families.factor.nmf.recipes import nmf_overlap as nmf_overlap
from sdpdr.families.factor.nmf.recipes import nmf_products as nmf_products
from sdpdr.families.factor.nmf.recipes import nmf_shor as nmf_shor
from sdpdr.families.factor.polynomial.recipe import (
    polynomial_factorization as polynomial_factorization,
)
from sdpdr.families.metric.ghodsi import contrast as contrast
from sdpdr.families.metric.ghodsi import ghodsi as ghodsi
from sdpdr.families.metric.xing import xing as xing
from sdpdr.families.propagate.recipe import labelling_of as labelling_of
from sdpdr.families.propagate.recipe import mixed_label_bound as mixed_label_bound
from sdpdr.families.propagate.recipe import mixed_label_propagation as mixed_label_propagation
from sdpdr.families.propagate.recipe import mixed_label_step as mixed_label_step
from sdpdr.families.propagate.recipe import mixed_scale_step as mixed_scale_step
from sdpdr.families.regress.recipes import fantope as fantope
from sdpdr.families.regress.recipes import regression as regression
from sdpdr.families.regress.recipes import sparse_direction as sparse_direction
from sdpdr.families.sopca.recipe import sopca as sopca
from sdpdr.families.sopca.recipe import sopca_dual as sopca_dual
from sdpdr.families.unfold.anchored import anchored_mvu as anchored_mvu
from sdpdr.families.unfold.anchored import place as place
from sdpdr.families.unfold.are import are as are
from sdpdr.families.unfold.colored_mvu import colored_mvu as colored_mvu
from sdpdr.families.unfold.colored_mvu import side_information as side_information
from sdpdr.families.unfold.completion import distance_completion as distance_completion
from sdpdr.families.unfold.completion import refine as refine
from sdpdr.families.unfold.density_map import density_map as density_map
from sdpdr.families.unfold.density_map import ellipsoid_of as ellipsoid_of
from sdpdr.families.unfold.density_map import mvee as mvee
from sdpdr.families.unfold.ism import ism as ism
from sdpdr.families.unfold.ism import separation_margin as separation_margin
from sdpdr.families.unfold.loocv import fold as fold
from sdpdr.families.unfold.loocv import loocv as loocv
from sdpdr.families.unfold.mvu import isometric as isometric
from sdpdr.families.unfold.mvu import mfnu as mfnu
from sdpdr.families.unfold.mvu import mvu as mvu
from sdpdr.families.unfold.mvu import mvu_apart as mvu_apart

__all__: list[str]
