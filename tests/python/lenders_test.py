# SPDX-License-Identifier: Apache-2.0
"""Arrays that cannot be used as they are, in every argument: the error's own advice, done as it stands, gives the result. Those of
NumPy, of ours, of PyTorch or of what pretends to be it, and of JAX where it is installed."""

import importlib
import re
import sys
import unittest

import numpy as np

import roles
import tilewise as tw
from lenders import Lender, pretended_torch
from tilewise import _frameworks

LOSES = r"contiguous|copy\(|clone|astype|\.to\(|asarray|as_tensor|ravel|reshape|atleast|numpy\(\)|filled|compressed|tilewise.array\("


def installed(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def spread(of, x):
    """Its elements in a wider array, of which every second column is it."""
    return of(np.repeat(x, 2, -1))[..., ::2]


def unaligned(x):
    return np.frombuffer(bytearray(b"\0" + x.tobytes()), np.uint8)[1:].view(x.dtype).reshape(x.shape)


def locked(x):
    x = x.copy()
    x.flags.writeable = False
    return x


class Cases:
    """The tests of one library, whose arrays `of` makes from NumPy's."""

    index, not_for = "u4", ()

    def of(self, x):
        return x

    def host(self, x):
        return np.asarray(x)

    def unfit(self, x):
        """The same elements as arrays that cannot be used, by what is wrong with them."""
        yield "slice", spread(self.of, x)
        if x.ndim == 2:
            yield "transposed", self.of(x.T.copy()).T

    def unfit_outputs(self, x):
        yield from self.unfit(x)
        yield "another type", self.of(x.astype("f8"))

    def obeyed(self, call, argument, array):
        """The result of a call, once what it says has been done, which is something at first."""
        words = {"numpy": np, "tilewise": tw, **{name: sys.modules.get(name) for name in ("torch", "cupy", "jax")}}
        words |= {first: self.of(roles.X) for first in ("a", "keys", "image")}
        for times in range(4):
            try:
                result = call(array)
            except (TypeError, ValueError) as error:
                said = str(error)
            else:
                self.assertGreater(times, 0, "it was taken")
                return result
            array = eval(re.search(r"pass (.+?)(, or one row at a time)?$", said)[1], words | {argument: array})
        self.fail(said)

    def same(self, got, wanted):
        self.assertEqual((got.dtype, got.shape, got.tobytes()), (wanted.dtype, wanted.shape, wanted.tobytes()))

    def inputs(self):
        for role, x, call in roles.inputs(self.of):
            if role not in self.not_for:
                yield role, re.search(r"\((\w+)", role)[1], x, call

    def test_inputs(self):
        for role, argument, x, call in self.inputs():
            wanted = self.host(call(self.of(x)))
            for what, array in self.unfit(x):
                with self.subTest(f"{role}: {what}"):
                    self.same(self.host(self.obeyed(call, argument, array)), wanted)

    def test_types(self):
        """Small integers are converted so that their values are kept; whatever computes with others beside them is left out."""
        for role, argument, x, call in self.inputs():
            if argument in ("a", "object", "field") and not re.match("matmul|matvec|dot|polymul|partial|cumsum.*carry", role):
                with self.subTest(role):
                    got = self.host(self.obeyed(call, argument, self.of(x.astype("i2"))))
                    self.assertTrue(np.allclose(got, self.host(call(self.of(x)))))

    def test_outputs(self):
        for role, like, call in roles.outputs(self.of, self.index):
            result, name = call(None), re.search(r"\((out(\[\d\])?)", role)[1]
            wanted = self.host(result)
            self.assertEqual((wanted.dtype, wanted.shape), (like.dtype, like.shape), role)
            for what, array in self.unfit_outputs(np.zeros_like(like)):
                with self.subTest(f"{role}: {what}"):
                    with self.assertRaises((TypeError, ValueError)) as caught:
                        call(array)
                    self.assertNotRegex(str(caught.exception), LOSES)
                    self.assertIn(f"leave out= away and store what is returned: {name}[...] = result", str(caught.exception))
                    array[...] = result
                    self.assertEqual(self.host(array).tolist(), wanted.astype(self.host(array).dtype).tolist())

    def test_other_shapes_of_outputs(self):
        for role, like, call in roles.outputs(self.of, self.index):
            for shape in ((), (0,), (1,) * 9, (*like.shape, 1), (like.shape[0] + 1, *like.shape[1:])):
                with self.subTest(f"{role} {shape}"):
                    with self.assertRaises((TypeError, ValueError)) as caught:
                        call(self.of(np.zeros(shape, like.dtype)))
                    self.assertNotRegex(str(caught.exception), LOSES)
                    self.assertIn("leave out= away", str(caught.exception))


class OfNumpy(Cases, unittest.TestCase):
    def unfit(self, x):
        yield from super().unfit(x)
        yield "backwards", x[::-1].copy()[::-1]
        yield "other byte order", x.astype(x.dtype.newbyteorder())
        yield "unaligned", unaligned(x)

    def unfit_outputs(self, x):
        yield from super().unfit_outputs(x)
        yield "half precision", x.astype("f2")
        yield "masked", np.ma.masked_array(x, x == 0)

    def test_what_cannot_be_written_to(self):
        for role, like, call in roles.outputs():
            for what, out, why in (("read-only", locked(like), "read-only"), ("a list", like.tolist(), "type list"),
                                   ("elsewhere", tw.array(like, "2*cpu:serial"), "an output that lies there too, or leave out= away")):
                with self.subTest(f"{role}: {what}"):
                    with self.assertRaisesRegex((TypeError, ValueError), f"out.*{why}") as caught:
                        call(out)
                    self.assertNotRegex(str(caught.exception), LOSES)


class OfBuffers(Cases, unittest.TestCase):
    """Python's own."""

    def unfit(self, x):
        if x.ndim == 1:
            yield "slice", memoryview(np.repeat(x, 2))[::2]

    def unfit_outputs(self, x):
        return ()


class OfBareDlpack(Cases, unittest.TestCase):
    """Of a library that nobody knows: NumPy reads it."""

    def unfit(self, x):
        yield "slice", Lender(spread(np.asarray, x))

    def unfit_outputs(self, x):
        return ()


class OfOurs(Cases, unittest.TestCase):
    not_for = ("array(object)",)

    def of(self, x):
        return x if x.dtype == "i2" or x.ndim in (0, 9) else tw.array(x, "2*cpu:serial")

    def unfit(self, x):
        """Beside another array, what lies elsewhere."""
        return ()

    def unfit_outputs(self, x):
        return ()

    def test_places(self):
        for elsewhere in (lambda x: x, lambda x: tw.array(x, "3*cpu:serial"), lambda x: tw.array(x, tw.open("2*cpu:serial"))):
            for role, argument, x, call in self.inputs():
                if argument in ("values", "b", "x", "mask") and role != "partial.push(values)":
                    with self.subTest(role):
                        self.same(self.host(self.obeyed(call, argument, elsewhere(x))), self.host(call(self.of(x))))


class OfTorch(Cases, unittest.TestCase):
    index, device = "i8", "cpu"

    def setUp(self):
        self.before = sys.modules.get("torch")
        self.torch = sys.modules["torch"] = installed("torch") or pretended_torch()
        _frameworks._torch = None

    def tearDown(self):
        _frameworks._torch = None
        sys.modules.pop("torch")
        if self.before:
            sys.modules["torch"] = self.before

    def of(self, x):
        return self.torch.from_numpy(x.copy())

    def host(self, x):
        return x.resolve_neg().numpy() if isinstance(x, self.torch.Tensor) else np.asarray(x)

    def unfit(self, x):
        yield from super().unfit(x)
        yield "negated", self.torch._neg_view(self.of(-x))

    def test_signs(self):
        """A view that is negated when it is read is never taken for its memory: in no argument, and not as an output."""
        for role, _, x, call in self.inputs():
            with self.subTest(role), self.assertRaisesRegex(TypeError, r"pass \w+\.resolve_neg\(\)$"):
                call(self.torch._neg_view(self.of(x)))
        for role, like, call in roles.outputs(self.of, self.index):
            out = self.of(np.full_like(like, 42))
            with self.subTest(role), self.assertRaisesRegex(TypeError, r"resolve_neg\(\) would be other memory, so leave out= away"):
                call(self.torch._neg_view(out))
            self.assertEqual(self.host(out).tolist(), np.full_like(like, 42).tolist())

    def test_indices_as_outputs(self):
        out = self.of(np.zeros(len(roles.X), "i8"))
        self.assertIs(tw.argsort(self.of(roles.X), out=out), out)
        self.same(self.host(out), tw.argsort(roles.X).astype("i8"))


class OfRealTorch(unittest.TestCase):
    def setUp(self):
        self.torch = installed("torch")
        if not hasattr(self.torch, "func"):
            self.skipTest("PyTorch is not installed")

    def test_conjugates(self):
        z = self.torch.tensor([1 + 1j, 2 + 2j])
        with self.assertRaisesRegex(TypeError, r"a\.resolve_conj\(\)"):
            tw.sum(z.conj())
        with self.assertRaisesRegex(TypeError, r"a\.resolve_neg\(\)"):
            tw.cumsum(z.conj().imag)
        self.assertEqual(tw.cumsum(z.conj().imag.resolve_neg().contiguous()).tolist(), [-1, -3])
        minus = self.torch._neg_view(self.torch.tensor(3.0))
        self.assertEqual(tw.sum(self.torch.ones(2), initial=minus), -1)

    def test_placeholders(self):
        """Tensors whose memory is elsewhere, or nowhere."""
        fake = importlib.import_module("torch._subclasses.fake_tensor").FakeTensorMode
        with fake() as mode:
            fake = mode.from_tensor(self.torch.ones(3))
        for x in fake, self.torch._efficientzerotensor(3):
            with self.assertRaisesRegex(TypeError, "has no memory of its own"):
                tw.sum(x)
            with self.assertRaisesRegex(TypeError, "has no memory of its own.*leave out= away"):
                tw.cumsum(np.ones(3, "f4"), out=x)


class OfJax(unittest.TestCase):
    def setUp(self):
        if (jax := installed("jax")) is None:
            self.skipTest("JAX is not installed")
        self.of = jax.numpy.asarray

    def test_arrays(self):
        for role, x, call in roles.inputs():
            with self.subTest(role):
                self.assertEqual(np.asarray(call(self.of(x))).tobytes(), np.asarray(call(x)).tobytes())
        for role, like, call in roles.outputs():
            with self.subTest(role), self.assertRaisesRegex(ValueError, "is read-only; .*leave out= away"):
                call(self.of(like))

    def test_words(self):
        with self.assertRaisesRegex(TypeError, r'a holds int16; .*pass a.astype\("int32"\)$'):
            tw.sum(self.of(np.ones(3, "i2")))
        with self.assertRaisesRegex(ValueError, r"pass jax\.numpy\.atleast_1d\(a\)$"):
            tw.sum(self.of(np.float32(3)))


if __name__ == "__main__":
    unittest.main()
