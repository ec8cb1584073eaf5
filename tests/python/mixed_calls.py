# SPDX-License-Identifier: Apache-2.0
"""Calls of the module of every kind, always the same ones, for processes that live long."""

import threading

import numpy as np

import tilewise as tw
from definition import TYPES

RNG = np.random.default_rng(2)
X, M, C, K = (RNG.standard_normal(shape).astype("f4") for shape in (20000, (64, 64), 64, (3, 3)))
P, V = RNG.integers(0, 100, 1000, dtype="i4"), np.arange(20000, dtype="u4")


def on_device(name):
    """Of a device that stays open, and of one that is opened for each call; but PoCL itself loses some hundred bytes of each program
    that is built, run and released."""
    device = tw.open(name)
    there = tw.array(X, device=device)
    yield "sum", lambda: tw.sum(X, device=device)
    if not name.startswith("opencl"):
        yield "sum of an open one", lambda: tw.sum(X, device=tw.open(name))
    yield "cumsum", lambda: tw.cumsum(X, device=device)
    yield "cumsum there", lambda: tw.cumsum(there).numpy()
    yield "columns", lambda: tw.min(M, axis=0, device=device)
    yield "sort", lambda: tw.sort(X, device=device)
    yield "argsort", lambda: tw.argsort(X, descending=True, device=device)
    yield "sort_by_key", lambda: tw.sort_by_key(X, V, device=device)
    yield "matmul", lambda: tw.matmul(M, M, device=device)
    yield "matvec", lambda: tw.matvec(M, C, device=device)
    yield "polymul", lambda: tw.polymul(P, P, device=device)
    yield "convolve", lambda: tw.convolve(M, K, device=device)
    yield "diffuse", lambda: tw.diffuse(M, steps=3, device=device)
    yield "array", lambda: tw.array(V, device=device).numpy()
    yield "wrong shapes", lambda: refused(lambda: tw.matmul(M, K, device=device))


def refused(call):
    try:
        call()
    except ValueError:
        return
    raise AssertionError("the call was taken")


def in_parts():
    for dtype in TYPES:
        carry, whole = tw.partial("sum", dtype), tw.partial("sum", dtype)
        for part in np.split(V.astype(dtype), [0, 7, 5000]):
            tw.cumsum(part, carry=carry)
            whole.push(part)
        assert carry.value() == whole.value()


def of_a_new_thread(name):
    thread = threading.Thread(target=lambda: tw.sum(X, device=name))
    thread.start()
    thread.join()


def is_here(name):
    try:
        tw.open(name)
        return True
    except tw.Error:
        return False


def all_of(names, few):
    """Pairs of a name and a call, on each of these devices that is here; `few`: each kind on one of them."""
    devices = [name for name in names if is_here(name)]
    print("calls on", *devices, flush=True)
    calls = [[(f"{kind} on {name}", call) for kind, call in on_device(name)] for name in devices]
    everywhere = [calls[n % len(calls)][n] for n in range(len(calls[-1]))] if few else sum(calls, [])
    return everywhere + [
        ("in parts", in_parts), ("devices", tw.devices), ("unknown device", lambda: is_here("nope")),
        *((f"a thread's sum on {name}", lambda name=name: of_a_new_thread(name)) for name in devices)]
