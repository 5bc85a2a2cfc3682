"""Recipes: each turns a graph or data into an unsolved model."""

from sdpdr.methods.anchored import anchored_mvu, place
from sdpdr.methods.are import are
from sdpdr.methods.colored_mvu import colored_mvu
from sdpdr.methods.density_map import density_map, kernel_sums
from sdpdr.methods.ghodsi import contrast, ghodsi
from sdpdr.methods.ism import ism, separation_margin
from sdpdr.methods.isometric import isometric
from sdpdr.methods.loocv import loocv
from sdpdr.methods.mfnu import mfnu, mvu_apart
from sdpdr.methods.mvee import ellipsoid_of, mvee
from sdpdr.methods.mvu import mvu
from sdpdr.methods.side import Side, side_information
from sdpdr.methods.xing import xing

__all__ = [
    "Side",
    "anchored_mvu",
    "are",
    "colored_mvu",
    "contrast",
    "density_map",
    "ellipsoid_of",
    "ghodsi",
    "ism",
    "isometric",
    "kernel_sums",
    "loocv",
    "mfnu",
    "mvee",
    "mvu",
    "mvu_apart",
    "place",
    "separation_margin",
    "side_information",
    "xing",
]
