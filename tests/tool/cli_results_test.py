# SPDX-License-Identifier: Apache-2.0
"""Every command on arrays with every value of its own options, by each way in and out, held against NumPy.

cli_results_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import json
import math
import os
import subprocess
import tempfile

import numpy as np

import named_tests
from cli_arrays_test import total_order
from cli_convolutions_test import taps
from cli_test import DTYPES, HANGS_S, OPS, TOOL, Case, covering, wide_values

DEVICES = "cpu", "cpu:serial", "2*cpu:serial"
# How an array comes in, and which of these have no header, as `scan`, `reduce` and the keys of `sort` may.
FILES = "C", "Fortran", "big-endian", "piped"
RAW = "raw", "raw piped", "raw piped, shaped"
SINKS = "file", "piped", "in place"


def exact_values(t, shape, seed=1):
    """So small that sums of products are exact, whatever their order."""
    return np.random.default_rng(seed).integers(0 if t[0] == "u" else -9, 9, shape).astype(t)


class ResultCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.d = cls.folder.name

    def source(self, name, x, how):
        """The words that name an array, and what is piped in."""
        path = f"{self.d}/{name}.npy"
        if how.startswith("raw"):
            x.tofile(path)
        else:
            np.save(path, {"Fortran": np.asfortranarray, "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">"))}.get(how, np.array)(x))
        words = [path] if "piped" not in how else ["-"]
        if how.startswith("raw"):
            words += ["--dtype", x.dtype.str[1:]]
        if how == "raw" or how.endswith("shaped"):
            words += ["--shape", "x".join(map(str, x.shape))]
        with open(path, "rb") as file:
            return words, file.read() if "piped" in how else b""

    def call(self, words, given=b""):
        result = subprocess.run([TOOL, *map(str, words)], input=given, capture_output=True, timeout=HANGS_S)
        self.assertEqual((result.returncode, result.stderr), (0, b""), words)
        return result.stdout

    def result(self, words, given, sink, named=None):
        """The array that a command writes: the words that follow name where."""
        path = named if sink == "in place" else f"{self.d}/y.npy"
        printed = self.call([*words, "-o", "-" if sink == "piped" else path], given)
        if sink == "piped":
            with open(path, "wb") as file:
                file.write(printed)
        else:
            self.assertEqual(printed, b"")
        return np.load(path)

    def same(self, got, expected):
        self.assertEqual((got.dtype, got.shape, got.tobytes()), (expected.dtype, expected.shape, expected.tobytes()))


def fold(x, op, init, exclusive):
    """The running results, flat, and with the last one of an exclusive scan. Integers wrap; floats are for min and max."""
    flat = x.ravel() if init is None else np.concatenate([np.array([init], x.dtype), x.ravel()])
    with np.errstate(over="ignore"):
        all_of = OPS[op].accumulate(flat, dtype=x.dtype) if flat.size else flat
    if init is None:
        return np.concatenate([np.zeros(1, x.dtype) + (op == "product"), all_of]) if exclusive else all_of
    return all_of if exclusive else all_of[1:]


WHOLE = [(op, init, False) for op in OPS for init in (None, "3")]
KINDS = WHOLE + [(op, init, True) for op in OPS for init in (None, "3") if init or op in ("sum", "product")]
SHAPES = (7, 11, 13), (601, 1100)  # at once, and in chunks


class Folds(ResultCase):
    def cases(self, kinds, sinks):
        for t, kind, how, sink, shape, device in covering(DTYPES, kinds, FILES + RAW, sinks, SHAPES, DEVICES):
            if t[0] == "f" and kind[0] in ("sum", "product"):
                kind = ("max" if kind[0] == "sum" else "min", kind[1] or "3", kind[2])
            if sink == "in place" and how != "C":
                sink = "file"
            with self.subTest(f"{t} {kind} {how} {sink} {shape} {device}"):
                op, init, exclusive = kind
                x = wide_values(t, math.prod(shape)).reshape(shape)
                words, given = self.source("x", x, how)
                words += ["--op", op, "--device", device] + (["--init", init] if init else [])
                yield x, x.shape if how != "raw piped" else (x.size,), kind, words, given, sink, f"{self.d}/x.npy"

    def test_scans(self):
        for x, shape, (op, init, exclusive), words, given, sink, named in self.cases(KINDS, SINKS):
            expected = fold(x, op, init, exclusive)[:x.size]
            self.same(self.result(["scan", *words] + ["--exclusive"] * exclusive, given, sink, named), expected.reshape(shape))

    def test_reductions(self):
        for x, shape, (op, init, exclusive), words, given, sink, named in self.cases(WHOLE, ("",)):
            expected = fold(x, op, init, False)[-1:]
            self.assertEqual(self.call(["reduce", *words], given).decode().strip(), str(expected[0]) if x.dtype.kind != "f" else self.text(expected))
            fields = json.loads(self.call(["reduce", *words, "--json"], given))
            self.assertEqual(fields["value_hex"], "0x" + expected.astype(expected.dtype.newbyteorder(">")).tobytes().hex())
            self.assertEqual(np.array([fields["value"]]).astype(x.dtype).tobytes(), expected.tobytes())
            self.assertEqual(fields["shape"], list(shape))
            self.assertEqual((fields["op"], fields["init"]), (op, "given" if init else "none"))

    def text(self, value):
        """As the tool writes a float: read again it is the same."""
        said = self.call(["reduce", *self.source("one", value, "C")[0]]).decode().strip()
        self.assertEqual(np.array([float(said)]).astype(value.dtype).tobytes(), value.tobytes())
        return said


class Sorts(ResultCase):
    def test_each_payload_moves_with_its_keys(self):
        payloads = "none", "indices", *(f"values {t}" for t in DTYPES)
        for t, payload, how, sink, flag, device in covering(DTYPES, payloads, FILES + RAW, SINKS, ("", "--descending"), DEVICES):
            if sink == "in place" and how != "C":
                sink = "file"
            with self.subTest(f"{t} {payload} {how} {sink} {flag} {device}"):
                x = wide_values(t, 1003)
                x[::3] = x[0]
                order = np.argsort(~total_order(x) if flag else total_order(x), kind="stable")
                words, given = self.source("x", x, how)
                words += ["--device", device, *flag.split()]
                w = f"{self.d}/w.npy"
                if payload == "indices":
                    words += ["--indices", w]
                elif payload != "none":
                    values = wide_values(payload.split()[1], 1003, 2)
                    w = f"{self.d}/v.npy" if sink == "in place" else w  # its place, too
                    words += ["--values", *self.source("v", values, "big-endian" if how == "Fortran" else "C")[0], "--values-out", w]
                self.same(self.result(["sort", *words], given, sink, f"{self.d}/x.npy"), x[order])
                if payload != "none":
                    self.same(np.load(w), order.astype("u4") if payload == "indices" else values[order])


class Products(ResultCase):
    """Operands of another size each, of which either may come by the pipe."""

    def check_products(self, command, types, first_shape, second_shape, expected, name="--threads", values=(2,)):
        for i, (t, how, other, value) in enumerate(covering(types, FILES, FILES, values)):
            if how == other == "piped":
                other = "C"
            with self.subTest(f"{command} {t} {how} {other} {value}"):
                first, second = exact_values(t, first_shape), exact_values(t, second_shape, 2)
                (a, given), (b, more) = self.source("a", first, how), self.source("b", second, other)
                sink, device = SINKS[i % 3], DEVICES[i // 3 % 3]
                words = [command, *a, *b, "--device", device, name, value]
                places = [word for word in (a[0], b[0]) if word != "-"]
                self.same(self.result(words, given + more, sink, places[i % len(places)]), expected(first, second, value))

    def test_matmul(self):
        self.check_products("matmul", DTYPES, (3, 7), (7, 5), lambda a, b, _: (a.astype("i8") @ b.astype("i8")).astype(a.dtype))

    def test_matvec(self):
        self.check_products("matvec", DTYPES, (3, 7), (7,), lambda a, x, _: (a.astype("i8") @ x.astype("i8")).astype(a.dtype))

    def test_polymul(self):
        whole = lambda a, b: np.convolve(a.astype("i8"), b.astype("i8"))
        self.check_products("polymul", ("i4", "i8", "f4", "f8"), (41,), (13,),
                            lambda a, b, _: whole(a, b).astype("i8" if a.dtype.kind == "i" else a.dtype))
        self.check_products("polymul", ("i4", "i8"), (41,), (13,), lambda a, b, p: np.array([int(c) % p for c in whole(a, b)], "i8"),
                            "--modulus", (1, 7, 2**31 - 1, 2**32 + 15, 2**61 - 1, 2**63 - 1))

    def test_convolve(self):
        for mask in (3, 7), (5, 1):
            self.check_products("convolve", ("f4", "f8"), (9, 16), mask, taps, "--border", ("valid", "zero"))


class FloatModes(ResultCase):
    """A library that the tool loads flushes denormals in the thread that calls, and rounds up."""

    CHANGED = {"LD_PRELOAD": os.environ.get("TILEWISE_FAKE_MODE", ""),  # AddressSanitizer wants to be the first to be loaded
               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

    def outputs(self, environment):
        for name, words in {"reduce": ["a.npy"], "scan": ["a.npy"], "sort": ["a.npy"], "matvec": ["m.npy", "v.npy"], "matmul": ["m.npy", "m.npy"],
                            "polymul": ["a.npy", "v.npy"], "convolve": ["m.npy", "3.npy"]}.items():
            for device in DEVICES:
                to = [] if name == "reduce" else ["-o", "-"]
                yield name, device, subprocess.run([TOOL, name, *words, "--device", device, *to], cwd=self.d, capture_output=True,
                                                   timeout=HANGS_S, env={**os.environ, **environment})

    def test_denormals_are_kept(self):
        tiny = np.ldexp(np.random.default_rng(3).standard_normal(4900).astype("f4"), -132)
        ordinary = wide_values("f4", 9)
        for name, array in {"a": tiny, "m": tiny.reshape(70, 70), "v": np.resize(ordinary, 70), "3": ordinary.reshape(3, 3)}.items():
            np.save(f"{self.d}/{name}.npy", array)
        for kept, (name, device, flushed) in zip(self.outputs({}), self.outputs(self.CHANGED)):
            with self.subTest(command=name, device=device):
                self.assertEqual((flushed.returncode, flushed.stderr), (0, b""))
                self.assertTrue(flushed.stdout == kept[2].stdout, "other bits")  # a difference of long ones takes minutes to print

    def run_in(self, environment, words):
        return subprocess.run([TOOL, *words], cwd=self.d, capture_output=True, timeout=HANGS_S, env={**os.environ, **environment})

    def test_numbers_in_files_and_on_the_line(self):
        """What the tool writes in digits and reads from them: diffuse's tables and checkpoints, --json's values, --init."""
        changed = self.CHANGED
        np.save(f"{self.d}/x.npy", np.array([0.3, 0, 0]))
        problem = ["diffuse", "--grid", "24x19", "--spacing", "0.1x0.3", "--diffusivity", "0.02", "--every", "3", "--device", "cpu", "-q"]
        for folder, first, then in ("kept", {}, {}), ("changed", changed, changed), ("mixed", {}, changed):
            for environment, more in (first, ["--steps", "4"]), (then, ["--steps", "7", "--resume"]):
                ended = self.run_in(environment, [*problem, *more, "-o", folder])
                self.assertEqual((ended.returncode, ended.stderr), (0, b""), folder)
            for name in os.listdir(f"{self.d}/kept"):
                files = [f"{self.d}/{where}/{name}" for where in ("kept", folder)]
                if name == "runlog.csv":  # times of the clock follow
                    with self.subTest(folder=folder, name=name):
                        self.assertEqual(*(np.loadtxt(f, delimiter=",", skiprows=1, usecols=(0, 1, 2)).tolist() for f in files))
                elif name != "checkpoint.json":
                    with self.subTest(folder=folder, name=name):
                        self.assertEqual(*(open(f, "rb").read() for f in files))
        for words in (["--init", "0.1"], ["--init", "1e-310"]):
            values = [json.loads(self.run_in(e, ["reduce", "x.npy", *words, "--json"]).stdout) for e in ({}, changed)]
            with self.subTest(words=words):
                self.assertEqual(*((v["value"], v["value_hex"], v["digest"]) for v in values))



def diffused(nx, ny, steps, dx, dy, diffusivity, stability, mask):
    """The field and the time after some steps, by the mask's own formula."""
    ghosts = 2 if mask == 95 else 1
    rows, columns = ny - 2 * ghosts, nx - 2 * ghosts
    time_step = stability * min(dx, dy) ** 2 / (4 * diffusivity)
    field = np.zeros((rows, columns))
    field[:rows // 2, 0] = field[rows // 2:, -1] = 1
    for _ in range(steps):
        field[:rows // 2, 0] = field[rows // 2:, -1] = 1
        near = np.pad(field, 2, mode="edge")
        at = lambda y, x: near[2 + y:2 + y + rows, 2 + x:2 + x + columns]
        if mask == 95:
            second = lambda a, b, c, d, h: (-a + 16 * b - 30 * field + 16 * c - d) / (12 * h * h)
        else:
            second = lambda a, b, c, d, h: (b - 2 * field + c) / (h * h)
        lap = second(at(0, -2), at(0, -1), at(0, 1), at(0, 2), dx) + second(at(-2, 0), at(-1, 0), at(1, 0), at(2, 0), dy)
        field = field + time_step * diffusivity * lap
    return field, steps * time_step


def residual(field, time, nx, ny, dx, dy, diffusivity, ghosts):
    """The mean square of what a field differs by from the strips' own solutions, as the original has it."""
    half, right, top = ny // 2, dx * (nx - 1 - ghosts), dy * (ny - 1 - ghosts)

    def distance(x, y, at, low, high):
        return math.hypot(x - at, low - y if y < low else max(y - high, 0))

    total, width = 0, math.sqrt(4 * diffusivity * time)
    for (j, i), value in np.ndenumerate(field):
        x, y = dx * (i + ghosts), dy * (j + ghosts)
        exact = math.erfc(distance(x, y, dx * ghosts, dy * ghosts, dy * half) / width) + math.erfc(distance(x, y, right, dy * half, top) / width)
        total += (exact - value) ** 2
    return total / ((nx - 1 - ghosts) * (ny - 1 - ghosts))


class Diffusions(ResultCase):
    KEYS = "nx", "ny", "dx", "dy", "dc", "co", "ns", "nc"

    def check_run(self, words, nx, ny, dx, dy, diffusivity, stability, mask, steps, every):
        out = tempfile.mkdtemp(dir=self.d)
        fields = json.loads(self.call(["diffuse", *words, "-o", out, "--device", "cpu", "--json"]))
        ghosts = 2 if mask == 95 else 1
        expected, time = diffused(nx, ny, steps, dx, dy, diffusivity, stability, mask)
        got = np.load(f"{out}/diffusion.{steps:07}.npy")
        np.testing.assert_allclose(got, expected, rtol=0, atol=2e-6 if got.dtype == "f4" else 1e-12)
        log = np.genfromtxt(f"{out}/runlog.csv", delimiter=",", names=True)
        self.assertEqual(log["iter"].tolist(), sorted({*range(0, steps, every), steps}))
        self.assertAlmostEqual(log["sim_time"][-1], time, delta=1e-6)
        self.assertAlmostEqual(fields["residual"], residual(expected, time, nx, ny, dx, dy, diffusivity, ghosts), delta=1e-6)
        table = np.genfromtxt(f"{out}/diffusion.{steps:07}.csv", delimiter=",", names=True)
        shown = np.pad(got, ghosts - 1, mode="edge")
        y, x = np.indices(shown.shape)
        for name, values in ("x", x * dx), ("y", y * dy), ("c", shown):
            np.testing.assert_allclose(table[name], values.ravel(), atol=5.1e-7)

    def test_each_option_is_its_own(self):
        chosen = {"nx": 24, "ny": 19, "dx": 0.5, "dy": 0.25, "diffusivity": 0.02, "stability": 0.3, "mask": 53, "steps": 7, "every": 3}
        for changed in ({}, {"nx": 21}, {"ny": 22}, {"dx": 0.125}, {"dy": 1.0}, {"diffusivity": 0.1}, {"stability": 0.05}, {"mask": 95},
                        {"steps": 9}, {"every": 2}, {"mask": 95, "ny": 22, "dx": 0.2}, {"dx": 0.25, "stability": 1.0}):
            with self.subTest(changed):
                p = chosen | changed
                words = ["--grid", f"{p['nx']}x{p['ny']}", "--spacing", f"{p['dx']}x{p['dy']}"]
                for name in "mask", "steps", "every", "diffusivity", "stability":
                    words += [f"--{name}", p[name]]
                self.check_run(words, **p)
                self.check_run([*words, "--dtype", "f32"], **p)
                lines = [f"{key} {p[name]}" for key, name in zip(self.KEYS, ("nx", "ny", "dx", "dy", "diffusivity", "stability", "steps", "every"))]
                with open(f"{self.d}/params.txt", "w") as file:
                    file.write("\n".join([*lines, f"sc {5 if p['mask'] == 95 else 3} {p['mask']}"]))
                self.check_run([f"{self.d}/params.txt"], **p)


if __name__ == "__main__":
    named_tests.main()
