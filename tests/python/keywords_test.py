# SPDX-License-Identifier: Apache-2.0
"""Every keyword of every function, with another value than its default, against the definition: whatever kind of arrays it is
given, and wherever the results go."""

import inspect
import itertools
import os
import pickle
import subprocess
import sys
import unittest

import numpy as np

import definition
import tilewise as tw
from definition import TYPES, wide
from lenders import Lender

RNG = np.random.default_rng(20)
GROUP = tw.open("2*cpu:serial")  # as arrays on a GPU, its arrays are no host memory
NAMES = {"sum": "sum", "prod": "product", "min": "min", "max": "max"}


def by_order(x, descending):
    return np.array(sorted(range(len(x)), key=definition.order_key(x, descending).__getitem__), np.uint32)


def along(axis, of_a_line, a):
    """What is done with each line of an array, of which those along its last axis are rows."""
    lines = np.moveaxis(a, axis, -1)
    results = np.array([of_a_line(line.copy()) for line in lines.reshape(-1, lines.shape[-1])])
    return np.ascontiguousarray(np.moveaxis(results.reshape(lines.shape[:-1] + results.shape[1:]), -1, axis)
                                if results.ndim > 1 else results.reshape(lines.shape[:-1]))


def folds():
    """Arguments by their names, and what the definition makes of them; so do all below."""
    for (name, op), dtype in itertools.product(NAMES.items(), ("f4", "i4", "u8")):
        x, a = wide(RNG, 37, dtype), wide(RNG, 60, dtype).reshape(5, 12)
        if name in ("min", "max"):  # so that 0 is neither dropped nor taken for none unseen
            x, a = (np.abs(y) // 2 + 1 if name == "min" else -(np.abs(y) // 2) - 1 if dtype != "u8" else y // 2 for y in (x, a))
        for initial in (None, 0, 3):
            yield name, {"a": x, "initial": initial}, definition.reduce(x, op, initial)
            for axis, of in ((0, a), (1, a), (-1, a), (-2, a), (0, a.reshape(5, 3, 4)), (-3, a.reshape(5, 3, 4)), (2, a.reshape(5, 3, 4))):
                wanted = along(axis, lambda line: definition.reduce(line, op, initial), of)
                yield name, {"a": of, "axis": axis, "initial": initial}, wanted


def scans():
    for op, dtype, initial in itertools.product(NAMES.values(), ("f8", "i8", "u4"), (None, 0, 3)):
        x, a = wide(RNG, 37, dtype), wide(RNG, 60, dtype).reshape(5, 12)
        inclusive = lambda line: definition.inclusive(line, op, initial)
        yield "inclusive_scan", {"a": x, "op": op, "initial": initial}, inclusive(x)
        if op == "sum":
            yield "cumsum", {"a": x, "initial": initial}, inclusive(x)
            yield "cumsum", {"a": a, "axis": -2, "initial": initial}, along(0, inclusive, a)
            yield "cumsum", {"a": a, "axis": 1, "initial": initial}, along(1, inclusive, a)
        first = {"sum": 0, "product": 1}.get(op) if initial is None else initial
        exclusive = lambda line: definition.exclusive(line, op, first)
        for axis in (0, 1):
            yield "inclusive_scan", {"a": a, "axis": axis, "op": op, "initial": initial}, along(axis, inclusive, a)
            if first is not None:
                yield "exclusive_scan", {"a": a, "axis": axis, "op": op, "initial": initial}, along(axis, exclusive, a)
        if first is not None:
            yield "exclusive_scan", {"a": x, "op": op, "initial": initial}, exclusive(x)


def sorts():
    for dtype, of_values, descending in itertools.product(("f4", "f8", "i4", "u8"), ("i8", "f4"), (False, True)):
        x, values, a = wide(RNG, 37, dtype), wide(RNG, 37, of_values), wide(RNG, 60, dtype).reshape(5, 12)
        x[20:] = x[:17]
        yield "argsort", {"a": x, "descending": descending}, by_order(x, descending)
        yield "sort", {"a": x, "descending": descending}, x[by_order(x, descending)]
        for axis in (0, 1, -2):
            yield ("sort", {"a": a, "axis": axis, "descending": descending},
                   along(axis, lambda line: line[by_order(line, descending)], a))
        yield "sort", {"a": a, "axis": None, "descending": descending}, a.ravel()[by_order(a.ravel(), descending)]
        order = by_order(x, descending)
        yield "sort_by_key", {"keys": x, "values": values, "descending": descending}, (x[order], values[order])


def products():
    for dtype in ("f4", "f8", "i4", "u8"):
        a, b, x, y = (wide(RNG, n, dtype) for n in (15, 35, 37, 37))
        a, b = a.reshape(3, 5), b.reshape(5, 7)
        if dtype != "f4":
            yield "matmul", {"a": a, "b": b}, definition.matmul(a, b) if dtype == "f8" else a @ b
        yield "matvec", {"a": a, "x": x[:5].copy()}, along(1, lambda row: definition.dot(row, x[:5]), a)
        yield "dot", {"a": x, "b": y}, definition.dot(x, y)
    a, b = wide(RNG, 9, "f8"), wide(RNG, 5, "f8")
    yield "polymul", {"a": a, "b": b}, definition.polymul(a, b)
    for dtype, modulus in itertools.product(("i4", "i8"), (None, 97)):
        a, b = (RNG.integers(-999, 999, n).astype(dtype) for n in (9, 5))
        product = np.convolve(a.astype("i8"), b.astype("i8"))
        yield "polymul", {"a": a, "b": b, "modulus": modulus}, product if modulus is None else product % modulus
    for dtype, border in itertools.product(("f4", "f8"), ("valid", "zero")):
        image, mask = wide(RNG, 63, dtype).reshape(7, 9), wide(RNG, 15, dtype).reshape(3, 5)
        yield "convolve", {"image": image, "mask": mask, "border": border}, definition.convolve(image, mask, border)
        field = wide(RNG, 63, dtype).reshape(7, 9)
        for mask, dx, dy, rate in ((53, 0.4, 0.7, 0.03), (93, 0.4, 0.7, 0.02), (95, 0.4, 0.7, 0.01), (53, 0.5, 0.5, 1.0)):
            numbers = {"steps": 3, "mask": mask, "dx": dx, "dy": dy, "rate": rate}
            yield ("diffuse", {"field": field, **numbers, "allow_unstable": rate == 1},
                   definition.diffuse(field, 3, dx, dy, rate, mask))


CASES = [case for make in (folds, scans, sorts, products) for case in make()]


def arrays_of(arguments):
    return [name for name, value in arguments.items() if isinstance(value, np.ndarray)]


def apart(x):
    """The same rows as part of a wider matrix."""
    whole = np.full((len(x), x.shape[1] + 3), 42, x.dtype)
    whole[:, 1:-2] = x
    return whole[:, 1:-2]


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def rows_may_lie_apart(name, argument, arguments):
    lines = name in ("matmul", "matvec") or arguments.get("axis") is not None
    return lines and arguments[argument].ndim == 2 and argument != "x"


class Keywords(unittest.TestCase):
    def same(self, got, wanted, what):
        for one, its_own in zip(got, wanted, strict=True) if isinstance(wanted, tuple) else [(got, wanted)]:
            self.assertIs(type(one), np.ndarray if np.ndim(its_own) else type(its_own), what)
            self.assertEqual((one.dtype, one.shape), (its_own.dtype, its_own.shape), what)
            self.assertEqual(one.tobytes(), its_own.tobytes(), f"{what}: {one} instead of {its_own}")

    def each(self):
        for name, arguments, wanted in CASES:
            yield name, arguments, wanted, f"{name} of {({n: v if np.isscalar(v) else np.shape(v) for n, v in arguments.items()})}"

    def test_arrays_of_all_kinds(self):
        for name, arguments, wanted, what in self.each():
            call, arrays = getattr(tw, name), arrays_of(arguments)
            for make in (lambda x: x, read_only, Lender, lambda x: tw.array(x, device="cpu:serial"), lambda x: tw.array(x, device=GROUP)):
                given = {n: make(v) if n in arrays else v for n, v in arguments.items()}
                result = call(**given)
                if any(isinstance(v, tw.array) for v in given.values()) and np.ndim(wanted):
                    results = result if isinstance(result, tuple) else (result,)
                    self.assertEqual([(type(r), r.device) for r in results], [(tw.array, given[arrays[0]].device)] * len(results), what)
                    result = tuple(r.numpy() for r in results) if isinstance(result, tuple) else result.numpy()
                self.same(result, wanted, what)
            for one in arrays:
                if rows_may_lie_apart(name, one, arguments):
                    self.same(call(**arguments | {one: apart(arguments[one])}), wanted, f"{what}, {one} lying apart")
            for device in "cpu:serial", "cpu:threads", GROUP:
                self.same(call(**arguments, device=device), wanted, f"{what} on {device}")

    def test_out(self):
        for name, arguments, wanted, what in self.each():
            if np.ndim(wanted) == 0 and not isinstance(wanted, tuple):
                continue
            call, arrays = getattr(tw, name), arrays_of(arguments)
            several = isinstance(wanted, tuple)
            fresh = lambda: tuple(np.full_like(w, 42) for w in wanted) if several else np.full_like(wanted, 42)
            out = fresh()
            returned = call(**arguments, out=out)
            for one, its_own in zip(returned, out) if several else [(returned, out)]:
                self.assertIs(one, its_own, what)
            self.same(out, wanted, what + ", out")
            there = {n: tw.array(v, device=GROUP) if n in arrays else v for n, v in arguments.items()}
            out = tuple(tw.array(o, device=GROUP) for o in fresh()) if several else tw.array(fresh(), device=GROUP)
            call(**there, out=out)
            self.same(tuple(o.numpy() for o in out) if several else out.numpy(), wanted, what + ", out there")
            if not several and rows_may_lie_apart(name, arrays[0], arguments) and wanted.ndim == 2:
                out = apart(np.zeros_like(wanted))
                self.assertIs(call(**arguments, out=out), out, what)
                self.same(out.copy(), wanted, what + ", out lying apart")
                self.assertEqual((out.base == 42).sum(), 3 * len(out), what + ", beside out")

    def test_places(self):
        """A device, a variant and a tuning are for the call; what cannot be is refused, with the whole problem in the sentence."""
        for name, arguments, _, what in self.each():
            call, arrays = getattr(tw, name), arrays_of(arguments)
            there = {n: tw.array(v, device=GROUP) if n in arrays else v for n, v in arguments.items()}
            self.refused(call, arguments, there, what)
        for op in NAMES.values():
            x, part = wide(RNG, 37, "f4"), tw.partial(op, "f4")
            self.refused(part.push, {"values": x}, {"values": tw.array(x, device=GROUP)}, f"push of {op}")
            self.assertEqual(part.end, 0)

    def refused(self, call, arguments, there, what):
        for given in arguments | {"device": "2*cpu:serial"}, arguments | {"device": GROUP}, there:
            with self.assertRaisesRegex(tw.Unsupported, r"/serial cannot compute .* on 2\*cpu:serial: it runs on cpu", msg=what):
                call(**given, variant="serial")
        for given in arguments, there:
            with self.assertRaisesRegex(tw.InvalidArgument, "tuning 'nope=1' is not one of", msg=what):
                call(**given, tuning="nope=1")
            with self.assertRaisesRegex(tw.InvalidArgument, "no variant 'nope'", msg=what):
                call(**given, variant="nope")
        with self.assertRaisesRegex(tw.DeviceLost, "no device 'nowhere'", msg=what):
            call(**arguments, device="nowhere")
        with self.assertRaisesRegex(tw.InvalidArgument, "is computed on where it is", msg=what):
            call(**there, device="cpu:serial")

    def test_columns_beside_each_other(self):
        """Of one matrix: a result may lie between the rows of its input, and not on one of its elements."""
        whole = wide(RNG, 60, "f8").reshape(5, 12)
        for first, (call, in_place) in itertools.product(range(10), (
                (lambda a, out: tw.cumsum(a, axis=-1, out=out), True), (lambda a, out: tw.exclusive_scan(a, axis=0, out=out), True),
                (lambda a, out: tw.sort(a, axis=0, out=out), True), (lambda a, out: tw.matmul(a, np.ones((3, 3)), out=out), False))):
            w = whole.copy()
            a, out, wanted = w[:, 4:7], w[:, first:first + 3], whole.copy()
            wanted[:, first:first + 3] = call(a.copy(), None)
            if np.shares_memory(a, out) and not (first == 4 and in_place):
                with self.assertRaisesRegex(tw.InvalidArgument, "shares memory"):
                    call(a, out)
                wanted = whole
            else:
                call(a, out)
            self.same(w, wanted, f"from column {first}")

    def test_carries(self):
        """They bring their own operation, where op= names none or the same, and begin where they do."""
        x = wide(RNG, 50, "f8")
        for op, initial, named in itertools.product(NAMES.values(), (None, 3), (False, True)):
            for name, define in ("inclusive_scan", definition.inclusive), ("exclusive_scan", definition.exclusive):
                first = initial if name[0] == "i" or initial else {"sum": 0, "product": 1}.get(op)
                if name[0] == "e" and first is None:
                    continue
                carry, out, what = tw.partial(op, "f8"), np.empty(17), f"{name} of {op} from {initial}"
                carry.push(x[:33])
                self.assertIs(getattr(tw, name)(x[33:], op=op if named else None, initial=initial, carry=carry, out=out), out)
                self.same(out, define(x, op, first)[33:].copy(), what)
                self.same(carry.value(), definition.reduce(x, op), what)

    def test_what_another_operation_or_type_has_made(self):
        """Is refused by each argument that takes a partial, and is as it was."""
        takers = [lambda x, p, op: tw.inclusive_scan(x, op=op, carry=p), lambda x, p, op: tw.exclusive_scan(x, op=op, initial=1, carry=p),
                  lambda x, p, op: tw.inclusive_scan(x, 0, op=op, initial=1, carry=p), lambda x, p, op: tw.partial(op, x.dtype, 2).merge(p)]
        sums = [lambda x, p, op: tw.cumsum(x, carry=p), lambda x, p, op: tw.cumsum(x, initial=1, carry=p)]
        for dtype, of, op, other in itertools.product(TYPES, TYPES, NAMES.values(), NAMES.values()):
            x, part = np.array([5, 1, 7], dtype), tw.partial(other, of)
            part.push(np.array([2, 3], of))
            for number, take in enumerate(takers + (sums if op == "sum" else [])):
                if (dtype, op) == (of, other) and take is not takers[-1]:
                    continue
                with self.subTest(f"{number}: {op} of {x.dtype}, a partial of {part}"), self.assertRaises((TypeError, ValueError)) as caught:
                    take(x, part, op)
                self.assertRegex(str(caught.exception), "partial of float|partial of u?int" if dtype != of else
                                 f"operation {other}, and the call's is {op}; pass a carry of that" if take is not takers[-1] else
                                 f"a part of a {other} does not continue one of a {op}|merge neighbours")
                self.assertEqual((part.end, part.value()), (2, definition.reduce(np.array([2, 3], of), other)))

    def test_where_a_part_begins(self):
        """Positions have 64 bits, also of what was stored; what continues a part begins at its end."""
        for op, begin in itertools.product(NAMES.values(), (1, 2**31 + 1, 2**32, 2**32 + 5, 2**63, 2**64 - 4)):
            part, after = tw.partial(op, "f8", begin), tw.partial(op, "f8", begin=begin + 2)
            part.push(np.ones(2)), after.push(np.ones(1))
            part = pickle.loads(pickle.dumps(part))
            self.assertEqual((part.begin, part.end, after.begin, after.end), (begin, begin + 2, begin + 2, begin + 3))
            self.assertIn(f"elements [{begin}, {begin + 2})", repr(part))
            part.merge(after)
            self.assertEqual((part.begin, part.end), (begin, begin + 3))

    def test_defaults(self):
        """What is left out is what the signature says."""
        for name, arguments, *_ in CASES:
            call, arrays = getattr(tw, name), {n: arguments[n] for n in arrays_of(arguments)}
            said = {n: p.default for n, p in inspect.signature(call).parameters.items() if p.default is not p.empty}
            try:
                wanted = call(**arrays, **said)
            except tw.InvalidArgument:
                continue  # exclusive scans of other operations need a first value
            for one in said:
                got = call(**arrays, **{n: value for n, value in said.items() if n != one})
                self.same(got, wanted, f"{name} without {one}")

    def test_devices_and_arrays(self):
        one, two = (tw.open("cpu:threads", threads=n) for n in (1, 2))
        self.assertEqual((one.name, one.backend), ("cpu:threads", "cpu"))
        self.assertRegex(one.platform, "1 thread,")
        self.assertRegex(two.platform, "2 threads,")
        self.assertRegex(tw.open("cpu", instruction_set="v2").platform, "v2$")
        self.assertNotEqual(one, tw.open("cpu:threads", threads=1), "each has a queue of its own")
        self.assertNotEqual(one.description, one.platform)
        self.assertGreater(one.memory, 0)
        a = tw.array(np.ones((3, 5), "i8"), device=one)
        self.assertEqual((a.shape, a.ndim, a.size, len(a), a.dtype, a.device), ((3, 5), 2, 15, 3, np.dtype("i8"), one))
        self.same(np.asarray(a, dtype="f4"), np.ones((3, 5), "f4"), "asarray")
        self.assertEqual(tw.partial(dtype="i4").dtype, np.dtype("i4"))
        self.assertEqual(tw.open().name, tw.open("auto").name)
        self.assertEqual(*(tw.array(np.ones(3), device="2*cpu:serial").device for _ in range(2)), "each name is one device")

    def test_a_device_that_is_left_out_is_auto(self):
        """In a process where that is another than the CPU, whatever this machine has."""
        told = "import numpy, tilewise as tw; print(tw.open().name, tw.open('auto').name, tw.array(numpy.ones(3)).device.name)"
        done = subprocess.run([sys.executable, "-c", told], env={**os.environ, "TILEWISE_DEVICE": GROUP.name}, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), (" ".join([GROUP.name] * 3) + "\n", ""))


if __name__ == "__main__":
    unittest.main()
