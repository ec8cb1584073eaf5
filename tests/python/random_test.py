# SPDX-License-Identifier: Apache-2.0
"""Calls with random arguments, most of them wrong: each returns, or raises what the module documents; and good ones, which have
the definition's bits. TILEWISE_RANDOM_CALLS says how many there are, TILEWISE_RANDOM_SEED which."""

import gc
import os
import sys
import unittest

import numpy as np

import tilewise as tw
from definition import TYPES, convolve, exclusive, inclusive, order_key, reduce, wide
from lenders import Hostile, Lender

FUNCTIONS = ["sum", "prod", "min", "max", "segment_reduce", "segment_scan", "runs", "reduce_by_key", "cumsum", "inclusive_scan", "exclusive_scan", "sort", "argsort", "sort_by_key",
             "segment_sort", "segment_argsort", "segment_sort_by_key", "matmul",
             "matvec", "dot", "polymul", "convolve", "diffuse", "array", "partial", "open"]
SEED, CALLS = (int(os.environ.get(f"TILEWISE_RANDOM_{name}", default)) for name, default in (("SEED", "20"), ("CALLS", "500")))
DOCUMENTED = (tw.Error, TypeError, BufferError, AttributeError)
BROKEN, HUGE = ["\ud800", "a\0b"], [10**400, -10**400]  # words and numbers that no call can use


class Random(unittest.TestCase):
    seed = SEED

    def setUp(self):
        self.rng = np.random.default_rng(self.seed)
        self.devices = [tw.open(name) for name in ("cpu", "cpu:serial", "2*cpu:serial")]

    def pick(self, things):
        return things[self.rng.integers(len(things))]


class RandomCalls(Random):
    def setUp(self):
        super().setUp()
        self.partials = [tw.partial(op, dtype) for op in ("sum", "min") for dtype in TYPES]
        self.kept, self.lent = [], []  # what others lend must live as long as they lend it

    def any_array(self):
        rng = self.rng
        dtype = self.pick(TYPES if rng.random() < 0.3 else TYPES[:2])
        shape = [self.pick([0, 1, 2, 3, 3, 3, 4, 7, 65]) for _ in range(self.pick([0, 1, 1, 1, 1, 2, 2, 2, 3]))]
        x = wide(rng, int(np.prod(shape)), dtype).reshape(shape)
        change = rng.integers(16)
        if change == 0:
            x = x.astype(self.pick([np.float16, bool, object, complex, ">f4", ">i8", "U2"]))
        elif change == 1 and x.ndim:
            x = x[::self.pick([2, -1])]
        elif change == 2:
            x = x.T
        elif change == 3:
            x.flags.writeable = False
        elif change == 4:
            x = np.frombuffer(b"x" + x.tobytes(), np.uint8)[1:].view(x.dtype) if x.size else x
        elif change == 5 and x.ndim:
            x = tw.array(x, device=self.pick(self.devices))
        elif change == 6:
            x = Lender(x)
        elif change == 7 and x.ndim == 2:
            x = x[:, :-1]
        elif change == 8:
            x = Hostile(shape=(2,), code=self.pick([0, 1, 2, 3]), bits=self.pick([8, 32, 64]), offset=self.pick([0, 4, 2]),
                        device=self.pick([(1, 0), (2, 0), (99, 7)]), name=self.pick([b"dltensor", b"used_dltensor"]))
            self.lent.append(x)
        return x

    def anything(self):
        if self.rng.random() < 0.3 and self.kept:
            return self.pick(self.kept)
        if self.rng.random() < 0.85:
            if self.rng.random() < 0.01:
                self.kept.clear()  # results of theirs may live on
                gc.collect()
            self.kept.append(self.any_array())
            del self.kept[:-20]
            return self.kept[-1]
        return self.pick([None, 3, -1, 2.5, "sum", "max", "valid", "zero", [1.0], (1,), b"b", 2**70, float("nan"),
                          self.devices[0], *BROKEN, *HUGE])

    def options(self):
        rng, all_options = self.rng, {}
        for name, values in (("out", None), ("initial", [0, 2, -1, 1.5, "x", 2**40] + HUGE),
                             ("op", ["sum", "max", "nope"] + BROKEN),
                             ("descending", [True, False, None]), ("device", self.devices + ["cpu:threads", "nope", 3] + BROKEN),
                             ("variant", ["serial", "nope", ""] + BROKEN), ("tuning", ["nope=1", ""] + BROKEN),
                             ("carry", self.partials),
                             ("axis", [0, -1, 1, 5, "x"] + HUGE),
                             ("modulus", [0, 1, 97, 2**63 - 1, -1] + HUGE), ("border", ["valid", "zero", "nope"] + BROKEN),
                             ("steps", [0, 1, 5, -1] + HUGE), ("mask", [53, 95, 7] + HUGE),
                             ("rate", [0.001, 10.0, float("nan")] + HUGE)):
            if rng.random() < 0.06:
                all_options[name] = self.anything() if values is None else self.pick(values)
        return all_options

    def use(self, result):
        for one in result if isinstance(result, tuple) else [result]:
            if isinstance(one, (np.ndarray, tw.array)):
                np.asarray(one).tobytes()
                self.kept.append(one)
            repr(one)

    def test_all(self):
        returned = 0
        for number in range(CALLS):
            name = self.pick(FUNCTIONS)
            arguments, options = [self.anything() for _ in range(self.pick([1, 1, 2, 2, 3]))], self.options()
            if self.rng.random() < 0.5 and len(arguments) > 1:
                arguments[1] = arguments[0]
            try:
                if self.rng.random() < 0.1:
                    self.use(self.pick(self.partials).push(arguments[0], **options))
                else:
                    self.use(getattr(tw, name)(*arguments, **options))
                returned += 1
            except DOCUMENTED:
                pass
            except BaseException as e:
                raise AssertionError(f"seed {SEED}, call {number}: {name}({arguments}, {options})") from e
        self.assertGreater(returned, number // 20, "hardly any call was good")


class RandomValues(Random):
    """Good calls, on views at any address that NumPy calls aligned, against the definition."""

    seed = SEED + 1

    def values(self, n, dtype, special=0.2):
        x = wide(self.rng, n + 3, dtype)
        if np.issubdtype(dtype, np.floating) and self.rng.random() < special:
            x[self.rng.random(len(x)) < 0.2] = self.pick([np.nan, np.inf, -np.inf, -0.0, 0.0])
        first = self.rng.integers(3)
        return x[first:first + n]

    def folds(self, x):
        op = self.pick(["sum", "product", "min", "max"])
        name = {"sum": "sum", "product": "prod"}.get(op, op)
        device = self.pick(self.devices)
        yield getattr(tw, name)(x, device=device), reduce(x, op), f"{name} on {device}"
        yield tw.inclusive_scan(x, op=op, device=device), inclusive(x, op), f"inclusive {op} on {device}"
        initial = self.values(1, x.dtype)[0]
        for part in x, x[:0]:
            yield (getattr(tw, name)(part, initial=initial.item(), device=device), reduce(part, op, initial),
                   f"{name} of {len(part)} from {initial} on {device}")

        cuts = np.sort(self.rng.integers(0, len(x) + 1, self.rng.integers(20)))
        offsets = np.concatenate([[0], cuts, [len(x)]])
        segments = [reduce(x[begin:end], op, initial) for begin, end in zip(offsets, offsets[1:])]
        yield (tw.segment_reduce(x, offsets, op=op, initial=initial.item(), device=device), np.array(segments, x.dtype),
               f"segments at {offsets} by {op} on {device}")
        is_exclusive = bool(self.rng.random() < 0.5)
        scan = exclusive if is_exclusive else inclusive
        scanned = [scan(x[begin:end], op, initial) for begin, end in zip(offsets, offsets[1:])]
        yield (tw.segment_scan(x, offsets, op=op, exclusive=is_exclusive, initial=initial.item(), device=device),
               np.concatenate(scanned).astype(x.dtype), f"scanned segments at {offsets} by {op} on {device}")
        keys = np.repeat(np.arange(len(offsets) - 1, dtype=self.pick(TYPES)), np.diff(offsets))
        filled = [value for value, begin, end in zip(segments, offsets, offsets[1:]) if begin != end]
        yield (tw.reduce_by_key(keys, x, op=op, initial=initial.item(), device=device)[1], np.array(filled, x.dtype),
               f"by keys at {offsets} by {op} on {device}")

    def sorts(self, x):
        descending, device = bool(self.rng.random() < 0.5), self.pick(self.devices)
        order = np.array(sorted(range(len(x)), key=order_key(x, descending).__getitem__), np.uint32)
        y = self.values(len(x), self.pick(TYPES))
        keys, values = tw.sort_by_key(x, y, descending=descending, device=device)
        yield tw.sort(x, descending=descending, device=device), x[order], f"sort on {device}"
        yield tw.argsort(x, descending=descending, device=device), order, f"argsort on {device}"
        yield keys, x[order], f"keys on {device}"
        yield values, y[order], f"values on {device}"
        cuts = np.sort(self.rng.integers(0, len(x) + 1, self.rng.integers(20)))
        offsets = np.concatenate([[0], cuts, [len(x)]])
        pieces = [np.arange(begin, end) for begin, end in zip(offsets, offsets[1:])]
        order = np.concatenate([np.array(sorted(piece, key=order_key(x, descending).__getitem__), np.int64) for piece in pieces])
        begins = np.repeat(offsets[:-1], np.diff(offsets))
        options, what = {"descending": descending, "device": device}, f"of segments at {offsets} on {device}"
        keys, values = tw.segment_sort_by_key(x, y, offsets, **options)
        yield tw.segment_sort(x, offsets, **options), x[order], "sort " + what
        yield tw.segment_argsort(x, offsets, **options), (order - begins).astype(np.uint32), "argsort " + what
        yield keys, x[order], "keys " + what
        yield values, y[order], "values " + what

    def wider(self, rows, columns, dtype):
        """A matrix whose first columns are rows that lie together, or apart."""
        width = columns + self.pick([0, 0, 1, 5])
        return self.values(rows * width, dtype).reshape(rows, width)

    def lines(self, x):
        """Along an axis, into arrays of their own and given ones; what lies between rows stays."""
        rows, columns = self.rng.integers(1, 20, 2)
        a, to = self.wider(rows, columns, x.dtype)[:, :columns], self.wider(rows, columns, x.dtype)
        op, axis, device = self.pick(["sum", "product", "min", "max"]), self.pick([0, 1, -1]), self.pick(self.devices)
        descending = bool(self.rng.random() < 0.5)
        for call, of_a_line, what in (
                (lambda **out: tw.inclusive_scan(a, op=op, axis=axis, device=device, **out), lambda line: inclusive(line, op), f"inclusive {op}"),
                (lambda **out: tw.sort(a, axis=axis, descending=descending, device=device, **out),
                 lambda line: line[sorted(range(len(line)), key=order_key(line, descending).__getitem__)], "sort")):
            expected, around = np.apply_along_axis(of_a_line, axis, a.copy()), to.copy()
            around[:, :columns] = expected
            call(out=to[:, :columns])
            for got, wanted in (call(), expected), (to, around):
                yield got, wanted, f"{what} along {axis} of rows {a.strides} apart, into {to.strides}, on {device}"

    def products(self, x):
        m, k, n = self.rng.integers(1, 9, 3)
        dtype = self.pick(TYPES[2:])  # whole numbers, which wrap alike in any order
        a, b = self.values(m * k, dtype).reshape(m, k), self.values(k * n, dtype).reshape(k, n)
        yield tw.matmul(a, b), a @ b, "matmul"
        yield tw.matvec(a, b[:, 0].copy()), a @ b[:, 0], "matvec"
        small = [self.rng.integers(-99, 99, self.rng.integers(1, 40)).astype(np.int64) for _ in "ab"]
        yield tw.polymul(*small), np.convolve(*small), "polymul"
        yield tw.polymul(*small, modulus=97), np.convolve(*small) % 97, "polymul modulo"
        image, mask = self.values(63, np.float64, 0).reshape(7, 9), self.values(9, np.float64, 0).reshape(3, 3)
        border = self.pick(["valid", "zero"])
        yield tw.convolve(image, mask, border=border), convolve(image, mask, border), f"convolve {border}"

    def test_all(self):
        done = 0
        while done < CALLS // 5:
            x = self.values(self.rng.integers(1, 80), self.pick(TYPES))
            before = x.tobytes()
            for got, expected, what in self.pick([self.folds, self.sorts, self.lines, self.products])(x):
                done += 1
                got, expected = np.asarray(got), np.asarray(expected)
                self.assertEqual(got.tobytes(), expected.astype(got.dtype).tobytes(),
                                 f"seed {SEED}, good call {done}: {what} of {x!r}")
            self.assertEqual(x.tobytes(), before, "the input has changed")


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    print(f"{CALLS + CALLS // 5} cases, {len(result.failures) + len(result.errors)} found")
    sys.exit(not result.wasSuccessful())
