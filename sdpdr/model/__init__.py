"""The modelling language: variables, affine expressions, terms, blocks, models, two compilers."""

from sdpdr.model.affine import Affine, Var
from sdpdr.model.block import Block, relax, soften
from sdpdr.model.check import check_block
from sdpdr.model.conic.problem import from_cvxpy
from sdpdr.model.model import Model
from sdpdr.model.terms import AtMost, Equal, InCone, Maximize, Minimize, Penalize, Raw, Smooth
from sdpdr.program.point import PsdVariable, VectorVariable

__all__ = [
    "Affine",
    "AtMost",
    "Block",
    "Equal",
    "InCone",
    "Maximize",
    "Minimize",
    "Model",
    "Penalize",
    "PsdVariable",
    "Raw",
    "Smooth",
    "Var",
    "VectorVariable",
    "check_block",
    "from_cvxpy",
    "relax",
    "soften",
]
