// SPDX-License-Identifier: Apache-2.0
// The texts of help(). Each begins with a signature that ends in "--", which inspect.signature reads. A test runs the
// examples.
#pragma once

namespace tilewise::python::documents {

inline constexpr const char* sum =
    R"(sum(a, axis=None, *, out=None, initial=None, device=None, variant=None, tuning=None)
--

The sum of all elements, in the pairwise order: aligned blocks of 2**k elements as balanced trees, folded from the
left. The bits are the same on every device, with every variant and number of threads; docs/order.md states them.

It has the type of the elements: unlike NumPy's, a sum of int32 is int32, and wraps. Of no elements it is `initial`,
or 0. Of an array on a device it waits for the value, which is a NumPy scalar in any case.

With `axis`, the first (0) or the last (-1) of an array of several dimensions, every line along it is summed by itself,
all in one launch: each result has the bits of sum() of that line. They are a new array of the argument's kind, or
`out`. The rows of a matrix may lie apart in memory.

>>> tw.sum(np.array([[1, 2, 3], [4, 5, 6]]), axis=1)
array([ 6, 15])
>>> x = np.array([1e8, 1, -1e8, 1, 3], dtype=np.float32)
>>> float(tw.sum(x))
3.0
>>> tw.sum(x, device="cpu:serial") == tw.sum(x, device="cpu:threads")
True
)";

inline constexpr const char* prod =
    R"(prod(a, axis=None, *, out=None, initial=None, device=None, variant=None, tuning=None)
--

The product of all elements, or of each line along an axis, in the order and with the type that sum() has; 1 of none.

>>> int(tw.prod(np.arange(1, 11)))
3628800
)";

inline constexpr const char* min =
    R"(min(a, axis=None, *, out=None, initial=None, device=None, variant=None, tuning=None)
--

The least element, or that of each line along an axis as sum() has them. A NaN wins, and -0.0 is less than +0.0; of
no elements it is `initial`, which is then needed.

>>> float(tw.min(np.array([2.0, -0.0, 0.0])))
-0.0
)";

inline constexpr const char* max =
    R"(max(a, axis=None, *, out=None, initial=None, device=None, variant=None, tuning=None)
--

The greatest element, by the rules of min().

>>> int(tw.max(np.array([3, 1, 2]), initial=7))
7
)";

inline constexpr const char* cumsum =
    R"(cumsum(a, axis=None, *, out=None, initial=None, carry=None, device=None, variant=None, tuning=None)
--

Running sums: out[i] is sum(a[:i+1]), bit for bit, and with `initial` that much more. An array of several dimensions
is taken flat, as NumPy does. `out` may be `a` itself. With `carry`, a partial of all that precedes, `a` is the next
part of a longer array, and is appended to the carry.

With `axis`, the first (0) or the last (-1) of an array of several dimensions, every line along it is scanned by itself,
all at once: each has the bits of cumsum() of that line. The result, or `out`, has the shape of `a`; the rows of both
may lie apart in memory.

>>> tw.cumsum(np.array([1, 2, 3, 4]))
array([ 1,  3,  6, 10])
>>> tw.cumsum(np.array([[1, 2, 3], [4, 5, 6]]), axis=0)
array([[1, 2, 3],
       [5, 7, 9]])
)";

inline constexpr const char* inclusive_scan =
    R"(inclusive_scan(a, axis=None, *, op=None, out=None, initial=None, carry=None, device=None, variant=None,
               tuning=None)
--

cumsum() for any of the operations sum, product, min and max. `op` is by default that of the carry, or a sum.

>>> tw.inclusive_scan(np.array([3, 1, 4, 1, 5]), op="max")
array([3, 3, 4, 4, 5])
)";

inline constexpr const char* exclusive_scan =
    R"(exclusive_scan(a, axis=None, *, op=None, out=None, initial=None, carry=None, device=None, variant=None,
               tuning=None)
--

What precedes each element: out[0] is `initial`, and out[i] is that and a[:i]. Without `initial` a sum starts from 0
and a product from 1; min and max need one.

>>> tw.exclusive_scan(np.array([1, 2, 3, 4]))
array([0, 1, 3, 6])
)";

inline constexpr const char* segment_reduce =
    R"(segment_reduce(a, offsets, *, op='sum', out=None, initial=None, device=None, variant=None, tuning=None)
--

Reduces each segment of an array of one dimension: out[s] has the bits of the reduction of a[offsets[s]:offsets[s+1]]
alone. `offsets` are integers as `indptr` of a sparse matrix: one more than segments, from 0 to len(a), never falling.
`op` is 'sum', 'product', 'min' or 'max'. An empty segment gives `initial`, else 0 or 1; for min and max it is an error.

>>> tw.segment_reduce(np.array([1.0, 2.0, 3.0, 4.0]), [0, 3, 3, 4])
array([6., 0., 4.])
)";

inline constexpr const char* segment_scan =
    R"(segment_scan(a, offsets, *, op='sum', exclusive=False, out=None, initial=None, device=None, variant=None, tuning=None)
--

Scans each segment of an array of one dimension: out[offsets[s]:offsets[s+1]] has the bits of the inclusive scan, or of
the exclusive one, of a[offsets[s]:offsets[s+1]] alone. `offsets` are those of segment_reduce; `op` is 'sum', 'product',
'min' or 'max', and each segment starts from `initial`. `out` may be `a`.

>>> tw.segment_scan(np.array([1.0, 2.0, 3.0, 4.0]), [0, 3, 3, 4])
array([1., 3., 6., 4.])
)";

inline constexpr const char* runs =
    R"(runs(keys, *, device=None, variant=None, tuning=None)
--

The runs of equal keys in an array of one dimension: the key of each, and `offsets`, where they begin, and where the last
one ends. Keys are equal if their bits are, as for sort: NaN equals itself, and -0.0 is another key than +0.0.

>>> tw.runs(np.array([5, 5, 7, 5]))
(array([5, 7, 5]), array([0, 2, 3, 4]))
)";

inline constexpr const char* reduce_by_key =
    R"(reduce_by_key(keys, a, *, op='sum', initial=None, device=None, variant=None, tuning=None)
--

Reduces the elements of `a` that belong to each run of equal keys. Returns the key of each run, its value, and `offsets`
as runs(keys) does; np.diff(offsets) is how many elements each has. Each value has the bits of the reduction of these
elements alone. Sort first for one value of each key. `op` is 'sum', 'product', 'min' or 'max'.

>>> tw.reduce_by_key(*tw.sort_by_key(np.array([7, 3, 7]), np.array([0.5, 1.0, 2.0])))
(array([3, 7]), array([1. , 2.5]), array([0, 1, 3]))
)";

inline constexpr const char* sort =
    R"(sort(a, axis=-1, *, descending=False, out=None, device=None, variant=None, tuning=None)
--

The elements in ascending order: floats with -0.0 before +0.0 and NaNs last, by their bits. `descending` is the reverse,
so NaNs come first. `out` may be `a` itself.

Of an array of several dimensions every line along `axis`, the last (-1) or the first (0), is sorted by itself, all at
once; the rows of the array and of `out` may lie apart in memory. With axis=None the array is taken flat, as NumPy does.

>>> tw.sort(np.array([3, 1, 2]), descending=True)
array([3, 2, 1])
>>> tw.sort(np.array([[3, 1, 2], [0, 5, 4]]), axis=0)
array([[0, 1, 2],
       [3, 5, 4]])
)";

inline constexpr const char* argsort =
    R"(argsort(a, *, descending=False, out=None, device=None, variant=None, tuning=None)
--

Where each of the sorted elements is in `a`: uint32, of at most 2**32 elements; equal elements keep their order.
PyTorch, which indexes with signed integers alone, gets int64, in `out` as well.

>>> tw.argsort(np.array([30, 10, 20, 10]))
array([1, 3, 2, 0], dtype=uint32)
)";

inline constexpr const char* sort_by_key =
    R"(sort_by_key(keys, values, *, descending=False, out=None, device=None, variant=None, tuning=None)
--

Sorts the keys as sort() does and moves each value with its key; equal keys keep their order. Returns both; `out` is a
tuple of two arrays.

>>> keys, values = tw.sort_by_key(np.array([2, 1, 2]), np.array([0.1, 0.2, 0.3]))
>>> values
array([0.2, 0.1, 0.3])
)";

inline constexpr const char* segment_sort =
    R"(segment_sort(a, offsets, *, descending=False, out=None, device=None, variant=None, tuning=None)
--

Sorts each segment of an array of one dimension by itself: out[offsets[s]:offsets[s+1]] is sort(a[offsets[s]:
offsets[s+1]]). `offsets` are those of segment_reduce. `out` may be `a`.

>>> tw.segment_sort(np.array([3.0, 1.0, 2.0, 0.0]), [0, 3, 3, 4])
array([1., 2., 3., 0.])
)";

inline constexpr const char* segment_argsort =
    R"(segment_argsort(a, offsets, *, descending=False, out=None, device=None, variant=None, tuning=None)
--

Where each of the sorted elements is in its segment: out[offsets[s]:offsets[s+1]] is argsort(a[offsets[s]:offsets[s+1]]).

>>> tw.segment_argsort(np.array([3.0, 1.0, 2.0, 0.0]), [0, 3, 3, 4])
array([1, 2, 0, 0], dtype=uint32)
)";

inline constexpr const char* segment_sort_by_key =
    R"(segment_sort_by_key(keys, values, offsets, *, descending=False, out=None, device=None, variant=None, tuning=None)
--

Sorts the keys of each segment as segment_sort() does and moves each value with its key. Returns both; `out` is a tuple
of two arrays.

>>> keys, values = tw.segment_sort_by_key(np.array([2, 1, 1, 0]), np.array([0.1, 0.2, 0.3, 0.4]), [0, 2, 4])
>>> values
array([0.2, 0.1, 0.4, 0.3])
)";

inline constexpr const char* matmul = R"(matmul(a, b, out=None, *, fast=False, device=None, variant=None, tuning=None)
--

The product of two matrices. Each element is one chain of fused multiply-adds in ascending k, from +0. Rows may lie
apart in memory, as those of a slice of columns do. `fast` allows variants with bits of their own, such as tf32.

>>> tw.matmul(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [10.0]]))
array([[21.],
       [43.]])
)";

inline constexpr const char* matvec = R"(matvec(a, x, out=None, *, device=None, variant=None, tuning=None)
--

The product of a matrix and a vector: out[i] is dot(a[i], x). The matrix's rows may lie apart in memory.

>>> tw.matvec(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 10.0]))
array([21., 43.])
)";

inline constexpr const char* dot = R"(dot(a, b, *, device=None, variant=None, tuning=None)
--

The sum, in the order of sum(), of the products a[i] * b[i], each rounded; arrays of one dimension and one size.

>>> float(tw.dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])))
11.0
)";

inline constexpr const char* polymul =
    R"(polymul(a, b, *, modulus=None, out=None, device=None, variant=None, tuning=None)
--

The product of two polynomials, whose coefficients are in ascending order of their powers, as numpy.polynomial has
them. int32 and int64 multiply exactly, to int64: a coefficient that does not fit is an Overflow. With a modulus from
1 to 2**63 - 1 they are in [0, modulus).

>>> tw.polymul(np.array([1, 1]), np.array([1, -1]))
array([ 1,  0, -1])
)";

inline constexpr const char* convolve =
    R"(convolve(image, mask, *, border='valid', out=None, device=None, variant=None, tuning=None)
--

Each pixel is the weighted sum of its neighbours: the mask, of odd sizes, is laid over the image and is not flipped.
With the border 'valid' there is a result only where the mask fits; with 'zero' the image goes on with +0, and the
result has its size.

>>> image = np.arange(12.0).reshape(3, 4)
>>> tw.convolve(image, np.ones((3, 3)))
array([[45., 54.]])
)";

inline constexpr const char* diffuse =
    R"(diffuse(field, steps=1, *, mask=53, dx=0.5, dy=0.5, rate=0.00625, allow_unstable=False, out=None, device=None,
        variant=None, tuning=None)
--

Explicit steps of the HiPerC diffusion benchmark on a field between two fixed strips. `mask` is 53, 93 or 95; `dx`
is the distance between columns and `dy` that between rows; `rate` is the time step times the diffusivity, and one
beyond the largest stable rate is refused unless allow_unstable.

>>> tw.diffuse(np.zeros((2, 4)), steps=10).round(3)
array([[0.959, 0.188, 0.059, 0.205],
       [0.205, 0.059, 0.188, 0.959]])
)";

inline constexpr const char* devices = R"(devices()
--

Every device of this machine that this build can use.

>>> "cpu:threads" in [device.name for device in tw.devices()]
True
)";

inline constexpr const char* open = R"(open(name='auto', *, threads=0, instruction_set='')
--

A device, to pass as device=: 'auto', 'cpu', 'cpu:serial', 'cpu:threads', 'opencl:0', 'cuda:0', a backend with a part
of the hardware's name, 'opencl:NVIDIA', or a group, 'cuda:0+cuda:1'. `threads` and `instruction_set` ('v2', 'v3',
'v4') are for CPUs. Each call opens a device with a queue of its own; where a name is passed as device=, one device
serves the whole process.

>>> tw.open("cpu:threads", threads=2).name
'cpu:threads'
)";

inline constexpr const char* device = R"(A device and its queue of calls. open() and devices() make them.)";

inline constexpr const char* array = R"(array(object, device=None)
--

A copy of `object`, an array on the host, in the memory of a device, by default of open('auto'). Functions compute
there and return such arrays. numpy() and numpy.asarray() copy one back; with DLPack and __cuda_array_interface__
PyTorch, CuPy and JAX use it where it lies, if it is on a CPU or a CUDA device.

>>> x = tw.array(np.arange(6.0), device="cpu")
>>> x
<tilewise.array of float64, shape (6,), on cpu>
>>> tw.cumsum(x).numpy()
array([ 0.,  1.,  3.,  6., 10., 15.])
)";

inline constexpr const char* partial = R"(partial(op='sum', dtype='float64', begin=0)
--

What is known of the elements [begin, end) of a longer array: enough to reduce the whole once its parts are merged,
with the bits of one call however it was cut. It can be pickled, and so sent to other processes.

>>> left, right = tw.partial(), tw.partial(begin=2)
>>> left.push(np.array([1.0, 2.0])), right.push(np.array([3.0]))
(None, None)
>>> left.merge(right)
>>> float(left.value())
6.0
)";

inline constexpr const char* push = R"(push(self, values, *, device=None, variant=None, tuning=None)
--

Appends elements of the partial's type at `end`.)";

inline constexpr const char* merge = R"(merge(self, right)
--

Appends the part that begins at `end`, and has the same operation and type.)";

inline constexpr const char* value = R"(value(self)
--

The reduction of the elements [0, end); a part that begins elsewhere has none.)";

}  // namespace tilewise::python::documents
