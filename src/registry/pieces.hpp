// SPDX-License-Identifier: Apache-2.0
// Problems on host memory, computed a piece at a time on a device of its own memory: while one piece is computed, the
// next ones travel there and the last ones back. Few pieces are there at once, so a problem may be larger than the
// device.
#pragma once

#include "backend/transfer_team.hpp"
#include "registry/choose.hpp"

#include <functional>

namespace tilewise::registry {

/// Part of one of the host's operands, from byte `first` on.
struct slice {
  std::uint64_t first = 0;
  backend::host_rows rows = {};

  std::uint64_t bytes() const { return rows.total(); }
};

/// What one piece takes and gives, by the positions of the operands.
struct piece {
  std::array<slice, 4> in{}, out{};
  std::array<std::uint64_t, 4> before{}, after{};  // bytes of no use that its computation puts around each output's
};

/// Whether this problem, on host memory, is to be computed on the queue's device in pieces: the algorithm must know
/// how, with the variant chosen, and the transfers be worth it.
bool runs_in_pieces(const problem& p, const choice& how, backend::queue& queue);

/// Whether a device has room for so many bytes, `largest` of them in one piece of memory; pools round sizes up.
bool has_room(const device_info& on, std::uint64_t bytes, std::uint64_t largest);
/// So many of `of` equal parts of a device's memory, as far as one piece of memory may be so large.
std::uint64_t share_of_memory(const device_info& on, std::uint64_t parts, std::uint64_t of);

inline bool always_divisible(const problem&, const choice&, const backend::device&) { return true; }

/// About how many bytes of an operand make a good piece for a device: large enough for the link's full speed, so small
/// that the first one's upload and the last one's download, which nothing overlaps, take little time.
std::uint64_t piece_bytes(const device_info& on);

/// The host's side of a problem, in the order of the descriptor's inputs and outputs.
struct host_pointers {
  std::span<const void* const> in;
  std::span<void* const> out;
  double* computing_ns = nullptr;  // if it is there, the time of all pieces' work on the device is added to it
};

/// Runs `work` on each piece, in order, with the piece's operands on the device. What a failure leaves in the outputs
/// is unspecified.
void run_pieces(backend::queue& queue, const host_pointers& host, std::uint64_t count,
                const std::function<piece(std::uint64_t)>& cut,
                const std::function<void(std::uint64_t, const bindings&)>& work);

/// Runs what was chosen for the whole on a part of it. Throws errc::unsupported where that does not take the part,
/// before anything of it is computed: a division is possible only where no such part is cut.
void run_part(const choice& how, const problem& part, const bindings& where, backend::queue& queue);

/// A problem that falls into rows, each computed without the others.
struct rows {
  std::uint64_t count;
  std::uint64_t row_bytes;                // of the largest operand that is cut
  std::uint64_t granule = 1;              // pieces have a multiple of so many rows
  std::array<bool, 4> needed_whole = {};  // inputs of which every row needs all that a part takes
  /// The problem of `n` rows from `first` on, and what it takes and gives.
  std::function<std::pair<problem, piece>(std::uint64_t first, std::uint64_t n)> part;
};
void run_rows(const choice& how, backend::queue& queue, const host_pointers& host, const rows& all);

}  // namespace tilewise::registry
