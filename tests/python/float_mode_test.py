# SPDX-License-Identifier: Apache-2.0
"""Every function of the module in threads that flush denormals or round otherwise, as libraries built for speed leave them."""

import copy
import ctypes
import pickle
import threading
import unittest
from decimal import Decimal
from fractions import Fraction

import numpy as np

import tilewise as tw

DEVICES = [d.name for d in tw.devices() if d.backend == "cpu"] + ["2*cpu:serial"]
OPENCL = [d.name for d in tw.devices() if d.backend == "opencl"][:1]
MATHS = ctypes.CDLL("libm.so.6")
THIRD = np.longdouble(1) / 3
MODES = {"flushed": 0x8040, "down": 0x2000, "up": 0x4000, "to zero": 0x6000}


class Mode:
    """The floating-point mode of this thread: bits of MXCSR, which glibc keeps at byte 28 of its environment, and the x87's rounding at 0."""

    def __init__(self, bits):
        self.callers, self.mine = (ctypes.create_string_buffer(32) for _ in range(2))
        MATHS.fegetenv(self.callers)
        MATHS.fegetenv(self.mine)
        self.wanted = 0x1f80 | bits
        self.mine[28:32] = self.wanted.to_bytes(4, "little")
        self.mine[0:2] = (0x37f | (bits >> 13 & 3) << 10).to_bytes(2, "little")

    def __enter__(self):
        MATHS.fesetenv(self.mine)

    def __exit__(self, *_):
        now = ctypes.create_string_buffer(32)
        MATHS.fegetenv(now)
        MATHS.fesetenv(self.callers)
        after = int.from_bytes(now[28:32], "little") & ~0x3f
        assert after == self.wanted, f"the mode is {after:#x} after the call, and was {self.wanted:#x}"
        assert now[0:2] == self.mine[0:2], f"the x87's mode is {now[0:2]} after the call, and was {self.mine[0:2]}"


def inputs(n):
    rng = np.random.default_rng(n)
    ordinary = rng.standard_normal(n) * 2.0 ** rng.integers(-30, 30, n)
    for dtype in (np.float32, np.float64):
        tiny = np.ldexp(rng.standard_normal(n), np.finfo(dtype).minexp - 8)
        yield ordinary.astype(dtype), ordinary[::-1].astype(dtype)
        yield tiny.astype(dtype), ordinary.astype(dtype)


def folds(x, device):
    for name in ("sum", "prod", "min", "max", "cumsum", "inclusive_scan", "exclusive_scan"):
        call = getattr(tw, name)
        yield name, lambda: call(x, device=device)
        yield name + " with initial", lambda: call(x, initial=0.1, device=device)
        yield name + " with a longer initial", lambda: call(x, initial=THIRD, device=device)
        yield name + " of rows", lambda: call(x.reshape(-1, 4), axis=1, device=device)
        yield name + " of columns", lambda: call(x.reshape(-1, 4), axis=0, initial=1 / 3, device=device)
    carry = tw.partial(dtype=x.dtype)
    carry.push(x[:1])
    yield "scan with a carry", lambda: tw.cumsum(x[1:], carry=copy.copy(carry), device=device)


def others(x, y, device):
    side = int(len(x) ** 0.5)
    a, b = (v[:side * side].reshape(side, side) for v in (x, y))
    yield "sort", lambda: tw.sort(x, device=device)
    yield "argsort", lambda: tw.argsort(x, device=device)
    yield "sort_by_key", lambda: np.concatenate(tw.sort_by_key(x, y, device=device))
    yield "matmul", lambda: tw.matmul(a, b, device=device)
    yield "matvec", lambda: tw.matvec(a, y[:side], device=device)
    yield "dot", lambda: tw.dot(x, y, device=device)
    yield "polymul", lambda: tw.polymul(x, y[:9], device=device)
    yield "convolve", lambda: tw.convolve(a, b[:3, :3].copy(), device=device)
    yield "diffuse", lambda: tw.diffuse(a, 3, dx=0.3, device=device)


def partials(x):
    def pushed():
        one, other = tw.partial(dtype=x.dtype), tw.partial(dtype=x.dtype, begin=len(x))
        for i in range(9):
            one.push(x[i:i + 1])
        one.push(x[9:])
        other.push(x)
        one.merge(other)
        return one.value()
    yield "partial", pushed


class FloatModes(unittest.TestCase):
    def same(self, calls):
        for name, call in calls:
            wanted = np.asarray(call()).tobytes()
            for mode, bits in MODES.items():
                with Mode(bits):
                    got = call()
                self.assertEqual(np.asarray(got).tobytes(), wanted, f"{name}, {mode}")

    def test_every_function(self):
        for n in (16, 4900):
            for x, y in inputs(n):
                self.same(partials(x))
                for device in [None] + DEVICES:
                    with self.subTest(n=n, dtype=x.dtype, device=device):
                        self.same(folds(x, device))
                        self.same(others(x, y, device))

    def test_opencl(self):
        for device in OPENCL:
            for x, _ in inputs(4900):
                self.same([("sum", lambda: tw.sum(x, device=device)), ("cumsum", lambda: tw.cumsum(x, initial=0.1, device=device))])

    def test_devices_of_such_threads(self):
        """Teams of threads that are started there, one after another."""
        x = np.full(3_000_001, 1e-40, np.float32)
        for mode, bits in MODES.items():
            with Mode(bits):
                sums = [tw.sum(x, device=tw.open(name, threads=2)) for name in ("cpu:threads", "cpu:openmp", "cpu:tbb")]
            self.assertEqual(sums, [tw.sum(x, device="cpu:serial")] * 3, mode)

    def test_threads_of_python(self):
        x = np.full(1000, 1e-40, np.float32)
        got = []

        def run():
            with Mode(MODES["flushed"]):
                got.append(tw.sum(x))
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        self.assertEqual(got, [tw.sum(x)])

    def test_arrays_that_pass_through_modes(self):
        """Uploaded in one mode, computed in another, downloaded and converted in a third."""
        for x, _ in inputs(4900):
            for device in DEVICES:
                wanted = tw.cumsum(x, device="cpu:serial")
                with Mode(MODES["flushed"]):
                    a = tw.array(x, device=device)
                with Mode(MODES["up"]):
                    b = tw.cumsum(a)
                with Mode(MODES["down"]):
                    got, widened = b.numpy(), b.__array__(np.float64)
                self.assertEqual((got.tobytes(), widened.tobytes()), (wanted.tobytes(), wanted.astype("f8").tobytes()), device)

    def test_partials_that_pass_through_modes(self):
        for x, _ in inputs(4900):
            with Mode(MODES["flushed"]):
                left, right = tw.partial(dtype=x.dtype), tw.partial(dtype=x.dtype, begin=777)
                left.push(x[:777])
            with Mode(MODES["up"]):
                left = pickle.loads(pickle.dumps(left))
                right.push(x[777:])
                left.merge(copy.deepcopy(right))
            with Mode(MODES["to zero"]):
                got = left.value()
            self.assertEqual(got.tobytes(), tw.sum(x).tobytes(), x.dtype)

    def test_half_precision(self):
        h = (np.random.default_rng(4).standard_normal(900) * 2.0 ** -20).astype(np.float16)
        self.same([("sum", lambda: tw.sum(h, initial=h[0])), ("cumsum", lambda: tw.cumsum(h)), ("dot", lambda: tw.dot(h, h))])

    def test_numbers(self):
        """Whatever Python takes for a number is rounded once, to nearest."""
        for dtype in (np.float32, np.float64):
            x = np.full(5, np.finfo(dtype).smallest_subnormal)
            for number in (1e-40, 0.1, np.float32(1e-40), Fraction(1, 3), Decimal("1e-41"), np.array(1e-42, "f4"), 1e-46, 10**30 + 1):
                self.same([(f"{number!r}", lambda: np.asarray([tw.sum(x, initial=number), tw.max(x, initial=number)]))])

    def test_a_mode_set_within_a_call(self):
        """What a call runs of Python's may load a library that flushes: an object's __float__ here."""
        x = np.full(9, 1e-40, np.float32)

        class Loading:
            def __float__(self):
                MATHS.fesetenv(foreign.mine)
                return 1e-40
        callers, after = (ctypes.create_string_buffer(32) for _ in range(2))
        for bits in MODES.values():
            foreign = Mode(bits)
            MATHS.fegetenv(callers)
            try:
                got = tw.sum(x, initial=Loading()).tobytes()
                MATHS.fegetenv(after)
            finally:
                MATHS.fesetenv(callers)
            self.assertEqual(got, tw.sum(x, initial=1e-40).tobytes())
            self.assertEqual((after[0:2], after[29:32]), (callers[0:2], callers[29:32]))


if __name__ == "__main__":
    unittest.main()
