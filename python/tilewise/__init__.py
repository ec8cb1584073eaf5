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

import os as _os
import sys as _sys

try:
    from . import _core
except ImportError:
    _folder = __path__[0]
    if any(_name.startswith("_core.") for _name in _os.listdir(_folder)):
        raise
    raise ImportError(f"{_folder} holds the source of tilewise; start Python in another folder, with PYTHONPATH="
                      f"{_folder.removesuffix('/python/tilewise')}/build/release/python") from None

_core.refuse_second_interpreter()

try:
    import numpy as _numpy  # noqa: E402, F401
except ModuleNotFoundError as _why:
    if _why.name != "numpy":
        raise
    raise ImportError("tilewise needs NumPy: pip install numpy, or apt-get install python3-numpy") from None

from ._core import (  # noqa: E402
    BuildFailed, DeviceLost, Error, FileError, InvalidArgument, OutOfMemory, Overflow, Unsupported, __version__,
    argsort, array, convolve, cumsum, device, devices, diffuse, dot, exclusive_scan, inclusive_scan, matmul,
    matvec, max, min, open, order_version, partial, polymul, prod, reduce_by_key, runs,
    segment_argsort, segment_reduce, segment_scan, segment_sort, segment_sort_by_key, sort, sort_by_key, sum)

__all__ = [
    "BuildFailed", "DeviceLost", "Error", "FileError", "InvalidArgument", "OutOfMemory", "Overflow",
    "Unsupported", "argsort", "array", "convolve", "cumsum", "device", "devices", "diffuse", "dot",
    "exclusive_scan", "inclusive_scan", "matmul", "matvec", "max", "min", "open", "order_version", "partial",
    "polymul", "prod", "reduce_by_key", "runs", "segment_argsort", "segment_reduce", "segment_scan",
    "segment_sort", "segment_sort_by_key", "show_config", "sort", "sort_by_key", "sum"]

for _thing in map(globals().get, __all__):
    if hasattr(_thing, "__module__"):
        _thing.__module__ = __name__
del _thing


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(f"module 'tilewise' has no attribute {name!r}")
    from ._wrong_calls import missing
    text = missing(name)
    # `from tilewise import name` asks from there, and puts a sentence of its own in place of an AttributeError.
    if not text.startswith("module") and _sys._getframe(1).f_code.co_name == "_handle_fromlist":
        raise ImportError(text, name=__name__)
    error = AttributeError(text)
    error.name, error.obj = name, None  # else Python adds a guess
    raise error


def _missing_of_partial(self, name):
    from ._wrong_calls import missing_of_partial
    raise missing_of_partial(self, name)


partial.__getattr__ = _missing_of_partial


def show_config():
    """Prints the version, the library that is loaded, and the devices."""
    print(f"tilewise {__version__}, order {order_version}")
    print(f"library: {_core.library_path()}")
    print(f"module: {_core.__file__}")
    for one in devices():
        print(f"{one.name}: {one.description}, {one.platform}")
