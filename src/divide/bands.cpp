// SPDX-License-Identifier: Apache-2.0
#include "divide/bands.hpp"

#include "base/ceil_div.hpp"

#include <array>
#include <deque>
#include <optional>

namespace tilewise::divide {

using backend::buffer;
using backend::memory;
using backend::group::byte_range;
using backend::group::parcel;

namespace {

/// Rows of the input, the result rows that they make, and those of the latter that are both right and wanted.
struct part {
  row_range from, made, right;
};

/// `of` without its last `missing` rows; empty if it has no more rows than that.
row_range without_last(row_range of, std::uint64_t missing) {
  return {of.begin, std::max(of.begin, of.end - std::min(of.end, missing))};
}

row_range made_of(const row_stencil& s, row_range from) { return without_last(from, s.rows - s.results); }

byte_range bytes_of(row_range rows, std::uint64_t row_bytes) { return {rows.begin * row_bytes, rows.end * row_bytes}; }

/// The part that computes the result rows `wanted`.
part part_for(const row_stencil& s, row_range wanted) {
  const row_range from{wanted.begin - std::min(wanted.begin, s.above), std::min(s.rows, wanted.end + s.below)};
  return {from, made_of(s, from), wanted};
}

/// The part that a rank computes directly from its own rows; none if that is too little of its band. Rows that lack
/// neighbours are computed twice: wrongly here, and again with the edges. So a band of few other rows is gathered as a
/// whole.
std::optional<part> inside_of(const row_stencil& s, const band& b) {
  const row_range held{ceil_div(b.held.begin, s.row_bytes), b.held.end / s.row_bytes};
  const std::uint64_t begin = std::max(held.begin, b.wanted.begin),
                      end = std::min(held.end, b.wanted.end + (s.rows - s.results));
  const row_range from{begin, end}, made = made_of(s, from);
  row_range right = end == s.rows ? made : without_last(from, s.below);
  right.begin += begin == 0 ? 0 : s.above;
  constexpr std::uint64_t worth_it = 8;
  if (right.end <= right.begin || right.size() < worth_it * (s.above + s.below)) return std::nullopt;
  return part{from, made, right};
}

/// The rest of a rank's band.
std::vector<part> edges_of(const row_stencil& s, const band& b) {
  const std::optional<part> inside = inside_of(s, b);
  const row_range done = inside ? inside->right : row_range{b.wanted.end, b.wanted.end};
  std::vector<part> edges;
  for (const row_range left : {row_range{b.wanted.begin, done.begin}, row_range{done.end, b.wanted.end}})
    if (left.size() != 0) edges.push_back(part_for(s, left));
  return edges;
}

/// Collective: brings each rank the rows that it wants from the ranks that hold them. wanted_by(rank) returns ranges of
/// rows.
template <class WantedBy>
void gather(const rank& r, std::uint64_t row_bytes, std::span<const band> all, const memory& held,
            const WantedBy& wanted_by, std::span<const memory> to) {
  const byte_range mine = all[r.index()].held;
  std::vector<parcel> sends, receives;
  for (unsigned peer = 0; peer < r.count(); ++peer) {
    if (peer == r.index()) continue;
    for (const row_range& rows : wanted_by(peer))
      if (const byte_range asked = common(bytes_of(rows, row_bytes), mine); asked.bytes() != 0)
        sends.push_back({peer, held.at(asked.begin - mine.begin, asked.bytes())});
  }
  const auto own = wanted_by(r.index());
  for (std::size_t i = 0; i < own.size(); ++i) {
    const byte_range wanted = bytes_of(own[i], row_bytes);
    for (unsigned peer = 0; peer < r.count(); ++peer) {
      const byte_range theirs = common(wanted, all[peer].held);
      if (theirs.bytes() == 0) continue;
      const memory place = to[i].at(theirs.begin - wanted.begin, theirs.bytes());
      if (peer == r.index())
        r.queue().copy(place, held.at(theirs.begin - mine.begin, theirs.bytes()), theirs.bytes());
      else
        receives.push_back({peer, place});
    }
  }
  r.exchange(sends, receives);
}

/// Computes an edge from gathered rows and copies the right rows to the result.
void run_edge(const rank& r, const row_stencil& s, const part& edge, const memory& from, const memory& to,
              const band_work& work) {
  if (edge.made == edge.right) return work(edge.from, from, to);
  const std::uint64_t row = s.result_row_bytes;
  const buffer made(r.queue(), edge.made.size() * row);
  work(edge.from, from, made);
  const memory right = memory(made).at((edge.right.begin - edge.made.begin) * row, edge.right.size() * row);
  r.queue().copy(to, right, right.bytes);
}

}  // namespace

row_range with_halo(row_range own, std::uint64_t halo, std::uint64_t rows) {
  if (own.size() == 0) return own;
  return {own.begin - std::min(own.begin, halo), std::min(rows, own.end + halo)};
}

void fill_halos(const rank& r, std::uint64_t rows, std::uint64_t row_bytes, std::span<const band> all,
                std::uint64_t halo, const memory& padded) {
  const auto wanted_by = [&](unsigned rank) {
    const row_range own = all[rank].wanted, whole = with_halo(own, halo, rows);
    return std::array{row_range{whole.begin, own.begin}, row_range{own.end, whole.end}};
  };
  const auto [above, below] = wanted_by(r.index());
  const std::uint64_t own_bytes = all[r.index()].held.bytes(), first = above.size() * row_bytes;
  const std::array to{padded.at(0, first), padded.at(first + own_bytes, below.size() * row_bytes)};
  gather(r, row_bytes, all, padded.at(first, own_bytes), wanted_by, to);
}

void run_band(const rank& r, const row_stencil& s, std::span<const band> all, const memory& held, const memory& result,
              const band_work& work) {
  const band& own = all[r.index()];
  const auto place = [&](row_range rows) {
    return result.at((rows.begin - own.wanted.begin) * s.result_row_bytes, rows.size() * s.result_row_bytes);
  };
  if (const std::optional<part> inside = inside_of(s, own)) {
    const byte_range from = bytes_of(inside->from, s.row_bytes);
    work(inside->from, held.at(from.begin - own.held.begin, from.bytes()), place(inside->made));
  }
  const std::vector<part> edges = edges_of(s, own);
  std::deque<buffer> rows;
  std::vector<memory> gathered;
  for (const part& edge : edges) gathered.push_back(rows.emplace_back(r.queue(), edge.from.size() * s.row_bytes));
  const auto wanted_by = [&](unsigned rank) {
    std::vector<row_range> wanted;
    for (const part& edge : edges_of(s, all[rank])) wanted.push_back(edge.from);
    return wanted;
  };
  gather(r, s.row_bytes, all, held, wanted_by, gathered);
  for (std::size_t i = 0; i < edges.size(); ++i) run_edge(r, s, edges[i], gathered[i], place(edges[i].right), work);
}

}  // namespace tilewise::divide
