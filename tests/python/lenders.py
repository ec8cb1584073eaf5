# SPDX-License-Identifier: Apache-2.0
"""Objects that lend memory by DLPack, and a module that pretends to be PyTorch: what the tests have of other libraries."""

import contextlib
import ctypes
import types
from ctypes import (POINTER, CFUNCTYPE, Structure, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)

import numpy as np

X = np.array([1e8, 1, -1e8, 1, 3], dtype=np.float32)


class Lender:
    """Somebody's array that speaks DLPack and nothing else."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, stream=None):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8),
                ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("offset", c_uint64)]


class Managed(Structure):
    pass


DELETER = CFUNCTYPE(None, POINTER(Managed))
Managed._fields_ = [("tensor", DLTensor), ("context", c_void_p), ("deleter", DELETER)]


class Later(Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", DELETER), ("flags", c_uint64), ("tensor", DLTensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]


class Hostile:
    """Exports whatever it is told to, and counts how often that is given back."""

    def __init__(self, shape=(5,), strides=None, code=2, bits=32, lanes=1, device=(1, 0), offset=0, name=b"dltensor",
                 values=X):
        self.device, self.name, self.given_back = device, name, 0
        self.values = values.copy()
        self.shape, self.strides = (c_int64 * 16)(*shape), (c_int64 * 16)(*strides) if strides is not None else None
        self.deleter = DELETER(self.count)
        self.managed = Managed(DLTensor(self.values.ctypes.data, *device, len(shape), code, bits, lanes, self.shape,
                                        self.strides, offset), None, self.deleter)

    def count(self, _):
        self.given_back += 1

    def __dlpack__(self, stream=None):
        self.stream = stream
        return new_capsule(ctypes.addressof(self.managed), self.name, None)

    def __dlpack_device__(self):
        return self.device


class Versioned(Hostile):
    """The same in DLPack's later structure, for whom asks for it."""

    def __init__(self, flags=0, version=1, **what):
        super().__init__(name=b"dltensor_versioned", **what)
        self.deleter = DELETER(self.count)
        self.later = Later(version, 0, None, self.deleter, flags, self.managed.tensor)

    def __dlpack__(self, stream=None, max_version=None):
        self.stream, self.asked = stream, max_version
        return new_capsule(ctypes.addressof(self.later), self.name, None)

    @classmethod
    def of(cls, x, flags=0):
        return cls(flags, shape=x.shape, code={"i": 0, "u": 1, "f": 2}[x.dtype.kind], bits=8 * x.itemsize, values=x)


def pretended_torch():
    """What the module asks of PyTorch, answered by a module of that name; a version without uint32."""
    torch = types.ModuleType("torch")

    class Tensor(Lender):
        requires_grad, device, is_cuda, layout, negative = False, types.SimpleNamespace(type="cpu"), False, "strided", False
        _version, tangent, is_inference = 0, None, lambda self: False
        shape = property(lambda self: self.values.shape)
        dtype = property(lambda self: self.values.dtype)
        is_neg = lambda self: self.negative
        get_device, data_ptr = lambda self: 3, lambda self: self.values.ctypes.data
        __len__, numpy = lambda self: len(self.values), lambda self: self.resolve_neg().values
        __getitem__ = lambda self, which: Tensor(self.values[which])
        T = property(lambda self: Tensor(self.values.T))
        stride = lambda self: tuple(bytes // self.values.itemsize for bytes in self.values.strides)
        to = lambda self, dtype: Tensor(self.values.astype(dtype))
        new_empty = lambda self, shape, dtype: Tensor(np.empty(shape, dtype))
        resolve_neg = lambda self: Tensor(-self.values if self.negative else self.values)
        contiguous = clone = lambda self: Tensor(self.values.copy())
        ravel = lambda self: Tensor(self.values.ravel())
        movedim = lambda self, one, to: Tensor(np.moveaxis(self.values, one, to))

        def __setitem__(self, which, source):
            self._version += 1
            self.values[which] = -source.values if self.negative else source.values

        def copy_(self, source):
            self[...] = source
            return self

    def negated(x):
        view = Tensor(x.values)
        view.negative = True
        return view

    @contextlib.contextmanager
    def dual_level():
        forward._current_level = 0
        yield
        forward._current_level = -1

    def make_dual(x, tangent):
        dual = Tensor(x.values)
        dual.tangent = tangent
        return dual

    def increment_version(x):
        x._version += 1

    forward = types.SimpleNamespace(_current_level=-1, dual_level=dual_level, make_dual=make_dual, unpack_dual=lambda x: types.SimpleNamespace(
        primal=Tensor(x.values), tangent=x.tangent))
    torch.autograd = types.SimpleNamespace(forward_ad=forward, graph=types.SimpleNamespace(increment_version=increment_version))
    torch.Tensor, torch._neg_view, torch.from_numpy, torch.strided = Tensor, negated, Tensor, "strided"
    torch.atleast_1d = lambda x: Tensor(np.atleast_1d(x.values))
    torch.empty_like = lambda x: Tensor(np.empty_like(x.values))
    torch.float32, torch.float64, torch.int32, torch.int64 = map(np.dtype, ("f4", "f8", "i4", "i8"))
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda gpu: 1000 + gpu)
    return torch
