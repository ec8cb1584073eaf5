# SPDX-License-Identifier: Apache-2.0
"""docs/order.md as a few lines of Python, one rounding at a time: what the module's results are compared with."""

from fractions import Fraction

import numpy as np

TYPES = [np.float32, np.float64, np.int32, np.int64, np.uint32, np.uint64]
FLOATS = TYPES[:2]
SIZES = [1, 2, 3, 5, 7, 8, 9, 13, 31, 32, 33, 127, 257, 1021]


def _least(a, b):
    return np.where((a == b) & np.signbit(a), a, np.where((a == b) & np.signbit(b), b, np.minimum(a, b)))  # a NaN wins


def _greatest(a, b):
    return -_least(-a, -b) if np.issubdtype(a.dtype, np.floating) else np.maximum(a, b)


OPERATIONS = {"sum": np.add, "product": np.multiply, "max": _greatest,
              "min": lambda a, b: _least(a, b) if np.issubdtype(a.dtype, np.floating) else np.minimum(a, b)}


def canonical(x):
    """A NaN result is the quiet NaN with sign 0 and payload 0."""
    x = np.array(x)
    if np.issubdtype(x.dtype, np.floating):
        x[np.isnan(x)] = np.array(np.frombuffer(bytes(x.itemsize - 2) + b"\xc0\x7f" if x.itemsize == 4 else
                                                bytes(x.itemsize - 2) + b"\xf8\x7f", x.dtype))[0]
    return x


def block(values, apply):
    """A balanced tree over a power of two of elements."""
    while len(values) > 1:
        values = apply(values[0::2], values[1::2])
    return values


def reduce(x, operation="sum", initial=None):
    """P(n): aligned blocks by the binary digits of n, longest first, folded from the left."""
    apply = OPERATIONS[operation]
    with np.errstate(all="ignore"):
        total, at = None, 0
        for bit in reversed(range(len(x).bit_length())):
            if len(x) >> bit & 1:
                value = block(x[at:at + (1 << bit)], apply)
                total = value if total is None else apply(total, value)
                at += 1 << bit
        if initial is not None:
            first = np.array([initial], x.dtype)
            total = first if total is None else apply(first, total)
        return canonical(total)[0]


def inclusive(x, operation="sum", initial=None):
    return np.array([reduce(x[:i + 1], operation, initial) for i in range(len(x))], x.dtype)


def exclusive(x, operation, initial):
    return np.array([reduce(x[:i], operation, initial) for i in range(len(x))], x.dtype)


def dot(x, y):
    with np.errstate(all="ignore"):
        return reduce(x * y) if len(x) else x.dtype.type(0)


def fma(a, b, c):
    """Rounded once: exact fractions round to the nearest float64. Zero results of ours are +0 unless all was -0."""
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    return float(exact)


def matmul(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i, j in np.ndindex(*c.shape):
        for k in range(a.shape[1]):
            c[i, j] = fma(a[i, k], b[k, j], c[i, j])
    return c


def polymul(a, b):
    c = np.zeros(len(a) + len(b) - 1)
    for k in range(len(c)):
        for i in range(max(0, k - len(b) + 1), min(k + 1, len(a))):
            c[k] = fma(a[i], b[k - i], c[k])
    return c


def convolve(image, mask, border):
    h, w = mask.shape[0] // 2, mask.shape[1] // 2
    if border == "zero":
        image = np.pad(image, ((h, h), (w, w)))
    rows, columns = image.shape[0] - 2 * h, image.shape[1] - 2 * w
    y = np.zeros((rows, columns), image.dtype)
    for r, s in np.ndindex(*mask.shape):
        y = y + mask[r, s] * image[r:r + rows, s:s + columns]
    return y


def diffuse(field, steps, dx, dy, rate, mask=53):
    """Beyond an edge its value holds, and each product and sum is rounded, in the order of the mask's rows."""
    both, a = dx * dx + dy * dy, field.copy()
    x, y, area = 1 / (dx * dx), 1 / (dy * dy), dx * dx * dy * dy
    if mask == 53:
        taps = [(-1, 0, y), (0, -1, x), (0, 0, -2 * both / area), (0, 1, x), (1, 0, y)]
    elif mask == 93:
        side_x, side_y, corner, centre = 4 / (6 * dx * dx), 4 / (6 * dy * dy), 1 / (6 * dx * dy), -10 * both / (6 * dx * dx * dy * dy)
        taps = [(-1, -1, corner), (-1, 0, side_y), (-1, 1, corner), (0, -1, side_x), (0, 0, centre), (0, 1, side_x),
                (1, -1, corner), (1, 0, side_y), (1, 1, corner)]
    else:
        side_x, side_y, centre = 4 / (3 * dx * dx), 4 / (3 * dy * dy), -5 * both / (2 * dx * dx * dy * dy)
        far_x, far_y = -1 / (12 * dx * dx), -1 / (12 * dy * dy)
        taps = [(-2, 0, far_y), (-1, 0, side_y), (0, -2, far_x), (0, -1, side_x), (0, 0, centre), (0, 1, side_x), (0, 2, far_x),
                (1, 0, side_y), (2, 0, far_y)]
    rows, columns = a.shape
    for _ in range(steps):
        a[:rows // 2, 0] = a[rows // 2:, -1] = 1
        around, lap = np.pad(a, 2, "edge"), np.zeros_like(a)
        for r, c, weight in taps:
            lap = lap + a.dtype.type(weight) * around[2 + r:2 + r + rows, 2 + c:2 + c + columns]
        a = a + a.dtype.type(rate) * lap
    return a


def order_key(x, descending=False):
    """Sorted by this key, elements are in the total order on the bits of their type."""
    bits = x.view(f"u{x.itemsize}")
    top = bits.dtype.type(1 << (8 * x.itemsize - 1))
    if np.issubdtype(x.dtype, np.floating):
        key = np.where(bits & top, ~bits, bits | top)
        nan = np.isnan(x)  # after +infinity: those with a positive sign by payload, then the others
        key = np.where(nan & (bits & top != 0), bits, key)
        key = key.astype(object) + (nan & (bits & top != 0)).astype(object) * (1 << (8 * x.itemsize))
    else:
        key = x.astype(object)
    return -key if descending else key


def wide(rng, n, dtype):
    """Values whose sum depends on the order of additions."""
    if np.issubdtype(dtype, np.floating):
        return (rng.standard_normal(n) * np.exp2(rng.integers(-12, 12, n))).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
