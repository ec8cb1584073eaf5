// SPDX-License-Identifier: Apache-2.0
// Tensor maps: what the hardware's bulk copies need to know of a matrix to bring boxes of it to shared memory. The
// driver makes them; it is asked at run time, so that all else works with one that cannot.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace tilewise::backend::cuda {

bool has_tensor_maps();

/// Rows of a box: 128 bytes, whose units of 16 are swapped by the row's number modulo 8, so that columns of them meet
/// different banks. Shared memory for a box begins at a multiple of 1024 bytes.
inline constexpr unsigned box_columns = 32;

/// Of a matrix of `rows` x `columns` floats, neither of them 0, whose rows begin at multiples of 16 bytes; `stride` is
/// in elements. Copies round to TF32, to nearest and ties to even; what is beyond the matrix becomes +0.
CUtensorMap tf32_map(const float* first, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride,
                     unsigned box_rows);

/// Of a matrix as above whose rows follow each other; `first` is at a multiple of 16 bytes, and so is where a copy
/// begins. Boxes, of whole packs, are in shared memory row after row; what is beyond the matrix becomes +0.
CUtensorMap box_map(const float* first, std::uint64_t rows, std::uint64_t columns, unsigned box_rows,
                    unsigned box_width);

}  // namespace tilewise::backend::cuda
