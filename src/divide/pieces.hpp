// SPDX-License-Identifier: Apache-2.0
// Computes problems in host memory chunk by chunk ("piece" in code) on a device with separate memory. While one chunk
// is computed, the next is uploaded and the previous downloaded. Few chunks are on the device at once, so a problem may
// be larger than the device's memory.
#pragma once

#include "backend/transfer_team.hpp"
#include "registry/choose.hpp"

#include <functional>

namespace tilewise::divide {

using registry::bindings, registry::choice, registry::host_pointers, registry::problem;

/// Rows of one operand in host memory, from byte `first` on.
struct slice {
  std::uint64_t first = 0;
  backend::host_rows rows = {};

  std::uint64_t bytes() const { return rows.total(); }
};

/// The inputs and outputs of one chunk, with the index of the operand.
struct piece {
  std::array<slice, 4> in{}, out{};
  std::array<std::uint64_t, 4> before{}, after{};  // unneeded bytes that the computation writes around each output
};

/// Whether to compute this problem in host memory chunk by chunk on the queue's device. The algorithm must support that
/// with the chosen variant, and it must be worth the transfers.
bool runs_in_pieces(const problem& p, const choice& how, backend::queue& queue);

/// Whether the device has room for `bytes` in all, `largest` of them in one allocation. Pools round sizes up.
bool has_room(const device_info& on, std::uint64_t bytes, std::uint64_t largest);
/// The fraction `parts` / `of` of a device's memory, but at most the largest single allocation.
std::uint64_t share_of_memory(const device_info& on, std::uint64_t parts, std::uint64_t of);

inline bool always_divisible(const problem&, const choice&, const backend::device&) { return true; }

/// A good number of bytes of an operand per chunk. Chunks must be large enough for the link's full bandwidth, but small
/// enough that the first upload and the last download, which overlap with nothing, are short.
std::uint64_t piece_bytes(const device_info& on);

/// Runs `work` on each chunk, in order, with the chunk's operands on the device. After a failure the contents of the
/// outputs are unspecified.
void run_pieces(backend::queue& queue, const host_pointers& host, std::uint64_t count,
                const std::function<piece(std::uint64_t)>& cut,
                const std::function<void(std::uint64_t, const bindings&)>& work);

/// Runs the variant that was chosen for the whole problem on a part of it. Throws errc::unsupported, before computing,
/// if the variant does not support the part. A division's is_possible() must exclude such parts.
void run_part(const choice& how, const problem& part, const bindings& where, backend::queue& queue);

/// A problem that consists of independent rows.
struct rows {
  std::uint64_t count;
  std::uint64_t row_bytes;                // of the largest operand that is divided
  std::uint64_t granule = 1;              // the rows of a chunk are a multiple of this
  std::array<bool, 4> needed_whole = {};  // inputs that every row needs completely
  /// The problem of `n` rows from `first` on, with its inputs and outputs.
  std::function<std::pair<problem, piece>(std::uint64_t first, std::uint64_t n)> part;
};
void run_rows(const choice& how, backend::queue& queue, const host_pointers& host, const rows& all);

}  // namespace tilewise::divide
