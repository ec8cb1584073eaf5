# SPDX-License-Identifier: Apache-2.0
"""Every argument that is an array, of every function, by itself: what holds of one must hold of all."""

import numpy as np

import tilewise as tw

X = np.array([5, 1, 7, 2], "f4")
M = np.array([[5, 1, 7], [2, 9, 4], [3, 8, 6]], "f4")
ONE = M[1:2, 1:2].copy()
LINES = ("cumsum", "inclusive_scan", "exclusive_scan", "sort")
FOLDS = ("sum", "prod", "min", "max")


def _pushed(values):
    part = tw.partial("sum", "f4")
    part.push(values)
    return part.value()


def inputs(of=lambda x: x):
    """For each its name, a fitting array of NumPy, and the call with it. `of` makes the arrays beside it."""
    x, m, one = of(X), of(M), of(ONE)
    for name in FOLDS + LINES:
        call = getattr(tw, name)
        yield f"{name}(a)", X, call
        for axis in (0, 1):
            yield f"{name}(a, axis={axis})", M, lambda a, call=call, axis=axis: call(a, axis=axis)
    yield "argsort(a)", X, tw.argsort
    yield "cumsum(a, carry=)", X, lambda a: tw.cumsum(a, carry=tw.partial("sum", "f4"))
    yield "sort_by_key(keys)", X, lambda a: tw.sort_by_key(a, x)[0]
    yield "sort_by_key(values)", X, lambda a: tw.sort_by_key(x, a)[1]
    yield "matmul(a)", M, lambda a: tw.matmul(a, m)
    yield "matmul(b)", M, lambda a: tw.matmul(m, a)
    yield "matvec(a)", M, lambda a: tw.matvec(a, of(M[0].copy()))
    yield "matvec(x)", M[0].copy(), lambda a: tw.matvec(m, a)
    yield "dot(a)", X, lambda a: tw.dot(a, x)
    yield "dot(b)", X, lambda a: tw.dot(x, a)
    yield "polymul(a)", X, lambda a: tw.polymul(a, x)
    yield "polymul(b)", X, lambda a: tw.polymul(x, a)
    yield "convolve(image)", M, lambda a: tw.convolve(a, one)
    yield "convolve(mask)", M, lambda a: tw.convolve(m, a)
    yield "diffuse(field)", M, tw.diffuse
    yield "partial.push(values)", X, _pushed
    yield "array(object)", X, lambda a: tw.array(a, "cpu")


def outputs(of=lambda x: x, index="u4"):
    """The same; with None for an output, each call returns what would go there."""
    x, m, one = of(X), of(M), of(ONE)
    for name in FOLDS + LINES:
        call = getattr(tw, name)
        for axis in (0, 1):
            yield (f"{name}(out, axis={axis})", M[0] if name in FOLDS else M,
                   lambda out, call=call, axis=axis: call(m, axis=axis, out=out))
        if name in LINES:
            yield f"{name}(out)", X, lambda out, call=call: call(x, out=out)
    yield "argsort(out)", X.astype(index), lambda out: tw.argsort(x, out=out)
    for i in (0, 1):
        yield (f"sort_by_key(out[{i}])", X, lambda out, i=i: tw.sort_by_key(x, x, out=None if out is None else tuple(
            out if i == j else of(np.empty_like(X)) for j in (0, 1)))[i])
    yield "matmul(out)", M, lambda out: tw.matmul(m, m, out)
    yield "matvec(out)", M[0], lambda out: tw.matvec(m, of(M[0].copy()), out)
    yield "polymul(out)", np.ones(7, "f4"), lambda out: tw.polymul(x, x, out=out)
    yield "convolve(out)", M, lambda out: tw.convolve(m, one, out=out)
    yield "diffuse(out)", M, lambda out: tw.diffuse(m, out=out)
