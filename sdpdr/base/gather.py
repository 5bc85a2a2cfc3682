"""Packages under their public names: ``sdpdr.methods`` is ``sdpdr.families.methods``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

from sdpdr.base.errors import nearest_name
from sdpdr.base.from_cvxpy import spelling

PACKAGE = __name__.partition(".")[0]


def import_as(places: Mapping[str, str]) -> None:
    """Let ``import sdpdr.name`` import ``sdpdr.place``, one module under two names."""
    sys.meta_path.insert(0, _Rooms(places))


# To import its base classes, of `importlib.abc`, takes longer than all else.
class _Rooms:
    """A finder of rooms by their public names; it is first, so that no file is imported twice."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = places

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, rest = name.partition(".")
        room, _, inside = rest.partition(".")
        if package != PACKAGE or room not in self.places:
            return None
        if inside:
            raise ModuleNotFoundError(
                f"{PACKAGE}.{room} gathers names; its modules are imported where they lie: "
                f"{PACKAGE}.{self.places[room]}.{inside}",
                name=name,
            )
        return ModuleSpec(name, self)  # type: ignore[arg-type]  # no base

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(f"{PACKAGE}.{self.places[spec.name.rpartition('.')[2]]}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give back the specification under which the module was imported."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def names(room: Mapping[str, object]) -> list[str]:
    """Public names of a room that gathers names, from its ``vars()``."""
    return sorted(
        name
        for name, one in room.items()
        if not name.startswith("_") and not isinstance(one, ModuleType)
    )


def lazily(
    room: str, file: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """A room's ``__getattr__``, ``__dir__`` and ``__all__``, by the stub that is beside it.

    The stub says where every name lives; its module is imported when the name is first used.

    Parameters
    ----------
    room, file : str
        The ``__name__`` and the ``__file__`` of the room.
    """
    with open(f"{file.removesuffix('.py')}.pyi", encoding="utf-8") as stub:
        lines = ast.parse(stub.read()).body
    places = {
        one.name: line.module
        for line in lines
        if isinstance(line, ast.ImportFrom) and line.module
        for one in line.names
    }
    public = sorted(places)

    def load(name: str) -> object:
        if name not in places:
            near = nearest_name(name, public)
            hint = f"did you mean {near!r}?" if near else f"it has {', '.join(public)}."
            # Without its name and module, or Python would print a second guess.
            raise AttributeError(f"module {room!r} has no attribute {name!r}; {hint}")
        found = getattr(import_module(places[name]), name)
        setattr(sys.modules[room], name, found)
        return found

    return load, lambda: public, public


def no_such_name(name: str, public: Iterable[str], places: Mapping[str, str]) -> AttributeError:
    """Return an error that says where a name lies, or which one is meant; it imports nothing.

    Examples
    --------
    >>> print(no_such_name("swiss_roll", ["MVU", "datasets"], {"datasets": "lab.datasets"}))
    sdpdr has no 'swiss_roll'; it is sdpdr.datasets.swiss_roll.
    >>> print(no_such_name("trace", ["MVU"], {}))
    sdpdr has no 'trace'; for cp.trace(K) write K.trace().
    >>> print(no_such_name("Mvu", ["MVU"], {}))
    sdpdr has no 'Mvu'; did you mean sdpdr.MVU?
    """
    words = f"{PACKAGE} has no {name!r}"
    instead = spelling(name)
    if instead:
        words += f"; {instead}."
    elif not name.startswith("_"):
        words += _pointer(name, _whereabouts(tuple(public), tuple(places.items())))
    # With a name, Python does not add a guess of its own.
    return AttributeError(words, name=name)


def _pointer(name: str, known: Mapping[str, str]) -> str:
    from difflib import get_close_matches  # here, since it is needed for a mistake only

    exact = [full for full, last in known.items() if last == name]
    if exact:
        return f"; it is {' or '.join(exact)}."
    near = get_close_matches(name.lower(), [last.lower() for last in known.values()], n=1)
    meant = [full for full, last in known.items() if last.lower() in near]
    return f"; did you mean {min(meant, key=len)}?" if meant else "."


@cache
def _whereabouts(public: tuple[str, ...], places: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Full names of all that is public, each with its last part."""
    known = {f"{PACKAGE}.{name}": name for name in public}
    for room in public:
        for name in _names_of(dict(places).get(room, room)):
            known[f"{PACKAGE}.{room}.{name}"] = name
    return known


def _names_of(place: str) -> Iterator[str]:
    """Names in the source of a room: classes, ``__all__``, and what it imports to be public."""
    from pathlib import Path

    path = Path(__file__).parents[1].joinpath(*place.split("."))
    for file in (path.with_suffix(".pyi"), path.with_suffix(".py"), path / "__init__.py"):
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
