// SPDX-License-Identifier: Apache-2.0
#include "sort/group/cuts.hpp"

#include "base/ceil_div.hpp"
#include "matvec/problem.hpp"
#include "sort/code.hpp"
#include "sort/group/split.hpp"

#include <algorithm>
#include <memory>

namespace tilewise::impl::sort {

namespace {

using divide::rank;

/// Samples of a bracket. In each round every rank sends so many samples of each cut to all ranks; the bytes grow with
/// the square of the number of ranks. So few ranks take few rounds with many samples, many ranks more rounds with
/// fewer.
constexpr unsigned few_ranks = 4;
constexpr std::uint64_t of_few = 1024, of_many = 64;

/// Reads every `distance`-th element, as the first column of a matrix times one. In integers this product is exact.
registry::problem column_problem(std::size_t key_size, std::uint64_t rows, std::uint64_t distance) {
  return {.what = &matvec::matvec_algorithm(),
          .type = key_size == 4 ? dtype::u32 : dtype::u64,
          .shape = {rows, 1, distance}};
}

/// The host's view of a sorted run in a device's memory. It first reads elements of the whole run at large distances,
/// then at smaller and smaller distances in the bracket of each cut.
template <class Offer>
class run_view {
  using Bits = typename decltype(Offer::code)::value_type;

 public:
  run_view(const rank& r, backend::memory run, std::uint64_t n, sort_code<Bits> code, std::size_t cuts)
      : r_(r), run_(run), code_(code), one_(r.queue(), sizeof(Bits)) {
    const Bits factor = 1;
    if (n > Offer::most) r_.queue().upload(one_, &factor, sizeof factor);
    looks_.resize(cuts, look_at({0, n}));
  }

  /// Samples the bracket of cut number `cut`, at distances of at most an eighth of it, or every element.
  Offer samples_of(bracket of, std::size_t cut) {
    constexpr std::uint64_t enough = 9;
    Offer made{.of = of};
    if (of.length() == 0) return made;
    if (!looks_[cut]->shows(of, enough)) looks_[cut] = look_at(of);
    const look& seen = *looks_[cut];
    const std::uint64_t before = seen.up_to(of.begin);
    made.first = seen.begin + before * seen.distance;
    made.distance = seen.distance;
    made.samples = seen.up_to(of.end) - before;
    std::copy_n(seen.codes.begin() + static_cast<std::ptrdiff_t>(before), made.samples, made.code.begin());
    return made;
  }

 private:
  /// The codes of elements begin, begin + distance, begin + 2 * distance, ...
  struct look {
    std::uint64_t begin = 0, distance = 1;
    std::vector<Bits> codes;

    /// How many of these elements come before `element`.
    std::uint64_t up_to(std::uint64_t element) const { return ceil_div(element - begin, distance); }
    bool shows(bracket of, std::uint64_t enough) const {
      return distance == 1 || up_to(of.end) - up_to(of.begin) >= enough;
    }
  };

  std::shared_ptr<const look> look_at(bracket of) const {
    const std::uint64_t n = of.length(), distance = std::max<std::uint64_t>(1, ceil_div(n, Offer::most));
    const backend::memory keys = run_.at(of.begin * sizeof(Bits), n * sizeof(Bits));
    const std::uint64_t rows = ceil_div(n, distance);
    if (distance == 1 || r_.queue().works_on_host_memory())
      return std::make_shared<look>(look{of.begin, distance, codes(keys, rows, distance)});
    const backend::buffer column(r_.queue(), rows * sizeof(Bits));
    registry::bindings where;
    where.in = {keys, one_};
    where.out[0] = column;
    divide::run_on_rank(r_, column_problem(sizeof(Bits), rows, distance), where);
    return std::make_shared<look>(look{of.begin, distance, codes(column, rows, 1)});
  }

  /// Reads n keys `distance` apart and encodes them. A distance other than 1 is only for memory of the host.
  std::vector<Bits> codes(const backend::memory& keys, std::uint64_t n, std::uint64_t distance) const {
    std::vector<Bits> all(n);
    if (distance != 1)
      for (std::uint64_t i = 0; i < n; ++i) all[i] = keys.as<const Bits>()[i * distance];
    else if (n != 0)
      r_.queue().download(all.data(), keys, n * sizeof(Bits));
    for (Bits& key : all) key = code_.encode(key);
    return all;
  }

  const rank& r_;
  backend::memory run_;
  sort_code<Bits> code_;
  backend::buffer one_;
  std::vector<std::shared_ptr<const look>> looks_;  // the last look for each cut
};

template <std::uint64_t Most, class Bits>
run_cuts cut_by_rounds(const rank& r, sort_code<Bits> code, const backend::memory& run,
                       std::span<const std::uint64_t> lengths, std::span<const std::uint64_t> border) {
  const std::uint64_t n = lengths[r.index()];
  const auto parts = static_cast<unsigned>(border.size() - 1);
  const std::size_t cuts = parts - 1;
  using offered = offer<Bits, Most>;
  run_view<offered> view(r, run, n, code, cuts);
  std::vector<offered> mine(cuts);
  for (std::size_t c = 0; c < cuts; ++c) mine[c].of = first_bracket(n, border.back(), border[c + 1]);
  for (;;) {
    for (std::size_t c = 0; c < cuts; ++c) mine[c] = view.samples_of(mine[c].of, c);
    const std::vector<offered> all = r.all_gather(std::span<const offered>(mine));
    if (std::all_of(all.begin(), all.end(), [](const offered& o) { return o.of.length() == 0; })) {
      run_cuts found(r.count(), parts);
      for (unsigned k = 0; k < r.count(); ++k) {
        for (std::size_t c = 0; c < cuts; ++c) found.at(k, static_cast<unsigned>(c + 1)) = all[k * cuts + c].of.begin;
        found.at(k, parts) = lengths[k];
      }
      return found;
    }
    for (std::size_t c = 0; c < cuts; ++c) {
      const auto of_rank = [&](unsigned k) -> const offered& { return all[k * cuts + c]; };
      mine[c].of = narrowed(of_rank, r.count(), r.index(), border[c + 1]);
    }
  }
}

}  // namespace

run_cuts cut_runs(const rank& r, const registry::problem& p, const backend::memory& run,
                  std::span<const std::uint64_t> lengths, std::span<const std::uint64_t> border) {
  return with_type(p.type, [&]<class T>(T) {
    const auto code = code_of<T>(is_descending(p));
    return r.count() > few_ranks ? cut_by_rounds<of_many>(r, code, run, lengths, border)
                                 : cut_by_rounds<of_few>(r, code, run, lengths, border);
  });
}

#if TILEWISE_WITH_CUDA
namespace {

/// The runs that are not empty, and the ranks that have them.
struct shown_runs {
  std::vector<sorted_place> runs;
  std::vector<unsigned> of_rank;

  shown_runs(const rank& r, const backend::memory& own, std::span<const std::uint64_t> lengths,
             const backend::group::loan& others) {
    std::size_t next = 0;
    for (unsigned k = 0; k < r.count(); ++k) {
      if (lengths[k] == 0) continue;
      runs.push_back({k == r.index() ? own : others.at(next++), {}, lengths[k]});
      of_rank.push_back(k);
    }
  }
};

/// Finds the cuts after the first places[i] merged elements, for each i. All ranks must call it together, each with its
/// own places.
std::vector<cut> look(const rank& r, const registry::problem& p, const backend::memory& own,
                      std::span<const std::uint64_t> lengths, std::span<const std::uint64_t> places) {
  std::vector<backend::group::parcel> sends;
  std::vector<backend::group::demand> receives;
  for (unsigned peer = 0; peer < r.count(); ++peer) {
    if (peer == r.index()) continue;
    if (own.bytes != 0) sends.push_back({peer, own});
    if (lengths[peer] != 0) receives.push_back({peer, lengths[peer] * size_of(p.type)});
  }
  const shown_runs shown(r, own, lengths, r.show(sends, receives));
  const std::vector<cut> found =
      shown.runs.empty() ? std::vector<cut>(places.size()) : cuts_on_cuda(p, shown.runs, places, r.queue());
  r.give_back();
  std::vector<cut> of_ranks(found.size(), cut{});
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t k = 0; k < shown.runs.size(); ++k) of_ranks[i][shown.of_rank[k]] = found[i][k];
  return of_ranks;
}

}  // namespace

cut_part cut_runs_in_place(const rank& r, const registry::problem& p, const backend::memory& run,
                           std::span<const std::uint64_t> lengths, std::span<const std::uint64_t> border) {
  const unsigned me = r.index();
  std::vector<std::uint64_t> places = borders_of_pieces(border[me + 1] - border[me]);
  for (std::uint64_t& one : places) one += border[me];
  const std::vector<cut> own = look(r, p, run, lengths, places);
  const std::vector<cut> begins = r.all_gather(own.front());
  cut_part made{run_cuts(r.count(), r.count()), {}};
  for (unsigned k = 0; k < r.count(); ++k) {
    for (unsigned part = 0; part < r.count(); ++part) made.of_all.at(k, part) = begins[part][k];
    made.of_all.at(k, r.count()) = lengths[k];
  }
  for (const cut& one : own) {
    cut within{};
    std::size_t next = 0;
    for (unsigned k = 0; k < r.count(); ++k)
      if (made.of_all.length(k, me) != 0) within[next++] = one[k] - made.of_all.at(k, me);
    made.pieces.push_back(within);
  }
  return made;
}
#endif

std::string cuts_unsupported(const registry::problem& p, const backend::device& group) {
  return divide::unsupported_by_members(column_problem(size_of(p.type), of_few, 1), group);
}

}  // namespace tilewise::impl::sort
