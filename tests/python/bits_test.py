# SPDX-License-Identifier: Apache-2.0
"""Every function of the module against the definition, bit by bit, with all types, on all CPU executors and OpenCL."""

import pickle
import unittest

import numpy as np

import definition
import tilewise as tw
from definition import FLOATS, SIZES, TYPES, wide

DEVICES = [None] + [d.name for d in tw.devices() if d.backend == "cpu"]
OPENCL = [d.name for d in tw.devices() if d.backend == "opencl"][:1]  # for sums of float32; compiling takes long


class BitsCase(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(20)

    def same(self, got, wanted, what):
        got, wanted = np.asarray(got), np.asarray(wanted)
        self.assertEqual((got.dtype, got.shape), (wanted.dtype, wanted.shape), what)
        self.assertEqual(got.tobytes(), wanted.tobytes(), f"{what}: {got} instead of {wanted}")


class Reductions(BitsCase):
    def test_sizes_and_types(self):
        for dtype in TYPES:
            for n in SIZES:
                x = wide(self.rng, n, dtype)
                for name, operation in (("sum", "sum"), ("prod", "product"), ("min", "min"), ("max", "max")):
                    wanted = definition.reduce(x, operation)
                    for device in DEVICES:
                        self.same(getattr(tw, name)(x, device=device), wanted, f"{name} {dtype} {n} {device}")
                    self.same(getattr(tw, name)(x, initial=3), definition.reduce(x, operation, 3), f"{name} initial")

    def test_many_elements(self):
        x = wide(self.rng, 100_003, np.float32)
        for device in DEVICES + OPENCL:
            self.same(tw.sum(x, device=device), definition.reduce(x), device)

    def test_none(self):
        none = np.empty(0, np.float32)
        self.same(tw.sum(none), np.float32(0), "sum")
        self.same(tw.prod(none), np.float32(1), "prod")
        self.same(tw.min(none, initial=2), np.float32(2), "min")
        with self.assertRaisesRegex(tw.InvalidArgument, "initial"):
            tw.max(none)

    def test_special_values(self):
        self.same(tw.min(np.array([0.0, -0.0])), np.float64(-0.0), "zeros")
        strange = np.array([1, 0xffc01234], np.uint32).view(np.float32)
        self.same(tw.max(strange).view(np.uint32), np.uint32(0x7fc00000), "NaN")

    def test_several_dimensions_are_flat(self):
        x = wide(self.rng, 24, np.float64).reshape(2, 3, 4)
        self.same(tw.sum(x), definition.reduce(x.ravel()), "sum")
        self.same(tw.cumsum(x), definition.inclusive(x.ravel()), "cumsum")

    def test_dot(self):
        for dtype in TYPES:
            for n in [0] + SIZES:
                x, y = wide(self.rng, n, dtype), wide(self.rng, n, dtype)
                self.same(tw.dot(x, y), definition.dot(x, y), f"{dtype} {n}")


class Scans(BitsCase):
    def test_sizes_and_types(self):
        for dtype in TYPES:
            for n in SIZES[:-3]:
                x = wide(self.rng, n, dtype)
                for operation in ("sum", "product", "min", "max"):
                    inclusive = definition.inclusive(x, operation)
                    exclusive = definition.exclusive(x, operation, 3)
                    for device in DEVICES[:3]:
                        what = f"{operation} {dtype} {n} {device}"
                        self.same(tw.inclusive_scan(x, op=operation, device=device), inclusive, what)
                        self.same(tw.exclusive_scan(x, op=operation, initial=3, device=device), exclusive, what)
                self.same(tw.cumsum(x), definition.inclusive(x), "cumsum")
                self.same(tw.cumsum(x, initial=3), definition.inclusive(x, "sum", 3), "cumsum with initial")

    def test_many_elements(self):
        x = wide(self.rng, 70_001, np.float32)
        for device in DEVICES + OPENCL:
            y = tw.cumsum(x, device=device)
            for i in (0, 1, 4095, 4096, 65535, 65536, 70_000):
                self.same(y[i], definition.reduce(x[:i + 1]), f"{device} {i}")

    def test_out_and_in_place(self):
        x = wide(self.rng, 1000, np.float32)
        wanted, out = tw.cumsum(x), np.empty_like(x)
        self.assertIs(tw.cumsum(x, out=out), out)
        self.same(out, wanted, "out")
        self.assertIs(tw.cumsum(x, out=x), x)
        self.same(x, wanted, "in place")

    def test_read_only_input(self):
        x = wide(self.rng, 100, np.float32)
        wanted = tw.cumsum(x)
        x.flags.writeable = False
        self.same(tw.cumsum(x), wanted, "read-only")

    def test_parts(self):
        x = wide(self.rng, 5000, np.float32)
        for device in [None] + OPENCL:
            for scan in (tw.cumsum, tw.inclusive_scan, tw.exclusive_scan):
                for options in ({}, {"initial": 3}):
                    carry = tw.partial("sum", np.float32)
                    parts = [scan(part, carry=carry, device=device, **options) for part in np.split(x, [1, 700, 4096])]
                    self.same(np.concatenate(parts), scan(x, **options), f"{scan} {options} {device}")
                    self.same(carry.value(), tw.sum(x), f"{scan} {options} {device}")


class Partials(BitsCase):
    def test_merged_in_any_grouping(self):
        for dtype in TYPES:
            for operation in ("sum", "product", "min", "max"):
                x = wide(self.rng, 1000, dtype)
                cuts = [0, 3, 64, 700, 1000]
                parts = []
                for begin, end in zip(cuts, cuts[1:]):
                    parts.append(tw.partial(operation, dtype, begin))
                    parts[-1].push(x[begin:end])
                parts = [pickle.loads(pickle.dumps(part)) for part in parts]
                parts[2].merge(parts[3])
                parts[0].merge(parts[1])
                parts[0].merge(parts[2])
                self.assertEqual((parts[0].begin, parts[0].end, parts[0].op), (0, 1000, operation))
                self.same(parts[0].value(), definition.reduce(x, operation), f"{operation} {dtype}")


class Segments(BitsCase):
    def test_each_segment_is_reduced_alone(self):
        for dtype in TYPES:
            x = wide(self.rng, 3000, dtype)
            offsets = [0, 0, 1, 4, 20, 53, 53, 700, 3000]
            for operation in ("sum", "product", "min", "max"):
                wanted = np.array([definition.reduce(x[begin:end], operation, dtype(1)) for begin, end in zip(offsets, offsets[1:])])
                for device in DEVICES[:3] + (OPENCL if dtype == np.float32 else []):
                    for given in (offsets, np.array(offsets), np.array(offsets, np.int32), np.array(offsets, np.uint64)):
                        self.same(tw.segment_reduce(x, given, op=operation, initial=1, device=device), wanted, f"{dtype} {operation} {device}")

    def test_each_segment_is_scanned_alone(self):
        offsets = [0, 0, 1, 4, 20, 53, 53, 700, 3000]
        for dtype in TYPES:
            x = wide(self.rng, 3000, dtype)
            for operation in ("sum", "product", "min", "max"):
                for exclusive, scan in ((False, tw.inclusive_scan), (True, tw.exclusive_scan)):
                    wanted = np.concatenate([scan(x[begin:end], op=operation, initial=1) for begin, end in zip(offsets, offsets[1:])])
                    for device in DEVICES[:3] + (OPENCL if dtype == np.float32 else []):
                        y = tw.segment_scan(x, offsets, op=operation, exclusive=exclusive, initial=1, device=device)
                        self.same(y, wanted, f"{dtype} {operation} {exclusive} {device}")
                        out = x.copy()
                        self.assertIs(tw.segment_scan(out, offsets, op=operation, exclusive=exclusive, initial=1, out=out), out)
                        self.same(out, wanted, f"{dtype} {operation} {exclusive} in place")

    def test_each_segment_is_sorted_alone(self):
        offsets = [0, 0, 1, 4, 20, 53, 53, 700, 3000]
        pieces = list(zip(offsets, offsets[1:]))
        for dtype in TYPES:
            x = wide(self.rng, 3000, dtype)
            x[::3] = x[:1000]  # so that some are equal
            values = np.arange(3000, dtype=np.float64)
            for descending in (False, True):
                wanted = np.concatenate([tw.sort(x[begin:end], descending=descending) for begin, end in pieces])
                order = np.concatenate([tw.argsort(x[begin:end], descending=descending) for begin, end in pieces])
                moved = np.concatenate([values[begin:end][order[begin:end]] for begin, end in pieces])
                for device in DEVICES[:3] + (OPENCL if dtype == np.float32 else []):
                    what = f"{dtype} {descending} {device}"
                    options = {"descending": descending, "device": device}
                    self.same(tw.segment_sort(x, offsets, **options), wanted, what)
                    self.same(tw.segment_argsort(x, offsets, **options), order, what)
                    keys, carried = tw.segment_sort_by_key(x, values, offsets, **options)
                    self.same(keys, wanted, what)
                    self.same(carried, moved, what)
                out = x.copy()
                self.assertIs(tw.segment_sort(out, offsets, descending=descending, out=out), out)
                self.same(out, wanted, f"{dtype} {descending} in place")

    def test_a_sparse_matrix_times_a_vector(self):
        """A row of a CSR matrix is a segment of its products."""
        dense = wide(self.rng, 40 * 30, np.float64).reshape(40, 30) * (self.rng.random((40, 30)) < 0.2)
        rows, columns = dense.nonzero()
        data, indptr, v = dense[rows, columns], np.searchsorted(rows, np.arange(41)), wide(self.rng, 30, np.float64)
        wanted = np.array([tw.sum(data[b:e] * v[columns[b:e]]) for b, e in zip(indptr, indptr[1:])])
        for device in DEVICES:
            self.same(tw.segment_reduce(data * v[columns], indptr, device=device), wanted, f"{device}")

    def test_on_a_device(self):
        x, offsets = wide(self.rng, 1000, np.float32), np.array([0, 10, 1000])
        for device in ("cpu:serial", "2*cpu:serial", *OPENCL):
            for kind in (np.int64, np.uint64):
                a, o = tw.array(x, device=device), tw.array(offsets.astype(kind), device=device)
                there = tw.segment_reduce(a, o)
                self.assertIsInstance(there, tw.array)
                self.same(there.numpy(), tw.segment_reduce(x, offsets), f"of arrays on {device}")
                others = [tw.array(np.full(3, 9, kind), device=device) for _ in range(3)]
                self.same(o.numpy(), offsets.astype(kind), f"offsets of {kind} on {device} are kept")
                del others
        out = np.empty(2, np.float32)
        self.assertIs(tw.segment_reduce(x, offsets, out=out), out)
        self.same(out, there.numpy(), "into an array")


class Keys(BitsCase):
    def test_the_elements_of_each_run_are_reduced_alone(self):
        begins = np.array([0, 1, 2, 18, 35, 700, 3000])
        for dtype in TYPES:
            keys = np.repeat(np.array([3, 5, 0, 3, 9, 1]).astype(dtype), np.diff(begins))
            x = wide(self.rng, 3000, np.float32)
            wanted = np.array([definition.reduce(x[begin:end], "sum") for begin, end in zip(begins, begins[1:])])
            for device in DEVICES:
                of, values, offsets = tw.reduce_by_key(keys, x, device=device)
                self.same(of, keys[begins[:-1]], f"keys of {dtype} on {device}")
                self.same(values, wanted, f"values by {dtype} on {device}")
                self.same(offsets, begins, f"offsets by {dtype} on {device}")

    def test_keys_are_equal_if_their_bits_are(self):
        keys = np.array([np.nan, np.nan, -0.0, 0.0, 0.0, np.inf])
        of, offsets = tw.runs(keys)
        self.same(of, keys[[0, 2, 3, 5]], "keys")
        self.same(offsets, np.array([0, 2, 3, 5, 6]), "offsets")
        self.same(tw.runs(keys[:0])[1], np.array([0]), "of nothing")

    def test_on_a_device(self):
        keys, x = np.array([7, 7, 3, 3, 3], np.int32), np.arange(5.0)
        for device in ("cpu:serial", "2*cpu:serial", *OPENCL):
            found = tw.reduce_by_key(tw.array(keys, device=device), tw.array(x, device=device), op="max")
            for there, wanted in zip(found, (np.array([7, 3], np.int32), np.array([1.0, 4.0]), np.array([0, 2, 5]))):
                self.assertIsInstance(there, tw.array)
                self.same(there.numpy(), wanted, f"on {device}")


class Sorts(BitsCase):
    def keys(self, n, dtype):
        x = wide(self.rng, n, dtype)
        x[n // 2:] = x[:n - n // 2]
        if np.issubdtype(dtype, np.floating) and n > 8:
            x[:6] = 0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf
        return x

    def test_all(self):
        for dtype in TYPES:
            for n in [0] + SIZES[:-1] + ([5000] if dtype == np.float32 else []):
                x = self.keys(n, dtype)
                values = np.arange(n, dtype=TYPES[n % 6])
                for descending in (False, True):
                    key = definition.order_key(x, descending)
                    indices = np.array(sorted(range(n), key=key.__getitem__), np.uint32)
                    for device in (None, "cpu:serial"):
                        what, how = f"{dtype} {n} {descending}", {"descending": descending, "device": device}
                        self.same(tw.sort(x, **how), x[indices], what)
                        self.same(tw.argsort(x, **how), indices, what)
                        keys_out, values_out = tw.sort_by_key(x, values, **how)
                        self.same(keys_out, x[indices], what)
                        self.same(values_out, values[indices], what)

    def test_each_line_is_sorted_alone(self):
        for dtype in TYPES:
            for shape in ((1, 1), (3, 2), (17, 33), (130, 3), (3, 130)):
                a = self.keys(shape[0] * shape[1], dtype).reshape(shape)
                for descending in (False, True):
                    def by_order(line):
                        key = definition.order_key(line, descending)
                        return line[sorted(range(len(line)), key=key.__getitem__)]
                    columns = np.ascontiguousarray(np.array([by_order(column.copy()) for column in a.T]).T, dtype)
                    rows = np.array([by_order(row) for row in a])
                    for device in DEVICES[:3] + (OPENCL if dtype == np.float32 else []):
                        what, how = f"{dtype} {shape} {descending} {device}", {"descending": descending, "device": device}
                        self.same(tw.sort(a, **how), rows, what)
                        self.same(tw.sort(a, axis=0, **how), columns, what)
                    if not np.issubdtype(dtype, np.floating) and not descending:
                        self.same(tw.sort(a, 0), np.sort(a, 0), "NumPy's columns")
                        self.same(tw.sort(a), np.sort(a), "NumPy's rows")
                        self.same(tw.sort(a, axis=None), np.sort(a, axis=None), "flat")

    def test_shapes(self):
        a = wide(self.rng, 120, np.float32).reshape(4, 5, 6)
        self.same(tw.sort(a), np.sort(a), "last of three")
        self.same(tw.sort(a, 0), np.sort(a, 0), "first of three")
        m = a.reshape(10, 12)
        wanted = tw.sort(m[::2, 3:9].copy(), axis=0)
        self.same(tw.sort(m[::2, 3:9], axis=0), wanted, "rows that lie apart")
        self.same(tw.sort(np.empty((0, 3)), axis=0), np.empty((0, 3)), "no rows")
        self.same(tw.sort(np.empty((3, 0))), np.empty((3, 0)), "no columns")
        there = tw.sort(tw.array(m, device="cpu:serial"))
        self.assertIsInstance(there, tw.array)
        self.same(there.numpy(), tw.sort(m), "on a device")
        wide_out = np.full((5, 20), 42, np.float32)
        part = wide_out[:, 2:8]
        self.assertIs(tw.sort(m[::2, 3:9], axis=0, out=part), part)
        self.same(part.copy(), wanted, "into rows that lie apart")
        self.assertEqual(int((wide_out == 42).sum()), 100 - 30, "what lies between them")
        for axis in (0, 1):
            wanted, in_place = tw.sort(m, axis=axis), m.copy()
            self.assertIs(tw.sort(in_place, axis=axis, out=in_place), in_place)
            self.same(in_place, wanted, "in place")

    def test_in_place(self):
        x = self.keys(5000, np.float64)
        wanted, values = tw.sort_by_key(x, np.arange(5000.0)), np.arange(5000.0)
        tw.sort_by_key(x, values, out=(x, values))
        self.same(x, wanted[0], "keys")
        self.same(values, wanted[1], "values")
        self.same(tw.sort(x, descending=True, out=x), tw.sort(wanted[0], descending=True), "keys alone")


class Products(BitsCase):
    def test_matmul_and_matvec(self):
        for m, k, n in ((1, 1, 1), (3, 5, 2), (17, 9, 13), (4, 0, 3), (0, 2, 2)):
            for dtype in TYPES:
                a, b = wide(self.rng, m * k, dtype).reshape(m, k), wide(self.rng, k * n, dtype).reshape(k, n)
                if dtype == np.float64:
                    wanted = definition.matmul(a, b)
                elif dtype == np.float32:
                    wanted = tw.matmul(a, b, variant="serial")
                else:
                    wanted = a @ b
                for device in DEVICES:
                    self.same(tw.matmul(a, b, device=device), wanted, f"{dtype} {m} {device}")
                x = wide(self.rng, k, dtype)
                rows = np.array([definition.dot(row, x) for row in a], dtype).reshape(m)
                self.same(tw.matvec(a, x), rows, f"matvec {dtype} {m}")

    def test_rows_that_lie_apart(self):
        big = wide(self.rng, 200, np.float64).reshape(10, 20)
        a, b, out = big[::2, 3:9], big[4:, 10:17], np.zeros((10, 20))
        self.same(tw.matmul(a, b), tw.matmul(a.copy(), b.copy()), "matmul")
        self.same(tw.matvec(a, b[:, 0].copy()), tw.matvec(a.copy(), b[:, 0].copy()), "matvec")
        tw.matmul(a, b, out=out[:5, 1:8])
        self.same(out[:5, 1:8], tw.matmul(a.copy(), b.copy()), "out")
        self.assertEqual(np.count_nonzero(out), 35)

    def test_polymul(self):
        for n, m in ((1, 1), (2, 3), (13, 8), (33, 1), (0, 3)):
            a, b = wide(self.rng, n, np.float64), wide(self.rng, m, np.float64)
            self.same(tw.polymul(a, b), definition.polymul(a, b) if n else np.empty(0), f"{n} {m}")
            for dtype in (np.int32, np.int64):
                a, b = (self.rng.integers(-1000, 1000, k).astype(dtype) for k in (n, m))
                wanted = np.convolve(a.astype(np.int64), b.astype(np.int64)) if n else np.empty(0, np.int64)
                self.same(tw.polymul(a, b), wanted, f"{dtype} {n} {m}")
                self.same(tw.polymul(a, b, modulus=97), wanted % 97, "modulus")
        with self.assertRaisesRegex(tw.Overflow, "does not fit 64 bits"):
            tw.polymul(np.array([2**62]), np.array([2**62]))

    def test_convolve(self):
        for dtype in FLOATS:
            for rows, columns, h, w in ((1, 1, 1, 1), (5, 7, 3, 5), (33, 20, 5, 1)):
                image = wide(self.rng, rows * columns, dtype).reshape(rows, columns)
                mask = wide(self.rng, h * w, dtype).reshape(h, w)
                for border in ("valid", "zero"):
                    for device in DEVICES:
                        self.same(tw.convolve(image, mask, border=border, device=device),
                                  definition.convolve(image, mask, border), f"{dtype} {rows} {border}")

    def test_diffuse(self):
        for dtype in FLOATS:
            for mask in (53, 93, 95):
                field = wide(self.rng, 23 * 17, dtype).reshape(23, 17)
                wanted = tw.diffuse(field, 5, mask=mask, variant="serial")
                self.assertFalse(np.array_equal(wanted, field))
                for device in DEVICES:
                    self.same(tw.diffuse(field, 5, mask=mask, device=device), wanted, f"{dtype} {mask} {device}")
                self.same(tw.diffuse(tw.diffuse(field, 2, mask=mask), 3, mask=mask), wanted, "2 + 3 steps")
            for dx, dy, rate in ((0.5, 0.5, 0.00625), (0.4, 0.7, 0.03), (1.3, 0.25, 0.001)):
                self.same(tw.diffuse(field, 4, dx=dx, dy=dy, rate=rate), definition.diffuse(field, 4, dx, dy, rate), f"{dtype} {dx} {dy}")
        with self.assertRaisesRegex(tw.InvalidArgument, "stable"):
            tw.diffuse(np.zeros((4, 4)), rate=1.0)
        tw.diffuse(np.zeros((4, 4)), rate=1.0, allow_unstable=True)


class DeviceArrays(BitsCase):
    def test_one_device_has_one_name(self):
        x = wide(self.rng, 1000, np.float32)
        by_name, again = (tw.array(x, device="2*cpu:serial") for _ in range(2))
        self.same(tw.dot(by_name, again), tw.dot(x, x), "arrays")
        self.same(tw.sum(by_name, device="2*cpu:serial"), tw.sum(x), "a call")
        with self.assertRaisesRegex(ValueError, "another queue"):
            tw.dot(by_name, tw.array(x, device=tw.open("2*cpu:serial")))

    def test_every_function(self):
        x = wide(self.rng, 1000, np.float32)
        m = x.reshape(25, 40)
        taps = wide(self.rng, 9, np.float32).reshape(3, 3)
        for device in map(tw.open, ["cpu:threads", "2*cpu:serial"] + OPENCL):
            there = lambda values: tw.array(values, device=device)
            self.same(tw.sum(there(x)), tw.sum(x), device)
            self.same(tw.cumsum(there(x)).numpy(), tw.cumsum(x), device)
            if device.backend == "opencl":
                continue  # where programs are compiled for each function
            self.same(tw.dot(there(x), there(x)), tw.dot(x, x), device)
            for name, arguments in (("sort", [x]), ("sort", [m]), ("argsort", [x]), ("matmul", [m, m.T.copy()]),
                                    ("matvec", [m, x[:40]]), ("polymul", [x[:40], x[:3]]), ("convolve", [m, taps]),
                                    ("diffuse", [m])):
                result = getattr(tw, name)(*map(there, arguments))
                self.assertIsInstance(result, tw.array)
                self.same(result.numpy(), getattr(tw, name)(*arguments), f"{name} on {device}")
            keys, values = tw.sort_by_key(there(x), there(np.arange(1000)))
            self.same(values.numpy(), tw.argsort(x).astype(np.int64), device)
            carry = tw.partial(dtype=np.float32)
            self.same(tw.cumsum(there(x), carry=carry).numpy(), tw.cumsum(x), device)
            self.same(carry.value(), tw.sum(x), device)
            out = there(x)
            self.assertIs(tw.cumsum(out, out=out), out)
            self.same(out.numpy(), tw.cumsum(x), device)


if __name__ == "__main__":
    unittest.main()
