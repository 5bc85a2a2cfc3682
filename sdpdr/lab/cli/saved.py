"""Files of models: a map of new points with its units and columns, as arrays and text.

A model is an NPZ file that `numpy.load` opens without ``allow_pickle``: it contains no code, and a
file from elsewhere can be read without trusting it. ``docs/howto/table.rst`` lists its
arrays: ``about`` (JSON), units, points, embedding, and those of the kind of map.
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
from sdpdr.families.regress.maps import KINDS, Extension, KernelExtension, LinearExtension
from sdpdr.families.regress.ridge import LinearMapping
from sdpdr.lab.cli.columns import ColumnUnits

SUFFIX = ".npz"
_FORMAT, _VERSION = "sdpdr map", 1
# Arrays of a map, if its kind has them; a kernel map has ``gamma`` as well.
_PARTS = ("centers", "coef", "intercept")


@dataclass(frozen=True, eq=False)
class SavedMap:
    """A map of new points, the columns it takes, their units, and names of its coordinates."""

    extension: Extension
    scaling: ColumnUnits
    columns: Sequence[str]
    method: str
    places: Sequence[str]

    def place(self, X: Array) -> tuple[Array, Array]:
        """Return coordinates of points and the trust in them, shapes (n, d) and (n,)."""
        scaled = self.scaling(X)
        return np.asarray(self.extension(scaled)), self.extension.trust(scaled)

    def writer(self) -> Writer:
        """Return a writer of the file."""
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
        source = extension.mapping if isinstance(extension, LinearExtension) else extension
        arrays: dict[str, Any] = {
            "about": np.array(json.dumps(about, ensure_ascii=False)),
            "centre": self.scaling.centre,
            "spread": self.scaling.spread,
            "points": extension.points,
            "embedding": extension.embedding,
            "nearest": extension.nearest,
            **{name: getattr(source, name) for name in _PARTS if hasattr(source, name)},
        }
        if isinstance(extension, KernelExtension):
            arrays["gamma"] = np.array(extension.choice.gamma)

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
    """Return the map that a fitted estimator has of new points; X are those of the fit."""
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
    if extension is None:  # a metric is a linear map
        coef = learned.components_.T
        parts = {"coef": coef, "intercept": np.zeros(coef.shape[1])}
        extension = _restored("linear", X, X @ coef, 0.0, 1, parts)
        extension.nearest = np.sort(extension._others()[0])
    return SavedMap(extension, scaling, columns, method, places)


def read_model(path: Path) -> SavedMap:
    """Read a file that ``--save`` wrote, or refuse another."""
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
        fitted = arrays["points"], arrays["embedding"], about["error"], about["n_neighbors"]
        extension = _restored(about["map"], *fitted, arrays)
        extension.nearest = arrays["nearest"]
        scaling = ColumnUnits(arrays["centre"], arrays["spread"])
        if not scaling.centre.shape == scaling.spread.shape == (len(about["columns"]),):
            raise ValueError("its units are of other columns")
    except (ValueError, KeyError, OSError, EOFError, TypeError) as problem:
        raise FileFormatError(
            f"{path} is no model of `sdpdr embed --save` that this version reads: {problem}."
        ) from None
    return SavedMap(extension, scaling, about["columns"], about["method"], about["places"])


def _restored(
    kind: str, points: Array, Y: Array, error: float, n_neighbors: int, arrays: Mapping[str, Array]
) -> Any:
    """Make a map from its stored arrays, without fitting it."""
    extension: Any = KINDS[kind].__new__(KINDS[kind])
    extension.points, extension.embedding, extension.precomputed = points, Y, False
    extension.n_neighbors, extension.seed, extension.error = n_neighbors, 0, error
    if isinstance(extension, LinearExtension):
        extension.mapping = LinearMapping(arrays["coef"], arrays["intercept"])
        return extension
    if isinstance(extension, KernelExtension):
        extension.centers = arrays["centers"].astype(np.int64)
        extension.coef, extension.intercept = arrays["coef"], arrays["intercept"]
        extension.choice = KernelChoice(float(arrays["gamma"]), np.nan, error, ())
    return extension
