// SPDX-License-Identifier: Apache-2.0
// How a call of sort is described and, for few keys, computed at once.
#include <tilewise/sort.hpp>

#include "base/instantiate.hpp"
#include "call/call.hpp"
#include "sort/cpu/methods.hpp"
#include "sort/problem.hpp"

namespace tilewise {

template <class T>
bool detail::sort_few(const T* in, T* out, std::uint64_t count, sort_order order) {
  if (count > impl::sort::few_keys || !are_few(in, count) || order > sort_order::descending || out == nullptr ||
      call::overlap_in_part(in, out, count))
    return false;
  impl::sort::sort_few(in, out, count, order == sort_order::descending);
  return true;
}

void impl::sort::require_one_size(std::span<const detail::argument> in, std::span<const detail::argument> out) {
  const std::uint64_t n = in[0].size;
  for (const auto operands : {in.subspan(1), out})
    for (const detail::argument& other : operands)
      if (other.size != n)
        throw error(errc::invalid_argument, std::string(other.name) +
                                                " of a sort must have as many elements as the keys: " +
                                                std::to_string(n) + ", not " + std::to_string(other.size));
}

registry::problem impl::sort::describe(const detail::request& r) {
  require_one_size(r.in, r.out);
  return call::described(sort_algorithm(), r, {r.in[0].size});
}

bool impl::sort::few(const detail::request& r) {
  const detail::argument &in = r.in[0], &out = r.out[0];
  if (in.on != nullptr || r.settings[1].value != 0 || in.size != out.size || call::names_a_place(r)) return false;
  return with_type(in.type, [&]<class T>(T) {
    return detail::sort_few(static_cast<const T*>(in.host), static_cast<T*>(out.host), in.size,
                            static_cast<sort_order>(r.settings[0].value));
  });
}

#define TILEWISE_INSTANTIATE(T) template bool detail::sort_few<T>(const T*, T*, std::uint64_t, sort_order);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
