// SPDX-License-Identifier: Apache-2.0
// What:   sort on the ranks of a group.
// Order:  each rank sorts its part; then the runs are merged, equal codes in order of rank. So equal keys keep the
//         order of the input.
// Shape:  each rank sorts its part. Then all runs are cut exactly at the borders of the output (split.hpp), and each
//         rank merges its pieces of all runs. A device that can read the other ranks' memory reads the pieces in place.
// Limits: those of the members' variants; workspace of twice a rank's part, and that of its local sort.
// Twins:  pieces.cpp, whose runs one device sorts.
#include "scan/problem.hpp"
#include "sort/group/cuts.hpp"
#include "sort/merge_runs.hpp"

namespace tilewise::impl::sort {

namespace {

using backend::buffer;
using backend::memory;
using backend::group::byte_range;
using backend::group::demand;
using backend::group::loan;
using backend::group::parcel;
using backend::group::rank_memory;
using divide::rank;

/// The bytes of a key, and of the value that moves with it, if any.
struct widths {
  std::array<std::size_t, 2> of;
  std::size_t columns;

  explicit widths(const registry::problem& p)
      : of{size_of(p.type), payload_size(payload_of(p))}, columns(of[1] == 0 ? 1 : 2) {}
};

/// Elements in the memory of one device: a buffer for keys and a buffer for values.
class column_buffers {
 public:
  column_buffers(backend::queue& queue, const widths& width, std::uint64_t n)
      : width_(width), keys_(queue, n * width.of[0]), values_(queue, n * width.of[1]) {}

  memory of(std::size_t column) const { return column == 0 ? keys_ : values_; }
  memory piece(std::size_t column, std::uint64_t first, std::uint64_t n) const {
    return of(column).at(first * width_.of[column], n * width_.of[column]);
  }

 private:
  widths width_;
  buffer keys_, values_;
};

registry::problem scan_of(std::uint64_t n) {
  return scan::problem_of<std::uint32_t>(n, op::sum, false, nullptr, false);
}

/// Writes first, first + 1, ..., as the prefix sums of first, 1, 1, ...
void write_positions(const rank& r, const memory& to, std::uint64_t first, std::uint64_t n) {
  constexpr std::uint64_t word = sizeof(std::uint32_t), uploaded = 4096;
  const buffer terms(r.queue(), n * word);
  const std::vector<std::uint32_t> ones(std::min(n, uploaded), 1);
  r.queue().upload(terms, ones.data(), ones.size() * word);
  for (std::uint64_t done = ones.size(); done < n; done *= 2) {
    const std::uint64_t bytes = std::min(done, n - done) * word;
    r.queue().copy(memory(terms).at(done * word, bytes), memory(terms).at(0, bytes), bytes);
  }
  const auto begin = static_cast<std::uint32_t>(first);
  r.queue().upload(terms, &begin, sizeof begin);
  registry::bindings where;
  where.in[0] = terms;
  where.out[0] = to;
  divide::run_on_rank(r, scan_of(n), where);
}

/// The work of one rank.
class rank_sort {
 public:
  rank_sort(const registry::problem& p, const registry::bindings& where, const rank& r, bool cuts_in_place)
      : p_(p), where_(where), r_(r), cuts_in_place_(cuts_in_place), width_(p) {}

  void run() {
    const byte_range mine = r_.part(where_.in[0]);
    const auto values_of = [this](const memory& keys) {
      return [this, keys](unsigned k) { return as_column(backend::group::part_of(keys, k), 1); };
    };
    const rank_memory values = has_values(p_) ? r_.fetch(where_.in[1], values_of(where_.in[0])) : rank_memory({});
    const rank_memory values_out = results(1);
    const std::uint64_t n = mine.bytes() / width_.of[0];
    const column_buffers run(r_.queue(), width_, n);
    if (n != 0) sort_own(mine, values, run, n);
    merge_runs(run, values_out);
    if (width_.columns == 2) r_.deliver(where_.out[1], values_of(where_.out[0]), values_out);
  }

 private:
  /// Converts a range of bytes of keys to that of the same elements in another column.
  byte_range as_column(byte_range keys, std::size_t column) const {
    return {keys.begin / width_.of[0] * width_.of[column], keys.end / width_.of[0] * width_.of[column]};
  }
  rank_memory results(std::size_t column) const {
    return column < width_.columns ? r_.result(where_.out[column], as_column(r_.part(where_.out[0]), column))
                                   : rank_memory({});
  }

  void sort_own(byte_range mine, const memory& values, const column_buffers& run, std::uint64_t n) const {
    const bool makes_positions = payload_of(p_) == payload::indices;
    const buffer positions(r_.queue(), makes_positions ? n * width_.of[1] : 0);
    if (makes_positions) write_positions(r_, positions, mine.begin / width_.of[0], n);
    registry::bindings there;
    there.in = {local(where_.in[0], r_.index(), mine), makes_positions ? memory(positions) : values};
    there.out = {run.of(0), run.of(1)};
    divide::run_on_rank(r_, part_of(p_, n), there);
  }

  std::vector<std::uint64_t> lengths_of_runs() const {
    std::vector<std::uint64_t> all;
    for (unsigned k = 0; k < r_.count(); ++k)
      all.push_back(backend::group::part_of(where_.in[0], k).bytes() / width_.of[0]);
    return all;
  }
  /// Where the ranks' parts of the output begin, in elements.
  std::vector<std::uint64_t> borders() const {
    std::vector<std::uint64_t> all{0};
    for (unsigned k = 0; k < r_.count(); ++k)
      all.push_back(std::max(all.back(), backend::group::part_of(where_.out[0], k).end / width_.of[0]));
    return all;
  }

  /// Merges the runs, once all ranks have sorted their parts.
  void merge_runs(const column_buffers& run, const memory& values_out) const {
    const cut_part cuts = cut_runs_of_all(run.of(0));
    const std::array<memory, 2> out{local(where_.out[0], r_.index(), r_.part(where_.out[0])), values_out};
    const loan lent = borrow(run, cuts.of_all);
    merge(pieces_of(run, cuts.of_all, lent), cuts.pieces, out);
    r_.give_back();
  }

  cut_part cut_runs_of_all(const memory& run) const {
#if TILEWISE_WITH_CUDA
    if (cuts_in_place_) return cut_runs_in_place(r_, p_, run, lengths_of_runs(), borders());
#endif
    return {cut_runs(r_, p_, run, lengths_of_runs(), borders()), {}};
  }

  /// Gets access to the pieces of the other ranks' runs that belong to this rank's part of the output.
  loan borrow(const column_buffers& run, const run_cuts& cuts) const {
    const unsigned me = r_.index();
    std::vector<parcel> sends;
    std::vector<demand> receives;
    for (unsigned peer = 0; peer < r_.count(); ++peer) {
      if (peer == me) continue;
      for (std::size_t c = 0; c < width_.columns; ++c) {
        if (cuts.length(me, peer) != 0) sends.push_back({peer, run.piece(c, cuts.at(me, peer), cuts.length(me, peer))});
        if (cuts.length(peer, me) != 0) receives.push_back({peer, cuts.length(peer, me) * width_.of[c]});
      }
    }
    return r_.borrow(sends, receives);
  }

  /// The pieces to merge into this rank's part of the output, in order of rank.
  std::vector<sorted_place> pieces_of(const column_buffers& run, const run_cuts& cuts, const loan& lent) const {
    std::vector<sorted_place> all;
    std::size_t next = 0;
    for (unsigned k = 0; k < r_.count(); ++k) {
      const std::uint64_t n = cuts.length(k, r_.index());
      if (n == 0) continue;
      std::array<memory, 2> column{};
      for (std::size_t c = 0; c < width_.columns; ++c)
        column[c] = k == r_.index() ? run.piece(c, cuts.at(k, k), n) : lent.at(next++);
      all.push_back({column[0], column[1], n});
    }
    return all;
  }

  void merge(std::span<const sorted_place> runs, [[maybe_unused]] std::span<const cut> pieces,
             const std::array<memory, 2>& out) const {
    if (runs.size() <= 1) return gather(runs, out);
    const std::vector<std::uint64_t> border = borders_of(runs);
    const std::uint64_t n = border.back();
    const registry::problem part = part_of(p_, n);
#if TILEWISE_WITH_CUDA
    if (r_.device().info().backend == "cuda")
      return merge_runs_on_cuda(part, runs, {.out = {out[0], out[1]}}, r_.queue(), pieces);
#endif
    const column_buffers all(r_.queue(), width_, n);
    gather(runs, {all.of(0), all.of(1)});
    merger_of(r_.device().info())(part, {.in = {all.of(0), all.of(1)}, .out = {out[0], out[1]}}, border, r_.queue());
  }

  /// Copies the pieces so that they lie one after the other.
  void gather(std::span<const sorted_place> pieces, const std::array<memory, 2>& to) const {
    std::uint64_t at = 0;
    for (const sorted_place& one : pieces) {
      for (std::size_t c = 0; c < width_.columns; ++c) {
        const std::uint64_t bytes = one.n * width_.of[c];
        r_.queue().copy(to[c].at(at * width_.of[c], bytes), c == 0 ? one.keys : one.values, bytes);
      }
      at += one.n;
    }
  }

  static runs_merger* merger_of(const device_info& on) {
#if TILEWISE_WITH_OPENCL
    if (on.backend == "opencl") return merge_runs_on_opencl;
#endif
    static_cast<void>(on);
    return merge_runs_on_cpu;
  }

  const registry::problem& p_;
  const registry::bindings& where_;
  const rank& r_;
  bool cuts_in_place_;
  widths width_;
};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  const backend::group::queue& group = backend::group::enter(queue);
  const bool cuts_in_place = group.has_one_cuda_memory() && group.ranks() <= std::tuple_size_v<cut>;
  divide::run_on_ranks(queue, p, where, [&](const rank& r) { rank_sort(p, where, r, cuts_in_place).run(); });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  std::string why = divide::unsupported_by_members(part_of(p, p.n()), on);
  if (why.empty()) why = cuts_unsupported(p, on);
  if (why.empty() && payload_of(p) == payload::indices) why = divide::unsupported_by_members(scan_of(p.n()), on);
  return why;
}

}  // namespace

std::vector<registry::variant> sort_group_variants() {
  return {{.algorithm = "sort",
           .backend = "group",
           .name = "",
           .types = all_dtypes,
           .source =
               "local sorts, exact cuts of their runs, one exchange, merges; the cuts' problem: Varman, Scheufler, "
               "Iyer, Ricard, Merging multiple lists on hierarchical-memory multiprocessors (1991)",
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::sort
