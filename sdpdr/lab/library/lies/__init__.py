"""A gallery of programs that lie: small, exactly known, and answered wrongly by solvers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import chain
from types import MappingProxyType

from sdpdr.base.errors import UnknownNameError
from sdpdr.lab.library.lies.attainment import attainment
from sdpdr.lab.library.lies.faces import faces
from sdpdr.lab.library.lies.families import families
from sdpdr.lab.library.lies.impossible import impossible
from sdpdr.lab.library.lies.scales import scales
from sdpdr.lab.library.lies.truth import CHAPTERS, Lie, Truth

__all__ = ["CHAPTERS", "Lie", "Truth", "find_lie", "gallery"]


@cache
def gallery() -> Mapping[str, Lie]:
    """Programs that lie, by name, in the order of the chapters.

    Examples
    --------
    >>> lie = gallery()["hidden-face-1e5"]
    >>> lie.sdp().n_rows, lie.truth.value
    (4, Fraction(2, 1))
    """
    found = chain(faces(), attainment(), impossible(), scales(), families())
    return MappingProxyType({lie.name: lie for lie in found})


def find_lie(name: str) -> Lie:
    """A program of the gallery.

    Raises
    ------
    UnknownNameError
        Offering the nearest name.

    Examples
    --------
    >>> find_lie("weakly").truth.verdict
    'infeasible'
    """
    try:
        return gallery()[name]
    except KeyError:
        raise UnknownNameError("program of the gallery", name, gallery()) from None
