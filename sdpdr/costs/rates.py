"""Constants of the cost predictions. Written by benchmarks/forms.py; do not edit."""

from __future__ import annotations

from collections.abc import Mapping

from sdpdr.costs.rate import Rate

# (solver, form), or (solver, kind of program) for the form "factor".
RATES: Mapping[tuple[str, str], Rate] = {
    ("clarabel", "chordal"): Rate(
        start=0.2,
        scale=7.33,
        power=0.626,
        base=39500000.0,
        each=68.3,
        reach={
            "edges": (0.6, 0.6, 0.6, 0.6),
            "single": (0.88, 0.88, 0.88, 0.88),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("clarabel", "chordal-lmi"): Rate(
        start=0.2,
        scale=6.65,
        power=0.6,
        base=35900000.0,
        each=52.8,
        reach={
            "edges": (0.9, 0.9, 0.9, 0.8),
            "single": (0.88, 0.88, 0.88, 0.88),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("clarabel", "cvxpy"): Rate(
        start=0.0714,
        scale=1.65,
        power=0.845,
        base=11700000.0,
        each=64.9,
        reach={
            "edges": (0.86, 0.86, 0.71, 0.71),
            "single": (0.83, 0.83, 0.83, 0.67),
            "several": (0.82, 0.82, 0.82, 0.64),
        },
    ),
    ("clarabel", "gram"): Rate(
        start=0.0653,
        scale=1.95,
        power=0.898,
        base=11900000.0,
        each=65.6,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.83, 0.67, 0.67, 0.67),
            "several": (0.55, 0.55, 0.55, 0.45),
        },
    ),
    ("clarabel", "lmi"): Rate(
        start=0.0705,
        scale=2.42,
        power=0.769,
        base=12100000.0,
        each=56.3,
        reach={
            "edges": (0.73, 0.73, 0.6, 0.33),
            "single": (0.92, 0.92, 0.92, 0.92),
            "several": (0.91, 0.91, 0.91, 0.45),
        },
    ),
    ("cvxopt", "chordal"): Rate(
        start=0.02,
        scale=1.83,
        power=0.709,
        base=37200000.0,
        each=8.0,
        reach={
            "edges": (0.75, 0.75, 0.75, 0.75),
            "single": (0.67, 0.67, 0.67, 0.67),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("cvxopt", "chordal-lmi"): Rate(
        start=0.0998,
        scale=1.5,
        power=0.703,
        base=31800000.0,
        each=8.0,
        reach={
            "edges": (0.43, 0.43, 0.43, 0.43),
            "single": (0.83, 0.83, 0.83, 0.83),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("cvxopt", "cvxpy"): Rate(
        start=0.0664,
        scale=0.678,
        power=0.826,
        base=19100000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.83, 0.83, 0.83, 0.83),
            "several": (0.27, 0.27, 0.27, 0.27),
        },
    ),
    ("cvxopt", "gram"): Rate(
        start=0.0567,
        scale=0.644,
        power=0.843,
        base=18100000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.83, 0.83, 0.83, 0.83),
            "several": (0.18, 0.18, 0.18, 0.18),
        },
    ),
    ("cvxopt", "lmi"): Rate(
        start=0.067,
        scale=1.68,
        power=0.771,
        base=18700000.0,
        each=8.0,
        reach={
            "edges": (0.7, 0.7, 0.7, 0.7),
            "single": (0.92, 0.92, 0.92, 0.92),
            "several": (0.55, 0.55, 0.55, 0.55),
        },
    ),
    ("ipopt", "edges"): Rate(
        start=0.0562,
        scale=72.8,
        power=0.884,
        base=19500000.0,
        each=8.0,
        reach={
            "edges": (0.88, 0.88, 0.88, 0.88),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("lowrank", "edges"): Rate(
        start=0.054,
        scale=5.88,
        power=0.784,
        base=20200000.0,
        each=8.0,
        reach={
            "edges": (0.94, 0.94, 0.94, 0.94),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("lowrank", "several"): Rate(
        start=0.02,
        scale=405.0,
        power=0.774,
        base=18700000.0,
        each=8.0,
        reach={
            "edges": (0.5, 0.5, 0.5, 0.5),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.86, 0.86, 0.57, 0.57),
        },
    ),
    ("lowrank", "single"): Rate(
        start=0.02,
        scale=14.3,
        power=0.924,
        base=19000000.0,
        each=28.9,
        reach={
            "edges": (0.5, 0.5, 0.5, 0.5),
            "single": (0.94, 0.94, 0.94, 0.88),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("scs", "chordal"): Rate(
        start=0.024,
        scale=154.0,
        power=0.64,
        base=19600000.0,
        each=8.0,
        reach={
            "edges": (0.75, 0.75, 0.75, 0.5),
            "single": (0.83, 0.83, 0.83, 0.83),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("scs", "chordal-lmi"): Rate(
        start=0.02,
        scale=255.0,
        power=0.685,
        base=19500000.0,
        each=8.0,
        reach={
            "edges": (0.8, 0.8, 0.8, 0.4),
            "single": (0.83, 0.83, 0.83, 0.83),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("scs", "cvxpy"): Rate(
        start=0.126,
        scale=195.0,
        power=1.02,
        base=13700000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.86, 0.86, 0.86, 0.86),
            "several": (0.89, 0.89, 0.78, 0.44),
        },
    ),
    ("scs", "gram"): Rate(
        start=0.142,
        scale=181.0,
        power=0.986,
        base=14000000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.86, 0.86, 0.86, 0.86),
            "several": (0.88, 0.88, 0.88, 0.5),
        },
    ),
    ("scs", "lmi"): Rate(
        start=0.126,
        scale=259.0,
        power=1.04,
        base=14200000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.86, 0.86, 0.86, 0.86),
            "several": (0.78, 0.67, 0.67, 0.56),
        },
    ),
    ("sdpa", "chordal"): Rate(
        start=0.02,
        scale=1.82,
        power=0.626,
        base=21400000.0,
        each=47.5,
        reach={
            "edges": (0.14, 0.14, 0.14, 0.14),
            "single": (0.29, 0.29, 0.29, 0.29),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("sdpa", "chordal-lmi"): Rate(
        start=0.2,
        scale=1.65,
        power=0.631,
        base=24300000.0,
        each=58.4,
        reach={
            "edges": (0.36, 0.36, 0.36, 0.27),
            "single": (0.83, 0.83, 0.83, 0.83),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("sdpa", "cvxpy"): Rate(
        start=0.0637,
        scale=2.75,
        power=0.581,
        base=14300000.0,
        each=8.0,
        reach={
            "edges": (0.57, 0.57, 0.57, 0.57),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.55, 0.36, 0.27, 0.18),
        },
    ),
    ("sdpa", "gram"): Rate(
        start=0.0654,
        scale=3.74,
        power=0.708,
        base=14300000.0,
        each=8.0,
        reach={
            "edges": (0.71, 0.71, 0.71, 0.71),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.73, 0.36, 0.18, 0.18),
        },
    ),
    ("sdpa", "lmi"): Rate(
        start=0.0515,
        scale=10.2,
        power=0.682,
        base=14100000.0,
        each=23.4,
        reach={
            "edges": (0.57, 0.43, 0.36, 0.36),
            "single": (0.8, 0.8, 0.8, 0.8),
            "several": (0.82, 0.82, 0.82, 0.73),
        },
    ),
}
