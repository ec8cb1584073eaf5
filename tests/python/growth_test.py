# SPDX-License-Identifier: Apache-2.0
"""Calls of every kind, again and again: the process holds no more memory, open files or threads than after the first rounds."""

import ctypes
import os
import threading
import unittest

import numpy as np

import tilewise as tw
from definition import TYPES

NAMES = ["cpu:serial", "cpu:threads", "cpu:openmp", "cpu:tbb", "3*cpu:serial", "cpu:threads+cpu:serial", "opencl:0", "cuda:0"]
WARM, ROUNDS = 15, 40  # the first 15 lend what allocators and caches keep, 45 KB; the next 60 lent 1 KB more
MOST_BYTES = 32 << 10
RNG = np.random.default_rng(2)
X, M, C, K = (RNG.standard_normal(shape).astype("f4") for shape in (20000, (64, 64), 64, (3, 3)))
P, V = RNG.integers(0, 100, 1000, dtype="i4"), np.arange(20000, dtype="u4")


class Mallinfo(ctypes.Structure):  # mallinfo2 of malloc.h
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
                                                     "fordblks", "keepcost")]


MALLINFO = ctypes.CDLL(None).mallinfo2
MALLINFO.restype = Mallinfo


def held():
    """Bytes that malloc has lent, open files, threads."""
    lent = MALLINFO()
    return lent.uordblks + lent.hblkhd, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def opened(name):
    try:
        return tw.open(name)
    except tw.Error:
        return None


def refused(call):
    try:
        call()
    except (ValueError, tw.Error):
        return
    raise AssertionError("the call was taken")


def calls_on(name, device):
    """Of a device that stays open and of one that is opened for each call; but PoCL itself loses some hundred bytes of each program
    that is built, run and released."""
    there = tw.array(X, device=device)
    yield lambda: tw.sum(X, device=device if name.startswith("opencl") else tw.open(name))
    yield lambda: tw.cumsum(X, device=device)
    yield lambda: tw.cumsum(there).numpy()
    yield lambda: tw.min(M, axis=0, device=device)
    yield lambda: tw.argsort(X, descending=True, device=device)
    yield lambda: tw.sort_by_key(X, V, device=device)
    yield lambda: tw.matmul(M, M, device=device)
    yield lambda: tw.matvec(M, C, device=device)
    yield lambda: tw.polymul(P, P, device=device)
    yield lambda: tw.convolve(M, K, device=device)
    yield lambda: tw.diffuse(M, steps=3, device=device)
    yield lambda: tw.array(V, device=device).numpy()
    yield lambda: refused(lambda: tw.matmul(M, K, device=device))
    yield lambda: of_a_new_thread(lambda: tw.sum(X, device=name))


def of_a_new_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


def in_parts():
    for dtype in TYPES:
        carry, whole = tw.partial("sum", dtype), tw.partial("sum", dtype)
        for part in np.split(V.astype(dtype), [0, 7, 5000]):
            tw.cumsum(part, carry=carry)
            whole.push(part)
        assert carry.value() == whole.value()


class Growth(unittest.TestCase):
    def test_nothing_is_kept_from_round_to_round(self):
        """Each kind on one of the devices."""
        devices = [(name, device) for name in NAMES if (device := opened(name))]
        calls = [list(calls_on(*one)) for one in devices]
        mixed = [calls[n % len(calls)][n] for n in range(len(calls[0]))] + [in_parts, tw.devices, lambda: refused(lambda: tw.open("nope"))]
        least = {}  # of the rounds after the first ones, and of the last ones: others on the machine only add to these
        for number in range(ROUNDS):
            for call in mixed:
                call()
            part = None if number < WARM else number < (WARM + ROUNDS) // 2
            least[part] = tuple(map(min, zip(held(), least.get(part, held()))))
        (bytes_before, *before), (bytes_after, *after) = least[True], least[False]
        self.assertLessEqual(bytes_after - bytes_before, MOST_BYTES)
        self.assertEqual(after, before, "open files and threads")


if __name__ == "__main__":
    unittest.main()
