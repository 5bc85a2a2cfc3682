"""The cards shipped, and how a card is found by its name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sdpdr.base.errors import CardError, UnknownNameError
from sdpdr.lab.library.card import Card
from sdpdr.lab.library.families import find_family, shelf

__all__ = ["Card", "find_card", "library"]


def library() -> Mapping[str, Card]:
    """All cards shipped, by name.

    Examples
    --------
    >>> "swiss-roll-100" in library()
    True
    """
    return MappingProxyType({name: Card.load(path) for name, path in shelf().items()})


def find_card(name: str) -> Card:
    """A card of the library by its name, any other by the path of its file, or one of a family.

    Parameters
    ----------
    name : str
        A path if it ends in ``.toml``; ``FAMILY@SIZE`` for a member of a family, where FAMILY is
        a name or a path.

    Raises
    ------
    UnknownNameError
        Offering the nearest name.
    FileFormatError, CardError
        As `Card.load`; or what follows the @ is not a size, or the name of a family has none.

    Examples
    --------
    >>> find_card("swiss-roll-100").size
    Size(n=100, edges=249)
    >>> find_card("swiss-roll@400").size
    Size(n=400, edges=None)
    """
    family, at, size = name.rpartition("@")
    if at:
        if not (size.isascii() and size.isdecimal()):
            raise CardError(f"{name!r}: {size!r} is no size; write a number, as in {family}@100.")
        return find_family(family).at(int(size))
    if name.endswith(".toml"):
        return Card.load(name)
    known = shelf()
    if name in known:
        return Card.load(known[name])
    if name in shelf("families"):
        first = find_family(name).sizes[0]
        raise CardError(f"{name!r} is a family of problems; choose a size, as in {name}@{first}.")
    raise UnknownNameError("card", name, known)
