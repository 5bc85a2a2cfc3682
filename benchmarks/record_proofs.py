"""Record what is proved of points: needed once, so it may know how proofs are called inside.

    python -m pytest -p record_proofs tests/conformance   # with PYTHONPATH=benchmarks:.
    python benchmarks/record_proofs.py cards|planted|hard
    python benchmarks/record_proofs.py select

Raw records go to the folder that ``PROOFS`` names. ``select`` chooses from them what
``benchmarks/baselines/proofs`` keeps, and says how many it has left out.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from proof_corpus import flat_point, flat_program, grade, key_of, write_lines

import sdpdr
from sdpdr.program import Factor
from sdpdr.solving.proofs import Proofs

RAW = Path(os.environ.get("PROOFS", "out/proofs"))
KEPT = Path(__file__).parent / "baselines" / "proofs"
# Numbers of a point, and letters of a program, above which nothing is recorded.
LARGEST, LONGEST = 12_000, 300_000
# Compressed bytes that each section may have, and records of one origin.
SHARE, OF_ONE_ORIGIN = 3_000_000, 4
# Cards to record; all if there is none.
ONLY = set(os.environ.get("CARDS", "").split())
ORIGIN = {"section": "other", "name": "?"}


# -- recording -------------------------------------------------------------------------------------


class Recorder:
    """Records each proof once, in the file of its section."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.too_large = 0

    def keep(self, proofs: Proofs, given: Any, result: Any, seconds: float) -> None:
        """Write a record, unless its program is too large or it was seen before."""
        if _held(given) > LARGEST:
            self.too_large += 1
            return
        certificate, attained = result
        program = flat_program(proofs.sdp)
        if len(json.dumps(program)) > LONGEST:
            self.too_large += 1
            return
        found = {
            "section": ORIGIN["section"],
            "origin": ORIGIN["name"],
            "program": key_of(program),
            "tol": proofs.tol,
            "rigorous": proofs.rigorous,
            "gap_scale": proofs.gap_scale,
            "point": flat_point(given),
        }
        key = key_of({name: found[name] for name in found if name != "origin"})
        if key in self.seen:
            return
        self.seen.add(key)
        proved = {
            "value": _finite(attained.value),
            "value_argument": attained.argument,
            "bound": _finite(certificate.bound),
            "bound_argument": certificate.argument,
        }
        found |= {
            "proved": proved,
            "grade": grade(proved, proofs.tol, proofs.gap_scale),
            "seconds": round(seconds, 3),
        }
        RAW.mkdir(parents=True, exist_ok=True)
        path = RAW / f"{ORIGIN['section']}.{os.getpid()}.jsonl"
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"flat": program, "record": found}) + "\n")


def _finite(x: float | None) -> float | None:
    return None if x is None or not np.isfinite(x) else float(x)


def _held(point: Any) -> int:
    """How many numbers a point has."""
    values = [*point.values.values(), *point.duals.values()]
    return int(sum(v.factor.size if isinstance(v, Factor) else np.size(v) for v in values))


def install() -> Recorder:
    """Have every proof of both sides recorded from now on."""
    recorder = Recorder()
    proof = Proofs.of

    def of(self: Proofs, given: Any, goal: float | None = None, *, hurried: bool = False) -> Any:
        begin = time.process_time()
        result = proof(self, given, goal, hurried=hurried)
        # Proofs that had to hurry say less than the point allows.
        if not hurried and not self.deadline.is_over():
            recorder.keep(self, given, result, time.process_time() - begin)
        return result

    Proofs.of = of  # type: ignore[method-assign]  # patched to record
    return recorder


def pytest_configure(config: Any) -> None:
    """Record all proofs that tests ask for."""
    del config
    install()


def pytest_runtest_setup(item: Any) -> None:
    """Name the test that asks."""
    ORIGIN.update(section=Path(item.path).parent.name, name=item.nodeid.rpartition("/")[2])


# -- sources ---------------------------------------------------------------------------------------


def _cards() -> Iterator[tuple[str, Callable[[], Any]]]:
    for name, card in sdpdr.library.library().items():
        if not card.run.slow and (not ONLY or name in ONLY):
            yield name, lambda card=card: card.solve("auto", "auto", progress=False)


def _planted() -> Iterator[tuple[str, Callable[[], Any]]]:
    from sdpdr.lab.library.planted import KINDS, planted

    for kind in KINDS:
        for seed in range(4):
            rigorous = seed == 3

            def solve(kind: str = kind, seed: int = seed, rigorous: bool = rigorous) -> Any:
                program = planted(kind, seed).sdp
                return sdpdr.solve(program, rigorous=rigorous, progress=False)

            yield f"{kind}, seed {seed}{', rigorous' * rigorous}", solve


def _hard() -> Iterator[tuple[str, Callable[[], Any]]]:
    from sdpdr.lab.library.lies import gallery

    for name, hard in gallery().items():
        for rigorous in (False, True):

            def solve(hard: Any = hard, rigorous: bool = rigorous) -> Any:
                return sdpdr.solve(hard.sdp(), rigorous=rigorous, progress=False)

            yield f"{name}{', rigorous' * rigorous}", solve


SOURCES = {"cards": _cards, "planted": _planted, "hard": _hard}
CPU = 20


def record(section: str) -> None:
    """Solve every program of a source by "auto", each in a process of its own."""
    recorder = install()
    for name, solve in SOURCES[section]():
        ORIGIN.update(section=section, name=name)
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            continue
        resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU + 1))
        with suppress(Exception):
            solve()
        print(name, len(recorder.seen), recorder.too_large, flush=True)
        os._exit(0)


# -- choosing --------------------------------------------------------------------------------------


def select() -> None:
    """Choose records: by turns of origins within a section, those that say something new first."""
    raw = defaultdict(list)
    for path in sorted(RAW.glob("*.jsonl")):
        with path.open(encoding="utf-8") as file:
            for line in file:
                found = json.loads(line)
                raw[found["record"]["section"]].append(found)
    programs, proofs = {}, []
    for section, records in sorted(raw.items()):
        taken = _chosen(records)
        print(f"{section}: {len(taken)} of {len(records)}")
        programs |= {found["record"]["program"]: found["flat"] for found in taken}
        proofs += [found["record"] for found in taken]
    KEPT.mkdir(parents=True, exist_ok=True)
    proofs.sort(key=lambda r: (r["section"], r["origin"], key_of(r)))
    ordered = [{"program": key, **programs[key]} for key in sorted(programs)]
    write_lines(KEPT / "programs.jsonl.gz", ordered)
    write_lines(KEPT / "proofs.jsonl.gz", proofs)
    total = sum(path.stat().st_size for path in KEPT.iterdir())
    print(f"{len(proofs)} proofs of {len(programs)} programs, {total / 1e6:.2f} MB")


def _chosen(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    turns = defaultdict(list)
    seen: set[Any] = set()
    for found in records:
        record = found["record"]
        # What is proved, in the words of both arguments without their numbers.
        words = "".join(c for c in str(record["proved"]) if c.isalpha())
        kind = (record["origin"], record["grade"], words, record["rigorous"])
        point = key_of({"program": record["program"], "point": record["point"],
                        "rigorous": record["rigorous"]})  # fmt: skip
        if kind in seen or point in seen:
            continue
        seen |= {kind, point}
        turns[record["origin"]].append(found)
    taken, size, told = [], 0, set()
    for turn in range(OF_ONE_ORIGIN):
        for origin in sorted(turns):
            if turn >= len(turns[origin]):
                continue
            found = turns[origin][turn]
            # Compressed, a number takes about half of its digits.
            own = len(json.dumps(found["record"]))
            if found["record"]["program"] not in told:
                own += len(json.dumps(found["flat"]))
            if size + 0.5 * own <= SHARE:
                size += 0.5 * own
                told.add(found["record"]["program"])
                taken.append(found)
    return taken


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for word in sys.argv[1:]:
        select() if word == "select" else record(word)
