"""Constants of the cost predictions. Written by benchmarks/forms.py; do not edit."""

from __future__ import annotations

from collections.abc import Mapping

from sdpdr.costs.rate import Rate

# (solver, form), or (solver, kind of program) for the form "factor".
RATES: Mapping[tuple[str, str], Rate] = {
    ("clarabel", "chordal"): Rate(
        start=0.2,
        scale=4.53,
        power=0.508,
        base=30200000.0,
        each=69.5,
        reach={
            "edges": (0.6, 0.6, 0.6, 0.6),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("clarabel", "chordal-lmi"): Rate(
        start=0.198,
        scale=4.44,
        power=0.501,
        base=35700000.0,
        each=63.6,
        reach={
            "edges": (0.9, 0.9, 0.9, 0.8),
            "single": (0.5, 0.5, 0.5, 0.5),
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
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
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
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("clarabel", "lmi"): Rate(
        start=0.072,
        scale=2.19,
        power=0.552,
        base=11900000.0,
        each=57.6,
        reach={
            "edges": (0.79, 0.79, 0.64, 0.36),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("cvxopt", "chordal"): Rate(
        start=0.02,
        scale=1.9,
        power=0.71,
        base=38400000.0,
        each=8.0,
        reach={
            "edges": (0.75, 0.75, 0.75, 0.75),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("cvxopt", "chordal-lmi"): Rate(
        start=0.136,
        scale=1.33,
        power=0.711,
        base=23800000.0,
        each=8.0,
        reach={
            "edges": (0.33, 0.33, 0.33, 0.33),
            "single": (0.5, 0.5, 0.5, 0.5),
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
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
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
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("cvxopt", "lmi"): Rate(
        start=0.0678,
        scale=1.99,
        power=0.851,
        base=18600000.0,
        each=8.0,
        reach={
            "edges": (0.7, 0.7, 0.7, 0.7),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
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
    ("lowrank", "general"): Rate(
        start=0.2,
        scale=5.06,
        power=0.3,
        base=18700000.0,
        each=36.5,
        reach={
            "edges": (0.5, 0.5, 0.5, 0.5),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("scs", "chordal"): Rate(
        start=0.192,
        scale=145.0,
        power=0.684,
        base=19300000.0,
        each=8.0,
        reach={
            "edges": (0.75, 0.75, 0.75, 0.5),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("scs", "chordal-lmi"): Rate(
        start=0.02,
        scale=260.0,
        power=0.686,
        base=19100000.0,
        each=8.0,
        reach={
            "edges": (0.8, 0.8, 0.8, 0.4),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("scs", "cvxpy"): Rate(
        start=0.149,
        scale=169.0,
        power=0.893,
        base=13700000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("scs", "gram"): Rate(
        start=0.169,
        scale=150.0,
        power=0.854,
        base=13700000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("scs", "lmi"): Rate(
        start=0.142,
        scale=172.0,
        power=0.884,
        base=14200000.0,
        each=8.0,
        reach={
            "edges": (0.83, 0.83, 0.83, 0.83),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("sdpa", "chordal"): Rate(
        start=0.02,
        scale=1.82,
        power=0.626,
        base=21400000.0,
        each=47.5,
        reach={
            "edges": (0.17, 0.17, 0.17, 0.17),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("sdpa", "chordal-lmi"): Rate(
        start=0.2,
        scale=1.6,
        power=0.631,
        base=23400000.0,
        each=39.0,
        reach={
            "edges": (0.36, 0.36, 0.36, 0.27),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("sdpa", "cvxpy"): Rate(
        start=0.0634,
        scale=2.75,
        power=0.583,
        base=14300000.0,
        each=8.0,
        reach={
            "edges": (0.57, 0.57, 0.57, 0.57),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("sdpa", "gram"): Rate(
        start=0.0653,
        scale=3.73,
        power=0.709,
        base=14300000.0,
        each=8.0,
        reach={
            "edges": (0.71, 0.71, 0.71, 0.71),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
    ("sdpa", "lmi"): Rate(
        start=0.052,
        scale=5.41,
        power=0.656,
        base=14100000.0,
        each=24.1,
        reach={
            "edges": (0.57, 0.43, 0.36, 0.36),
            "single": (0.5, 0.5, 0.5, 0.5),
            "several": (0.5, 0.5, 0.5, 0.5),
        },
    ),
}
