// SPDX-License-Identifier: Apache-2.0
#include "reduce/segment.hpp"

#include "base/instantiate.hpp"
#include "call/call.hpp"
#include "reduce/cpu/small.hpp"
#include "reduce/problem.hpp"

namespace tilewise::impl::reduce {

namespace {

using detail::argument;
using order::block_count;
using order::segment;

/// Where and how blocks are reduced.
struct method {
  op operation;
  const device* on;
  const registry::preferences& wanted;

  /// Whether a block is so short that a launch on a device would take longer.
  bool is_short(std::uint64_t length) const {
    return length <= small_limit && wanted.variant.empty() && wanted.tuning.empty();
  }
  template <class T>
  void reduce(const argument& block, const argument& result) const {
    call::run_call(problem_of<T>(block.size, nullptr, operation), on, wanted, {&block, 1}, {&result, 1});
  }
};

/// The part of [begin, end) from its first long block to its last. If it has no long block, both ends are `end`.
struct long_part {
  std::uint64_t begin, end;

  long_part(std::uint64_t first, std::uint64_t last, const method& how) : begin(last), end(last) {
    order::for_each_block(first, last, [&](std::uint64_t at, unsigned level) {
      const std::uint64_t length = std::uint64_t{1} << level;
      if (how.is_short(length)) return;
      begin = std::min(begin, at);
      end = at + length;
    });
  }
};

template <class T>
segment<T> segment_on_host(const argument& values, std::uint64_t begin, const method& how) {
  segment<T> result{begin, begin + values.size};
  T* to = result.value.data();
  order::for_each_block(begin, result.end, [&](std::uint64_t at, unsigned level) {
    const argument block = call::part_of(values, at - begin, std::uint64_t{1} << level);
    if (values.host != nullptr && how.is_short(block.size))
      *to = reduce_small<T>(static_cast<const T*>(block.host), block.size, nullptr, how.operation);
    else
      how.reduce<T>(block, {.name = "the result", .type = dtype_of<T>, .size = 1, .host = to});
    ++to;
  });
  return result;
}

/// Reduces the blocks of `part`, an array from position `begin` on, and downloads their values. Waits.
template <class T>
void reduce_blocks(const argument& values, std::uint64_t begin, const long_part& part, const method& how,
                   std::span<T> to) {
  if (to.empty()) return;
  const array<T> results = values.on->template allocate<T>(to.size());
  const argument result = detail::argument_for("the result", results);
  std::uint64_t slot = 0;
  order::for_each_block(part.begin, part.end, [&](std::uint64_t at, unsigned level) {
    how.reduce<T>(call::part_of(values, at - begin, std::uint64_t{1} << level), call::part_of(result, slot++, 1));
  });
  results.download(to);
}

/// The segment of a part of an array, which is downloaded and reduced on the host.
template <class T>
segment<T> segment_of_download(const argument& part, std::uint64_t begin, const method& how) {
  std::vector<T> host(part.size);
  if (part.size != 0) {
    const backend::memory from = call::memory_of(part);
    part.on->implementation().queue().download(host.data(), from, from.bytes);
  }
  return segment_on_host<T>(detail::argument_for(part.name, host), begin, how);
}

/// Short blocks are only at the two ends.
template <class T>
segment<T> segment_on_device(const argument& values, std::uint64_t begin, const method& how) {
  const std::uint64_t end = begin + values.size;
  const long_part middle(begin, end, how);
  const auto ends = [&](std::uint64_t from, std::uint64_t to) {
    return segment_of_download<T>(call::part_of(values, from - begin, to - from), from, how);
  };
  const segment<T> before = ends(begin, middle.begin), after = ends(middle.end, end);
  const unsigned heads = block_count(begin, middle.begin), middles = block_count(middle.begin, middle.end);
  segment<T> result{begin, end, before.value};
  reduce_blocks(values, begin, middle, how, std::span(result.value).subspan(heads, middles));
  std::copy_n(after.value.begin(), block_count(middle.end, end), result.value.begin() + heads + middles);
  return result;
}

}  // namespace

template <scalar T>
segment<T> segment_of(const argument& values, std::uint64_t begin, op operation, const device* on,
                      const registry::preferences& wanted) {
  if (values.on == nullptr) return segment_on_host<T>(values, begin, {operation, on, wanted});
  if (values.on->info().backend != "cpu") return segment_on_device<T>(values, begin, {operation, on, wanted});
  const std::span<const T> here(call::memory_of(values).template as<const T>(), values.size);
  return segment_on_host<T>(detail::argument_for(values.name, here), begin, {operation, values.on, wanted});
}

void require_appendable(std::uint64_t end, std::uint64_t count) {
  if (count > ~std::uint64_t{0} - end)
    throw error(errc::invalid_argument, std::to_string(count) + " elements from position " + std::to_string(end) +
                                            " on would end beyond 2^64; begin at a lower position");
}

#define TILEWISE_INSTANTIATE(T) \
  template segment<T> segment_of<T>(const argument&, std::uint64_t, op, const device*, const registry::preferences&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise::impl::reduce
