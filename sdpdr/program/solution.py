"""The answer to a solve: the point, what the solver claimed, and what is proved."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.attributes import OF_SOLUTIONS, Advising
from sdpdr.base.errors import (
    DataError,
    PackageMissingError,
    SolveFailedError,
    UnknownNameError,
)
from sdpdr.base.files import write_text
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.packages import needs_packages
from sdpdr.linalg.spectral import intrinsic_dimension
from sdpdr.program.backward import Measured
from sdpdr.program.point import Value, arranged, leading_factor, spectrum_of
from sdpdr.program.ray import Ray
from sdpdr.program.report import card, record, report
from sdpdr.program.residuals import Residuals
from sdpdr.program.run import Claim, Run, Status, Verdict
from sdpdr.program.summary import advice, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from sdpdr.certify.proof_file import WrittenProof
    from sdpdr.reduce import Exposure

T = TypeVar("T")

# A zero that is rounded outwards, as where there is no objective, is smaller than this.
_ROUNDED_ZERO = 2.3e-308


@runtime_checkable
class Expression(Protocol):
    """What has a value at a point: ``solution[expression]`` is that value."""

    def at(self, values: Mapping[str, Value]) -> Any:
        """Its value at a point."""


@dataclass(frozen=True, eq=False)
class Solution(Advising):
    """A graded answer; printed, it says whether the solve worked, how well, and what to do next.

    Attributes
    ----------
    status : Status
        Our grade, which may differ from what the solver claims.
    value : float
        Objective at the point returned, computed here, in the sense of the model. ``nan`` without
        a point.
    bound : float or None
        What no feasible point betters, proved; see `argument`.
    argument : str
        What proves the bound, or why there is none.
    values : mapping from variable name to array or Factor
    duals : mapping from constraint label to array
        Multipliers that prove the bound, if there is one: the solver's, moved if necessary. On
        inequalities they are >= 0, and for a maximisation they are the rate at which the optimum
        grows with the right-hand side. They are ``nan`` for constraints that expose a face (see
        `exposures`) where none are known. If the bound is proved on a face that no constraint
        states by itself (`argument` ends with "on a face"), they are the solver's own.
    claimed : Claim
    timings : mapping from phase to seconds
    solver, form : str
    tol : float
        The relative gap that was requested.
    seed : int
    versions : mapping from package to version
    history : tuple of mappings
        Progress of solvers that report it.
    maximize : bool
    rigorous : bool
        Whether `attained` and `bound`, where they are given, account for all rounding, so that they
        are theorems about the numbers stored in the program.
    gap_scale : float
        A size of the objective below which gaps are absolute: as it was given to `sdpdr.solve`,
        zero by default.
    epsilon : float
        How far data would have to move, relatively, for the point and the multipliers to be
        optimal: the larger of the backward errors of the sides that are not proved, at least the
        rounding of one operation; zero where everything that the status says is proved, ``nan`` if
        a side has nothing to measure.
    attained : float or None
        The value of a point that is proved feasible. That point is the one returned, up to
        rounding; after a search for a low rank (`sdpdr.iterate`) it is a point near it.
    attained_by : str
        What proves it, or why nothing does.
    unfinished : bool
        Whether proofs ended with their budget before the two sides met; `prove` continues them.
    ray : Ray or None
        The proof of ``INFEASIBLE`` and ``UNBOUNDED`` (`sdpdr.program.Ray`). None if faces that were
        found before the solve leave no point: then `exposures` are the proof.
    exposures : tuple of Exposure
        Steps of facial reduction (`sdpdr.reduce.facial_reduction`) that were proved before the
        program was solved; each can be checked. Value and bound are those of the program on the
        face, which is equivalent to the original one.
    runs : tuple of Run
        Every run of a solver, in order, and what came of it; one unless the solver was "auto".
        Point and bound are the best of all of them.
    of_model : bool
        Whether a model was solved, rather than a program of numbers alone, such as a file's.
    shapes : mapping from variable name to tuple of int
        Shapes of scalars that were declared as arrays or as one number: ``solution["S"]`` has that
        shape, where ``values["S"]`` is a row.
    in_problem : mapping from variable name to array
        Where a problem of cvxpy was solved: values of its variables, which ``solution[X]`` and
        ``solution["X"]`` return. `values` are those of the standard form.
    duals_in_problem : mapping from label to array
        There, the multipliers of each of its constraints alone, as ``constraint.dual_value`` of
        cvxpy. `duals` has one array for constraints that were joined, such as those of a loop.
    labels : mapping from constraint to label
        The constraints as they were written, which `dual` takes in place of labels, and variables
        of cvxpy with their names; not pickled.
    measured : Measured
        Further measures of the point, computed when they are first read: `residuals`, `slacks`,
        `backward_error`, `edges`.
    narrower : Solution or None
        After steps that narrow the program, such as `reduce.Landmark`: the answer to the narrower
        program, proved on its own. Value and bound above are those of the whole program, of which
        the narrower one bounds nothing.
    moved : float or None
        How far the point lies from the one that `sdpdr.verify` was given, relative to the length of
        that; None of other solutions, and where no point was proved feasible.
    prover, writer : callable or None
        What `prove` and `write_proof` call.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> solution = sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])))
    >>> solution["K"].shape, round(float(solution["K"][0, 0]), 4)
    ((3, 3), 1.7778)
    >>> solution.dual("isometry").round(4)
    array([1.3333, 0.8333])
    >>> print(solution)
    SOLVED: the maximum is 4.66667, proved optimal to a relative gap of ... (1e-06 requested).
    """

    status: Status
    claimed: Claim
    solver: str
    form: str
    tol: float
    value: float = float("nan")
    bound: float | None = None
    argument: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)
    duals: Mapping[str, Array] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    history: tuple[Mapping[str, Any], ...] = ()
    maximize: bool = False
    rigorous: bool = False
    gap_scale: float = 0.0
    epsilon: float = float("nan")
    attained: float | None = None
    attained_by: str = ""
    unfinished: bool = False
    ray: Ray | None = None
    exposures: tuple[Exposure, ...] = ()
    runs: tuple[Run, ...] = ()
    of_model: bool = False
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    measured: Measured = field(default_factory=Measured)
    narrower: Solution | None = None
    moved: float | None = None
    in_problem: Mapping[str, Any] = field(default_factory=dict, repr=False)
    duals_in_problem: Mapping[str, Array] = field(default_factory=dict, repr=False)
    labels: Mapping[Any, str] = field(default_factory=dict, repr=False)
    prover: Callable[[Solution, float | None], Solution] | None = field(default=None, repr=False)
    writer: Callable[[Solution, str | Path], WrittenProof] | None = field(default=None, repr=False)

    elsewhere = OF_SOLUTIONS

    def __post_init__(self) -> None:
        # Where numbers overflow, a bound of infinity holds no information.
        for side in ("attained", "bound"):
            number = getattr(self, side)
            if number is not None and not np.isfinite(number):
                object.__setattr__(self, side, None)

    def __getstate__(self) -> dict[str, Any]:
        # Constraints are found by identity, which another process does not know.
        return {**self.__dict__, "labels": {}}

    @checks_keywords
    def prove(self, seconds: float | None = None) -> Solution:
        """Continue the proofs that their budget ended.

        Parameters
        ----------
        seconds : float, optional
            CPU seconds; by default everything is tried.

        Returns
        -------
        Solution
            The better of this solution and what is found.

        Raises
        ------
        DataError
            If the solution does not know its program.

        Examples
        --------
        >>> import sdpdr
        >>> from sdpdr import graphs, methods
        >>> sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0]))).prove().status
        Status.SOLVED
        """
        if self.prover is None:
            raise DataError(
                "this solution cannot continue its proofs, as those of joined answers and of "
                'programs with exponential or power cones: solve again with proof="full".'
            )
        return self.prover(self, seconds)

    def write_proof(self, path: str | Path) -> WrittenProof:
        """Write what proves value and bound to a file that can be checked without this package.

        ``sdpdr check`` and ``checker/check_proof.py``, which needs nothing of this package, read it
        (:doc:`/guide/proof_files`).

        Parameters
        ----------
        path : str or path

        Returns
        -------
        WrittenProof
            The claims, the hash of the program, and what could not be written.

        Raises
        ------
        DataError
            If the solution does not know its program, or if nothing that it proves can be written.

        Examples
        --------
        >>> import tempfile
        >>> import sdpdr
        >>> from sdpdr import graphs, methods
        >>> solution = sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = solution.write_proof(folder + "/answer.proof")
        >>> sorted(written.claims), dict(written.missing)
        (['bound', 'value'], {})
        """
        if self.writer is None:
            raise DataError(
                "this solution does not know its program: call write_proof() on a solution that "
                "sdpdr.solve returned, of a model that has a standard form."
            )
        return self.writer(self, path)

    @property
    def residuals(self) -> Residuals:
        """The six DIMACS errors, for reading: no status depends on them."""
        return self.measured.residuals

    @property
    def slacks(self) -> Mapping[str, Array]:
        """Slack of each constraint relative to its right-hand side, by label.

        About zero where a constraint binds, negative where it is violated. For a matrix inequality,
        the eigenvalues of its matrix relative to the largest
        (`sdpdr.program.backward.relative_slacks`).
        """
        return self.measured.slacks

    @property
    def backward_error(self) -> float:
        """Largest relative change of a right-hand side that makes the point exactly feasible.

        See `sdpdr.program.backward`; ``nan`` if there is no point.
        """
        return self.measured.backward_error

    @property
    def edges(self) -> Mapping[str, Index]:
        """Edges of the constraints on squared lengths of the first matrix, by label."""
        return self.measured.edges

    @property
    def advice(self) -> str:
        """What to do next; empty where all that was requested is proved."""
        return advice(self)

    @property
    def gap(self) -> float:
        """Distance of the proven bound from the value attained, relative to that value.

        Infinite where one side is not proved. Where the user gave a `gap_scale` and the value is
        smaller, relative to that. An optimum of zero has no relative gap but zero.
        """
        if self.bound is None or self.attained is None:
            return float("inf")
        apart = self.bound - self.attained if self.maximize else self.attained - self.bound
        size = max(abs(self.attained), self.gap_scale)
        if abs(apart) < _ROUNDED_ZERO:
            return 0.0
        return apart / size if size > 0.0 else math.copysign(math.inf, apart)

    @property
    def is_refuted(self) -> bool:
        """Whether the optimum that the solver claims is proved wrong, by more than the tolerance.

        It is where it is better than the bound, or worse than the value attained, or where there
        is no optimum; and so is a claim that there is none, beside a point or a bound.
        """
        number, verdict = self.claimed.value, self.claimed.verdict
        if verdict == Verdict.INFEASIBLE.value:
            return self.attained is not None
        if verdict == Verdict.UNBOUNDED.value:
            return self.bound is not None or self.status is Status.INFEASIBLE
        if number is None or np.isnan(number):
            return False
        sign = -1.0 if self.maximize else 1.0
        size = abs(number) if np.isfinite(number) else 0.0
        slack = self.tol * max(size, abs(self.bound or 0.0), self.gap_scale)
        too_good = self.bound is not None and sign * (self.bound - number) > slack
        too_bad = self.attained is not None and sign * (number - self.attained) > slack
        is_empty = self.status in (Status.INFEASIBLE, Status.UNBOUNDED)
        return bool(too_good or too_bad or is_empty)

    def certified(self, tol: float | None = None) -> bool:
        """Whether a value proved attainable and a proved bound agree to ``tol``.

        A negative gap would contradict the proofs and is never certified.
        """
        tol = self.tol if tol is None else tol
        return bool(np.isfinite(self.gap)) and 0.0 <= self.gap <= tol

    @property
    def apparent_gap(self) -> float:
        """Distance of the bound from `value`, relative to the value, in size.

        Measured rather than proved: the point may be better than every feasible one. Infinite
        without a bound or a point.
        """
        if self.bound is None or not np.isfinite(self.value):
            return float("inf")
        apart, size = abs(self.bound - self.value), max(abs(self.value), self.gap_scale)
        return 0.0 if apart == 0.0 else apart / size if size > 0.0 else float("inf")

    @property
    def enclosure(self) -> tuple[float, float] | None:
        """An interval that contains the optimal value; None unless `rigorous` proves both ends.

        Both ends are theorems about the program whose data are the numbers stored.
        """
        if not self.rigorous or self.bound is None or self.attained is None:
            return None
        return (self.attained, self.bound) if self.maximize else (self.bound, self.attained)

    def raise_for_status(self) -> Solution:
        """Return the solution itself if it is `Status.SOLVED`; raise otherwise.

        Raises
        ------
        SolveFailedError
        """
        if self.status is Status.SOLVED:
            return self
        raise SolveFailedError(
            f"{summary(self)} {self.solver} ({self.form} form) claimed {self.claimed.status!r}. "
            f"{self.claimed.message}".rstrip()
        )

    # -- reading off --------------------------------------------------------------------

    def __getitem__(self, name: Any) -> Any:
        if not self.values:
            raise SolveFailedError(f"There is no point. {summary(self)}")
        if isinstance(name, Expression):
            return name.at(self.values)
        if not isinstance(name, str) and callable(getattr(name, "name", None)):
            name = self.labels.get(name, name.name())  # a variable of cvxpy
        if self.in_problem:
            return _named("variable", name, self.in_problem)
        value = _named("variable", name, self.values)
        return arranged(value, self.shapes[name]) if name in self.shapes else value

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def dual(self, constraint: Any) -> Any:
        """The multipliers of a constraint, or of a matrix inequality.

        ``(abs(x) <= b).named("box")`` is two constraints, ``"box.upper"`` for ``x <= b`` and
        ``"box.lower"`` for ``-x <= b``: the sum of their multipliers is the rate at which the
        optimum changes with b, the difference that at which it changes with a shift of x.

        Parameters
        ----------
        constraint : str or constraint
            A label, or the constraint that was added to the model, or is one of the problem's.

        Returns
        -------
        array
            For a constraint of cvxpy what its ``dual_value`` would be, which is a list of arrays
            for a cone with several parts, such as ``cp.SOC``.

        Raises
        ------
        UnknownNameError
            If no constraint has that label; the message lists the labels, the closest first.
        DataError
            If a constraint is none of the model or problem that was solved.
        SolveFailedError
            If there are no multipliers.

        Examples
        --------
        >>> import sdpdr
        >>> from sdpdr import minimize, scalar
        >>> x = scalar("x")
        >>> low, high = x >= 1.0, x <= 2.0
        >>> solution = sdpdr.solve(minimize(3.0 * x) + low + high)
        >>> solution.dual(low).round(4), solution.dual("at_least").round(4)
        (array([3.]), array([3.]))
        """
        if not (self.duals or self.duals_in_problem):
            raise SolveFailedError(f"{self.solver} returned no multipliers ({self.status.name}).")
        is_label = isinstance(constraint, str)
        if not is_label and not (isinstance(constraint, Hashable) and constraint in self.labels):
            raise DataError(
                f"an object of type {type(constraint).__name__} is no constraint of the model or "
                "problem that was solved; pass a constraint that was added to it, or a label: "
                f"{', '.join(self.duals)}."
            )
        label = constraint if is_label else self.labels[constraint]
        return _named("label", label, {**self.duals, **self.duals_in_problem})

    def gram(self, name: str | None = None) -> Value:
        """The matrix of one variable (the first by default), dense or as a factor.

        Raises
        ------
        SolveFailedError
            If there is no point.
        UnknownNameError
            If no variable has that name, or none is a matrix.
        """
        matrices = (known for known, value in self.values.items() if value.ndim == 2)
        return self[next(matrices, "matrix") if name is None else name]

    def spectrum(self, name: str | None = None) -> Array:
        """Eigenvalues of a matrix variable, descending; a factor has one for each column."""
        return spectrum_of(self.gram(name))[0]

    @checks_keywords
    def embedding(self, n_components: int = 2, name: str | None = None) -> Array:
        """Coordinates Y of shape (n, n_components) with Y Y^T nearest to the Gram matrix.

        Column k is eigenvector k times the square root of its eigenvalue; its entry of largest
        absolute value is positive, so that the same matrix always gives the same picture.
        """
        values, vectors = spectrum_of(self.gram(name))
        n = vectors.shape[0]
        if not 1 <= n_components <= n:
            raise DataError(f"n_components must lie in 1..{n}; it is {n_components}.")
        return leading_factor(values, vectors, n_components)

    @checks_keywords
    def intrinsic_dimension(
        self, share: float = 0.90, *, rule: str = "share", name: str | None = None
    ) -> int:
        """How many dimensions the answer has, see `sdpdr.linalg.intrinsic_dimension`."""
        return intrinsic_dimension(self.spectrum(name), share, rule=rule)

    # -- showing ------------------------------------------------------------------------

    @checks_keywords
    def report(self, *, details: bool = False) -> str:
        """The answer on a page: whether it is proved, which constraints bind, and the point.

        Parameters
        ----------
        details : bool, default False
            Also say what proves value and bound, what the solver claimed, how large the errors are,
            and how long it took.

        Returns
        -------
        str

        Examples
        --------
        >>> import sdpdr
        >>> from sdpdr import graphs, methods
        >>> text = sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0]))).report()
        >>> for line in text.splitlines()[-6:]:
        ...     print(line)
        constraint  binding  missed by  largest multipliers (index: multiplier)
        centered    3 of 3   ...
        isometry    2 of 2   ...0: 1.33, 1: 0.833
        <BLANKLINE>
        variable  size   rank  eigenvalues, or least and largest scalar
        K         3 x 3  1     4.67
        """
        return report(self, details)

    @checks_keywords
    def plot(self, colour: ArrayLike | None = None, *, title: str = "") -> Figure:
        """Draw what there is: the embedding, its spectrum, its springs, and the solver's history.

        Parameters
        ----------
        colour : array_like of shape (n,), optional
            As for `sdpdr.plot.embedding`.
        title : str, optional
            By default the status and the proven gap.

        Returns
        -------
        Figure
            A panel each for the entries of the matrix where neither lengths are constrained nor a
            colour is given, for the embedding in the plane, for the shares of the leading
            eigenvalues, for the multipliers of edges where their lengths are constrained and all
            multipliers are finite, and for values and bounds where the solver reports them.

        Raises
        ------
        SolveFailedError
            There is no point.
        DataError
            There is nothing to draw: no matrix and no history.
        ShapeError
            There is not one colour for each point.
        PackageMissingError
            matplotlib is not installed.

        Examples
        --------
        >>> import sdpdr
        >>> from sdpdr import graphs, methods
        >>> figure = sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0]))).plot()
        >>> [axes.get_title("left") for axes in figure.axes if axes.get_title("left")]
        ['embedding', 'spectrum', 'springs', 'history']
        """
        with needs_packages("a picture"):
            from sdpdr.lab.plot.answer import answer
        return answer(self, colour, title=title)

    def _repr_html_(self) -> str:
        """How a notebook shows it: the certificate, and a picture."""
        try:
            with needs_packages("a picture"):
                from sdpdr.lab.plot.answer import picture
        except PackageMissingError as error:
            return card(self, f"<p>{error}</p>")
        return card(self, picture(self))

    def record(self) -> dict[str, Any]:
        """Everything except the point and the multipliers of large programs, ready for JSON."""
        return record(self)

    def save_record(self, path: str | Path) -> None:
        """Write `record` as JSON; the file appears complete or not at all."""
        write_text(path, json.dumps(self.record(), indent=2) + "\n")

    def __repr__(self) -> str:
        """Whether it worked, how good it is and what to do next; `report` has the rest."""
        return summary(self)


def _named(kind: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        raise UnknownNameError(kind, name, known)
    return known[name]
