# SPDX-License-Identifier: Apache-2.0
"""What only a library of arrays can say of its arrays: the stream that it works on now, how to get a new one, and in which calls
of its own it makes one that can be taken."""

import sys

import numpy


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
        return None, None, None, None, None
    types = {getattr(torch, name): number for number, name in enumerate(_TYPES) if hasattr(torch, name)}
    # The first says the same without making an object of it.
    stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (lambda gpu: torch.cuda.current_stream(gpu).cuda_stream)
    _torch = torch.Tensor, torch.strided, types, stream, torch.autograd.forward_ad
    return _torch


def _has_tangent(x):
    forward = (_torch or _look_at_torch())[4]
    return getattr(forward, "_current_level", 0) >= 0 and forward.unpack_dual(x).tangent is not None


def tensor_on_gpu(x):
    """Of a tensor of PyTorch's own that lies on a GPU: its address, the number of its elements' type, its lengths and strides, the
    GPU and the stream. DLPack says the same of it in several times as long. None of whatever else, which DLPack knows."""
    tensor, strided, types, stream, _ = _torch or _look_at_torch()
    if type(x) is not tensor or not x.is_cuda or x.requires_grad or x.layout is not strided or x.is_neg() or _has_tangent(x):
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


def index_room(x, out):
    """Memory for indices of 32 bits in elements of x, if they become int64 then: PyTorch indexes with signed integers alone, and
    not every version has unsigned ones. None where they are written as they are."""
    torch = _owner(x)
    if torch is None or torch.__name__ != "torch" or out is not None and getattr(out, "dtype", None) is not torch.int64:
        return None
    return x.new_empty(x.shape, dtype=torch.int32)


def as_index(room, out):
    """What index_room was filled with, as int64, in a new tensor or in out."""
    indices = room.to(_owner(room).int64)
    if len(room) > 2**31:
        indices &= 2**32 - 1
    return indices if out is None else out.copy_(indices)


def as_offsets(x):
    """Offsets as integers of 64 bits, beside x; lists and arrays of other integers are copied."""
    if isinstance(x, (list, tuple, range)):
        try:
            x = numpy.asarray(x) if len(x) else numpy.empty(0, "int64")
        except ValueError:
            x = None
        if x is None or x.dtype.kind not in "iu":
            raise TypeError("offsets is a list of other things than whole numbers below 2^63; pass those where segments begin, "
                            "and at last len(a)")
    kind = str(getattr(x, "dtype", None)).removeprefix("torch.")
    if kind in ("int64", "uint64") or not kind.startswith(("int", "uint")):
        return x
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(x, jax.Array):
        return numpy.asarray(x, "int64")  # JAX itself has no integers of 64 bits by default
    owner = _owner(x)
    if owner is not None and owner.__name__ == "torch":
        return x.long()
    return x.astype("int64") if hasattr(x, "astype") else x


def obstacle(x, name, is_output):
    """What PyTorch keeps beside the memory of a tensor, so that this alone is not its elements, and what to do; None of others."""
    gradient = f"{name} requires a gradient, which tilewise does not compute; pass {name}.detach()"
    owner = _owner(x)
    if owner is None or owner.__name__ != "torch":
        return gradient if getattr(x, "requires_grad", False) else None
    if getattr(x, "is_nested", False):
        return f"{name} is a nested tensor; " + (kept(name) if is_output else f"pass {name}.values()")
    if x.layout is not owner.strided:
        return f"{name} is stored as {x.layout}; " + (kept(name) if is_output else f"pass {name}.to_dense()")
    for bit, does in ("neg", "negates"), ("conj", "conjugates"):
        if getattr(x, f"is_{bit}", bool)():  # the older know no conjugates
            resolved = f"{name}.resolve_{bit}()"
            return f"{name} is a view that PyTorch {does} when it reads it; " + (
                f"{resolved} would be other memory, so {kept(name)}" if is_output else f"pass {resolved}")
    if _has_tangent(x):
        return f"{name} has a tangent of forward mode, which tilewise does not compute; " + (
            kept(name) if is_output else f"pass torch.autograd.forward_ad.unpack_dual({name}).primal")
    return gradient if x.requires_grad else None


def not_lent(x, name, is_output, why):
    """What to say of an array that its library does not lend; None where its elements' type is reason enough."""
    if str(getattr(x, "dtype", "float32")).removeprefix("torch.") not in _TYPES:
        return None
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(x, jax.core.Tracer):
        instead = "it through jax.pure_callback"
    elif jax is not None and isinstance(x, jax.Array):
        instead = "one that is still there" if x.is_deleted() else f"numpy.asarray({name})"
    elif _owner(x) is not None:
        instead = f"a plain array of {_owner(x).__name__}"
    else:
        instead = "a copy of it, made by that library" if hasattr(x, "__dlpack__") else "one whose memory can be read"
    reason = (str(why) or type(why).__name__).splitlines()[0]
    return f"{name} is not lent by its library ({reason}); " + (kept(name) if is_output else f"pass {instead}")


def written(x):
    """Tells PyTorch's autograd, which counts the changes of each tensor, that x is an output."""
    torch = _owner(x)
    if torch is None or torch.__name__ != "torch" or x.is_inference():  # those are not counted
        return
    count = getattr(torch.autograd.graph, "increment_version", None)
    count(x) if count else x[:0].zero_()  # the older have no call for it


def kept(name):
    """What to do instead of passing this output."""
    return f"leave out= away and store what is returned: {name}[...] = result"


_OF_NUMPY = {"packed": "{m}.ascontiguousarray({x})", "aligned": "{x}.copy()", "typed": '{x}.astype("{n}")', "flat": "{x}.ravel()",
             "a line": "{m}.atleast_1d({x})", "moved": "{m}.ascontiguousarray({m}.moveaxis({x}, {n}, -1))"}
_CALLS = {"numpy": _OF_NUMPY, "cupy": _OF_NUMPY,
          "jax.numpy": _OF_NUMPY | {"packed": "{m}.array({x})", "aligned": "{m}.array({x})", "moved": "{m}.moveaxis({x}, {n}, -1)"},
          "torch": {"packed": "{x}.contiguous()", "aligned": "{x}.clone()", "typed": "{x}.to(torch.{n})", "flat": "{x}.ravel()",
                    "a line": "torch.atleast_1d({x})", "moved": "{x}.movedim({n}, -1).contiguous()"}}


_TO_HOST = {"numpy": "{x}", "torch": "{x}.cpu()", "cupy": "cupy.asnumpy({x})", "jax.numpy": "jax.device_get({x})", "tilewise": "{x}.numpy()"}
_TO_WHERE = {"torch": "torch.as_tensor({x}, device={first}.device)", "cupy": "cupy.asarray({x})", "numpy": "{x}",
             "jax.numpy": "jax.device_put({x}, {first}.device)", "tilewise": "tilewise.array({x}, device={first}.device)"}


def _library(x):
    """The module whose calls the owner of x knows; None if nobody says."""
    owner, jax = _owner(x), sys.modules.get("jax")
    if owner is not None:
        return owner.__name__
    if jax is not None and isinstance(x, jax.Array):
        return "jax.numpy"
    if isinstance(x, sys.modules["tilewise"].array):
        return "tilewise"
    return "numpy" if isinstance(x, numpy.ndarray) else None


def call_for(what, x, name, detail=""):
    """The call that makes of x, an argument of that name, what is taken: one of the library that x is of."""
    module, made = _library(x), "{}"
    if module == "tilewise":
        module, name, made = "numpy", f"{name}.numpy()", f"tilewise.array({{}}, device={name}.device)"
    elif module is None:
        by_interface = hasattr(x, "__cuda_array_interface__")
        by_dlpack = not by_interface and hasattr(x, "__dlpack__")
        module = "cupy" if by_interface or by_dlpack and x.__dlpack_device__()[0] not in (1, 3) else "numpy"
        name = f"{module}.from_dlpack({name})" if by_dlpack else f"{module}.asarray({name})"
    return made.format(_CALLS[module][what].format(x=name, m=module, n=detail))


def call_to_convert(held, x, name):
    """What to do with elements of a type that is not taken, so that their values are kept."""
    held = held.removeprefix("torch.").lstrip("<>|=")
    if held.startswith("q"):
        return f"{name}.dequantize()"
    if held.startswith("c"):
        return f"pass {name}.real and {name}.imag, one after the other"
    if name == "values" and held[:1] in "USo":
        return 'pass values.astype("float64") if these are numbers; values[tw.argsort(keys)] sorts whatever they are'
    kept_by = {"b": "float32" if held.startswith("bf") else "int32", "i": "int32", "u": "uint32", "d": "int64", "t": "int64",
               "f": "float64" if held in ("float128", "f16") else "float32", "U": "float64", "S": "float64", "o": "float64"}
    dtype = kept_by.get(held[:1])
    if dtype and name in ("image", "mask", "field"):  # of calls that take floats only
        dtype = dtype if dtype == "float64" else "float32"
        if name == "image" and len(getattr(x, "shape", ())) == 3:
            from ._wrong_calls import of_channels
            return of_channels(x.shape, f', "{dtype}"')
    return "pass " + (call_for("typed", x, name, dtype) if dtype else f"{name} converted to one of them")


def call_beside(x, name, first, first_name):
    """The call that gives x where another argument lies, in memory of the same library."""
    here = _TO_HOST.get(_library(x), "{x}").format(x=name)
    return _TO_WHERE.get(_library(first), "{x}").format(x=here, first=first_name)
