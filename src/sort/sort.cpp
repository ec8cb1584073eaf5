// The only file that rejects a sort: checks, chooses, runs.
#include <tilewise/sort.hpp>

#include "backend/instantiate.hpp"
#include "registry/call.hpp"
#include "sort/sort_cpu.hpp"
#include "sort/sort_problem.hpp"

namespace tilewise {

namespace {

using impl::sort::payload;
using registry::aliasing;

template <class T>
registry::problem describe(std::uint64_t n, payload what, const sort_options& options) {
  registry::problem p{.what = &impl::sort::sort_algorithm(), .type = dtype_of<T>, .shape = {n}};
  p.setting = {static_cast<std::uint8_t>(options.order), static_cast<std::uint8_t>(what)};
  registry::check(p);
  return p;
}

registry::wishes wishes_of(const sort_options& options) { return {options.variant, options.tuning}; }

void require_size(std::string_view name, std::uint64_t size, std::uint64_t n) {
  if (size != n)
    throw error(errc::invalid_argument, "the " + std::string(name) +
                                            " of a sort must have as many elements as the keys: " + std::to_string(n) +
                                            ", not " + std::to_string(size));
}

/// Few and without wishes: the way to a device would take longer than the work.
bool goes_straight(std::uint64_t n, const sort_options& options) {
  return n != 0 && n <= impl::sort::few_keys && options.order <= sort_order::descending && !options.device &&
         options.variant.empty() && options.tuning.empty();
}

template <class V>
constexpr payload payload_for = sizeof(V) == 4 ? payload::values32 : payload::values64;

}  // namespace

template <scalar T>
void sort(std::span<const T> in, std::span<T> out, const sort_options& options) {
  require_size("output", out.size(), in.size());
  registry::refuse_overlap(aliasing::in_place, {{"the input", in}}, {{"the output", out}});
  if (goes_straight(in.size(), options))
    return impl::sort::sort_few(in.data(), out.data(), in.size(), options.order == sort_order::descending);
  const registry::problem p = describe<T>(in.size(), payload::none, options);
  registry::call_on_host(p, options.device, wishes_of(options), {in.data()}, {out.data()});
}

template <scalar T>
void argsort(std::span<const T> in, std::span<std::uint32_t> indices, const sort_options& options) {
  require_size("indices", indices.size(), in.size());
  registry::refuse_overlap(aliasing::forbidden, {{"the input", in}}, {{"the indices", indices}});
  const registry::problem p = describe<T>(in.size(), payload::indices, options);
  std::vector<T> sorted(in.size());
  registry::call_on_host(p, options.device, wishes_of(options), {in.data()}, {sorted.data(), indices.data()});
}

template <scalar T, scalar V>
void sort_by_key(std::span<const T> keys, std::span<const V> values, std::span<T> keys_out, std::span<V> values_out,
                 const sort_options& options) {
  require_size("values", values.size(), keys.size());
  require_size("output of keys", keys_out.size(), keys.size());
  require_size("output of values", values_out.size(), keys.size());
  registry::refuse_overlap(aliasing::in_place, {{"the keys", keys}, {"the values", values}},
                           {{"the output of keys", keys_out}, {"the output of values", values_out}});
  const registry::problem p = describe<T>(keys.size(), payload_for<V>, options);
  registry::call_on_host(p, options.device, wishes_of(options), {keys.data(), values.data()},
                         {keys_out.data(), values_out.data()});
}

template <scalar T>
void sort(const array<T>& in, array<T>& out, const sort_options& options) {
  require_size("output", out.size(), in.size());
  registry::refuse_overlap(aliasing::in_place, {{"the input", in}}, {{"the output", out}});
  const registry::problem p = describe<T>(in.size(), payload::none, options);
  registry::call_on_arrays(p, wishes_of(options), {{"the input", in}}, {{"the output", out}});
}

template <scalar T>
void argsort(const array<T>& in, array<std::uint32_t>& indices, const sort_options& options) {
  require_size("indices", indices.size(), in.size());
  registry::refuse_overlap(aliasing::forbidden, {{"the input", in}}, {{"the indices", indices}});
  const registry::problem p = describe<T>(in.size(), payload::indices, options);
  array<T> sorted = in.device().template allocate<T>(in.size());
  registry::call_on_arrays(p, wishes_of(options), {{"the input", in}},
                           {{"the output", sorted}, {"the indices", indices}});
}

template <scalar T, scalar V>
void sort_by_key(const array<T>& keys, const array<V>& values, array<T>& keys_out, array<V>& values_out,
                 const sort_options& options) {
  require_size("values", values.size(), keys.size());
  require_size("output of keys", keys_out.size(), keys.size());
  require_size("output of values", values_out.size(), keys.size());
  registry::refuse_overlap(aliasing::in_place, {{"the keys", keys}, {"the values", values}},
                           {{"the output of keys", keys_out}, {"the output of values", values_out}});
  const registry::problem p = describe<T>(keys.size(), payload_for<V>, options);
  registry::call_on_arrays(p, wishes_of(options), {{"the keys", keys}, {"the values", values}},
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
