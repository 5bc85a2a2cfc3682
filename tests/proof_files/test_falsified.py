"""Files that were changed are refused, or what they claim is true nevertheless."""

from __future__ import annotations

import zipfile
from copy import deepcopy
from functools import cache

import numpy as np
import pytest

from sdpdr.certify import check_proof
from sdpdr.certify.check_proof import PROGRAM, NoProofFileError, NotProvedError, check

from .files import (
    ALL,
    DECEIVING,
    Contents,
    endless,
    entropy,
    hidden_face,
    laplacian,
    optimum,
    pentagon,
    power,
    precise_optimum,
    twice,
    write,
)

REFUSED = (NoProofFileError, NotProvedError)
# Edits of each file in each of two tests: five hundred spoiled files, about fifty of them daily.
EDITS = 12
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


@pytest.mark.daily(2)
@pytest.mark.parametrize("make", [make for make in ALL if make not in DECEIVING], **NAMED)
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
        sense, best, room = proved["sense"], precise_optimum(file.arrays), 1e-14
        if best is None:
            best, room = optimum(file.arrays), 1e-6
        room *= max(abs(best), 1.0)
        if "bound" in proved:
            assert sense * proved["bound"] <= best + room
        if "value" in proved:
            assert sense * proved["value"] >= best - room
        assert "infeasible" not in proved or best == np.inf
        assert "unbounded" not in proved or best == -np.inf


@pytest.mark.daily(2)
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
            more = rng.choice([1e-12, 1e-5, 1.0])
            claim = rng.choice(list(claims))
            claims[claim] = answer + (sense if claim == "bound" else -sense) * more
        with pytest.raises(REFUSED):
            check(file.write(tmp_path / "more.proof"))


STEPS = [(hidden_face, "faces"), (twice, "faces"), (laplacian, "faces"), (endless, "dual")]


@pytest.mark.daily(2)
@pytest.mark.parametrize(("make", "key"), STEPS)
def test_steps_are_checked_to_the_last_digit(make, key, written, tmp_path):
    file = written(make)
    steps = file.head[key]
    assert steps
    for number, step in enumerate(steps):
        for row in step["y"]:
            other = written(make)
            other.head[key][number]["y"][row] += (
                "0000000001/1" if "/" not in step["y"][row] else "1"
            )
            with pytest.raises(REFUSED):
                check(other.write(tmp_path / "step.proof"))


def test_a_finite_optimum_without_multipliers_is_not_without_limit(written, tmp_path):
    """min K_01 with K_00 <= 0 is zero: its dual has no point either, but no point lies inside."""
    file = written(endless)
    file.arrays["b"] = 0.0 * file.arrays["b"]
    file.arrays |= {"point_rank": np.array([2]), "point_R": np.array([0.0, 0.0, 0.0, 1.0])}
    with pytest.raises(NotProvedError, match="definite"):
        check(file.write(tmp_path / "gap.proof"))


def test_rows_that_nothing_shows_to_follow_from_others_are_not_left_out(written, tmp_path):
    file = written(hidden_face)
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
        lambda f: f.arrays.update(sense=np.array([2**64 - 1], dtype=np.uint64)),
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
    twice = written(make).write(tmp_path / "none.proof")
    with zipfile.ZipFile(twice, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("b.npy", archive.read("b.npy"))
    with pytest.raises(NoProofFileError, match="one name"):
        check(twice)
    file = written(make)
    del file.arrays["b"]
    with pytest.raises(NoProofFileError, match="missing"):
        check(file.write(tmp_path / "none.proof", hashes=False))


@pytest.mark.parametrize("limit", ["BYTES", "TEXT"])
def test_files_that_are_too_large_are_refused_before_they_are_read(
    limit, written, tmp_path, monkeypatch
):
    path = written(hidden_face).write(tmp_path / "large.proof")
    monkeypatch.setattr(check_proof, limit, 100)
    with pytest.raises(NoProofFileError, match=r"too (large|long)"):
        check(path)


def test_numbers_and_steps_without_end_are_refused_at_once(written, tmp_path):
    def steps(*given):
        file = written(hidden_face)
        file.head["faces"] = list(given)
        return file.write(tmp_path / "long.proof")

    def step(y, squares=()):
        return {"y": {"1": y}, "squares": list(squares), "known": []}

    square = [0, "1", {str(i): "1" for i in range(4000)}]
    for path in (
        steps(step("1e100000000")),
        steps(step("1", [[0, "1e100000000", {"0": "1"}]])),
        steps(step(f"1/{2**check_proof.BITS}")),
        steps(step("9" * 5000)),
        steps(*[step("1")] * (check_proof.STEPS + 1)),
        steps(step("1", [square])),
    ):
        with pytest.raises(REFUSED):
            check(path)
