"""Recipes: each turns a graph or data into an unsolved model."""

from sdpdr.families.factor.completely_positive.recipes import copositive_cut, cp_lift, cut_of
from sdpdr.families.factor.isometric.recipe import isometric_nmf, isometric_nmf_lift
from sdpdr.families.factor.margin.recipe import Signs, mmmf, mmmf_dual, observed_signs
from sdpdr.families.factor.nmf.bounds import nmf_cones, nmf_dnn, nmf_overlap, nmf_shor
from sdpdr.families.factor.nmf.recipes import nmf_lift, nmf_products
from sdpdr.families.factor.polynomial.recipe import polynomial_factorization, polynomial_lift
from sdpdr.families.metric.recipes import contrast, ghodsi, xing
from sdpdr.families.propagate.recipe import (
    labelling_of,
    mixed_label_bound,
    mixed_label_propagation,
    mixed_label_step,
    mixed_scale_step,
)
from sdpdr.families.regress.recipes import fantope, regression, sparse_direction
from sdpdr.families.sopca.convex import sopca, sopca_dual
from sdpdr.families.unfold.anchored import anchored_mvu, place
from sdpdr.families.unfold.are import are
from sdpdr.families.unfold.colored_mvu import Side, colored_mvu, side_information
from sdpdr.families.unfold.completion import distance_completion, refine
from sdpdr.families.unfold.density_map import density_map, ellipsoid_of, kernel_sums, mvee
from sdpdr.families.unfold.ism import ism, separation_margin
from sdpdr.families.unfold.loocv import fold, loocv
from sdpdr.families.unfold.mirrored import mirrored
from sdpdr.families.unfold.mvu import isometric, mfnu, mvu, mvu_apart

__all__ = [
    "Side",
    "Signs",
    "anchored_mvu",
    "are",
    "colored_mvu",
    "contrast",
    "copositive_cut",
    "cp_lift",
    "cut_of",
    "density_map",
    "distance_completion",
    "ellipsoid_of",
    "fantope",
    "fold",
    "ghodsi",
    "ism",
    "isometric",
    "isometric_nmf",
    "isometric_nmf_lift",
    "kernel_sums",
    "labelling_of",
    "loocv",
    "mfnu",
    "mirrored",
    "mixed_label_bound",
    "mixed_label_propagation",
    "mixed_label_step",
    "mixed_scale_step",
    "mmmf",
    "mmmf_dual",
    "mvee",
    "mvu",
    "mvu_apart",
    "nmf_cones",
    "nmf_dnn",
    "nmf_lift",
    "nmf_overlap",
    "nmf_products",
    "nmf_shor",
    "observed_signs",
    "place",
    "polynomial_factorization",
    "polynomial_lift",
    "refine",
    "regression",
    "separation_margin",
    "side_information",
    "sopca",
    "sopca_dual",
    "sparse_direction",
    "xing",
]
