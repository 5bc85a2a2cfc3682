"""Problems and constraints written in cvxpy, which is imported when they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from sdpdr.base.errors import ModelError
from sdpdr.base.keywords import checks_keywords
from sdpdr.model.model import Block
from sdpdr.model.terms import Raw, Term

if TYPE_CHECKING:
    import cvxpy as cp

    from sdpdr.model.conic.problem import CvxpyProgram


@dataclass(frozen=True, eq=False)
class _FromCvxpy(Block):
    build: Callable[..., Any]
    name: str

    def terms(self) -> Iterable[Term]:
        yield Raw(self.build)

    @property
    def label(self) -> str:
        return self.name


@overload
def from_cvxpy(build: Callable[..., Any], name: str | None = None) -> Block: ...
@overload
def from_cvxpy(build: cp.Problem, name: str | None = None) -> CvxpyProgram: ...
@checks_keywords
def from_cvxpy(build: Any, name: str | None = None) -> Block | CvxpyProgram:
    """Convert a cvxpy problem to a program, or a function that uses cvxpy to a block.

    A ``cvxpy.Problem`` becomes a program in the standard form, which `sdpdr.solve` and
    `sdpdr.plan` take like any other: every answer is graded. ``program.give_back(solution)`` stores
    the answer in the problem, its variables and its constraints.

    A function becomes a block of a model, for trying out an idea. Such a model is solved as the
    cvxpy problem that ``model.to_cvxpy()`` makes of it, and graded like any other.

    Parameters
    ----------
    build : cvxpy.Problem or callable
        A problem that cvxpy can write with linear constraints, second-order cones and positive
        semidefinite matrices. Or a function that takes a mapping from variable name to cvxpy
        variable and returns a list of constraints or a scalar expression to minimise.
    name : str, optional
        The program's name, none by default; or the block's label, the function's name by default.

    Returns
    -------
    CvxpyProgram or Block

    Raises
    ------
    ModelError
        If it is neither.
    NotAcceptedError
        If the problem is not convex by cvxpy's rules, has integer variables, or needs an
        exponential or a power cone.
    DataError
        If a parameter has no value.

    Notes
    -----
    A constraint that makes a matrix of different variables' entries positive semidefinite, up to
    scale and shift, becomes a matrix variable, and a constraint that makes a variable nonnegative
    becomes its sign; these constraints have no rows. If fewer entries of such a matrix are
    constants, as in ``cp.bmat([[np.eye(2), X], [X.T, Y]])``, they are prescribed by rows with the
    label of the constraint and ``.constants``. All others become rows or a matrix
    inequality with the label of the constraint: the given one, or its text if that is short.
    Constraints of one pattern whose labels differ in numbers only, such as those of a loop, become
    one group of rows, in their order, with the labels of the first and the last.
    Squared distances, entries, centring and inner products are recognised however they are written.
    Second-order cones become matrix inequalities of order 2, or arrows. Proofs are about the
    numbers into which cvxpy converted the problem.

    Examples
    --------
    >>> from sdpdr import from_cvxpy
    >>> import cvxpy as cp
    >>> import sdpdr
    >>> X = cp.Variable((3, 3), PSD=True, name="X")
    >>> problem = cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, X[0, 1] == 0])
    >>> program = sdpdr.from_cvxpy(problem)
    >>> program
    SDP(unnamed; matrices [X: 3x3], 0 scalars, 2 rows, 0 matrix inequalities)
    >>> solution = sdpdr.solve(program)
    >>> solution.status, round(solution.value, 4)
    (Status.SOLVED, 2.0)
    >>> program.give_back(solution).status, X.value.shape
    ('optimal', (3, 3))

    A block of a model:

    >>> block = from_cvxpy(lambda v: [v["K"][0, 0] <= 1.0], name="first_norm")
    """
    if callable(build):
        return _FromCvxpy(build, name or getattr(build, "__name__", "from_cvxpy").strip("<>"))
    import cvxpy as cp

    from sdpdr.model.conic.problem import read_problem

    if isinstance(build, cp.Problem):
        return read_problem(build, name)
    raise ModelError(
        f"from_cvxpy takes a cvxpy.Problem or a function of the variables; it was given "
        f"{type(build).__name__}. For instance from_cvxpy(lambda v: [v['K'][0, 0] <= 1.0])."
    )
