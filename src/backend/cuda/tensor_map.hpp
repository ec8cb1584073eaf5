// SPDX-License-Identifier: Apache-2.0
// Tensor maps: they describe a matrix to the hardware's bulk copies, which copy boxes of it to shared memory. The
// driver creates them. Its function is looked up at run time, so that older drivers work otherwise.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace tilewise::backend::cuda {

bool has_tensor_maps();

/// The columns of a box, whose rows have 128 bytes. The units of 16 bytes in a row are swizzled by the row's number
/// modulo 8, so that accesses along a column use different banks. A box in shared memory must begin at a multiple of
/// 1024 bytes.
inline constexpr unsigned box_columns = 32;

/// The map of a matrix of `rows` x `columns` floats. Neither may be 0, and rows must begin at multiples of 16 bytes;
/// `stride` is in elements. Copies round to TF32 (to nearest, ties to even). Elements beyond the matrix become +0.
CUtensorMap tf32_map(const float* first, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride,
                     unsigned box_rows);

/// The map of such a matrix without gaps between its rows. `first` and the begin of each copy must be multiples of 16
/// bytes. A box consists of whole packs and is stored row after row in shared memory. Elements beyond the matrix become
/// +0.
CUtensorMap box_map(const float* first, std::uint64_t rows, std::uint64_t columns, unsigned box_rows,
                    unsigned box_width);

}  // namespace tilewise::backend::cuda
