# SPDX-License-Identifier: Apache-2.0
"""The module with PyTorch and CuPy on a GPU, whichever are there; without one everything is skipped.

gpu_test.py            compares every function's bits with the CPU's, on the default stream and on others
gpu_test.py --time     instead measures cumsum and sort of 67,108,864 elements beside PyTorch's and CuPy's

Found through PYTHONPATH; docs/python.md says how to build the module for another Python.
"""

import importlib
import pathlib
import statistics
import sys
import unittest

import numpy as np

import tilewise as tw

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import lenders_test  # noqa: E402
from definition import FLOATS, TYPES, wide  # noqa: E402


def imported(name):
    try:
        module = importlib.import_module(name)
        return module if module.cuda.is_available() else None
    except Exception:  # whatever a library without its driver raises
        return None


torch, cupy = imported("torch"), imported("cupy")


class Torch:
    """Its arrays, as the tests need them."""
    there = torch is not None

    def array(self, x):
        return torch.from_numpy(x).cuda()

    def host(self, x):
        return x.cpu().numpy()

    def is_one(self, x):
        return isinstance(x, torch.Tensor) and x.is_cuda

    def stream(self):
        return torch.cuda.stream(torch.cuda.Stream())

    def finish(self):
        torch.cuda.synchronize()

    def from_ours(self, x):
        return torch.from_dlpack(x)

    index, contiguous = np.int64, r"a\.contiguous\(\)"
    types = [t for t in TYPES if t not in (np.uint32, np.uint64) or torch and hasattr(torch, "uint32")]


class Cupy:
    there = cupy is not None

    def array(self, x):
        return cupy.asarray(x)

    def host(self, x):
        return cupy.asnumpy(x)

    def is_one(self, x):
        return isinstance(x, cupy.ndarray)

    def stream(self):
        return cupy.cuda.Stream(non_blocking=True)

    def finish(self):
        cupy.cuda.Device().synchronize()

    def from_ours(self, x):
        return cupy.from_dlpack(x)

    index, contiguous = np.uint32, r"cupy\.ascontiguousarray\(a\)"
    types = TYPES


class GpuCase:
    """The tests of one library."""

    def setUp(self):
        if not self.library.there:
            self.skipTest(f"no {type(self.library).__name__} with a GPU")
        self.rng = np.random.default_rng(7)

    def same(self, got, wanted, what):
        got = self.library.host(got)
        self.assertEqual((got.dtype, got.shape, got.tobytes()), (wanted.dtype, wanted.shape, wanted.tobytes()), what)

    def compare(self, name, *arguments, **options):
        """One call with arrays there and with arrays here."""
        there = [self.library.array(x) if isinstance(x, np.ndarray) else x for x in arguments]
        got, wanted = getattr(tw, name)(*there, **options), getattr(tw, name)(*arguments, **options)
        what = f"{name} {arguments[0].dtype} {arguments[0].shape} {options}"
        if np.ndim(wanted) == 0 and not isinstance(wanted, tuple):
            self.assertEqual(np.asarray(got).tobytes(), np.asarray(wanted).tobytes(), what)
            return
        for one, here in zip(got, wanted) if isinstance(wanted, tuple) else [(got, wanted)]:
            self.assertTrue(self.library.is_one(one), what)
            self.same(one, here.astype(self.library.index) if name == "argsort" else here, what)

    def every_function(self, n):
        for dtype in self.library.types:
            x, y = wide(self.rng, n, dtype), wide(self.rng, n, dtype)
            for name in ("sum", "prod", "min", "max"):
                self.compare(name, x, initial=2)
            for name in ("cumsum", "inclusive_scan", "exclusive_scan", "sort", "argsort"):
                self.compare(name, x)
            self.compare("inclusive_scan", x, op="max")
            self.compare("sort_by_key", x, np.arange(n), descending=True)
            self.compare("dot", x, y)
            m = wide(self.rng, 33 * 47, dtype).reshape(33, 47)
            for axis in (0, -1):
                self.compare("sort", m, axis, descending=True)
                self.compare("sort", m.reshape(3, -1), axis)
            self.compare("matvec", m, m[0].copy())
            self.compare("matmul", m, m.T.copy())
            if dtype in (np.float32, np.float64, np.int32):
                self.compare("polymul", *([x[:100], y[:77]] if dtype != np.int32 else [x[:100] % 1000, y[:77] % 1000]))
            if dtype in FLOATS:
                self.compare("convolve", m, m[:3, :5].copy(), border="zero")
                self.compare("diffuse", m, 5)

    def test_every_function(self):
        for n in (1, 1000, 100_003):
            self.every_function(n)

    def test_on_another_stream(self):
        with self.library.stream():
            self.every_function(5000)

    def test_ordered_by_the_stream(self):
        """What is enqueued before and after is not waited for, and yet in order."""
        x = wide(self.rng, 1 << 22, np.float32)
        wanted = tw.cumsum(x * np.float32(2)) + np.float32(1)
        for _ in range(10):
            with self.library.stream():
                doubled = self.library.array(x) * 2
                result = tw.cumsum(doubled) + 1
                doubled += 100
                self.same(result, wanted, "order")

    def test_out_and_in_place(self):
        x = wide(self.rng, 100_003, np.float32)
        there = self.library.array(x)
        self.assertIs(tw.cumsum(there, out=there), there)
        self.same(there, tw.cumsum(x), "in place")
        m = wide(self.rng, 64 * 64, np.float64).reshape(64, 64)
        whole = self.library.array(np.zeros((64, 128)))
        tw.matmul(self.library.array(m), self.library.array(m), out=whole[:, :64])
        self.same(whole, np.hstack([tw.matmul(m, m), np.zeros((64, 64))]), "rows that lie apart")

    def test_parts(self):
        x = wide(self.rng, 100_003, np.float32)
        carry = tw.partial(dtype=np.float32)
        for cut in np.split(x, [1, 5000, 65_536]):
            tw.cumsum(self.library.array(cut), carry=carry)
        self.assertEqual(carry.value(), tw.sum(x))

    def test_exchange(self):
        x = wide(self.rng, 1000, np.float64).reshape(10, 100)
        mine = tw.array(x, device="cuda:0")
        self.assertEqual(mine.__dlpack_device__(), (2, 0))
        theirs = self.library.from_ours(mine)
        self.same(theirs, x, "out")
        theirs += 1
        self.library.finish()
        self.assertEqual(mine.numpy().tobytes(), (x + 1).tobytes(), "it was copied")
        self.same(self.library.from_ours(tw.cumsum(mine)), tw.cumsum(x + 1), "a result of ours")

    def test_refused(self):
        x = self.library.array(np.arange(12, dtype=np.float32))
        with self.assertRaisesRegex(ValueError, f"pass {self.library.contiguous}$"):
            tw.sum(x[::2])
        with self.assertRaisesRegex(ValueError, "in the host's memory"):
            tw.dot(x, np.ones(12, np.float32))
        with self.assertRaisesRegex(ValueError, "computed on where it is"):
            tw.sum(x, device="cpu")
        with self.assertRaisesRegex(ValueError, "another queue"):
            tw.dot(x, tw.array(np.ones(12, np.float32), device="cuda:0"))
        with self.assertRaisesRegex(ValueError, "shares memory"):
            tw.cumsum(x[:11], out=x[1:])


class WithTorch(GpuCase, unittest.TestCase):
    library = Torch()

    def test_gradients_and_types(self):
        with self.assertRaisesRegex(TypeError, "requires a gradient"):
            tw.sum(torch.ones(3, device="cuda", requires_grad=True))
        with self.assertRaisesRegex(TypeError, r"a holds torch\.float16; .*pass a\.to\(torch\.float32\)$"):
            tw.sum(torch.ones(3, device="cuda").half())

    def test_on_the_host(self):
        x = wide(self.rng, 1000, np.float32)
        result = tw.cumsum(torch.from_numpy(x))
        self.assertEqual(result.device.type, "cpu")
        self.assertEqual(result.numpy().tobytes(), tw.cumsum(x).tobytes())

    def test_indices_index(self):
        x = torch.from_numpy(wide(self.rng, 1000, np.float32)).cuda()
        self.assertTrue(torch.equal(x[tw.argsort(x)], tw.sort(x)))


class TorchLenders(lenders_test.OfTorch):
    """What lenders_test does on the host: views that are negated or sliced, other types and shapes, places; and the errors' advice."""

    not_for = ("array(object)",)  # which copies from the host

    def setUp(self):
        if torch is None:
            self.skipTest("no Torch with a GPU")
        super().setUp()

    def of(self, x):
        return torch.from_numpy(x.copy()).cuda()

    def host(self, x):
        return x.resolve_neg().cpu().numpy() if isinstance(x, torch.Tensor) else np.asarray(x)

    def test_places(self):
        for elsewhere in (lambda x: x, torch.from_numpy, lambda x: tw.array(x, "cuda:0")):
            for role, argument, x, call in self.inputs():
                if argument in ("values", "b", "x", "mask") and role != "partial.push(values)":
                    with self.subTest(role):
                        self.same(self.host(self.obeyed(call, argument, elsewhere(x))), self.host(call(self.of(x))))


class WithCupy(GpuCase, unittest.TestCase):
    library = Cupy()

    def test_interface_alone(self):
        class Bare:
            def __init__(self, x):
                self.x, self.__cuda_array_interface__ = x, x.__cuda_array_interface__

        x = wide(self.rng, 1000, np.float32)
        result = tw.cumsum(Bare(cupy.asarray(x)))
        self.assertIsInstance(result, tw.array)
        self.assertEqual(cupy.asnumpy(cupy.asarray(result)).tobytes(), tw.cumsum(x).tobytes())


def measure():
    """Milliseconds by CUDA events: the median of 20 calls, and its quartiles."""
    def timed(call):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        times = []
        for _ in range(23):
            start.record()
            call()
            stop.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(stop))
        low, middle, high = statistics.quantiles(times[3:], n=4)
        return f"{middle:8.3f} ms ({low:.3f} to {high:.3f})"

    for dtype in (torch.float32, torch.float64, torch.int64):
        x = torch.randint(-2**30, 2**30, (1 << 26,), device="cuda").to(dtype)
        out = torch.empty_like(x)
        for name, ours, theirs in (("cumsum", lambda: tw.cumsum(x, out=out), lambda: torch.cumsum(x, 0, out=out)),
                                   ("sort", lambda: tw.sort(x, out=out), lambda: torch.sort(x)),
                                   ("sum", lambda: tw.sum(x), lambda: torch.sum(x).item())):
            print(f"{name:7} {str(dtype):14} tilewise {timed(ours)}, PyTorch {timed(theirs)}")
        if cupy:
            theirs = cupy.from_dlpack(x)
            print(f"cumsum  {str(dtype):14} CuPy {timed(lambda: cupy.cumsum(theirs))}; sort {timed(lambda: cupy.sort(theirs))}")
    x = torch.rand(1 << 26, device="cuda")
    runs = [torch.cumsum(x, 0) for _ in range(2)]
    print("outputs in which two runs differ:", int((runs[0] != runs[1]).sum()), "of PyTorch's,",
          int((tw.cumsum(x) != tw.cumsum(x)).sum()), "of ours")
    small = torch.rand(1000, device="cuda")
    print(f"1,000 elements: tilewise {timed(lambda: tw.cumsum(small))}, PyTorch {timed(lambda: torch.cumsum(small, 0))}")


if __name__ == "__main__":
    if "--time" in sys.argv:
        measure() if torch else print("there is no PyTorch with a GPU")
    else:
        unittest.main()
