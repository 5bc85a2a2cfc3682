"""Interactive figures of a study, as `plotly.graph_objects.Figure`.

Their ink and their lines take the colours of the page (see ``study.css``), so that one figure does
for light and for dark. Everything that comes from outside goes through `shown`.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from sdpdr.base.arrays import Array
from sdpdr.lab.plot.studies import look_of, sizes_apart
from sdpdr.lab.plot.style import FAINT
from sdpdr.lab.study.page.outcomes import KINDS, in_words
from sdpdr.lab.study.page.parts import show_seconds

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star", "hexagon")
_PHASES = {"build": "#94a4a2", "compile": "#ffa90e", "solve": "#3f90da", "certify": "#832db6"}
_HONESTY = {
    "true": "#3f90da", "near": "#ffa90e", "understated": "#92dadd", "silent": "#94a4a2",
    "overstated": "#bd1f01",
}  # fmt: skip
# What a log scale shows instead of an exact zero.
_TINY = 1e-16
_MOST_LETTERS = 34


def shown(text: object, width: int = 60, most: int = 400) -> str:
    """Foreign text for a figure: markup becomes text, lines are broken, the length is limited.

    Examples
    --------
    >>> shown("<b>done</b>")
    '&lt;b&gt;done&lt;/b&gt;'
    """
    plain = "".join(c if c.isprintable() else " " for c in str(text))
    plain = textwrap.shorten(plain, most, placeholder=" …")
    return "<br>".join(html.escape(line, quote=False) for line in textwrap.wrap(plain, width))


def hints(runs: pd.DataFrame) -> list[str]:
    """Problem, contestant, seconds and outcome of each line, safe to show."""
    return [
        f"<b>{shown(instance)}</b><br>{shown(who)}<br>{show_seconds(seconds)}, {in_words(outcome)}"
        for instance, who, seconds, outcome in zip(
            runs["instance"], runs["who"], runs["seconds"], runs["outcome"], strict=True
        )
    ]


def short(name: str) -> str:
    """A name that leaves room for the figure beside it."""
    kept = name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 1] + "…"
    return shown(kept)


def profile(
    curves: Mapping[str, tuple[Array, Array]], order: Sequence[str], n: int, x: str, unit: str
) -> go.Figure:
    """Share of instances solved within a budget, one step line a contestant."""
    figure = go.Figure()
    for name, (factor, share) in curves.items():
        counts = np.rint(np.asarray(share) * n).astype(int)
        figure.add_scatter(
            x=factor,
            y=share,
            customdata=counts,
            line={"shape": "hv", **_line(name, order)},
            name=short(name),
            mode="lines",
            hovertemplate=f"<b>{short(name)}</b><br>within %{{x:.3~g}} {unit}:<br>"
            f"%{{customdata}} of {n} (%{{y:.0%}})<extra></extra>",
        )
    _lay_out(figure, 420, x=x, y="share of instances")
    figure.update_xaxes(**_log([v for factor, _ in curves.values() for v in factor]))
    figure.update_yaxes(range=[-0.02, 1.03], tickformat=".0%")
    return figure


def phases(
    names: Sequence[str],
    share: Mapping[str, Sequence[float]],
    seconds: Mapping[str, Sequence[float]],
) -> go.Figure:
    """Share of each phase, stacked, one bar a contestant; seconds are told when pointed at."""
    figure = go.Figure()
    for phase, part in share.items():
        hints = [
            f"<b>{short(name)}</b><br>{phase}: {x:.0%}, {spent:.3g} s in the middle"
            for name, x, spent in zip(names, part, seconds[phase], strict=True)
        ]
        figure.add_bar(
            y=list(range(len(names))),
            x=list(part),
            name=phase,
            orientation="h",
            marker={"color": _PHASES[phase], "line": {"width": 0}},
            customdata=hints,
            hovertemplate="%{customdata}<extra></extra>",
        )
    _lay_out(figure, _height(len(names)), x="share of the seconds")
    figure.update_layout(barmode="stack", bargap=0.35)
    figure.update_xaxes(range=[0, 1.005], tickformat=".0%")
    _name_rows(figure, names)
    return figure


def claims(names: Sequence[str], counts: Mapping[str, Sequence[int]]) -> go.Figure:
    """How many claims were worth what, stacked, one bar a contestant."""
    figure = go.Figure()
    for worth, numbers in counts.items():
        if any(numbers):
            said = worth or "no claim"
            figure.add_bar(
                y=list(range(len(names))),
                x=list(numbers),
                name=said,
                orientation="h",
                marker={
                    "color": _HONESTY.get(worth, "rgba(128,128,128,0.25)"),
                    "line": {"width": 0},
                },
                customdata=[short(name) for name in names],
                hovertemplate=f"<b>%{{customdata}}</b><br>{said}: %{{x}}<extra></extra>",
            )
    _lay_out(figure, _height(len(names)), x="instances")
    figure.update_layout(barmode="stack", bargap=0.35)
    if max(map(sum, zip(*counts.values(), strict=True)), default=0) < 6:
        figure.update_xaxes(dtick=1)
    _name_rows(figure, names)
    return figure


def failures(
    instances: Sequence[str],
    names: Sequence[str],
    kinds: Sequence[Sequence[int]],
    hints: Sequence[Sequence[str]],
) -> go.Figure:
    """What became of each instance in the hands of each contestant.

    ``kinds`` holds places in `KINDS`; ``hints`` is already safe to show.
    """
    signs = [[KINDS[kind].sign if kind else "" for kind in row] for row in kinds]
    steps = np.linspace(0.0, 1.0, len(KINDS) + 1)
    scale = [
        [float(edge), kind.colour]
        for kind, pair in zip(KINDS, pairwise(steps), strict=True)
        for edge in pair
    ]
    figure = go.Figure(
        go.Heatmap(
            z=kinds,
            text=signs,
            texttemplate="%{text}",
            textfont={"size": 11, "color": "#ffffff"},
            customdata=hints,
            zmin=-0.5,
            zmax=len(KINDS) - 0.5,
            colorscale=scale,
            showscale=False,
            xgap=2,
            ygap=2,
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    _lay_out(figure, 150 + 20 * len(instances))
    figure.update_layout(margin_r=70)
    figure.update_xaxes(
        tickvals=list(range(len(names))), ticktext=[short(name) for name in names],
        side="top", tickangle=-50, showgrid=False, ticklabeloverflow="allow",
        range=[-0.5, len(names) - 0.5],
    )  # fmt: skip
    _name_rows(figure, instances)
    return figure


def growth(
    points: Mapping[str, tuple[Array, Array, Sequence[str]]],
    lines: Mapping[str, tuple[Array, Array, str]],
    order: Sequence[str],
    x: str = "size",
) -> go.Figure:
    """Seconds over size on logarithmic scales, with the fitted powers.

    ``points`` holds sizes, seconds and hints that are safe to show; ``lines`` holds the ends of a
    fitted line and its formula.
    """
    figure = go.Figure()
    for name, (sizes, seconds, hints) in points.items():
        look = _look(name, order)
        figure.add_scatter(
            x=sizes,
            y=seconds,
            customdata=list(hints),
            mode="markers",
            name=short(name),
            legendgroup=name,
            marker={"color": look[0], "symbol": look[2], "size": 8},
            hovertemplate="%{customdata}<extra></extra>",
        )
        if name in lines:
            ends, fitted, formula = lines[name]
            figure.add_scatter(
                x=ends,
                y=fitted,
                mode="lines",
                name=short(name),
                legendgroup=name,
                showlegend=False,
                line=_line(name, order, 1.5),
                hovertemplate=f"<b>{short(name)}</b><br>{formula}<extra></extra>",
            )
    _lay_out(figure, 400, x=x, y="seconds")
    every = [size for some, _, _ in points.values() for size in some]
    figure.update_xaxes(type="log", tickvals=sizes_apart(every))
    figure.update_yaxes(**_log([t for _, spent, _ in points.values() for t in spent]))
    return figure


def regrets(instances: Sequence[str], factors: Sequence[float], hints: Sequence[str]) -> go.Figure:
    """How many times the seconds of the best contestant `auto` took, one mark an instance.

    A factor that is not finite is drawn at the right end: no answer.
    """
    known = np.asarray(factors, dtype=float)
    finite = np.isfinite(known)
    end = 3.0 * max(float(known[finite].max(initial=1.0)), 3.0)
    place = np.arange(len(instances))
    figure = go.Figure()
    for chosen, name, colour, symbol in (
        (finite, "auto answered", "#3f90da", "circle"),
        (~finite, "auto did not, another did", "#bd1f01", "x"),
    ):
        if chosen.any():
            figure.add_scatter(
                x=np.where(finite, known, end)[chosen],
                y=place[chosen],
                mode="markers",
                name=name,
                marker={"color": colour, "symbol": symbol, "size": 9},
                customdata=[hint for hint, yes in zip(hints, chosen, strict=True) if yes],
                hovertemplate="%{customdata}<extra></extra>",
            )
    _lay_out(figure, _height(len(instances), 18), x="seconds of auto over those of the best")
    figure.update_xaxes(**_log([1.0, end]))
    figure.add_vline(x=1.0, line={"color": FAINT, "width": 1, "dash": "dash"})
    _name_rows(figure, instances)
    return figure


def gaps(
    names: Sequence[str],
    reached: Mapping[str, tuple[Array, Sequence[str]]],
    tolerances: Sequence[float],
    order: Sequence[str],
) -> go.Figure:
    """Relative gaps that we verified, one row a contestant; hints are safe to show."""
    figure = go.Figure()
    rng = np.random.default_rng(0)
    for place, name in enumerate(names):
        values, hints = reached[name]
        look = _look(name, order)
        figure.add_scatter(
            x=np.maximum(np.abs(values), _TINY),
            y=place + rng.uniform(-0.25, 0.25, len(values)),
            mode="markers",
            name=short(name),
            showlegend=False,
            marker={"color": look[0], "symbol": look[2], "size": 6, "opacity": 0.75},
            customdata=list(hints),
            hovertemplate="%{customdata}<extra></extra>",
        )
    _lay_out(figure, _height(len(names)), x="relative gap, verified")
    figure.update_xaxes(type="log", exponentformat="power", dtick=2)
    for tolerance in tolerances:
        figure.add_vline(x=tolerance, line={"color": FAINT, "width": 1.2, "dash": "dash"})
    _name_rows(figure, names)
    return figure


def against(
    points: Mapping[str, tuple[Array, Array, Sequence[str]]],
    noise: float,
    order: Sequence[str],
    titles: tuple[str, str],
) -> go.Figure:
    """Seconds of one result over those of another, with the band within which nothing is said."""
    figure = go.Figure()
    everything = [v for x, y, _ in points.values() for v in (*x, *y) if v > 0.0]
    low, high = (min(everything) / 2, max(everything) * 2) if everything else (0.1, 10.0)
    ends = np.array([low, high])
    figure.add_scatter(
        x=[*ends, *ends[::-1]],
        y=[*(ends * noise), *(ends[::-1] / noise)],
        fill="toself",
        fillcolor="rgba(128,128,128,0.16)",
        line={"width": 0},
        mode="lines",
        name="noise",
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=ends, y=ends, mode="lines", line={"color": FAINT, "width": 1, "dash": "dash"},
        name="equal", showlegend=False, hoverinfo="skip",
    )  # fmt: skip
    for name, (x, y, hints) in points.items():
        look = _look(name, order)
        figure.add_scatter(
            x=x,
            y=y,
            mode="markers",
            name=short(name),
            marker={"color": look[0], "symbol": look[2], "size": 8},
            customdata=list(hints),
            hovertemplate="%{customdata}<extra></extra>",
        )
    _lay_out(figure, 480, x=f"seconds, {shown(titles[0])}", y=f"seconds, {shown(titles[1])}")
    axis = _log(ends)
    for update in (figure.update_xaxes, figure.update_yaxes):
        update(**axis, range=list(np.log10(ends)))
    return figure


def _log(values: Sequence[float] | Array) -> dict[str, Any]:
    """A logarithmic axis whose labels have room on a narrow screen."""
    decades = float(np.log10(max(values) / min(values))) if len(values) else 0.0
    steps = {"dtick": 1} if decades > 2.2 else {"dtick": "D2"} if decades > 0.5 else {"nticks": 5}
    return {"type": "log", "tickformat": "~g", **steps}


# -- what they share --------------------------------------------------------------------------


def _look(name: str, order: Sequence[str]) -> tuple[str, str, str]:
    place = order.index(name)
    look = look_of(place)
    return look.colour, _DASHES[look.turn % len(_DASHES)], _SYMBOLS[place % len(_SYMBOLS)]


def _line(name: str, order: Sequence[str], width: float = 2.2) -> dict[str, Any]:
    colour, dash, _ = _look(name, order)
    return {"color": colour, "dash": dash, "width": width}


def _height(rows: int, each: int = 30) -> int:
    return 90 + each * max(rows, 1)


def _lay_out(figure: go.Figure, height: int, *, x: str = "", y: str = "") -> None:
    figure.update_layout(
        template={},
        height=height,
        margin={"l": 12, "r": 16, "t": 30, "b": 12},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 13, "color": "#5c6474"},
        hoverlabel={
            "align": "left",
            "bgcolor": "#1f2430",
            "bordercolor": FAINT,
            "font": {"size": 13, "color": "#ffffff"},
        },
        hovermode="closest",
        showlegend=False,
    )
    axis = {
        "automargin": True, "gridcolor": FAINT, "zeroline": False, "linecolor": FAINT,
        "tickcolor": FAINT,
    }  # fmt: skip
    figure.update_xaxes(title=x, **axis)
    figure.update_yaxes(title=y, **axis)


def _name_rows(figure: go.Figure, names: Sequence[str]) -> None:
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=[short(name) for name in names],
        range=[len(names) - 0.5, -0.5], showgrid=False, ticks="",
    )  # fmt: skip
