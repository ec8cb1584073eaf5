// SPDX-License-Identifier: Apache-2.0
#include "reduce/segment.hpp"

#include "base/instantiate.hpp"
#include "reduce/cpu/small.hpp"
#include "reduce/problem.hpp"
#include "registry/call.hpp"

namespace tilewise::impl::reduce {

namespace {

using order::block_count;
using order::segment;

/// Whether a block is so short that a launch on a device would take longer.
bool is_short(std::uint64_t length, const reduce_options& options) {
  return length <= small_limit && options.variant.empty() && options.tuning.empty();
}

/// The part of [begin, end) from its first long block to its last. If it has no long block, both ends are `end`.
struct long_part {
  std::uint64_t begin, end;

  long_part(std::uint64_t first, std::uint64_t last, const reduce_options& options) : begin(last), end(last) {
    order::for_each_block(first, last, [&](std::uint64_t at, unsigned level) {
      const std::uint64_t length = std::uint64_t{1} << level;
      if (is_short(length, options)) return;
      begin = std::min(begin, at);
      end = at + length;
    });
  }
};

/// Reduces the blocks of `part`, an array from position `begin` on, and downloads their values. Waits.
template <class T>
void reduce_blocks(const array<T>& values, std::uint64_t begin, const long_part& part, const reduce_options& options,
                   std::span<T> to) {
  if (to.empty()) return;
  const array<T> results = values.device().template allocate<T>(to.size());
  const registry::call_operand all("the input", values), result("the result", results);
  std::uint64_t slot = 0;
  order::for_each_block(part.begin, part.end, [&](std::uint64_t at, unsigned level) {
    const std::uint64_t length = std::uint64_t{1} << level;
    registry::run_call(problem_of<T>(length, nullptr, options.operation), options, {all.part<T>(at - begin, length)},
                       {result.part<T>(slot++, 1)});
  });
  results.download(to);
}

template <class T>
std::vector<T> download_part(const array<T>& values, std::uint64_t first, std::uint64_t count) {
  std::vector<T> host(count);
  const std::uint64_t bytes = count * sizeof(T);
  if (bytes != 0)
    values.device().implementation().queue().download(host.data(), values.storage().at(first * sizeof(T), bytes),
                                                      bytes);
  return host;
}

}  // namespace

template <scalar T>
segment<T> segment_of(std::span<const T> values, std::uint64_t begin, const reduce_options& options) {
  segment<T> result{begin, begin + values.size()};
  T* to = result.value.data();
  order::for_each_block(begin, result.end, [&](std::uint64_t at, unsigned level) {
    const std::span<const T> block = values.subspan(at - begin, std::uint64_t{1} << level);
    *to++ = values.data() != nullptr && is_short(block.size(), options)
                ? reduce_small<T>(block.data(), block.size(), nullptr, options.operation)
                : tilewise::reduce(block, options);
  });
  return result;
}

/// Short blocks are only at the two ends. These ends are downloaded and reduced on the host.
template <scalar T>
segment<T> segment_of(const array<T>& values, std::uint64_t first, std::uint64_t begin, const reduce_options& options) {
  const std::uint64_t size = values.size() - first, end = begin + size;
  if (values.device().info().backend == "cpu") {
    reduce_options there = options;
    there.device = values.device();
    return segment_of(std::span<const T>(values.storage().template as<const T>() + first, size), begin, there);
  }
  const long_part middle(begin, end, options);
  const std::vector<T> head = download_part(values, first, middle.begin - begin),
                       tail = download_part(values, first + (middle.end - begin), end - middle.end);
  const segment<T> before = segment_of(std::span<const T>(head), begin, options),
                   after = segment_of(std::span<const T>(tail), middle.end, options);
  const unsigned heads = block_count(begin, middle.begin), middles = block_count(middle.begin, middle.end);
  segment<T> result{begin, end, before.value};
  reduce_blocks(values, begin - first, middle, options, std::span(result.value).subspan(heads, middles));
  std::copy_n(after.value.begin(), block_count(middle.end, end), result.value.begin() + heads + middles);
  return result;
}

void require_appendable(op named, op own, std::uint64_t end, std::uint64_t count) {
  if (named != op::sum && named != own)
    throw error(errc::invalid_argument, "the options name another operation than that of the partial, which is " +
                                            std::string(name_of(own)) + "; leave the operation out of the options");
  if (count > ~std::uint64_t{0} - end)
    throw error(errc::invalid_argument, std::to_string(count) + " elements from position " + std::to_string(end) +
                                            " on would end beyond 2^64; begin at a lower position");
}

#define TILEWISE_INSTANTIATE(T)                                                                \
  template segment<T> segment_of<T>(std::span<const T>, std::uint64_t, const reduce_options&); \
  template segment<T> segment_of<T>(const array<T>&, std::uint64_t, std::uint64_t, const reduce_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise::impl::reduce
