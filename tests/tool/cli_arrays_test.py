# SPDX-License-Identifier: Apache-2.0
"""sort, matmul and matvec on array files: compared with NumPy, and the answers to bad input.

cli_arrays_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import itertools
import json
import os
import re

import numpy as np

import named_tests
from cli_test import DTYPES, Case, covering, devices_for, run, wide_values

# name, arguments, exit code, what standard error matches. {d} is the folder; nothing may be written on an error.
ROWS = [
    ("sort", "sort {d}/f4.npy -o {d}/y.npy --device cpu", 0, r"^$"),
    ("sort, verbose", "sort {d}/f4.npy -o {d}/y.npy --device cpu -v", 0, r"sort/\S+.* on cpu: "),
    ("sort nothing", "sort {d}/none.npy -o {d}/y.npy --device cpu", 6, r"none\.npy"),
    ("sort without output", "sort {d}/f4.npy", 2, r"--output is required"),
    ("sort two dimensions", "sort {d}/m34.npy -o {d}/y.npy", 2, r"m34\.npy is 3x4; sort takes one dimension, or --axis -1 for each row by itself; .*ravel"),
    ("sort a single value", "sort {d}/single.npy -o {d}/y.npy", 2, r"single\.npy is a single value; sort takes one"),
    ("sort values and indices", "sort {d}/f4.npy -o {d}/y.npy --values {d}/f8.npy --values-out {d}/w.npy --indices "
     "{d}/i.npy", 2, r"--values and --indices exclude each other"),
    ("sort values to nowhere", "sort {d}/f4.npy -o {d}/y.npy --values {d}/f8.npy", 2, r"belong together"),
    ("sort values from nowhere", "sort {d}/f4.npy -o {d}/y.npy --values-out {d}/w.npy", 2, r"belong together"),
    ("sort too few values", "sort {d}/f4.npy -o {d}/y.npy --values {d}/v4.npy --values-out {d}/w.npy", 2,
     r"f4\.npy is an array of 1003 and \S+v4\.npy is an array of 4; there must be one value for each key"),
    ("sort bad values", "sort {d}/f4.npy -o {d}/y.npy --values {d}/cut.npy --values-out {d}/w.npy", 6, r"cut\.npy"),
    ("sort to one file", "sort {d}/f4.npy -o {d}/y.npy --indices {d}/./y.npy", 2, r"two outputs would go to one file: \S+y\.npy and \S+/\./y\.npy;"),
    ("sort, second file in no folder", "sort {d}/f4.npy -o {d}/y.npy --indices {d}/no/i.npy", 6, r"no/i\.npy: cannot"),
    ("sort, no such variant", "sort {d}/f4.npy -o {d}/y.npy --variant radx --device cpu", "2|4", r"'radx'"),
    ("sort elsewhere", "sort {d}/f4.npy -o {d}/y.npy --device cuda:99", 4, r"no device 'cuda:99'"),
    ("sort a file of text", "sort {d}/text.npy -o {d}/y.npy", 6, r"text\.npy"),
    ("sort another type", "sort {d}/f2.npy -o {d}/y.npy", 6, r"f2\.npy"),
    ("sort along an axis and indices", "sort {d}/m34.npy -o {d}/y.npy --axis 0 --indices {d}/i.npy", 2, r"--indices excludes --axis"),
    ("scan along no axis", "scan {d}/m34.npy -o {d}/y.npy --axis 2", 2, r"m34\.npy is 3x4; it has no axis 2: 0 is the first"),
    ("sort along no axis", "sort {d}/m34.npy -o {d}/y.npy --axis -3", 2, r"m34\.npy is 3x4; it has no axis -3"),
    ("scan along an axis of a value", "scan {d}/single.npy -o {d}/y.npy --axis 0", 2, r"single\.npy is a single value; it has no axis 0$"),
    ("reduce along an axis between", "reduce {d}/cube.npy -o {d}/y.npy --axis 1", 2,
     r"cube\.npy is 2x3x4, and axis 1 lies between others; move it with NumPy's np\.moveaxis\(x, 1, -1\) and use --axis -1"),
    ("reduce along a word", "reduce {d}/m34.npy -o {d}/y.npy --axis rows", 2, r"--axis: 'rows' is not a number of an axis"),
    ("reduce along an axis to nowhere", "reduce {d}/m34.npy --axis 0", 2, r"--axis requires --output"),
    ("reduce to a file", "reduce {d}/m34.npy -o {d}/y.npy", 2, r"--output requires --axis, --segments or --by"),
    ("reduce segments to nowhere", "reduce {d}/m34.npy --segments {d}/o.npy", 2, r"--segments requires --output"),
    ("scan segments along an axis", "scan {d}/m34.npy --segments {d}/o.npy --axis 0 -o {d}/y.npy", 2, r"--axis excludes --segments"),
    ("sort segments in runs", "sort {d}/m34.npy --segments {d}/o.npy --scratch {d} -o {d}/y.npy", 2, r"excludes"),
    ("reduce segments along an axis", "reduce {d}/m34.npy --segments {d}/o.npy --axis 0 -o {d}/y.npy", 2, r"--axis excludes --segments"),
    ("reduce segments of a matrix's offsets", "reduce {d}/m34.npy --segments {d}/m34.npy -o {d}/y.npy", 2,
     r"m34\.npy is 3x4 of f64; --segments takes one dimension of i64, .*astype\(\"i8\"\)"),
    ("reduce rows", "reduce {d}/m34.npy -o {d}/y.npy --rows", 2, r"did you mean --axis\? In a matrix, --axis 0 takes each column"),
    ("matmul", "matmul {d}/m34.npy {d}/m45.npy -o {d}/y.npy --device cpu", 0, r"^$"),
    ("matmul, verbose", "matmul {d}/m34.npy {d}/m45.npy -o {d}/y.npy --device cpu -v", 0, r"matmul/\S+.* on cpu: "),
    ("matmul of one", "matmul {d}/m34.npy -o {d}/y.npy", 2, r"B\.npy is required"),
    ("matmul, shapes apart", "matmul {d}/m34.npy {d}/m34.npy -o {d}/y.npy", 2,
     r"m34\.npy is 3x4 and \S+m34\.npy is 3x4; matmul takes A of m x k and B of k x n$"),
    ("matmul, types apart", "matmul {d}/m34.npy {d}/i45.npy -o {d}/y.npy", 2,
     r"m34\.npy holds f64 and \S+i45\.npy holds i64; convert"),
    ("matmul with a vector", "matmul {d}/m34.npy {d}/v4.npy -o {d}/y.npy", 2,
     r"v4\.npy is an array of 4; matmul takes two dimensions as B; .*one row, x\.reshape\(-1, 1\) one column"),
    ("matmul of three dimensions", "matmul {d}/cube.npy {d}/m34.npy -o {d}/y.npy", 2, r"cube\.npy is 2x3x4; matmul"),
    ("matmul, cut off", "matmul {d}/m34.npy {d}/cut.npy -o {d}/y.npy", 6, r"cut\.npy: .*cut off"),
    ("matmul of a giant", "matmul {d}/giant.npy {d}/m34.npy -o {d}/y.npy", "2|5", r"giant\.npy"),
    ("matmul, no such tuning", "matmul {d}/m34.npy {d}/m45.npy -o {d}/y.npy --device cpu --variant matmul/serial "
     "--tuning tile=3", 2, r"'tile=3' is not one"),
    ("matmul, a result beyond all memory", "matmul {d}/column.npy {d}/row.npy -o - --device cpu", 5,
     r"matmul.* needs 17592186044416 more bytes of memory, but the host has \d+ left"),
    ("matvec, a result beyond all memory", "matvec {d}/tall.npy {d}/v0.npy -o - --device cpu", 5,
     r"matvec.* needs 17592186044416 more bytes of memory, but the host has \d+ left"),
    ("matvec", "matvec {d}/m34.npy {d}/v4.npy -o {d}/y.npy --device cpu", 0, r"^$"),
    ("matvec, shapes apart", "matvec {d}/m45.npy {d}/v4.npy -o {d}/y.npy", 2,
     r"m45\.npy is 4x5 and \S+v4\.npy is an array of 4; matvec takes A of m x n and X of n$"),
    ("matvec, types apart", "matvec {d}/i45.npy {d}/v5.npy -o {d}/y.npy", 2, r"i45\.npy holds i64 and \S+v5\.npy holds"),
    ("matvec with a matrix", "matvec {d}/m34.npy {d}/m45.npy -o {d}/y.npy", 2, r"m45\.npy is 4x5; matvec takes one dimension as X; compute its parts one by one"),
    ("matvec of vectors", "matvec {d}/v4.npy {d}/v4.npy -o {d}/y.npy", 2, r"v4\.npy is an array of 4; .*reshape\(1, -1"),
    ("matvec, no folder", "matvec {d}/m34.npy {d}/v4.npy -o {d}/no/y.npy --device cpu", 6, r"no/y\.npy: cannot"),
]


def make_matrices(d):
    np.save(f"{d}/column.npy", np.zeros((1 << 21, 1), "f4"))
    np.save(f"{d}/row.npy", np.zeros((1, 1 << 21), "f4"))
    np.save(f"{d}/m34.npy", wide_values("f8", 12).reshape(3, 4))
    np.save(f"{d}/m45.npy", wide_values("f8", 20, 2).reshape(4, 5))
    np.save(f"{d}/i45.npy", wide_values("i8", 20).reshape(4, 5))
    np.save(f"{d}/cube.npy", wide_values("f8", 24).reshape(2, 3, 4))
    np.save(f"{d}/v4.npy", wide_values("f8", 4, 3))
    np.save(f"{d}/tall.npy", np.zeros((1 << 42, 0), "f4"))
    np.save(f"{d}/v0.npy", np.zeros(0, "f4"))
    np.save(f"{d}/v5.npy", wide_values("f8", 5, 3))


def keys(t, count):
    """With many equal values, and every kind of float."""
    r = np.random.default_rng(count)
    if t[0] != "f":
        return np.concatenate([wide_values(t, count), r.integers(0, 9, count).astype(t)])
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.finfo(t).tiny, np.finfo(t).tiny / 8], t)
    return np.concatenate([wide_values(t, count), r.choice(special, count), r.integers(-4, 4, count).astype(t)])


def total_order(x):
    """Keys that NumPy sorts as the tool does: -0.0 before +0.0, NaNs last."""
    bits = x.view("u4" if x.itemsize == 4 else "u8").astype("u8")
    if x.dtype.kind == "u":
        return bits
    top = np.uint64(1) << np.uint64(8 * x.itemsize - 1)
    if x.dtype.kind == "i":
        return bits ^ top
    code = np.where(bits & top, ~bits & (2 * int(top) - 1), bits | top)
    return np.where(np.isnan(x), np.iinfo("u8").max, code)


class ArrayCase(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        make_matrices(cls.d)

    def devices(self, algorithm):
        return [name for name in devices_for(algorithm) if name == "cpu:serial" or not name.startswith("cpu:")]

    def output_of(self, arguments, name="y.npy"):
        result = run(arguments)
        self.check(result, 0)
        return np.load(f"{self.d}/{name}")

    def check_rows(self, rows):
        for name, arguments, code, err in rows:
            with self.subTest(name):
                before = {n: os.stat(f"{self.d}/{n}").st_mtime_ns for n in os.listdir(self.d)}
                words = arguments.split() if isinstance(arguments, str) else arguments
                self.check(run([word.format(d=self.d) for word in words]), code, r"^$", err)
                after = {n: os.stat(f"{self.d}/{n}").st_mtime_ns for n in os.listdir(self.d)}
                if code == 0:
                    os.remove(f"{self.d}/y.npy")
                else:
                    self.assertEqual(before, after)

    def check_help(self, *commands):
        """It fits a terminal."""
        for command in commands:
            for line in run(f"{command} --help").stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)


class Rows(ArrayCase):
    def test_table(self):
        self.check_rows(ROWS)

    def test_help_fits_a_terminal(self):
        self.check_help("sort", "matmul", "matvec")


class Sort(ArrayCase):
    WAYS = tuple(itertools.product(("", "--descending"), ("none", "indices", "values")))

    def check_sort(self, x, values, device, flag, payload):
        np.save(f"{self.d}/x.npy", x)
        order = np.argsort(~total_order(x) if flag else total_order(x), kind="stable")
        command = f"sort {self.d}/x.npy -o {self.d}/y.npy --device {device} {flag}"
        if payload == "values":
            np.save(f"{self.d}/v.npy", values)
            command += f" --values {self.d}/v.npy --values-out {self.d}/w.npy"
        elif payload == "indices":
            command += f" --indices {self.d}/w.npy"
        self.assertEqual(self.output_of(command).tobytes(), x[order].tobytes())
        if payload != "none":
            expected = values[order] if payload == "values" else order.astype("u4")
            w = np.load(f"{self.d}/w.npy")
            self.assertEqual((w.dtype, w.tobytes()), (expected.dtype, expected.tobytes()))

    def test_numpys_stable_sort_on_every_device(self):
        small = [(DTYPES[i % 6], *row) for i, row in enumerate(covering((0, 1), self.devices("sort"), self.WAYS))]
        for row in small + covering(DTYPES, (700,), self.devices("sort"), self.WAYS):
            with self.subTest(row):
                t, count, device, (flag, payload) = row
                x = keys(t, count)
                self.check_sort(x, wide_values(DTYPES[(DTYPES.index(t) + 1) % 6], len(x), 5), device, flag, payload)

    def test_what_nearly_fills_a_device_leaves_room_for_tables(self):
        x = wide_values("f4", 68001)  # three of which are 0.78 of the memory, and 0.94 as pools round them up
        np.save(f"{self.d}/x.npy", x)
        expected = x[np.argsort(total_order(x), kind="stable")].tobytes()
        for device in devices_for("sort"):
            for variant in ("onesweep", "radix", "merge_path", "merge_rank") if device.startswith("opencl") else ():
                with self.subTest(f"{device} {variant}"):
                    command = f"sort {self.d}/x.npy -o {self.d}/y.npy --device {device} --device-memory 1M --variant {variant}"
                    self.assertEqual(self.output_of(command).tobytes(), expected)

    def test_it_is_np_sort_where_zeros_have_one_sign(self):
        for t in DTYPES:
            x = wide_values(t, 5000)
            np.save(f"{self.d}/x.npy", x)
            y = self.output_of(f"sort {self.d}/x.npy -o {self.d}/x.npy --indices {self.d}/i.npy", "x.npy")
            self.assertEqual(y.tobytes(), np.sort(x, kind="stable").tobytes())
            self.assertEqual(np.load(f"{self.d}/i.npy").tolist(), np.argsort(x, kind="stable").tolist())

    def test_nans_come_last_with_their_payloads(self):
        x = np.array([0x7fc00001, 0xffc00005, 0x3f800000, 0x7f800000, 0xffc00004], "u4").view("f4")
        np.save(f"{self.d}/x.npy", x)
        y = self.output_of(f"sort {self.d}/x.npy -o {self.d}/y.npy --device cpu")
        self.assertEqual(y.view("u4")[:2].tolist(), [0x3f800000, 0x7f800000])
        self.assertEqual(sorted(y.view("u4")[2:].tolist()), [0x7fc00001, 0xffc00004, 0xffc00005])
        y = self.output_of(f"sort {self.d}/x.npy -o {self.d}/y.npy --device cpu --descending")
        self.assertEqual(y.view("u4")[3:].tolist(), [0x7f800000, 0x3f800000])

    def test_json(self):
        base = f"sort {self.d}/f4.npy -o {self.d}/y.npy --device cpu --json"
        plain = json.loads(run(base).stdout)
        self.assertEqual((plain["command"], plain["order"], plain["payload"]), ("sort", "ascending", "none"))
        with_values = json.loads(run(f"{base} --values {self.d}/f8.npy --values-out {self.d}/w.npy").stdout)
        with_indices = json.loads(run(f"{base} --descending --indices {self.d}/i.npy").stdout)
        self.assertEqual(plain["digest"], with_values["digest"])
        self.assertNotEqual(plain["digest"], with_indices["digest"])
        self.assertRegex(with_values["values_digest"], "^[0-9a-f]{32}$")
        self.assertRegex(with_indices["indices_digest"], "^[0-9a-f]{32}$")
        self.assertNotIn("values_digest", plain)

    def test_a_second_output_that_fails_takes_the_first_with_it(self):
        with open(f"{self.d}/old.npy", "w") as old:
            old.write("old")
        before = set(os.listdir(self.d))
        self.check(run(f"sort {self.d}/f4.npy -o {self.d}/old.npy --indices {self.d}/fifo --device cpu"), 6, "^$", "fifo")
        with open(f"{self.d}/old.npy") as old:
            self.assertEqual(old.read(), "old")
        self.assertEqual(set(os.listdir(self.d)), before)


def chain(a, b):
    """c = fma(a, b, c) in exact arithmetic, rounded once per step, for products that two doubles can hold."""
    from fractions import Fraction
    c = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                exact = Fraction(float(a[i, k])) * Fraction(float(b[k, j])) + Fraction(float(c[i, j]))
                c[i, j] = rounded(exact, a.dtype)
    return c


def rounded(exact, t):
    """The nearest value of the type, ties to even, by the exact distance to the two neighbours of a first guess."""
    from fractions import Fraction
    guess = np.dtype(t).type(exact.numerator / exact.denominator)
    inf = np.dtype(t).type(np.inf)
    near = [np.nextafter(guess, -inf), guess, np.nextafter(guess, inf)]
    word = "u4" if np.dtype(t).itemsize == 4 else "u8"
    return min(near, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(word)) & 1))


class Segments(ArrayCase):
    """A segment is an array of its own."""

    def test_of_every_operator_on_every_device(self):
        offsets = np.array([0, 0, 1, 9, 26, 4122, 4122, 20000])
        np.save(f"{self.d}/offsets.npy", offsets)
        for op, t in (("sum", "f4"), ("product", "f8"), ("max", "i4"), ("min", "u8")):
            x = wide_values(t, 20000)
            np.save(f"{self.d}/x.npy", x)
            for device in self.devices("segment_reduce"):
                with self.subTest(f"{op} {t} {device}"):
                    y = self.output_of(f"reduce --op {op} --init 1 {self.d}/x.npy --segments {self.d}/offsets.npy "
                                       f"-o {self.d}/y.npy --device {device}")
                    for s, value in enumerate(y):
                        np.save(f"{self.d}/part.npy", x[offsets[s]:offsets[s + 1]])
                        one = json.loads(run(f"reduce --op {op} --init 1 {self.d}/part.npy --json").stdout)["value_hex"]
                        self.assertEqual(int(one, 16), int.from_bytes(value.tobytes(), "little"), s)

    def test_scanned_on_every_device(self):
        offsets = np.array([0, 0, 1, 9, 26, 4122, 4122, 20000])
        np.save(f"{self.d}/offsets.npy", offsets)
        x = wide_values("f4", 20000)
        np.save(f"{self.d}/x.npy", x)
        for words in ("", "--exclusive --init 3", "--op max"):
            parts = []
            for begin, end in zip(offsets, offsets[1:]):
                np.save(f"{self.d}/part.npy", x[begin:end])
                parts.append(self.output_of(f"scan {words} {self.d}/part.npy -o {self.d}/y.npy"))
            for device in self.devices("segment_scan"):
                with self.subTest(f"{words} {device}"):
                    y = self.output_of(f"scan {words} {self.d}/x.npy --segments {self.d}/offsets.npy -o {self.d}/y.npy --device {device}")
                    self.assertEqual(y.tobytes(), np.concatenate(parts).tobytes())

    def test_sorted_on_every_device(self):
        offsets = np.array([0, 0, 1, 9, 26, 4122, 4122, 20000])
        np.save(f"{self.d}/offsets.npy", offsets)
        x = np.round(wide_values("f4", 20000))  # so that many are equal
        np.save(f"{self.d}/x.npy", x)
        np.save(f"{self.d}/v.npy", np.arange(20000))
        pieces, begins = [x[begin:end] for begin, end in zip(offsets, offsets[1:])], np.repeat(offsets[:-1], np.diff(offsets))
        alone = []
        for piece in pieces:
            np.save(f"{self.d}/part.npy", piece)
            alone.append(self.output_of(f"sort {self.d}/part.npy -o {self.d}/y.npy"))
        for device in self.devices("segment_sort"):
            with self.subTest(device):
                sort = f"sort {self.d}/x.npy --segments {self.d}/offsets.npy -o {self.d}/y.npy --device {device}"
                y = self.output_of(f"{sort} --indices {self.d}/i.npy")
                self.assertEqual(y.tobytes(), np.concatenate(alone).tobytes())
                places = np.load(f"{self.d}/i.npy") + begins
                self.assertEqual(x[places].tobytes(), y.tobytes())
                self.output_of(f"{sort} --values {self.d}/v.npy --values-out {self.d}/w.npy")
                np.testing.assert_array_equal(np.load(f"{self.d}/w.npy"), places)

    def test_sorted_files_do_not_replace_the_offsets(self):
        np.save(f"{self.d}/x.npy", np.zeros(10, "f4"))
        np.save(f"{self.d}/o.npy", np.array([0, 10]))
        for words in ("-o {0}", "-o {1}/y.npy --indices {0}", "-o {1}/y.npy --values {1}/x.npy --values-out {0}"):
            words = words.format(f"{self.d}/o.npy", self.d)
            self.check(run(f"sort {self.d}/x.npy --segments {self.d}/o.npy {words}"), 2, "^$", "o.npy")
            np.testing.assert_array_equal(np.load(f"{self.d}/o.npy"), [0, 10])

    def test_false_offsets_are_named_and_leave_the_output(self):
        np.save(f"{self.d}/x.npy", np.zeros(10, "f4"))
        np.save(f"{self.d}/y.npy", np.arange(3))
        before = np.load(f"{self.d}/y.npy")
        for offsets, says in (([0, 7, 3, 10], "the offsets fall from 7 to 3 at position 2"), ([0, 9], "the last offset is 9, but there are 10")):
            np.save(f"{self.d}/offsets.npy", offsets)
            self.check(run(f"reduce {self.d}/x.npy --segments {self.d}/offsets.npy -o {self.d}/y.npy"), 2, "^$", says)
            np.testing.assert_array_equal(np.load(f"{self.d}/y.npy"), before)


class Keys(ArrayCase):
    """The elements of equal keys in a row are an array of its own."""
    def setUp(self):
        super().setUp()
        self.x = wide_values("f4", 20000)
        np.save(f"{self.d}/x.npy", self.x)

    def test_of_every_type_of_keys_on_every_device(self):
        for t in ("f4", "f8", "i4", "u8"):
            keys = np.repeat(np.array([3, -0.0, 0.0, np.nan, 3, 7] if t[0] == "f" else [3, 0, 9, 8, 3, 7]).astype(t), [1, 16, 4000, 0, 983, 15000])
            np.save(f"{self.d}/k.npy", keys)
            begins = [0, 1, 17, 4017, 5000, 20000]
            for device in self.devices("segment_reduce"):
                with self.subTest(f"{t} {device}"):
                    y = self.output_of(f"reduce --op max {self.d}/x.npy --by {self.d}/k.npy -o {self.d}/y.npy "
                                       f"--keys-out {self.d}/found.npy --device {device}")
                    self.assertEqual(np.load(f"{self.d}/found.npy").tobytes(), keys[begins[:-1]].tobytes())
                    np.testing.assert_array_equal(y, np.maximum.reduceat(self.x, begins[:-1]))
                    sums = self.output_of(f"reduce {self.d}/x.npy --by {self.d}/k.npy -o {self.d}/y.npy --device {device}")
                    np.save(f"{self.d}/offsets.npy", np.array(begins))
                    self.assertEqual(sums.tobytes(), self.output_of(f"reduce {self.d}/x.npy --segments {self.d}/offsets.npy "
                                                                    f"-o {self.d}/z.npy --device cpu:serial", "z.npy").tobytes())

    def test_of_nothing_and_of_others_than_there_are_elements(self):
        np.save(f"{self.d}/none.npy", self.x[:0])
        self.assertEqual(self.output_of(f"reduce {self.d}/none.npy --by {self.d}/none.npy -o {self.d}/y.npy").shape, (0,))
        np.save(f"{self.d}/k.npy", np.zeros(19999, "i4"))
        for words, says in ((f"{self.d}/x.npy --by {self.d}/k.npy", "k.npy is an array of 19999 and .*x.npy is an array of 20000; each element has one key"),
                            (f"{self.d}/x.npy --by {self.d}/x.npy --keys-out {self.d}/y.npy", "y.npy")):
            self.check(run(f"reduce {words} -o {self.d}/y.npy"), 2, "^$", says)
        done = run(f"reduce {self.d}/x.npy --by {self.d}/x.npy --keys-out - --json -o {self.d}/y.npy")
        self.assertRegex(json.loads(done.stdout)["error"]["message"], "standard output")


class Axis(ArrayCase):
    """A line along an axis is an array of its own."""
    def line_of(self, arguments, line):
        np.save(f"{self.d}/line.npy", line)
        if not arguments.startswith("reduce"):
            return self.output_of(f"{arguments} {self.d}/line.npy -o {self.d}/of_line.npy --device cpu:serial", "of_line.npy").tobytes()
        done = run(f"{arguments} {self.d}/line.npy --json --device cpu:serial")
        return int(json.loads(done.stdout)["value_hex"], 16).to_bytes(line.itemsize, "little")

    def check_lines(self, x, axis, arguments, device):
        np.save(f"{self.d}/x.npy", x)
        y = self.output_of(f"{arguments} {self.d}/x.npy -o {self.d}/y.npy --axis {axis} --device {device}")
        to = range(x.ndim)[axis]
        lines = np.moveaxis(x, to, -1).reshape(-1, x.shape[to])
        results = y.reshape(-1, 1) if arguments.startswith("reduce") else np.moveaxis(y, to, -1).reshape(lines.shape)
        self.assertEqual(y.shape, x.shape[:to] + x.shape[to + 1:] if arguments.startswith("reduce") else x.shape)
        for i in {0, len(lines) // 2, len(lines) - 1}:
            self.assertEqual(np.ascontiguousarray(results[i]).tobytes(), self.line_of(arguments, np.ascontiguousarray(lines[i])), i)

    def test_has_the_bits_of_each_line(self):
        for arguments in ("reduce", "reduce --op product --init 3", "scan --exclusive --init 2", "scan --op max", "sort --descending"):
            name = arguments.split()[0]
            for t, shape, axis, device in covering(DTYPES, ((131, 70), (3, 5, 301), (7,)), (0, -1), self.devices(name)):
                with self.subTest(f"{arguments} {t} {shape} {axis} {device}"):
                    self.check_lines(wide_values(t, int(np.prod(shape))).reshape(shape), axis, arguments, device)

    def test_an_array_in_fortran_order(self):
        x = np.asfortranarray(wide_values("f4", 35).reshape(5, 7))
        for axis in 0, 1:
            self.check_lines(x, axis, "scan", "cpu")

    def test_json_says_which_lines(self):
        base = f"{self.d}/m34.npy -o {self.d}/y.npy --json --axis"
        for name, axis, word, shape in ("reduce", 0, "columns", [4]), ("scan", 1, "rows", [3, 4]), ("sort", -2, "columns", [3, 4]):
            said = json.loads(run(f"{name} {base} {axis}").stdout)
            self.assertEqual((said["command"], said["axis"], said["shape"]), (name, word, shape))


class Skeleton(ArrayCase):
    """The template of an algorithm, where it is built: nothing is written of its command but its signature."""
    def setUp(self):
        if run("list skeleton").returncode != 0:
            self.skipTest("not in this build")

    def test_negates_arrays_of_any_shape(self):
        for name in "m34", "cube", "single", "none":
            y = f"{self.d}/{name}.negated.npy"
            if name == "none":
                self.check(run(f"skeleton {self.d}/{name}.npy -o {y}"), 6, "^$", r"none\.npy")
                continue
            self.check(run(f"skeleton {self.d}/{name}.npy -o {y}"), 0)
            x = np.load(f"{self.d}/{name}.npy")
            self.assertEqual((np.load(y).shape, np.load(y).tobytes()), (x.shape, np.negative(x).tobytes()))

    def test_has_help_and_refuses_what_others_refuse(self):
        self.check_help("skeleton")
        self.assertIn("the negation of each element", run("skeleton --help").stdout)
        self.check(run(f"skeleton {self.d}/m34.npy"), 2, "^$", "--output is required")
        self.assertIn("skeleton", run("complete -- tilewise skel").stdout + run("--help").stdout)


class Products(ArrayCase):
    SHAPES = (1, 1, 1), (3, 5, 7), (17, 16, 33), (5, 0, 4), (0, 3, 2), (4, 3, 0)

    def matmul(self, a, b, arguments):
        np.save(f"{self.d}/a.npy", a)
        np.save(f"{self.d}/b.npy", b)
        return self.output_of(f"matmul {self.d}/a.npy {self.d}/b.npy -o {self.d}/y.npy {arguments}")

    def matvec(self, a, x, arguments):
        np.save(f"{self.d}/a.npy", a)
        np.save(f"{self.d}/x.npy", x)
        return self.output_of(f"matvec {self.d}/a.npy {self.d}/x.npy -o {self.d}/y.npy {arguments}")

    def test_integers_are_numpys_on_every_device(self):
        for row in covering(DTYPES[2:], self.SHAPES, self.devices("matmul")):
            with self.subTest(row):
                t, (m, k, n), device = row
                a, b = wide_values(t, m * k).reshape(m, k), wide_values(t, k * n, 2).reshape(k, n)
                x = wide_values(t, k, 3)
                c = self.matmul(a, b, f"--device {device}")
                self.assertEqual((c.shape, c.tobytes()), ((m, n), (a @ b).tobytes()))
                y = self.matvec(a, x, f"--device {device}")
                self.assertEqual((y.shape, y.tobytes()), ((m,), (a @ x).tobytes()))

    def test_floats_are_the_chain_on_every_device(self):
        for t in "f4", "f8":
            r = np.random.default_rng(7)
            a = (r.standard_normal((4, 9)) * 2.0 ** r.integers(-20, 20, (4, 9))).astype(t)
            b = (r.standard_normal((9, 3)) * 2.0 ** r.integers(-20, 20, (9, 3))).astype(t)
            for device in self.devices("matmul"):
                self.assertEqual(self.matmul(a, b, f"--device {device}").tobytes(), chain(a, b).tobytes(), (t, device))

    def test_no_rows_give_nothing_however_long(self):
        a, x = np.zeros((0, 100000), "f4"), np.ones(100000, "f4")
        for device in [*self.devices("matvec"), "3*cpu:serial"]:
            with self.subTest(device):
                self.assertEqual(self.matvec(a, x, f"--device {device}").shape, (0,))

    def test_a_row_is_the_reduction_of_its_products(self):
        for t in "f4", "f8":
            a, x = wide_values(t, 3 * 1003).reshape(3, 1003), wide_values(t, 1003, 4) / np.dtype(t).type(1e12)
            np.save(f"{self.d}/products.npy", a[1] * x)
            sum_of_row = json.loads(run(f"reduce {self.d}/products.npy --device cpu --json").stdout)["value_hex"]
            for device in self.devices("matvec"):
                y = self.matvec(a, x, f"--device {device}")
                self.assertEqual("0x" + y[1:2].astype(">" + t).tobytes().hex(), sum_of_row, (t, device))

    def test_larger_ones_are_equal_on_every_device(self):
        for t in "f4", "f8":
            a, b = wide_values(t, 130 * 67).reshape(130, 67), wide_values(t, 67 * 129, 2).reshape(67, 129)
            products = {self.matmul(a / 1e12, b, f"--device {device}").tobytes() for device in self.devices("matmul")}
            self.assertEqual(len(products), 1, t)

    def test_fast_is_near(self):
        a, b = np.random.default_rng(1).standard_normal((2, 64, 64)).astype("f4")
        for device in self.devices("matmul"):
            c = self.matmul(a, b, f"--device {device} --fast")
            self.assertLess(np.abs(c - a @ b).max(), 0.1)

    def test_json(self):
        for command, second in (("matmul", "m45"), ("matvec", "v4")):
            words = f"{command} {self.d}/m34.npy {self.d}/{second}.npy -o {self.d}/y.npy --device cpu --json"
            fields = json.loads(run(words).stdout)
            self.assertEqual((fields["command"], fields["dtype"], fields["output"]), (command, "f64", f"{self.d}/y.npy"))
            self.assertEqual(fields["shape"], [3, 5] if command == "matmul" else [3])
            self.assertTrue(re.fullmatch("[0-9a-f]{32}", fields["digest"]))


if __name__ == "__main__":
    named_tests.main()
