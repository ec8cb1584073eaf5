# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a call that fits no function of ours, or names what is not here, in Python's own words."""

import difflib
import inspect
import numbers
import os
import re
import sys

import numpy

from . import _core, _frameworks

# Names of other libraries, separated by spaces, and what to write instead.
MISSING = {
    "mean average avg": "tw.sum(a) / a.size",
    "var variance": "tw.sum((a - tw.sum(a) / a.size) ** 2) / a.size",
    "std stddev": "np.sqrt(tw.sum((a - tw.sum(a) / a.size) ** 2) / a.size)",
    "norm linalg": "np.sqrt(tw.dot(a, a)) for a norm, and tw.matmul(a, b) or tw.matvec(a, x) for products",
    "softmax": "np.exp(a - tw.max(a)) / tw.sum(np.exp(a - tw.max(a)))",
    "nansum": "tw.sum(a[~np.isnan(a)])",
    "nanmax": "tw.max(a[~np.isnan(a)])",
    "nanmin": "tw.min(a[~np.isnan(a)])",
    "nanprod": "tw.prod(a[~np.isnan(a)])",
    "nanmean": "tw.sum(a[~np.isnan(a)]) / np.count_nonzero(~np.isnan(a))",
    "nancumsum": "tw.cumsum(np.where(np.isnan(a), 0, a))",
    "fsum total": "tw.sum(a)",
    "reduceat segment_sum segmented_reduce segment_csr": "tw.segment_reduce(a, offsets)",
    "segment_cumsum segmented_scan": "tw.segment_scan(a, offsets)",
    "segmented_sort sort_segments": "tw.segment_sort(a, offsets)",
    "scan_by_key": "tw.segment_scan(a, tw.runs(keys)[1])",
    "groupby group_reduce aggregate": "tw.reduce_by_key(*tw.sort_by_key(keys, a))",
    "unique": "tw.runs(tw.sort(a))[0]",
    "run_length_encode rle": "tw.runs(a)",
    "reduce fold add": "tw.sum(a), tw.prod(a), tw.min(a) or tw.max(a)",
    "product multiply": "tw.prod(a)",
    "amax maximum": 'tw.max(a), or running: tw.inclusive_scan(a, op="max")',
    "amin minimum": 'tw.min(a), or running: tw.inclusive_scan(a, op="min")',
    "cummax": 'tw.inclusive_scan(a, op="max")',
    "cummin": 'tw.inclusive_scan(a, op="min")',
    "cumprod cumulative_prod": 'tw.inclusive_scan(a, op="product")',
    "cumulative_sum prefix_sum accumulate": "tw.cumsum(a)",
    "scan": 'tw.inclusive_scan(a, op="sum"), or tw.exclusive_scan(a)',
    "topk top_k nlargest": "tw.sort(a, descending=True)[:k], or for the indices tw.argsort(a, descending=True)[:k]",
    "nsmallest": "tw.sort(a)[:k]",
    "mm bmm gemm multi_dot": "tw.matmul(a, b)",
    "mv gemv": "tw.matvec(a, x)",
    "inner vdot": "tw.dot(a, b)",
    "einsum tensordot": 'tw.matmul(a, b) for "ij,jk", tw.matvec(a, x) for "ij,j", tw.dot(x, y) for "i,i"',
    "correlate convolve2d correlate2d conv2d": 'tw.convolve(image, mask, border="zero"), which does not flip the mask',
    "fft": "tw.polymul(a, b) for products of polynomials",
    "cuda gpu": 'tw.sum(a, device="cuda:0")',
    "set_num_threads": 'device = tw.open("cpu:threads", threads=4), then tw.sum(a, device=device)',
}
# Methods that others have where a partial has its own.
OF_PARTIAL = {"append extend update add feed insert": "push(values)", "result get total sum item compute finalize": "value()",
              "combine join": "merge(right)"}
# Names of NumPy, PyTorch and Python's own functions.
MEANT = {"dim": "axis", "dims": "axis", "axes": "axis", "init": "initial", "start": "initial", "reverse": "descending",
         "mode": "border", "kernel": "mask", "weights": "mask", "mod": "modulus", "p": "modulus", "m": "modulus",
         "iterations": "steps", "n": "steps", "num_threads": "threads", "n_jobs": "threads"}
WITH_THREADS = 'pass device=tw.open("cpu:threads", threads=4)'
INSTEAD = {"dtype": "results have the type of the elements, so convert those: {first}.astype(dtype)",
           "keepdims": "np.expand_dims(result, axis) puts the axis back",
           "where": "compute with np.where(where, a, neutral element)",
           "kind": "every sort is stable; leave it out",
           "stable": "every sort is stable; leave it out",
           "key": "sort_by_key(keys, values) sorts values by keys",
           "padding": 'pass border="zero", which keeps the size',
           "threads": WITH_THREADS, "num_threads": WITH_THREADS, "n_jobs": WITH_THREADS}
OPERATIONS = {"sum": "sum", "product": "prod", "min": "min", "max": "max"}
# What NumPy's pad calls what others call a border.
PADDED = {"clamp": "edge", "replicate": "edge", "nearest": "edge", "extend": "edge", "mirror": "reflect", "circular": "wrap"}
AN_ARRAY = "pass an array of NumPy, PyTorch, CuPy or JAX, or a tilewise.array"


def _of_words(table, name):
    return next((way for words, way in table.items() if name in words.split()), None)


def missing(name):
    """Of a name that the module does not have."""
    if way := _of_words(MISSING, name):
        return f"tilewise has no {name}; write {way}"
    if name in dir(numpy):
        return f"tilewise has no {name}; NumPy has np.{name}"
    if near := difflib.get_close_matches(name, sys.modules["tilewise"].__all__, 1, 0.7):
        return f"tilewise has no {name}; did you mean {near[0]}?"
    return f"module 'tilewise' has no attribute {name!r}"


def missing_of_partial(self, name):
    way = _of_words(OF_PARTIAL, name)
    error = AttributeError(f"a partial has no {name}" + (f"; write part.{way}" if way else ""))
    error.name, error.obj = name, None if way else self
    return error


def in_python(text):
    """An error of the library, whose callers write other words in other languages."""
    if text.endswith("give an initial value"):
        return text + ": pass initial="
    if of_cpu := re.match(r"there is no device '(cpu(?::[a-z]+)?):(\d+)';", text):
        name = "cpu:threads" if of_cpu[1] == "cpu" else of_cpu[1]
        return f'{of_cpu[0]} tilewise.open("{name}", threads={of_cpu[2]}) makes one'
    if of_type := re.match(r"there is no operation '(float32|float64|u?int32|u?int64)';", text):
        return f'{of_type[0]} the operation comes before the type: tilewise.partial("sum", "{of_type[1]}")'
    if text.startswith("there is no operation 'mean'"):
        return text + "; for a mean divide the sum by the number of elements"
    return text


def border(word):
    mode = PADDED.get(word, word)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        return "say 'zero', which keeps the size, or 'valid', which shrinks"
    return f'pad first: tw.convolve(np.pad(image, [(n // 2,) * 2 for n in mask.shape], mode="{mode}"), mask, border="valid")'


def operation(x):
    """Of what is no word for an operation."""
    if isinstance(x, numpy.ufunc) and (word := {"add": "sum", "multiply": "product", "minimum": "min", "maximum": "max"}.get(x.__name__)):
        return f'pass "{word}"'
    if isinstance(x, (type, numpy.dtype)):
        return f'the operation comes before the type: tilewise.partial("sum", numpy.{numpy.dtype(x)})'
    return "pass 'sum', 'product', 'min' or 'max'"


def axis(x):
    """Of what is no number of an axis."""
    if isinstance(x, bool):
        return f"pass a whole number; a flag goes by its name: descending={x}"
    if isinstance(x, str) and x in OPERATIONS:
        return f'pass a whole number; an operation goes by its name: op="{x}"'
    return "pass a whole number, or None for all elements"


def no_array(x, name):
    if isinstance(x, (str, os.PathLike)) or hasattr(x, "read"):
        return f'read the file first: np.loadtxt({name}, delimiter=",") or np.load({name})'
    if hasattr(x, "__array__") or isinstance(x, (list, tuple, range, numbers.Number)):
        return f"pass numpy.ascontiguousarray({name})"
    return f"pass numpy.fromiter({name}, float)" if hasattr(x, "__iter__") else AN_ARRAY


def of_channels(shape, dtype=""):
    """How to convolve an image of several channels, which are last, or else first."""
    last = shape[-1] <= 4
    channel = f"np.ascontiguousarray(image[{'..., c' if last else 'c'}]{dtype})"
    return f'call np.stack([tw.convolve({channel}, mask, border="zero") for c in range({shape[-1 if last else 0]})], axis={-1 if last else 0})'


def rank(call, x, name, wanted):
    """Of an array with too few or too many dimensions: how many it takes, and the call that takes such arrays."""
    shape = tuple(getattr(x, "shape", ()))
    if wanted == 2:
        way = {("convolve", 3): of_channels(shape) if name == "image" and len(shape) == 3 else "",
               ("convolve", 1): f"pass {name}.reshape(1, -1)",
               ("matmul", 1): "call tw.matvec(a, b)" if name == "b" else "call tw.matmul(a.reshape(1, -1), b)[0]",
               ("matmul", 3): "call np.stack([tw.matmul(one, other) for one, other in zip(a, b)])",
               ("matvec", 1): "call tw.dot(a, x)"}.get((call, len(shape)))
        return "two dimensions, rows and columns" + (f": {way}" if way else "")
    flat = f"pass {_frameworks.call_for('flat', x, name)}"
    if 1 in shape and max(shape) == numpy.prod(shape):
        return "one dimension: " + flat
    way = {"dot": "call tw.matmul(a, b), or tw.matvec(a, b) if b is a vector", "matvec": "call tw.matmul(a, x)",
           "sort_by_key": f"{flat}, or one row at a time" if name == "keys" else "call values[tw.argsort(keys)]",
           "argsort": f"{flat}, or one row at a time: np.stack([tw.argsort(row) for row in a])"}
    return "one dimension: " + way.get(call, f"{flat}, or one row at a time")


def _of_axis(a, which):
    """What argsort has instead of an axis."""
    if getattr(a, "ndim", 2) == 1:
        return "leave it out"
    if which == 0:
        return "call np.stack([tw.argsort(np.ascontiguousarray(column)) for column in a.T], axis=1)"
    return "call np.stack([tw.argsort(row) for row in a])"


def way(name, keyword, value, known, arguments):
    if MEANT.get(keyword) in known:
        return f"did you mean {MEANT[keyword]}?"
    if keyword == "op" and name in ("cumsum", *OPERATIONS.values()):
        word = value if isinstance(value, str) and value in OPERATIONS else "max"
        return "write " + (f'tw.inclusive_scan(a, op="{word}")' if name == "cumsum" else f"tw.{OPERATIONS[word]}(a)")
    if keyword == "axis" and name == "argsort" and arguments:
        return _of_axis(arguments[0], value)
    if keyword in INSTEAD:
        return INSTEAD[keyword].format(first=known[0])
    near = difflib.get_close_matches(keyword, known, 1)
    return f"did you mean {near[0]}?" if near else f"it takes {', '.join(known) or 'no keywords'}"


def _by_name(value, options):
    """A value with the name of the keyword that it was meant for, as far as its type says."""
    flag = next((option for option, parameter in options.items() if isinstance(parameter.default, bool)), None)
    if isinstance(value, bool):
        meant = flag
    elif isinstance(value, str) and value == flag:
        return f"{flag}=True"
    elif isinstance(value, str):
        meant = "op" if value in OPERATIONS and "op" in options else "border" if "border" in options else "device"
    elif isinstance(value, numbers.Number):
        meant = next((option for option in ("modulus", "threads", "initial") if option in options), None)
    else:
        meant = {_core.partial: "carry", _core.device: "device"}.get(type(value), "out")
    if meant not in options:
        return "one of " + ", ".join(f"{option}=" for option in options)
    return f"{meant}={value!r}" if isinstance(value, (str, numbers.Number)) else f"{meant}=..."


def explain(name, arguments, named):
    if name == "__init__":  # whose signature inspect does not find
        made, *arguments = arguments
        name, call = type(made).__name__, eval(f"lambda {type(made).__text_signature__[1:-1]}: None")
    elif (call := getattr(_core, name, None)) is None:  # a method
        call, arguments = getattr(arguments[0], name), arguments[1:]
    known = inspect.signature(call).parameters
    for keyword, value in named.items():
        if keyword not in known:
            return f"{name}() has no {keyword}=; {way(name, keyword, value, list(known), arguments)}"
    places = [parameter for parameter in known.values() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    options = {option: parameter for option, parameter in known.items() if parameter.kind is parameter.KEYWORD_ONLY and option not in named}
    more = arguments[len(places):]
    if more and name == "argsort" and isinstance(more[0], int) and not isinstance(more[0], bool):
        return f"argsort() has no axis; {_of_axis(arguments[0], more[0])}"
    if more and options:
        return f"{name}(): pass argument {len(places) + 1} by its name: {_by_name(more[0], options)}"
    try:
        given = inspect.signature(call).bind(*arguments, **named).arguments
    except TypeError as wrong:
        return f"{name}(): {wrong}"
    for parameter, value in given.items():
        if isinstance(known[parameter].default, bool) and not isinstance(value, bool):
            return f"{name}(): {parameter} is of type {type(value).__name__}; pass True or False"
    return f"{name}(): no arguments of these types fit: " + ", ".join(
        f"{parameter} is of type {type(value).__name__}" for parameter, value in given.items())
