// SPDX-License-Identifier: Apache-2.0
#include "backend/group/matrix.hpp"

#include <deque>

namespace tilewise::backend::group {

namespace {

/// The range from a block's first byte to its last one, gaps included.
byte_range hull(const matrix& of, const block& b) {
  if (b.bytes() == 0) return {};
  const std::uint64_t begin = b.row * of.stride + b.column;
  return {begin, begin + (b.rows - 1) * of.stride + b.width};
}

/// Whether each rank holds its block; then nothing is sent.
bool lie_on_their_ranks(const matrix& of, std::span<const block> of_ranks) {
  for (unsigned i = 0; i < of_ranks.size(); ++i)
    if (of_ranks[i].bytes() != 0 && !part_of(of.where, i).holds(hull(of, of_ranks[i]))) return false;
  return true;
}

std::vector<block> of_all(const rank& r, const blocks& which) {
  std::vector<block> all;
  for (unsigned i = 0; i < r.count(); ++i) all.push_back(which(i));
  return all;
}

/// The number of the block's bytes before byte `at` of the matrix.
std::uint64_t bytes_before(std::uint64_t at, const matrix& of, const block& b) {
  if (b.bytes() == 0 || at / of.stride < b.row) return 0;
  if (at / of.stride >= b.row + b.rows) return b.bytes();
  return (at / of.stride - b.row) * b.width + std::clamp(at % of.stride, b.column, b.column + b.width) - b.column;
}

/// The range of a block's bytes, counted without gaps, that lie in the range `part` of the matrix.
byte_range packed_range(byte_range part, const matrix& of, const block& b) {
  return {bytes_before(part.begin, of, b), bytes_before(part.end, of, b)};
}

/// The position in the matrix of a block's byte `packed`.
std::uint64_t place_of(std::uint64_t packed, const matrix& of, const block& b) {
  return (b.row + packed / b.width) * of.stride + b.column + packed % b.width;
}

/// A range of a block, in the memory of the rank that holds it.
struct stretch {
  const rank& r;
  const matrix& of;
  const block& b;
  byte_range packed;

  byte_range outside() const { return {place_of(packed.begin, of, b), place_of(packed.end - 1, of, b) + 1}; }
  memory where() const { return local(of.where, r.index(), outside()); }
  bool has_gaps() const { return outside().bytes() != packed.bytes(); }

  /// Calls f(packed, place, width, rows) for up to three rectangles: the end of the first row, whole rows, and the
  /// begin of the last row.
  template <class F>
  void for_each_rectangle(const F& f) const {
    for (std::uint64_t at = packed.begin; at != packed.end;) {
      const std::uint64_t left = packed.end - at, of_row = std::min(left, b.width - at % b.width);
      const std::uint64_t rows = of_row == b.width ? left / b.width : 1;
      f(at - packed.begin, place_of(at, of, b) - outside().begin, of_row, rows);
      at += rows * of_row;
    }
  }
  void pack(const memory& to) const {
    for_each_rectangle([&](std::uint64_t at, std::uint64_t place, std::uint64_t width, std::uint64_t rows) {
      r.queue().copy_rows(to.at(at, rows * width), width, where().at(place, 0), of.stride, width, rows);
    });
  }
  void unpack(const memory& from) const {
    for_each_rectangle([&](std::uint64_t at, std::uint64_t place, std::uint64_t width, std::uint64_t rows) {
      r.queue().copy_rows(where().at(place, 0), of.stride, from.at(at, rows * width), width, width, rows);
    });
  }
};

/// The data that one rank sends, copied without gaps. Ranks that want the same data share one copy.
class outbox {
 public:
  memory packed(const stretch& what) {
    if (!what.has_gaps()) return what.where();
    for (const letter& earlier : letters_)
      if (earlier.what == what.b) return earlier.contents;
    letter& made = letters_.emplace_back(what.b, rank_memory(what.r.queue(), what.packed.bytes()));
    what.pack(made.contents);
    return made.contents;
  }

 private:
  struct letter {
    block what;
    rank_memory contents;
    letter(const block& b, rank_memory m) : what(b), contents(std::move(m)) {}
  };
  std::deque<letter> letters_;
};

memory at(const rank_block& from, byte_range packed) {
  return static_cast<memory>(from.where).at(packed.begin, packed.bytes());
}

}  // namespace

rank_block result(const rank& r, const matrix& of, const block& computed) {
  const byte_range all = hull(of, computed);
  if (all.bytes() == 0 || r.part(of.where).holds(all)) return {rank_memory(local(of.where, r.index(), all)), of.stride};
  return {rank_memory(r.queue(), computed.bytes()), computed.width};
}

rank_block fetch(const rank& r, const matrix& of, const blocks& of_ranks) {
  const std::vector<block> all = of_all(r, of_ranks);
  const block& wanted = all[r.index()];
  const byte_range mine = r.part(of.where);
  rank_block got = result(r, of, wanted);
  if (lie_on_their_ranks(of, all)) return got;
  outbox packed;
  std::vector<parcel> sends, receives;
  for (unsigned peer = 0; peer < r.count(); ++peer) {
    if (peer == r.index()) continue;
    if (const byte_range asked = packed_range(mine, of, all[peer]); asked.bytes() != 0)
      sends.push_back({peer, packed.packed({r, of, all[peer], asked})});
    if (const byte_range theirs = packed_range(part_of(of.where, peer), of, wanted);
        got.where.is_own() && theirs.bytes() != 0)
      receives.push_back({peer, at(got, theirs)});
  }
  if (const byte_range kept = packed_range(mine, of, wanted); got.where.is_own() && kept.bytes() != 0)
    stretch{r, of, wanted, kept}.pack(at(got, kept));
  r.exchange(sends, receives);
  return got;
}

void deliver(const rank& r, const matrix& to, const blocks& of_ranks, const rank_block& from) {
  const std::vector<block> all = of_all(r, of_ranks);
  const block& computed = all[r.index()];
  const byte_range mine = r.part(to.where);
  if (const byte_range kept = packed_range(mine, to, computed); from.where.is_own() && kept.bytes() != 0)
    stretch{r, to, computed, kept}.unpack(at(from, kept));
  if (lie_on_their_ranks(to, all)) return;
  std::vector<parcel> sends, receives;
  std::deque<std::pair<stretch, rank_memory>> arriving;
  for (unsigned peer = 0; peer < r.count(); ++peer) {
    if (peer == r.index()) continue;
    if (const byte_range theirs = packed_range(part_of(to.where, peer), to, computed); theirs.bytes() != 0)
      sends.push_back({peer, at(from, theirs)});
    const stretch place{r, to, all[peer], packed_range(mine, to, all[peer])};
    if (place.packed.bytes() == 0) continue;
    if (place.has_gaps())
      receives.push_back({peer, arriving.emplace_back(place, rank_memory(r.queue(), place.packed.bytes())).second});
    else
      receives.push_back({peer, place.where()});
  }
  r.exchange(sends, receives);
  for (const auto& [place, contents] : arriving) place.unpack(contents);
}

}  // namespace tilewise::backend::group
