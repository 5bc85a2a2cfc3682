"""A table of all baselines by name, so that a comparison is one loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.families.unfold.baselines.gplvm import gplvm
from sdpdr.families.unfold.baselines.ncmvu import NCMVU
from sdpdr.families.unfold.baselines.spe import spe
from sdpdr.families.unfold.baselines.spectral import (
    classical_mds,
    isomap,
    kernel_pca,
    laplacian_eigenmaps,
    lle,
)
from sdpdr.families.unfold.baselines.stress import metric_mds, nonmetric_mds, sammon


def _ncmvu(
    X: ArrayLike,
    n_components: int = 2,
    *,
    n_neighbors: int = 6,
    rank: int | None = None,
    isometry: Literal["inequality", "equality"] = "inequality",
    connect: str = "error",
    seed: int = 0,
) -> Array:
    unfolding = NCMVU(
        n_components,
        rank=max(3, n_components) if rank is None else rank,
        n_neighbors=n_neighbors,
        isometry=isometry,
        connect=connect,
        random_state=seed,
    )
    return np.asarray(unfolding.fit(X).embedding_)


BASELINES: Mapping[str, Callable[..., Array]] = MappingProxyType(
    {
        "classical_mds": classical_mds,
        "isomap": isomap,
        "lle": lle,
        "laplacian_eigenmaps": laplacian_eigenmaps,
        "kernel_pca": kernel_pca,
        "spe": spe,
        "ncmvu": _ncmvu,
        "metric_mds": metric_mds,
        "nonmetric_mds": nonmetric_mds,
        "sammon": sammon,
        "gplvm": gplvm,
    }
)


def names() -> tuple[str, ...]:
    """Names that `embed` accepts.

    Examples
    --------
    >>> "isomap" in names()
    True
    """
    return tuple(BASELINES)


def embed(
    name: str,
    X: ArrayLike,
    n_components: int = 2,
    *,
    n_neighbors: int = 6,
    seed: int = 0,
    **options: Any,
) -> Array:
    """Embed by a method's name.

    Parameters
    ----------
    name : str
        One of `names`.
    X : array_like of shape (n, D)
    n_components : int, default 2
    n_neighbors, seed : int
        Passed to the methods that have them.
    **options
        Further options of that method.

    Returns
    -------
    ndarray of shape (n, n_components)

    Raises
    ------
    UnknownNameError
        There is no such baseline; the message offers the nearest name.
    DataError
        The method has no such option, or cannot use the data.

    Examples
    --------
    >>> from sdpdr import datasets
    >>> X, _ = datasets.s_curve(60)
    >>> {name: embed(name, X).shape for name in ("isomap", "lle")}
    {'isomap': (60, 2), 'lle': (60, 2)}
    """
    validate.choice("baseline", name, BASELINES)
    method = BASELINES[name]
    known = [p for p in signature(method).parameters if p not in ("X", "n_components")]
    strange = sorted(set(options) - set(known))
    if strange:
        raise DataError(
            f"{name} takes {', '.join(known)}, not {', '.join(strange)}. Rename or drop it."
        )
    shared = {"n_neighbors": n_neighbors, "seed": seed}
    shared = {option: value for option, value in shared.items() if option in known}
    return method(X, n_components, **shared, **options)
