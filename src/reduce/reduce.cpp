// SPDX-License-Identifier: Apache-2.0
// How a call of reduce is described and, for few elements, computed at once.
#include <tilewise/reduce.hpp>

#include "base/instantiate.hpp"
#include "call/call.hpp"
#include "reduce/cpu/small.hpp"
#include "reduce/problem.hpp"

namespace tilewise {

namespace {

/// Not inlined, so that a call without an initial value does not pay for the conversion.
template <class T>
[[gnu::noinline]] T reduce_onto(const number& init, const T* values, std::uint64_t count, op operation) {
  const T first = call::converted(init, dtype_of<T>, "init").template as<T>();
  return impl::reduce::reduce_small(values, count, &first, operation);
}

}  // namespace

static_assert(detail::few_elements <= impl::reduce::small_limit);

template <class T>
T detail::reduce_few(const T* values, std::uint64_t count, op operation, const number& init) {
  if (init.is_given()) return reduce_onto(init, values, count, operation);
  return impl::reduce::reduce_small<T>(values, count, nullptr, operation);
}

registry::problem impl::reduce::describe(const detail::request& r) {
  return call::described(reduce_algorithm(), r, {r.in[0].size});
}

bool impl::reduce::few(const detail::request& r) {
  const detail::argument &in = r.in[0], &out = r.out[0];
  const auto operation = static_cast<op>(r.settings[0].value);
  if (in.on != nullptr || call::names_a_place(r) || operation > op::max || !detail::are_few(in.host, in.size))
    return false;
  with_type(in.type, [&]<class T>(T) {
    *static_cast<T*>(out.host) =
        detail::reduce_few(static_cast<const T*>(in.host), in.size, operation, call::number_of(r, "init"));
  });
  return true;
}

#define TILEWISE_INSTANTIATE(T) template T detail::reduce_few<T>(const T*, std::uint64_t, op, const number&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
