// What:   sort on the ranks of a group.
// Order:  each rank sorts its part; the runs are merged, equal codes in order of rank. So equal keys keep the order
//         of the input.
// Shape:  a local sort; the exact cuts of all runs at the borders of the output (sort_group_split.hpp); one exchange in
//         which each rank gets its piece of every run; a merge of these.
// Limits: those of the members' variants; workspace of twice a rank's part, and what its local sort takes.
// Twins:  sort_pieces.cpp, whose runs one device sorts.
#include "scan/scan_problem.hpp"
#include "sort/sort_group_cuts.hpp"
#include "sort/sort_merge_runs.hpp"

namespace tilewise::impl::sort {

namespace {

using backend::buffer;
using backend::memory;
using backend::group::byte_range;
using backend::group::parcel;
using backend::group::rank_memory;
using registry::rank;

/// Bytes of an element of each operand: of its key and of what moves with it, if anything does.
struct widths {
  std::array<std::size_t, 2> of;
  std::size_t columns;

  explicit widths(const registry::problem& p)
      : of{size_of(p.type), payload_size(payload_of(p))}, columns(of[1] == 0 ? 1 : 2) {}
};

/// Elements in the memory of one device: a buffer for each column.
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

/// first, first + 1, ...: the sums of first, 1, 1, ...
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
  registry::run_on_rank(r, scan_of(n), where);
}

/// What one rank does.
class rank_sort {
 public:
  rank_sort(const registry::problem& p, const registry::bindings& where, const rank& r)
      : p_(p), where_(where), r_(r), width_(p) {}

  void run() {
    const byte_range mine = r_.part(where_.in[0]);
    const rank_memory values = has_values(p_) ? r_.fetch(where_.in[1], as_column(mine, 1)) : rank_memory({});
    const rank_memory values_out = results(1);
    merge_pieces(runs(mine, values), values_out);
    if (width_.columns == 2) r_.deliver(where_.out[1], as_column(r_.part(where_.out[0]), 1), values_out);
  }

 private:
  /// Pieces of runs, one after the other, in order of rank.
  struct gathered {
    std::unique_ptr<column_buffers> elements;
    std::vector<std::uint64_t> border;  // where pieces begin that are not empty, and the end
  };

  /// The bytes of another column's elements.
  byte_range as_column(byte_range keys, std::size_t column) const {
    return {keys.begin / width_.of[0] * width_.of[column], keys.end / width_.of[0] * width_.of[column]};
  }
  rank_memory results(std::size_t column) const {
    return column < width_.columns ? r_.result(where_.out[column], as_column(r_.part(where_.out[0]), column))
                                   : rank_memory({});
  }

  gathered runs(byte_range mine, const memory& values) const {
    const std::uint64_t n = mine.bytes() / width_.of[0];
    const column_buffers run(r_.queue(), width_, n);
    if (n != 0) sort_own(mine, values, run, n);
    return exchange(run, cut_runs(r_, p_, run.of(0), n, borders()));
  }

  void sort_own(byte_range mine, const memory& values, const column_buffers& run, std::uint64_t n) const {
    const bool makes_positions = payload_of(p_) == payload::indices;
    const buffer positions(r_.queue(), makes_positions ? n * width_.of[1] : 0);
    if (makes_positions) write_positions(r_, positions, mine.begin / width_.of[0], n);
    registry::bindings there;
    there.in = {local(where_.in[0], r_.index(), mine), makes_positions ? memory(positions) : values};
    there.out = {run.of(0), run.of(1)};
    registry::run_on_rank(r_, part_of(p_, n), there);
  }

  /// Where the ranks' parts of the output begin, in elements.
  std::vector<std::uint64_t> borders() const {
    std::vector<std::uint64_t> all{0};
    for (unsigned k = 0; k < r_.count(); ++k)
      all.push_back(std::max(all.back(), backend::group::part_of(where_.out[0], k).end / width_.of[0]));
    return all;
  }

  gathered exchange(const column_buffers& run, const run_cuts& cuts) const {
    const unsigned me = r_.index();
    gathered got{.elements = nullptr, .border = {0}};
    std::vector<std::uint64_t> begin{0};
    for (unsigned k = 0; k < r_.count(); ++k) begin.push_back(begin.back() + cuts.length(k, me));
    got.elements = std::make_unique<column_buffers>(r_.queue(), width_, begin.back());
    std::vector<parcel> sends, receives;
    for (unsigned peer = 0; peer < r_.count(); ++peer) {
      if (const std::uint64_t received = cuts.length(peer, me); received != 0) got.border.push_back(begin[peer + 1]);
      for (std::size_t c = 0; c < width_.columns; ++c) {
        const memory from = run.piece(c, cuts.at(me, peer), cuts.length(me, peer));
        const memory to = got.elements->piece(c, begin[peer], cuts.length(peer, me));
        if (peer != me && from.bytes != 0) sends.push_back({peer, from});
        if (peer != me && to.bytes != 0) receives.push_back({peer, to});
        if (peer == me && to.bytes != 0) r_.queue().copy(to, from, to.bytes);
      }
    }
    r_.exchange(sends, receives);
    return got;
  }

  void merge_pieces(const gathered& pieces, const memory& values_out) const {
    const std::uint64_t n = pieces.border.back();
    const byte_range mine = r_.part(where_.out[0]);
    const std::array<memory, 2> out{local(where_.out[0], r_.index(), mine), values_out};
    if (pieces.border.size() <= 2) {  // one run or none
      for (std::size_t c = 0; c < width_.columns && n != 0; ++c)
        r_.queue().copy(out[c], pieces.elements->of(c), n * width_.of[c]);
      return;
    }
    registry::bindings where;
    where.in = {pieces.elements->of(0), pieces.elements->of(1)};
    where.out = {out[0], out[1]};
    merger_of(r_.device().info())(part_of(p_, n), where, pieces.border, r_.queue());
  }

  static runs_merger* merger_of(const device_info& on) {
#if TILEWISE_WITH_OPENCL
    if (on.backend == "opencl") return merge_runs_on_opencl;
#endif
#if TILEWISE_WITH_CUDA
    if (on.backend == "cuda") return merge_runs_on_cuda;
#endif
    static_cast<void>(on);
    return merge_runs_on_cpu;
  }

  const registry::problem& p_;
  const registry::bindings& where_;
  const rank& r_;
  widths width_;
};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  backend::group::enter(queue).on_each_rank([&](const rank& r) {
    if (r.count() == 1)
      registry::run_on_only_rank(r, p, where);
    else
      rank_sort(p, where, r).run();
  });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  std::string why = registry::unsupported_by_members(part_of(p, p.n()), on);
  if (why.empty()) why = cuts_unsupported(p, on);
  if (why.empty() && payload_of(p) == payload::indices) why = registry::unsupported_by_members(scan_of(p.n()), on);
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
