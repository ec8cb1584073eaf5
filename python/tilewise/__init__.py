# SPDX-License-Identifier: Apache-2.0
"""Sums, scans, sorts and products of arrays, with the same bits on every processor.

>>> import numpy as np, tilewise as tw
>>> x = np.array([1e8, 1, -1e8, 1, 3], dtype=np.float32)
>>> tw.cumsum(x)[-1] == tw.sum(x)
True

The order in which numbers are added is part of each function's contract: one input has one result, bit for bit, on
every device, with any number of threads, in every run.

Functions take arrays of NumPy, PyTorch and CuPy, whatever else speaks DLPack or __cuda_array_interface__, and
tilewise.array. They work on their memory where it lies, copy and convert nothing, and return an array of the same
kind. What cannot be used as it is, such as a slice with gaps or another type, is an error that says which call of
NumPy mends it. Elements are float32, float64, int32, int64, uint32 or uint64; float16 and bfloat16 on the host are
read as float32.

Host memory is computed on a CPU unless device= names another; arrays on a GPU are computed where they are, on the
stream that their library works on now. Other threads run meanwhile. Ctrl-C raises KeyboardInterrupt when the call has
ended. Errors are tilewise.Error, and also the built-in that fits: ValueError, TypeError, MemoryError, OverflowError,
RuntimeError.
"""

from . import _core

_core.refuse_second_interpreter()

from ._core import (  # noqa: E402
    BuildFailed, DeviceLost, Error, FileError, InvalidArgument, OutOfMemory, Overflow, Unsupported, __version__,
    argsort, array, convolve, cumsum, device, devices, diffuse, dot, exclusive_scan, inclusive_scan, matmul,
    matvec, max, min, open, order_version, partial, polymul, prod, sort, sort_by_key, sum)

__all__ = [
    "BuildFailed", "DeviceLost", "Error", "FileError", "InvalidArgument", "OutOfMemory", "Overflow",
    "Unsupported", "argsort", "array", "convolve", "cumsum", "device", "devices", "diffuse", "dot",
    "exclusive_scan", "inclusive_scan", "matmul", "matvec", "max", "min", "open", "order_version", "partial",
    "polymul", "prod", "show_config", "sort", "sort_by_key", "sum"]

for _thing in map(globals().get, __all__):
    if hasattr(_thing, "__module__"):
        _thing.__module__ = __name__
del _thing


def show_config():
    """Prints the version, the library that is loaded, and the devices."""
    print(f"tilewise {__version__}, order {order_version}")
    print(f"library: {_core.library_path()}")
    print(f"module: {_core.__file__}")
    for one in devices():
        print(f"{one.name}: {one.description}, {one.platform}")
