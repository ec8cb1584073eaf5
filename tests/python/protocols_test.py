# SPDX-License-Identifier: Apache-2.0
"""Memory that travels by DLPack and __cuda_array_interface__, here on CPUs, with libraries and objects that only pretend."""

import ctypes
import gc
import resource
import sys
import types
import unittest
from ctypes import c_char_p

import numpy as np

import roles
import tilewise as tw
from lenders import X, Hostile, Lender, Versioned, pretended_torch
from tilewise import _frameworks


class OnCuda:
    """A device array in the eyes of the interface; there is no GPU, and nothing there."""

    def __init__(self, **facts):
        self.__cuda_array_interface__ = {"shape": (5,), "typestr": "<f4", "data": (4096, False), "version": 3} | facts


class OffersABuffer(bytearray):
    """As CuPy's arrays do, whose buffer then is refused."""
    __cuda_array_interface__ = OnCuda().__cuda_array_interface__


class Half:
    """A bfloat16 array as ml_dtypes makes them: it has no buffer that anybody could read, and its own astype."""

    dtype = "bfloat16"

    def __init__(self, bits):
        self.bits = bits

    def astype(self, dtype):
        return (self.bits.astype(np.uint32) << 16).view(dtype)

    def __dlpack__(self, stream=None):
        return Hostile(shape=(len(self.bits),), code=4, bits=16).__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)


class HalfPrecision(unittest.TestCase):
    def same(self, result, wanted, what):
        result, wanted = np.asarray(result), np.asarray(wanted)
        self.assertEqual((result.dtype, result.shape), (np.float32, wanted.shape), what)
        self.assertEqual(result.tobytes(), wanted.tobytes(), what)

    def test_is_read_as_float32(self):
        half = np.random.default_rng(1).standard_normal((40, 30)).astype(np.float16)
        wide = half.astype(np.float32)
        for name, call in (("sum", tw.sum), ("cumsum", tw.cumsum), ("axis", lambda a: tw.sum(a, axis=0)),
                           ("lines", lambda a: tw.cumsum(a, axis=1)),
                           ("matmul", lambda a: tw.matmul(a, a[:30])), ("mixed", lambda a: tw.matmul(a, wide[:30])),
                           ("sort", tw.sort), ("array", lambda a: tw.array(a, "cpu").numpy())):
            self.same(call(half), call(wide), name)
        self.same(tw.sum(half[::2, ::3]), tw.sum(wide[::2, ::3].copy()), "a slice")
        every = np.arange(2**16, dtype=np.uint16).view(np.float16)
        self.same(tw.max(every[np.isfinite(every)]), np.float32(65504), "every finite one")
        least = every[every > 0].min()
        self.same(tw.sum(np.array([least])), np.float32(2**-24), "the least denormal")

    def test_bfloat16(self):
        bits = np.array([0x3F80, 0x4000, 0x0001, 0xC2F7], np.uint16)
        self.same(tw.cumsum(Half(bits)), tw.cumsum((bits.astype(np.uint32) << 16).view(np.float32)), "bfloat16")


class ByDlpack(unittest.TestCase):
    def test_in(self):
        self.assertEqual(tw.sum(Lender(X)), tw.sum(X))
        result = tw.cumsum(Lender(X))
        self.assertIsInstance(result, np.ndarray)
        self.assertEqual(result.tobytes(), tw.cumsum(X).tobytes())
        m = np.arange(12.0).reshape(3, 4)
        self.assertEqual(tw.matmul(Lender(m[:, :3]), m).tobytes(), tw.matmul(m[:, :3].copy(), m).tobytes())
        with self.assertRaisesRegex(tw.InvalidArgument, "ascontiguousarray"):
            tw.sum(Lender(X[::2]))

    def test_written_where_it_lies(self):
        out = np.zeros(5, np.float32)
        tw.cumsum(Lender(X), out=Lender(out))
        self.assertEqual(out.tobytes(), tw.cumsum(X).tobytes())

    def test_out(self):
        mine = tw.array(X, device="cpu")
        theirs = np.from_dlpack(mine)
        self.assertEqual(mine.__dlpack_device__(), (1, 0))
        tw.cumsum(mine, out=mine)
        self.assertEqual(theirs.tobytes(), tw.cumsum(X).tobytes(), "it was copied")
        del mine
        gc.collect()
        self.assertEqual(theirs.tobytes(), tw.cumsum(X).tobytes(), "it was freed")
        self.assertEqual(np.asarray(tw.array(X.reshape(1, 5))).shape, (1, 5))
        self.assertEqual(np.array(tw.array(X), dtype=np.float64).dtype, np.float64)

    def test_a_capsule_outlives_its_array(self):
        class Kept:
            capsule = tw.array(X.reshape(1, 5), device="cpu").__dlpack__()
            __dlpack__ = lambda self, **_: self.capsule
            __dlpack_device__ = lambda self: (1, 0)

        others = [tw.array(np.zeros((7, 9)), device="cpu") for _ in range(9)]  # where it was
        self.assertEqual(np.from_dlpack(Kept()).tolist(), [X.tolist()])
        del others

    def test_capsules_that_nobody_takes(self):
        for _ in range(100):
            tw.array(X, device="cpu").__dlpack__()
        pages, zeros = [], np.zeros(1 << 21)
        for lend in (lambda array: None, *[tw.array.__dlpack__] * 8):  # what the first leaves serves the others
            lend(tw.array(zeros, device="cpu"))
            with open("/proc/self/statm") as facts:
                pages.append(int(facts.read().split()[0]))
        self.assertLess((max(pages) - pages[0]) * resource.getpagesize(), zeros.nbytes // 2, "what nobody takes is kept")

    def test_what_a_capsule_may_be_asked_for(self):
        here, there = tw.array(X, device="cpu"), tw.array(X, device="2*cpu:serial")
        capsule = ctypes.pythonapi.PyCapsule_IsValid
        capsule.argtypes = [ctypes.py_object, c_char_p]
        for asked, name in ((None, b"dltensor"), ((0, 8), b"dltensor"), ((1, 0), b"dltensor_versioned"), ((2, 3), b"dltensor_versioned")):
            for one, more in ((here, {}), (here, {"copy": True}), (here, {"dl_device": (1, 0), "copy": False}), (there, {"dl_device": (1, 0)})):
                self.assertTrue(capsule(one.__dlpack__(max_version=asked, **more), name), (asked, more))
        for one, wrong in ((here, {"dl_device": (2, 0)}), (there, {}), (there, {"copy": True}), (there, {"dl_device": (1, 0), "copy": False})):
            with self.assertRaisesRegex(BufferError, "numpy"):
                one.__dlpack__(**wrong)

        class Asks(Lender):
            __dlpack__ = lambda self, **_: self.values.__dlpack__(max_version=(1, 0), **more)
            __dlpack_device__ = lambda self: (1, 0)

        for one, more in ((here, {"copy": True}), (there, {"dl_device": (1, 0)})):
            self.assertEqual(tw.cumsum(Asks(one)).tobytes(), tw.cumsum(X).tobytes())
            with self.assertRaisesRegex(ValueError, "a second array, which nobody would see; leave out= away"):
                tw.cumsum(X, out=Asks(one))

    def test_given_back_once(self):
        good = Hostile()
        self.assertEqual(tw.sum(good), tw.sum(X))
        self.assertEqual((good.given_back, good.stream), (1, None))
        part = Hostile(shape=(3,), offset=8)
        self.assertEqual(tw.sum(part), tw.sum(X[2:]))

    def test_refused(self):
        for what, kind, message in (
                ({"code": 5, "bits": 64}, TypeError, "tilewise computes with"),
                ({"code": 2, "bits": 16}, TypeError, "tilewise computes with"),
                ({"code": 200}, TypeError, "tilewise computes with"),
                ({"lanes": 2}, TypeError, "tilewise computes with"),
                *(({"code": code, "bits": bits}, TypeError, "tilewise computes with") for code in (0, 1, 2) for bits in (33, 39, 65)),
                ({"shape": (1,) * 9}, ValueError, "9 dimensions"),
                ({"shape": ()}, ValueError, "no dimensions"),
                ({"strides": (2,)}, ValueError, "ascontiguousarray"),
                ({"strides": (-1,)}, ValueError, "ascontiguousarray"),
                ({"shape": (-1,)}, ValueError, "negative length"),
                ({"shape": (2**40, 2**40)}, ValueError, "more elements than memory"),
                ({"offset": 2}, ValueError, "aligned")):
            hostile = Hostile(**what)
            with self.assertRaisesRegex(kind, message):
                tw.sum(hostile)
            self.assertEqual(hostile.given_back, 1, what)
        for hostile in Hostile(), Versioned():
            of = (hostile.later if isinstance(hostile, Versioned) else hostile.managed).tensor
            for of.device_type, of.shape, message in ((2, hostile.shape, "is on one device by"), (10, hostile.shape, "is on one device by"),
                                                      (1, None, "has dimensions and no shape")):
                with self.assertRaisesRegex(TypeError, f"a {message}.*breaks the protocol"):
                    tw.sum(hostile)
            of.device_type, of.shape = 3, hostile.shape  # PyTorch's tensors in pinned memory say both
            self.assertEqual((tw.sum(hostile), hostile.given_back), (tw.sum(X), 4))
        for device in (2**32 + 1, 0), (1, 2**32), (-2**31 - 1, 0):
            hostile = Hostile()
            hostile.device = device
            with self.assertRaisesRegex(tw.InvalidArgument, "which int32 cannot hold"):
                tw.sum(hostile)
        for what, message in (({"name": b"used_dltensor"}, "breaks the protocol"), ({"device": (10, 0)}, "type 10")):
            hostile = Hostile(**what)
            with self.assertRaisesRegex(TypeError, message):
                tw.sum(hostile)
            self.assertEqual(hostile.given_back, 0, what)
        no_capsule = types.SimpleNamespace(__dlpack__=lambda: 3, __dlpack_device__=lambda: (1, 0))
        for nonsense in (types.SimpleNamespace(__dlpack__=3), no_capsule):
            with self.assertRaises((TypeError, AttributeError)):
                tw.sum(nonsense)


class LaterVersions(unittest.TestCase):
    def test_taken(self):
        for flags in (0, 1, 2, 3):
            for what, wanted in (({}, X), ({"shape": (3,), "offset": 8}, X[2:]), ({"shape": (2,), "strides": (1,)}, X[:2])):
                one = Versioned(flags, **what)
                self.assertEqual((tw.sum(one), tw.cumsum(one).tobytes()), (tw.sum(wanted), tw.cumsum(wanted).tobytes()))
                self.assertEqual((one.given_back, one.asked, one.stream), (2, (1, 0), None))

    def test_outputs(self):
        out = Versioned()
        tw.cumsum(X, out=out)
        self.assertEqual(out.values.tobytes(), tw.cumsum(X).tobytes())
        for flags, why in ((1, "is read-only"), (2, "a second array"), (3, "is read-only")):
            out = Versioned(flags)
            with self.assertRaisesRegex(ValueError, f"out .*{why}.*leave out= away"):
                tw.cumsum(X, out=out)
            self.assertEqual((out.values.tobytes(), out.given_back), (X.tobytes(), 1))

    def test_what_its_library_does_not_lend(self):
        class Refuses(Lender):
            def __dlpack__(self, stream=None):
                raise BufferError("Cannot export readonly array")

        with self.assertRaisesRegex(ValueError, r"a is not lent by its library \(Cannot export readonly array\); pass a copy of it"):
            tw.sum(Refuses(X))
        with self.assertRaisesRegex(ValueError, r"out is not lent by its library \(Cannot.*\); leave out= away"):
            tw.cumsum(X, out=Refuses(X))
        for kind, told in (RuntimeError, ValueError), (TypeError, TypeError), (NotImplementedError, ValueError), (MemoryError, MemoryError):
            def raises(self, kind=kind):
                raise kind("only here\nand more")

            for where in "__dlpack__", "__dlpack_device__":
                with self.assertRaisesRegex(told, "only here$|^a is not lent by its library .only here.; pass a copy|^only here") as caught:
                    tw.sum(type("Raises", (Lender,), {where: raises})(X))
                self.assertEqual(str(caught.exception).startswith("a is not lent"), kind is not MemoryError)

    def test_refused(self):
        for what, message in (({"version": 2}, "version 2 of DLPack"), ({"version": 0}, "version 0 of DLPack"), ({"code": 5, "bits": 64}, "tilewise computes")):
            one = Versioned(**what)
            with self.assertRaisesRegex(TypeError, message):
                tw.sum(one)
            self.assertEqual(one.given_back, 1)

    def test_read_only_memory(self):
        """As each input, and as no output."""
        for role, x, call in roles.inputs():
            self.assertEqual(np.asarray(call(Versioned.of(x, 1))).tobytes(), np.asarray(call(x)).tobytes(), role)
        for role, like, call in roles.outputs():
            out = Versioned.of(like, 1)
            with self.subTest(role), self.assertRaisesRegex(ValueError, "is read-only"):
                call(out)
            self.assertEqual(out.values.tobytes(), like.tobytes())


class WithoutGpu(unittest.TestCase):
    """Up to the point at which the GPU is needed."""

    def setUp(self):
        if any(device.backend == "cuda" for device in tw.devices()):
            self.skipTest("there is a GPU, and pretended memory would be read")

    def test_device_memory(self):
        for there in (OnCuda(), OnCuda(stream=1), OnCuda(strides=(4,)), OnCuda(mask=None), OffersABuffer(20), Hostile(device=(2, 0))):
            with self.assertRaisesRegex(tw.Error, "no CUDA (device|backend)"):
                tw.sum(there)

    def test_refused_before(self):
        for facts, kind, message in (({"typestr": "<f2"}, TypeError, "a holds <f2"), ({"typestr": ">f4"}, TypeError, ">f4"),
                                     ({"typestr": "<c8"}, TypeError, "<c8"), ({"typestr": "nonsense"}, TypeError, "nonsense"),
                                     ({"strides": (8,)}, ValueError, "ascontiguousarray"),
                                     ({"mask": OnCuda(typestr="|b1")}, TypeError, "a is a masked array.*pass an array without one"),
                                     ({"shape": ()}, ValueError, "no dimensions"), ({"shape": (1,) * 9}, ValueError, "9 dim"),
                                     ({"shape": (-3,)}, ValueError, "negative"), ({"shape": 3}, TypeError, "iterable"),
                                     ({"strides": ()}, IndexError, "range"),
                                     ({"shape": (2**40, 2**40)}, ValueError, "more elements than memory"),
                                     ({"data": (4098, False)}, ValueError, "aligned")):
            with self.subTest(facts), self.assertRaisesRegex(kind, message):
                tw.sum(OnCuda(**facts))
        with self.assertRaisesRegex(ValueError, "out is read-only"):
            tw.cumsum(X, out=OnCuda(data=(4096, True)))
        with self.assertRaises(KeyError):
            tw.sum(types.SimpleNamespace(__cuda_array_interface__={}))


class PretendedTorch(unittest.TestCase):
    def setUp(self):
        self.torch, self.before = pretended_torch(), sys.modules.get("torch")
        sys.modules["torch"] = self.torch
        _frameworks._torch = None

    def tearDown(self):
        del sys.modules["torch"]
        _frameworks._torch = None
        if self.before:
            sys.modules["torch"] = self.before

    def test_what_goes_in_comes_back(self):
        x = self.torch.Tensor(X)
        result = tw.cumsum(x)
        self.assertIsInstance(result, self.torch.Tensor)
        self.assertEqual(result.values.tobytes(), tw.cumsum(X).tobytes())
        indices = tw.argsort(x)
        self.assertEqual((type(indices), indices.values.dtype), (self.torch.Tensor, np.int64))
        self.assertEqual(indices.values.tolist(), tw.argsort(X).tolist())
        keys, values = tw.sort_by_key(x, X)
        self.assertEqual((type(keys), type(values)), (self.torch.Tensor, np.ndarray))

    def test_tensors_on_a_gpu_are_known_without_a_capsule(self):
        def on_gpu(values, **facts):
            x = self.torch.Tensor(values)
            x.is_cuda = True
            for name, fact in facts.items():
                setattr(x, name, fact)
            return x

        matrix = np.zeros((4, 6), dtype=np.int64)
        self.assertEqual(_frameworks.tensor_on_gpu(on_gpu(X)), (X.ctypes.data, 0, (5,), (1,), 3, 1003))
        self.assertEqual(_frameworks.tensor_on_gpu(on_gpu(matrix[:, :5])), (matrix.ctypes.data, 3, (4, 5), (6, 1), 3, 1003))
        for other in (on_gpu(X, requires_grad=True), on_gpu(X, layout="sparse"), on_gpu(X, negative=True), on_gpu(X.astype(np.float16)),
                      self.torch.Tensor(X), type("Parameter", (self.torch.Tensor,), {"is_cuda": True})(X), X, None):
            self.assertIsNone(_frameworks.tensor_on_gpu(other))
        del self.torch._C._cuda_getCurrentRawStream
        self.torch.cuda = types.SimpleNamespace(current_stream=lambda gpu: types.SimpleNamespace(cuda_stream=2000 + gpu))
        _frameworks._torch = None
        self.assertEqual(_frameworks.tensor_on_gpu(on_gpu(X))[-1], 2003)

    def test_gradients(self):
        x = self.torch.Tensor(X)
        x.requires_grad = True
        with self.assertRaisesRegex(TypeError, r"a requires a gradient.*a\.detach\(\)"):
            tw.sum(x)


if __name__ == "__main__":
    unittest.main()
