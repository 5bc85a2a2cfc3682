"""Interactive figures of a study, as `plotly.graph_objects.Figure`.

Their ink and their lines take the colours of the page (see ``page.css``), so that one figure does
for light and for dark. Everything that comes from outside goes through `shown`.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sdpdr.base.arrays import Array
from sdpdr.lab.plot.studies import look_of, sizes_apart
from sdpdr.lab.plot.studies import short as cut
from sdpdr.lab.plot.style import FAINT
from sdpdr.lab.study.page.outcomes import KINDS, in_words
from sdpdr.lab.study.page.parts import show_seconds

if TYPE_CHECKING:
    import plotly.graph_objects as go

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star", "hexagon")
_COLOURS = {
    "build": "#94a4a2", "compile": "#ffa90e", "solve": "#3f90da", "certify": "#832db6",
    "true": "#3f90da", "near": "#ffa90e", "understated": "#92dadd", "silent": "#94a4a2",
    "overstated": "#bd1f01", "none": "rgba(128,128,128,0.25)",
}  # fmt: skip
_HOVER = "%{customdata}<extra></extra>"
# What a log scale shows instead of an exact zero.
_TINY = 1e-16


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


def hint(*lines: object) -> str:
    """What is told where somebody points: lines of foreign text, the first one bold."""
    first, *others = [shown(line) for line in lines if line != ""]
    return "<br>".join([f"<b>{first}</b>", *others])


def spent(seconds: float, outcome: str) -> str:
    """Seconds and outcome of a run; seconds only where they were measured."""
    return f"{f'{show_seconds(seconds)}, ' if np.isfinite(seconds) else ''}{in_words(outcome)}"


def short(name: str) -> str:
    """A name that leaves room for the figure beside it."""
    return shown(cut(name))


def profile(
    curves: Mapping[str, tuple[Array, Array]], order: Sequence[str], n: int, x: str, unit: str
) -> go.Figure:
    """Share of instances solved within a budget, one step line a contestant."""
    figure = _figure(420, x=x, y="share of instances")
    for name, (factor, share) in curves.items():
        figure.add_scatter(
            x=factor,
            y=share,
            customdata=np.rint(np.asarray(share) * n).astype(int),
            line={"shape": "hv", **_line(name, order)},
            name=short(name),
            mode="lines",
            hovertemplate=f"<b>{short(name)}</b><br>within %{{x:.3~g}} {unit}:<br>"
            f"%{{customdata}} of {n} (%{{y:.0%}})<extra></extra>",
        )
    figure.update_xaxes(**_log([v for factor, _ in curves.values() for v in factor]))
    figure.update_yaxes(range=[-0.02, 1.03], tickformat=".0%")
    return figure


def phases(share: pd.DataFrame, seconds: pd.DataFrame) -> go.Figure:
    """Share of each phase, stacked, one bar a contestant; seconds are told when pointed at."""
    hints = {
        phase: [
            hint(name, f"{phase}: {part:.0%}, {each:.3g} s in the middle")
            for name, part, each in zip(share.index, share[phase], seconds[phase], strict=True)
        ]
        for phase in share
    }
    figure = _bars(share, hints, x="share of the seconds")
    figure.update_xaxes(range=[0, 1.005], tickformat=".0%")
    return figure


def claims(counts: pd.DataFrame) -> go.Figure:
    """How many claims were worth what, stacked, one bar a contestant."""
    told = counts.loc[:, counts.any()].rename(columns={"none": "no claim"})
    hints = {
        worth: [hint(name, f"{worth}: {n}") for name, n in told[worth].items()] for worth in told
    }
    figure = _bars(told, hints, x="instances")
    if told.sum(axis=1).max() < 6:
        figure.update_xaxes(dtick=1)
    return figure


def failures(kinds: pd.DataFrame, hints: pd.DataFrame) -> go.Figure:
    """What became of each instance in the hands of each contestant.

    ``kinds`` holds places in `KINDS`; ``hints`` is already safe to show.
    """
    steps = np.linspace(0.0, 1.0, len(KINDS) + 1)
    figure = _figure(150 + 20 * len(kinds))
    figure.add_heatmap(
        z=kinds.to_numpy().tolist(),
        text=[[KINDS[kind].sign if kind else "" for kind in row] for row in kinds.to_numpy()],
        texttemplate="%{text}",
        textfont={"size": 11, "color": "#ffffff"},
        customdata=hints.to_numpy().tolist(),
        zmin=-0.5,
        zmax=len(KINDS) - 0.5,
        colorscale=[
            [float(edge), kind.colour]
            for kind, pair in zip(KINDS, pairwise(steps), strict=True)
            for edge in pair
        ],
        showscale=False,
        xgap=2,
        ygap=2,
        hovertemplate=_HOVER,
    )
    figure.update_layout(margin_r=70)
    figure.update_xaxes(
        tickvals=list(range(kinds.shape[1])), ticktext=list(map(short, kinds.columns)),
        side="top", tickangle=-50, showgrid=False, ticklabeloverflow="allow",
        range=[-0.5, kinds.shape[1] - 0.5],
    )  # fmt: skip
    _name_rows(figure, kinds.index)
    return figure


def growth(
    points: Mapping[str, pd.DataFrame],
    lines: Mapping[str, tuple[Array, Array]],
    formulas: Mapping[str, str],
    order: Sequence[str],
) -> go.Figure:
    """Seconds over size on logarithmic scales, with the fitted powers and their formulas."""
    figure = _figure(400, x="size", y="seconds")
    for name, own in points.items():
        hints = [
            hint(line.instance, name, spent(line.seconds, line.outcome))
            for line in own.itertuples()
        ]
        sizes = own["n"].to_numpy(float)
        seconds, marker = own["seconds"].to_numpy(float), _marker(name, order)
        _mark(figure, name, sizes, seconds, hints, marker, legendgroup=name)
        if name in lines:
            figure.add_scatter(
                x=lines[name][0],
                y=lines[name][1],
                mode="lines",
                name=short(name),
                legendgroup=name,
                showlegend=False,
                line=_line(name, order, 1.5),
                hovertemplate=f"<b>{short(name)}</b><br>{formulas[name]}<extra></extra>",
            )
    every = pd.concat(points.values())
    figure.update_xaxes(type="log", tickvals=sizes_apart(every["n"]))
    figure.update_yaxes(**_log(every["seconds"]))
    return figure


def regrets(instances: Sequence[str], factors: Iterable[float], hints: Sequence[str]) -> go.Figure:
    """How many times the seconds of the best contestant `auto` took, one mark an instance.

    A factor that is not finite is drawn at the right end: no answer.
    """
    known = np.asarray(list(factors), dtype=float)
    finite = np.isfinite(known)
    end = 3.0 * max(float(known[finite].max(initial=1.0)), 3.0)
    figure = _figure(_height(len(instances), 18), x="seconds of auto over those of the best")
    for chosen, name, colour, symbol in (
        (finite, "auto answered", "#3f90da", "circle"),
        (~finite, "auto did not, another did", "#bd1f01", "x"),
    ):
        if chosen.any():
            told = [hint for hint, yes in zip(hints, chosen, strict=True) if yes]
            x, y = np.where(finite, known, end)[chosen], np.flatnonzero(chosen)
            marker = {"color": colour, "symbol": symbol, "size": 9}
            _mark(figure, name, x, y, told, marker)
    figure.update_xaxes(**_log([1.0, end]))
    figure.add_vline(x=1.0, line={"color": FAINT, "width": 1, "dash": "dash"})
    _name_rows(figure, instances)
    return figure


def gaps(reached: Mapping[str, pd.DataFrame], tol: float, order: Sequence[str]) -> go.Figure:
    """Relative gaps that we verified, one row a contestant."""
    figure = _figure(_height(len(reached)), x="relative gap, verified")
    rng = np.random.default_rng(0)
    for place, (name, own) in enumerate(reached.items()):
        hints = [
            hint(line.instance, name, f"gap {line.gap:.1e}, {in_words(line.outcome)}")
            for line in own.itertuples()
        ]
        spread = place + rng.uniform(-0.25, 0.25, len(own))
        gap = np.maximum(own["gap"].abs().to_numpy(float), _TINY)
        _mark(figure, name, gap, spread, hints, _marker(name, order), showlegend=False)
    figure.update_traces(marker={"size": 6, "opacity": 0.75})
    figure.update_xaxes(type="log", exponentformat="power", dtick=2)
    figure.add_vline(x=tol, line={"color": FAINT, "width": 1.2, "dash": "dash"})
    _name_rows(figure, list(reached))
    return figure


def against(points: Mapping[str, pd.DataFrame], noise: float, order: Sequence[str]) -> go.Figure:
    """Seconds after over seconds before, with the band within which nothing is said."""
    figure = _figure(480, x="seconds, before", y="seconds, after")
    every = pd.concat(points.values())[["before_seconds", "after_seconds"]].to_numpy(float)
    every = every[every > 0.0]
    ends = np.array([every.min() / 2, every.max() * 2] if every.size else [0.1, 10.0])
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
    for name, own in points.items():
        before, after = own["before_seconds"].to_numpy(float), own["after_seconds"].to_numpy(float)
        hints = [
            hint(instance, name, f"{x:.3g} s, then {y:.3g} s ({ratio:.2f} times)")
            for instance, x, y, ratio in zip(
                own["instance"], before, after, own["ratio"], strict=True
            )
        ]
        _mark(figure, name, before, after, hints, _marker(name, order))
    axis = _log(ends)
    for update in (figure.update_xaxes, figure.update_yaxes):
        update(**axis, range=list(np.log10(ends)))
    return figure


# -- what they share --------------------------------------------------------------------------


def _figure(height: int, *, x: str = "", y: str = "") -> go.Figure:
    import plotly.graph_objects as go

    figure = go.Figure()
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
    return figure


def _bars(parts: pd.DataFrame, hints: Mapping[str, Sequence[str]], *, x: str) -> go.Figure:
    """Stacked bars, one a row; hints are safe to show."""
    figure = _figure(_height(len(parts)), x=x)
    for name in parts:
        figure.add_bar(
            y=list(range(len(parts))),
            x=parts[name].to_list(),
            name=name,
            orientation="h",
            marker={"color": _COLOURS.get(name, _COLOURS["none"]), "line": {"width": 0}},
            customdata=hints[name],
            hovertemplate=_HOVER,
        )
    figure.update_layout(barmode="stack", bargap=0.35)
    _name_rows(figure, parts.index)
    return figure


def _mark(
    figure: go.Figure,
    name: str,
    x: np.ndarray,
    y: np.ndarray,
    hints: Sequence[str],
    marker: Mapping[str, Any],
    **options: Any,
) -> None:
    """Marks with hints, which are safe to show."""
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        name=short(name),
        marker=marker,
        customdata=hints,
        hovertemplate=_HOVER,
        **options,
    )


def _log(values: Iterable[float]) -> dict[str, Any]:
    """A logarithmic axis whose labels have room on a narrow screen."""
    every = list(values)
    decades = float(np.log10(max(every) / min(every))) if every else 0.0
    steps = {"dtick": 1} if decades > 2.2 else {"dtick": "D2"} if decades > 0.5 else {"nticks": 5}
    return {"type": "log", "tickformat": "~g", **steps}


def _marker(name: str, order: Sequence[str]) -> dict[str, Any]:
    place = order.index(name)
    symbol = _SYMBOLS[place % len(_SYMBOLS)]
    return {"color": look_of(place).colour, "symbol": symbol, "size": 8}


def _line(name: str, order: Sequence[str], width: float = 2.2) -> dict[str, Any]:
    look = look_of(order.index(name))
    return {"color": look.colour, "dash": _DASHES[look.turn % len(_DASHES)], "width": width}


def _height(rows: int, each: int = 30) -> int:
    return 90 + each * max(rows, 1)


def _name_rows(figure: go.Figure, names: Sequence[str]) -> None:
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=list(map(short, names)),
        range=[len(names) - 0.5, -0.5], showgrid=False, ticks="",
    )  # fmt: skip
