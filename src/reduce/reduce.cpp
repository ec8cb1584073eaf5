// SPDX-License-Identifier: Apache-2.0
// The public functions of reduce: check what only their arguments show, describe the problem, hand it to registry/call.
#include <tilewise/reduce.hpp>

#include "base/instantiate.hpp"
#include "reduce/cpu/small.hpp"
#include "reduce/problem.hpp"
#include "registry/call.hpp"

namespace tilewise {

namespace {

using impl::reduce::problem_of;

/// Not inlined, so that the shortcut does not pay for its stack frame.
template <class T>
[[gnu::noinline]] T reduce_by_call(std::span<const T> values, const T* init, const reduce_options& options) {
  T result;
  registry::run_call(problem_of(values.size(), init, options.operation), options, {{"the input", values}},
                     {{"the result", std::span(&result, 1)}});
  return result;
}

template <class T>
T reduce_host(std::span<const T> values, const T* init, const reduce_options& options) {
  if (registry::takes_shortcut(values, impl::reduce::small_limit, options) && options.operation <= op::max)
    return impl::reduce::reduce_small(values.data(), values.size(), init, options.operation);
  return reduce_by_call(values, init, options);
}

template <class T>
T reduce_array(const array<T>& values, const T* init, const reduce_options& options) {
  return registry::value_of_call<T>(problem_of(values.size(), init, options.operation), options, values.device(),
                                    {{"the input", values}});
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
