# SPDX-License-Identifier: Apache-2.0
"""Sizes around 2^31 and 2^32 elements, and bytes beyond 4 GiB, of each algorithm and type, against what is known in closed form.

large_campaign.py BUILD_FOLDER [--few | DEVICE...]   with --few the same at a 4,096th of the size

Operands are memory that nobody touched, which reads as zeros and takes no room, with a few values around the places where 32-bit
numbers wrap: an input of any size costs nothing, and a result what it holds. A case that would leave others less than 8 GiB,
or that the device has no memory for, is not tried, and named. On the CPU, on a group of three, and on the first CUDA device if
there is one, unless devices are named.
"""

import json
import math
import mmap
import multiprocessing
import os
import subprocess
import sys
import time

import numpy as np

BUILD, FEW = os.path.abspath(sys.argv[1]), "--few" in sys.argv
sys.path.insert(0, f"{BUILD}/python")
import tilewise as tw  # noqa: E402, from the build

SHRUNK = 12 if FEW else 0
E29, E30, E31, E32 = (1 << power - SHRUNK for power in (29, 30, 31, 32))
LEFT_TO_OTHERS = 0 if FEW else 8 << 30
NO_ROOM = 5  # an exit code
BEYOND = 1 << 18 - SHRUNK  # two tiles of those that kernels count by
PART = 1 << 24  # elements that are checked at once
TYPES = ["f4", "f8", "i4", "i8", "u4", "u8"]


def sparse(shape, dtype, values=()):
    """Zeros without memory, but for 1, 2, 4, ... or `values` at the places where something wraps."""
    size = math.prod(np.atleast_1d(shape).tolist())
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE, without a name before Python 3.13
    x = np.frombuffer(mmap.mmap(-1, size * np.dtype(dtype).itemsize, flags=flags), dtype)
    for number, place in enumerate(places(x)):
        x[place] = values[number] if len(values) else 1 << number
    return x.reshape(shape)


def places(x):
    """Ascending: the ends, and both sides of 4 GiB, 2^31 and 2^32, and in a whole tile beyond."""
    wraps = {(E32 // x.itemsize), E31, E32}
    return sorted({0, len(x) - 1} | {at + side for at in wraps for side in (-1, 0, BEYOND // 2 + 3) if at + side < len(x)})


def holds(y, expected):
    """Whether y[first:last] is expected(first, last) everywhere, bit for bit."""
    parts = ((first, min(first + PART, len(y))) for first in range(0, len(y), PART))
    return all(y[first:last].tobytes() == expected(first, last).tobytes() for first, last in parts)


def rows_hold(y, expected):
    """The same of rows."""
    step = max(1, PART // y.shape[1])
    parts = ((first, min(first + step, len(y))) for first in range(0, len(y), step))
    return all(np.array_equal(y[first:last], expected(first, last)) for first, last in parts)


def reduction(n, dtype, device):
    x = sparse(n, dtype)
    count = len(places(x))
    yield tw.sum(x, device=device) == (1 << count) - 1
    yield tw.max(x, device=device) == 1 << count - 1
    x[-1] = 0
    yield tw.min(x, device=device) == 0
    part = tw.partial("sum", dtype)
    part.push(x, device=device)
    part.push(x[:3], device=device)
    yield part.end == n + 3 and part.value() == (1 << count - 1) - 1 + 1


def dot_product(n, dtype, device):
    x = sparse(n, dtype)
    yield tw.dot(x, x, device=device) == sum(4**i for i in range(len(places(x))))


def scan(n, dtype, device):
    x = sparse(n, dtype)
    at = places(x)

    def before(first, last):  # 1 + 2 + ... of the places up to each element
        y = np.zeros(last - first, dtype)
        for number, place in enumerate(at):
            y[max(0, place - first):] += 1 << number
        return y

    yield tw.cumsum(x, device=device, out=x) is not None and holds(x, before)


def next_prime(n):
    return next(p for p in range(n, 2 * n) if all(p % d for d in range(2, math.isqrt(p) + 1)))


def sort(n, dtype, device):
    """Of keys i * 12345677 modulo a prime, each number below it comes once."""
    p = next_prime(n)
    bits = f"u{np.dtype(dtype).itemsize}"
    x = np.empty(p, bits)
    for first in range(0, p, PART):
        last = min(first + PART, p)
        x[first:last] = np.arange(first, last, dtype="u8") * 12345677 % p
    x = x.view(dtype)  # positive floats have the order of their bits
    yield tw.sort(x, device=device, out=x) is not None and holds(x.view(bits), lambda first, last: np.arange(first, last, dtype=bits))


def order(n, dtype, device):
    """Equal keys keep their order, so those that are not 0 come last and the others are counted."""
    x = sparse(n, dtype)
    at, y = np.array(places(x)), tw.argsort(x, device=device)

    def expected(first, last):
        zeros = np.arange(first, min(last, n - len(at)))
        moved = zeros + np.searchsorted(at - np.arange(len(at)), zeros, side="right")
        return np.concatenate([moved, at[max(0, first - n + len(at)):max(0, last - n + len(at))]]).astype("u4")

    yield holds(y, expected)


def lines(n, dtype, device):
    side = math.isqrt(n) + 1
    x = sparse((side, side), dtype)
    flat, rows, columns = x.reshape(-1), np.zeros(side, dtype), np.zeros(side, dtype)
    for place in places(flat):
        rows[place // side] += flat[place]
        columns[place % side] += flat[place]
    yield np.array_equal(tw.sum(x, axis=1, device=device), rows)
    yield np.array_equal(tw.sum(x, axis=0, device=device), columns)


def matvec(n, dtype, device):
    side = math.isqrt(n) + 1
    x, v = sparse((side, side), dtype), np.arange(side).astype(dtype) % 8
    yield np.array_equal(tw.matvec(x, v, device=device), product(x, v[:, None])[:, 0])


def product(x, b):
    """By the few elements that are not zero."""
    c, side = np.zeros((x.shape[0], b.shape[1]), x.dtype), x.shape[1]
    for place in places(x.reshape(-1)):
        c[place // side] += x[place // side, place % side] * b[place % side]
    return c


def matmul(n, dtype, device):
    side = math.isqrt(n) + 1
    x, b = sparse((side, side), dtype), (np.arange(side * 3).reshape(side, 3) % 8).astype(dtype)
    yield np.array_equal(tw.matmul(x, b, device=device), product(x, b))


def outer(n, dtype, device):
    side = math.isqrt(n) + 1
    a, b = (np.arange(side) % 1021).astype(dtype), (np.arange(side) % 509).astype(dtype)
    y = tw.matmul(a[:, None], b[None, :], device=device)
    yield rows_hold(y, lambda first, last: a[first:last, None] * b)


def polymul(n, dtype, device):
    x, b = sparse(n, dtype), np.array([1, 2, 4], dtype)
    y = tw.polymul(x, b, device=device)

    def expected(first, last):
        c = np.zeros(last - first + 4, y.dtype)  # from first - 2 on
        for place in places(x):
            if first - 2 <= place < last:
                c[place - first + 2:place - first + 5] += x[place].astype(y.dtype) * b.astype(y.dtype)
        return c[2:last - first + 2]

    yield len(y) == n + 2 and holds(y, expected)


def convolve(n, dtype, device):
    side = math.isqrt(n) + 1
    x, mask = sparse((side, side), dtype), np.arange(1, 10).reshape(3, 3).astype(dtype)

    def expected(first, last):
        y, above = np.zeros((last - first, side), dtype), np.zeros((last - first + 2, side + 2), dtype)
        low, high = max(0, first - 1), min(side, last + 1)
        above[low - first + 1:high - first + 1, 1:-1] = x[low:high]
        for r, s in np.ndindex(3, 3):
            y += mask[r, s] * above[r:r + last - first, s:s + side]
        return y

    yield rows_hold(tw.convolve(x, mask, border="zero", device=device), expected)


def diffuse(n, dtype, device):
    side = math.isqrt(n) + 1
    x, rate = sparse((side, side), dtype), np.dtype(dtype).type(0.00625)
    y = tw.diffuse(x, 1, device=device)
    near, centre = np.array([4, -16], dtype)  # at distances of 0.5

    def expected(first, last):
        rows = np.clip(np.arange(first - 1, last + 1), 0, side - 1)
        old = x[rows]
        old[rows < side // 2, 0], old[rows >= side // 2, -1] = 1, 1
        wide = np.pad(old, ((0, 0), (1, 1)), mode="edge")
        value = near * old[:-2] + near * wide[1:-1, :-2] + centre * old[1:-1] + near * wide[1:-1, 2:] + near * old[2:]
        return old[1:-1] + rate * value

    yield rows_hold(y, expected)


def cases():
    """Of each its name, the bytes that it takes, and what runs it on a device; those that take the least come first."""
    return sorted(all_cases(), key=lambda case: case[1])


def all_cases():
    def case(run, n, dtype, arrays):
        """`arrays`: how many dense ones of this size the call, and its check, have at most."""
        return f"{run.__name__} {dtype} {n}", int(arrays * n * np.dtype(dtype).itemsize) + (1 << 30), lambda device: run(n, dtype, device)

    for dtype in TYPES:
        for n in E31 + BEYOND + 1, E32 + BEYOND + 5:
            yield case(reduction, n, dtype, 0)
            yield case(dot_product, n, dtype, 0)
            yield case(lines, n, dtype, 0)
            yield case(matvec, n, dtype, 0)
            yield case(matmul, n, dtype, 0)
        for n in E32 // np.dtype(dtype).itemsize + BEYOND + 1, E31 + BEYOND + 1, E32 + BEYOND + 5:
            yield case(scan, n, dtype, 1)
            yield case(outer, n, dtype, 1)
            if dtype[0] == "f":
                yield case(convolve, n, dtype, 1)
                yield case(diffuse, n, dtype, 2)
            if dtype[0] != "u":
                yield case(polymul, n, dtype, 2 if dtype == "i4" else 1)
            if dtype != "f4" or n < E31:
                yield case(sort, n, dtype, 2)
            if n < E32:
                yield case(order, n, dtype, 1 + 8 / np.dtype(dtype).itemsize)


def available():
    with open("/proc/meminfo") as facts:
        return next(int(line.split()[1]) * 1024 for line in facts if line.startswith("MemAvailable"))


def run_alone(run, device):
    """In a process of its own, which the kernel ends before others if memory is short: its exit code, 0 if all was right. An error
    is printed."""
    child = multiprocessing.get_context("fork").Process(target=run_case, args=(run, device))
    child.start()
    child.join()
    return child.exitcode


def run_case(run, device):
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    try:
        sys.exit(not all(run(device)))
    except MemoryError as e:
        print(e, flush=True)
        sys.exit(NO_ROOM)


def first_gpu():
    """Asked of the tool: where this process had opened it, its children could not."""
    told = subprocess.run([f"{BUILD}/tilewise", "devices", "--json"], check=True, capture_output=True, text=True).stdout
    return [device["name"] for device in json.loads(told)["devices"] if device["name"].startswith("cuda")][:1]


def main():
    number = found = 0
    named = [word for word in sys.argv[2:] if word != "--few"]
    for device in named or ["cpu", "3*cpu:serial", *first_gpu()]:
        for name, needed, run in cases():
            if needed + LEFT_TO_OTHERS > available():
                print(f"not tried: {name} on {device}, which takes {needed / 2**30:.0f} GiB", flush=True)
                continue
            start = time.monotonic()
            code = run_alone(run, device)
            if code == NO_ROOM:
                print(f"not tried: {name} on {device}, which has no room for it", flush=True)
                continue
            is_right = code == 0
            number, found = number + 1, found + (not is_right)
            print(f"{name} on {device}: {'right' if is_right else 'WRONG'}, {time.monotonic() - start:.1f} s", flush=True)
    print(f"{number} cases, {found} found")
    return found != 0


if __name__ == "__main__":
    sys.exit(main())
