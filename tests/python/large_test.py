# SPDX-License-Identifier: Apache-2.0
"""Sizes beyond 2^31 and 2^32 elements, and bytes beyond 4 GiB, of what big_test.cpp does not try, against closed forms.

TILEWISE_TEST_BIG=all, or =cuda:0, a device's name, tries them; without it a 4,096th of each size shows that the closed forms hold.
Operands are memory that nobody touched, which reads as zeros and takes no room, with a few values around the places where 32-bit
numbers wrap. Results take up to 70 GiB. Sizes without enough memory are skipped.
"""

import math
import mmap
import os
import unittest

import numpy as np

import tilewise as tw

DEVICE = os.environ.get("TILEWISE_TEST_BIG", "")
SHRUNK = 0 if DEVICE else 12
DEVICES = [DEVICE] if DEVICE not in ("", "all") else ["cpu", "3*cpu:serial"]
E31, E32 = 1 << 31 - SHRUNK, 1 << 32 - SHRUNK
BEYOND = 1 << 18 - SHRUNK  # two tiles of those that kernels count by
PART = 1 << 24  # elements that are checked at once


def sparse(shape, dtype):
    """Zeros without memory, but for 1, 2, 4, ... at the places where something wraps; and these."""
    size = math.prod(shape)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE, without a name before Python 3.13
    x = np.frombuffer(mmap.mmap(-1, size * np.dtype(dtype).itemsize, flags=flags), dtype)
    wraps = {E32 // x.itemsize, E31, E32}
    places = sorted({0, size - 1} | {at + side for at in wraps for side in (-1, 0, BEYOND // 2 + 3) if at + side < size})
    x[places] = 1 << np.arange(len(places))
    return x.reshape(shape), places


def square(n, dtype):
    side = math.isqrt(n) + 1
    return side, *sparse((side, side), dtype)


def product(x, places, b):
    """By the few elements that are not zero."""
    c = np.zeros((len(x), b.shape[1]), x.dtype)
    for row, column in (divmod(place, x.shape[1]) for place in places):
        c[row] += x[row, column] * b[column]
    return c


def available():
    with open("/proc/meminfo", encoding="ascii") as facts:
        return next(int(line.split()[1]) << 10 for line in facts if line.startswith("MemAvailable"))


TYPES = ["f4", "f8", "i4", "i8", "u4", "u8"]
READ = [(dtype, n) for dtype in TYPES for n in (E31 + BEYOND + 1, E32 + BEYOND + 5)]
WRITTEN = [(dtype, E32 // np.dtype(dtype).itemsize + BEYOND + 1) for dtype in TYPES] + READ
FLOATS = [(dtype, n) for dtype, n in WRITTEN if dtype[0] == "f"]


class Large(unittest.TestCase):
    def each(self, test, sizes, arrays):
        """On each device; `arrays`: how many dense ones of this size the call, and its check, have at most."""
        for device in DEVICES:
            for dtype, n in sizes:
                with self.subTest(f"{dtype} {n} on {device}"):
                    if DEVICE and arrays * n * np.dtype(dtype).itemsize + (9 << 30) > available():
                        self.skipTest("others would have less than 8 GiB")
                    try:
                        test(device, dtype, n)
                    except MemoryError as why:
                        self.skipTest(str(why))

    def check(self, y, expected):
        """y[first:last] is expected(first, last) everywhere, bit for bit; of a matrix, rows."""
        step = max(1, PART // math.prod(y.shape[1:]))
        for first in range(0, len(y), step):
            last = min(first + step, len(y))
            self.assertEqual(y[first:last].tobytes(), expected(first, last).tobytes(), f"from {first} to {last}")

    def test_matrices_that_are_read(self):
        def test(device, dtype, n):
            side, x, places = square(n, dtype)
            ones, b = np.ones((side, 1), dtype), (np.arange(side * 3).reshape(side, 3) % 8).astype(dtype)
            columns = np.zeros(side, dtype)
            np.add.at(columns, [place % side for place in places], x.reshape(-1)[places])
            self.assertEqual(tw.sum(x, axis=1, device=device).tobytes(), product(x, places, ones).tobytes())
            self.assertEqual(tw.sum(x, axis=0, device=device).tobytes(), columns.tobytes())
            self.assertEqual(tw.matvec(x, b[:, 0].copy(), device=device).tobytes(), product(x, places, b[:, :1]).tobytes())
            self.assertEqual(tw.matmul(x, b, device=device).tobytes(), product(x, places, b).tobytes())

        self.each(test, READ, 0)

    def test_sorts(self):
        """Of keys i * 12345677 modulo a prime, each number below it comes once."""
        def test(device, dtype, n):
            p = next(p for p in range(n, 2 * n) if all(p % d for d in range(2, math.isqrt(p) + 1)))
            x = np.empty(p, f"u{np.dtype(dtype).itemsize}")
            for first in range(0, p, PART):
                last = min(first + PART, p)
                x[first:last] = np.arange(first, last, dtype="u8") * 12345677 % p
            keys = x.view(dtype)  # positive floats have the order of their bits
            tw.sort(keys, device=device, out=keys)
            self.check(x, lambda first, last: np.arange(first, last, dtype=x.dtype))

        self.each(test, [(dtype, n) for dtype, n in WRITTEN if dtype != "f4" or n < E31], 2)

    def test_orders(self):
        """Equal keys keep their order, so those that are not 0 come last and the others are counted."""
        def test(device, dtype, n):
            x, places = sparse((n,), dtype)
            zeros = n - len(places)

            def expected(first, last):
                order = np.arange(first, min(last, zeros))
                order += np.searchsorted(np.array(places) - np.arange(len(places)), order, side="right")
                return np.concatenate([order, places[max(0, first - zeros):max(0, last - zeros)]]).astype("u4")

            self.check(tw.argsort(x, device=device), expected)

        self.each(test, [(dtype, n) for dtype, n in WRITTEN if n < E32], 3)

    def test_outer_products(self):
        def test(device, dtype, n):
            side = math.isqrt(n) + 1
            a, b = (np.arange(side) % 1021).astype(dtype), (np.arange(side) % 509).astype(dtype)
            self.check(tw.matmul(a[:, None], b[None, :], device=device), lambda first, last: a[first:last, None] * b)

        self.each(test, WRITTEN, 1)

    def test_products_of_polynomials(self):
        def test(device, dtype, n):
            x, places = sparse((n,), dtype)
            y = tw.polymul(x, np.array([1, 2, 4], dtype), device=device)

            def expected(first, last):
                c = np.zeros(last - first + 4, y.dtype)  # from first - 2 on
                for place in places:
                    if first - 2 <= place < last:
                        c[place - first + 2:place - first + 5] += x[place].astype(y.dtype) * np.array([1, 2, 4], y.dtype)
                return c[2:last - first + 2]

            self.assertEqual(len(y), n + 2)
            self.check(y, expected)

        self.each(test, [(dtype, n) for dtype, n in WRITTEN if dtype[0] != "u"], 2)

    def test_convolutions(self):
        def test(device, dtype, n):
            side, x, _ = square(n, dtype)
            mask = np.arange(1, 10).reshape(3, 3).astype(dtype)

            def expected(first, last):
                y, above = np.zeros((last - first, side), dtype), np.zeros((last - first + 2, side + 2), dtype)
                low, high = max(0, first - 1), min(side, last + 1)
                above[low - first + 1:high - first + 1, 1:-1] = x[low:high]
                for r, s in np.ndindex(3, 3):
                    y += mask[r, s] * above[r:r + last - first, s:s + side]
                return y

            self.check(tw.convolve(x, mask, border="zero", device=device), expected)

        self.each(test, FLOATS, 1)

    def test_diffusions(self):
        def test(device, dtype, n):
            side, x, _ = square(n, dtype)
            y, rate = tw.diffuse(x, 1, device=device), np.dtype(dtype).type(0.00625)
            near, centre = np.array([4, -16], dtype)  # at distances of 0.5

            def expected(first, last):
                rows = np.clip(np.arange(first - 1, last + 1), 0, side - 1)
                old = x[rows]
                old[rows < side // 2, 0], old[rows >= side // 2, -1] = 1, 1
                wide = np.pad(old, ((0, 0), (1, 1)), mode="edge")
                value = near * old[:-2] + near * wide[1:-1, :-2] + centre * old[1:-1] + near * wide[1:-1, 2:] + near * old[2:]
                return old[1:-1] + rate * value

            self.check(y, expected)

        self.each(test, FLOATS, 2)


if __name__ == "__main__":
    unittest.main()
