"""What failed, who claimed otherwise, and answers that contradict each other."""

from __future__ import annotations

import pandas as pd

from sdpdr.lab.study.measures.contestants import matrix
from sdpdr.lab.study.measures.frame import CONTESTANT, INSTANCE, need, scale_of
from sdpdr.lab.study.schema import HONESTY, OUTCOMES, VERIFIED


def failure_map(runs: pd.DataFrame) -> pd.DataFrame:
    """Outcomes by instance and contestant, instances grouped by method.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`, of one tolerance.

    Returns
    -------
    DataFrame
        Index ``method, problem, variant``, sorted by method and, within it, by size; columns
        ``solver, form``; values are outcomes, "" where there is no line. An outcome other than
        SOLVED may be the one expected: ``matrix(runs, "solved")`` tells.

    Examples
    --------
    >>> runs = pd.DataFrame({"problem": ["b", "a", "a"], "variant": "", "n": [9, 5, 5],
    ...     "method": ["mvu", "isomap", "isomap"], "solver": ["p", "p", "q"], "form": "gram",
    ...     "tol": 1e-6,
    ...     "outcome": ["SOLVED", "SOLVED", "CRASHED"]})
    >>> table = failure_map(runs)
    >>> table.index.to_list(), table.values.tolist()
    ([('isomap', 'a', ''), ('mvu', 'b', '')], [['SOLVED', 'CRASHED'], ['SOLVED', '']])
    """
    need(runs, "method", "n", "outcome")
    outcomes = matrix(runs, "outcome").fillna("")
    known = runs.groupby([*INSTANCE], sort=False).agg(method=("method", "first"), n=("n", "max"))
    order = known.reset_index().sort_values(["method", "n", *INSTANCE], kind="stable")
    laid = outcomes.reindex(pd.MultiIndex.from_frame(order[[*INSTANCE]]))
    laid.index = pd.MultiIndex.from_frame(order[["method", *INSTANCE]])
    return laid


def outcome_counts(runs: pd.DataFrame) -> pd.DataFrame:
    """How often each contestant ended in each way.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`.

    Returns
    -------
    DataFrame
        Index ``tol, solver, form``; columns ``solved``, then the outcomes that occur, in the order
        of `sdpdr.lab.study.schema.OUTCOMES`.

    Examples
    --------
    >>> runs = pd.DataFrame({"solver": "p", "form": "gram", "tol": 1e-6, "solved": [True, False],
    ...                      "outcome": ["SOLVED", "CRASHED"]})
    >>> outcome_counts(runs).to_dict("records")
    [{'solved': 1, 'SOLVED': 1, 'CRASHED': 1}]
    """
    need(runs, "tol", *CONTESTANT, "solved", "outcome")
    return _counts(runs, "outcome", [name for name in OUTCOMES if name in set(runs["outcome"])])


def claims(runs: pd.DataFrame) -> pd.DataFrame:
    """What the word of each contestant was worth: claims against what we verified.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`.

    Returns
    -------
    DataFrame
        Index ``tol, solver, form``; columns ``solved``, ``true``, ``near``, ``overstated``,
        ``understated``, ``silent`` and ``none``, counts; see `sdpdr.lab.study.schema.HONESTY`.

    Examples
    --------
    >>> runs = pd.DataFrame({"solver": "p", "form": "gram", "tol": 1e-6,
    ...                      "solved": [True, False, False], "honesty": ["true", "overstated", ""]})
    >>> claims(runs).to_dict("records")
    [{'solved': 1, 'true': 1, 'near': 0,
      'overstated': 1, 'understated': 0, 'silent': 0, 'none': 1}]
    """
    need(runs, "tol", *CONTESTANT, "solved", "honesty")
    named = runs.assign(honesty=runs["honesty"].where(runs["honesty"] != "", "none"))
    return _counts(named, "honesty", [word or "none" for word in HONESTY])


def _counts(runs: pd.DataFrame, column: str, names: list[str]) -> pd.DataFrame:
    by = ["tol", *CONTESTANT]
    counts = runs.groupby([*by, column], sort=False).size().unstack(column, fill_value=0)
    counts = counts.reindex(columns=names, fill_value=0).astype(int)
    counts.insert(0, "solved", runs.groupby(by)["solved"].sum().reindex(counts.index).astype(int))
    counts.columns.name = None
    return counts.reindex(pd.MultiIndex.from_frame(runs[by].drop_duplicates()))


def disagreements(frame: pd.DataFrame, *, factor: float = 10.0) -> pd.DataFrame:
    r"""Rows that are solved, and contradict another solved row of their instance.

    Of every instance, one solved row is the judge: certified before others, of the least tolerance,
    then of the least error. Each other solved row must have its outcome, and a value with

    .. math:: |v - v_0| \le f \varepsilon \max(|v|, |v_0|, \sigma),

    where :math:`\varepsilon` is the larger of the two tolerances and :math:`\sigma` the size of
    objective beside which a value counts as zero, as far as the gaps tell it. Two values that are
    each within :math:`\varepsilon` of the optimum differ by twice that; the rest of f is for points
    that are feasible to the tolerance only, which the objective gains from.

    That no row is found is a law; one that is found says that a grade or a problem is wrong.

    Parameters
    ----------
    frame : DataFrame
        Rows, with the columns of `sdpdr.lab.study.schema`.
    factor : float, default 10
        The f above.

    Returns
    -------
    DataFrame
        Columns ``problem, variant, solver, form, tol, repeat, outcome, value, certified`` of the
        row, ``judge_solver, judge_form, judge_tol, judge_outcome, judge_value, judge_certified``,
        and ``apart``, the relative distance.

    Examples
    --------
    >>> from sdpdr.lab.study.measures.frame import frame_of
    >>> one = {"problem": "a", "form": "gram", "tol": 1e-6, "solved": True, "outcome": "SOLVED"}
    >>> rows = frame_of([one | {"solver": "p", "value": 1.0, "certified": True},
    ...                  one | {"solver": "q", "value": 1.1}])
    >>> disagreements(rows)[["solver", "value", "judge_solver", "judge_value"]].values.tolist()
    [['q', 1.1, 'p', 1.0]]
    """
    need(frame, *_SHOWN, "solved", "worst")
    solved = frame[frame["solved"].astype(bool)]
    solved = solved.assign(
        _size=scale_of(solved), _rank=~solved["certified"].astype(bool), _nan=solved["value"].isna()
    ).sort_values(["_rank", "tol", "_nan", "worst"], kind="stable")
    judges = solved.drop_duplicates([*INSTANCE]).set_index([*INSTANCE])
    judged = ("solver", "form", "tol", "outcome", "value", "certified", "_size")
    pairs = solved.join(judges[[*judged]].add_prefix("judge_"), on=[*INSTANCE])
    size = pairs[["_size", "judge__size"]].max(axis=1)
    pairs["apart"] = (pairs["value"] - pairs["judge_value"]).abs() / size.where(size > 0, 1.0)
    allowed = factor * pairs[["tol", "judge_tol"]].max(axis=1)
    wrong = (pairs["apart"] > allowed) | (pairs["outcome"] != pairs["judge_outcome"])
    columns = [*_SHOWN, *(f"judge_{name}" for name in judged[:-1]), "apart"]
    return pairs.loc[wrong, columns].sort_index().reset_index(drop=True)


_SHOWN = (*INSTANCE, *CONTESTANT, "tol", "repeat", "outcome", "value", "certified")


def contradictions(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows whose answer we verified although it is not the one expected.

    Either the value is not the reference, or the card expects another outcome. Like those of
    `disagreements`, these are findings about the problem or about us before the solver.

    Parameters
    ----------
    frame : DataFrame
        Rows, with the columns of `sdpdr.lab.study.schema`.

    Returns
    -------
    DataFrame
        Columns ``problem, variant, solver, form, tol, repeat, outcome, value, certified,
        reference, off``.

    Examples
    --------
    >>> from sdpdr.lab.study.measures.frame import frame_of
    >>> rows = frame_of([{"problem": "a", "outcome": "SOLVED", "value": 2.0, "reference": 1.0,
    ...                   "off": 1.0, "solved": False}])
    >>> contradictions(rows)[["problem", "value", "reference", "off"]].values.tolist()
    [['a', 2.0, 1.0, 1.0]]
    """
    columns = [*_SHOWN, "reference", "off"]
    need(frame, *columns, "solved")
    found = ~frame["solved"].astype(bool) & frame["outcome"].isin(VERIFIED)
    return frame.loc[found, columns].reset_index(drop=True)
