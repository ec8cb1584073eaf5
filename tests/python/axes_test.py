# SPDX-License-Identifier: Apache-2.0
"""Functions along an axis against the definition of each line alone, bit by bit, also on groups and where out= is written."""

import unittest

import numpy as np

import definition
import tilewise as tw
from bits_test import DEVICES, OPENCL, BitsCase
from definition import TYPES, wide


class Axes(BitsCase):
    def test_each_line_is_reduced_alone(self):
        for dtype in TYPES:
            for shape in ((1, 1), (3, 2), (17, 33), (300, 3), (3, 300)):
                a = wide(self.rng, shape[0] * shape[1], dtype).reshape(shape)
                for name, operation in (("sum", "sum"), ("prod", "product"), ("min", "min"), ("max", "max")):
                    columns = [definition.reduce(column.copy(), operation, 3) for column in a.T]
                    rows = [definition.reduce(row, operation) for row in a]
                    for device in DEVICES[:3] + (OPENCL if dtype == np.float32 and name == "sum" else []):
                        what = f"{name} {dtype} {shape} {device}"
                        call = getattr(tw, name)
                        self.same(call(a, axis=0, initial=3, device=device), np.array(columns, dtype), what)
                        self.same(call(a, axis=-1, device=device), np.array(rows, dtype), what)

    def test_shapes(self):
        a = wide(self.rng, 120, np.float32).reshape(4, 5, 6)
        self.same(tw.sum(a, axis=2), tw.sum(a.reshape(20, 6), axis=1).reshape(4, 5), "last of three")
        self.same(tw.sum(a, 0), tw.sum(a.reshape(4, 30), axis=0).reshape(5, 6), "first of three")
        m = a.reshape(10, 12)
        self.same(tw.sum(m[::2, 3:9], axis=1), tw.sum(m[::2, 3:9].copy(), axis=1), "rows that lie apart")
        self.same(tw.sum(m[:, 3:9], axis=0), tw.sum(m[:, 3:9].copy(), axis=0), "columns of rows that lie apart")
        self.same(tw.max(a.ravel(), axis=0), tw.max(a), "one dimension")
        self.same(tw.sum(np.empty((0, 3), np.float32), axis=0), np.zeros(3, np.float32), "empty columns")
        self.same(tw.prod(np.empty((3, 0), np.int64), axis=1), np.ones(3, np.int64), "empty rows")
        self.same(tw.sum(np.empty((0, 3)), axis=1), np.empty(0), "no rows")
        self.same(tw.min(np.empty((0, 3)), axis=0, initial=7), np.full(3, 7.0), "initial of empty columns")
        there = tw.sum(tw.array(m, device="cpu:serial"), axis=1)
        self.assertIsInstance(there, tw.array)
        self.same(there.numpy(), tw.sum(m, axis=1), "on a device")
        out = np.empty(12, np.float32)
        self.assertIs(tw.sum(m, axis=0, out=out), out)
        self.same(out, tw.sum(m, axis=0), "out")

    def test_each_line_is_scanned_alone(self):
        for dtype in TYPES:
            for shape in ((1, 1), (3, 2), (17, 33), (130, 3), (3, 130)):
                a = wide(self.rng, shape[0] * shape[1], dtype).reshape(shape)
                for operation in ("sum", "product", "min", "max"):
                    columns = np.array([definition.exclusive(column.copy(), operation, 3) for column in a.T]).T
                    rows = np.array([definition.inclusive(row, operation) for row in a])
                    for device in DEVICES[:3] + (OPENCL if dtype == np.float32 and operation == "sum" else []):
                        what = f"{operation} {dtype} {shape} {device}"
                        result = tw.exclusive_scan(a, axis=0, op=operation, initial=3, device=device)
                        self.same(result, np.ascontiguousarray(columns, dtype), what)
                        self.same(tw.inclusive_scan(a, axis=-1, op=operation, device=device), rows, what)

    def test_shapes_of_scans(self):
        a = wide(self.rng, 120, np.float32).reshape(4, 5, 6)
        self.same(tw.cumsum(a, axis=2), tw.cumsum(a.reshape(20, 6), axis=1).reshape(4, 5, 6), "last of three")
        self.same(tw.cumsum(a, 0), tw.cumsum(a.reshape(4, 30), axis=0).reshape(4, 5, 6), "first of three")
        m = a.reshape(10, 12)
        wanted = tw.cumsum(m[::2, 3:9].copy(), axis=0)
        self.same(tw.cumsum(m[::2, 3:9], axis=0), wanted, "rows that lie apart")
        self.same(tw.cumsum(m.ravel(), axis=-1), tw.cumsum(m.ravel()), "one dimension")
        self.same(tw.cumsum(np.empty((0, 3)), axis=0), np.empty((0, 3)), "no rows")
        self.same(tw.cumsum(np.empty((3, 0)), axis=0), np.empty((3, 0)), "no columns")
        there = tw.cumsum(tw.array(m, device="cpu:serial"), axis=1)
        self.assertIsInstance(there, tw.array)
        self.same(there.numpy(), tw.cumsum(m, axis=1), "on a device")
        wide_out = np.full((5, 20), 42, np.float32)
        part = wide_out[:, 2:8]
        self.assertIs(tw.cumsum(m[::2, 3:9], axis=0, out=part), part)
        self.same(part.copy(), wanted, "into rows that lie apart")
        self.assertEqual(int((wide_out == 42).sum()), 100 - 30, "what lies between them")
        for axis in (0, 1):
            wanted, in_place = tw.cumsum(m, axis=axis), m.copy()
            self.assertIs(tw.cumsum(in_place, axis=axis, out=in_place), in_place)
            self.same(in_place, wanted, "in place")

    def test_on_groups(self):
        """More ranks than rows too, and rows that lie apart."""
        for device in "2*cpu:serial", "3*cpu:serial", "cpu:serial+cpu:threads", "8*cpu:serial":
            for shape in ((1, 1), (3, 2), (1, 5000), (5000, 1), (300, 17), (17, 300), (3, 4000), (4000, 3)):
                a = wide(self.rng, shape[0] * (shape[1] + 2), np.float32).reshape(shape[0], -1)[:, 1:-1]
                for axis in (0, 1):
                    for name, options in (("sum", {}), ("min", {"initial": 3}), ("cumsum", {}), ("sort", {}),
                                          ("exclusive_scan", {"op": "max", "initial": -3})):
                        call = getattr(tw, name)
                        what = f"{name} of {shape} along {axis} on {device}"
                        wanted = call(a, axis=axis, device="cpu:serial", **options)
                        self.same(call(a, axis=axis, device=device, **options), wanted, what)
                        out = np.full((3,) + wanted.shape, 42, np.float32)
                        self.assertIs(call(a, axis=axis, device=device, out=(to := out[1]), **options), to)
                        self.same(to, wanted, what + ", out")
                        self.assertTrue((out[::2] == 42).all(), what + ", beside out")

    def test_out_is_what_is_written(self):
        a = wide(self.rng, 60, np.float32).reshape(3, 4, 5)
        functions = ["sum", "prod", "min", "max", "cumsum", "inclusive_scan", "sort"]
        for device in [None, "cpu:serial", "2*cpu:serial"] + OPENCL:
            for axis in (0, -1):
                for name in functions[:1] if device in OPENCL else functions:
                    call, what = getattr(tw, name), f"{name} along {axis} on {device}"
                    wanted = call(a, axis=axis)
                    out = np.full_like(wanted, 42)
                    self.assertIs(call(a, axis=axis, out=out, device=device), out, what)
                    self.same(out, wanted, what)
                    if device is None:
                        continue
                    on = tw.open(device)
                    there = tw.array(np.full_like(wanted, 42), device=on)
                    self.assertIs(call(tw.array(a, device=on), axis=axis, out=there), there, what)
                    self.same(there.numpy(), wanted, f"{what}, where it lies")


if __name__ == "__main__":
    unittest.main()
