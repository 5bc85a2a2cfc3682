"""Files that were changed are refused, or what they claim is true nevertheless."""

from __future__ import annotations

from copy import deepcopy
from functools import cache

import numpy as np
import pytest

from sdpdr.certify.check_proof import PROGRAM, NoProofFileError, NotProvedError, check

from .files import (
    ALL,
    Contents,
    entropy,
    hidden_face,
    no_face,
    optimum,
    pentagon,
    power,
    twice,
    write,
)

REFUSED = (NoProofFileError, NotProvedError)
# More of them found nothing else.
EDITS = 8
NAMED = {"ids": lambda make: make.__name__}


@cache
def contents(make, folder):
    return Contents.of(write(make, folder / f"{make.__name__}.proof").path)


@pytest.fixture
def written(tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    return lambda make: deepcopy(contents(make, folder))


def changed(x, rng):
    """An array with one number changed, left out, or exchanged with another."""
    x, at = x.copy(), int(rng.integers(x.size))
    if x.dtype.kind != "f":
        x[at] += rng.choice([-1, 1])
        return x
    kind = rng.integers(5)
    if kind == 0:
        return np.delete(x, at)
    if kind == 1:
        other = int(rng.integers(x.size))
        x[[at, other]] = x[[other, at]]
    elif kind == 2:
        x[at] = -x[at]
    else:
        x[at] = x[at] * (1.0 + rng.choice([1e-9, 1e-3, 0.5])) + rng.choice([0.0, 1e-6, 1.0])
    return x


def bytes_of(arrays):
    return {name: (x.dtype.str, x.tobytes()) for name, x in arrays.items()}


@pytest.mark.daily(4)
@pytest.mark.parametrize("make", [make for make in ALL if make is not no_face], **NAMED)
def test_a_changed_program_has_another_hash_and_is_proved_nothing_false_of(make, written, tmp_path):
    rng = np.random.default_rng(7)
    for _ in range(EDITS):
        file = written(make)
        name = rng.choice([name for name in PROGRAM if file.arrays[name].size])
        before, hashed = bytes_of(file.arrays), file.head["program"]
        file.arrays[name] = changed(file.arrays[name], rng)
        if bytes_of(file.arrays) == before:
            continue
        with pytest.raises(NoProofFileError, match="hash"):
            check(file.write(tmp_path / "old.proof", hashes=False))
        path = file.write(tmp_path / "new.proof")
        assert file.head["program"] != hashed
        try:
            proved = check(path)
        except REFUSED:
            continue
        sense, best = proved["sense"], optimum(file.arrays)
        room = 1e-6 * max(abs(best), 1.0)
        if "bound" in proved:
            assert sense * proved["bound"] <= best + room
        if "value" in proved:
            assert sense * proved["value"] >= best - room
        assert "infeasible" not in proved or best == np.inf
        assert "unbounded" not in proved or best == -np.inf


@pytest.mark.daily(5)
@pytest.mark.parametrize("make", ALL, **NAMED)
def test_no_witness_proves_more(make, written, tmp_path):
    rng, original = np.random.default_rng(3), written(make)
    answer, sense = ALL[make], int(original.arrays["sense"][0])
    for _ in range(EDITS):
        file = written(make)
        names = [name for name in file.arrays if name not in PROGRAM and file.arrays[name].size]
        if names and rng.integers(3):
            name = rng.choice(names)
            file.arrays[name] = changed(file.arrays[name], rng)
        claims = file.head["claims"]
        if isinstance(answer, str):
            claims.clear()
            other = {"infeasible": "unbounded", "unbounded": "infeasible"}[answer]
            claims |= (
                {other: True}
                if rng.integers(2)
                else {"value" if other == "unbounded" else "bound": 0.0}
            )
        else:
            more = rng.choice([1e-5, 1.0])
            claim = rng.choice(list(claims))
            claims[claim] = answer + (sense if claim == "bound" else -sense) * more
        with pytest.raises(REFUSED):
            check(file.write(tmp_path / "more.proof"))


@pytest.mark.parametrize("make", [hidden_face, twice], **NAMED)
def test_steps_are_checked_to_the_last_digit(make, written, tmp_path):
    file = written(make)
    steps = file.head["faces"]
    assert steps
    for number, step in enumerate(steps):
        for row in step["y"]:
            other = written(make)
            other.head["faces"][number]["y"][row] += (
                "0000000001/1" if "/" not in step["y"][row] else "1"
            )
            with pytest.raises(REFUSED):
                check(other.write(tmp_path / "step.proof"))
    # Rows that nothing shows to follow from others are not left out.
    file.head["faces"][0]["drop"] = int(np.flatnonzero(file.arrays["rel"] == 0)[-1])
    file.head["faces"] = [{"y": {}, "squares": [], "known": [], "drop": 1}]
    with pytest.raises(NotProvedError, match="left out"):
        check(file.write(tmp_path / "step.proof"))


@pytest.mark.daily(1)
@pytest.mark.parametrize("make", [pentagon, entropy, power], **NAMED)
def test_what_is_no_file_is_named(make, written, tmp_path):
    good = written(make)
    path = good.write(tmp_path / "good.proof")
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    damaged = tmp_path / "damaged.proof"
    for _ in range(60):
        at, broken = int(rng.integers(len(data))), bytearray(data)
        broken[at] ^= 1 << int(rng.integers(8))
        damaged.write_bytes(broken[: rng.integers(len(data))] if rng.integers(2) else broken)
        try:
            proved = check(damaged)
        except REFUSED:
            continue
        assert proved == check(path)  # the change was in what nobody reads, as dates of members
    for change in (
        lambda f: f.arrays.update(b=f.arrays["b"].astype(np.float32)),
        lambda f: f.arrays.update(b=np.append(f.arrays["b"][:-1], np.nan)),
        lambda f: f.arrays.update(b=f.arrays["b"] * 1e99 + 1e99),
        lambda f: f.arrays.update(more=np.zeros(1)),
        lambda f: f.arrays.update(rel=f.arrays["rel"][None]),
        lambda f: f.head.update(version=2),
        lambda f: f.head.update(claims={}),
        lambda f: f.head.update(claims={"value": True}),
        lambda f: f.head.update(claims={"optimal": True}),
        lambda f: f.head.update(faces=[{}]),
        lambda f: f.head.update(faces=[{"y": {"1": "1/0"}, "squares": [], "known": []}]),
    ):
        file = written(make)
        change(file)
        with pytest.raises(NoProofFileError):
            check(file.write(tmp_path / "none.proof"))
    file = written(make)
    del file.arrays["b"]
    with pytest.raises(NoProofFileError, match="missing"):
        check(file.write(tmp_path / "none.proof", hashes=False))
