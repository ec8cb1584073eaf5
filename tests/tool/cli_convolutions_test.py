# SPDX-License-Identifier: Apache-2.0
"""polymul and convolve on array files: compared with NumPy, and the answers to bad input.

cli_convolutions_test.py TOOL PLANTED DRIVER...   (as cli_test.py)
"""

import json
import re

import numpy as np

import named_tests
from cli_arrays_test import ArrayCase
from cli_test import covering, run, wide_values

# As in cli_arrays_test.py.
ROWS = [
    ("polymul", "polymul {d}/p5.npy {d}/p3.npy -o {d}/y.npy --device cpu", 0, r"^$"),
    ("polymul, verbose", "polymul {d}/p5.npy {d}/p3.npy -o {d}/y.npy --device cpu -v", 0,
     r"polymul/cpu:naive tile=\d+ on cpu: since polymul/cpu:ntt: the definition is faster"),
    ("polymul of one", "polymul {d}/p5.npy -o {d}/y.npy", 2, r"B\.npy is required"),
    ("polymul of a matrix", "polymul {d}/m34.npy {d}/v4.npy -o {d}/y.npy", 2, r"m34\.npy is 3x4; polymul takes one dimension as A; compute its parts one by one"),
    ("polymul, types apart", "polymul {d}/p5.npy {d}/v4.npy -o {d}/y.npy", 2, r"p5\.npy holds i32 and \S+v4\.npy holds f64"),
    ("polymul, unsigned", "polymul {d}/u4.npy {d}/u4.npy -o {d}/y.npy", 2, r"u4\.npy is .* of u32; polymul takes i4, i8, f4"),
    ("polymul, overflow", "polymul {d}/huge.npy {d}/huge.npy -o {d}/y.npy --device cpu", 5,
     r"coefficient 0 of the product does not fit 64 bits: sums of \d+ products .* can reach 2\^125; .*--modulus"),
    ("polymul, no overflow by a modulus", "polymul {d}/huge.npy {d}/huge.npy -o {d}/y.npy --modulus 97", 0, r"^$"),
    ("polymul, short by a modulus", "polymul {d}/p5.npy {d}/p3.npy -o {d}/y.npy --modulus 97 --device cpu -v", 0,
     r"polymul/cpu:ntt on cpu: first choice"),
    ("polymul, modulus 0", "polymul {d}/p5.npy {d}/p3.npy -o {d}/y.npy --modulus 0", 2, r"the modulus is 0; it must be from 1 to 2.63 - 1$"),
    ("polymul, a modulus that is not set", ["polymul", "{d}/p5.npy", "{d}/p3.npy", "-o", "{d}/y.npy", "--modulus", ""], 2, r"--modulus: '' is not a number"),
    ("convolve, a border that is not set", ["convolve", "{d}/m34.npy", "{d}/k33.npy", "-o", "{d}/y.npy", "--border", ""], 2, r"convolve has no border ''"),
    ("polymul, modulus below 0", "polymul {d}/p5.npy {d}/p3.npy -o {d}/y.npy --modulus -3", 2, r"--modulus: '-3' is not a number of type u64"),
    ("polymul, modulus too large", "polymul {d}/p5.npy {d}/p3.npy -o {d}/y.npy --modulus 9223372036854775808", 2,
     r"the modulus is 9223372036854775808; it must be from 1 to 2.63 - 1$"),
    ("polymul, modulus of floats", "polymul {d}/v4.npy {d}/v4.npy -o {d}/y.npy --modulus 7", 2, r"a modulus is for integers"),
    ("polymul by a modulus, forced", "polymul {d}/p5.npy {d}/p3.npy -o {d}/y.npy --modulus 7 --device cpu --variant "
     "karatsuba", 4, r"karatsuba.* it computes modulo 2\^64 only"),
    ("polymul, cut off", "polymul {d}/p5.npy {d}/cut.npy -o {d}/y.npy", 6, r"cut\.npy: .*cut off"),
    ("convolve", "convolve {d}/m34.npy {d}/k33.npy -o {d}/y.npy --device cpu", 0, r"^$"),
    ("convolve, verbose", "convolve {d}/m34.npy {d}/k33.npy -o {d}/y.npy --border zero --device cpu -v", 0,
     r"convolve/cpu:direct \S+ \S+ on cpu: first choice"),
    ("convolve of one", "convolve {d}/m34.npy -o {d}/y.npy", 2, r"MASK\.npy is required"),
    ("convolve without output", "convolve {d}/m34.npy {d}/k33.npy", 2, r"--output is required"),
    ("convolve, even mask", "convolve {d}/m45.npy {d}/m34.npy -o {d}/y.npy", 2, r"the mask is 3x4; its rows .* must be odd"),
    ("convolve, large mask", "convolve {d}/k33.npy {d}/k55.npy -o {d}/y.npy", 2,
     r"the mask is 5x5 and the image 3x3; .* must fit"),
    ("convolve, large mask, zeros", "convolve {d}/k33.npy {d}/k55.npy -o {d}/y.npy --border zero", 0, r"^$"),
    ("convolve, no such border", "convolve {d}/m34.npy {d}/k33.npy -o {d}/y.npy --border wrap", 2,
     r"convolve has no border 'wrap'"),
    ("convolve, empty image", "convolve {d}/k05.npy {d}/k33.npy -o {d}/y.npy --border zero", 2,
     r"the image is 0x5; it must have at least one pixel"),
    ("convolve, empty mask", "convolve {d}/m34.npy {d}/k05.npy -o {d}/y.npy --border zero", 2, r"the mask is 0x5; .* odd"),
    ("convolve of a vector", "convolve {d}/v4.npy {d}/k33.npy -o {d}/y.npy", 2,
     r"v4\.npy is an array of 4; convolve takes two dimensions as X; .*reshape"),
    ("convolve with a vector", "convolve {d}/m34.npy {d}/v4.npy -o {d}/y.npy", 2, r"v4\.npy is an array of 4; convolve takes"),
    ("convolve of three dimensions", "convolve {d}/cube.npy {d}/k33.npy -o {d}/y.npy", 2, r"cube\.npy is 2x3x4; convolve"),
    ("convolve, integers", "convolve {d}/i45.npy {d}/i45.npy -o {d}/y.npy", 2, r"i45\.npy is 4x5 of i64; convolve takes f4"),
    ("convolve, types apart", "convolve {d}/m34.npy {d}/k33f.npy -o {d}/y.npy", 2, r"m34\.npy holds f64 and \S+ holds f32"),
    ("convolve, cut off", "convolve {d}/m34.npy {d}/cut.npy -o {d}/y.npy", 6, r"cut\.npy: .*cut off"),
]


def make_operands(d):
    np.save(f"{d}/k33.npy", wide_values("f8", 9, 3).reshape(3, 3))
    np.save(f"{d}/k33f.npy", wide_values("f4", 9, 3).reshape(3, 3))
    np.save(f"{d}/k55.npy", wide_values("f8", 25, 3).reshape(5, 5))
    np.save(f"{d}/k05.npy", np.zeros((0, 5)))
    np.save(f"{d}/p5.npy", np.array([3, -1, 0, 7, 2], "i4"))
    np.save(f"{d}/p3.npy", np.array([5, -2, 1], "i4"))
    np.save(f"{d}/huge.npy", np.full(3, 2**62, "i8"))


class ConvolutionCase(ArrayCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        make_operands(cls.d)


class Rows(ConvolutionCase):
    def test_table(self):
        self.check_rows(ROWS)

    def test_help_fits_a_terminal(self):
        self.check_help("polymul", "convolve")


class Slices(ConvolutionCase):
    """What the tool says of three dimensions where it takes two is done, and gives what was wanted."""

    def followed(self, command, x, **others):
        """The array that the advice's three steps end with."""
        for name, array in {"x": x, **others}.items():
            np.save(f"{self.d}/{name}.npy", array)
        words = command.replace("{", f"{self.d}/").replace("}", ".npy")
        result = run(f"{words} -o {self.d}/y.npy")
        self.check(result, 2, "^$", rf"x\.npy is {'x'.join(map(str, x.shape))}; ")
        split, line, stack = re.search(r"one by one: (\[.*\)\]), `(tilewise .*)` and so on, (np\.stack.*)$", result.stderr).groups()
        known = {"np": np, "x": x}
        exec(split.replace('f"', f'f"{self.d}/'), known)
        for i in range(int(re.search(r"range\((\d+)\)", split)[1])):
            one = re.sub(r"(\w+\.npy)", rf"{self.d}/\1", line.replace("x0", f"x{i}").replace("y0", f"y{i}"))
            self.check(run(one.split()[1:] + ["--device", "cpu"]), 0)
        return eval(stack.replace('f"', f'f"{self.d}/'), known)

    def test_the_channels_of_an_image_are_convolved(self):
        r = np.random.default_rng(3)
        mask = r.random((3, 3))
        for shape, channels in ((9, 7, 3), -1), ((8, 8, 4), -1), ((3, 9, 7), 0), ((5, 9, 7), 0), ((3, 3, 3), -1):
            with self.subTest(shape):
                x = r.random(shape)
                y = self.followed("convolve {x} {MASK}", x, MASK=mask)
                windows = np.lib.stride_tricks.sliding_window_view(np.moveaxis(x, channels, 0), (3, 3), axis=(1, 2))
                np.testing.assert_allclose(y, np.moveaxis((windows * mask).sum(axis=(-1, -2)), 0, channels), rtol=1e-12)

    def test_the_matrices_of_a_stack_are_multiplied(self):
        r = np.random.default_rng(3)
        x, a, b, v = r.random((4, 3, 5)), r.random((2, 3)), r.random((5, 2)), r.random(5)
        np.testing.assert_allclose(self.followed("matmul {x} {B}", x, B=b), x @ b, rtol=1e-12)
        np.testing.assert_allclose(self.followed("matmul {A} {x}", x, A=a), a @ x, rtol=1e-12)
        np.testing.assert_allclose(self.followed("matvec {x} {X}", x, X=v), x @ v, rtol=1e-12)

    def test_nothing_else_is_flattened_that_has_rows(self):
        for command in "polymul {d}/cube.npy {d}/v4.npy", "polymul {d}/v4.npy {d}/m34.npy", "matvec {d}/m34.npy {d}/cube.npy":
            self.check(run(f"{command} -o {{d}}/y.npy".format(d=self.d)), 2, "^$", r"^(?!.*(ravel|reshape)).* one by one")
        for name, wanted in ("m34", r", or --axis -1 for each row by itself; .*ravel\(\) puts all elements in one row$"), ("column", r"^(?!.*axis).*ravel\(\) puts all elements in one row$"):
            self.check(run(f"sort {self.d}/{name}.npy -o {self.d}/y.npy"), 2, "^$", wanted)

    def test_an_image_of_bytes_becomes_one_that_is_taken(self):
        x = np.random.default_rng(3).integers(0, 256, (9, 7)).astype("u1")
        np.save(f"{self.d}/bytes.npy", x)
        mask = f"{self.d}/k33f.npy"
        call = re.search(r'np\.save\("new\.npy", (.*)\.astype\("i8"\)\) converts it; for convolve ("f4") instead of "i8"$',
                         run(f"convolve {self.d}/bytes.npy {mask} -o {self.d}/y.npy").stderr)
        for command, how in ("convolve {x} " + mask + " -o {y}", f".astype({call[2]})"), ("reduce {x}", '.astype("i8")'), ("polymul {x} {x} -o {y}", '.ravel().astype("i8")'):
            np.save(f"{self.d}/new.npy", eval(f"np.load({self.d + '/bytes.npy'!r}){how}"))
            self.check(run(command.format(x=f"{self.d}/new.npy", y=f"{self.d}/y.npy")), 0)
        self.check(run(f"convolve {self.d}/i45.npy {mask} -o {self.d}/y.npy"), 2, "^$", r'takes f4 and f8: convert with NumPy.s astype\("f8"\)$')


class Polynomials(ConvolutionCase):
    LENGTHS = (1, 1), (5, 3), (0, 4), (40, 700), (1500, 1300)

    def polymul(self, a, b, arguments):
        np.save(f"{self.d}/a.npy", a)
        np.save(f"{self.d}/b.npy", b)
        return self.output_of(f"polymul {self.d}/a.npy {self.d}/b.npy -o {self.d}/y.npy {arguments}")

    def test_integers_are_numpys_on_every_device(self):
        r = np.random.default_rng(7)
        for row in covering(("i4", "i8"), self.LENGTHS, self.devices("polymul"), (None, 1000003)):
            with self.subTest(row):
                t, (n, m), device, modulus = row
                a, b = (r.integers(-2**23, 2**23, count).astype(t) for count in (n, m))
                exact = np.convolve(a.astype("i8"), b.astype("i8")) if n and m else np.zeros(0, "i8")
                y = self.polymul(a, b, f"--device {device}" + (f" --modulus {modulus}" if modulus else ""))
                self.assertEqual((y.dtype, y.tolist()), (np.dtype("i8"), (exact % modulus if modulus else exact).tolist()))

    def test_floats_have_the_same_bytes_on_every_device(self):
        for t in "f4", "f8":
            a, b = wide_values(t, 901), wide_values(t, 333, 2)
            first = self.polymul(a, b, "--device cpu:serial").tobytes()
            for device in self.devices("polymul"):
                with self.subTest(f"{t} {device}"):
                    self.assertEqual(self.polymul(a, b, f"--device {device}").tobytes(), first)


def taps(x, mask, border):
    """Tap by tap in order, on all results at once: NumPy rounds each product and each sum."""
    rows, columns = mask.shape
    if border == "zero":
        x = np.pad(x, ((rows // 2, rows // 2), (columns // 2, columns // 2)))
    y = np.zeros((x.shape[0] - rows + 1, x.shape[1] - columns + 1), x.dtype)
    for r in range(rows):
        for s in range(columns):
            y = y + mask[r, s] * x[r:r + y.shape[0], s:s + y.shape[1]]
    return y


class Convolutions(ConvolutionCase):
    SHAPES = (40, 137, 3, 3), (131, 66, 5, 5), (9, 7, 9, 7), (50, 70, 31, 31), (33, 20, 1, 9)

    def test_they_are_numpys_loop_on_every_device(self):
        for row in covering(("f4", "f8"), self.SHAPES, ("valid", "zero"), self.devices("convolve")):
            with self.subTest(row):
                t, (m, n, rows, columns), border, device = row
                x, mask = wide_values(t, m * n).reshape(m, n), wide_values(t, rows * columns, 2).reshape(rows, columns)
                mask = mask / np.dtype(t).type(1e12)
                np.save(f"{self.d}/x.npy", x)
                np.save(f"{self.d}/mask.npy", mask)
                y = self.output_of(f"convolve {self.d}/x.npy {self.d}/mask.npy -o {self.d}/y.npy "
                                   f"--border {border} --device {device}")
                expected = taps(x, mask, border)
                self.assertEqual((y.shape, y.tobytes()), (expected.shape, expected.tobytes()))

    def test_json(self):
        words = f"convolve {self.d}/m34.npy {self.d}/k33.npy -o {self.d}/y.npy --device cpu --border zero --json"
        fields = json.loads(run(words).stdout)
        self.assertEqual((fields["command"], fields["border"], fields["shape"]), ("convolve", "zero", [3, 4]))
        self.assertTrue(re.fullmatch("[0-9a-f]{32}", fields["digest"]))


if __name__ == "__main__":
    named_tests.main()
