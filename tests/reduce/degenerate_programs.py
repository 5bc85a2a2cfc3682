"""Programs without interior, and others that only look like it, for the tests of faces."""

from __future__ import annotations

import numpy as np

from sdpdr.linalg import InnerProduct, SvecMap, VectorMap, svec
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable


def entries(n, *rows):
    """Rows from lists of (i, j, entry), counted from one."""
    table = [(e, i - 1, j - 1, a) for e, row in enumerate(rows) for i, j, a in row]
    row, i, j, a = (np.array(column) for column in zip(*table, strict=True))
    return SvecMap.from_entries(n, len(rows), row, i, j, a.astype(float))


def program(n, objective, *rows, relation="==", maximize=False, scalars=None, **more):
    """A program in one matrix X, from its objective and rows (entries, right side)."""
    variables = [PsdVariable("X", n)]
    lhs = {"X": entries(n, *(row for row, _ in rows))}
    if scalars is not None:
        matrix, nonnegative = scalars
        lhs["z"] = VectorMap(np.array(matrix, dtype=float))
        variables.append(VectorVariable("z", lhs["z"].n, nonnegative=nonnegative))
    group = Rows("rows", relation, lhs, np.array([side for _, side in rows], dtype=float))
    cost = {"X": entries(n, objective)} if objective else {}
    return SDP(tuple(variables), cost, (group,), maximize=maximize, **more)


def lying(limit=None):
    """min X33 (+ X44), X11 = 0, X33 + 2 X12 = 1 (, X44 = 1, tr X <= limit): 1 (or 2)."""
    rows = [([(1, 1, 1)], 0), ([(3, 3, 1), (1, 2, 1)], 1)]
    if limit is None:
        return program(3, [(3, 3, 1)], *rows)
    rows += [([(4, 4, 1)], 1)]
    base = program(4, [(3, 3, 1), (4, 4, 1)], *rows)
    trace = Rows(
        "trace",
        "<=",
        {"X": entries(4, [(i, i, 1) for i in (1, 2, 3, 4)])},
        np.array([float(limit)]),
    )
    return SDP(base.variables, base.objective, (*base.rows, trace))


def planted(seed):
    """A program on a face that takes several steps to find, and its exact optimum.

    In Y = T^-1 X T^-T, with T unimodular, the rows say Y_11 = 0, then Y_22 = c Y_12, and so on;
    Y is zero outside its last block M. There a strictly feasible point M0 and complementary
    optimal points are planted, all of whole numbers.

    Returns
    -------
    sdp, order of M, optimum, strictly feasible point
    """
    rng = np.random.default_rng(seed)
    p, r = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    n = p + r
    t, inverse = np.eye(n), np.eye(n)
    for _ in range(int(rng.integers(0, 6))):
        i, j = rng.choice(n, 2, replace=False)
        step = np.eye(n)
        step[i, j] = rng.integers(-2, 3)
        t, inverse = t @ step, (2 * np.eye(n) - step) @ inverse
    forms, sides = [], []
    for k in range(p):
        form = np.zeros((n, n))
        form[k, k] = rng.integers(1, 4)
        form[:k] = rng.integers(-2, 3, (k, n))
        forms.append(form + form.T)
        sides.append(0)
    root = rng.integers(-1, 2, (r, r))
    inner = root @ root.T + np.eye(r)
    best, slack = np.diag([1.0] + [0.0] * (r - 1)), np.diag([0.0] + [1.0] * (r - 1))
    step = inner - best
    duals = rng.integers(-2, 3, 2)
    cost = rng.integers(-2, 3, (n, n))
    cost = cost + cost.T
    cost[p:, p:] = slack
    for y in duals:
        form = rng.integers(-2, 3, (n, n))
        form = form + form.T
        # Rows on which the strictly feasible point and the best one agree.
        form[p:, p:] *= int(step[1, 1])
        form[p + 1, p + 1] -= int(np.sum(form[p:, p:] * step)) // int(step[1, 1])
        forms.append(form)
        sides.append(int(np.sum(form[p:, p:] * best)))
        cost = cost + y * form
    order = rng.permutation(len(forms))
    rows = []
    for k in order:
        form = inverse.T @ forms[k] @ inverse
        i, j = np.triu_indices(n)
        kept = form[i, j] != 0
        rows.append((list(zip(i[kept] + 1, j[kept] + 1, form[i, j][kept], strict=True)), sides[k]))
    form = inverse.T @ cost @ inverse
    i, j = np.triu_indices(n)
    objective = list(zip(i + 1, j + 1, form[i, j], strict=True))
    whole = np.zeros((n, n))
    whole[p:, p:] = inner
    optimum = float(np.dot(duals, [sides[-2], sides[-1]]))
    return program(n, objective, *rows), r, optimum, t @ whole @ t.T


def anything(seed):
    """A program with every feature and many rows that confine, around a feasible point.

    All numbers are whole, so that the point is exactly feasible.
    """
    rng = np.random.default_rng(seed)
    orders = rng.integers(2, 6, int(rng.integers(1, 3)))
    values = {"z": rng.integers(0, 3, 3) * (rng.random(3) < 0.4), "f": rng.integers(-2, 3, 2)}
    for k, n in enumerate(orders):
        root = rng.integers(-1, 2, (n, int(rng.integers(0, n + 1)))) * (rng.random((n, 1)) < 0.6)
        values[f"X{k}"] = root @ root.T
    values = {name: value.astype(float) for name, value in values.items()}
    rows = tuple(
        _group(rng, label, relation, orders, values)
        for label, relation in (("eq", "=="), ("in", "<="))
    )
    lmis = (_inequality(rng, values),) if rng.random() < 0.5 else ()
    variables = (
        *(PsdVariable(f"X{k}", int(n)) for k, n in enumerate(orders)),
        VectorVariable("z", 3, nonnegative=True),
        VectorVariable("f", 2),
    )
    objective = {f"X{k}": InnerProduct(_form(rng, n)) for k, n in enumerate(orders)}
    objective["z"] = VectorMap(rng.integers(-1, 2, (1, 3)).astype(float))
    return SDP(variables, objective, rows, lmis), values


def _group(rng, label, relation, orders, values):
    m, lhs = int(rng.integers(1, 5)), {}
    for k, n in enumerate(orders):
        if rng.random() < 0.8:
            forms = [_form(rng, n) * (rng.random() < 0.7) for _ in range(m)]
            natural = [[form[i, j] for j in range(n) for i in range(j + 1)] for form in forms]
            lhs[f"X{k}"] = SvecMap.from_natural(int(n), np.array(natural))
    for name, chance in (("z", 0.6), ("f", 0.3)):
        if rng.random() < chance:
            shape = (m, values[name].size)
            lhs[name] = VectorMap(rng.integers(-1, 3, shape) * (rng.random(shape) < 0.3) * 1.0)
    side = np.round(sum((a.apply(values[name]) for name, a in lhs.items()), np.zeros(m)))
    if relation == "<=":
        side = side + rng.integers(0, 3, m) * (rng.random(m) < 0.4)
    return Rows(label, relation, lhs, side)


def _inequality(rng, values):
    root = rng.integers(-1, 2, (3, 2)) * (rng.random((3, 1)) < 0.6)
    forms = [_form(rng, 3) for _ in range(3)]
    constant = root @ root.T - sum(f * t for f, t in zip(forms, values["z"], strict=True))
    return Lmi("L", 3, {"z": VectorMap(np.column_stack([svec(f) for f in forms]))}, svec(constant))


def _form(rng, n):
    """A sparse symmetric form, every other one of rank one or a diagonal entry."""
    form, kind = np.zeros((n, n)), int(rng.integers(4))
    if kind == 0:
        v = np.zeros(n)
        v[rng.choice(n, min(n, int(rng.integers(1, 4))), replace=False)] = rng.integers(-2, 3)
        return np.outer(v, v)
    i, j = rng.integers(0, n, (2, 2))
    if kind == 1:
        form[i[0], i[0]] = rng.integers(0, 3)
        return form
    form[i, j] = rng.integers(-2, 3, 2)
    return form + form.T
