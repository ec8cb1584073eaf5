# SPDX-License-Identifier: Apache-2.0
"""What bad input gets: an exception of the fitting kind, with a sentence that says what to do, and nothing written."""

import array as standard_array
import contextlib
import copy
import fractions
import itertools
import mmap
import os
import pathlib
import pickle
import re
import subprocess
import sys
import unittest

import numpy as np

import roles
import tilewise as tw
from lenders import Lender

X = np.arange(12, dtype=np.float32)
OFFSETS = np.array([0, 4])
M = X.reshape(3, 4)
I = np.arange(12, dtype=np.int32)
LOCKED = X.copy()
LOCKED.flags.writeable = False
UNALIGNED = np.frombuffer(bytes(49), np.uint8)[1:].view(np.float32)
BROADCAST = np.broadcast_to(np.float32(1), 5)
PART = tw.partial(dtype=np.float32)
THERE = tw.array(X, device="2*cpu:serial")  # as an array on a GPU, it is no host memory


class Closed(mmap.mmap):
    """Of a type that is taken, and lends no more."""
    dtype = np.dtype("f4")


RELEASED, CLOSED = memoryview(X), Closed(-1, 4)
RELEASED.release()
CLOSED.close()
COLOUR = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
MASK = np.full((3, 3), 2, np.float32)
TABLE, KEYS = np.array([[3.0, 1.0], [2.0, 4.0], [1.0, 9.0]]), np.array([3, 1, 2])
FLAT = np.array([3.0, 1.0, 4.0, 1.5])
GAPS = np.array([3.0, np.nan, 4.0])


def by_channel(image, *border):
    return np.stack([tw.convolve(image[..., c].astype("f4"), MASK, border="zero") for c in range(3)], -1)


class Series:
    """As those of pandas."""
    def __array__(self, dtype=None, copy=None):
        return FLAT[::-1]


# Calls as somebody writes them, the arrays in them by the names of the parameters, and what is wanted. What the error says is done.
FOLLOWED = [
    ("tw.mean(a)", {"a": FLAT}, FLAT.mean()),
    ("tw.average(a)", {"a": FLAT}, FLAT.mean()),
    ("tw.var(a)", {"a": FLAT}, FLAT.var()),
    ("tw.std(a)", {"a": FLAT}, FLAT.std()),
    ("tw.norm(a)", {"a": FLAT}, np.linalg.norm(FLAT)),
    ("tw.softmax(a)", {"a": FLAT}, np.exp(FLAT) / np.exp(FLAT).sum()),
    *((f"tw.{name}(a)", {"a": GAPS}, getattr(np, name)(GAPS))
      for name in ("nansum", "nanmax", "nanmin", "nanprod", "nanmean")),
    ("tw.nancumsum(a)", {"a": GAPS.astype("f4")}, np.nancumsum(GAPS.astype("f4"))),
    ("tw.fsum(a)", {"a": FLAT}, FLAT.sum()),
    ("tw.reduce(a)", {"a": FLAT}, (FLAT.sum(), FLAT.prod(), FLAT.min())),
    ("tw.product(a)", {"a": FLAT}, FLAT.prod()),
    ("tw.amax(a)", {"a": FLAT}, 4),
    ("tw.amin(a)", {"a": FLAT}, 1),
    ("tw.cummax(a)", {"a": FLAT}, np.maximum.accumulate(FLAT)),
    ("tw.cummin(a)", {"a": FLAT}, np.minimum.accumulate(FLAT)),
    ("tw.cumprod(a)", {"a": FLAT}, FLAT.cumprod()),
    ("tw.scan(a)", {"a": FLAT}, FLAT.cumsum()),
    ("tw.cumulative_sum(a)", {"a": FLAT}, FLAT.cumsum()),
    ("tw.topk(a, k)", {"a": FLAT, "k": 2}, [4, 3]),
    ("tw.nsmallest(a, k)", {"a": FLAT, "k": 2}, [1, 1.5]),
    *((f"tw.{name}(a, b)", {"a": TABLE, "b": TABLE.T.copy()}, TABLE @ TABLE.T) for name in ("mm", "tensordot", "einsum")),
    ("tw.mv(a, x)", {"a": TABLE, "x": FLAT[:2]}, TABLE @ FLAT[:2]),
    ("tw.inner(a, b)", {"a": FLAT, "b": FLAT}, FLAT @ FLAT),
    ("tw.correlate(image, mask)", {"image": TABLE, "mask": np.full((1, 1), 2.0)}, TABLE * 2),
    *((f"tw.{name}(a)", {"a": FLAT}, getattr(np, name)(FLAT))
      for name in ("argmax", "argmin", "median", "unique", "count_nonzero", "any", "all", "exp")),
    ("tw.reduceat(a, offsets)", {"a": FLAT, "offsets": np.array([0, 2, len(FLAT)])}, np.add.reduceat(FLAT, [0, 2])),
    ("tw.histogram(a)", {"a": FLAT}, np.histogram(FLAT)[0]),
    ("tw.sums(a)", {"a": FLAT}, FLAT.sum()),
    # arrays that are none yet, or of another kind
    ("tw.sum(a)", {"a": [1, 2]}, 3),
    ("tw.sum(a)", {"a": 3}, 3),
    ("tw.sum(a)", {"a": range(4)}, 6),
    ("tw.sum(a)", {"a": {1.0, 2.0}}, 3),
    ("tw.sum(a)", {"a": Series()}, FLAT.sum()),
    ("tw.sum(a)", {"a": np.array(["1", "2.5"])}, 3.5),
    ("tw.sum(a)", {"a": np.array([1, 2.5], object)}, 3.5),
    ("tw.sort(a)", {"a": np.array([5, 3], "M8[s]")}, [3, 5]),
    ("tw.sum(a, axis=0)", {"a": TABLE.T}, TABLE.sum(1)),
    ("tw.array(object, dtype='f4', device='cpu')", {"object": FLAT}, FLAT),
    # images
    ("tw.convolve(image, mask, border='zero')", {"image": COLOUR, "mask": MASK}, by_channel(COLOUR)),
    ("tw.convolve(image, mask, border='zero')", {"image": COLOUR.astype("f4"), "mask": MASK}, by_channel(COLOUR)),
    ("tw.convolve(image, mask, border='zero')", {"image": np.ascontiguousarray(np.moveaxis(COLOUR, -1, 0), "f4"), "mask": MASK},
     np.moveaxis(by_channel(COLOUR), -1, 0)),
    ("tw.convolve(image, mask)", {"image": COLOUR[..., 0], "mask": MASK}, tw.convolve(COLOUR[..., 0].astype("f4"), MASK)),
    ("tw.convolve(image, mask, 'zero')", {"image": M, "mask": MASK}, tw.convolve(M, MASK, border="zero")),
    ("tw.convolve(image, mask, padding=1)", {"image": M, "mask": MASK}, tw.convolve(M, MASK, border="zero")),
    *((f"tw.convolve(image, mask, border='{word}')", {"image": M, "mask": MASK}, tw.convolve(np.pad(M, 1, mode), MASK))
      for word, mode in (("reflect", "reflect"), ("edge", "edge"), ("clamp", "edge"), ("wrap", "wrap"))),
    # of another rank
    ("tw.dot(a, b)", {"a": TABLE, "b": TABLE.T.copy()}, TABLE @ TABLE.T),
    ("tw.matmul(a, b)", {"a": TABLE, "b": FLAT[:2]}, TABLE @ FLAT[:2]),
    ("tw.matmul(a, b)", {"a": FLAT[:3], "b": TABLE}, FLAT[:3] @ TABLE),
    ("tw.matmul(a, b)", {"a": np.ones((2, 2, 3)), "b": np.ones((2, 3, 4))}, np.ones((2, 2, 3)) @ np.ones((2, 3, 4))),
    ("tw.matvec(a, x)", {"a": TABLE, "x": TABLE.T.copy()}, TABLE @ TABLE.T),
    ("tw.matvec(a, x)", {"a": TABLE, "x": FLAT[:2].reshape(2, 1)}, TABLE @ FLAT[:2]),
    ("tw.matvec(a, x)", {"a": FLAT, "x": FLAT}, FLAT @ FLAT),
    ("tw.sort_by_key(keys, values)", {"keys": KEYS, "values": TABLE}, TABLE[np.argsort(KEYS)]),
    ("tw.sort_by_key(keys, values)", {"keys": KEYS, "values": np.array(["a", "b", "c"])}, ["b", "c", "a"]),
    ("tw.argsort(a, axis=0)", {"a": TABLE}, np.argsort(TABLE, axis=0)),
    ("tw.argsort(a, axis=1)", {"a": TABLE}, np.argsort(TABLE, axis=1)),
    ("tw.argsort(a, 0)", {"a": TABLE}, np.argsort(TABLE, axis=0)),
    # keywords
    ("tw.argsort(a, True)", {"a": FLAT}, np.argsort(-FLAT)),
    ("tw.argsort(a, 'descending')", {"a": FLAT}, np.argsort(-FLAT)),
    ("tw.inclusive_scan(a, 'max')", {"a": FLAT}, np.maximum.accumulate(FLAT)),
    ("tw.inclusive_scan(a, op=np.maximum)", {"a": FLAT}, np.maximum.accumulate(FLAT)),
    ("tw.cumsum(a, op='max')", {"a": FLAT}, np.maximum.accumulate(FLAT)),
    ("tw.sum(a, op='max')", {"a": FLAT}, 4),
    ("tw.polymul(a, b, 7)", {"a": KEYS, "b": KEYS}, tw.polymul(KEYS, KEYS, modulus=7)),
    ("tw.partial(np.float32).dtype.name", {}, "float32"),
    ("tw.partial('float32').dtype.name", {}, "float32"),
    ("tw.open('cpu:2').name", {}, "cpu:threads"),
    ("tw.sum(a, device='cpu:threads:4')", {"a": FLAT}, FLAT.sum()),
    ("tw.sum(a, device='cpu:2')", {"a": FLAT}, FLAT.sum()),
    ("tw.sum(a, threads=4)", {"a": FLAT}, FLAT.sum()),
]


def does(text, arrays, said):
    """The call and its arrays once what the error says is done."""
    words = {"np": np, "numpy": np, "tw": tw, "tilewise": tw, **arrays}
    for_name = re.search(r"did you mean (\w+)\?$", said)
    named = re.search(r"by its name: (.+)$", said)
    option = re.search(r'pass (device|border)=(.+?)(, which .*)?$', said)
    opened = re.search(r"; (tilewise\.open\(.+\)) makes one$", said)
    numpys = re.search(r"NumPy has (np\.\w+)$", said)
    if for_name or numpys:
        return re.sub(r"tw\.\w+", numpys[1] if numpys else f"tw.{for_name[1]}", text), arrays
    if named:
        return re.sub(r", [^,]+\)$", f", {named[1]})", text), arrays
    if opened and ".name" in text:
        return opened[1] + ".name", arrays
    if option or opened:
        return re.sub(r"\w+=[^,]+\)$", f"device={opened[1]})" if opened else f"{option[1]}={option[2]})", text), arrays
    if of_any_kind := re.search(r"; (values\[.+\]) sorts", said):
        return of_any_kind[1], arrays
    whole = re.search(r"(?:write|[;:] call|first:|type:) (.+)$", said) or re.search(r"(?:pass|convert those:) (.+)$", said)
    for code in (whole[1], *(whole[1].split(end)[0] for end in (", or ", ", which ", " for "))):
        try:
            compile(code, "", "eval")
        except SyntaxError:
            continue
        if not re.search(r"pass |convert those", whole[0]):
            return code + (".dtype.name" if "dtype.name" in text else ""), arrays
        if code.startswith('"'):
            return re.sub(r"op=[\w.]+", f"op={code}", text), arrays
        argument = next(name for name in re.findall(r"\w+", code) if name in arrays)
        return text.replace("dtype='f4', ", ""), arrays | {argument: eval(code, words | {"dtype": "f4"})}
    raise AssertionError(said)


class Unspeakable(str):
    def __format__(self, how):
        raise ValueError("no word")


# What is called, the built-in that its error is, and what the message says.
ROWS = [
    # no arrays
    (lambda: tw.sum([1.0, 2.0]), TypeError, r"a is of type list; pass numpy\.ascontiguousarray\(a\)$"),
    (lambda: tw.sum(None), TypeError, "a is of type NoneType; pass an array of NumPy"),
    (lambda: tw.sum(sys.stdin), TypeError, r"read the file first: np\.loadtxt\(a"),
    (lambda: tw.sum(np.float32(3)), ValueError, "a has no dimensions.*atleast_1d"),
    (lambda: tw.sum("text"), TypeError, "a is of type str"),
    (lambda: tw.sum(b"bytes"), TypeError, "tilewise computes with float32"),
    (lambda: tw.sum(), TypeError, r"^sum\(\): missing a required argument: 'a'$"),
    (lambda: tw.sum(X, X), TypeError, "axis is of type numpy.ndarray"),
    (lambda: tw.cumsum(X, X), TypeError, "axis is of type numpy.ndarray"),
    (lambda: tw.cumsum(X, 0, X), TypeError, r"^cumsum\(\): pass argument 3 by its name: out=\.\.\.$"),
    (lambda: tw.sort(M, True), TypeError, "axis is of type bool; .*by its name: descending=True$"),
    # types
    (lambda: tw.sum(X.astype(">f2")), TypeError, r'a holds >f2; .*pass a\.astype\("float32"\)$'),
    (lambda: tw.cumsum(X, out=X.astype(np.float16)), TypeError, "out holds float16, which is no type of a result; leave out= away"),
    (lambda: tw.matmul(M, np.float64(M).T), ValueError, r"b's elements do not follow.*ascontiguousarray\(b\)"),
    (lambda: tw.sum(np.ma.masked_array(X.astype(np.float16), X > 3)), TypeError, "filled"),
    (lambda: tw.sum(X.astype(np.longdouble)), TypeError, "a holds float128"),
    (lambda: tw.sum(X.astype(complex)), TypeError, "a holds complex128"),
    (lambda: tw.sum(X.astype(bool)), TypeError, "a holds bool"),
    (lambda: tw.sum(X.astype(np.int16)), TypeError, "a holds int16"),
    (lambda: tw.sum(X.astype(object)), TypeError, "a holds object"),
    (lambda: tw.sum(X.astype("datetime64[s]")), TypeError, r"a holds datetime64\[s\]"),
    (lambda: tw.sum(X.astype("U3")), TypeError, "a holds <U3"),
    (lambda: tw.sum(np.zeros(3, "f4,f4")), TypeError, "a holds .*f0"),
    (lambda: tw.sum(X.astype(">f4")), TypeError, r"a has the byte order of another machine; pass a\.astype"),
    (lambda: tw.sum(np.ma.masked_array(X, X > 3)), TypeError, r"masked array.*filled"),
    (lambda: tw.dot(X, I), TypeError, "b holds int32 where float32 is needed"),
    (lambda: tw.matmul(M, M.astype(float)), TypeError, "b holds float64 where float32"),
    (lambda: tw.polymul(X.astype(np.uint32), X.astype(np.uint32)), TypeError, "a holds uint32; coefficients are"),
    (lambda: tw.convolve(I.reshape(3, 4), I[:1].reshape(1, 1)), TypeError, "image holds int32; .*float32 and float64"),
    (lambda: tw.diffuse(I.reshape(3, 4)), TypeError, "field holds int32"),
    # what is gone
    (lambda: tw.sum(RELEASED), ValueError, r"a is not lent by its library \(operation forbidden on released memoryview object\); pass one whose"),
    (lambda: tw.sum(CLOSED), ValueError, r"a is not lent by its library \(mmap closed or invalid\); pass one whose memory can be read"),
    (lambda: tw.cumsum(X, out=CLOSED), ValueError, r"out is not lent by its library \(mmap closed or invalid\); leave out= away"),
    # shapes and memory
    (lambda: tw.sum(M, axis=2), ValueError, "axis 2 is out of bounds for an array of 2 dimensions"),
    (lambda: tw.sum(X, axis=-2), ValueError, "axis -2 is out of bounds for an array of 1 dimension$"),
    (lambda: tw.sum(M, axis=10**30), ValueError, "out of bounds for an array of 2 dimensions"),
    (lambda: tw.sum(M, axis="rows"), TypeError, "axis is of type str; pass a whole number"),
    (lambda: tw.sum(M, axis=(0, 1)), TypeError, "axis is of type tuple"),
    (lambda: tw.sum(M.reshape(2, -1, 1), axis=1), ValueError, r"lies between others; pass .*moveaxis\(a, 1, -1\)\)"),
    (lambda: tw.min(M[:0], axis=0), ValueError, "empty columns has no value; give an initial value"),
    (lambda: tw.sum(X, out=X), ValueError, "one result, which is returned; out is for those along an axis"),
    (lambda: tw.sum(M, axis=0, out=M), ValueError, "out has the shape"),
    (lambda: tw.cumsum(M, axis=2), ValueError, "axis 2 is out of bounds for an array of 2 dimensions"),
    (lambda: tw.cumsum(M.reshape(2, -1, 1), axis=1), ValueError, r"lies between others; pass .*moveaxis\(a, 1, -1\)\)"),
    (lambda: tw.cumsum(M, axis=0, out=M[0]), ValueError, "out has the shape"),
    (lambda: tw.cumsum(M.T, axis=0), ValueError, "ascontiguousarray"),
    (lambda: tw.cumsum(M, axis=0, carry=tw.partial("sum", M.dtype)), ValueError, "a carry continues one array"),
    (lambda: tw.exclusive_scan(M, axis=0, op="max"), ValueError, "give an initial value"),
    (lambda: tw.cumsum(M[:-1], axis=0, out=M[1:]), ValueError, "shares memory"),
    (lambda: tw.sort(X, X), TypeError, "axis is of type numpy.ndarray"),
    (lambda: tw.sort(M, axis=2), ValueError, "axis 2 is out of bounds for an array of 2 dimensions"),
    (lambda: tw.sort(M.reshape(2, -1, 1), axis=1), ValueError, r"lies between others; pass .*moveaxis\(a, 1, -1\)\)"),
    (lambda: tw.sort(M, out=M[0]), ValueError, "out has the shape"),
    (lambda: tw.sort(M, axis=None, out=M), ValueError, "out has the shape"),
    (lambda: tw.sort(M.T), ValueError, "ascontiguousarray"),
    (lambda: tw.sort(M[:-1], axis=0, out=M[1:]), ValueError, "shares memory"),
    (lambda: tw.sum(X[::2]), ValueError, r"a's elements do not follow.*numpy\.ascontiguousarray\(a\)"),
    (lambda: tw.sum(X[::-1]), ValueError, "ascontiguousarray"),
    (lambda: tw.sum(M.T), ValueError, "transposed"),
    (lambda: tw.sum(BROADCAST), ValueError, "ascontiguousarray"),
    (lambda: tw.sum(UNALIGNED), ValueError, r"a is not aligned to its elements; pass a\.copy"),
    (lambda: tw.sum(np.array(1.0)), ValueError, "a has no dimensions.*atleast_1d"),
    (lambda: tw.sum(X[:1].reshape((1,) * 9)), ValueError, r"9 dimensions, of 8 at most; pass a\.ravel\(\)"),
    (lambda: tw.segment_reduce(M, [0, 12]), ValueError, r"a has the shape \(3, 4\).*one dimension"),
    (lambda: tw.segment_reduce(X, [0, 7, 5, 12]), ValueError, "the offsets fall from 7 to 5 at position 2"),
    (lambda: tw.segment_reduce(X, [0, 11]), ValueError, "the last offset is 11, but there are 12 elements"),
    (lambda: tw.segment_reduce(X, np.array([0.0, 12.0])), TypeError, r"offsets holds float64 where int64 is needed; pass offsets\.astype"),
    *((lambda offsets=offsets: tw.segment_reduce(X, offsets), TypeError, "offsets is a list of other things than whole numbers")
      for offsets in ([0.0, 12.0], [False, True], [0, 2**70], (0, [1]), ["a"])),
    (lambda: tw.segment_reduce(X, []), ValueError, "there are no offsets; for no segments pass one, which is 0"),
    (lambda: tw.segment_reduce(X, np.array([0, 2**63 + 5, 12], np.uint64)), ValueError, "the offsets fall from 0 to -9223372036854775803"),
    (lambda: tw.segment_scan(X, [0, 7, 5, 12]), ValueError, "the offsets fall from 7 to 5 at position 2"),
    (lambda: tw.segment_scan(M, [0, 12]), ValueError, r"a has the shape \(3, 4\).*one dimension"),
    (lambda: tw.segment_scan(X, [0, 12], op="min", exclusive=True), ValueError, "no value to start from.*pass initial="),
    (lambda: tw.segment_scan(X, [0, 12], out=np.empty(2, np.float32)), ValueError, r"out has the shape \(2,\); it needs \(12,\)"),
    (lambda: tw.segment_sort(X, [0, 7, 5, 12]), ValueError, "the offsets fall from 7 to 5 at position 2"),
    (lambda: tw.segment_argsort(X, [0, 11]), ValueError, "the last offset is 11, but there are 12 elements"),
    (lambda: tw.segment_argsort(M, [0, 12]), ValueError, r"a has the shape \(3, 4\).*one dimension"),
    (lambda: tw.segment_argsort(X[:4], OFFSETS, out=OFFSETS.view(np.uint32)), ValueError, "the indices shares memory with the offsets"),
    (lambda: tw.segment_sort_by_key(X, X, [1, 12]), ValueError, "the first offset is 1; the first segment begins at 0"),
    (lambda: tw.segment_sort_by_key(X, X[:5], [0, 12]), ValueError, r"values has the shape \(5,\); it needs \(12,\)"),
    (lambda: tw.segment_sort_by_key(X, X, [0, 12], out=X), TypeError, "out of segment_sort_by_key is a tuple of two arrays"),
    (lambda: tw.segment_reduce(X, 12), TypeError, "offsets is of type int"),
    (lambda: tw.segment_reduce(X, [0, 3, 3, 12], op="min"), ValueError, "segment 1 is empty.*pass initial="),
    (lambda: tw.segment_reduce(X, [0, 12], out=np.empty(2, np.float32)), ValueError, r"out has the shape \(2,\); it needs \(1,\)"),
    (lambda: tw.runs(M), ValueError, r"keys has the shape \(3, 4\).*one dimension"),
    (lambda: tw.reduce_by_key(X[:5], X), ValueError, "there are 5 keys and 12 elements; each element has one key"),
    (lambda: tw.reduce_by_key(["a", "b"], X[:2]), TypeError, "keys"),
    (lambda: tw.argsort(M), ValueError, r"a has the shape \(3, 4\).*one dimension.*ravel"),
    (lambda: tw.dot(M, M), ValueError, "one dimension"),
    (lambda: tw.dot(X, X[:3]), ValueError, r"b has the shape \(3,\); it needs \(12,\)"),
    (lambda: tw.matmul(X, M), ValueError, "a has the shape .*two dimensions"),
    (lambda: tw.matmul(M, M), ValueError, "A is 3x4 and B is 3x4; A must have as many columns"),
    (lambda: tw.matmul(M.T, M), ValueError, r"a's elements do not follow.*ascontiguousarray\(a\)"),
    (lambda: tw.matvec(M, X), ValueError, r"x has the shape \(12,\); it needs \(4,\)"),
    (lambda: tw.polymul(M, X), ValueError, "one dimension"),
    (lambda: tw.convolve(X, M), ValueError, "two dimensions"),
    (lambda: tw.convolve(M, M), ValueError, "mask is 3x4.*odd"),
    (lambda: tw.convolve(M, np.ones((5, 5), np.float32)), ValueError, "must fit"),
    (lambda: tw.convolve(np.empty((0, 5), np.float32), M[:1, :1].copy()), ValueError, "at least one pixel"),
    (lambda: tw.sort_by_key(X, X[:3]), ValueError, "values has the shape"),
    # out
    (lambda: tw.cumsum(X, out=LOCKED), ValueError, "out is read-only"),
    (lambda: tw.cumsum(X, out=np.empty(11, np.float32)), ValueError, r"out has the shape \(11,\); it needs \(12,\)"),
    (lambda: tw.cumsum(X, out=np.empty(12)), TypeError, "out holds float64 where float32 is needed"),
    (lambda: tw.cumsum(M, out=np.empty((3, 4), np.float32)), ValueError, r"out has the shape \(3, 4\); it needs \(12,\)"),
    (lambda: tw.cumsum(X[:11], out=X[1:]), ValueError, "shares memory with the input"),
    (lambda: tw.cumsum(X, out=[0] * 12), TypeError, "out is of type list"),
    (lambda: tw.matmul(M, M.T.copy(), M[:, :3]), ValueError, "shares memory|is read-only"),
    (lambda: tw.argsort(X, out=np.empty(12, np.int64)), TypeError, "out holds int64 where uint32"),
    (lambda: tw.sort_by_key(X, X, out=X), TypeError, "tuple of two arrays"),
    (lambda: tw.sort_by_key(X, I, out=(X, X)), TypeError, "holds float32 where int32"),
    (lambda: tw.sort_by_key(X, X.copy(), out=(X, X)), ValueError, "shares memory"),
    # values and words
    (lambda: tw.sum(X, initial="1"), TypeError, "initial is of type str; pass a number"),
    (lambda: tw.sum(X, initial=1j), TypeError, "complex"),
    (lambda: tw.sum(I, initial=0.5), TypeError, "initial is of type float; pass a whole number"),
    (lambda: tw.sum(I, initial=2**31), ValueError, "initial is 2147483648, which int32 cannot hold"),
    (lambda: tw.sum(I.astype(np.uint64), initial=-1), ValueError, "initial is -1, which uint64 cannot hold"),
    *((lambda take=take, one=one: take(X, initial=one), ValueError,
       r"initial is -?(1e\+300|[34]0+), which float32 cannot hold: it goes from -3.4028235e\+38 to 3.4028235e\+38$")
      for take in (tw.sum, tw.max, tw.cumsum) for one in (1e300, -1e300, np.float64(1e300), 4 * 10**38)),
    (lambda: tw.min(X[:0]), ValueError, "initial"),
    (lambda: tw.exclusive_scan(X, op="max"), ValueError, "initial|init"),
    (lambda: tw.inclusive_scan(X, op="mean"), ValueError, "no operation 'mean'; say sum"),
    (lambda: tw.convolve(M, M[:1, :1].copy(), border="wrap"), ValueError, "no border 'wrap'"),
    (lambda: tw.polymul(I, I, modulus=0), ValueError, "modulus"),
    (lambda: tw.polymul(I, I, modulus=-1), ValueError, "modulus is -1, which uint64 cannot hold"),
    (lambda: tw.polymul(X, X, modulus=7), ValueError, "modulus is for integers"),
    (lambda: tw.diffuse(M, -1), ValueError, "steps is -1"),
    (lambda: tw.diffuse(M, mask=7), ValueError, "mask"),
    (lambda: tw.sum(X, variant="nope"), ValueError, "no variant 'nope'"),
    (lambda: tw.sum(X, variant=7), TypeError, "variant is of type int; pass a string"),
    (lambda: tw.sum(X, tuning="nope=3"), ValueError, "nope"),
    (lambda: tw.sum(X, device="nowhere"), RuntimeError, "no device 'nowhere'"),
    (lambda: tw.sum(X, device=0), TypeError, "device is of type int; pass what tilewise.open"),
    (lambda: tw.open("cpu", instruction_set="v9"), NotImplementedError, "v9"),
    (lambda: tw.open("cpu", instruction_set="x86-64-v9"), NotImplementedError, r"called v2, v3 \(AVX2\) and v4 \(AVX-512\), and the best that it has is 'v[234]'"),
    (lambda: tw.open("cpu", threads=-1), ValueError, "threads is -1, which uint32 cannot hold"),
    # partial
    (lambda: tw.partial("mean"), ValueError, "no operation 'mean'"),
    (lambda: tw.partial(dtype=np.float16), TypeError, "float16 is none of the types"),
    (lambda: tw.partial(dtype="no type"), TypeError, "'no type' is none of the types"),
    (lambda: tw.partial(dtype="\ud800"), TypeError, r"'\\ud800' is none of the types"),
    (lambda: tw.partial(dtype="1\0"), TypeError, r"'1\\x00' is none of the types"),
    (lambda: tw.partial(dtype="("), TypeError, r"'\(' is none of the types"),
    (lambda: PART.push(I), TypeError, "values holds int32 where float32"),
    (lambda: PART.merge(tw.partial(dtype=np.float64)), TypeError, "partial of float32, and the other of float64"),
    (lambda: PART.merge(tw.partial(dtype=np.float32, begin=5)), ValueError, "begin"),
    (lambda: tw.partial(begin=5).value(), ValueError, "from position 5 on"),
    (lambda: tw.cumsum(I, carry=PART), TypeError, "carry is a partial of float32, and a holds int32"),
    (lambda: tw.cumsum(X, carry=3), TypeError, "carry is of type int"),
    (lambda: pickle.loads(pickle.dumps(PART).replace(b"float32", b"float64")), ValueError, "a saved partial has"),
    (lambda: tw.partial.__new__(tw.partial).__setstate__(("float32", 7, b"")), TypeError, "op is of type int"),
    (lambda: tw.partial.__new__(tw.partial).__setstate__(("float32", "sum", 7)), ValueError, "a saved partial has"),
    (lambda: tw.partial.__new__(tw.partial).__setstate__(("float32", "sum")), ValueError, "not the three parts"),
    (lambda: tw.partial.__new__(tw.partial).__setstate__(("float16", "sum", b"")), TypeError, "float16 is none of the types"),
    (lambda: tw.partial.__new__(tw.partial).__setstate__(("float32", "sum", np.array([5, 4], "u8").tobytes() + bytes(4 * 126))),
     ValueError, "ends before it begins"),
    # arrays on devices
    (lambda: tw.array([1.0]), TypeError, "object is of type list"),
    (lambda: tw.array(X, device="nowhere"), RuntimeError, "no device"),
    (lambda: tw.dot(THERE, X), ValueError, r"b is in the host's memory, and a is on 2\*cpu:serial; pass tilewise\.array\(b, device=a\.device\)"),
    (lambda: tw.dot(THERE, tw.array(X, device="3*cpu:serial")), ValueError, r"b is on 3.*and a is on 2.*; pass tilewise\.array\(b\.numpy\(\), device=a\.device\)"),
    (lambda: tw.cumsum(X, out=THERE), ValueError, "out is on 2"),
    (lambda: tw.sum(THERE, device="cpu"), ValueError, "is computed on where it is|and is computed"),
    (lambda: tw.array(THERE), ValueError, "already"),
    (lambda: np.from_dlpack(THERE), BufferError, r"2\*cpu:serial has no address.*numpy"),
    (lambda: THERE.__cuda_array_interface__, AttributeError, "has no __cuda_array_interface__"),
    (lambda: THERE.__array__(copy=False), ValueError, "copy=False"),
]

# What takes words and numbers: with these arrays, which of its arguments are words, and which numbers.
PLACE = "device variant tuning"
TAKERS = [
    *((take, (X,), PLACE, "axis initial") for take in (tw.sum, tw.prod, tw.min, tw.max, tw.cumsum)),
    *((take, (X,), "op " + PLACE, "axis initial") for take in (tw.inclusive_scan, tw.exclusive_scan)),
    *((take, (X, np.array([0, 12])), "op " + PLACE, "initial") for take in (tw.segment_reduce, tw.segment_scan)),
    *((take, (X, np.array([0, 12])), PLACE, "") for take in (tw.segment_sort, tw.segment_argsort)),
    (tw.segment_sort_by_key, (X, X, np.array([0, 12])), PLACE, ""),
    (tw.reduce_by_key, (X, X), "op " + PLACE, "initial"),
    (tw.runs, (X,), PLACE, ""),
    *((take, (I,), PLACE, "axis initial") for take in (tw.sum, tw.cumsum)),
    (tw.sort, (X,), PLACE, "axis"),
    *((take, arrays, PLACE, "") for take, arrays in (
        (tw.argsort, (X,)), (tw.sort_by_key, (X, X)), (tw.dot, (X, X)), (tw.matvec, (M, X[:4])), (tw.matmul, (M, M.T.copy())),
        (PART.push, (X,)))),
    (tw.polymul, (I, I), PLACE, "modulus"),
    (tw.convolve, (M, M[:1, :1].copy()), "border " + PLACE, ""),
    (tw.diffuse, (M,), PLACE, "steps mask dx dy rate"),
    (tw.open, (), "name instruction_set", "threads"),
    (tw.array, (X,), "device", ""),
    (tw.partial, (), "op", "begin"),
]

# What takes matrices whose rows lie apart: as its input, and most as its output too.
BESIDE = {dtype: np.array([[2, -1], [0.5, 4]], dtype) for dtype in ("f4", "f8")}
OF_ROWS = [
    *(lambda a, out, call=call, axis=axis: call(a, axis=axis, out=out)
      for call in (tw.cumsum, tw.inclusive_scan, tw.exclusive_scan, tw.sort) for axis in (0, 1)),
    lambda a, out: tw.matmul(a, BESIDE[a.dtype.str[1:]], out),
    lambda a, out: tw.matmul(BESIDE[a.dtype.str[1:]], a, out),
]
FROM_ROWS = [
    *(lambda a, call=call, axis=axis: call(a, axis=axis) for call in (tw.sum, tw.prod, tw.min, tw.max) for axis in (0, 1)),
    lambda a: tw.matvec(a, BESIDE[a.dtype.str[1:]][0]),
]


class BadInput(unittest.TestCase):
    def test_rows(self):
        before = X.tobytes()
        for number, (call, kind, message) in enumerate(ROWS):
            with self.subTest(row=number, message=message):
                with self.assertRaisesRegex(kind, message) as caught:
                    call()
                if not isinstance(caught.exception, (TypeError, BufferError, AttributeError)):
                    self.assertIsInstance(caught.exception, tw.Error)
        self.assertEqual(X.tobytes(), before, "an input was written to")

    def test_what_the_errors_say_to_do(self):
        for text, arrays, wanted in FOLLOWED:
            with self.subTest(text):
                words = {"np": np, "numpy": np, "tw": tw, "tilewise": tw}
                with self.assertRaises((AttributeError, TypeError, tw.Error)) as caught:
                    eval(text, words | arrays)
                done, given = does(text, arrays, str(caught.exception))
                got = eval(done, words | given)
                if isinstance(got, tuple) and not isinstance(wanted, tuple):
                    got = got[0]
                got = got.numpy() if isinstance(got, tw.array) else got
                if isinstance(wanted, str) or not np.issubdtype(np.asarray(wanted).dtype, np.number):
                    self.assertEqual(np.asarray(got).tolist(), np.asarray(wanted).tolist(), done)
                else:
                    np.testing.assert_allclose(got, wanted, err_msg=done)

    def test_names_that_are_not_here(self):
        self.assertFalse(hasattr(tw, "mean"))
        self.assertIsNone(getattr(tw, "__wrapped__", None))
        with self.assertRaisesRegex(ImportError, r"^tilewise has no mean; write tw\.sum\(a\) / a\.size$"):
            from tilewise import mean  # noqa: F401
        for name in "nothing", "_mean", "__path":
            with self.assertRaisesRegex(AttributeError, f"^module 'tilewise' has no attribute '{name}'$"):
                getattr(tw, name)
        with self.assertRaisesRegex(ImportError, "^cannot import name 'nothing'"):
            from tilewise import nothing  # noqa: F401
        from tilewise import _frameworks  # noqa: F401
        part = tw.partial()
        for name, way, argument in (("append", "push", (FLAT,)), ("update", "push", (FLAT,)), ("add", "push", (FLAT,)), ("result", "value", ())):
            with self.assertRaisesRegex(AttributeError, rf"^a partial has no {name}; write part\.{way}\("):
                getattr(part, name)
            getattr(part, way)(*argument)
        self.assertEqual(part.value(), 3 * FLAT.sum())
        with self.assertRaisesRegex(AttributeError, "^a partial has no nothing$"):
            part.nothing
        for call in (lambda: tw.max(X[:0]), lambda: tw.max(M[:0], axis=0), lambda: tw.exclusive_scan(X, op="max")):
            with self.assertRaisesRegex(ValueError, "give an initial value: pass initial=$"):
                call()
        self.assertEqual(tw.max(X[:0], initial=2), 2)

    def test_imports_that_fail(self):
        """From the folder of the source, and without NumPy."""
        source = pathlib.Path(__file__).parents[2] / "python"
        program = [sys.executable, "-c", "import tilewise; print(tilewise.order_version)"]
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        said = subprocess.run(program, cwd=source, env=clean, capture_output=True, text=True).stderr
        found = re.search(rf"ImportError: {source}/tilewise holds the source of tilewise; start Python in another folder, with PYTHONPATH=(.+)$", said)
        self.assertEqual(found[1], f"{source.parent}/build/release/python", said)
        built = pathlib.Path(tw.__file__).parents[1]
        done = subprocess.run(program, cwd="/", env={**clean, "PYTHONPATH": str(built)}, capture_output=True, text=True)
        self.assertEqual(done.stdout, f"{tw.order_version}\n", done.stderr)
        without = "import sys; sys.modules['numpy'] = None; import tilewise"
        said = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True).stderr
        self.assertRegex(said, "ImportError: tilewise needs NumPy: pip install numpy")

    def test_words_and_numbers_beyond_all_sense(self):
        """Half of a character, a NUL, which would end a sentence, and numbers that Python cannot convert or even write."""
        for take, arrays, words, numbers in TAKERS:
            for option, value in itertools.chain(itertools.product(words.split(), ("a\ud800", "sum\0", "cpu\0c")),
                                                 itertools.product(numbers.split(), (10**400, -10**5000))):
                with self.subTest(f"{take.__name__} {option}"):
                    with self.assertRaises(tw.InvalidArgument) as caught:
                        take(*arrays, **{option: value})
                    named = f"{option} is {value!r}, with a NUL or" if isinstance(value, str) else f"{option} "
                    self.assertIn(named, str(caught.exception))

    def test_numbers_of_programs(self):
        """What becomes a number by a program of its owner, which may free an array, does so before any memory is lent."""
        class Number:
            values = {"axis": 0, "mask": 53, "modulus": 97, "rate": 0.00625}
            __init__ = lambda self, option: setattr(self, "value", self.values.get(option, 1))
            __index__ = lambda self: events.append("converted") or int(self.value)
            __float__ = lambda self: events.append("converted") or float(self.value)

        class Lends(Lender):
            def __dlpack__(self, stream=None):
                events.append("lent")
                return super().__dlpack__()

        class OnlyFloat(Number):
            __index__ = None

        for take, arrays, _, numbers in TAKERS:
            for option, kind in itertools.product(numbers.split() if arrays else (), (Number, OnlyFloat)):
                events = []
                with self.subTest(f"{take.__name__} {option}", kind=kind), contextlib.suppress(*(TypeError,) * (kind is OnlyFloat)):
                    take(*map(Lends, arrays), **{option: kind(option)})
                    self.assertEqual(events, sorted(events))
                    self.assertEqual(set(events), {"converted", "lent"})

    def test_keywords_beyond_all_words(self):
        """A name that no sentence can hold, of each function and method: Python hands it on as it is."""
        methods = (THERE.numpy, THERE.__array__, THERE.__dlpack__, PART.merge, PART.value, tw.open("cpu").finish)
        takers = [(take, arrays) for take, arrays, _, _ in TAKERS] + [(take, ()) for take in (*methods, tw.devices)]
        for (take, arrays), word in itertools.product(takers, ("\ud800", Unspeakable("word"))):
            with self.subTest(take.__name__), self.assertRaisesRegex(TypeError, r"\(\) has no |incompatible function"):
                take(*arrays, **{word: 1})

    def test_keywords_of_others(self):
        """Each is named, with what gives the result that was wanted."""
        rows = np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
        rows_of = ((tw.sum, (rows,), {"dim": 1}, "did you mean axis?", lambda: tw.sum(rows, axis=1), [6, 15]),
                   (tw.cumsum, (X,), {"axes": 0}, "did you mean axis?", None, None),
                   (tw.sum, (X,), {"start": 2}, "did you mean initial?", lambda: tw.sum(X, initial=2), X.sum() + 2),
                   (tw.sum, (X,), {"dtype": "f8"}, "convert those: a.astype(dtype)", lambda: tw.sum(X.astype("f8")), X.sum()),
                   (tw.sum, (rows,), {"keepdims": True, "axis": 1}, "np.expand_dims(result, axis)",
                    lambda: np.expand_dims(tw.sum(rows, axis=1), 1), [[6], [15]]),
                   (tw.sum, (X,), {"where": X > 1}, "np.where(where, a, neutral element)",
                    lambda: tw.sum(np.where(X > 1, X, np.float32(0))), X[X > 1].sum()),
                   (tw.sort, (X,), {"reverse": True}, "did you mean descending?", lambda: tw.sort(X, descending=True), np.sort(X)[::-1]),
                   (tw.sort, (X,), {"kind": "stable"}, "every sort is stable; leave it out", lambda: tw.sort(X), np.sort(X)),
                   (tw.argsort, (X,), {"desending": True}, "did you mean descending?", None, None),
                   (tw.convolve, (rows, rows[:1, :1]), {"mode": "zero"}, "did you mean border?",
                    lambda: tw.convolve(rows, rows[:1, :1], border="zero"), 3 * rows),
                   (tw.polymul, (I, I), {"p": 7}, "did you mean modulus?", lambda: tw.polymul(I, I, modulus=7), tw.polymul(I, I, modulus=7)),
                   (tw.matmul, (rows, rows.T.copy()), {"transpose": 1}, "it takes a, b, out, fast, device, variant, tuning", None, None),
                   (tw.partial, (), {"type": "f4"}, "did you mean dtype?", None, None),
                   (PART.push, (X,), {"devices": "cpu"}, "did you mean device?", None, None),
                   (tw.open, ("cpu",), {"thread": 1}, "did you mean threads?", None, None),
                   (THERE.numpy, (), {"q": 1}, "it takes no keywords", None, None))
        for take, arrays, named, way, followed, wanted in rows_of:
            with self.subTest(f"{take.__name__} {named}"):
                with self.assertRaises(TypeError) as caught:
                    take(*arrays, **named)
                self.assertEqual(str(caught.exception)[:len(take.__name__) + 10], f"{take.__name__}() has no ")
                self.assertIn(f"{next(iter(named))}=; ", str(caught.exception))
                self.assertTrue(str(caught.exception).endswith(way) or way.startswith("np."), str(caught.exception))
                self.assertIn(way, str(caught.exception))
                if followed is not None:
                    np.testing.assert_array_equal(followed(), wanted)
        for take, named, why in ((tw.sort, {"descending": "yes"}, "descending is of type str; pass True or False"),
                                 (PART.merge, {"right": X}, "right is of type ndarray")):
            with self.assertRaisesRegex(TypeError, why):
                take(*([X] if take is tw.sort else []), **named)

    def test_objects_without_their_init(self):
        """Made by __new__ alone, or kept by an __init__ that fails: each operation of theirs, and each argument that takes them."""
        class Failing(tw.array):
            def __init__(self):
                kept.append(self)
                raise KeyError

        kept = []
        with self.assertRaises(KeyError):
            Failing()
        bare = {kind: kind.__new__(kind) for kind in (tw.array, tw.partial, tw.device)} | {Failing: kept[0]}
        made = {tw.array: tw.array(X, device="cpu"), Failing: tw.array(X, device="cpu"), tw.partial: PART, tw.device: tw.open("cpu")}
        arguments = {"merge": (PART,), "push": (X,), "__eq__": (made[tw.device],), "__ne__": (made[tw.device],)}
        calls = [(f"{kind.__name__}.{name}", lambda one=one, name=name: getattr(one, name)(*arguments.get(name, ())))
                 for kind, one in bare.items() for name in dir(kind) if name in vars(kind.__mro__[-3]) and name[:10] != "_pybind11_" and name not in
                 ("__init__", "__new__", "__setstate__", "__getattr__", "__module__", "__doc__", "__ne__")]
        calls += [(role, lambda call=call, one=one: call(one)) for one in (bare[tw.array], kept[0])
                  for role, _, call in (*roles.inputs(), *roles.outputs())]
        calls += [("out of two", lambda: tw.sort_by_key(X, X, out=(X.copy(), bare[tw.array]))),
                  ("carry", lambda: tw.cumsum(X, carry=bare[tw.partial])), ("right", lambda: PART.merge(bare[tw.partial])),
                  ("device", lambda: tw.sum(X, device=bare[tw.device])), ("to", lambda: tw.array(X, device=bare[tw.device])),
                  ("len", lambda: len(bare[tw.array])), ("hash", lambda: hash(bare[tw.device])),
                  *((of.__name__, lambda of=of, one=one: of(one)) for of in (repr, copy.copy, pickle.dumps) for one in bare.values()),
                  *((of.__name__, lambda of=of, one=one: of(one)) for of in (np.asarray, np.from_dlpack) for one in (bare[tw.array], kept[0]))]
        self.assertGreater(len(calls), 150)
        for what, call in calls:
            with self.subTest(what), self.assertRaisesRegex(TypeError, "made without its __init__|cannot pickle"):
                call()

    def test_a_variable_of_any_bytes_is_named(self):
        program = "import numpy, tilewise; tilewise.array(numpy.zeros(3))"
        done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "TILEWISE_DEVICE": "\udcff"}, capture_output=True)
        self.assertIn(rb"DeviceLost: TILEWISE_DEVICE names a device, but there is no device '\xff'", done.stderr)

    def test_fields_of_tables(self):
        """Their rows lie apart: where not by whole elements, they cannot be used as they are."""
        for dtype, other in (("f4", "i2"), ("f8", "i4"), ("f4", "i4"), ("f8", "i8")):
            table = np.zeros(2, [("rows", dtype, 2), ("other", other)])
            table["rows"] = [[3, 1], [2, 5]]
            before, rows, out = table.tobytes(), table["rows"], np.zeros_like(table)["rows"]
            packed = rows.copy()
            calls = [*((lambda a, call=call: call(a, None)) for call in OF_ROWS), *FROM_ROWS]
            into = [lambda to, call=call: call(packed, to) for call in OF_ROWS]
            with self.subTest(rows.strides):
                if rows.strides[0] % rows.itemsize:
                    for call in calls + into:
                        with self.assertRaisesRegex(tw.InvalidArgument, r"ascontiguousarray\((a|b)\)|leave out= away"):
                            call(rows)
                else:
                    for number, call in enumerate(calls):
                        self.assertEqual(call(rows).tobytes(), call(packed).tobytes(), number)
                    for number, call in enumerate(into):
                        call(out)
                        self.assertEqual(out.tobytes(), calls[number](packed).tobytes(), number)
            self.assertEqual(table.tobytes(), before)

    def test_what_is_refused_is_given_back(self):
        for x in X[::2], X.astype(complex), X.astype(">f4"), X.astype(np.float16), M.T:
            before = sys.getrefcount(x)
            for _ in range(10):
                with self.assertRaises((TypeError, ValueError)):
                    tw.dot(x, M)
            self.assertEqual(sys.getrefcount(x), before, x.dtype)

    def test_what_is_taken_as_it_is(self):
        self.assertEqual(tw.sum(standard_array.array("d", [1, 2])), 3.0)
        self.assertEqual(tw.sum(X.view(np.matrix)), tw.sum(X))
        self.assertEqual(tw.sum(M[:, :0]), 0)
        self.assertEqual(tw.sum(X[3:4][::-1]), 3)
        self.assertEqual(tw.sum(I.astype(np.longlong)), 66)
        self.assertEqual(tw.sum(I, initial=np.int32(1)), 67)
        self.assertEqual([tw.max(X, initial=one) for one in (np.inf, 3.4028235e38, np.float32(12), np.array(13), fractions.Fraction(25, 2))],
                         [np.inf, np.float32(3.4028235e38), 12, 13, 12.5])
        self.assertEqual(tw.max(I.astype("i8"), initial=np.int64(2**53 + 1)), 2**53 + 1)
        self.assertEqual(tw.sum(M, axis=np.int8(-1)).tolist(), [6, 22, 38])
        for masked in None, True:
            self.assertEqual(tw.sum(X.view(type("Image", (np.ndarray,), {"mask": masked}))), 66)


if __name__ == "__main__":
    unittest.main()
