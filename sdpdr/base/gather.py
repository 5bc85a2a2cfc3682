"""Rooms under their public names: ``sdpdr.methods`` is ``sdpdr.families.methods``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

PACKAGE = __name__.partition(".")[0]


def import_as(places: Mapping[str, str]) -> None:
    """Let ``import sdpdr.name`` import ``sdpdr.place``, one module under two names.

    Where files lie follows how the package is built, and public names follow how it is used.

    Parameters
    ----------
    places : mapping from str to str
        Both without the name of the package.

    Examples
    --------
    >>> import sdpdr.methods
    >>> sdpdr.methods is sdpdr.families.methods
    True
    """
    full = {f"{PACKAGE}.{name}": f"{PACKAGE}.{place}" for name, place in places.items()}
    sys.meta_path.insert(0, _Finder(full))


class _Finder(MetaPathFinder):
    """Knows public names; asked first, so that no file is imported twice under two names."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = places

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        room, _, inside = name.removeprefix(f"{PACKAGE}.").partition(".")
        place = self.places.get(f"{PACKAGE}.{room}")
        if place is None or not name.startswith(f"{PACKAGE}."):
            return None
        if inside:
            words = f"{PACKAGE}.{room} gathers names; its modules are imported where they lie:"
            raise ModuleNotFoundError(f"{words} {place}.{inside}", name=name)
        return ModuleSpec(name, _Elsewhere(place))


class _Elsewhere(Loader):
    """Hands over a module that has a place of its own, and keeps what it says of itself."""

    def __init__(self, place: str) -> None:
        self.place = place

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self.place)
        self.own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.own
