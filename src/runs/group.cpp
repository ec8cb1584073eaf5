// SPDX-License-Identifier: Apache-2.0
// What:   runs on the ranks of a group.
// Order:  none: nothing is computed with keys.
// Shape:  each rank finds the runs of its part by its own variant. Ranks then tell each other their first and last keys
//         and how many runs they have, so each knows whether its first run goes on from the rank before, and how many
//         begin before its part.
// Limits: those of the members' variants; the results pass through the hosts of ranks.
// Twins:  serial.cpp.
#include "divide/ranks.hpp"
#include "runs/problem.hpp"

#include <algorithm>

namespace tilewise::impl::runs {

namespace {

using backend::buffer;
using backend::memory;
using backend::group::byte_range;
using backend::group::part_of;
using backend::group::rank_memory;
using divide::rank;
using registry::problem;

template <class K>
class runs_of_ranks {
 public:
  runs_of_ranks(const problem& p, const registry::bindings& where, const rank& r)
      : p_(p), where_(where), rank_(r), mine_(keys_on(r.index())) {
    part own{mine_.size(), count_own(), 0, 0};
    if (own.keys != 0) {
      r.queue().download(&own.first, own_keys().at(0, sizeof(K)), sizeof(K));
      r.queue().download(&own.last, own_keys().at((own.keys - 1) * sizeof(K), sizeof(K)), sizeof(K));
    }
    parts_ = r.all_gather(own);
    note_begins();
  }

  void write() const {
    const auto found = static_cast<std::int64_t>(first_.back());
    rank_.store(where_.out[0], 0, &found, sizeof found);
    write_runs();
  }

 private:
  struct part {
    std::uint64_t keys, runs;
    K first, last;
  };

  divide::row_range keys_on(unsigned k) const { return divide::rows_in(part_of(where_.in[0], k), sizeof(K), p_.n()); }
  memory own_keys() const {
    return backend::group::local(where_.in[0], rank_.index(), {mine_.begin * sizeof(K), mine_.end * sizeof(K)});
  }

  /// Finds the runs of this rank's keys, with room for some of them; returns how many there are.
  std::uint64_t find_own(std::uint64_t room, const memory& keys, const memory& offsets) const {
    if (mine_.size() == 0) return 0;
    problem own = p_;
    own.shape = {mine_.size(), room};
    std::int64_t count = 0;
    const buffer there(rank_.queue(), sizeof count);
    divide::run_on_rank(rank_, own, {{own_keys()}, {there, keys, offsets}});
    rank_.queue().download(&count, there, sizeof count);
    return static_cast<std::uint64_t>(count);
  }
  std::uint64_t count_own() const {
    const buffer none(rank_.queue(), 0), begin(rank_.queue(), sizeof(std::int64_t));
    return find_own(0, none, begin);
  }

  /// first_[k] is the number of runs that begin before rank k's keys.
  void note_begins() {
    const part* before = nullptr;
    first_.push_back(0);
    for (const part& each : parts_) {
      const bool continues = before != nullptr && each.keys != 0 && before->last == each.first;
      continues_.push_back(continues);
      first_.push_back(first_.back() + each.runs - continues);
      if (each.keys != 0) before = &each;
    }
  }
  /// Of `room` places, those of the runs that begin on rank k; the last rank also has those beyond the last run.
  byte_range places_on(unsigned k, std::uint64_t room, std::size_t size) const {
    const std::uint64_t end = k + 1 == rank_.count() ? room : std::min(room, first_[k + 1]);
    return {std::min(room, first_[k]) * size, end * size};
  }

  void write_runs() const {
    const unsigned k = rank_.index();
    const std::uint64_t runs = parts_[k].runs, skipped = continues_[k];
    const buffer keys(rank_.queue(), runs * sizeof(K)), begins(rank_.queue(), (runs + 1) * sizeof(std::int64_t));
    find_own(runs, keys, begins);
    std::vector<std::int64_t> offsets(runs);
    std::vector<K> run_keys(runs);
    rank_.queue().download(offsets.data(), begins, runs * sizeof offsets[0]);
    rank_.queue().download(run_keys.data(), keys, runs * sizeof(K));
    for (std::int64_t& at : offsets) at += static_cast<std::int64_t>(mine_.begin);
    deliver<std::int64_t>(where_.out[2], room_of(p_) + 1, std::span(offsets).subspan(skipped),
                          static_cast<std::int64_t>(p_.n()));
    deliver<K>(where_.out[1], room_of(p_), std::span(run_keys).subspan(skipped), K{0});
  }

  /// Delivers this rank's places of a result: as many of `found` as there is room for, and `beyond` behind the last.
  template <class V>
  void deliver(const memory& to, std::uint64_t room, std::span<const V> found, V beyond) const {
    const byte_range mine = places_on(rank_.index(), room, sizeof(V));
    std::vector<V> values(mine.bytes() / sizeof(V), beyond);
    std::copy_n(found.begin(), std::min(found.size(), values.size()), values.begin());
    const rank_memory here = rank_.result(to, mine);
    rank_.queue().upload(here, values.data(), mine.bytes());
    rank_.deliver(
        to, [&](unsigned j) { return places_on(j, room, sizeof(V)); }, here);
  }

  const problem& p_;
  const registry::bindings& where_;
  const rank& rank_;
  const divide::row_range mine_;
  std::vector<part> parts_;
  std::vector<bool> continues_;
  std::vector<std::uint64_t> first_;
};

void run(const problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  with_bits(p.type, [&]<class K>(K) {
    divide::run_on_ranks(queue, p, where, [&](const rank& r) { runs_of_ranks<K>(p, where, r).write(); });
  });
}

}  // namespace

std::vector<registry::variant> runs_group_variants() {
  return {{.algorithm = "runs",
           .backend = "group",
           .name = "",
           .types = all_dtypes,
           .source = "runs where their keys lie; those that a border cuts are joined",
           .unsupported = divide::unsupported_by_members,
           .run = run}};
}

}  // namespace tilewise::impl::runs
