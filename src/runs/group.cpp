// SPDX-License-Identifier: Apache-2.0
// What:   runs on the ranks of a group.
// Order:  none: nothing is computed with keys.
// Shape:  each rank finds the runs of its part by its own variant. Ranks then tell each other their first and last keys
//         and how many runs they have, so each knows whether its first run goes on from the rank before, and how many
//         begin before its part.
// Limits: those of the members' variants; the offsets of a part pass through its rank's host.
// Twins:  serial.cpp.
#include "divide/ranks.hpp"
#include "runs/problem.hpp"

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
    require_room(p_, first_.back());
    rank_.store(where_.out[0], 0, &found, sizeof found);
    if (!only_counts(p_)) write_runs();
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

  std::uint64_t count_own() const {
    if (mine_.size() == 0) return 0;
    problem own = p_;
    own.shape = {mine_.size(), 0};
    std::int64_t count = 0;
    const buffer there(rank_.queue(), sizeof count);
    divide::run_on_rank(rank_, own, {{own_keys()}, {there}});
    rank_.queue().download(&count, there, sizeof count);
    return static_cast<std::uint64_t>(count);
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
  byte_range bytes_on(unsigned k, std::size_t size) const { return {first_[k] * size, first_[k + 1] * size}; }
  /// The last rank also has the offset behind the last run.
  byte_range offsets_on(unsigned k) const {
    byte_range all = bytes_on(k, sizeof(std::int64_t));
    if (k + 1 == rank_.count()) all.end += sizeof(std::int64_t);
    return all;
  }

  void write_runs() const {
    const unsigned k = rank_.index();
    const std::uint64_t runs = parts_[k].runs, skipped = continues_[k];
    const buffer count(rank_.queue(), sizeof(std::int64_t)), keys(rank_.queue(), runs * sizeof(K)),
        begins(rank_.queue(), (runs + 1) * sizeof(std::int64_t));
    std::vector<std::int64_t> offsets(runs + 1);
    if (runs != 0) {
      problem own = p_;
      own.shape = {mine_.size(), runs};
      divide::run_on_rank(rank_, own, {{own_keys()}, {count, keys, begins}});
      rank_.queue().download(offsets.data(), begins, offsets.size() * sizeof offsets[0]);
    }
    for (std::int64_t& at : offsets) at += static_cast<std::int64_t>(mine_.begin);
    offsets.back() = static_cast<std::int64_t>(p_.n());
    const byte_range wanted = offsets_on(k), wanted_keys = bytes_on(k, sizeof(K));
    const rank_memory offsets_here = rank_.result(where_.out[2], wanted);
    rank_.queue().upload(offsets_here, offsets.data() + skipped, wanted.bytes());
    const rank_memory keys_here = rank_.result(where_.out[1], wanted_keys);
    if (wanted_keys.bytes() != 0)
      rank_.queue().copy(keys_here, static_cast<memory>(keys).at(skipped * sizeof(K), wanted_keys.bytes()),
                         wanted_keys.bytes());
    rank_.deliver(
        where_.out[2], [&](unsigned j) { return offsets_on(j); }, offsets_here);
    rank_.deliver(
        where_.out[1], [&](unsigned j) { return bytes_on(j, sizeof(K)); }, keys_here);
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
