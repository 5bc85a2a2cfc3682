"""What users of cvxpy write, and what to write here."""

from __future__ import annotations

import re

# The guide "From cvxpy" shows these lines, and a test evaluates both sides of each.
SPELLINGS = (
    ("cp.Variable()", 't = scalar("t")'),
    ("cp.Variable(5, nonneg=True)", 'x = scalar("x", 5, nonnegative=True)'),
    ("cp.Variable((2, 3))", 'M = matrix("M", (2, 3))'),
    ("cp.Variable((3, 3), symmetric=True)", 'S = symmetric("S", 3)'),
    ("cp.Variable((3, 3), PSD=True)", 'K = psd("K", 3)'),
    ("cp.Parameter(value=1.0)", 'lam = parameter("lam", value=1.0)'),
    ("cp.Problem(cp.Minimize(f), [a, b])", "model = minimize(f) + [a, b]"),
    ("cp.Problem(cp.Maximize(g), [a])", "model = maximize(g) + a"),
    ("cp.trace(K)", "K.trace()"),
    ("cp.diag(K)", "K.diagonal()"),
    ("cp.diag(x)", "np.diag(x)"),
    ("cp.sum(M, axis=1)", "M.sum(axis=1)"),
    ("cp.mean(x)", "x.mean()"),
    ("cp.multiply(A, M)", "A * M"),
    ('cp.vec(M, order="C")', "M.ravel()"),
    ("cp.hstack([x, t])", "np.hstack([x, t])"),
    ("cp.bmat([[K, A.T], [A, np.eye(2)]])", "np.block([[K, A.T], [A, np.eye(2)]])"),
    ("cp.kron(A, M)", "np.kron(A, M)"),
    ("cp.diff(x)", "np.diff(x)"),
    ("cp.cumsum(x)", "np.cumsum(x)"),
    ("cp.sum(cp.abs(x))", "abs(x).sum()"),
    ("cp.sum(cp.pos(x))", "pos(x).sum()"),
    ("cp.tv(x)", "abs(np.diff(x)).sum()"),
    ("cp.norm(x)", "norm(x)"),
    ("cp.norm1(x)", "norm(x, 1)"),
    ("cp.norm_inf(x)", 'norm(x, "inf")'),
    ('cp.norm(M, "fro")', "norm(M)"),
    ("cp.normNuc(M)", 'norm(M, "nuc")'),
    ("cp.sigma_max(M)", "norm(M, 2)"),
    ("cp.sum(cp.norm(M, axis=1))", "sum(norm(row) for row in M)"),
    ("cp.max(x)", "x.max()"),
    ("cp.min(x)", "x.min()"),
    ("cp.sum_largest(x, 2)", "sum_largest(x, 2)"),
    ("cp.sum_smallest(x, 2)", "-sum_largest(-x, 2)"),
    ("cp.lambda_max(S)", "lambda_max(S)"),
    ("cp.lambda_min(S)", "lambda_min(S)"),
    ("cp.lambda_sum_largest(S, 2)", "sum_largest(S, 2)"),
    ("cp.sum_squares(x)", "sum_squares(x)"),
    ("cp.quad_form(x, P)", "quad_form(x, P)"),
    ("cp.quad_over_lin(x, t)", "quad_over_lin(x, t)"),
    ("cp.matrix_frac(x, K)", "matrix_frac(x, K)"),
    ("cp.tr_inv(K)", "matrix_frac(np.eye(3), K)"),
    ("cp.inv_pos(t)", "quad_over_lin(1.0, t)"),
    ("cp.sqrt(t)", "geo_mean(np.hstack([t, 1.0]))"),
    ("cp.geo_mean(x)", "geo_mean(x)"),
    ("cp.log_det(K)", "log_det(K)"),
    ("cp.log_sum_exp(x)", "log_sum_exp(x)"),
    ("cp.sum(cp.exp(x))", "sum_exp(x)"),
    ("cp.sum(cp.log(x))", "sum_log(x)"),
    ("cp.sum(cp.entr(x))", "entropy(x)"),
    ("cp.sum(cp.logistic(x))", "sum_logistic(x)"),
)
_FUNCTION = re.compile(r"\bcp\.(\w+)")


def spelling(name: str) -> str | None:
    """Say what to write for a function or class of cvxpy; None if the table does not have it.

    Examples
    --------
    >>> spelling("trace")
    'for cp.trace(K) write K.trace()'
    >>> spelling("log")
    'for cp.sum(cp.log(x)) write sum_log(x)'
    >>> spelling("normal") is None
    True
    """
    functions = {line: _FUNCTION.findall(line[0]) for line in SPELLINGS}
    about = [line for line, found in functions.items() if found[-1] == name]
    # A class such as Problem is never the innermost one.
    about = about or [line for line, found in functions.items() if name in found]
    return ", ".join(f"for {theirs} write {ours}" for theirs, ours in about) or None
