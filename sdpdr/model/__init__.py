"""The modelling language: variables, affine expressions, terms, blocks, models, two compilers.

An expression becomes a program in this order of files, each of which imports only those before it:

1. `affine`: an expression is linear maps applied to named variables, plus a constant. All of its
   operators are here; later files register those whose results are not expressions.
   `parameters` are numbers that change between solves.
2. `terms`: eight statements about expressions (equal, at most, in a cone, minimise, maximise,
   penalise, a convex function, and code of cvxpy), which are all that compilers see.
3. `conic` reads programs of cvxpy. `atoms`: cvxpy writes a function of a placeholder as a small
   conic program, and expressions take the place of the placeholder.
4. `describe` prints terms, `to_sdp` and `to_cvxpy` compile them.
5. `model`: a block yields terms under a label, and a model is a sum of blocks; `relaxations`
   turns constraints of a block into penalties or bands.
6. `language`: what users write. `variables` and `matrices` make expressions, comparisons are
   blocks in `constraints`; `penalties`, `functions` (by `convex`) and `objectives` complete them.
7. `blocks` holds statements with a notation of their own that several models use.
"""

from sdpdr.base.gather import names as _names
from sdpdr.model.affine import Affine as Affine
from sdpdr.model.affine import Var as Var
from sdpdr.model.check import check_block as check_block
from sdpdr.model.cvxpy_blocks import from_cvxpy as from_cvxpy
from sdpdr.model.language import Constraint as Constraint
from sdpdr.model.model import Block as Block
from sdpdr.model.model import Model as Model
from sdpdr.model.relaxations import relax as relax
from sdpdr.model.relaxations import soften as soften
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
