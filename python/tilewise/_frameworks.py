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


def current_stream(x, ordinal):
    """The cudaStream_t on which the owner of x works now, 0 being CUDA's default stream, and whether that is known."""
    owner = _owner(x)
    if owner is None:
        facts = getattr(x, "__cuda_array_interface__", None) or {}
        stream = facts.get("stream") or 0
        return 0 if stream == 1 else stream, False  # 1 is the default stream's other name
    if owner.__name__ == "torch":
        return owner.cuda.current_stream(ordinal).cuda_stream, True
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
        return owner.empty(shape, dtype=getattr(owner, dtype), device=x.device)
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
