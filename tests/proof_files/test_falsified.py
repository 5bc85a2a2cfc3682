"""Files that were changed are refused, or what they claim is true nevertheless."""

from __future__ import annotations

import gzip
import hashlib
import json
from copy import deepcopy
from functools import cache

import numpy as np
import pytest

from sdpdr.certify import check_proof
from sdpdr.certify.check_proof import NoProofFileError, NotProvedError, check

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


def lists_of(part):
    """All lists with numbers in some part of a file."""
    if isinstance(part, list) and any(isinstance(x, int | float) for x in part):
        yield part
    if isinstance(part, list | dict):
        for x in part.values() if isinstance(part, dict) else part:
            yield from lists_of(x)


def change(x, rng):
    """Change, leave out or exchange one number of a list."""
    at = int(rng.integers(len(x)))
    if isinstance(x[at], int):
        x[at] += int(rng.choice([-1, 1]))
    elif isinstance(x[at], float):
        kind, other = rng.integers(5), int(rng.integers(len(x)))
        if kind == 0:
            del x[at]
        elif kind == 1:
            x[at], x[other] = x[other], x[at]
        elif kind == 2:
            x[at] = -x[at]
        else:
            x[at] = float(x[at] * (1 + rng.choice([1e-9, 1e-3, 0.5])) + rng.choice([0, 1e-6, 1]))


@pytest.mark.daily(2)
@pytest.mark.parametrize("make", [make for make in ALL if make not in DECEIVING], **NAMED)
def test_a_changed_program_has_another_hash_and_is_proved_nothing_false_of(make, written, tmp_path):
    rng = np.random.default_rng(7)
    for _ in range(EDITS):
        file = written(make)
        before, hashed, found = deepcopy(file.program), file.proof["program"], file.program
        places = list(lists_of(found))
        change(places[rng.integers(len(places))], rng)
        if found == before:
            continue
        with pytest.raises(NoProofFileError, match="hash"):
            check(file.write(tmp_path / "old.proof", hashes=False))
        path = file.write(tmp_path / "new.proof")
        assert file.proof["program"] != hashed
        try:
            proved = check(path)
        except REFUSED:
            continue
        sense, best, room = proved["sense"], precise_optimum(file.program), 1e-14
        if best is None:
            best, room = optimum(file.program), 1e-6
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
    answer, sense = ALL[make], original.program["sense"]
    for _ in range(EDITS):
        file = written(make)
        proof = file.proof
        places = list(lists_of([proof.get(key) for key in ("point", "ray", "dual")]))
        if places and rng.integers(3):
            change(places[rng.integers(len(places))], rng)
        claims = proof["claims"]
        if isinstance(answer, str):
            claims.clear()
            other = {"infeasible": "unbounded", "unbounded": "infeasible"}[answer]
            claims |= (
                {other: True}
                if rng.integers(2)
                else {"value" if other == "unbounded" else "bound": 0.0}
            )
        else:
            more = float(rng.choice([1e-12, 1e-5, 1.0]))
            claim = rng.choice(list(claims))
            claims[claim] = float(answer + (sense if claim == "bound" else -sense) * more)
        with pytest.raises(REFUSED):
            check(file.write(tmp_path / "more.proof"))


STEPS = [(hidden_face, "faces"), (twice, "faces"), (laplacian, "faces"), (endless, "steps")]


@pytest.mark.daily(2)
@pytest.mark.parametrize(("make", "key"), STEPS)
def test_steps_are_checked_to_the_last_digit(make, key, written, tmp_path):
    file = written(make)
    steps = file.proof[key]
    assert steps
    for number, step in enumerate(steps):
        for place in range(len(step["y"][0])):
            other = written(make)
            other.proof[key][number]["y"][1][place] += 1
            with pytest.raises(REFUSED):
                check(other.write(tmp_path / "step.proof"))


def test_a_finite_optimum_without_multipliers_is_not_without_limit(written, tmp_path):
    """min K_01 with K_00 <= 0 is zero: its dual has no point either, but no point lies inside."""
    file = written(endless)
    file.program["b"] = [0.0 for _ in file.program["b"]]
    file.proof["point"] |= {"rank": [2], "R": [0.0, 0.0, 0.0, 1.0]}
    with pytest.raises(NotProvedError, match="definite"):
        check(file.write(tmp_path / "gap.proof"))


def test_rows_that_nothing_shows_to_follow_from_others_are_not_left_out(written, tmp_path):
    file = written(hidden_face)
    file.proof["faces"] = [{"y": [[], []], "squares": [], "known": [], "drop": 1}]
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
    for edit in (
        lambda f: f.program.update(b=[str(x) for x in f.program["b"]]),
        lambda f: f.program.update(b=[*f.program["b"][:-1], np.nan]),
        lambda f: f.program.update(b=[x * 1e99 + 1e99 for x in f.program["b"]]),
        lambda f: f.program.update(n=[2**64]),
        lambda f: f.program.update(inequalities=[[1]]),
        lambda f: f.program.update(inequalities={"1": 1}),
        lambda f: f.program.pop("b"),
        lambda f: f.proof.update(version=2),
        lambda f: f.proof.update(claims={}),
        lambda f: f.proof.update(claims={"value": True}),
        lambda f: f.proof.update(claims={"optimal": True}),
        lambda f: f.proof.update(faces=[{}]),
        lambda f: f.proof.update(faces=[{"y": [[1], ["1"]], "squares": [], "known": []}]),
        lambda f: f.proof.pop("claims"),
    ):
        file = written(make)
        edit(file)
        with pytest.raises(NoProofFileError):
            check(file.write(tmp_path / "none.proof"))
    for text in (b"", b"1\n2\n", b"{}\n{}", data, b"[" * 100_000 + b"\n1"):
        damaged.write_bytes(gzip.compress(text))
        with pytest.raises(NoProofFileError):
            check(damaged)
    line = json.dumps(good.program)
    twice = '{"b":[0.0],' + line[1:]
    proof = good.proof | {"program": hashlib.sha256(twice.encode()).hexdigest()}
    damaged.write_bytes(gzip.compress(f"{twice}\n{json.dumps(proof)}".encode()))
    with pytest.raises(NoProofFileError, match="twice"):
        check(damaged)


def test_files_that_are_too_large_are_refused_before_they_are_read(written, tmp_path, monkeypatch):
    path = written(hidden_face).write(tmp_path / "large.proof")
    monkeypatch.setattr(check_proof, "BYTES", 100)
    with pytest.raises(NoProofFileError, match="too large"):
        check(path)


def test_numbers_and_steps_without_end_are_refused_at_once(written, tmp_path, monkeypatch):
    monkeypatch.setattr(check_proof, "PRODUCTS", 10_000)

    def steps(*given):
        file = written(hidden_face)
        file.proof["faces"] = list(given)
        return file.write(tmp_path / "long.proof")

    def step(y, squares=()):
        return {"y": [[1], [y]], "squares": list(squares), "known": []}

    square = [0, 1, list(range(200)), [1] * 200]
    for path in (
        steps(step(1e300)),
        steps(step(1, [[0, 1e300, [0], [1]]])),
        steps(step(1, [square])),
        steps(*[step(1, [[0, 1, [0], [1]]])] * 60),
    ):
        with pytest.raises(REFUSED):
            check(path)
    digits = steps(step(123)).read_bytes()
    text = gzip.decompress(digits).replace(b"[123]", b"[" + b"9" * 5000 + b"]")
    path.write_bytes(gzip.compress(text))
    with pytest.raises(NoProofFileError):
        check(path)
