# SPDX-License-Identifier: Apache-2.0
"""What only a library of arrays can say of its arrays: the stream that it works on now, and how to get a new one."""

import sys


def _owner(x):
    """PyTorch or CuPy, if x is an array of theirs; neither is imported here."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and isinstance(x, torch.Tensor):
        return torch
    if cupy is not None and isinstance(x, cupy.ndarray):
        return cupy
    return None


_TYPES = ("float32", "float64", "int32", "int64", "uint32", "uint64")
_torch = None  # what every tensor is held against, once PyTorch is there


def _look_at_torch():
    global _torch
    torch = sys.modules.get("torch")
    if torch is None:
        return None, None, None, None
    types = {getattr(torch, name): number for number, name in enumerate(_TYPES) if hasattr(torch, name)}
    # The first says the same without making an object of it.
    stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (lambda gpu: torch.cuda.current_stream(gpu).cuda_stream)
    _torch = torch.Tensor, torch.strided, types, stream
    return _torch


def tensor_on_gpu(x):
    """Of a tensor of PyTorch's own that lies on a GPU: its address, the number of its elements' type, its lengths and strides, the
    GPU and the stream. DLPack says the same of it in several times as long. None of whatever else, which DLPack knows."""
    tensor, strided, types, stream = _torch or _look_at_torch()
    if type(x) is not tensor or not x.is_cuda or x.requires_grad or x.layout is not strided or x.is_neg():
        return None
    number = types.get(x.dtype)
    if number is None:
        return None
    ordinal = x.get_device()
    return x.data_ptr(), number, x.shape, x.stride(), ordinal, stream(ordinal)


def current_stream(x, ordinal):
    """The cudaStream_t on which the owner of x works now, 0 being CUDA's default stream, and whether that is known."""
    owner = _owner(x)
    if owner is None:
        facts = getattr(x, "__cuda_array_interface__", None) or {}
        stream = facts.get("stream") or 0
        return 0 if stream == 1 else stream, False  # 1 is the default stream's other name
    if owner.__name__ == "torch":
        return (_torch or _look_at_torch())[3](ordinal), True
    with owner.cuda.Device(ordinal):
        return owner.cuda.get_current_stream().ptr, True


def ordinal(x):
    """The number of the GPU of an object that says its device in no protocol."""
    device = getattr(x, "device", None)
    for name in ("index", "id"):
        if isinstance(found := getattr(device, name, None), int):
            return found
    return 0


def empty(x, shape, dtype):
    """A new array of the owner of x, beside x; None if the owner is unknown."""
    owner = _owner(x)
    if owner is None:
        return None
    if owner.__name__ == "torch":
        kind = getattr(owner, dtype)
        return owner.empty_like(x) if x.shape == shape and x.dtype is kind else x.new_empty(shape, dtype=kind)
    with x.device:
        return owner.empty(shape, dtype=dtype)


def as_float32(x):
    """An array of half precision on the host as one of float32, which holds its elements exactly; None for any other."""
    if str(getattr(x, "dtype", None)).removeprefix("torch.") not in ("float16", "bfloat16"):
        return None
    owner = _owner(x)
    if owner is None:
        return x.astype("float32") if hasattr(x, "astype") else None
    return x.float() if owner.__name__ == "torch" and x.device.type == "cpu" else None


def as_index(x):
    """PyTorch indexes with signed integers alone."""
    owner = _owner(x)
    return x.to(owner.int64) if owner is not None and owner.__name__ == "torch" else x
