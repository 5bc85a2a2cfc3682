"""Every error and warning a user can meet: what was passed, what was expected, what to do.

All errors derive from :class:`SdpdrError`. Errors about data also derive from ``ValueError``,
so that code written for scikit-learn catches them without knowing this package.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from types import FrameType
from typing import Any

_OWN = str(Path(__file__).resolve().parents[1]) + os.sep


class SdpdrError(Exception):
    """Base class of every error raised on purpose by sdpdr."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors travel between processes, also those whose arguments are not their message.
        return _revived, (type(self), self.args, self.__dict__)


def _revived(kind: type[SdpdrError], args: tuple[Any, ...], rest: dict[str, Any]) -> SdpdrError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(rest)
    return error


class DataError(SdpdrError, ValueError):
    """The data given cannot be used; the message names the offending part."""


class FewPointsError(DataError):
    """More neighbours are requested than there are other points.

    Attributes
    ----------
    most : int
        The largest possible number of neighbours.
    """

    def __init__(self, message: str, most: int = 0) -> None:
        super().__init__(message)
        self.most = most


class DataTypeError(DataError, TypeError):
    """The data or an argument is of a kind that cannot be used: sparse, objects, not a number."""


class DisconnectedGraphError(DataError):
    """The neighbour graph falls into several parts, so variance is unbounded.

    Attributes
    ----------
    components : list of ndarray
        The nodes of each connected part, largest part first.
    """

    def __init__(self, message: str, components: list[Any] | None = None) -> None:
        super().__init__(message)
        self.components = components or []


# An error lists all known names up to this number, and otherwise the nearest few.
_MOST_NAMES, _FEW_NAMES = 40, 8
# Names that other packages give to an argument, by our name for it.
_ELSEWHERE = {
    "tol": "tolerance eps epsilon rtol atol abstol reltol gap accuracy precision",
    "max_iter": "max_iters maxiter max_iterations iterations n_iter itmax iter_lim",
    "time_limit": "timeout max_time time_limit_secs timelimit seconds time",
    "n_neighbors": "k knn neighbors neighbours n_neighbours num_neighbors",
    "n_components": "d dim dims ndim n_dims dimension dimensions components rank",
    "seed": "random_state rng random_seed",
    "seconds": "timeout time_limit max_time",
    "colour": "color c hue",
    "random_state": "seed rng random_seed",
    "nonnegative": "nonneg positive pos non_negative",
    "n": "n_samples n_points size order",
    "penalty": "price",
    "positions": "places",
    "lasso": "price l1",
    "solver": "method algorithm backend",
    "size": "shape length dim n",
}


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Return the known name nearest to a wrong one, ignoring case; empty if none is near."""
    names, word = sorted(known), name.strip().casefold()
    same = [other for other in names if other.strip().casefold() == word]
    same = same or [other for other in names if word in _ELSEWHERE.get(other, "").split()]
    near = same or get_close_matches(name, names, n=1, cutoff=0.5)
    return near[0] if near else ""


class UnknownNameError(SdpdrError, ValueError):
    """A name (solver, form, method, card, ...) is not known; the nearest ones are offered."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        known = sorted(known)
        near = nearest_name(str(name), known)
        listed, count = ", ".join(known), len(known)
        if count > _MOST_NAMES:
            nearest = get_close_matches(str(name), known, n=_FEW_NAMES, cutoff=0.0)
            listed = f"{', '.join(nearest)}, ... ({count} in all)"
        parts = [each for each in known if each.startswith(f"{name}.")]
        hint = f" Did you mean {near!r}?" if near else ""
        if parts:  # as the rows of abs(x) <= b have, two for each value
            hint = f" It has parts; ask for {' and '.join(map(repr, parts))}."
        super().__init__(f"unknown {kind} {name!r}.{hint} Known: {listed}.")
        self.kind, self.name, self.known = kind, name, known


class UnknownKeywordError(UnknownNameError, TypeError):
    """A function or class has no argument of that name; the nearest one is offered."""

    def __init__(self, function: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"argument of {function}()", name, known)


class ShapeError(SdpdrError, ValueError):
    """Two things that must fit together do not; the message gives both shapes."""


class OutOfRangeError(DataError, IndexError):
    """An index or an axis that an expression or an array of values does not have."""


class ModelError(SdpdrError, ValueError):
    """A model is not well posed: a variable is missing, declared twice, or has no bound."""


class CompileError(SdpdrError):
    """A model cannot be written in the requested form; the message names block and reason."""

    def __init__(self, block: str, reason: str) -> None:
        super().__init__(f"block {block!r} cannot be lowered: {reason}")
        self.block, self.reason = block, reason


class InfeasibleError(SdpdrError):
    """No point satisfies the constraints, and that is visible without solving.

    Attributes
    ----------
    multipliers : dict from label to ndarray
        Multipliers of constraints that contradict each other; empty if another check failed.
    """

    def __init__(self, message: str, multipliers: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.multipliers = multipliers or {}


class NotAcceptedError(SdpdrError):
    """A reduction or solver cannot take this program; the message says why and what can."""


class NotSmoothError(SdpdrError, ValueError):
    """An answer has no derivative by a parameter."""


class SolverMissingError(SdpdrError):
    """A solver's package is not installed; the message gives the extra to install."""


class PackageMissingError(SdpdrError, ImportError):
    """An optional package is not installed; the message gives the extra to install."""


class SolverLicenceError(SdpdrError):
    """A solver is installed but has no valid licence."""


class SolveFailedError(SdpdrError):
    """Raised by ``Solution.raise_for_status()`` when the solve gave no certified answer."""


class FileFormatError(SdpdrError, ValueError):
    """A file could not be read; the message names the file, the line and what was expected."""


class CardError(SdpdrError, ValueError):
    """A problem card is not valid; the message names the card, the key and what is allowed."""


class StudyError(SdpdrError, ValueError):
    """A study file has a key or value that is not allowed; the message names those that are."""


class ResultsError(SdpdrError):
    """A file of results cannot be read or written, or does not belong to the study."""


class ResultsLockedError(ResultsError):
    """A file of results is in use by another process."""


class ResultsDamagedError(ResultsError):
    """A file of results is damaged; the message names the line."""


class SchedulerError(SdpdrError):
    """The scheduler of a cluster does not answer, or its workers cannot take part."""


class SdpdrWarning(UserWarning):
    """Base class of every warning raised on purpose by sdpdr."""


class DuplicatePointsWarning(SdpdrWarning):
    """Several rows of the data are the same point; they were merged and counted."""


class DroppedPointsWarning(SdpdrWarning):
    """Points outside the largest connected part of the graph were left out."""


class AddedEdgesWarning(SdpdrWarning):
    """Samples were joined to others that are not among their nearest neighbours."""


class FewPointsWarning(SdpdrWarning):
    """More neighbours were requested than there are other points; all of these were taken."""


class SampledWarning(SdpdrWarning):
    """Some points were unfolded and the others placed among them: all would take too long."""


class LostLengthsWarning(SdpdrWarning):
    """Edges lost much of their length, in the unfolding or in the dimensions that are shown."""


class MissedLengthsWarning(SdpdrWarning):
    """Distances in an embedding are far from the given ones."""


class SeemingDistancesWarning(SdpdrWarning):
    """What was passed as points has the form of a matrix of distances."""


class SquaredDistancesWarning(SdpdrWarning):
    """Precomputed distances look like squared ones but were passed as plain ones."""


class RowNumbersWarning(SdpdrWarning):
    """A column of the data counts its rows, as the index of a data frame does."""


class DoubtfulColumnWarning(SdpdrWarning):
    """A column may not be what it is taken for: it may hold ids or codes of missing values."""


class UnlikeColumnsWarning(SdpdrWarning):
    """Some columns are spread so widely that others hardly change distances."""


class RigidGraphWarning(SdpdrWarning):
    """The constraints leave no freedom, so the result repeats the input."""


class AddedRidgeWarning(SdpdrWarning):
    """No answer is attained for the data as they are; a ridge was added, with which one is."""


class NonUniqueWarning(SdpdrWarning):
    """Other answers are as good as the one returned."""


class FewAnchorsWarning(SdpdrWarning):
    """Anchors are too few to distinguish an embedding from its mirror image."""


class WeakSeparationWarning(SdpdrWarning):
    """The penalty is so small that a hyperplane separates little, or has no normal."""


class IgnoredLabelsWarning(SdpdrWarning):
    """Labels, or dissimilar pairs, have little or no effect on the labelling of least ratio."""


class VacuousWarning(SdpdrWarning):
    """A part of the data has no effect on the requested program."""


class UnobservedWarning(SdpdrWarning):
    """Rows or columns of a matrix hold no observation, so their values are undetermined."""


class RelaxedWarning(SdpdrWarning):
    """A file restricts its program further than what is read, which is a relaxation of it."""


class EntrywiseWarning(SdpdrWarning):
    """Symmetric matrices are compared entry by entry where ``>>`` is likely meant."""


class UncertifiedWarning(SdpdrWarning):
    """The answer could not be certified to the requested tolerance."""


for _kind in [kind for kind in vars().values() if isinstance(kind, type)]:
    if issubclass(_kind, (SdpdrError, SdpdrWarning)):
        _kind.__module__ = "sdpdr.errors"  # the name to catch it by, which tracebacks show
del _kind


def require_packages(what: str, extra: str, *packages: str) -> None:
    """Refuse to begin what needs optional packages of which some are not installed."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise PackageMissingError(f'{what} need {", ".join(missing)}: pip install "sdpdr[{extra}]"')


def warn(message: str, kind: type[Warning]) -> None:
    """``warnings.warn``, seen from the nearest caller outside of the package and scikit-learn."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_between(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)


def _is_between(frame: FrameType) -> bool:
    """Whether it is ours, or of scikit-learn, which wraps ``transform`` and calls the last step."""
    name = str(frame.f_globals.get("__name__"))
    return frame.f_code.co_filename.startswith(_OWN) or name.startswith("sklearn.")
