"""Models in files: a map of new points, its units and columns, as arrays and text alone.

A model is an NPZ file that `numpy.load` opens without ``allow_pickle``: nothing in it is a program,
so that one from elsewhere can be read without trusting it. Its arrays are

========== ============ ==========================================================================
about      text         JSON: format, version, method, map, columns, names, error, n_neighbors
centre     (D,)         units of the columns: x is read as (x - centre) / spread
spread     (D,)
points     (n, D)       the points of the fit in these units
embedding  (n, d)       their places
nearest    (n,)         distance of each to its nearest other one, ascending
========== ============ ==========================================================================

and those of the map: ``centers``, ``coef``, ``intercept`` and ``gamma`` of ``kernel``, ``coef`` and
``intercept`` of ``linear`` (once also ``sparse``), ``chosen`` of ``barycentric`` (``landmark``).
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sdpdr import __version__
from sdpdr.base.arrays import Array
from sdpdr.base.errors import FileFormatError, NotAcceptedError
from sdpdr.base.files import Writer
from sdpdr.families.regress.kernel import KernelChoice
from sdpdr.families.regress.maps import (
    KINDS,
    Extension,
    KernelExtension,
    LinearExtension,
)
from sdpdr.families.regress.ridge import LinearMapping
from sdpdr.lab.cli.columns import ColumnUnits

SUFFIX = ".npz"
_FORMAT, _VERSION = "sdpdr map", 1


@dataclass(frozen=True, eq=False)
class SavedMap:
    """A map of new points, and what it is to be given.

    Attributes
    ----------
    extension : Extension
    scaling : ColumnUnits
    columns : sequence of str
        Of the table that it was learned from, in order.
    method : str
    places : sequence of str
        What its coordinates are called.
    """

    extension: Extension
    scaling: ColumnUnits
    columns: Sequence[str]
    method: str
    places: Sequence[str]

    def place(self, X: Array) -> tuple[Array, Array]:
        """Places of points and how ordinary they are, shapes (n, d) and (n,)."""
        scaled = self.scaling(X)
        return np.asarray(self.extension(scaled)), self.extension.trust(scaled)

    def writer(self) -> Writer:
        """Writer of the file."""
        extension = self.extension
        about = {
            "format": _FORMAT,
            "version": _VERSION,
            "sdpdr": __version__,
            "method": self.method,
            "map": extension.name,
            "columns": list(self.columns),
            "places": list(self.places),
            "error": extension.error,
            "n_neighbors": extension.n_neighbors,
        }
        arrays: dict[str, Any] = {
            "about": np.array(json.dumps(about, ensure_ascii=False)),
            "centre": self.scaling.centre,
            "spread": self.scaling.spread,
            "points": extension.points,
            "embedding": extension.embedding,
            "nearest": extension.nearest,
            **_parts(extension),
        }

        def write(path: Path) -> None:
            with path.open("wb") as file:
                np.savez_compressed(file, **arrays)

        return write


def model_of(
    learned: Any,
    X: Array,
    scaling: ColumnUnits,
    columns: Sequence[str],
    method: str,
    places: Sequence[str],
) -> SavedMap:
    """What a fitted estimator knows of new points.

    Raises
    ------
    NotAcceptedError
        It was fitted to distances, or is a metric of kernel values.
    """
    if getattr(learned, "kernel", None) is not None:
        raise NotAcceptedError(
            "--save keeps maps of coordinates, and this one is of kernel values. Leave out --save, "
            "or --set kernel=..."
        )
    of_distances = not hasattr(learned, "metric") and not hasattr(learned, "components_")
    if of_distances or getattr(learned, "metric", "") == "precomputed":
        raise NotAcceptedError(
            "--save keeps a map of coordinates, and these are distances. Leave it out, or embed a "
            "table of points."
        )
    extension = getattr(learned, "extension_", None)
    if extension is None:  # a metric, which is a linear map
        mapping = LinearMapping(learned.components_.T, np.zeros(len(learned.components_)), "")
        mapped = {"coef": mapping.coef, "intercept": mapping.intercept}
        extension = _restored("linear", X, mapping(X), 0.0, 1, mapped)
        extension.nearest = np.sort(extension._others()[0])
    return SavedMap(extension, scaling, columns, method, places)


def read_model(path: Path) -> SavedMap:
    """Read a file that ``--save`` wrote.

    Raises
    ------
    FileFormatError
        There is no such file, or it is no model.
    """
    if not path.is_file():
        raise FileFormatError(f"{path}: there is no such file. `sdpdr embed --save` writes one.")
    try:
        if not zipfile.is_zipfile(path):
            raise ValueError("it is no NPZ file")
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        about = json.loads(str(arrays.pop("about")))
        if (about["format"], about["version"]) != (_FORMAT, _VERSION):
            raise ValueError(f"it is {about['format']} {about['version']}")
        kind, missed, k = about["map"], about["error"], about["n_neighbors"]
        extension = _restored(kind, arrays["points"], arrays["embedding"], missed, k, arrays)
        extension.nearest = arrays["nearest"]
        scaling = ColumnUnits(arrays["centre"], arrays["spread"])
        if not scaling.centre.shape == scaling.spread.shape == (len(about["columns"]),):
            raise ValueError("its units are of other columns")
    except (ValueError, KeyError, OSError, EOFError, TypeError) as error:
        raise FileFormatError(
            f"{path} is no model of `sdpdr embed --save` that this version reads: {error}."
        ) from None
    return SavedMap(extension, scaling, about["columns"], about["method"], about["places"])


def _parts(extension: Extension) -> dict[str, np.ndarray]:
    """The arrays of a map."""
    held = extension.mapping if isinstance(extension, LinearExtension) else extension
    parts = {name: getattr(held, name) for name in _PARTS[extension.name]}
    if isinstance(extension, KernelExtension):
        parts["gamma"] = np.array(extension.choice.gamma)
    return parts


def _restored(
    kind: str,
    points: Array,
    Y: Array,
    error: float,
    n_neighbors: int,
    arrays: Mapping[str, Array],
) -> Any:
    """A map that is not fitted again, with the arrays that it was written as."""
    # Two kinds of earlier versions differ from others in how they were fitted only.
    kind = {"sparse": "linear", "landmark": "barycentric"}.get(kind, kind)
    extension: Any = KINDS[kind].__new__(KINDS[kind])
    extension.points, extension.embedding, extension.precomputed = points, Y, False
    extension.n_neighbors, extension.seed, extension.error = n_neighbors, 0, error
    parts = {name: arrays[name] for name in _PARTS[kind]}
    if isinstance(extension, LinearExtension):
        extension.mapping = LinearMapping(**parts, solver="")
        return extension
    vars(extension).update(parts)
    if isinstance(extension, KernelExtension):
        extension.choice = KernelChoice(float(arrays["gamma"]), np.nan, error, ())
    return extension


# What maps are made of, by their kinds.
_PARTS: Mapping[str, Sequence[str]] = {
    "kernel": ("centers", "coef", "intercept"),
    "linear": ("coef", "intercept"),
    "barycentric": ("chosen",),
}
