// SPDX-License-Identifier: Apache-2.0
#include "tool/arrays/sort_runs.hpp"

#include "base/ceil_div.hpp"
#include "base/printable.hpp"
#include "io/scratch_file.hpp"
#include "sort/code.hpp"
#include "sort/problem.hpp"
#include "sort/split.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

namespace tilewise::cli {

namespace {

using impl::sort::payload;

/// An array, its sorted copy, and what the sort works in.
constexpr std::uint64_t copies = 3;

/// For the stacks of threads that read and write, and for what arrays in huge pages take beyond their elements.
constexpr std::uint64_t reserve = 32 << 20;

/// Shorter runs are not worth a disk.
constexpr std::uint64_t shortest_run = 1 << 16;

std::uint64_t element_bytes(const registry::problem& p) {
  return size_of(p.type) + impl::sort::payload_size(impl::sort::payload_of(p));
}

class run_sort {
 public:
  run_sort(const registry::problem& p, std::uint64_t run_length, const std::string& folder, sort_files& files,
           const common_options& options, data_run& run)
      : p_(p), length_(run_length), files_(files), options_(options), run_(run), widths_{size_of(p.type)} {
    if (files.out.size() > 1) widths_.push_back(impl::sort::payload_size(impl::sort::payload_of(p)));
    for (const std::size_t width : widths_) scratch_.emplace_back(folder, p.n() * width);
    for (std::uint64_t begin = 0; begin < p.n(); begin += length_) lengths_.push_back(std::min(length_, p.n() - begin));
  }

  void make_runs() {
    for (std::uint64_t k = 0; k < lengths_.size(); ++k) {
      const std::uint64_t begin = k * length_;
      sort(
          lengths_[k], [&](std::size_t c, bytes& into) { read(c, begin, into); },
          [&](std::size_t c, const bytes& sorted) { scratch_[c].write(begin * widths_[c], sorted); });
    }
  }

  /// Parts as long as runs, each of which begins where all runs are cut at its first element's rank.
  template <class T>
  void make_output(std::span<lab::digest> digests) {
    std::vector<std::uint64_t> from(lengths_.size(), 0);
    for (std::uint64_t begin = 0; begin < p_.n(); begin += length_) {
      const std::uint64_t n = std::min(length_, p_.n() - begin);
      const std::vector<std::uint64_t> to = cuts_at<T>(begin + n);
      sort(
          n, [&](std::size_t c, bytes& into) { gather(c, from, to, into); },
          [&](std::size_t c, const bytes& sorted) {
            if (c < digests.size()) digests[c].add(sorted);
            files_.out[c].write(begin * widths_[c], sorted);
          });
      from = to;
    }
  }

 private:
  /// Fills each column of n elements, sorts them, and hands each sorted column on.
  template <class Fill, class Take>
  void sort(std::uint64_t n, const Fill& fill, const Take& take) {
    std::deque<bytes> in;
    std::vector<const bytes*> inputs;
    for (std::size_t c = 0; c < widths_.size(); ++c) {
      fill(c, in.emplace_back(n * widths_[c]));
      inputs.push_back(&in.back());
    }
    run_.outputs.clear();
    run_planned(impl::sort::part_of(p_, n), inputs, options_, run_);
    for (std::size_t c = 0; c < widths_.size(); ++c) take(c, run_.outputs[c]);
    run_.outputs.clear();
  }

  void read(std::size_t column, std::uint64_t begin, bytes& into) {
    if (column < files_.in.size()) return files_.in[column]->read(begin * widths_[column], into);
    auto* const indices = reinterpret_cast<std::uint32_t*>(into.data());
    std::iota(indices, indices + into.size() / sizeof *indices, static_cast<std::uint32_t>(begin));
  }

  /// The piece of every run, one after the other: where keys are equal, the earlier run's stay first.
  void gather(std::size_t column, std::span<const std::uint64_t> from, std::span<const std::uint64_t> to, bytes& into) {
    const std::uint64_t width = widths_[column];
    std::span<std::byte> room = into;
    for (std::uint64_t k = 0; k < lengths_.size(); ++k) {
      const std::uint64_t length = (to[k] - from[k]) * width;
      scratch_[column].read((k * length_ + from[k]) * width, room.first(length));
      room = room.subspan(length);
    }
  }

  template <class T>
  std::vector<std::uint64_t> cuts_at(std::uint64_t rank) const {
    using bits = impl::sort::key_bits<T>;
    const auto code = impl::sort::code_of<T>(impl::sort::is_descending(p_));
    return impl::sort::split_runs<bits>(lengths_, rank, [&](std::uint64_t k, std::uint64_t i) {
      bits key;
      scratch_[0].read((k * length_ + i) * sizeof key, std::as_writable_bytes(std::span(&key, 1)));
      return code.encode(key);
    });
  }

  const registry::problem& p_;
  const std::uint64_t length_;
  sort_files& files_;
  const common_options& options_;
  data_run& run_;
  std::vector<std::uint64_t> widths_, lengths_;  // bytes of an element of each column; elements of each run
  std::deque<io::scratch_file> scratch_;         // each column's runs
};

}  // namespace

std::uint64_t memory_of_sort(const registry::problem& p) { return copies * p.n() * element_bytes(p); }

std::uint64_t run_length_for(const registry::problem& p, std::uint64_t available) {
  // One more copy, since the queue keeps the longer runs' workspace when the last one comes.
  const std::uint64_t each = (copies + 1) * element_bytes(p);
  const std::uint64_t longest = (available - std::min(available, reserve)) / 8 * 7 / each;
  if (longest < shortest_run)
    throw error(errc::out_of_memory, "a sort in runs needs at least " +
                                         std::to_string(reserve + shortest_run * each / 7 * 8) +
                                         " bytes of memory, but " + std::to_string(available) + " are left");
  return ceil_div(p.n(), ceil_div(p.n(), longest));
}

void sort_in_runs(const registry::problem& p, std::uint64_t run_length, const std::string& folder, sort_files& files,
                  const common_options& options, data_run& run, std::span<lab::digest> digests) {
  const clock::time_point start = clock::now();
  run_sort sorting(p, run_length, folder, files, options, run);
  sorting.make_runs();
  with_type(p.type, [&]<class T>(T) { sorting.make_output<T>(digests); });
  run.how.reason = "in " + std::to_string(ceil_div(p.n(), run_length)) + " runs kept in " + base::printable(folder) +
                   "; " + run.how.reason;
  run.in_pieces = true;
  run.times.end_to_end = ns_since(start);
}

}  // namespace tilewise::cli
