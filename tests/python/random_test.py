# SPDX-License-Identifier: Apache-2.0
"""Calls with random arguments, most of them wrong: each returns, or raises what the module documents. TILEWISE_RANDOM_CALLS says
how many there are, TILEWISE_RANDOM_SEED which."""

import os
import unittest

import numpy as np

import tilewise as tw
from definition import TYPES, wide
from protocols_test import Lender

FUNCTIONS = ["sum", "prod", "min", "max", "cumsum", "inclusive_scan", "exclusive_scan", "sort", "argsort", "sort_by_key", "matmul",
             "matvec", "dot", "polymul", "convolve", "diffuse", "array", "partial", "open"]
DOCUMENTED = (tw.Error, TypeError, ValueError, BufferError, AttributeError)


class RandomCalls(unittest.TestCase):
    def setUp(self):
        self.seed = int(os.environ.get("TILEWISE_RANDOM_SEED", "20"))
        self.rng = np.random.default_rng(self.seed)
        self.devices = [tw.open(name) for name in ("cpu", "cpu:serial", "2*cpu:serial")]
        self.partials = [tw.partial(op, dtype) for op in ("sum", "min") for dtype in TYPES]
        self.kept = []

    def pick(self, things):
        return things[self.rng.integers(len(things))]

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
        return x

    def anything(self):
        if self.rng.random() < 0.3 and self.kept:
            return self.pick(self.kept)
        if self.rng.random() < 0.85:
            self.kept.append(self.any_array())
            del self.kept[:-20]
            return self.kept[-1]
        return self.pick([None, 3, -1, 2.5, "sum", "max", "valid", "zero", [1.0], (1,), b"b", 2**70, float("nan"), self.devices[0]])

    def options(self):
        rng, all_options = self.rng, {}
        for name, values in (("out", None), ("initial", [0, 2, -1, 1.5, "x", 2**40]), ("op", ["sum", "max", "nope"]),
                             ("descending", [True, False, None]), ("device", self.devices + ["cpu:threads", "nope", 3]),
                             ("variant", ["serial", "nope", ""]), ("tuning", ["nope=1", ""]), ("carry", self.partials),
                             ("axis", [0, -1, 1, 5, "x"]),
                             ("modulus", [0, 1, 97, 2**63 - 1, -1]), ("border", ["valid", "zero", "nope"]),
                             ("steps", [0, 1, 5, -1]), ("mask", [53, 95, 7]), ("rate", [0.001, 10.0, float("nan")])):
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
        for number in range(int(os.environ.get("TILEWISE_RANDOM_CALLS", "500"))):
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
                raise AssertionError(f"seed {self.seed}, call {number}: {name}({arguments}, {options})") from e
        self.assertGreater(returned, number // 20, "hardly any call was good")


if __name__ == "__main__":
    unittest.main()
