"""Rooms under their public names: ``sdpdr.methods`` is ``sdpdr.families.methods``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
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


# Classes of `importlib.abc` would be bases of these two; to import that takes longer than all else.
class _Finder:
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
        return ModuleSpec(name, _Elsewhere(place))  # type: ignore[arg-type]  # no base


class _Elsewhere:
    """Hands over a module that has a place of its own, and keeps what it says of itself."""

    def __init__(self, place: str) -> None:
        self.place = place

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self.place)
        self.own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.own


def names(room: Mapping[str, object]) -> list[str]:
    """What is public of a room that gathers names: all that it has, other than modules.

    Parameters
    ----------
    room : mapping from str to object
        Its ``vars()``; what it imports for itself begins with an underscore.

    Examples
    --------
    >>> names({"Gram": int, "gram": ast, "_names": names})
    ['Gram']
    """
    return sorted(
        name
        for name, one in room.items()
        if not name.startswith("_") and not isinstance(one, ModuleType)
    )


def no_such_name(name: str, public: Iterable[str], places: Mapping[str, str]) -> AttributeError:
    """An error that says where a name lies, or which one is meant; nothing is imported for it.

    Parameters
    ----------
    name : str
        What the package was asked for.
    public : iterable of str
        Names that it has, some of which are rooms.
    places : mapping from str to str
        Of `import_as`.

    Examples
    --------
    >>> print(no_such_name("swiss_roll", ["MVU", "datasets"], {"datasets": "lab.datasets"}))
    sdpdr has no 'swiss_roll'; it is sdpdr.datasets.swiss_roll.
    >>> print(no_such_name("Mvu", ["MVU"], {}))
    sdpdr has no 'Mvu'; did you mean sdpdr.MVU?
    """
    words = f"{PACKAGE} has no {name!r}"
    if not name.startswith("_"):
        words += _pointer(name, _whereabouts(tuple(public), tuple(places.items())))
    # With a name, Python does not add a guess of its own.
    return AttributeError(words, name=name)


def _pointer(name: str, known: Mapping[str, str]) -> str:
    from difflib import get_close_matches  # here, since it is needed for a mistake only

    exact = [full for full, last in known.items() if last == name]
    if exact:
        return f"; it is {' or '.join(exact)}."
    lowered = [last.lower() for last in known.values()]
    near = get_close_matches(name.lower(), lowered, n=1)
    meant = (full for full, last in known.items() if last.lower() in near)
    return "".join(f"; did you mean {full}?" for full in sorted(meant, key=len)[:1]) or "."


@cache
def _whereabouts(public: tuple[str, ...], places: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Full names of all that is public, each with its last part."""
    known = {f"{PACKAGE}.{name}": name for name in public}
    for room in public:
        for name in _names_of(dict(places).get(room, room)):
            known[f"{PACKAGE}.{room}.{name}"] = name
    return known


def _names_of(place: str) -> Iterator[str]:
    """What a room says that it has: classes, and what it lists or imports under the same name."""
    from pathlib import Path

    path = Path(__file__).parents[1].joinpath(*place.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        for line in ast.parse(file.read_bytes()).body if file.is_file() else ():
            if isinstance(line, ast.ClassDef):
                yield line.name
            elif isinstance(line, ast.ImportFrom):
                yield from (one.name for one in line.names if one.name == one.asname)
            elif isinstance(line, ast.Assign) and isinstance(line.value, ast.List):
                if ast.unparse(line.targets[0]) == "__all__":
                    yield from ast.literal_eval(line.value)
            elif isinstance(line, ast.Assign) and isinstance(line.value, ast.Name):
                yield ast.unparse(line.targets[0])  # another name of something
