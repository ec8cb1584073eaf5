# SPDX-License-Identifier: Apache-2.0
"""Arrays that cannot be used as they are, in every argument: the error's own advice, done as it stands, gives the result. Those of
NumPy, of ours, of PyTorch or of what pretends to be it, and of JAX where it is installed."""

import contextlib
import importlib
import itertools
import os
import re
import subprocess
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
            array = eval(re.search(r"pass (.+?)(, or .*| and axis=-1)?$", said)[1], words | {argument: array})
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

    def test_shapes(self):
        """Too few dimensions, too many, and an axis between others."""
        cube = np.arange(24, dtype="f4").reshape(2, 3, 4)
        for name in roles.FOLDS + roles.LINES:
            call = getattr(tw, name)
            wanted = call(np.ascontiguousarray(np.moveaxis(cube, 1, -1)), axis=-1)
            moved = lambda a, call=call: call(a, axis=1 if a.shape == cube.shape else -1)
            for array, by, result in ((self.of(cube), moved, wanted), (self.of(np.ones((1,) * 9, "f4")), lambda a: call(a, axis=0), None),
                                      (self.of(np.ones((), "f4")), call, None)):
                with self.subTest(f"{name} {array.shape}"):
                    got = self.host(self.obeyed(by, "a", array))
                    self.same(got, call(np.ones(1, "f4"), axis=0) if result is None else result)
        self.same(self.host(self.obeyed(tw.argsort, "a", self.of(roles.M))), self.host(tw.argsort(self.of(roles.M.ravel()))))

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
        with self.torch.autograd.forward_ad.dual_level():
            if x.dtype.kind == "f":
                yield "with a tangent", self.torch.autograd.forward_ad.make_dual(self.of(x), self.of(x))

    def test_changes_are_counted(self):
        """As autograd needs it, of each output that is written to, and of no other."""
        for role, like, call in roles.outputs(self.of, self.index):
            for out, counts in (self.of(np.zeros_like(like)), True), (self.of(np.zeros((*like.shape, 2), like.dtype)), False):
                before = out._version
                with self.subTest(role, counts=counts), contextlib.nullcontext() if counts else self.assertRaises(ValueError):
                    call(out)
                self.assertEqual(out._version > before, counts, role)

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
        self.of = self.torch.from_numpy

    def test_gradients_after_a_change(self):
        """What autograd has kept is written over: an error of PyTorch's, as after its own out=."""
        torch = self.torch
        for call in tw.cumsum, torch.cumsum:
            p, w = torch.ones(5, requires_grad=True), torch.arange(5.0)
            y = (p * w).sum()
            call(w, **({} if call is tw.cumsum else {"dim": 0}), out=w)
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                y.backward()
        with torch.inference_mode():
            uncounted = torch.arange(5.0)
        self.assertEqual(tw.cumsum(uncounted, out=uncounted).tolist(), [0, 1, 3, 6, 10])

    def test_other_kinds_of_tensors(self):
        torch, x = self.torch, self.torch.arange(5.0)
        for layout in torch.jagged, torch.strided:
            nested = torch.nested.nested_tensor([x[:3], x[3:]], layout=layout)
            self.assertEqual(Cases.obeyed(self, tw.sum, "a", nested), 10)
        for one in (torch.quantize_per_tensor(x, 1, 0, torch.quint8), torch.quantize_per_tensor(x, 1, 0, torch.qint32),
                    x.to(torch.float8_e4m3fn), x.to(torch.float8_e5m2), x.to_sparse().requires_grad_(), x.clone().requires_grad_()):
            self.assertEqual(Cases.obeyed(self, tw.sum, "a", one), 10, one.dtype)
        for call in (lambda: tw.sum(torch._to_functional_tensor(x)), lambda: tw.sum(torch.nn.parameter.UninitializedParameter()),
                     lambda: tw.sum(x.to("meta")), lambda: torch.func.vmap(tw.cumsum)(x.reshape(5, 1)),
                     lambda: torch.func.grad(lambda a: tw.sum(a.detach()))(x)):
            with self.assertRaisesRegex((TypeError, ValueError), "^a (has no memory of its own|is not lent by its library).*; pass a plain array of"):
                call()
        for call in (lambda: torch.func.jvp(tw.cumsum, (x,), (x,)), lambda: torch.func.jvp(lambda a: tw.cumsum(np.ones(5, "f4"), out=a), (x,), (x,))):
            with self.assertRaisesRegex(TypeError, "has a tangent of forward mode, which tilewise does not compute"):
                call()

    def test_conjugates(self):
        z = self.torch.tensor([1 + 1j, 2 + 2j])
        with self.assertRaisesRegex(TypeError, r"a\.resolve_conj\(\)"):
            tw.sum(z.conj())
        with self.assertRaisesRegex(TypeError, r"a\.resolve_neg\(\)"):
            tw.cumsum(z.conj().imag)
        self.assertEqual(tw.cumsum(z.conj().imag.resolve_neg().contiguous()).tolist(), [-1, -3])
        minus = self.torch._neg_view(self.torch.tensor(3.0))
        self.assertEqual(tw.sum(self.torch.ones(2), initial=minus), -1)

    def test_signs_kept_elsewhere(self):
        """However a view comes to it: the sign counts, or the error says how to make it count."""
        torch, z = self.torch, self.torch.tensor([[1 + 1j, 2 - 3j], [5 + 7j, -4 + 9j]])

        class Derived(torch.Tensor):
            pass

        x = torch._neg_view(torch.arange(1.0, 7.0))
        with torch.inference_mode():
            inferred = torch._neg_view(torch.arange(3.0))
        for one in (x, x.double(), x[1:], x[:3].view(1, 3), x.half(), x.bfloat16(), x.int(), torch._neg_view(torch.arange(5)), x.neg(), -x,
                    torch._neg_view(x), x.detach(), x.clone(), x.abs(), x.reshape(2, 3), x.reshape(2, 3)[:, 1:], x.expand(2, 6)[:1], x[:0],
                    x.as_subclass(Derived), torch.nn.Parameter(x), x.contiguous(), torch._neg_view(torch.tensor([1.0])).expand(3),
                    torch._neg_view(torch.from_numpy(np.arange(3.0))), inferred, z.conj().imag, z.conj().imag[0], z.mH.imag, z.adjoint().imag.T,
                    torch._neg_view(torch.view_as_real(z)), torch.view_as_real(z.conj().resolve_conj()), z.conj().real, z.conj().imag.contiguous(),
                    z.conj(), z.mH, torch._neg_view(z), torch._neg_view(z.conj())):
            for name, call in (("sum", tw.sum), ("cumsum", tw.cumsum), ("array", lambda a: tw.array(a, "cpu"))):
                try:
                    got = call(one)
                except (TypeError, ValueError) as error:
                    self.assertRegex(str(error), r"resolve_|contiguous\(\)|detach\(\)|a.real and a.imag|object.real and object.imag")
                else:
                    seen = one.detach().resolve_conj().resolve_neg().contiguous()
                    self.assertFalse(one.is_neg() or one.is_conj(), name)
                    self.assertEqual(np.asarray(got).tolist(), np.asarray(call(seen)).tolist(), name)

    def test_signs_in_every_argument(self):
        """Views of tensors that are something else besides."""
        torch = self.torch

        class Derived(torch.Tensor):
            pass

        def views(x):
            x = torch.from_numpy(x.copy())
            minus = torch._neg_view(x)
            yield from (minus.as_subclass(Derived), torch.nn.Buffer(minus), torch._neg_view(-minus), torch._neg_view(x.clone().share_memory_()),
                        minus.as_strided(x.shape, x.stride()), minus.ravel().view(x.shape), torch._neg_view(torch.stack([x, x])).unbind(0)[1])
            if x.is_floating_point():
                z = torch.complex(x, x)
                yield from (torch.nn.Parameter(minus, requires_grad=False), z.conj().imag, torch.view_as_real(torch._neg_view(z))[..., 0])

        for (role, x, call), says in itertools.chain(((row, r"pass \w+\.resolve_neg\(\)$") for row in roles.inputs(torch.from_numpy)),
                                                     ((row, "would be other memory, so leave out= away") for row in roles.outputs(torch.from_numpy, "i8"))):
            for number, view in enumerate(views(x)):
                with self.subTest(role, view=number), self.assertRaisesRegex(TypeError, says):
                    call(view)

    def test_lazy_clones(self):
        """An output that shares its memory until it is written to leaves the other as it was."""
        for role, like, call in roles.outputs(self.torch.from_numpy, "i8"):
            whole = self.torch.from_numpy(np.full_like(like, 42)).clone()
            out, wanted = self.torch._lazy_clone(whole), call(None)
            with self.subTest(role):
                call(out)
                self.assertEqual((out.tolist(), whole.tolist()), (wanted.tolist(), np.full_like(like, 42).tolist()))

    def test_layouts(self):
        for made in (self.torch.Tensor.to_sparse, self.torch.Tensor.to_sparse_csr, self.torch.Tensor.to_mkldnn):
            with self.subTest(made.__name__), self.assertRaisesRegex(TypeError, r"a is stored as torch\.\w+; pass a\.to_dense\(\)$"):
                tw.sum(made(self.torch.eye(3)))

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


class OfJax(Cases, unittest.TestCase):
    """Which are read-only."""

    def setUp(self):
        if (jax := installed("jax")) is None:
            self.skipTest("JAX is not installed")
        self.of = lambda values: jax.device_put(values, jax.devices("cpu")[0])  # where there is a GPU, too

    def unfit(self, x):
        return ()

    unfit_outputs = unfit

    def test_taken(self):
        for role, x, call in roles.inputs():
            with self.subTest(role):
                self.same(np.asarray(call(self.of(x))), np.asarray(call(x)))
        for role, like, call in roles.outputs():
            with self.subTest(role), self.assertRaisesRegex(ValueError, "is read-only; .*leave out= away"):
                call(self.of(like))

    def test_what_jax_does_not_lend(self):
        """Its own reason is told: in a process of two devices, over which an array can lie."""
        program = """if True:
            import jax, jax.numpy as jnp, numpy, tilewise as tw
            from jax.sharding import Mesh, NamedSharding, PartitionSpec
            over = NamedSharding(Mesh(numpy.array(jax.devices("cpu")), ("d",)), PartitionSpec("d"))
            def said(call, a):
                try:
                    return call(a)
                except (TypeError, ValueError) as error:
                    assert "is not lent by its library (" in str(error) and "holds" not in str(error), error
                    return str(error).split("; pass ")[1]
            for dtype in "float32", "bfloat16":
                a = jax.device_put(jnp.arange(1, 7, dtype=dtype), over)
                assert tw.sum(eval(said(tw.sum, a))) == 21
            a = jnp.arange(1.0, 7.0)
            assert said(jax.jit(tw.cumsum), a) == "it through jax.pure_callback"
            shape = jax.ShapeDtypeStruct(a.shape, a.dtype)
            assert jax.jit(lambda a: jax.pure_callback(tw.cumsum, shape, a))(a)[-1] == 21
            a.delete()
            assert said(tw.sum, a) == "one that is still there"
            """
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={
            **os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
