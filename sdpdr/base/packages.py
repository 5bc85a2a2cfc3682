"""Packages beside the core: which are installed, and what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from sdpdr.base.errors import PackageMissingError

# Packages that come with an installation by pip, and that the core does without.
_BESIDE = frozenset(
    ["clarabel", "click", "cvxpy", "jinja2", "matplotlib", "pandas", "qdldl", "rich", "scs"]
)


@contextmanager
def needs_packages(what: str) -> Iterator[None]:
    """Where one of the packages beside the core is not installed, say what needs it.

    Examples
    --------
    >>> with needs_packages("sdpdr.CVXPY"):
    ...     raise ModuleNotFoundError("No module named 'cvxpy'", name="cvxpy")
    Traceback (most recent call last):
    ...
    sdpdr.errors.PackageMissingError: sdpdr.CVXPY needs package 'cvxpy': pip install cvxpy
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _BESIDE:
            raise
        raise PackageMissingError(
            f"{what} needs package {package!r}: pip install {package}"
        ) from error


@lru_cache
def version_of(package: str) -> str:
    """Version of a package; "unknown" if its installation does not say, or is none.

    To read it takes milliseconds, as long as small programs do.
    """
    from importlib.metadata import PackageNotFoundError, version  # which takes long to import

    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
