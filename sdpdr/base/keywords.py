"""Errors for unknown keywords that offer the nearest known one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from sdpdr.base.errors import UnknownKeywordError

P = ParamSpec("P")
T = TypeVar("T")


def checks_keywords(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function refuse unknown keywords and offer the nearest one it has.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
        The function with this check.

    Raises
    ------
    UnknownKeywordError
        In place of the TypeError that Python raises.

    Examples
    --------
    >>> @checks_keywords
    ... def relax(steps, *, tol=1e-6): ...
    >>> relax(3, tolerance=1e-4)
    Traceback (most recent call last):
        ...
    sdpdr.errors.UnknownKeywordError: unknown argument of relax() 'tolerance'. Did you mean 'tol'? \
Known: steps, tol.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if kwargs:
            _require_known(function.__name__, kwargs, _keywords_of(function))
        return function(*args, **kwargs)

    return call


class ChecksKeywords:
    """Base of classes whose constructors refuse unknown keywords and offer the nearest one.

    Examples
    --------
    >>> import sdpdr
    >>> sdpdr.MVU(neighbours=4)
    Traceback (most recent call last):
        ...
    sdpdr.errors.UnknownKeywordError: unknown argument of MVU() 'neighbours'. Did you mean \
'n_neighbors'? Known: angles, connect, ...
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Check the keywords, and make an instance."""
        if kwargs:
            _require_known(cls.__name__, kwargs, _keywords_of(cls.__init__))
        return super().__new__(cls)


@cache
def _keywords_of(function: Callable[..., Any]) -> frozenset[str] | None:
    """Return the keywords of a function; None if it takes any."""
    parameters = signature(function).parameters.values()
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return None
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return frozenset(p.name for p in parameters if p.kind in kinds) - {"self"}


def _require_known(name: str, given: Mapping[str, Any], known: Iterable[str] | None) -> None:
    for keyword in given:
        if known is not None and keyword not in known:
            raise UnknownKeywordError(name, keyword, known)
