// The only file that rejects a reduction: checks, chooses, runs.
#include <tilewise/reduce.hpp>

#include "backend/backend.hpp"
#include "backend/instantiate.hpp"
#include "reduce/reduce_cpu.hpp"
#include "reduce/reduce_problem.hpp"
#include "registry/execute.hpp"

namespace tilewise {

namespace {

template <class T>
registry::problem describe(std::uint64_t n, const T* init, op operation) {
  registry::problem p{.what = &impl::reduce::reduce_algorithm(), .type = dtype_of<T>, .shape = {n}};
  p.setting = {static_cast<std::uint8_t>(operation), static_cast<std::uint8_t>(init != nullptr)};
  if (init != nullptr) p.number[0] = registry::scalar_value::of(*init);
  registry::check(p);
  return p;
}

/// Short and without wishes: the way to a device would take longer than the work.
bool goes_straight(std::uint64_t n, const reduce_options& options) {
  return n != 0 && n <= impl::reduce::small_limit && options.operation <= op::max && !options.device &&
         options.variant.empty() && options.tuning.empty();
}

template <class T>
[[gnu::noinline]] T reduce_on_device(std::span<const T> values, const T* init, const reduce_options& options) {
  const registry::problem p = describe(values.size(), init, options.operation);
  const device on = options.device ? *options.device : open("cpu");
  const registry::choice how = registry::choose(p, on.implementation(), {options.variant, options.tuning});
  T result;
  const void* in[] = {values.data()};
  void* out[] = {&result};
  registry::execute_on_host(p, how, on.implementation().queue(), in, out);
  return result;
}

template <class T>
T reduce_host(std::span<const T> values, const T* init, const reduce_options& options) {
  if (goes_straight(values.size(), options))
    return impl::reduce::reduce_small(values.data(), values.size(), init, options.operation);
  return reduce_on_device(values, init, options);
}

template <class T>
T reduce_array(const array<T>& values, const T* init, const reduce_options& options) {
  const registry::problem p = describe(values.size(), init, options.operation);
  backend::device& on = values.device().implementation();
  const registry::choice how = registry::choose(p, on, {options.variant, options.tuning});
  const backend::buffer result(on.queue(), sizeof(T));
  registry::memories where;
  where.in[0] = values.storage();
  where.out[0] = result;
  how.variant->run(p, where, how.tuning, on.queue());
  T value;
  on.queue().download(&value, result, sizeof(T));
  return value;
}

}  // namespace

template <scalar T>
T reduce(std::span<const T> values, const reduce_options& options) {
  return reduce_host<T>(values, nullptr, options);
}
template <scalar T>
T reduce(std::span<const T> values, std::type_identity_t<T> init, const reduce_options& options) {
  return reduce_host<T>(values, &init, options);
}
template <scalar T>
T reduce(const array<T>& values, const reduce_options& options) {
  return reduce_array<T>(values, nullptr, options);
}
template <scalar T>
T reduce(const array<T>& values, std::type_identity_t<T> init, const reduce_options& options) {
  return reduce_array<T>(values, &init, options);
}

#define TILEWISE_INSTANTIATE(T)                                       \
  template T reduce<T>(std::span<const T>, const reduce_options&);    \
  template T reduce<T>(std::span<const T>, T, const reduce_options&); \
  template T reduce<T>(const array<T>&, const reduce_options&);       \
  template T reduce<T>(const array<T>&, T, const reduce_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
