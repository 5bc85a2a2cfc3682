"""The modelling language: variables, affine expressions, terms, blocks, models, two compilers."""

from sdpdr.base.gather import names as _names
from sdpdr.model.affine import Affine as Affine
from sdpdr.model.affine import Var as Var
from sdpdr.model.block import Block as Block
from sdpdr.model.block import relax as relax
from sdpdr.model.block import soften as soften
from sdpdr.model.check import check_block as check_block
from sdpdr.model.cvxpy_blocks import from_cvxpy as from_cvxpy
from sdpdr.model.model import Model as Model
from sdpdr.model.terms import AtMost as AtMost
from sdpdr.model.terms import Equal as Equal
from sdpdr.model.terms import InCone as InCone
from sdpdr.model.terms import Maximize as Maximize
from sdpdr.model.terms import Minimize as Minimize
from sdpdr.model.terms import Penalize as Penalize
from sdpdr.model.terms import Raw as Raw
from sdpdr.model.terms import Smooth as Smooth
from sdpdr.program.point import PsdVariable as PsdVariable
from sdpdr.program.point import VectorVariable as VectorVariable

__all__ = _names(vars())
