"""Recipes: each turns a graph or data into an unsolved model."""

from sdpdr.methods.anchored import anchored_mvu, place
from sdpdr.methods.are import are
from sdpdr.methods.colored_mvu import colored_mvu
from sdpdr.methods.copositive_cut import copositive_cut, cut_of
from sdpdr.methods.cp_lift import cp_lift
from sdpdr.methods.density_map import density_map, kernel_sums
from sdpdr.methods.embedding import fantope, regression, sparse_direction
from sdpdr.methods.ghodsi import contrast, ghodsi
from sdpdr.methods.ism import ism, separation_margin
from sdpdr.methods.isometric import isometric
from sdpdr.methods.isometric_nmf import isometric_nmf, isometric_nmf_lift
from sdpdr.methods.loocv import loocv
from sdpdr.methods.mfnu import mfnu, mvu_apart
from sdpdr.methods.mixed_labels import (
    labelling_of,
    mixed_label_bound,
    mixed_label_propagation,
    mixed_label_step,
    mixed_scale_step,
)
from sdpdr.methods.mmmf import mmmf, mmmf_dual
from sdpdr.methods.mvee import ellipsoid_of, mvee
from sdpdr.methods.mvu import mvu
from sdpdr.methods.nmf_bounds import nmf_cones, nmf_dnn, nmf_overlap, nmf_shor
from sdpdr.methods.nmf_lift import nmf_lift
from sdpdr.methods.nmf_products import nmf_products
from sdpdr.methods.polynomial_factorization import polynomial_factorization, polynomial_lift
from sdpdr.methods.side import Side, side_information
from sdpdr.methods.signs import Signs, observed_signs
from sdpdr.methods.sopca import sopca, sopca_dual
from sdpdr.methods.xing import xing

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
    "ellipsoid_of",
    "fantope",
    "ghodsi",
    "ism",
    "isometric",
    "isometric_nmf",
    "isometric_nmf_lift",
    "kernel_sums",
    "labelling_of",
    "loocv",
    "mfnu",
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
    "regression",
    "separation_margin",
    "side_information",
    "sopca",
    "sopca_dual",
    "sparse_direction",
    "xing",
]
