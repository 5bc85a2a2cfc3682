"""Errors travel between processes, whatever arguments they are made with."""

from __future__ import annotations

import pickle

import pytest

from sdpdr import errors

pytestmark = pytest.mark.integration

MADE = [
    errors.UnknownNameError("solver", "clarable", ["clarabel", "scs"]),
    errors.CompileError("Isometry", "it is curved"),
    errors.DisconnectedGraphError("two parts", [[0, 1], [2]]),
    errors.DataError("a bad row"),
    errors.PackageMissingError("no duckdb"),
    errors.ResultsLockedError("in use"),
]


@pytest.mark.parametrize("error", MADE, ids=lambda e: type(e).__name__)
def test_an_error_is_the_same_in_another_process(error):
    error.__notes__ = ["while solving"]
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)
    with pytest.raises(type(error)):
        raise back


def test_every_error_is_one_of_ours_and_travels():
    kinds = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    ours = [kind for kind in kinds if issubclass(kind, errors.SdpdrError)]
    assert len(ours) > 15
    for kind in ours:
        made = kind.__new__(kind, "words")
        assert pickle.loads(pickle.dumps(made)).args == ("words",)
