# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a call that fits no function of ours, in Python's own words."""

import difflib
import inspect

from . import _core

# Names of NumPy, PyTorch and Python's own functions.
MEANT = {"dim": "axis", "dims": "axis", "axes": "axis", "init": "initial", "start": "initial", "reverse": "descending",
         "mode": "border", "kernel": "mask", "weights": "mask", "mod": "modulus", "iterations": "steps", "n": "steps"}
INSTEAD = {"dtype": "results have the type of the elements, so convert those: a.astype(dtype)",
           "keepdims": "np.expand_dims(result, axis) puts the axis back",
           "where": "compute with np.where(where, a, neutral element)",
           "kind": "every sort is stable; leave it out",
           "stable": "every sort is stable; leave it out",
           "key": "sort_by_key(keys, values) sorts values by keys"}


def way(keyword, known):
    if MEANT.get(keyword) in known:
        return f"did you mean {MEANT[keyword]}?"
    if keyword in INSTEAD:
        return INSTEAD[keyword]
    near = difflib.get_close_matches(keyword, known, 1)
    return f"did you mean {near[0]}?" if near else f"it takes {', '.join(known) or 'no keywords'}"


def explain(name, arguments, named):
    if name == "__init__":  # whose signature inspect does not find
        made, *arguments = arguments
        name, call = type(made).__name__, eval(f"lambda {type(made).__text_signature__[1:-1]}: None")
    elif (call := getattr(_core, name, None)) is None:  # a method
        call, arguments = getattr(arguments[0], name), arguments[1:]
    known = inspect.signature(call).parameters
    for keyword in named:
        if keyword not in known:
            return f"{name}() has no {keyword}=; {way(keyword, list(known))}"
    try:
        given = inspect.signature(call).bind(*arguments, **named).arguments
    except TypeError as wrong:
        return f"{name}(): {wrong}"
    for parameter, value in given.items():
        if isinstance(known[parameter].default, bool) and not isinstance(value, bool):
            return f"{name}(): {parameter} is of type {type(value).__name__}; pass True or False"
    return f"{name}(): no arguments of these types fit: " + ", ".join(
        f"{parameter} is of type {type(value).__name__}" for parameter, value in given.items())
