"""Constants of the cost predictions. Written by benchmarks/forms.py; do not edit."""

from __future__ import annotations

from collections.abc import Mapping

from sdpdr.costs.rate import Rate

# (solver, form), or (solver, kind of program) for the form "factor".
RATES: Mapping[tuple[str, str], Rate] = {
    ("clarabel", "chordal"): Rate(
        start=0.2,
        scale=7.47,
        power=0.65,
        base=16800000.0,
        each=80.7,
        reach={
            "edges": (0.55, 0.55, 0.55, 0.55),
            "single": (0.91, 0.91, 0.91, 0.91),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("clarabel", "chordal-lmi"): Rate(
        start=0.2,
        scale=6.8,
        power=0.615,
        base=17700000.0,
        each=83.5,
        reach={
            "edges": (0.91, 0.91, 0.91, 0.82),
            "single": (0.91, 0.91, 0.91, 0.91),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("clarabel", "cvxpy"): Rate(
        start=0.0869,
        scale=1.82,
        power=0.864,
        base=11800000.0,
        each=64.9,
        reach={
            "edges": (0.9, 0.9, 0.8, 0.7),
            "single": (0.83, 0.83, 0.83, 0.75),
            "several": (0.87, 0.87, 0.87, 0.73),
        },
    ),
    ("clarabel", "gram"): Rate(
        start=0.0861,
        scale=1.67,
        power=0.828,
        base=11900000.0,
        each=51.8,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.92, 0.83, 0.83, 0.83),
            "several": (0.67, 0.67, 0.67, 0.6),
        },
    ),
    ("clarabel", "lmi"): Rate(
        start=0.0911,
        scale=1.96,
        power=0.723,
        base=12600000.0,
        each=54.9,
        reach={
            "edges": (0.78, 0.78, 0.67, 0.39),
            "single": (0.95, 0.95, 0.95, 0.95),
            "several": (0.93, 0.93, 0.93, 0.53),
        },
    ),
    ("cvxopt", "chordal"): Rate(
        start=0.02,
        scale=1.84,
        power=0.753,
        base=31000000.0,
        each=8.0,
        reach={
            "edges": (0.8, 0.8, 0.8, 0.8),
            "single": (0.83, 0.83, 0.83, 0.83),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("cvxopt", "chordal-lmi"): Rate(
        start=0.112,
        scale=1.44,
        power=0.721,
        base=22600000.0,
        each=8.0,
        reach={
            "edges": (0.5, 0.5, 0.5, 0.5),
            "single": (0.89, 0.89, 0.89, 0.89),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("cvxopt", "cvxpy"): Rate(
        start=0.101,
        scale=0.774,
        power=0.669,
        base=20000000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.82, 0.82, 0.82, 0.82),
            "several": (0.47, 0.47, 0.47, 0.47),
        },
    ),
    ("cvxopt", "gram"): Rate(
        start=0.0957,
        scale=0.757,
        power=0.689,
        base=20100000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.91, 0.91, 0.91, 0.91),
            "several": (0.4, 0.4, 0.4, 0.4),
        },
    ),
    ("cvxopt", "lmi"): Rate(
        start=0.0782,
        scale=1.64,
        power=0.703,
        base=19800000.0,
        each=8.0,
        reach={
            "edges": (0.79, 0.79, 0.79, 0.79),
            "single": (0.95, 0.95, 0.95, 0.95),
            "several": (0.67, 0.67, 0.67, 0.67),
        },
    ),
    ("ipopt", "edges"): Rate(
        start=0.0557,
        scale=78.5,
        power=0.909,
        base=19500000.0,
        each=8.0,
        reach={
            "edges": (0.89, 0.89, 0.89, 0.89),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("lowrank", "edges"): Rate(
        start=0.0609,
        scale=6.78,
        power=0.802,
        base=20800000.0,
        each=12.6,
        reach={
            "edges": (0.96, 0.96, 0.96, 0.96),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("lowrank", "several"): Rate(
        start=0.02,
        scale=133.0,
        power=0.657,
        base=19300000.0,
        each=120.0,
        reach={
            "edges": (0.5, 0.5, 0.5, 0.5),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.77, 0.69, 0.62, 0.62),
        },
    ),
    ("lowrank", "single"): Rate(
        start=0.183,
        scale=19.2,
        power=1.13,
        base=18800000.0,
        each=28.8,
        reach={
            "edges": (0.5, 0.5, 0.5, 0.5),
            "single": (0.96, 0.96, 0.96, 0.92),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("scs", "chordal"): Rate(
        start=0.02,
        scale=178.0,
        power=0.671,
        base=17900000.0,
        each=8.0,
        reach={
            "edges": (0.8, 0.8, 0.8, 0.4),
            "single": (0.89, 0.89, 0.89, 0.89),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("scs", "chordal-lmi"): Rate(
        start=0.02,
        scale=341.0,
        power=0.737,
        base=17500000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.5),
            "single": (0.89, 0.89, 0.89, 0.89),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("scs", "cvxpy"): Rate(
        start=0.02,
        scale=17.6,
        power=0.371,
        base=13800000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.88, 0.88, 0.88, 0.88),
            "several": (0.92, 0.92, 0.83, 0.42),
        },
    ),
    ("scs", "gram"): Rate(
        start=0.172,
        scale=174.0,
        power=1.02,
        base=15300000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.92, 0.92, 0.92, 0.92),
            "several": (0.91, 0.91, 0.91, 0.55),
        },
    ),
    ("scs", "lmi"): Rate(
        start=0.148,
        scale=285.0,
        power=1.09,
        base=14700000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.92, 0.92, 0.85, 0.85),
            "several": (0.83, 0.75, 0.75, 0.58),
        },
    ),
    ("sdpa", "chordal"): Rate(
        start=0.02,
        scale=1.23,
        power=0.757,
        base=11300000.0,
        each=52.3,
        reach={
            "edges": (0.25, 0.25, 0.25, 0.25),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("sdpa", "chordal-lmi"): Rate(
        start=0.136,
        scale=1.77,
        power=0.671,
        base=17400000.0,
        each=43.6,
        reach={
            "edges": (0.42, 0.42, 0.42, 0.33),
            "single": (0.89, 0.89, 0.89, 0.89),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("sdpa", "cvxpy"): Rate(
        start=0.0727,
        scale=2.55,
        power=0.645,
        base=14300000.0,
        each=8.0,
        reach={
            "edges": (0.6, 0.6, 0.5, 0.5),
            "single": (0.64, 0.55, 0.55, 0.55),
            "several": (0.53, 0.4, 0.33, 0.2),
        },
    ),
    ("sdpa", "gram"): Rate(
        start=0.0778,
        scale=3.48,
        power=0.645,
        base=14300000.0,
        each=8.0,
        reach={
            "edges": (0.78, 0.78, 0.78, 0.78),
            "single": (0.73, 0.73, 0.73, 0.73),
            "several": (0.73, 0.47, 0.33, 0.33),
        },
    ),
    ("sdpa", "lmi"): Rate(
        start=0.0571,
        scale=9.8,
        power=0.682,
        base=14100000.0,
        each=23.4,
        reach={
            "edges": (0.67, 0.56, 0.44, 0.44),
            "single": (0.87, 0.87, 0.87, 0.87),
            "several": (0.8, 0.8, 0.8, 0.73),
        },
    ),
}
