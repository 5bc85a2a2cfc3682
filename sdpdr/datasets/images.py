"""Images that may be shown."""

from __future__ import annotations

from sklearn.datasets import load_digits

from sdpdr.datasets.sample import Sample
from sdpdr.errors import DataError
from sdpdr.graphs import validate


def digits(n: int | None = None) -> Sample:
    """Handwritten digits, 8 x 8 pixels from 0 to 16, as `sklearn.datasets.load_digits` has them.

    Parameters
    ----------
    n : int, optional
        Only the first n of 1797.

    Returns
    -------
    X : ndarray of shape (n, 64)
    label : ndarray of int, shape (n,)

    Examples
    --------
    >>> digits(100)[0].shape
    (100, 64)
    """
    X, label = load_digits(return_X_y=True)
    stop = len(X) if n is None else validate.positive_integer("n", n)
    if stop > len(X):
        raise DataError(f"n={n} digits were asked for, but there are {len(X)}: leave n out.")
    return X[:stop], label[:stop]
