"""The house in numbers: lines of code and of docstrings by room, entries, modules, small files.

    python benchmarks/house.py             a line for every room
    python benchmarks/house.py FOLDER      of another version of the package

Lines of code are those with code on them: no docstrings, comments, or blanks.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "sdpdr"
SMALL = 50
_STRINGS = (ast.Constant, ast.JoinedStr)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Module:
    """One file of Python."""

    path: Path
    lines: int
    code: int

    @property
    def is_small(self) -> bool:
        """Whether it could join another."""
        return self.code < SMALL and not self.path.name.startswith("__")


def module(path: Path) -> Module:
    """Count the lines of a file."""
    text = path.read_text(encoding="utf-8")
    lines = enumerate(text.split("\n"), start=1)
    coded = {k for k, line in lines if line.strip() and not line.lstrip().startswith("#")}
    described: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _STRINGS):
            # Its lines may be blank, or look like comments.
            coded |= _lines_of(node)
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            described |= _lines_of(node.body[0])
    return Module(path, text.count("\n"), len(coded - described))


def _lines_of(node: ast.expr | ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def modules(package: Path = PACKAGE) -> list[Module]:
    """Every file of the package."""
    return [module(path) for path in sorted(package.rglob("*.py"))]


def entries(package: Path = PACKAGE) -> list[str]:
    """What lies at the top of the package."""
    return sorted(path.name for path in package.iterdir() if path.name != "__pycache__")


def crowded(package: Path = PACKAGE) -> dict[str, int]:
    """Folders by the number of modules that lie in them directly, ``__init__`` not counted."""
    found: dict[str, int] = defaultdict(int)
    for path in package.rglob("*.py"):
        if path.name != "__init__.py":
            found[str(path.parent.relative_to(package.parent))] += 1
    return dict(found)


def main() -> None:
    """Print a line for every room."""
    package = Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE
    every = modules(package)
    rooms: dict[str, list[Module]] = defaultdict(list)
    for one in every:
        rooms[one.path.relative_to(package).parts[0]].append(one)
    print(f"{'':<16}{'code':>8}{'lines':>8}{'files':>7}{'small':>7}")
    for name, held in [*sorted(rooms.items()), ("all", every)]:
        counts = (sum(m.code for m in held), sum(m.lines for m in held), len(held))
        small = sum(m.is_small for m in held)
        print(f"{name:<16}{counts[0]:>8}{counts[1]:>8}{counts[2]:>7}{small:>7}")
    most = max(crowded(package).items(), key=lambda item: item[1])
    print(f"{len(entries(package))} entries at the top; most modules: {most[1]} in {most[0]}")


if __name__ == "__main__":
    main()
