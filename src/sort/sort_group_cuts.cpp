#include "sort/sort_group_cuts.hpp"

#include "base/ceil_div.hpp"
#include "matvec/matvec_problem.hpp"
#include "sort/sort_code.hpp"
#include "sort/sort_group_split.hpp"

#include <bit>
#include <cmath>

namespace tilewise::impl::sort {

namespace {

using registry::rank;

/// Up to so many keys are downloaded at once: 64 or 128 KiB take little longer than one key.
constexpr std::uint64_t few_keys_of_run = 16384;

/// Distance of the keys of which all are downloaded first: about as many as between two of them, later.
std::uint64_t distance_for(std::uint64_t n) {
  if (n <= few_keys_of_run) return 1;
  return std::bit_floor(static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n))));
}

/// Every so-manieth element: the first column of a matrix, times one. Integers, so the product is exact.
registry::problem column_problem(std::size_t key_size, std::uint64_t rows, std::uint64_t distance) {
  return {.what = &matvec::matvec_algorithm(),
          .type = key_size == 4 ? dtype::u32 : dtype::u64,
          .shape = {rows, 1, distance}};
}

/// The host's view of a sorted run in a device's memory.
template <class Bits>
class run_view {
 public:
  run_view(const rank& r, backend::memory run, std::uint64_t n, sort_code<Bits> code, std::size_t cuts)
      : r_(r), run_(run), n_(n), code_(code), distance_(distance_for(n)), near_(cuts) {
    if (distance_ == 1)
      grid_ = codes(run_, n_);
    else
      look_from_afar();
  }

  /// Samples of the bracket of cut number `cut`, an eighth of it or less apart.
  offer<Bits> samples_of(bracket of, std::size_t cut) {
    constexpr std::uint64_t enough = 9;
    const std::uint64_t first = ceil_div(of.begin, distance_), count = ceil_div(of.end, distance_) - first;
    if (distance_ == 1 || (of.length() != 0 && count >= enough))
      return samples(of, first, count, distance_, [&](std::uint64_t i) { return grid_[i]; });
    window& near = near_[cut];
    if (near.codes.empty() && of.length() != 0)
      near = {of.begin, codes(run_.at(of.begin * sizeof(Bits), of.length() * sizeof(Bits)), of.length())};
    return samples(of, of.begin, of.length(), 1, [&](std::uint64_t i) { return near.codes[i - near.begin]; });
  }

 private:
  struct window {
    std::uint64_t begin = 0;
    std::vector<Bits> codes;
  };

  void look_from_afar() {
    const std::uint64_t rows = ceil_div(n_, distance_);
    const backend::buffer one(r_.queue(), sizeof(Bits)), column(r_.queue(), rows * sizeof(Bits));
    const Bits factor = 1;
    r_.queue().upload(one, &factor, sizeof factor);
    registry::bindings where;
    where.in = {run_, one};
    where.out[0] = column;
    registry::run_on_rank(r_, column_problem(sizeof(Bits), rows, distance_), where);
    grid_ = codes(column, rows);
  }

  std::vector<Bits> codes(const backend::memory& keys, std::uint64_t n) const {
    std::vector<Bits> all(n);
    if (n != 0) r_.queue().download(all.data(), keys, n * sizeof(Bits));
    for (Bits& key : all) key = code_.encode(key);
    return all;
  }

  template <class CodeAt>
  offer<Bits> samples(bracket of, std::uint64_t first, std::uint64_t count, std::uint64_t distance,
                      const CodeAt& code_at) const {
    offer<Bits> made{.of = of};
    const std::uint64_t taken = std::min<std::uint64_t>(count, offer<Bits>::most);
    for (std::uint64_t i = 0; i < taken; ++i) {
      const std::uint64_t index = first + count / taken * i + count % taken * i / taken;
      made.add(index * distance, code_at(index));
    }
    return made;
  }

  const rank& r_;
  backend::memory run_;
  std::uint64_t n_;
  sort_code<Bits> code_;
  std::uint64_t distance_;
  std::vector<Bits> grid_;    // codes of elements 0, distance, 2 * distance, ...
  std::vector<window> near_;  // of each cut, once its bracket has few of these
};

template <class Bits>
run_cuts cut(const rank& r, sort_code<Bits> code, const backend::memory& run, std::uint64_t n,
             std::span<const std::uint64_t> border) {
  const auto parts = static_cast<unsigned>(border.size() - 1);
  const std::size_t cuts = parts - 1;
  run_view<Bits> view(r, run, n, code, cuts);
  std::vector<offer<Bits>> mine(cuts);
  for (std::size_t c = 0; c < cuts; ++c) mine[c].of = first_bracket(n, border.back(), border[c + 1]);
  for (;;) {
    for (std::size_t c = 0; c < cuts; ++c) mine[c] = view.samples_of(mine[c].of, c);
    const std::vector<offer<Bits>> all = r.all_gather(std::span<const offer<Bits>>(mine));
    if (std::all_of(all.begin(), all.end(), [](const offer<Bits>& o) { return o.of.length() == 0; })) {
      run_cuts found(r.count(), parts);
      const std::vector<std::uint64_t> lengths = r.all_gather(n);
      for (unsigned k = 0; k < r.count(); ++k) {
        for (std::size_t c = 0; c < cuts; ++c) found.at(k, static_cast<unsigned>(c + 1)) = all[k * cuts + c].of.begin;
        found.at(k, parts) = lengths[k];
      }
      return found;
    }
    for (std::size_t c = 0; c < cuts; ++c) {
      const auto of_rank = [&](unsigned k) -> const offer<Bits>& { return all[k * cuts + c]; };
      mine[c].of = narrowed<Bits>(of_rank, r.count(), r.index(), border[c + 1]);
    }
  }
}

}  // namespace

run_cuts cut_runs(const rank& r, const registry::problem& p, const backend::memory& run, std::uint64_t n,
                  std::span<const std::uint64_t> border) {
  return with_type(p.type, [&]<class T>(T) { return cut(r, code_of<T>(is_descending(p)), run, n, border); });
}

std::string cuts_unsupported(const registry::problem& p, const backend::device& group) {
  return registry::unsupported_by_members(column_problem(size_of(p.type), few_keys_of_run, 1), group);
}

}  // namespace tilewise::impl::sort
