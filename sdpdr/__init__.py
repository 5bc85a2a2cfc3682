"""Semidefinite formulations of dimensionality reduction and matrix factorization.

Write a method as a sum of constraint blocks, solve it with any solver, and get back an answer
that carries its own proof of quality.

Names are loaded when they are first used; ``__init__.pyi`` says where they live.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

import lazy_loader as _lazy

from sdpdr.base import gather as _gather
from sdpdr.base import packages as _packages

# Rooms under the names by which they are used; where they lie follows how the package is built.
_PLACES = {
    "baselines": "families.unfold.baselines",
    "bilinear": "families.sopca",
    "blocks": "model.blocks",
    "datasets": "lab.datasets",
    "density": "families.unfold.density",
    "errors": "base.errors",
    "estimators": "families.estimators",
    "extend": "families.regress",
    "factorize": "families.factorize",
    "iterate": "families.iterate",
    "library": "lab.library",
    "methods": "families.methods",
    "metric": "families.metric",
    "nonnegative": "families.nonnegative",
    "plot": "lab.plot",
    "propagation": "families.propagate",
}

# Names that went, and what to write instead.
_GONE = {
    "MMMFCV": 'sklearn.model_selection.GridSearchCV(sdpdr.RatingMMMF(), {"c": [...]}), fitted to '
    "pairs of positions and their ratings",
}

_find, _, _names = _lazy.attach_stub(__name__, __file__)
__all__ = sorted({*_names, "bilinear", "extend", "propagation"})
_gather.import_as(_PLACES)


def __getattr__(name: str) -> _Any:
    """Load a name at its first use."""
    if name == "__version__":  # finding it takes longer than all else here
        return _packages.version_of(__name__)
    if name in _PLACES:
        with _packages.needs_packages(f"sdpdr.{name}"):
            return _import_module(f"{__name__}.{name}")
    if name in _GONE:
        raise AttributeError(f"sdpdr.{name} is gone; write {_GONE[name]}.", name=name)
    if name not in __all__:
        raise _gather.no_such_name(name, __all__, _PLACES)
    with _packages.needs_packages(f"sdpdr.{name}"):
        return _find(name)


def __dir__() -> list[str]:
    return __all__
