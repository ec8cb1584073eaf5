// SPDX-License-Identifier: Apache-2.0
// The public functions of sort: check what only their arguments show, describe the problem, hand it to registry/call.
#include <tilewise/sort.hpp>

#include "base/instantiate.hpp"
#include "registry/call.hpp"
#include "sort/cpu/methods.hpp"
#include "sort/problem.hpp"

namespace tilewise {

namespace {

using impl::sort::payload;

template <class T>
registry::problem describe(std::uint64_t n, payload what, const sort_options& options) {
  registry::problem p{.what = &impl::sort::sort_algorithm(), .type = dtype_of<T>, .shape = {n}};
  p.setting = {static_cast<std::uint8_t>(options.order), static_cast<std::uint8_t>(what)};
  return p;
}

void require_size(std::string_view name, std::uint64_t size, std::uint64_t n) {
  if (size != n)
    throw error(errc::invalid_argument, "the " + std::string(name) +
                                            " of a sort must have as many elements as the keys: " + std::to_string(n) +
                                            ", not " + std::to_string(size));
}

template <class V>
constexpr payload payload_for = sizeof(V) == 4 ? payload::values32 : payload::values64;

}  // namespace

template <scalar T>
void sort(std::span<const T> in, std::span<T> out, const sort_options& options) {
  require_size("output", out.size(), in.size());
  if (registry::takes_shortcut(in, impl::sort::few_keys, options) && options.order <= sort_order::descending &&
      out.data() != nullptr && !registry::overlap_in_part<T>(in, out))
    return impl::sort::sort_few(in.data(), out.data(), in.size(), options.order == sort_order::descending);
  registry::run_call(describe<T>(in.size(), payload::none, options), options, {{"the input", in}},
                     {{"the output", out}});
}

template <scalar T>
void argsort(std::span<const T> in, std::span<std::uint32_t> indices, const sort_options& options) {
  require_size("indices", indices.size(), in.size());
  const registry::problem p = describe<T>(in.size(), payload::indices, options);
  registry::admit(p, {});  // before memory is allocated for more elements than have indices
  std::vector<T> sorted = host_result<T>(in.size());
  registry::run_admitted(p, options, {{"the input", in}},
                         {{"the sorted keys", std::span(sorted)}, {"the indices", indices}});
}

template <scalar T, scalar V>
void sort_by_key(std::span<const T> keys, std::span<const V> values, std::span<T> keys_out, std::span<V> values_out,
                 const sort_options& options) {
  require_size("values", values.size(), keys.size());
  require_size("output of keys", keys_out.size(), keys.size());
  require_size("output of values", values_out.size(), keys.size());
  registry::run_call(describe<T>(keys.size(), payload_for<V>, options), options,
                     {{"the keys", keys}, {"the values", values}},
                     {{"the output of keys", keys_out}, {"the output of values", values_out}});
}

template <scalar T>
void sort(const array<T>& in, array<T>& out, const sort_options& options) {
  require_size("output", out.size(), in.size());
  registry::run_call(describe<T>(in.size(), payload::none, options), options, {{"the input", in}},
                     {{"the output", out}});
}

template <scalar T>
void argsort(const array<T>& in, array<std::uint32_t>& indices, const sort_options& options) {
  require_size("indices", indices.size(), in.size());
  const registry::problem p = describe<T>(in.size(), payload::indices, options);
  registry::admit(p, {});
  array<T> sorted = in.device().template allocate<T>(in.size());
  registry::run_admitted(p, options, {{"the input", in}}, {{"the sorted keys", sorted}, {"the indices", indices}});
}

template <scalar T, scalar V>
void sort_by_key(const array<T>& keys, const array<V>& values, array<T>& keys_out, array<V>& values_out,
                 const sort_options& options) {
  require_size("values", values.size(), keys.size());
  require_size("output of keys", keys_out.size(), keys.size());
  require_size("output of values", values_out.size(), keys.size());
  registry::run_call(describe<T>(keys.size(), payload_for<V>, options), options,
                     {{"the keys", keys}, {"the values", values}},
                     {{"the output of keys", keys_out}, {"the output of values", values_out}});
}

#define TILEWISE_INSTANTIATE_PAIR(T, V)                                                               \
  template void sort_by_key<T, V>(std::span<const T>, std::span<const V>, std::span<T>, std::span<V>, \
                                  const sort_options&);                                               \
  template void sort_by_key<T, V>(const array<T>&, const array<V>&, array<T>&, array<V>&, const sort_options&);
#define TILEWISE_INSTANTIATE(T)                                                                \
  template void sort<T>(std::span<const T>, std::span<T>, const sort_options&);                \
  template void argsort<T>(std::span<const T>, std::span<std::uint32_t>, const sort_options&); \
  template void sort<T>(const array<T>&, array<T>&, const sort_options&);                      \
  template void argsort<T>(const array<T>&, array<std::uint32_t>&, const sort_options&);       \
  TILEWISE_INSTANTIATE_PAIR(T, float)                                                          \
  TILEWISE_INSTANTIATE_PAIR(T, double)                                                         \
  TILEWISE_INSTANTIATE_PAIR(T, std::int32_t)                                                   \
  TILEWISE_INSTANTIATE_PAIR(T, std::int64_t)                                                   \
  TILEWISE_INSTANTIATE_PAIR(T, std::uint32_t)                                                  \
  TILEWISE_INSTANTIATE_PAIR(T, std::uint64_t)
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
